"""Partial pooling of donor types: the weight of a type's own predictor beside the pooled one."""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..curves import SurvivalCurves
from ..folds import Splits, draw_folds
from ..models import Cox
from ..outcome import Outcome
from ..ranking.labels import compute_pseudo_labels, make_label_estimator
from ..relevance import NUISANCE_RIDGE

TOLERANCE = 0.5  # standard errors
PRIORS = np.append(np.geomspace(1, 1e6, 49), np.inf)  # in events


def compute_weights(events: IntArray | FloatArray, prior: float) -> FloatArray:
    """Return the weight of each type's own predictor, m / (m + prior) for m events."""
    if np.isinf(prior):
        return np.zeros(len(events))
    total = events + prior
    return np.asarray(np.divide(events, total, out=np.zeros(len(events)), where=total > 0))


def estimate_prior(years: FloatArray, pooled: FloatArray, own: FloatArray, events: FloatArray) -> float:
    """Return the largest prior that predicts held-out rows about as well as the best one does, by squared error.

    "About" means within half a standard error of the difference between the two. The best prior itself fits noise where
    types do not differ; a whole standard error shrinks too much where they differ somewhat.

    Parameters
    ----------
    years : array, shape (n,)
        Years that the held-out rows lived, corrected for censoring.
    pooled, own : arrays, shape (n,)
        Predictions of the two predictors; NaN where a type has no predictor of its own.
    events : array, shape (n,)
        Number of events that the own predictor was trained on.
    """
    with_own = np.isfinite(own)
    if not with_own.any():
        return float("inf")
    residual, step, events = years[with_own] - pooled[with_own], (own - pooled)[with_own], events[with_own]
    largest_first = PRIORS[::-1]
    losses = np.array([(residual - compute_weights(events, prior) * step) ** 2 for prior in largest_first])
    excess = losses - losses[losses.mean(axis=1).argmin()]
    close = excess.mean(axis=1) <= TOLERANCE * excess.std(axis=1) / np.sqrt(len(residual))
    return float(largest_first[np.flatnonzero(close)[0]])


def estimate_held_out_years(X: FloatArray, y: Outcome, train: IntArray, test: IntArray, tau: float) -> FloatArray:
    """Estimate doubly robust years of test rows, by nuisance models fitted to the training rows."""
    if y.n_events == len(y):
        censoring: Cox | SurvivalCurves = SurvivalCurves.trusted(np.zeros(1), np.ones((1, 1)))
    else:
        censoring = Cox(alpha=NUISANCE_RIDGE).fit(X[train], y[train].censoring())
    survival = Cox(alpha=NUISANCE_RIDGE, tau=tau).fit(X[train], y[train])
    estimator = make_label_estimator("dr", survival, censoring, tau)
    return compute_pseudo_labels(estimator.estimate, X[test], y[test], tau).values


def draw_type_folds(position: IntArray, event: BoolArray, n_folds: int, seed: int) -> Splits:
    """Draw folds that are stratified by donor type and event; strata with fewer rows than folds join the largest."""
    _, stratum, sizes = np.unique(2 * position + event, return_inverse=True, return_counts=True)
    stratum[sizes[stratum] < n_folds] = sizes.argmax()
    return draw_folds(stratum, n_folds, random_state=seed)
