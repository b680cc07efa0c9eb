"""Sharing strength between donor types: how far a type's own predictor is to be believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..curves import SurvivalCurves
from ..models import Cox
from ..outcome import Outcome
from ..ranking._labels import label_estimator, pseudo_labels

RIDGE = 10.0  # of the nuisance models
TOLERANCE = 0.5  # standard errors
PRIORS = np.append(np.geomspace(1, 1e6, 49), np.inf)  # in events


def own_weights(events: np.ndarray, prior: float) -> np.ndarray:
    """The weight of each type's own predictor, m / (m + prior) for m events."""
    if np.isinf(prior):
        return np.zeros(len(events))
    total = events + prior
    return np.divide(events, total, out=np.zeros(len(events)), where=total > 0)


def estimated_prior(years: np.ndarray, pooled: np.ndarray, own: np.ndarray, events: np.ndarray) -> float:
    """The largest prior that predicts held-out rows about as well as the best one does, by squared error.

    "About": within half a standard error of the difference between the two. The best prior itself believes noise where
    types do not differ; a whole standard error believes too little where they differ somewhat.

    Parameters
    ----------
    years : array, shape (n,)
        What the held-out rows lived, corrected for censoring.
    pooled, own : arrays, shape (n,)
        What the two predictors said; NaN where a type has no predictor of its own.
    events : array, shape (n,)
        Events that the own predictor was trained on.
    """
    known = np.isfinite(own)
    if not known.any():
        return float("inf")
    miss, step, events = years[known] - pooled[known], (own - pooled)[known], events[known]
    falling = PRIORS[::-1]
    losses = np.array([(miss - own_weights(events, prior) * step) ** 2 for prior in falling])
    excess = losses - losses[losses.mean(axis=1).argmin()]
    about = excess.mean(axis=1) <= TOLERANCE * excess.std(axis=1) / np.sqrt(len(miss))
    return float(falling[np.flatnonzero(about)[0]])


def held_out_years(X: np.ndarray, y: Outcome, train: np.ndarray, test: np.ndarray, tau: float) -> np.ndarray:
    """Doubly robust years of test rows, by nuisance models of the training rows."""
    if y.n_events == len(y):
        censoring: Any = SurvivalCurves.trusted(np.zeros(1), np.ones((1, 1)))
    else:
        censoring = Cox(alpha=RIDGE).fit(X[train], y[train].censoring())
    survival = Cox(alpha=RIDGE, tau=tau).fit(X[train], y[train])
    judge = label_estimator("dr", survival, censoring, tau)
    return pseudo_labels(judge.estimate, X[test], y[test], tau).values


def stratified_folds(strata: np.ndarray, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(train, test) rows, with every stratum shared out evenly."""
    shuffled = np.random.default_rng(seed).permutation(len(strata))
    ranked = shuffled[np.argsort(strata[shuffled], kind="stable")]
    fold = np.empty(len(strata), dtype=int)
    fold[ranked] = np.arange(len(strata)) % folds
    return [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in range(folds)]
