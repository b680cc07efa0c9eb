"""Weights of cross-fitted members: non-negative least squares on held-out rows, and the guard that keeps the base.

The rows are split into folds. Each member is fitted once per fold, on the other folds; its predictions for the rows
left out decide how many trees are kept and what weight it has beside the base model. For new patients, the fits of a
member are averaged: the top of a list is where the noise of a single fit ends up.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ..._typing import FloatArray, IntArray
from ...folds import Splits
from ...metrics import compare, policy_value
from .._calibration import CalibrationMap
from ._members import FoldFit

TOLERANCE = 2.0  # standard errors: a simpler stage is kept unless it is worse than the best by more
SHRINKAGE = 0.2  # towards the target weights, as a share of the variance of the members' predictions
SHRINKAGE_ROWS = 30_000  # beyond these, shrinkage decreases as 1/√n, so that with many rows the outcomes alone decide
WAITLIST = 256


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
    target_weights: Mapping[str, float],
) -> MemberWeights:
    """Fit non-negative least squares to outcomes of held-out rows (doubly robust, where censored).

    Stages and weights are both chosen by mean squared error: it is smooth, and for linear gain the best ranking is the
    one by expected life, which minimises it. But it gives all rows the same weight, while errors gather at the top of a
    list: of stages that are about as good the simplest is therefore kept, and weights are shrunk towards those that the
    members state, the same for all data. The base model gets weight only where it improves the fit.

    Parameters
    ----------
    folds : sequence of dict of member to FoldFit
    splits : sequence of (train, test)
    base : array, shape (n,), or None
        The base model's years of held-out rows.
    outcomes : array, shape (n,)
    target_weights : mapping of member to float
        Weights of members relative to each other, towards which the fitted ones are shrunk; that of the base is 0.

    Returns
    -------
    MemberWeights
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
    targets = np.array([0.0 if name == "base" else target_weights[name] for name in predictions])
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


def is_clearly_worse(scores: FloatArray, base_years: FloatArray, outcomes: FloatArray) -> bool:
    """Return whether, on held-out rows, the top of the ranker's list is clearly worse than the base model's."""
    waitlist = min(WAITLIST, len(outcomes))
    ranker_value, base_value = (policy_value(outcomes, each, waitlist=waitlist) for each in (scores, base_years))
    if ranker_value >= base_value:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about small samples: here the difference only has to be clear
        both = {"base": base_years, "ranker": scores}
        comparison = compare(outcomes, both, waitlist=waitlist, n_resamples=200, random_state=0)
    low, high = comparison.differences[["low", "high"]].iloc[0]
    return bool(low > 0 or high < 0)
