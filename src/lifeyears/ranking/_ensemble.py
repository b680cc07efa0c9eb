"""Cross-fitted members and their weights: what the default preset does in place of one booster.

The rows are split into folds. Each member is grown once a fold, on the other folds; what it says of the rows it did
not see decides how many trees are kept and what weight it gets beside the base model. To rank new patients, a
member's fits are averaged: the top of a list is where a single fit's noise ends up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import nnls

from ..outcome import Outcome
from ._calibration import CalibrationMap
from ._objective import HybridObjective
from ._settings import Settings
from ._trees import (
    HazardTrees,
    PartialLikelihoodObjective,
    Phase,
    YearsTrees,
    grow,
    staged,
    training_table,
    years_of,
)

FEWEST_EVENTS = 100  # in each phase of life
STAGES = 12


@dataclass(frozen=True, eq=False)
class Grown:
    """One member grown on one fold: what it says of the rows left out after each stage, and the member at each."""

    held_out: np.ndarray
    stages: list[Any]


def stages(rounds: int) -> np.ndarray:
    """Numbers of rounds among which the best is chosen."""
    return np.unique(np.linspace(0, rounds, STAGES + 1)[1:].round().clip(min=1).astype(int))


def grow_years(
    table: Any, X: np.ndarray, new: np.ndarray, labels: np.ndarray, gains: np.ndarray, settings: Settings, seed: int
) -> Grown:
    """The paper's second stage on pseudo-labels, from their mean."""
    centre = float(labels.mean())
    objective = HybridObjective(labels, settings.alpha, settings.margin, settings.group_size, seed, gains)
    booster = grow(table, objective, centre, settings, seed, threads=1)
    rounds = stages(settings.n_estimators)
    return Grown(staged(booster, new, centre, rounds), [YearsTrees(booster, centre, int(many)) for many in rounds])


def grow_hazard(
    table: Any, X: np.ndarray, new: np.ndarray, y: Outcome, edges: np.ndarray, settings: Settings, seed: int
) -> Grown:
    """Boosted partial likelihoods, one for each phase of life."""
    rounds = stages(settings.n_estimators)
    phases: list[list[Phase]] = [[] for _ in rounds]  # by stage
    scores: list[list[np.ndarray]] = [[] for _ in rounds]
    for start, stop in pairwise(edges):
        alive = y.time > start
        within = y[alive]
        within = Outcome(np.minimum(within.time, stop) - start, within.event & (within.time <= stop))
        objective = PartialLikelihoodObjective(within)
        rows = table if alive.all() else table.subset(np.flatnonzero(alive))
        booster = grow(rows, objective, 0.0, settings, seed, threads=1)
        trained, said = (staged(booster, matrix, 0.0, rounds) for matrix in (X[alive], new))
        for stage in range(len(rounds)):
            phases[stage].append(Phase.of(booster, objective, trained[stage], float(stop - start)))
            scores[stage].append(said[stage])
    held_out = np.array([years_of(phases[stage], scores[stage]) for stage in range(len(rounds))])
    return Grown(held_out, [HazardTrees(tuple(made), int(many)) for made, many in zip(phases, rounds, strict=True)])


def phase_edges(y: Outcome, tau: float, phases: int) -> np.ndarray:
    """Where life is cut: early phases are short. Two phases: after the first third of the deaths."""
    deaths = y.time[y.event & (y.time <= tau)]
    phases = max(1, min(phases, len(deaths) // (3 * FEWEST_EVENTS)))
    edges = [0.0]
    for cut in np.quantile(deaths, np.arange(1, phases) / (phases + 1)) if phases > 1 else ():
        before, after = np.count_nonzero((deaths > edges[-1]) & (deaths <= cut)), np.count_nonzero(deaths > cut)
        if cut > edges[-1] and min(before, after) >= FEWEST_EVENTS:
            edges.append(float(cut))
    return np.array([*edges, tau])


def grow_fold(
    X: np.ndarray,
    y: Outcome | None,
    labels: np.ndarray,
    gains: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    settings: Settings,
    tau: float,
    seed: int,
) -> dict[str, Grown]:
    """All tree members of one fold, on one thread."""
    matrix, new = np.ascontiguousarray(X[train]), np.ascontiguousarray(X[test])
    table = training_table(matrix, settings, seed)
    grown = {}
    if "years" in settings.members:
        grown["years"] = grow_years(table, matrix, new, labels[train], gains[train], settings, seed)
    if "hazard" in settings.members and y is not None:
        edges = phase_edges(y[train], tau, settings.phases)
        grown["hazard"] = grow_hazard(table, matrix, new, y[train], edges, settings, seed)
    return grown


@dataclass(frozen=True, eq=False)
class Weighing:
    """Which stage of each member is kept, the weights, and what the sum says of rows no member had seen.

    Attributes
    ----------
    weights : dict of member to weight
        Not negative; of years each.
    intercept : float
    stage : dict of member to int
    held_out : array, shape (n,)
    held_out_members : dict of member to array
    """

    weights: dict[str, float]
    intercept: float
    stage: dict[str, int]
    held_out: np.ndarray
    held_out_members: dict[str, np.ndarray]


def honestly_calibrated(weighing: Weighing, splits: Sequence, outcomes: np.ndarray, tau: float) -> np.ndarray:
    """Years of held-out rows by weights and a calibration map that did not see their outcomes either."""
    matrix = np.column_stack(list(weighing.held_out_members.values()))
    years = np.empty(len(outcomes))
    for _, test in splits:
        rest = np.ones(len(outcomes), dtype=bool)
        rest[test] = False
        weights, intercept = _least_squares(matrix[rest], outcomes[rest])
        scores = intercept + matrix @ weights
        years[test] = CalibrationMap.fit(scores[rest], outcomes[rest], tau)(scores[test])
    return years


def _least_squares(matrix: np.ndarray, outcomes: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights that are not negative, and the intercept."""
    centre = matrix.mean(axis=0)
    weights, _ = nnls(matrix - centre, outcomes - outcomes.mean())
    if not weights.any():  # nothing foretells anything: the first, the base, is as good as any
        weights[0] = 1.0
    return weights, float(outcomes.mean() - centre @ weights)


def weigh(
    folds: Sequence[dict[str, Grown]],
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    base: np.ndarray | None,
    outcomes: np.ndarray,
) -> Weighing:
    """Least squares with weights that are not negative, on outcomes of held-out rows (doubly robust, where censored).

    Both choices are by mean squared error: it is smooth, and for linear gain the best ranking is the one by expected
    life, which is what the squared error finds.
    """
    said: dict[str, np.ndarray] = {} if base is None else {"base": base}
    stage = {}
    for name in folds[0]:
        after = np.empty((len(folds[0][name].held_out), len(outcomes)))
        for (_, test), fold in zip(splits, folds, strict=True):
            after[:, test] = fold[name].held_out
        stage[name] = int(np.argmin(((after - outcomes) ** 2).mean(axis=1)))
        said[name] = after[stage[name]]
    matrix = np.column_stack(list(said.values()))
    weights, intercept = _least_squares(matrix, outcomes)
    return Weighing(
        weights=dict(zip(said, weights.tolist(), strict=True)),
        intercept=intercept,
        stage=stage,
        held_out=intercept + matrix @ weights,
        held_out_members=said,
    )
