"""A policy that weighs terms: expected life, urgency, waiting, blood group, distance and others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...allocation import PositionWeighted
from ...checks import check_whole
from ...errors import RequestError
from ..engine import CLASS_STEP
from ._terms import Weight, bonus_of, check_weights, sum_candidate_terms, sum_state_terms, weight_of
from ._zones import Zones, as_zones

if TYPE_CHECKING:
    from ..._typing import FloatArray, Json
    from ...allocation import CandidateTable
    from ..engine import Order
    from ._policy_world import PolicyWorld

TRUTH = "truth"  # the model that knows: expected life by the registry's own law
NO_ZONES = Zones()
GAIN = {"life": 1.0, "without": -1.0}


@dataclass(frozen=True, eq=False)
class Composite:
    """Offer hearts by a weighted sum of terms, within zones.

    The score of a candidate is the sum of the terms below, each times its weight; within a class of `zones`, the
    highest is offered the heart first. Of equal scores, the candidate listed earlier comes first. US policy, first come
    first served, and life-years gained are special cases (see the examples).

    ==================== =============================================================================================
    term                 value
    ==================== =============================================================================================
    life                 expected years with this heart, by `model`, within the world's horizon
    without              expected years without a transplant, from the current status
    hazard               deaths per year on the list, at the current status
    status               six numbers: a bonus for each of the statuses 1 to 6
    waiting              years since listing
    waiting_at_status    years spent in the current status, in all stays
    primary_blood_group  1 if the blood group is a primary match, else 0
    distance             nautical miles between the donor and the candidate's centre
    sensitised           share of donors that the candidate has antibodies against, 0 to 1
    size                 distance from 1 of the donor's predicted heart mass over the candidate's; 0 if unknown
    age                  the candidate's age in years
    random               a random number from 0 to 1 for each candidate and heart
    ==================== =============================================================================================

    Parameters
    ----------
    weights : mapping of term to number
        Terms that are left out have the weight 0. By default life-years gained: ``{"life": 1, "without": -1}``.
    zones : sequence of float or Zones, default ()
        Limits of distance in nautical miles: nearer zones come before all scores. `Zones` also has classes by status.
    model : str or fitted model, default "cox"
        What predicts ``life``; as for `OfferRule`. With "truth", ``life``, ``without`` and ``hazard`` are those of the
        simulation's own law, frailty included; otherwise the last two are those of a candidate of average frailty.
    k : int
        1 offers in order; above 1, position-weighted (as for `OfferRule`).
    name : str
        As it is called in tables.

    Examples
    --------
    >>> from lifeyears.simulation import US_CLASSES
    >>> first_come = Composite({"waiting": 1}, zones=(500, 1000))
    >>> us_status = Composite({"waiting": 1}, zones=US_CLASSES)
    >>> lyg = Composite({"life": 1, "without": -1}, zones=(500, 1000), model="cox")
    >>> import pandas as pd
    >>> listed = pd.DataFrame({"waiting": [0.2, 1.5], "status": [1, 4]})
    >>> Composite({"waiting": 1, "status": [8, 4, 2, 1, 0, 0]}).scores(listed, {}, 0.0)
    array([8.2, 2.5])
    """

    weights: Mapping[str, Weight] = field(default_factory=lambda: dict(GAIN))
    zones: Zones | tuple[float, ...] = ()
    model: object = "cox"
    k: int = 1
    name: str = "composite"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise RequestError(f"a policy needs a name; got {self.name!r}")
        object.__setattr__(self, "weights", check_weights(self.weights))
        object.__setattr__(self, "zones", as_zones(self.zones))
        object.__setattr__(self, "k", check_whole(f"k of policy {self.name}", self.k, 1, 1000))
        if not self.uses("life") and not (self.is_oracle and (self.uses("without") or self.uses("hazard"))):
            object.__setattr__(self, "model", None)
        elif self.model is None:
            raise RequestError(
                f"policy {self.name} weighs life, but no model is named", hint="Name one, for example cox."
            )

    @property
    def is_oracle(self) -> bool:
        """Whether it knows the truth, which no real policy does."""
        return isinstance(self.model, str) and self.model == TRUTH

    @property
    def randomised(self) -> bool:
        """Whether the next offer is drawn (`k` above 1)."""
        return self.k > 1

    @cached_property
    def probabilities(self) -> Callable[[FloatArray], FloatArray]:
        """The probability of each candidate, given the scores: Algorithm 1 of the paper."""
        return PositionWeighted(self.k).probabilities

    def uses(self, term: str) -> bool:
        """Whether a term has a weight other than 0."""
        return term in self._used

    @cached_property
    def _used(self) -> frozenset[str]:
        return frozenset(name for name, weight in self.weights.items() if np.any(weight))

    def scores(self, candidates: CandidateTable, donor: Mapping[str, object], now: float) -> FloatArray:
        """Score the candidates for one heart (`lifeyears.allocation.Policy`)."""

        def column(name: str) -> FloatArray | float:
            return np.asarray(candidates[name], dtype=float) if self.uses(name) else 0.0

        # the order of additions is that of the kernel: equal to the last bit
        total: FloatArray = np.zeros(len(candidates))
        if self.uses("life"):
            total += weight_of(self.weights, "life") * column("life")
        bonus = np.zeros(len(candidates))
        if self.uses("status"):
            bonus = bonus_of(self.weights)[np.asarray(candidates["status"], dtype=np.int64) - 1]
        total += sum_state_terms(self.weights, column("without"), column("hazard"), bonus)
        total += sum_candidate_terms(self.weights, column("age"), column("sensitised"))
        for name in ("waiting", "waiting_at_status", "primary_blood_group", "distance", "size", "random"):
            if self.uses(name):
                total += weight_of(self.weights, name) * column(name)
        zones = as_zones(self.zones)
        if zones == NO_ZONES:
            return total
        names = ("status", "distance", "primary_blood_group")
        return np.asarray(total - CLASS_STEP * zones.classify(*(np.asarray(candidates[name]) for name in names)))

    def compiled(self, world: PolicyWorld) -> Order:
        """Return the order for the simulation's kernel."""
        return world.order(self.weights, zones=self.zones, k=self.k)

    def describe(self) -> Json:
        """Return plain values, as a configuration file holds them; a fitted model appears by its type."""
        model = self.model if self.model is None or isinstance(self.model, str) else type(self.model).__name__
        weights = {name: list(value) if isinstance(value, tuple) else value for name, value in self.weights.items()}
        settings: Json = {"name": self.name, "policy": "composite", "weights": weights, "model": model, "k": self.k}
        settings["zones"] = as_zones(self.zones).describe()
        return {name: value for name, value in settings.items() if value is not None}
