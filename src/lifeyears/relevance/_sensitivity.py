"""Sensitivity: how different the censored would have to be for another model to be the better one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataError, RequestError
from ..metrics import compare, policy_value
from ..outcome import as_outcome
from ._relevance import Relevance

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .._typing import FloatArray, RandomState
    from ..outcome import OutcomeLike

FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """How the difference between two models depends on what became of the censored.

    Attributes
    ----------
    model, other : str
        The better of the two by the relevance as it is, and the other.
    tipping_point : float
        The factor on the remaining life of the censored (1: as the survival model expects; 0: they died the day they
        were lost) at which the two are equal; NaN where no factor from 0 to 10 makes them so.
    table : DataFrame
        For some factors: the difference in policy value, with its interval and p-value.
    """

    model: str
    other: str
    tipping_point: float
    table: pd.DataFrame

    def __str__(self) -> str:
        if np.isnan(self.tipping_point):
            verdict = "no common factor on the remaining life of the censored changes that"
        else:
            change = f"{abs(self.tipping_point - 1):.0%} {'shorter' if self.tipping_point < 1 else 'longer'}"
            verdict = f"it would take a remaining life of the censored {change} than expected to change that"
        return f"{self.model} is better than {self.other}; {verdict}.\n{self.table.round(3).to_string()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        from .._views import html_table

        return f"<p>{escape(str(self).splitlines()[0])}</p>{html_table(self.table)}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the difference against the factor, with its interval and the tipping point; return the axes."""
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots()[1]
        ax.plot(self.table.index, self.table["value"], color="#0072B2")
        ax.fill_between(self.table.index, self.table["low"], self.table["high"], color="#0072B2", alpha=0.2)
        ax.axhline(0, color="0.5", linewidth=1)
        if not np.isnan(self.tipping_point):
            ax.axvline(self.tipping_point, color="#D55E00", linestyle="--")
        ax.set(
            xlabel="remaining life of the censored, as a multiple of what is expected",
            ylabel=f"{self.model} − {self.other}",
        )
        return ax


def sensitivity(
    relevance: Relevance,
    y: OutcomeLike,
    scores: Mapping[str, ArrayLike],
    k: int = 1,
    waitlist: int | None = 256,
    factors: Sequence[float] = FACTORS,
    n_resamples: int = 1000,
    random_state: RandomState = 0,
) -> Sensitivity:
    """Find how far the censored would have to differ from what is expected of them for the better model to change.

    A censored life is worth T plus what the survival model expects to be left of it. Here that rest is multiplied by a
    factor, the same for all, and the difference between two models is followed: informative censoring (those lost were
    sicker, or better) is a factor other than 1.

    Parameters
    ----------
    relevance : Relevance
        From `ExpectedYears` (imputation is what is varied).
    y : outcome
        The same rows.
    scores : dict of two models' scores
    k, waitlist, n_resamples, random_state
        As in `lifeyears.metrics.compare`.
    factors : sequence of float
        For the table.

    Returns
    -------
    Sensitivity
        Prints as text; `.tipping_point`, `.table`, `.plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> from lifeyears import Outcome, SurvivalCurves
    >>> from lifeyears.relevance import ExpectedYears
    >>> y = Outcome(np.repeat([4.0, 1.0], 50), np.repeat([True, False], 50))
    >>> to_nine = SurvivalCurves([9.0], [[0.0]])                  # who is lost at 1 is expected to live for 8 more
    >>> years = ExpectedYears(to_nine, tau=10).estimate(np.zeros((100, 1)), y)
    >>> result = sensitivity(years, y, {"seen first": y.event, "lost first": ~y.event}, waitlist=2, n_resamples=50)
    >>> result.model, round(result.tipping_point, 3)               # 1 + 8·0.375 = 4
    ('lost first', 0.375)
    """
    import pandas as pd

    if "EY" not in relevance.name or "DR" in relevance.name or "IPCW" in relevance.name:
        raise RequestError(
            f"sensitivity varies imputed lives: it needs a relevance by ExpectedYears, not {relevance.name}"
        )
    if len(scores) != 2:
        raise RequestError(f"scores must be those of two models; got {len(scores)}")
    y = as_outcome(y).restrict(relevance.tau)
    if len(y) != len(relevance):
        raise DataError(f"there are {len(relevance)} relevances and {len(y)} outcomes")
    if not np.allclose(relevance.values[y.event], y.time[y.event]):
        raise DataError("relevance and y are not of the same rows: the relevance of an event must be its time")
    rest = np.where(y.event, 0.0, relevance.values - y.time)
    (first, a), (second, b) = scores.items()
    gap = _gap(relevance.values, a, b, k, waitlist)
    if gap < 0:
        (first, a), (second, b), gap = (second, b), (first, a), -gap

    def rescale(factor: float) -> FloatArray:
        return np.minimum(relevance.values + (factor - 1) * rest, relevance.tau)

    tipping_point = _find_crossing(lambda factor: _gap(rescale(factor), a, b, k, waitlist))
    rows = {}
    for factor in factors:
        c = compare(rescale(factor), {first: a, second: b}, k, waitlist, n_resamples, random_state=random_state)
        rows[float(factor)] = c.differences.iloc[0]
    table = pd.DataFrame(rows).T
    table.index.name = "factor"
    return Sensitivity(first, second, tipping_point, table)


def _find_crossing(gap: Callable[[float], float]) -> float:
    """Find the factor nearest to 1 at which a difference changes sign, within 0 to 10; NaN if it does not."""
    from scipy.optimize import brentq

    crossings = []
    for factors in (np.linspace(1, 0, 11), np.linspace(1, 10, 37)):
        values = [gap(factor) for factor in factors]
        for i in range(len(factors) - 1):
            if values[i + 1] == 0 or values[i] * values[i + 1] < 0:
                crossings.append(float(brentq(gap, factors[i], factors[i + 1], xtol=1e-10)))
                break
    return min(crossings, key=lambda factor: abs(factor - 1)) if crossings else float("nan")


def _gap(relevance: FloatArray, a: ArrayLike, b: ArrayLike, k: int, waitlist: int | None) -> float:
    return policy_value(relevance, a, k, waitlist) - policy_value(relevance, b, k, waitlist)
