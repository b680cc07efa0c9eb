"""Cross-fitting: nobody's relevance comes from a model that saw them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from ..curves import SurvivalCurves
from ..outcome import Outcome, as_outcome
from ._relevance import Diagnostics, Relevance

Splits = tuple[tuple[np.ndarray, np.ndarray], ...]


def cross_fit(
    estimator: Any, X: Any, y: Any, cv: Any = 5, groups: Any = None, random_state: Any = 0, n_jobs: int | None = None
) -> Relevance:
    """Estimate relevance with nuisance models that never saw the rows they are used on.

    Parameters
    ----------
    estimator : ExpectedYears, IPCW, DoublyRobust or Ensemble
        Unfitted; a copy is fitted for each fold.
    X, y : table and outcome
    cv : int, scikit-learn splitter, or iterable of (train, test), default 5
        An int draws that many folds, stratified by event; with `groups` (centre, say) no group is in two folds.
        `temporal_folds` gives blocks of entry time. Test folds must partition the rows.
    groups : array, optional
        A label for each row.
    random_state : int or None
        Of the drawn folds.
    n_jobs : int, optional
        Folds at once, through joblib.

    Returns
    -------
    Relevance
        With `splits`.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=400)
    >>> X = ly.data.TablePreprocessor().fit_transform(d.X)
    >>> found = cross_fit(ly.relevance.ExpectedYears(ly.models.KaplanMeier(), tau=10), X, d.y, cv=2)
    >>> len(found), len(found.splits)
    (400, 2)
    """
    from joblib import Parallel, delayed

    y = as_outcome(y)
    for given in _nuisances(estimator):
        if isinstance(given, SurvivalCurves):
            raise ValueError("known curves need no cross-fitting: call estimate(X, y) with them")
    splits = draw_splits(X, y, cv, groups, random_state)
    parts = Parallel(n_jobs=n_jobs)(delayed(_one_fold)(estimator, X, y, train, test) for train, test in splits)
    values = np.empty(len(y))
    for (_, test), part in zip(splits, parts, strict=True):
        values[test] = part.values
    diagnostics = Diagnostics.joined([part.diagnostics for part in parts])
    return Relevance(values, max(part.tau for part in parts), parts[0].name, diagnostics, splits)


def temporal_folds(entry: Any, n_splits: int = 5) -> Splits:
    """Folds that are blocks of entry time: each block is estimated by models of the others.

    Rows that entered at the same time stay together, so blocks may differ in size.
    """
    entry = np.asarray(entry)
    edges = np.unique(np.quantile(entry, np.linspace(0, 1, n_splits + 1)[1:-1]))
    block = np.searchsorted(edges, entry, side="right")
    return tuple((np.flatnonzero(block != b), np.flatnonzero(block == b)) for b in np.unique(block))


def draw_splits(X: Any, y: Outcome, cv: Any, groups: Any, random_state: Any) -> Splits:
    """(train, test) index pairs, checked: test folds partition the rows, and no row trains its own fold."""
    if isinstance(cv, (int, np.integer)):
        drawn: Iterable = _drawn(X, y, int(cv), groups, random_state)
    elif hasattr(cv, "split"):
        drawn = cv.split(np.zeros(len(y)), y.event, groups)
    else:
        drawn = cv
    splits = tuple((np.asarray(train), np.asarray(test)) for train, test in drawn)
    times_tested = np.zeros(len(y), dtype=int)
    for train, test in splits:
        np.add.at(times_tested, test, 1)
        if np.intersect1d(train, test).size:
            raise ValueError("a fold's training rows hold some of its test rows")
    if not (times_tested == 1).all():
        row = int(np.flatnonzero(times_tested != 1)[0])
        raise ValueError(f"test folds must partition the rows; row {row} is in {times_tested[row]} of them")
    return splits


def _drawn(X: Any, y: Outcome, folds: int, groups: Any, random_state: Any) -> Iterable:
    if folds < 2:
        raise ValueError(f"cross-fitting needs at least 2 folds; got {folds}")
    rows = np.zeros(len(y))
    if groups is not None:
        return GroupKFold(folds).split(rows, groups=groups)
    rarest = min(y.n_events, len(y) - y.n_events)
    if 0 < rarest < folds:
        raise ValueError(f"{folds} folds stratified by event need {folds} rows of each kind; one kind has {rarest}")
    return StratifiedKFold(folds, shuffle=True, random_state=random_state).split(rows, y.event)


def _one_fold(estimator: Any, X: Any, y: Outcome, train: np.ndarray, test: np.ndarray) -> Relevance:
    fitted = clone(estimator).fit(_safe_indexing(X, train), y[train])
    return fitted.estimate(_safe_indexing(X, test), y[test])


def _nuisances(estimator: Any) -> list:
    if hasattr(estimator, "estimators"):
        return [given for each in estimator.estimators for given in _nuisances(each)]
    return list(estimator._nuisances().values())
