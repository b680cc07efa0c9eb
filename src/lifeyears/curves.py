"""Survival curves S(t|x) of many subjects on one grid of times, and the product-limit arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .checks import check_choice, check_positive
from .errors import DataError, RequestError
from .outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._typing import AnyArray, FloatArray

Interpolation = Literal["step", "linear"]
MOST_GRID_POINTS = 512  # of the curves that a model makes by itself

BLOCK_BYTES = 16_000_000  # temporaries of row-wise work stay within this, near the processor's cache


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalCurves:
    """Survival curves of n subjects on one shared grid.

    Parameters
    ----------
    times : array, shape (m,)
        Increasing, not negative.
    survival : array, shape (n, m)
        S(t|x) at these times: within [0, 1], never rising along a row. S is 1 before the first time and keeps
        its last value beyond the last.
    interpolation : {"step", "linear"}
        "step": right-continuous steps (Kaplan–Meier, Cox). "linear": straight lines from (0, 1) through the
        grid's points (parametric and discrete-time models).

    Examples
    --------
    >>> c = SurvivalCurves([2.0, 5.0], [[0.5, 0.0]])
    >>> c.at(2.0), c.at(2.0, left=True)
    (array([0.5]), array([1.]))
    >>> c.restricted_mean(10.0)                      # 2 + 3·0.5
    array([3.5])
    >>> c.mean_life_after(3.0, 10.0)                 # alive at 3: dies at 5
    array([5.])
    """

    times: FloatArray
    survival: FloatArray
    interpolation: Interpolation = "step"

    def __post_init__(self) -> None:
        times = check_grid(self.times)
        survival = np.asarray(self.survival, dtype=float)
        if survival.ndim != 2 or survival.shape[1] != len(times):
            raise RequestError(
                f"times must be (m,) and survival (n, m); their shapes are {times.shape} and {survival.shape}"
            )
        check_choice("interpolation", self.interpolation, ("step", "linear"))
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "survival", _check_survival(survival))

    @classmethod
    def trusted(cls, times: FloatArray, survival: FloatArray, interpolation: Interpolation = "step") -> SurvivalCurves:
        """Make curves without checking: from float arrays that are curves by construction, as our own models make."""
        curves = object.__new__(cls)
        for name, value in (("times", times), ("survival", survival), ("interpolation", interpolation)):
            object.__setattr__(curves, name, value)
        return curves

    def __len__(self) -> int:
        return len(self.survival)

    def __getitem__(self, rows: int | slice | AnyArray) -> SurvivalCurves:
        return SurvivalCurves.trusted(self.times, np.atleast_2d(self.survival[rows]), self.interpolation)

    def __repr__(self) -> str:
        n, m = self.survival.shape
        return f"SurvivalCurves({n:,} subjects, {m} times to {self.times[-1]:.4g}, {self.interpolation})"

    def _repr_html_(self) -> str:
        import pandas as pd

        from ._views import html_table

        times = self.times[np.unique(np.linspace(0, len(self.times) - 1, 6).round().astype(int))]
        shown = pd.DataFrame(self[:5].at(times), columns=[f"S({t:.3g})" for t in times])
        shown.index.name = "row"
        return f"<p>{self!r}</p>{html_table(shown)}"

    def for_rows(self, n: int, of: str = "survival") -> SurvivalCurves:
        """Return the curves of n rows: these, if there are n of them, or the only one for all (without copying it).

        `of` names the kind of curves in the error.
        """
        if len(self) == n:
            return self
        if len(self) != 1:
            raise RequestError(f"there are {len(self)} {of} curves for {n} rows", hint="Pass one each, or one for all.")
        shared = np.broadcast_to(self.survival, (n, len(self.times)))
        return SurvivalCurves.trusted(self.times, shared, self.interpolation)

    def at(self, t: ArrayLike, left: bool = False) -> FloatArray:
        """S(t|x) of every subject at common times.

        Parameters
        ----------
        t : float or array, shape (q,)
            Not negative; beyond the grid the last value stays.
        left : bool, default False
            The left limit S(t⁻|x) instead, the probability of reaching t.

        Returns
        -------
        array
            (n,) for one time, (n, q) for q of them.
        """
        t = _check_times(t)
        values = self._columns(np.atleast_1d(t), left)
        return values[:, 0] if t.ndim == 0 else values

    def at_own(self, t: ArrayLike, left: bool = False) -> FloatArray:
        """S(tᵢ|xᵢ): each subject at a time of its own, (n,) in and (n,) out."""
        t = self._own_times(t)
        before, share = self._locate(t, left)
        rows = np.arange(len(self))
        low = np.where(before >= 0, self.survival[rows, np.maximum(before, 0)], 1.0)
        if self.interpolation == "step":
            return low
        high = self.survival[rows, np.minimum(before + 1, len(self.times) - 1)]
        between: FloatArray = low + share * (high - low)
        return between

    def restricted_mean(self, tau: float) -> FloatArray:
        """E[min(T*, τ)|x] = ∫₀^τ S(t|x) dt, exactly for the curves as they are interpolated.

        Parameters
        ----------
        tau : float
            The horizon; beyond the grid the last value of a curve stays.

        Returns
        -------
        array, shape (n,)
            Expected life within the horizon, in the unit of the times.
        """
        from ._kernels import each_row_times

        before_grid, weights = self._quadrature(check_positive("tau", tau))
        return before_grid + each_row_times(self.survival, weights)

    def mean_life_after(self, a: ArrayLike, tau: float, left: bool = False) -> FloatArray:
        """E[min(T*, τ) | T* > a, x] = a + ∫ₐ^τ S(u|x)/S(a|x) du (paper, section 5).

        Where S(a|x) is 0 the condition cannot hold by the curve, and the restricted mean ∫₀^τ S is returned, as
        the paper does. For a ≥ τ the answer is τ.

        Parameters
        ----------
        a : float or array of shape (n,)
            The time already lived: one for all, or one for each subject.
        tau : float
            The horizon.
        left : bool
            Condition on T* ≥ a instead, the limit from the left.
        """
        tau = check_positive("tau", tau)
        a = np.minimum(self._own_times(a), tau)
        alive, rest = self.at_own(a, left=left), self._areas_after(a[:, None], tau)[:, 0]
        return self._conditional(a, rest, alive, tau)

    def mean_life_after_each(self, times: ArrayLike, tau: float, left: bool = False) -> FloatArray:
        """`mean_life_after` at common times for all subjects: (n, q)."""
        grid, tau = check_grid(times), check_positive("tau", tau)
        a = np.broadcast_to(np.minimum(grid, tau), (len(self), len(grid)))
        alive = self.at(a[0], left=left) if len(self) else np.empty(a.shape)
        return self._conditional(a, self._areas_after(a, tau), alive, tau)

    def plot(self, rows: int | slice | AnyArray | None = None, ax: Axes | None = None, **kwargs: Any) -> Axes:
        """Draw the curves of some rows.

        Parameters
        ----------
        rows : int, slice or array of int, optional
            Whose; the first ten by default.
        ax : matplotlib axes, optional
            New ones by default.
        **kwargs
            For matplotlib's ``ax.plot``.

        Returns
        -------
        matplotlib axes
        """
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots()[1]
        chosen = self.survival[:10] if rows is None else np.atleast_2d(self.survival[rows])
        grid = self.times if self.times[0] == 0 else np.concatenate([[0.0], self.times])
        for curve in chosen:
            values = curve if self.times[0] == 0 else np.concatenate([[1.0], curve])
            ax.plot(grid, values, drawstyle="steps-post" if self.interpolation == "step" else "default", **kwargs)
        ax.set(xlabel="time", ylabel="probability of being alive", ylim=(0, 1.02), xlim=(0, None))
        return ax

    def _own_times(self, t: ArrayLike) -> FloatArray:
        t = _check_times(t)
        if t.ndim == 0:
            return np.full(len(self), float(t))
        if t.shape != (len(self),):
            raise RequestError(f"times must be one, or one for each of the {len(self)} subjects; got shape {t.shape}")
        return t

    def _locate(self, t: FloatArray, left: bool) -> tuple[AnyArray, FloatArray]:
        """Index of the last grid time before t (-1: before the grid) and how far t is on the way to the next."""
        side: Literal["left", "right"] = "left" if left and self.interpolation == "step" else "right"
        before = np.searchsorted(self.times, t, side=side) - 1
        if self.interpolation == "step":
            return before, np.zeros(t.shape)
        if left:
            before = np.where(t == 0, -1, before)  # a curve that begins below 1 jumps there
        knots = np.concatenate([[0.0], self.times, [np.inf]])  # (0, 1) opens the curve; the end stays level
        with np.errstate(invalid="ignore"):
            share = (t - knots[before + 1]) / np.maximum(knots[before + 2] - knots[before + 1], 1e-300)
        return before, np.where(before == len(self.times) - 1, 0.0, share)

    def _columns(self, t: FloatArray, left: bool) -> FloatArray:
        before, share = self._locate(t, left)
        values: FloatArray = self.survival[:, np.maximum(before, 0)]
        values[:, before < 0] = 1.0
        if self.interpolation == "linear":
            values += share * (self.survival[:, np.minimum(before + 1, len(self.times) - 1)] - values)
        return values

    def _quadrature(self, tau: float) -> tuple[float, FloatArray]:
        """Find c and w with ∫₀^τ S = c + S @ w."""
        t = np.minimum(self.times, tau)
        widths = np.diff(np.concatenate([[0.0], t, [tau]]))  # up to the grid, its cells, and the level end
        if self.interpolation == "step":
            return float(widths[0]), widths[1:]
        # ∫ of a line over the first w of a cell of width c is w·S_left + w²/(2c)·(S_right − S_left)
        cells = np.diff(np.concatenate([[0.0], self.times]))
        tilt = np.divide(widths[:-1] ** 2, 2 * cells, out=np.zeros(len(cells)), where=cells > 0)
        weights = tilt + widths[1:]
        weights[:-1] -= tilt[1:]
        return float(widths[0] - tilt[0]), weights

    def _areas_after(self, a: FloatArray, tau: float) -> FloatArray:
        """∫ₐ^τ S of each row at its times a, (n, q), which rise along the row."""
        from ._kernels import areas_after

        areas = np.empty(a.shape)
        areas_after(self.times, self.survival, a, tau, self.interpolation == "linear", areas)
        return areas

    def _conditional(self, a: FloatArray, rest: FloatArray, alive: FloatArray, tau: float) -> FloatArray:
        """A + rest/alive; the restricted mean where nobody is left; τ from τ on."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            life = np.minimum(a + np.divide(rest, alive, out=rest), tau)
        gone = ~(alive > 0)
        if gone.any():
            rows = np.flatnonzero(gone.reshape(len(self), -1).any(axis=1))
            total = np.zeros(len(self))
            total[rows] = self[rows].restricted_mean(tau)
            life = np.where(gone, total.reshape(-1, *[1] * (a.ndim - 1)), life)
        return np.where(a >= tau, tau, life)


class StepFunction:
    """One subject's curve as a callable with ``x``, ``y`` and ``domain``, as scikit-survival's metrics take it."""

    def __init__(self, curves: SurvivalCurves, row: int) -> None:
        self._curve = SurvivalCurves.trusted(curves.times, curves.survival[row : row + 1], curves.interpolation)
        self.x = curves.times
        self.y = curves.survival[row]
        self.domain = (0.0, float(curves.times[-1]))

    def __call__(self, t: ArrayLike) -> float | FloatArray:
        value = self._curve.at(t)
        return float(value[0]) if np.ndim(t) == 0 else value[0]

    def __repr__(self) -> str:
        return f"StepFunction({len(self.x)} times to {self.domain[1]:.4g})"


@dataclass(frozen=True, eq=False)
class ProductLimit:
    """The Kaplan–Meier estimate at the distinct event times.

    Attributes
    ----------
    times, at_risk, events : arrays, shape (m,)
        Distinct event times; the weight at risk just before each; the weight of the events there.
    survival : array, shape (m,)
        ∏ (1 − d/n) up to and including each time (paper, appendix D).
    """

    times: FloatArray
    at_risk: FloatArray
    events: FloatArray
    survival: FloatArray

    def greenwood(self) -> FloatArray:
        """Σ d/(n(n−d)): the variance of log S by Greenwood's formula (infinite where S is 0)."""
        with np.errstate(divide="ignore"):
            return np.cumsum(self.events / (self.at_risk * (self.at_risk - self.events)))

    def curves(self, n: int = 1) -> SurvivalCurves:
        """The same curve for n subjects (without copying it)."""
        times, survival = self.times, self.survival
        if not len(times):  # no events: S is 1 throughout
            times, survival = np.zeros(1), np.ones(1)
        return SurvivalCurves(times, np.broadcast_to(survival, (n, len(times))))


def product_limit(y: Outcome, sample_weight: FloatArray | None = None) -> ProductLimit:
    """Kaplan–Meier: S(t) = ∏_{tᵢ ≤ t} (1 − dᵢ/nᵢ), with weights if given.

    Examples
    --------
    >>> product_limit(Outcome([1.0, 2.0, 2.0, 3.0], [True, True, False, True])).survival
    array([0.75, 0.5 , 0.  ])
    """
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    times, where = np.unique(y.time, return_inverse=True)
    leaving: np.ndarray = np.bincount(where, weight, minlength=len(times))
    events: np.ndarray = np.bincount(where[y.event], weight[y.event], minlength=len(times))
    at_risk = np.cumsum(leaving[::-1])[::-1]
    has_events = events > 0
    times, at_risk, events = times[has_events], at_risk[has_events], events[has_events]
    return ProductLimit(times, at_risk, events, np.cumprod(np.maximum(1 - events / at_risk, 0.0)))


def row_blocks(n: int, m: int) -> Iterator[slice]:
    """Cut n rows of m floats into blocks whose temporaries stay within `BLOCK_BYTES`."""
    size = max(1, BLOCK_BYTES // (8 * max(m, 1)))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def check_grid(times: ArrayLike) -> FloatArray:
    """Check a grid of times and return it as an array: finite, not negative, strictly increasing."""
    grid: FloatArray = np.atleast_1d(np.asarray(times, dtype=float))
    if grid.ndim != 1 or not len(grid):
        raise RequestError(f"the times of curves must be a list of numbers; their shape is {grid.shape}")
    if not np.all(np.isfinite(grid)) or grid[0] < 0 or np.any(np.diff(grid) <= 0):
        raise RequestError("the times of curves must be finite, not negative and strictly increasing")
    return grid


def thin_steps(times: FloatArray, most: int = MOST_GRID_POINTS) -> tuple[FloatArray, FloatArray]:
    """Replace many steps by at most `most`: when each happens, and the time whose value it reaches.

    A run of neighbouring steps becomes one, at the mean of their times and with the value after the last of them: the
    area under the curve stays the same but for terms of second order.

    Examples
    --------
    >>> thin_steps(np.array([1.0, 2.0, 3.0, 4.0, 9.0]), most=3)
    (array([1.5, 3.5, 9. ]), array([2., 4., 9.]))
    """
    if len(times) <= most:
        return times, times
    # the last step stays where it is: a curve that ends at 0 must not end early
    first = np.unique(np.append(np.linspace(0, len(times) - 1, most - 1, endpoint=False).astype(int), len(times) - 1))
    last = np.append(first[1:], len(times)) - 1
    return np.add.reduceat(times, first) / (last - first + 1), times[last]


def _check_survival(survival: FloatArray) -> FloatArray:
    """Refuse what is not a survival curve; rounding noise of other libraries (below 1e-8) is smoothed away."""
    if survival.strides[0] == 0:  # one curve repeated for all: check it once
        return np.broadcast_to(_check_survival(survival[:1].copy()), survival.shape)
    falling = bool((survival[:, 1:] <= survival[:, :-1]).all())
    first, last = survival[:, 0], survival[:, -1]
    if falling and np.all((first <= 1) & (last >= 0)):  # within [0, 1] everywhere, as it never rises
        return survival
    if np.isnan(survival).any():
        raise DataError(f"survival is missing (NaN) in row {np.flatnonzero(np.isnan(survival).any(axis=1))[0]}")
    smooth: FloatArray = np.minimum.accumulate(np.clip(survival, 0, 1), axis=1)
    off = np.abs(smooth - survival).max(axis=1) > 1e-8
    if off.any():
        raise DataError(
            f"row {np.flatnonzero(off)[0]} is not a survival curve: it rises, or leaves [0, 1]",
            hint="Rows are subjects, columns are times.",
        )
    return smooth


def _check_times(t: ArrayLike) -> FloatArray:
    times: FloatArray = np.asarray(t, dtype=float)
    if times.ndim > 1 or np.isnan(times).any() or (times < 0).any():
        raise RequestError("times must be one number or a list of numbers, none negative or missing")
    return times
