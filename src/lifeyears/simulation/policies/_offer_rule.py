"""Simple policies: one criterion within zones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ...checks import check_whole
from ...errors import RequestError
from ._composite import GAIN, TRUTH, Composite
from ._zones import US_CLASSES, Zones, as_zones

if TYPE_CHECKING:
    from ..._typing import FloatArray, Json
    from ...allocation import CandidateTable
    from ..engine import Order
    from ..worlds.heart import World
    from ._policy_world import PolicyWorld

ORDERS = ("status", "waiting", "random", "model")
TARGETS = ("life", "gain")


@dataclass(frozen=True, eq=False)
class OfferRule:
    """A policy with one criterion: the order in which compatible candidates are offered a heart.

    It is a shorthand for a `Composite` (see the method `composite`).

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
    zones : sequence of float or Zones, optional
        As for `Composite`; by default the world's `zones_nm`. The US policy has its own.

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
    zones: Zones | tuple[float, ...] | None = None

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
        if self.order == "status" and self.zones is not None:
            raise RequestError(
                f"policy {self.name} orders by status: the US policy has its own zones",
                hint="For others, use a composite policy.",
            )
        object.__setattr__(self, "zones", None if self.zones is None else as_zones(self.zones))

    @property
    def is_oracle(self) -> bool:
        """Whether it orders by the true expected life, which no real policy knows."""
        return isinstance(self.model, str) and self.model == TRUTH

    @property
    def randomised(self) -> bool:
        """Whether the next offer is drawn (`k` above 1)."""
        return self.k > 1

    @cached_property
    def composite(self) -> Composite:
        """The same policy as a weighted sum of terms.

        Raises
        ------
        RequestError
            If the zones are those of a world that is not known yet; see `within`.
        """
        zones = US_CLASSES if self.order == "status" else self.zones
        if zones is None:
            raise RequestError(
                f"the zones of policy {self.name} are those of the world",
                hint="Call within(world) first, or set zones.",
            )
        by_model = GAIN if self.target == "gain" else {"life": 1.0}
        weights = {"random": {"random": 1.0}, "model": by_model}.get(self.order, {"waiting": 1.0})
        return Composite(weights, zones, self.model, self.k, self.name)

    @property
    def probabilities(self) -> Callable[[FloatArray], FloatArray]:
        """The probability of each candidate, given the scores: Algorithm 1 of the paper."""
        return self.composite.probabilities

    def within(self, world: World) -> OfferRule:
        """Return the policy with the zones of a world, if it has none."""
        if self.order == "status" or self.zones is not None:
            return self
        return replace(self, zones=as_zones(world.zones_nm))

    def scores(self, candidates: CandidateTable, donor: Mapping[str, object], now: float) -> FloatArray:
        """Score the candidates for one heart (`lifeyears.allocation.Policy`)."""
        return self.composite.scores(candidates, donor, now)

    def compiled(self, world: PolicyWorld) -> Order:
        """Return the order for the simulation's kernel."""
        return self.within(world.world).composite.compiled(world)

    def describe(self) -> Json:
        """Return plain values, as a configuration file holds them; a fitted model appears by its type."""
        model = self.model if self.model is None or isinstance(self.model, str) else type(self.model).__name__
        settings: Json = {"name": self.name, "order": self.order, "model": model, "target": self.target, "k": self.k}
        settings["zones"] = None if self.zones is None else as_zones(self.zones).describe()
        return {name: value for name, value in settings.items() if value is not None}
