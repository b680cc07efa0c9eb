"""Brier score under censoring, at a time and integrated."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import trapezoid

from ..curves import SurvivalCurves
from ..errors import FollowUpWarning, RequestError
from ..outcome import as_outcome
from ._censoring import censoring_curves, inverse_weights

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..outcome import OutcomeLike


@overload
def brier_score(
    y: OutcomeLike,
    survival: SurvivalCurves | ArrayLike,
    time: float,
    censoring: OutcomeLike | SurvivalCurves | None = None,
) -> float: ...


@overload
def brier_score(
    y: OutcomeLike,
    survival: SurvivalCurves | ArrayLike,
    time: ArrayLike,
    censoring: OutcomeLike | SurvivalCurves | None = None,
) -> float | FloatArray: ...


def brier_score(
    y: OutcomeLike,
    survival: SurvivalCurves | ArrayLike,
    time: ArrayLike,
    censoring: OutcomeLike | SurvivalCurves | None = None,
) -> float | FloatArray:
    """Mean squared error of predicted survival at a time, weighted for censoring (lower is better).

    Parameters
    ----------
    y : Outcome or what `lifeyears.as_outcome` reads
    survival : SurvivalCurves, or array of S(t|x) of shape (n,), or (n, q) for q times
    time : float or array
        One time or several.
    censoring : outcome or SurvivalCurves, optional
        Where G comes from, as in `auc_at`.

    Returns
    -------
    float or array
        0 is perfect; 0.25 is what S = 0.5 for everybody gets.

    Examples
    --------
    >>> brier_score(([1, 1], [1.0, 3.0]), [0.2, 0.9], time=2.0)       # (0.2² + 0.1²)/2
    0.025
    """
    y = as_outcome(y)
    times = np.atleast_1d(np.asarray(time, dtype=float))
    chances = survival_at(survival, times, len(y))
    longest = y.time.max()
    if times.size and times.max() > longest and not y.event[y.time == longest].all():
        warnings.warn(
            f"nobody was followed to {times.max():g}; the longest follow-up is {longest:g}. Beyond it only those known "
            "to have died count, and the score looks better than it is",
            FollowUpWarning,
            stacklevel=2,
        )
    G = censoring_curves(y, censoring)
    own = G.at_own(y.time, left=True)
    scores = []
    for t, chance in zip(times, chances.T, strict=True):
        died, lives = y.event & (y.time <= t), y.time > t
        error = inverse_weights(own, died, t) * chance**2 + inverse_weights(G.at(t), lives, t) * (1 - chance) ** 2
        scores.append(float(error.mean()))
    return scores[0] if np.ndim(time) == 0 else np.array(scores)


def integrated_brier_score(
    y: OutcomeLike,
    curves: SurvivalCurves | ArrayLike,
    times: ArrayLike,
    censoring: OutcomeLike | SurvivalCurves | None = None,
) -> float:
    """Brier score averaged over a range of times (trapezoids between the given ones).

    Parameters
    ----------
    y, censoring
        As for `brier_score`.
    curves : SurvivalCurves, or array of S(t|x) of shape (n, q)
    times : array, shape (q,)
        At least two, increasing, within follow-up.

    Returns
    -------
    float
        Lower is better, 0 is perfect.

    Examples
    --------
    >>> round(integrated_brier_score(([1, 1], [1.0, 3.0]), [[1.0, 0.2, 0.2], [1.0, 0.9, 0.9]], [0.5, 1.5, 2.5]), 9)
    0.01875
    """
    times = np.asarray(times, dtype=float)
    if times.ndim != 1 or len(times) < 2 or np.any(np.diff(times) <= 0):
        raise RequestError("times must be at least two, in increasing order")
    scores = brier_score(y, curves, times, censoring)
    return float(trapezoid(scores, times) / (times[-1] - times[0]))


def survival_at(survival: SurvivalCurves | ArrayLike, times: FloatArray, n: int) -> FloatArray:
    """Return S(t|x) at each time, (n, q), checked."""
    if isinstance(survival, SurvivalCurves):
        chances = survival.at(times)
    else:
        chances = np.asarray(survival, dtype=float)
        chances = chances[:, None] if chances.ndim == 1 and len(times) == 1 else chances
    if chances.shape != (n, len(times)):
        raise RequestError(f"survival must be {n} rows by {len(times)} times; its shape is {chances.shape}")
    if not np.all((chances >= 0) & (chances <= 1)):
        raise RequestError("survival must be probabilities, within [0, 1] and none missing")
    return chances


for _score in cast("tuple[Any, ...]", (brier_score, integrated_brier_score)):
    _score.greater_is_better = False  # by this attribute a caller of any metric knows
