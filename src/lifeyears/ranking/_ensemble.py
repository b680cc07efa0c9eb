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

from .._threads import one_thread
from ..outcome import Outcome
from ._calibration import CalibrationMap
from ._settings import Settings
from .loss._objective import HybridObjective
from .splines._hazards import line_hazards
from .splines._phases import phase_edges, phase_of, years_of
from .trees._boosters import (
    HazardTrees,
    PartialLikelihoodObjective,
    Phase,
    YearsTrees,
    grow,
    staged,
    training_table,
)

STAGES = 12
SLACK = 2.0  # standard errors: a simpler stage is kept unless it is worse than the best by more
AIMS = {"base": 0.0, "years": 1.0, "hazard": 1.0, "lines": 2.0, "pairs": 2.0}  # weights of members beside each other
PULL = 0.2  # towards these weights, as a share of the variance of what members say
PULL_FADES = 30_000  # rows: beyond, as 1/√n, so that with rows enough the outcomes alone decide


@dataclass(frozen=True, eq=False)
class Grown:
    """One member grown on one fold: what it says of the rows left out after each stage, and the member at each.

    Settled: whether its fit came to an end by itself.
    """

    held_out: np.ndarray
    stages: list[Any]
    settled: bool = True


def stages(rounds: int) -> np.ndarray:
    """Numbers of rounds among which the best is chosen."""
    return np.unique(np.linspace(0, rounds, STAGES + 1)[1:].round().clip(min=1).astype(int))


def grow_years(
    table: Any, new: np.ndarray, labels: np.ndarray, gains: np.ndarray, settings: Settings, seed: int
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
        alive, within = phase_of(y, start, stop)
        objective = PartialLikelihoodObjective(within)
        rows = table if alive.all() else table.subset(np.flatnonzero(alive))
        booster = grow(rows, objective, 0.0, settings, seed, threads=1)
        trained, said = (staged(booster, matrix, 0.0, rounds) for matrix in (X[alive], new))
        for stage in range(len(rounds)):
            phases[stage].append(Phase.of(booster, objective, trained[stage], float(stop - start)))
            scores[stage].append(said[stage])
    held_out = np.array([years_of(phases[stage], scores[stage]) for stage in range(len(rounds))])
    return Grown(held_out, [HazardTrees(tuple(made), int(many)) for made, many in zip(phases, rounds, strict=True)])


def grow_lines(X: np.ndarray, new: np.ndarray, y: Outcome, edges: np.ndarray, paired: bool) -> dict[str, Grown]:
    """Broken lines, phase by phase, alone and with products; how much each may say needs no held-out rows."""
    found, settled = line_hazards(X, y, edges, paired)
    both = zip(("lines", "pairs"), found, strict=False)
    return {name: Grown(made.predict(new)[None], [made], settled) for name, made in both}


@one_thread()  # the same to the bit in any process
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
    """All members of one fold but the base."""
    matrix, new = np.ascontiguousarray(X[train]), np.ascontiguousarray(X[test])
    table = training_table(matrix, settings, seed)
    grown: dict[str, Grown] = {}
    if "years" in settings.members:
        grown["years"] = grow_years(table, new, labels[train], gains[train], settings, seed)
    if y is not None and "hazard" in settings.members:
        edges = phase_edges(y[train], tau, max(1, settings.phases - 1))
        grown["hazard"] = grow_hazard(table, matrix, new, y[train], edges, settings, seed)
    if y is not None and {"lines", "pairs"} & set(settings.members):
        edges = phase_edges(y[train], tau, settings.phases)
        made = grow_lines(matrix, new, y[train], edges, "pairs" in settings.members)
        grown |= {name: made[name] for name in ("lines", "pairs") if name in settings.members}
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
    aims : array
        Weights towards which the weights are pulled.
    """

    weights: dict[str, float]
    intercept: float
    stage: dict[str, int]
    held_out: np.ndarray
    held_out_members: dict[str, np.ndarray]
    aims: np.ndarray


def honestly_calibrated(weighing: Weighing, splits: Sequence, outcomes: np.ndarray, tau: float) -> np.ndarray:
    """Years of held-out rows by weights and a calibration map that did not see their outcomes either."""
    matrix = np.column_stack(list(weighing.held_out_members.values()))
    years = np.empty(len(outcomes))
    for _, test in splits:
        rest = np.ones(len(outcomes), dtype=bool)
        rest[test] = False
        weights, intercept = _least_squares(matrix[rest], outcomes[rest], weighing.aims)
        scores = intercept + matrix @ weights
        years[test] = CalibrationMap.fit(scores[rest], outcomes[rest], tau)(scores[test])
    return years


def _least_squares(matrix: np.ndarray, outcomes: np.ndarray, aims: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights that are not negative, pulled towards their aims, and the intercept."""
    centre = matrix.mean(axis=0)
    members = matrix - centre
    share = PULL * min(1.0, np.sqrt(PULL_FADES / len(members)))
    pull = np.sqrt(share * (members**2).mean(axis=1).sum()) if len(aims) > 1 else 0.0
    weights, _ = nnls(
        np.vstack([members, pull * np.eye(len(aims))]), np.append(outcomes - outcomes.mean(), pull * aims)
    )
    if not weights.any():  # nothing foretells anything: the first, the base, is as good as any
        weights[0] = 1.0
    return weights, float(outcomes.mean() - centre @ weights)


def _simplest(errors: np.ndarray) -> int:
    """The first stage whose mean error is within some standard errors of the best's; errors are (stages, n)."""
    worse = errors - errors[np.argmin(errors.mean(axis=1))]
    return int(np.argmax(worse.mean(axis=1) <= SLACK * worse.std(axis=1) / np.sqrt(errors.shape[1])))


def weigh(
    folds: Sequence[dict[str, Grown]],
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    base: np.ndarray | None,
    outcomes: np.ndarray,
) -> Weighing:
    """Least squares with weights that are not negative, on outcomes of held-out rows (doubly robust, where censored).

    Both choices are by mean squared error: it is smooth, and for linear gain the best ranking is the one by expected
    life, which is what the squared error finds. But it looks at all rows alike, while errors gather at the top of a
    list: so of stages that are about as good the simplest is kept, and weights are pulled towards
    `AIMS`, the same for all data. The base model has to earn its weight.
    """
    said: dict[str, np.ndarray] = {} if base is None else {"base": base}
    stage = {}
    for name in folds[0]:
        after = np.empty((len(folds[0][name].held_out), len(outcomes)))
        for (_, test), fold in zip(splits, folds, strict=True):
            after[:, test] = fold[name].held_out
        stage[name] = _simplest((after - outcomes) ** 2)
        said[name] = after[stage[name]]
    matrix = np.column_stack(list(said.values()))
    aims = np.array([AIMS[name] for name in said])
    aims /= max(aims.sum(), 1.0)
    weights, intercept = _least_squares(matrix, outcomes, aims)
    return Weighing(
        weights=dict(zip(said, weights.tolist(), strict=True)),
        intercept=intercept,
        stage=stage,
        held_out=intercept + matrix @ weights,
        held_out_members=said,
        aims=aims,
    )
