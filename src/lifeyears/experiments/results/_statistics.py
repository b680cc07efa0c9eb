"""Tests and intervals over folds: the paper's Wilcoxon, and one that knows that folds overlap."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import stats

from ..._typing import FloatArray

_Key = TypeVar("_Key", bound=Hashable)

ENOUGH_ROWS = 40  # for each place on a list: docs/estimators.md has the coverage
ENOUGH_JOBS = 10  # fewer folds than this have too little spread to judge by


@dataclass(frozen=True)
class FoldDifference:
    """A difference over folds.

    Attributes
    ----------
    mean, low, high : float
        With the 95% interval of the corrected resampled t-test.
    p_wilcoxon : float
        Signed-rank test over the folds as if they were independent (the paper's).
    p_corrected : float
        Nadeau and Bengio's corrected resampled t-test.
    """

    mean: float
    low: float
    high: float
    p_wilcoxon: float
    p_corrected: float

    @property
    def stars(self) -> str:
        """The paper's: ** below 0.01, * below 0.05, by Wilcoxon."""
        return "**" if self.p_wilcoxon < 0.01 else "*" if self.p_wilcoxon < 0.05 else ""


def clip_interval(value: float, low: float, high: float, least: float, most: float) -> tuple[float, float, float]:
    """Cut an interval at what is possible, which costs no coverage; an impossible value stays in it, and as it is.

    Examples
    --------
    >>> clip_interval(9.5, 8.0, 12.0, 0.0, 10.0)
    (9.5, 8.0, 10.0)
    """
    return float(value), float(max(low, min(least, value))), float(min(high, max(most, value)))


def correct_p_values(p: Mapping[_Key, float]) -> dict[_Key, float]:
    """Correct p-values for how many there are (Holm's step-down method); an unknown one counts as 1.

    Examples
    --------
    >>> correct_p_values({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    known = {name: value if value == value else 1.0 for name, value in p.items()}
    corrected, largest = {}, 0.0
    for place, name in enumerate(sorted(known, key=known.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - place) * known[name]))
        corrected[name] = largest
    return corrected


def corrected_half_width(values: FloatArray, test_to_train: float, confidence: float = 0.95) -> float:
    """Compute half of the corrected resampled t interval.

    The variance of a mean over J folds is (1/J + n_test/n_train)·s². Training sets of different folds share
    rows, so that s²/J alone is too small (Nadeau and Bengio, 2003).
    """
    if len(values) < 2:
        return float("nan")
    spread = values.std(ddof=1) * np.sqrt(1 / len(values) + test_to_train)
    return float(stats.t.ppf(0.5 + confidence / 2, len(values) - 1) * spread)


def compare_folds(new: FloatArray, old: FloatArray, test_to_train: float) -> FoldDifference:
    """Compare two arms over the same folds."""
    known = ~(np.isnan(new) | np.isnan(old))
    difference = new[known] - old[known]
    if not len(difference):
        return FoldDifference(*[float("nan")] * 5)
    mean, half = float(difference.mean()), corrected_half_width(difference, test_to_train)
    wilcoxon = 1.0 if not difference.any() else float(stats.wilcoxon(difference).pvalue)
    if len(difference) < 2:
        return FoldDifference(mean, float("nan"), float("nan"), float("nan"), float("nan"))
    spread = difference.std(ddof=1) * np.sqrt(1 / len(difference) + test_to_train)
    corrected = (
        1.0
        if spread == 0 and mean == 0
        else 0.0
        if spread == 0
        else 2 * stats.t.sf(abs(mean) / spread, len(difference) - 1)
    )
    return FoldDifference(mean, mean - half, mean + half, wilcoxon, float(corrected))
