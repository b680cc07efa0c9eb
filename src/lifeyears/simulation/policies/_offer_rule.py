"""What a policy is: a rule for who is offered a heart first; the named ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from ...checks import check_whole
from ...errors import RequestError

ORDERS = ("status", "waiting", "random", "model")
TARGETS = ("life", "gain")
TRUTH = "truth"  # the model that knows: expected life by the registry's own law


@dataclass(frozen=True, eq=False)
class OfferRule:
    """A policy: the order in which compatible candidates are offered a heart.

    Parameters
    ----------
    name : str
        As it is called in tables.
    order : {"status", "waiting", "random", "model"}
        The US policy (status, zone, blood group, then time on the list); first come, first served; at random; by the
        scores of a model.
    model : str or fitted model, optional
        "cox", "weibull", "ranker" (light settings), "ranker_paper", "cox_by_donor_type" or "truth"; the path of a saved
        model; or anything fitted with ``predict(X)`` in years for tables as `lifeyears.data.Population.pairs` makes
        them, or with ``scores(candidates)`` and ``lookup(donors)`` as `lifeyears.allocation.DonorTypeRanker`.
    target : {"life", "gain"}
        Years with a transplant, or these less the years without one (LYG).
    k : int
        1 offers in order; above 1, position-weighted: the next offer goes to the i-th of the k first who have not been
        asked with probability d(i)/W_k (the paper's Algorithm 1).

    Examples
    --------
    >>> OfferRule("greedy", "model", model="cox").k
    1
    >>> OfferRule("greedy", "model")
    Traceback (most recent call last):
    lifeyears.errors.RequestError: policy greedy orders by a model, but no model is named. Name one, for example cox.
    """

    name: str
    order: str
    model: object = None
    target: str = "life"
    k: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise RequestError(f"a policy needs a name; got {self.name!r}")
        if self.order not in ORDERS:
            raise RequestError(
                f"the order of policy {self.name} must be one of {', '.join(ORDERS)}; got {self.order!r}"
            )
        if self.target not in TARGETS:
            raise RequestError(f"the target of policy {self.name} must be life or gain; got {self.target!r}")
        object.__setattr__(self, "k", check_whole(f"k of policy {self.name}", self.k, 1, 1000))
        if self.order == "model" and self.model is None:
            raise RequestError(
                f"policy {self.name} orders by a model, but no model is named", hint="Name one, for example cox."
            )
        if self.order != "model" and (self.model is not None or self.target != "life"):
            raise RequestError(f"policy {self.name} orders by {self.order}: it has no use for a model or a target")

    @property
    def is_oracle(self) -> bool:
        """Whether it orders by the true expected life, which no real policy knows."""
        return isinstance(self.model, str) and self.model == TRUTH


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


def as_policies(policies: object = None) -> tuple[OfferRule, ...]:
    """Return policies from names, mappings or `OfferRule` objects; None means the default seven.

    Examples
    --------
    >>> [policy.name for policy in as_policies(["uniform", {"name": "old", "order": "waiting"}])]
    ['uniform', 'old']
    """
    if policies is None:
        policies = DEFAULT_POLICIES
    if isinstance(policies, (str, OfferRule)) or not isinstance(policies, Sequence):
        raise RequestError(f'policies must be a list, such as ["us_status", "greedy"]; got {policies!r}')
    rules = tuple(as_policy(each) for each in policies)
    names = [rule.name for rule in rules]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise RequestError(f"policies must have names of their own; {repeated[0]} is there twice")
    if not rules:
        raise RequestError("policies names none; leave it out for the default seven")
    return rules


def as_policy(policy: object) -> OfferRule:
    """Return one policy from its name, a mapping of `OfferRule`'s parameters, or itself.

    Examples
    --------
    >>> as_policy("lyg").target
    'gain'
    >>> as_policy({"name": "old", "order": "waiting"}).order
    'waiting'
    """
    if isinstance(policy, OfferRule):
        return policy
    if isinstance(policy, str):
        if policy not in NAMED_POLICIES:
            raise RequestError(f"there is no policy {policy!r}; there are {', '.join(NAMED_POLICIES)}")
        return NAMED_POLICIES[policy]
    if not isinstance(policy, Mapping):
        raise RequestError(f"a policy is a name or a set of name, order, model, target and k; got {policy!r}")
    known = [field.name for field in fields(OfferRule)]
    unknown = [key for key in policy if key not in known]
    if unknown:
        raise RequestError(f"a policy has no {unknown[0]!r}; it has {', '.join(known)}")
    missing = [key for key in ("name", "order") if key not in policy]
    if missing:
        raise RequestError(f"a policy needs {' and '.join(missing)}; got {dict(policy)}")
    return OfferRule(**policy)
