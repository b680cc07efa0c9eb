"""Policies on the list: compiled where they can be, called for every heart where they cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import DataError
from ..engine import ListState, MatchRun, Order, Scenario, run_called_policy, run_policy
from ._named import NamedPolicy, Simulated
from ._offer_rule import OfferRule
from ._policy_world import PolicyWorld

if TYPE_CHECKING:
    from ..._typing import FloatArray
    from ...allocation import Policy
    from ..worlds.heart import Arrivals, World
    from ._scores import Scores


def view_world(
    policy: Simulated, arrivals: Arrivals, scenario: Scenario, tables: Mapping[int, Scores], world: World
) -> PolicyWorld:
    """Return a replicate as a policy sees it; `tables` holds the scores of models, by the identity of the model."""
    return PolicyWorld(world, arrivals, scenario, tables.get(id(policy.model)), policy.is_oracle)


def run_simulated(policy: Simulated, seen: PolicyWorld, start: ListState, *, compiled: bool = True) -> ListState:
    """Return the list at the end, under a policy from time 0 on; `start` stays as it is.

    Parameters
    ----------
    policy : OfferRule, Composite or NamedPolicy
    seen : PolicyWorld
        From `view_world`.
    start : ListState
        From `lifeyears.simulation.engine.warm_up`.
    compiled : bool
        False calls `scores` for every heart, also of policies that can be compiled.
    """
    if isinstance(policy, OfferRule):
        policy = policy.within(seen.world)
    acting = policy.policy if isinstance(policy, NamedPolicy) else policy
    compile_order: Callable[[PolicyWorld], Order] | None = getattr(acting, "compiled", None)
    if compiled and compile_order is not None:
        return run_policy(seen.scenario, start, compile_order(seen))
    return run_called_policy(seen.scenario, start, _Called(policy.name, acting, seen, _probabilities(policy)))


def _probabilities(policy: Simulated) -> Callable[[FloatArray], FloatArray] | None:
    return policy.probabilities if policy.randomised else None


@dataclass(frozen=True, eq=False)
class _Called:
    """A policy as the engine calls it: what it returns is checked."""

    name: str
    policy: Policy
    seen: PolicyWorld
    draws: Callable[[FloatArray], FloatArray] | None

    @property
    def probabilities(self) -> Callable[[FloatArray], FloatArray] | None:
        return None if self.draws is None else self._checked_probabilities

    def rank(self, run: MatchRun) -> FloatArray:
        candidates, donor = self.seen.view(run)
        scores = np.asarray(self.policy.scores(candidates, donor, run.now), dtype=float)
        return self._check("scores", scores, len(candidates))

    def _checked_probabilities(self, scores: FloatArray) -> FloatArray:
        assert self.draws is not None
        values = self._check("probabilities", np.asarray(self.draws(scores), dtype=float), len(scores))
        if (values < 0).any():
            raise DataError(f"policy {self.name} returned a negative probability ({values.min():g})")
        return values

    def _check(self, method: str, values: FloatArray, n: int) -> FloatArray:
        if values.shape != (n,):
            raise DataError(
                f"{method} of policy {self.name} must return one number for each of {n} candidates; "
                f"the shape is {values.shape}"
            )
        if not np.isfinite(values).all():
            raise DataError(f"{method} of policy {self.name} must return finite numbers")
        return values
