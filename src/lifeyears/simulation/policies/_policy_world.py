"""What policies see of a replicate: the candidates and the donor of a match run, and orders for the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ...errors import RequestError
from ...text import did_you_mean
from ..engine import CLASS_STEP, MatchRun, Order, Scenario, make_order, order_at_random
from ..worlds.heart import N_STATES, Arrivals, World, compute_frailty, expect_life_without, expect_lives
from ._terms import KERNEL_TERMS, Weight, bonus_of, sum_candidate_terms, sum_state_terms, weight_of
from ._zones import Zones, as_zones

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import AnyArray, FloatArray
    from ..worlds.heart import HeartLaw
    from ._scores import Scores

HIDDEN = ("candidate_key", "donor_key")  # from which the luck of pairs is drawn


@dataclass(frozen=True, eq=False)
class PolicyWorld:
    """One replicate as a policy sees it: tables of candidates for a match run, and orders for the kernel.

    Attributes
    ----------
    world : World
    arrivals : Arrivals
    scenario : Scenario
    lives : Scores, optional
        Expected life by the policy's model; None if it has no model, or if it knows the truth.
    knows_truth : bool
        Whether life with and without a transplant are those of the simulation's own law.
    """

    world: World
    arrivals: Arrivals
    scenario: Scenario
    lives: Scores | None = None
    knows_truth: bool = False

    def order(self, weights: Mapping[str, Weight], *, zones: object = (), k: int = 1) -> Order:
        """Return the order of a weighted sum of terms within zones; see `Composite`.

        Parameters
        ----------
        weights : mapping of term to number
        zones : sequence of float or Zones
        k : int
        """
        rule = as_zones(zones)
        self._check_size(weights, rule)
        bonus = np.append(bonus_of(weights), 0.0)  # the last is being inactive
        by_state = sum_state_terms(
            weights,
            self.without if weight_of(weights, "without") else 0.0,
            self.hazard if weight_of(weights, "hazard") else 0.0,
            bonus,
        )
        by_candidate = sum_candidate_terms(
            weights,
            self.age if weight_of(weights, "age") else 0.0,
            self.sensitised if weight_of(weights, "sensitised") else 0.0,
        )
        lives = self.lives if weight_of(weights, "life") else None
        if weight_of(weights, "life") and lives is None and not self.knows_truth:
            raise _no_model()
        return make_order(
            {theirs: weight_of(weights, ours) for ours, theirs in KERNEL_TERMS.items()},
            k,
            zones=np.array(rule.limits),
            classes=rule.table,
            second_fit=int(rule.primary_first),
            by_law=self.knows_truth,
            scores=None if lives is None else lives.years,
            item_type=None if lives is None else lives.donor_type,
            by_state=np.ascontiguousarray(np.atleast_2d(by_state)),
            by_candidate=np.atleast_1d(by_candidate),
            n_states=N_STATES,
        )

    def _check_size(self, weights: Mapping[str, Weight], zones: Zones) -> None:
        """Refuse weights so large that a score could outweigh a class."""
        if zones.table.max() == 0 and not zones.primary_first:
            return
        largest = {
            "life": self.world.tau if self.lives is None else float(np.abs(self.lives.years).max(initial=0.0)),
            "without": self.world.tau,
            "hazard": float(np.max(self.hazard, initial=0.0)) if weight_of(weights, "hazard") else 0.0,
            "waiting": self._span,
            "waiting_at_status": self._span,
            "distance": self.world.reach_nm,
            "size": max(self.world.size_match or (10.0,)),
            "age": 120.0,
        }
        total = float(np.abs(bonus_of(weights)).max())
        total += sum(abs(weight_of(weights, name)) * largest.get(name, 1.0) for name in weights if name != "status")
        if total >= CLASS_STEP / 2:
            raise RequestError(
                f"with zones, scores must stay below {CLASS_STEP / 2:,.0f}; the weights allow {total:,.0f}",
                hint="Use smaller weights (only their ratios matter), or no zones.",
            )

    @cached_property
    def _span(self) -> float:
        """The longest possible time on the list."""
        times = self.arrivals.events.time
        return float(times[-1] - min(times[0], self.arrivals.listed.min(initial=0.0))) if len(times) else 0.0

    @cached_property
    def without(self) -> FloatArray:
        """Expected years without a transplant, by candidate (or one row for all) and status."""
        return self.arrivals.without if self.knows_truth else expect_life_without(np.ones(1), self.world)

    @cached_property
    def hazard(self) -> FloatArray:
        """Deaths per year on the list, by candidate (or one row for all) and status."""
        rates = np.array([self.world.death_rates])
        if not self.knows_truth:
            return rates
        return np.asarray(compute_frailty(self.arrivals.candidates, self.world.frailty)[:, None] * rates)

    @cached_property
    def age(self) -> FloatArray:
        """Age of each candidate."""
        return np.asarray(np.nan_to_num(self.arrivals.candidates["age"].to_numpy(float), nan=55.0))

    @cached_property
    def sensitised(self) -> FloatArray:
        """Share of donors that each candidate has antibodies against; 0 where it is not known."""
        return np.asarray(np.nan_to_num(self.arrivals.candidates["antibodies_class_1"].to_numpy(float)) / 100)

    @cached_property
    def _columns(self) -> dict[str, AnyArray]:
        return {}

    def column(self, table: pd.DataFrame, name: str) -> AnyArray:
        """Return a whole column of the candidates or the donors as an array; one match run after the other reads it."""
        if name not in self._columns:
            self._columns[name] = table[name].to_numpy()
        return self._columns[name]

    def view(self, run: MatchRun) -> tuple[ListedCandidates, DonorRecord]:
        """Return the candidates and the donor of a match run, as `lifeyears.allocation.Policy.scores` takes them."""
        return ListedCandidates(self, run), DonorRecord(self, run.item)


class ListedCandidates:
    """The candidates whom a heart fits, one row each: a table whose columns are made when they are asked for.

    Columns are the candidate's features (docs/registry.md), and these, as they are at this moment:

    - candidate: a number; the lower, the earlier listed
    - status: 1 to 6
    - listed: when, in years from the start
    - size_ratio: the donor's predicted heart mass over the candidate's; NaN if unknown
    - life (if the policy has a model), without, hazard, waiting, waiting_at_status, primary_blood_group, distance,
      sensitised, size, random: the terms of `Composite`
    """

    def __init__(self, world: PolicyWorld, run: MatchRun) -> None:
        self._world, self._run = world, run

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        features = [name for name in self._world.arrivals.candidates.columns if name not in HIDDEN]
        own = [name for name in COLUMNS if name != "life" or self._has_life]
        return [*own, *(name for name in features if name not in COLUMNS)]

    @property
    def _has_life(self) -> bool:
        return self._world.lives is not None or self._world.knows_truth

    def __len__(self) -> int:
        return len(self._run.who)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __getitem__(self, column: str) -> AnyArray:
        if column in COLUMNS:
            return COLUMNS[column](self._world, self._run)
        if column in HIDDEN or column not in self._world.arrivals.candidates.columns:
            known = self.columns
            raise RequestError(f"candidates have no column {column!r}{did_you_mean(str(column), known)}")
        return self._world.column(self._world.arrivals.candidates, column)[self._run.who]

    def to_frame(self) -> pd.DataFrame:
        """Return all columns as a DataFrame; slower than the columns one by one."""
        frame = self._world.arrivals.candidates.iloc[self._run.who].drop(columns=list(HIDDEN), errors="ignore")
        own = {name: self[name] for name in COLUMNS if name != "life" or self._has_life}
        return frame.assign(**own)[self.columns].reset_index(drop=True)

    def __repr__(self) -> str:
        return f"<{len(self)} candidates, {len(self.columns)} columns>"


class DonorRecord(Mapping[str, object]):
    """The features of one donor, by name."""

    def __init__(self, world: PolicyWorld, number: int) -> None:
        self._world, self._donors, self._number = world, world.arrivals.donors, number

    def __getitem__(self, name: str) -> object:
        if name in HIDDEN or name not in self._donors.columns:
            raise KeyError(name)
        return self._world.column(self._donors, name)[self._number]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._donors.columns if name not in HIDDEN)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _life(world: PolicyWorld, run: MatchRun) -> FloatArray:
    if world.lives is not None:
        return np.asarray(world.lives.years[run.who, world.lives.donor_type[run.item]])
    if not world.knows_truth:
        raise _no_model()
    arrivals, out = world.arrivals, np.empty(len(run.who))
    table = cast("HeartLaw", world.scenario.law).table
    expect_lives(
        run.who, np.array([run.item]), run.distance, len(out), arrivals.candidate_law, arrivals.donor_law, table, out
    )
    return out


def _by_state(table: FloatArray, run: MatchRun) -> FloatArray:
    return np.asarray(table[run.who if len(table) > 1 else 0, run.state.status[run.who]])


def _time_in_status(world: PolicyWorld, run: MatchRun) -> FloatArray:
    earlier = run.state.time_in[run.who, run.state.status[run.who]]
    return np.asarray(earlier + (run.now - run.state.since[run.who]))


def _size_ratio(world: PolicyWorld, run: MatchRun) -> FloatArray:
    return np.asarray(world.scenario.items.size[run.item] / world.scenario.candidates.size[run.who])


COLUMNS: dict[str, Callable[[PolicyWorld, MatchRun], AnyArray]] = {
    "candidate": lambda world, run: run.who.copy(),
    "status": lambda world, run: run.state.status[run.who] + 1,
    "listed": lambda world, run: world.arrivals.listed[run.who],
    "waiting": lambda world, run: run.now - world.arrivals.listed[run.who],
    "waiting_at_status": _time_in_status,
    "distance": lambda world, run: run.distance.copy(),
    "primary_blood_group": lambda world, run: run.fit == 0,
    "size_ratio": _size_ratio,
    "size": lambda world, run: np.nan_to_num(np.abs(_size_ratio(world, run) - 1), nan=0.0),
    "life": _life,
    "without": lambda world, run: _by_state(world.without, run),
    "hazard": lambda world, run: _by_state(world.hazard, run),
    "age": lambda world, run: world.age[run.who],
    "sensitised": lambda world, run: world.sensitised[run.who],
    "random": lambda world, run: order_at_random(
        world.scenario.candidates.key[run.who], world.scenario.items.key[run.item]
    ),
}


def _no_model() -> RequestError:
    return RequestError(
        "the column life is the expected life by the policy's model, and the policy has no model",
        hint='Give the policy an attribute model, for example model = "cox".',
    )
