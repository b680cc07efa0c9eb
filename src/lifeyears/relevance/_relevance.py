"""Estimated relevance: what each life is worth, and how far the estimate can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from ..folds import Splits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import AnyArray, FloatArray


@dataclass(frozen=True)
class Diagnostics:
    """What a careful reader asks of an estimate.

    Attributes
    ----------
    n, n_censored : int
        Rows, and those censored before the horizon.
    smallest_chance : float
        Smallest G(T⁻|x) by which a row was weighted (1 without weighting).
    weight_sum, weight_square_sum, largest_weight : float
        Of the weights 1/G(T⁻|x) of the rows that carry one; see `effective_sample_size` and `largest_weight_share`.
    n_clipped : int
        Rows whose G was raised to the floor at the time it was used.
    share_out_of_reach : float
        Share of rows that, by G, cannot be followed to the horizon (G(τ⁻|x) below the floor). There IPCW is biased, and
        the doubly robust estimate rests on the survival model alone.
    n_fallback : int
        Censored rows where the survival curve says nobody is left, so that the restricted mean stood in, or the time
        already lived where that is longer.
    n_negative : int
        Rows of negative relevance.
    """

    n: int
    n_censored: int
    smallest_chance: float = 1.0
    weight_sum: float = 0.0
    weight_square_sum: float = 0.0
    largest_weight: float = 0.0
    n_clipped: int = 0
    share_out_of_reach: float = 0.0
    n_fallback: int = 0
    n_negative: int = 0

    @property
    def effective_sample_size(self) -> float:
        """(Σw)²/Σw²: how many equally weighted rows the weighted ones are worth; NaN without weights."""
        return self.weight_sum**2 / self.weight_square_sum if self.weight_square_sum else float("nan")

    @property
    def largest_weight_share(self) -> float:
        """Share of all weight on the one heaviest row; NaN without weights."""
        return self.largest_weight / self.weight_sum if self.weight_sum else float("nan")

    @classmethod
    def join(cls, parts: Sequence[Diagnostics]) -> Diagnostics:
        """Join those of several parts of one cohort: counts and weights add up, shares average, extremes stay."""
        n = sum(part.n for part in parts)
        return cls(
            n=n,
            n_censored=sum(part.n_censored for part in parts),
            smallest_chance=min(part.smallest_chance for part in parts),
            weight_sum=sum(part.weight_sum for part in parts),
            weight_square_sum=sum(part.weight_square_sum for part in parts),
            largest_weight=max(part.largest_weight for part in parts),
            n_clipped=sum(part.n_clipped for part in parts),
            share_out_of_reach=sum(part.share_out_of_reach * part.n for part in parts) / n,
            n_fallback=sum(part.n_fallback for part in parts),
            n_negative=sum(part.n_negative for part in parts),
        )

    def __str__(self) -> str:
        lines = [f"{self.n:,} rows, {self.n_censored:,} censored before the horizon"]
        if np.isfinite(self.effective_sample_size):
            lines.append(
                f"weights: smallest chance {self.smallest_chance:.3g}, effective sample size "
                f"{self.effective_sample_size:,.0f}, heaviest row {self.largest_weight_share:.1%} of all weight"
            )
        if self.share_out_of_reach:
            lines.append(
                f"{self.share_out_of_reach:.1%} of the rows cannot be followed to the horizon: IPCW is biased there, "
                "and the doubly robust estimate rests on the survival model alone"
            )
        for count, what in (
            (self.n_clipped, "weights were clipped at the floor"),
            (
                self.n_fallback,
                "censored rows fell back to the restricted mean, or the time lived (nobody left by their curve)",
            ),
            (self.n_negative, "relevances are negative"),
        ):
            if count:
                lines.append(f"{count:,} {what}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Relevance:
    """Estimated relevance of each row.

    Attributes
    ----------
    values : array, shape (n,)
        Estimates of min(T*, τ), unbiased given x under the estimator's assumptions. A single value means little (it can
        be negative, or beyond τ); averages over rows are what they are for.
    tau : float
        The horizon.
    name : str
        Which estimator made it.
    diagnostics : Diagnostics
    splits : tuple of (train, test) index arrays, optional
        For cross-fitted relevance: who was estimated by a model trained on whom.
    """

    values: FloatArray
    tau: float
    name: str
    diagnostics: Diagnostics
    splits: Splits | None = None

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        return np.array(self.values, dtype=dtype)

    def __repr__(self) -> str:
        fitted = f", cross-fitted in {len(self.splits)} folds" if self.splits else ""
        return f"Relevance({self.name}, n={len(self):,}, tau={self.tau:g}, mean {self.values.mean():.3f}{fitted})"

    def __str__(self) -> str:
        return f"{self!r}\n{self.diagnostics}"

    def _repr_html_(self) -> str:
        from html import escape

        import pandas as pd

        from .._views import html_table

        names = [field.name for field in fields(self.diagnostics)]
        values = [f"{getattr(self.diagnostics, name):,.4g}" for name in names]
        numbers = pd.DataFrame({"diagnostic": [name.replace("_", " ") for name in names], "value": values})
        return "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines()) + html_table(numbers)

    def plot(self, ax: Axes | None = None, bins: int = 60) -> Axes:
        """Draw a histogram of the values; return the axes."""
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots()[1]
        low, high = np.quantile(self.values, [0.001, 0.999])
        ax.hist(self.values, bins=bins, range=(min(low, 0.0), max(high, self.tau)))
        ax.axvline(self.tau, color="0.4", linestyle="--", linewidth=1)
        ax.set(xlabel=f"relevance by {self.name}", ylabel="rows")
        return ax
