"""Cross-fitted members and their weights: what the default preset fits instead of one booster.

The rows are split into folds. Each member is fitted once per fold, on the other folds; its predictions for the rows
left out decide how many trees are kept and what weight it has beside the base model. For new patients, the fits of a
member are averaged: the top of a list is where the noise of a single fit ends up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls

from .._threads import one_thread
from .._typing import FloatArray, IntArray
from ..folds import Splits
from ..outcome import Outcome
from ._calibration import CalibrationMap
from ._piecewise import choose_cut_points, restrict_to_interval, sum_expected_life
from ._settings import Settings
from .loss import HybridObjective
from .splines import fit_spline_hazards
from .trees import (
    BoostedInterval,
    HazardTrees,
    PartialLikelihoodObjective,
    YearsTrees,
    bin_columns,
    predict_stages,
    train_booster,
)

if TYPE_CHECKING:
    import lightgbm

N_STAGES = 12
TOLERANCE = 2.0  # standard errors: a simpler stage is kept unless it is worse than the best by more
# weights of members relative to each other, towards which the fitted ones are shrunk
TARGET_WEIGHTS = {"base": 0.0, "years": 1.0, "hazard": 1.0, "lines": 2.0, "pairs": 2.0}
SHRINKAGE = 0.2  # towards these weights, as a share of the variance of the members' predictions
SHRINKAGE_ROWS = 30_000  # beyond these, shrinkage decreases as 1/√n, so that with many rows the outcomes alone decide


@dataclass(frozen=True, eq=False)
class FoldFit:
    """One member fitted on one fold.

    Attributes
    ----------
    held_out : array, shape (stages, n_test)
        Predictions after each stage for the rows left out.
    stages : list
        The fitted member at each stage.
    converged : bool
        Whether its fit converged.
    """

    held_out: FloatArray
    stages: list[Any]
    converged: bool = True


def choose_stages(rounds: int) -> IntArray:
    """Return the numbers of rounds among which the best is chosen."""
    return np.unique(np.linspace(0, rounds, N_STAGES + 1)[1:].round().clip(min=1).astype(int))


def fit_years(
    table: lightgbm.Dataset, new: FloatArray, labels: FloatArray, gains: FloatArray, settings: Settings, seed: int
) -> FoldFit:
    """Fit the paper's second stage to pseudo-labels, starting from their mean."""
    centre = float(labels.mean())
    objective = HybridObjective(labels, settings.alpha, settings.margin, settings.group_size, seed, gains)
    booster = train_booster(table, objective, centre, settings, seed, threads=1)
    rounds = choose_stages(settings.n_estimators)
    members = [YearsTrees(booster, centre, int(count)) for count in rounds]
    return FoldFit(predict_stages(booster, new, centre, rounds), members)


def fit_hazard(
    table: lightgbm.Dataset,
    X: FloatArray,
    new: FloatArray,
    y: Outcome,
    edges: FloatArray,
    settings: Settings,
    seed: int,
) -> FoldFit:
    """Fit boosted partial likelihoods, one for each interval of time."""
    rounds = choose_stages(settings.n_estimators)
    intervals: list[list[BoostedInterval]] = [[] for _ in rounds]  # by stage
    scores: list[list[FloatArray]] = [[] for _ in rounds]
    for start, stop in pairwise(edges):
        alive, within = restrict_to_interval(y, start, stop)
        objective = PartialLikelihoodObjective(within)
        rows = table if alive.all() else table.subset(np.flatnonzero(alive))
        booster = train_booster(rows, objective, 0.0, settings, seed, threads=1)
        trained, predicted = (predict_stages(booster, matrix, 0.0, rounds) for matrix in (X[alive], new))
        for stage in range(len(rounds)):
            interval = BoostedInterval.from_scores(booster, objective, trained[stage], float(stop - start))
            intervals[stage].append(interval)
            scores[stage].append(predicted[stage])
    held_out = np.array([sum_expected_life(intervals[stage], scores[stage]) for stage in range(len(rounds))])
    members = [HazardTrees(tuple(parts), int(count)) for parts, count in zip(intervals, rounds, strict=True)]
    return FoldFit(held_out, members)


def fit_splines(
    X: FloatArray, new: FloatArray, y: Outcome, edges: FloatArray, with_interactions: bool
) -> dict[str, FoldFit]:
    """Fit spline hazards, alone and with interactions; their prior variances need no held-out rows."""
    models, converged = fit_spline_hazards(X, y, edges, with_interactions)
    named = zip(("lines", "pairs"), models, strict=False)
    return {name: FoldFit(model.predict(new)[None], [model], converged) for name, model in named}


@one_thread()  # the same to the bit in any process
def fit_fold(
    X: FloatArray,
    y: Outcome | None,
    labels: FloatArray,
    gains: FloatArray,
    train: IntArray,
    test: IntArray,
    settings: Settings,
    tau: float,
    seed: int,
) -> dict[str, FoldFit]:
    """Fit all members of one fold but the base."""
    matrix, new = np.ascontiguousarray(X[train]), np.ascontiguousarray(X[test])
    table = bin_columns(matrix, settings, seed)
    fits: dict[str, FoldFit] = {}
    if "years" in settings.members:
        fits["years"] = fit_years(table, new, labels[train], gains[train], settings, seed)
    if y is not None and "hazard" in settings.members:
        edges = choose_cut_points(y[train], tau, max(1, settings.phases - 1))
        fits["hazard"] = fit_hazard(table, matrix, new, y[train], edges, settings, seed)
    if y is not None and {"lines", "pairs"} & set(settings.members):
        edges = choose_cut_points(y[train], tau, settings.phases)
        splines = fit_splines(matrix, new, y[train], edges, "pairs" in settings.members)
        fits |= {name: splines[name] for name in ("lines", "pairs") if name in settings.members}
    return fits


@dataclass(frozen=True, eq=False)
class MemberWeights:
    """Weights of the members, the stage at which each is kept, and the predictions for rows that no member had seen.

    Attributes
    ----------
    weights : dict of member to weight
        Weights of the members' years; none is negative.
    intercept : float
    stage : dict of member to int
    held_out : array, shape (n,)
        The weighted sum.
    held_out_members : dict of member to array
        The predictions of each member.
    targets : array
        Weights towards which the weights are shrunk.
    """

    weights: dict[str, float]
    intercept: float
    stage: dict[str, int]
    held_out: FloatArray
    held_out_members: dict[str, FloatArray]
    targets: FloatArray


def cross_calibrate(fitted: MemberWeights, splits: Splits, outcomes: FloatArray, tau: float) -> FloatArray:
    """Return the years of held-out rows by weights and a calibration map that were fitted without their outcomes."""
    matrix = np.column_stack(list(fitted.held_out_members.values()))
    years = np.empty(len(outcomes))
    for _, test in splits:
        rest = np.ones(len(outcomes), dtype=bool)
        rest[test] = False
        weights, intercept = _solve_weights(matrix[rest], outcomes[rest], fitted.targets)
        scores = intercept + matrix @ weights
        years[test] = CalibrationMap.fit(scores[rest], outcomes[rest], tau)(scores[test])
    return years


def _solve_weights(matrix: FloatArray, outcomes: FloatArray, targets: FloatArray) -> tuple[FloatArray, float]:
    """Return non-negative least-squares weights, shrunk towards their targets, and the intercept."""
    centre = matrix.mean(axis=0)
    members = matrix - centre
    share = SHRINKAGE * min(1.0, np.sqrt(SHRINKAGE_ROWS / len(members)))
    pull = np.sqrt(share * (members**2).mean(axis=1).sum()) if len(targets) > 1 else 0.0
    weights, _ = nnls(
        np.vstack([members, pull * np.eye(len(targets))]), np.append(outcomes - outcomes.mean(), pull * targets)
    )
    if not weights.any():  # nothing is predictive: the first member, the base, is as good as any
        weights[0] = 1.0
    return weights, float(outcomes.mean() - centre @ weights)


def choose_simplest(errors: FloatArray) -> int:
    """Return the first stage whose mean error is within `TOLERANCE` of the best one's; errors are (stages, n)."""
    worse = errors - errors[np.argmin(errors.mean(axis=1))]
    return int(np.argmax(worse.mean(axis=1) <= TOLERANCE * worse.std(axis=1) / np.sqrt(errors.shape[1])))


def fit_weights(
    folds: Sequence[dict[str, FoldFit]],
    splits: Splits | Sequence[tuple[IntArray, IntArray]],
    base: FloatArray | None,
    outcomes: FloatArray,
) -> MemberWeights:
    """Fit non-negative least squares to outcomes of held-out rows (doubly robust, where censored).

    Stages and weights are both chosen by mean squared error: it is smooth, and for linear gain the best ranking is the
    one by expected life, which minimises it. But it gives all rows the same weight, while errors gather at the top of a
    list: of stages that are about as good the simplest is therefore kept, and weights are shrunk towards
    `TARGET_WEIGHTS`, the same for all data. The base model gets weight only where it improves the fit.
    """
    predictions: dict[str, FloatArray] = {} if base is None else {"base": base}
    stage = {}
    for name in folds[0]:
        by_stage = np.empty((len(folds[0][name].held_out), len(outcomes)))
        for (_, test), fold in zip(splits, folds, strict=True):
            by_stage[:, test] = fold[name].held_out
        stage[name] = choose_simplest((by_stage - outcomes) ** 2)
        predictions[name] = by_stage[stage[name]]
    matrix = np.column_stack(list(predictions.values()))
    targets = np.array([TARGET_WEIGHTS[name] for name in predictions])
    targets /= max(targets.sum(), 1.0)
    weights, intercept = _solve_weights(matrix, outcomes, targets)
    return MemberWeights(
        weights=dict(zip(predictions, weights.tolist(), strict=True)),
        intercept=intercept,
        stage=stage,
        held_out=intercept + matrix @ weights,
        held_out_members=predictions,
        targets=targets,
    )
