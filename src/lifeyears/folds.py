"""Folds for cross-validation and cross-fitting: stratified, grouped, or in blocks of time.

Every fold of the package is drawn here, so that a rule (no subject on both sides of a split, say) holds everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import check_number, check_random_state, check_whole
from .errors import DataError, Message, RequestError, Setting

Rows = NDArray[np.int64]
Splits = tuple[tuple[Rows, Rows], ...]


def draw_folds(
    strata: ArrayLike, n_folds: int, groups: ArrayLike | None = None, random_state: int | None = 0
) -> Splits:
    """Draw (train, test) row numbers of folds at random.

    Parameters
    ----------
    strata : array, shape (n,)
        A label for each row, such as its event indicator: folds hold equal shares of each. Where a label is rarer than
        there are folds, folds are drawn without regard to it.
    n_folds : int
        Number of folds, at least 2.
    groups : array, shape (n,), optional
        A label for each row, such as its patient or centre: no group is in two folds. Groups are taken in random
        order, each to the fold that is smallest so far; strata are then not balanced.
    random_state : int or None, default 0

    Returns
    -------
    tuple of (train, test) index arrays

    Examples
    --------
    >>> is_event = np.array([1, 1, 0, 0])
    >>> [is_event[test].tolist() for _, test in draw_folds(is_event, 2)]
    [[1, 0], [1, 0]]
    >>> [test.tolist() for _, test in draw_folds(is_event, 2, groups=["a", "a", "b", "b"])]
    [[0, 1], [2, 3]]
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    strata = np.asarray(strata)
    check_whole("the number of folds", n_folds, low=2)
    if groups is not None:
        return _whole_groups(check_groups(groups, len(strata)), n_folds, random_state)
    if n_folds > len(strata):
        raise DataError(
            f"{n_folds} folds need at least {n_folds} rows; there are {len(strata)}",
            hint=Message("Use fewer with ", Setting("folds"), "."),
        )
    rarest = min(np.unique(strata, return_counts=True)[1])
    splitter = StratifiedKFold if rarest >= n_folds else KFold
    drawn = splitter(n_folds, shuffle=True, random_state=random_state).split(np.zeros(len(strata)), strata)
    return tuple((train.astype(np.int64), test.astype(np.int64)) for train, test in drawn)


def temporal_folds(entry: ArrayLike, n_splits: int = 5) -> Splits:
    """Divide rows into folds that are blocks of entry time: each block is estimated by models of the others.

    Rows that entered at the same time stay together, so blocks may differ in size.

    Parameters
    ----------
    entry : array of numbers, shape (n,)
        When each row entered.
    n_splits : int, default 5
        Number of blocks; there are fewer where too many rows entered at one time.

    Returns
    -------
    tuple of (train, test) index arrays
        One pair per block, earliest first: for the `cv` argument of `cross_fit`.

    Examples
    --------
    >>> [test.tolist() for train, test in temporal_folds([2001, 2003, 2002, 2004], n_splits=2)]
    [[0, 2], [1, 3]]
    """
    times = np.asarray(entry, dtype=float)
    if np.isnan(times).any():
        raise DataError(f"entry is missing in row {int(np.flatnonzero(np.isnan(times))[0])}")
    distinct = np.unique(times)
    if len(distinct) < 2:
        raise DataError("all rows entered at one time: there is nothing to split by")
    wanted = np.sort(times)[[len(times) * block // n_splits for block in range(1, n_splits)]]
    edges = np.unique(np.maximum(wanted, distinct[1]))  # the first block holds at least the first entry time
    block = np.searchsorted(edges, times, side="right")
    return tuple((np.flatnonzero(block != b), np.flatnonzero(block == b)) for b in np.unique(block))


def check_folds(folds: Iterable[tuple[ArrayLike, ArrayLike]], n: int, groups: ArrayLike | None = None) -> Splits:
    """Check folds that a caller passes: test folds partition the rows, and no row or group is on both sides of a split.

    Parameters
    ----------
    folds : iterable of (train, test)
        Row numbers, or masks of n rows.
    n : int
        Number of rows.
    groups : array, shape (n,), optional

    Examples
    --------
    >>> check_folds([([0], [1])], n=2)
    Traceback (most recent call last):
    lifeyears.errors.RequestError: test folds must partition the rows; row 0 is in 0 of them
    """
    labels = None if groups is None else check_groups(groups, n)
    splits = tuple((_as_rows(train, n), _as_rows(test, n)) for train, test in folds)
    times_tested = np.zeros(n, dtype=int)
    for train, test in splits:
        np.add.at(times_tested, test, 1)
        if np.intersect1d(train, test).size:
            raise RequestError("the training rows of a fold hold some of its test rows")
        if labels is not None and np.intersect1d(labels[train], labels[test]).size:
            raise RequestError("the folds put rows of one group on both sides of a split")
    if not (times_tested == 1).all():
        row = int(np.flatnonzero(times_tested != 1)[0])
        raise RequestError(f"test folds must partition the rows; row {row} is in {times_tested[row]} of them")
    return splits


def draw_validation_split(
    is_event: ArrayLike, share: float, random_state: int | np.random.Generator | np.random.RandomState | None = 0
) -> tuple[Rows, Rows]:
    """Draw rows to train on and rows to hold out, with equal shares of events and censorings.

    Parameters
    ----------
    is_event : array of bool, shape (n,)
        The two kinds of rows.
    share : float
        Of each kind, the share to hold out, rounded down: at least 0 and below 1.
    random_state : int, Generator, RandomState or None, default 0

    Returns
    -------
    train, held_out : index arrays

    Examples
    --------
    >>> train, held_out = draw_validation_split([True, True, False, False], 0.5)
    >>> len(train), len(held_out)
    (2, 2)
    """
    if not check_number("the share of rows to hold out", share, low=0) < 1:
        raise RequestError(f"the share of rows to hold out must be below 1; got {share!r}")
    is_legacy = isinstance(random_state, np.random.RandomState)
    rng = cast("np.random.RandomState", random_state) if is_legacy else check_random_state(random_state)
    kinds = np.asarray(is_event, dtype=bool)
    is_held_out = np.zeros(len(kinds), dtype=bool)
    for kind in (kinds, ~kinds):
        rows = np.flatnonzero(kind)
        is_held_out[rng.permutation(rows)[: int(share * len(rows))]] = True
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def check_groups(groups: ArrayLike, n: int) -> NDArray[np.generic]:
    """Check that there is one group label for each row."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise RequestError(f"groups must have one label for each of the {n} rows; its shape is {labels.shape}")
    return labels


def _whole_groups(groups: NDArray[np.generic], n_folds: int, random_state: int | None) -> Splits:
    names, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < n_folds:
        there = "is 1" if len(names) == 1 else f"are {len(names)}"
        use = Setting("folds", len(names)) if len(names) > 1 else Setting("split")
        hint = Message("Use ", use, ".") if len(names) > 1 else Message("Use another ", use, ".")
        raise DataError(f"{n_folds} folds of whole groups need {n_folds} groups; there {there}", hint=hint)
    fold_of, filled = np.empty(len(names), dtype=np.int64), np.zeros(n_folds)
    for group in np.random.default_rng(random_state).permutation(len(names)):
        fold_of[group] = int(filled.argmin())
        filled[fold_of[group]] += sizes[group]
    row_fold = fold_of[place]
    return tuple((np.flatnonzero(row_fold != fold), np.flatnonzero(row_fold == fold)) for fold in range(n_folds))


def _as_rows(rows: ArrayLike, n: int) -> Rows:
    """Return the row numbers of a fold, passed as numbers or as a mask."""
    numbers = np.asarray(rows)
    if numbers.dtype == bool and numbers.shape == (n,):
        return np.flatnonzero(numbers)
    is_whole = not numbers.size or numbers.dtype.kind in "iu"
    if numbers.ndim != 1 or not is_whole or (numbers.size and (numbers.min() < 0 or numbers.max() >= n)):
        raise RequestError(f"folds must be row numbers from 0 to {n - 1}, or masks of {n} rows")
    whole: Rows = numbers.astype(np.int64)
    return whole
