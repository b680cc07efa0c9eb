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
    nuisances = [given for part in estimator._parts() for given in part._nuisances().values()]
    if all(isinstance(given, SurvivalCurves) for given in nuisances):
        raise ValueError("known curves need no cross-fitting: call estimate(X, y) with them")
    splits = draw_splits(y, cv, groups, random_state)
    parts = Parallel(n_jobs=n_jobs)(delayed(_one_fold)(estimator, X, y, train, test) for train, test in splits)
    values = np.empty(len(y))
    for (_, test), part in zip(splits, parts, strict=True):
        values[test] = part.values
    diagnostics = Diagnostics.joined([part.diagnostics for part in parts])
    return Relevance(values, max(part.tau for part in parts), parts[0].name, diagnostics, splits)


def temporal_folds(entry: Any, n_splits: int = 5) -> Splits:
    """Folds that are blocks of entry time: each block is estimated by models of the others.

    Rows that entered at the same time stay together, so blocks may differ in size.

    Parameters
    ----------
    entry : array of numbers, shape (n,)
        When each row entered.
    n_splits : int, default 5
        Blocks; there are fewer where too many rows entered at one time.

    Returns
    -------
    tuple of (train, test) index arrays
        One pair a block, earliest first: for `cross_fit`'s `cv`.

    Examples
    --------
    >>> [test.tolist() for train, test in temporal_folds([2001, 2003, 2002, 2004], n_splits=2)]
    [[0, 2], [1, 3]]
    """
    entry = np.asarray(entry, dtype=float)
    if np.isnan(entry).any():
        raise ValueError(f"entry is missing in row {int(np.flatnonzero(np.isnan(entry))[0])}")
    distinct = np.unique(entry)
    if len(distinct) < 2:
        raise ValueError("all rows entered at one time: there is nothing to split by")
    wanted = np.sort(entry)[[len(entry) * block // n_splits for block in range(1, n_splits)]]
    edges = np.unique(np.maximum(wanted, distinct[1]))  # the first block holds at least the first entry time
    block = np.searchsorted(edges, entry, side="right")
    return tuple((np.flatnonzero(block != b), np.flatnonzero(block == b)) for b in np.unique(block))


def draw_splits(y: Outcome, cv: Any, groups: Any, random_state: Any) -> Splits:
    """(train, test) index pairs, checked: test folds partition the rows, and no row or group trains its own fold."""
    if groups is not None and np.shape(groups) != (len(y),):
        raise ValueError(f"groups must have one label for each of the {len(y)} rows; its shape is {np.shape(groups)}")
    if isinstance(cv, (int, np.integer)):
        drawn: Iterable = _drawn(y, int(cv), groups, random_state)
    elif hasattr(cv, "split"):
        drawn = cv.split(np.zeros(len(y)), y.event, groups)
    else:
        drawn = cv
    splits = tuple((_indices(train, len(y)), _indices(test, len(y))) for train, test in drawn)
    times_tested = np.zeros(len(y), dtype=int)
    for train, test in splits:
        np.add.at(times_tested, test, 1)
        if np.intersect1d(train, test).size:
            raise ValueError("a fold's training rows hold some of its test rows")
        if groups is not None and np.intersect1d(np.asarray(groups)[train], np.asarray(groups)[test]).size:
            raise ValueError("the given folds put rows of one group on both sides")
    if not (times_tested == 1).all():
        row = int(np.flatnonzero(times_tested != 1)[0])
        raise ValueError(f"test folds must partition the rows; row {row} is in {times_tested[row]} of them")
    return splits


def _indices(rows: Any, n: int) -> np.ndarray:
    """Row numbers of a fold, given as numbers or as a mask."""
    rows = np.asarray(rows)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n)):
        raise ValueError(f"folds must be row numbers from 0 to {n - 1}, or masks of {n} rows")
    return rows.astype(int)


def _drawn(y: Outcome, folds: int, groups: Any, random_state: Any) -> Iterable:
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
    fitted = _for_rows(clone(estimator), test, len(y)).fit(_safe_indexing(X, train), y[train])
    return fitted.estimate(_safe_indexing(X, test), y[test])


def _for_rows(estimator: Any, rows: np.ndarray, n: int) -> Any:
    """The estimator with known curves (one row for each subject) cut to some rows."""
    for part in estimator._parts():
        for role, given in part._nuisances().items():
            if isinstance(given, SurvivalCurves) and len(given) == n:
                part.set_params(**{role: given[rows]})
    return estimator
