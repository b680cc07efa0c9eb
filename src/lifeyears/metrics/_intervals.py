"""Bootstrap intervals of any metric, resampling patients."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_number, check_random_state, check_whole
from ..curves import SurvivalCurves
from ..errors import DataError, RequestError
from ..outcome import as_outcome

if TYPE_CHECKING:
    from .._typing import IntArray, RandomState
    from ..outcome import OutcomeLike


class Interval(NamedTuple):
    """A value with its interval."""

    value: float
    low: float
    high: float


def bootstrap_interval(
    metric: Callable[..., float],
    truth: ArrayLike | OutcomeLike,
    scores: ArrayLike | SurvivalCurves,
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    random_state: RandomState = 0,
    **settings: Any,
) -> Interval:
    """Compute a metric with its percentile bootstrap interval over patients (Efron and Tibshirani 1993, chapter 13).

    It works for any metric, those of other distributions included, and holds scores and relevance fixed. For policy
    values `compare` has better intervals (bootstrap-t) at less cost.

    Parameters
    ----------
    metric : callable
        ``metric(relevance, scores, **settings)`` or ``metric(y, scores, **settings)``, such as `ndcg_score` or
        `concordance_index`; the name of the first parameter decides.
    truth : array, Relevance, Outcome or what `lifeyears.as_outcome` reads
        What the metric takes first: the relevance, or the outcome.
    scores : array, shape (n,), or SurvivalCurves
        What the metric takes second; higher means longer life.
    n_resamples : int, default 1000
        Resamples on which the metric is not defined (no comparable pair, say) are left out.
    confidence : float, default 0.95
    groups : array, shape (n,), optional
        Rows of one group (of one patient, say) are drawn together.
    random_state : int, Generator or None
    **settings
        For the metric: `k`, `waitlist`, `time`.

    Returns
    -------
    Interval
        `value`, `low`, `high`.

    Raises
    ------
    DataError
        If the metric is defined on fewer than half of the resamples.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap. Chapman and Hall.

    Examples
    --------
    >>> from lifeyears.metrics import policy_value
    >>> bootstrap_interval(policy_value, np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 4.0]), k=1)
    Interval(value=4.0, low=2.0, high=4.0)
    """
    scores = scores if isinstance(scores, SurvivalCurves) else np.asarray(scores, dtype=float)
    truth = as_outcome(truth) if next(iter(inspect.signature(metric).parameters)) == "y" else np.asarray(truth)
    n = len(scores)
    if len(truth) != n:
        raise RequestError(f"there are {len(truth)} rows of truth and {n} scores")
    check_whole("n_resamples", n_resamples, low=2)
    tail = (1 - check_number("confidence", confidence, low=0, high=1)) / 2
    rng = check_random_state(random_state)
    rows_of = _split_by_group(groups, n)
    value = float(metric(truth, scores, **settings))
    values = []
    for _ in range(n_resamples):
        drawn = rng.integers(0, len(rows_of), len(rows_of))
        rows = np.concatenate([rows_of[each] for each in drawn])
        try:
            values.append(float(metric(truth[rows], scores[rows], **settings)))
        except ValueError:
            continue
    if len(values) < n_resamples / 2:
        raise DataError(f"the metric is defined on {len(values)} of {n_resamples} resamples only")
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(value, float(low), float(high))


def _split_by_group(groups: ArrayLike | None, n: int) -> list[IntArray]:
    if groups is None:
        return list(np.arange(n)[:, None])
    labels = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    if len(labels) != n:
        raise RequestError(f"there are {len(labels)} groups and {n} scores")
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])
