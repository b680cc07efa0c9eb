"""Policies by name: those of Lifeyears, those of others in the catalogue, and what a configuration describes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from ... import catalogue
from ...errors import RequestError
from ._composite import TRUTH, Composite
from ._offer_rule import OfferRule

if TYPE_CHECKING:
    from ..._typing import FloatArray, Json
    from ...allocation import Policy

NAMED_POLICIES = {
    policy.name: policy
    for policy in (
        OfferRule("us_status", "status"),
        OfferRule("first_come", "waiting"),
        OfferRule("uniform", "random"),
        OfferRule("greedy", "model", model="cox"),
        OfferRule("position_weighted", "model", model="ranker", k=5),
        OfferRule("lyg", "model", model="cox", target="gain"),
        OfferRule("oracle", "model", model=TRUTH),
        OfferRule("greedy_ranker", "model", model="ranker"),
        OfferRule("oracle_lyg", "model", model=TRUTH, target="gain"),
    )
}
DEFAULT_POLICIES = ("us_status", "first_come", "uniform", "greedy", "position_weighted", "lyg", "oracle")


@dataclass(frozen=True, eq=False)
class NamedPolicy:
    """Any policy, with its name and its model.

    Attributes
    ----------
    name : str
        As it is called in tables.
    policy : Policy
        What is called, or compiled.
    model : str or fitted model, optional
        The policy's own; a fitted one replaces its name before the list is run.
    key : str, optional
        Its key in the catalogue, if it was made by it.
    """

    name: str
    policy: Policy
    model: object = None
    key: str | None = None

    @property
    def is_oracle(self) -> bool:
        """Whether it knows the truth, which no real policy does."""
        return isinstance(self.model, str) and self.model == TRUTH

    @property
    def probabilities(self) -> Callable[[FloatArray], FloatArray] | None:
        """Those of the policy, if it has any."""
        return getattr(self.policy, "probabilities", None)

    @property
    def randomised(self) -> bool:
        """Whether the next offer is drawn."""
        return self.probabilities is not None and bool(getattr(self.policy, "randomised", True))

    def describe(self) -> Json:
        """Return plain values, as a configuration file holds them: of a data class, the settings that are plain."""
        policy: object = self.policy
        names = [each.name for each in fields(policy) if each.init] if is_dataclass(policy) else []
        values = {name: getattr(policy, name) for name in names}
        plain: Json = {name: value for name, value in values.items() if isinstance(value, (str, int, float, bool))}
        return {**plain, "name": self.name, "policy": self.key or type(self.policy).__name__}


Simulated: TypeAlias = OfferRule | Composite | NamedPolicy


def get_named_policy(key: str) -> OfferRule:
    """Return a policy of Lifeyears; the catalogue calls it."""
    return NAMED_POLICIES[key]


def as_policies(policies: object = None, *, by_key: bool = False) -> tuple[Simulated, ...]:
    """Return policies from names, mappings or policy objects; None means the default seven.

    Parameters
    ----------
    policies : sequence, optional
        What `as_policy` takes.
    by_key : bool
        Whether names are looked up by key alone, as for what comes from elsewhere.

    Examples
    --------
    >>> [policy.name for policy in as_policies(["uniform", {"name": "old", "order": "waiting"}])]
    ['uniform', 'old']
    """
    if policies is None:
        policies = DEFAULT_POLICIES
    if isinstance(policies, (str, Mapping)) or not isinstance(policies, Sequence):
        raise RequestError(f'policies must be a list, such as ["us_status", "greedy"]; got {policies!r}')
    rules = tuple(as_policy(each, by_key=by_key) for each in policies)
    names = [rule.name for rule in rules]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise RequestError(f"policies must have names of their own; {repeated[0]} is there twice")
    if not rules:
        raise RequestError("policies names none; leave it out for the default seven")
    return rules


def as_policy(policy: object, *, by_key: bool = False) -> Simulated:
    """Return one policy as the simulation runs it.

    Parameters
    ----------
    policy : str, mapping or Policy
        A key of ``lifeyears.catalogue.policies``, or "package.module:Class" or "./file.py:Class"; a mapping of `name`
        with the parameters of `OfferRule`, or of `name`, `policy` (a key, or an object) and the parameters of that
        policy; or any object with `scores` (`lifeyears.allocation.Policy`), called by its attribute `name`, or else by
        its class.
    by_key : bool
        Whether a name is looked up by key alone.

    Examples
    --------
    >>> as_policy("lyg").target
    'gain'
    >>> as_policy({"name": "old", "order": "waiting"}).order
    'waiting'
    >>> as_policy({"name": "gain", "policy": "composite", "weights": {"life": 1, "without": -1}}).zones.limits
    ()
    >>> import lifeyears as ly
    >>> as_policy(ly.allocation.Greedy()).name
    'Greedy'
    """
    if isinstance(policy, str):
        return _build(policy, {}, by_key)
    if isinstance(policy, Mapping):
        return _from_mapping(policy, by_key)
    if isinstance(policy, type) or not (isinstance(policy, (OfferRule, Composite, NamedPolicy)) or _scores(policy)):
        raise RequestError(
            "a policy is a name, a mapping of name, order, model, target and k, or an object with a method "
            f"scores(candidates, donor, now); got {policy!r}"
        )
    return _named(policy, None)


def _scores(policy: object) -> bool:
    return callable(getattr(policy, "scores", None))


def _from_mapping(settings: Mapping[str, object], by_key: bool) -> Simulated:
    if "policy" in settings:
        rest = {name: value for name, value in settings.items() if name not in ("name", "policy")}
        name, policy = settings.get("name"), settings["policy"]
        if name is not None and (not isinstance(name, str) or not name):
            raise RequestError(f"a policy needs a name; got {name!r}")
        if isinstance(policy, str):
            return _rename(_build(policy, rest, by_key), name)
        if rest:
            raise RequestError(f"{next(iter(rest))!r} is a setting of a policy that is named, not of an object")
        return _rename(as_policy(policy), name)
    known = [field.name for field in fields(OfferRule)]
    unknown = [key for key in settings if key not in known]
    if unknown:
        raise RequestError(f"a policy has no {unknown[0]!r}; it has {', '.join(known)}")
    missing = [key for key in ("name", "order") if key not in settings]
    if missing:
        raise RequestError(f"a policy needs {' and '.join(missing)}; got {dict(settings)}")
    return OfferRule(**settings)  # type: ignore[arg-type] # it checks


def _build(name: str, settings: Mapping[str, object], by_key: bool) -> Simulated:
    """Make a policy from the catalogue."""
    spec = catalogue.policies[name] if by_key else catalogue.policies.resolve(name)
    try:
        policy = spec.build(**settings)
    except TypeError as error:
        raise RequestError(f"the policy {spec.key} cannot be made: {error}", key=spec.key) from error
    if not _scores(policy):
        raise RequestError(f"{spec.key} makes no policy: it has no method scores(candidates, donor, now)", key=spec.key)
    if isinstance(spec.factory, str) and spec.factory.rpartition(":")[0].endswith(".py"):
        _send_by_value(policy)
    return _rename(_named(policy, spec.key), spec.key)


def _named(policy: object, key: str | None) -> Simulated:
    if isinstance(policy, (OfferRule, Composite, NamedPolicy)):
        return policy
    own = getattr(policy, "name", None)
    name = own if isinstance(own, str) and own else type(policy).__name__
    return NamedPolicy(name, cast("Policy", policy), getattr(policy, "model", None), key)


def _rename(policy: Simulated, name: str | None) -> Simulated:
    return policy if name is None or policy.name == name else replace(policy, name=name)


def _send_by_value(policy: object) -> None:
    """Let a class from a file travel to other processes, which cannot import it by name."""
    module = sys.modules[type(policy).__module__]
    for name in ("cloudpickle", "joblib.externals.cloudpickle"):  # whichever joblib and Dask use
        with suppress(ImportError):
            importlib.import_module(name).register_pickle_by_value(module)
