"""Cumulative/dynamic AUC under censoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from ..curves import SurvivalCurves
from ..errors import RequestError
from ._censoring import censoring_curves, inverse_weights
from ._checks import check_scored

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray
    from ..outcome import OutcomeLike


@overload
def auc_at(
    y: OutcomeLike, scores: ArrayLike, time: float, censoring: OutcomeLike | SurvivalCurves | None = None
) -> float: ...


@overload
def auc_at(
    y: OutcomeLike, scores: ArrayLike, time: ArrayLike, censoring: OutcomeLike | SurvivalCurves | None = None
) -> float | FloatArray: ...


def auc_at(
    y: OutcomeLike, scores: ArrayLike, time: ArrayLike, censoring: OutcomeLike | SurvivalCurves | None = None
) -> float | FloatArray:
    """Cumulative/dynamic AUC: how well scores tell who dies by a time from who lives beyond it.

    Cases died by the time and are weighted by 1/G(T⁻), as those censored before are not seen; controls lived beyond
    it. Higher scores mean longer life; equal scores count half.

    Parameters
    ----------
    y : Outcome or what `lifeyears.as_outcome` reads
    scores : array, shape (n,)
        Higher is longer.
    time : float or array
        One time or several.
    censoring : outcome or SurvivalCurves, optional
        Where G comes from: by default Kaplan–Meier of the censoring in y; an outcome (the training set's) or curves
        G(t|x) in its place.

    Returns
    -------
    float or array
        One value per time.

    Examples
    --------
    >>> auc_at(([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0]), [0.1, 0.4, 0.3, 0.9], time=2)
    0.75
    """
    y, scores = check_scored(y, scores)
    G = censoring_curves(y, censoring)
    own = G.at_own(y.time, left=True)
    values = [_auc(y.time, y.event, scores, own, G.at(t), t) for t in np.atleast_1d(np.asarray(time, dtype=float))]
    return values[0] if np.ndim(time) == 0 else np.array(values)


def _auc(
    times: FloatArray, event: BoolArray, scores: FloatArray, own: FloatArray, followed: FloatArray, t: float
) -> float:
    case, control = event & (times <= t), times > t
    if not case.any() or not control.any():
        lacking = "no event is observed by" if not case.any() else "nobody is followed beyond"
        raise RequestError(f"AUC at time {t:g} is not defined: {lacking} then", time=t)
    case_weight = inverse_weights(own, case, t)
    control_weight = inverse_weights(followed, control, t)
    _, rank = np.unique(scores, return_inverse=True)
    cases, controls = np.bincount(rank, case_weight), np.bincount(rank, control_weight)
    above = controls.sum() - np.cumsum(controls)  # controls with a higher score
    return float(cases @ (above + 0.5 * controls) / (cases.sum() * controls.sum()))
