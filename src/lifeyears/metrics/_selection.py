"""How well an estimate of a metric serves to choose between models (paper, section 6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ..checks import check_values
from ..errors import RequestError


@dataclass(frozen=True)
class Selection:
    """How an estimate compares with the truth over several models.

    Attributes
    ----------
    mean_absolute_error : float
        Mean distance of estimate and truth (Figure A1).
    spearman : float
        Rank correlation (Figure A2); NaN where either is constant.
    pairwise_accuracy : float
        Of all pairs of models that differ in truth, the share in which the estimate names the better one (Table A6).
    """

    mean_absolute_error: float
    spearman: float
    pairwise_accuracy: float


def selection_measures(truth: ArrayLike, estimate: ArrayLike) -> Selection:
    """Compare an estimated metric of several models with its true values.

    Parameters
    ----------
    truth, estimate : arrays, one value per model
        The same metric, known and estimated.

    Returns
    -------
    Selection
        `.mean_absolute_error`, `.spearman`, `.pairwise_accuracy`.

    Examples
    --------
    >>> selection_measures([0.5, 0.6, 0.9], [0.4, 0.7, 0.6])
    Selection(mean_absolute_error=0.16666666666666666, spearman=0.5, pairwise_accuracy=0.6666666666666666)
    """
    truth, estimate = check_values("truth", truth), check_values("estimate", estimate)
    if len(truth) != len(estimate):
        raise RequestError(f"there are {len(truth)} true values and {len(estimate)} estimates")
    constant = len(truth) < 2 or np.ptp(truth) == 0 or np.ptp(estimate) == 0
    return Selection(
        mean_absolute_error=float(np.abs(estimate - truth).mean()),
        spearman=float("nan") if constant else float(stats.spearmanr(truth, estimate).statistic),
        pairwise_accuracy=pairwise_accuracy(truth, estimate),
    )


def pairwise_accuracy(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Of all pairs that differ in truth, the share the estimate puts in the right order (a tie counts half).

    Examples
    --------
    >>> pairwise_accuracy([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
    0.6666666666666666
    """
    truth, estimate = check_values("truth", truth), check_values("estimate", estimate)
    agreed = [
        0.5 * (1 + np.sign(truth[a] - truth[b]) * np.sign(estimate[a] - estimate[b]))
        for a, b in combinations(range(len(truth)), 2)
        if truth[a] != truth[b]
    ]
    return float(np.mean(agreed)) if agreed else float("nan")
