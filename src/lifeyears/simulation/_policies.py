"""Policies: who is offered a heart first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

ORDERS = ("status", "waiting", "random", "model")
TARGETS = ("life", "gain")
TRUTH = "truth"  # the model that knows: expected life by the registry's own law


@dataclass(frozen=True, eq=False)
class Policy:
    """An order of the compatible candidates within reach.

    Parameters
    ----------
    name : str
        As it is called in tables.
    order : {"status", "waiting", "random", "model"}
        The US policy (status, zone, blood group, then time on the list); first come, first served; chance; a model.
    model : str or fitted model, optional
        "cox", "weibull", "ranker" (light settings), "ranker_paper", "cox_by_donor_type" or "truth"; the path of a saved
        model; or anything fitted with ``predict(X)`` in years for tables as `lifeyears.data.Population.pairs` makes
        them, or with ``scores(candidates)`` and ``lookup(donors)`` as `lifeyears.allocation.DonorTypeRanker`.
    target : {"life", "gain"}
        Years with a transplant, or these less the years without one (LYG).
    k : int
        1 offers in order; above 1, position-weighted: the next offer goes to the i-th of the k first who have not been
        asked with chance d(i)/W_k (the paper's Algorithm 1).

    Examples
    --------
    >>> Policy("greedy", "model", model="cox").k
    1
    >>> Policy("greedy", "model")
    Traceback (most recent call last):
    ValueError: policy greedy orders by a model: name one, as model="cox"
    """

    name: str
    order: str
    model: Any = None
    target: str = "life"
    k: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"a policy needs a name; got {self.name!r}")
        if self.order not in ORDERS:
            raise ValueError(f"the order of policy {self.name} must be one of {', '.join(ORDERS)}; got {self.order!r}")
        if self.target not in TARGETS:
            raise ValueError(f"the target of policy {self.name} must be life or gain; got {self.target!r}")
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k <= 1000:
            raise ValueError(f"k of policy {self.name} must be a whole number from 1 to 1000; got {self.k!r}")
        if self.order == "model" and self.model is None:
            raise ValueError(f'policy {self.name} orders by a model: name one, as model="cox"')
        if self.order != "model" and (self.model is not None or self.target != "life"):
            raise ValueError(f"policy {self.name} orders by {self.order}: it has no use for a model or a target")

    @property
    def knows(self) -> bool:
        """Whether it orders by the truth."""
        return isinstance(self.model, str) and self.model == TRUTH


NAMED = {
    policy.name: policy
    for policy in (
        Policy("us_status", "status"),
        Policy("first_come", "waiting"),
        Policy("uniform", "random"),
        Policy("greedy", "model", model="cox"),
        Policy("position_weighted", "model", model="ranker", k=5),
        Policy("lyg", "model", model="cox", target="gain"),
        Policy("oracle", "model", model=TRUTH),
        Policy("greedy_ranker", "model", model="ranker"),
        Policy("oracle_lyg", "model", model=TRUTH, target="gain"),
    )
}
DEFAULT = ("us_status", "first_come", "uniform", "greedy", "position_weighted", "lyg", "oracle")


def as_policies(given: Any = None) -> tuple[Policy, ...]:
    """Policies from names, mappings or `Policy` objects; None means the default seven.

    Examples
    --------
    >>> [policy.name for policy in as_policies(["uniform", {"name": "old", "order": "waiting"}])]
    ['uniform', 'old']
    """
    if given is None:
        given = DEFAULT
    if isinstance(given, (str, Policy)) or not isinstance(given, Sequence):
        raise ValueError(f'policies must be a list, such as ["us_status", "greedy"]; got {given!r}')
    policies = tuple(as_policy(each) for each in given)
    names = [policy.name for policy in policies]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"policies must have names of their own; {twice[0]} is there twice")
    if not policies:
        raise ValueError("policies names none; leave it out for the default seven")
    return policies


def as_policy(given: Any) -> Policy:
    """One policy from its name, a mapping of `Policy`'s parameters, or itself."""
    if isinstance(given, Policy):
        return given
    if isinstance(given, str):
        if given not in NAMED:
            raise ValueError(f"there is no policy {given!r}; there are {', '.join(NAMED)}")
        return NAMED[given]
    if not isinstance(given, Mapping):
        raise ValueError(f"a policy is a name or a set of name, order, model, target and k; got {given!r}")
    known = [field.name for field in fields(Policy)]
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ValueError(f"a policy has no {unknown[0]!r}; it has {', '.join(known)}")
    lacking = [key for key in ("name", "order") if key not in given]
    if lacking:
        raise ValueError(f"a policy needs {' and '.join(lacking)}; got {dict(given)}")
    return Policy(**given)
