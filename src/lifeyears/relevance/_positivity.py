"""Positivity: could everybody have been followed to the horizon, and if not, who could not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..checks import check_positive
from ..curves import SurvivalCurves, row_blocks
from ..errors import RequestError
from ..models import wrap
from ..outcome import Outcome, as_outcome
from ..text import list_values
from ._estimators import TOLERATED_SHARE, PositivityError, check_floor, is_ready

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .._typing import AnyArray, TableLike
    from ..outcome import OutcomeLike

MOST_GROUPS = 60
FEWEST_IN_GROUP = 5
CHANCE = 0.001  # below it, that nobody of a group was followed so long cannot be due to chance


@dataclass(frozen=True, eq=False, repr=False)
class PositivityReport:
    """Whether a horizon is supported: whether everybody could have been followed to it.

    Attributes
    ----------
    tau, floor : float
        The horizon, and the chance of being followed to it below which a row counts as not supported.
    smallest_reach : float
        min G(τ⁻|x); 0 if the follow-up of all rows ends, censored, before τ.
    share_out_of_reach : float
        Share of rows with G(τ⁻|x) below the floor, or of a group (by `by`) whose follow-up ends, censored, before τ; of
        groups that have an order, if that of all later ones does too, or if it cannot be chance. 1 if that of all rows
        does, whatever the model says of what it never saw.
    longest_followup : float
    effective_sample_size, largest_weight_share : float
        Of the weights 1/G(T⁻|x) of the rows seen to τ or to their event.
    n_below_floor : int
        Rows that clipping at the floor would change.
    groups : DataFrame or None
        For each value of `by` (a number of many values in ten bins): rows, mean G(τ⁻|x), longest follow-up, share out
        of reach.
    frontier : DataFrame or None
        For horizons up to τ: the latest `by` up to which every group is supported (for groups that have an order).
    curves : SurvivalCurves
        Mean G(t|x) of each group (or of all), for the plot.
    """

    tau: float
    floor: float
    smallest_reach: float
    share_out_of_reach: float
    longest_followup: float
    effective_sample_size: float
    largest_weight_share: float
    n_below_floor: int
    groups: pd.DataFrame | None
    frontier: pd.DataFrame | None
    curves: SurvivalCurves

    @property
    def violated(self) -> bool:
        """Whether the horizon is not supported for more than 1% of the rows."""
        return self.share_out_of_reach > TOLERATED_SHARE

    def raise_if_violated(self) -> None:
        """Raise `PositivityError` if the horizon is not supported for more than 1% of the rows."""
        if self.violated:
            raise PositivityError(str(self))

    def __str__(self) -> str:
        state = "not supported" if self.violated else "supported"
        reason = (
            f"{self.share_out_of_reach:.1%} of the rows cannot be followed that long (chance below {self.floor:g}); "
            f"smallest chance {self.smallest_reach:.3g}."
        )
        if self.longest_followup < self.tau and self.smallest_reach == 0:
            reason = f"nobody was followed that long, the longest follow-up is {self.longest_followup:g}; {reason}"
        lines = [
            f"Horizon {self.tau:g} is {state}: {reason}",
            f"Weights: effective sample size {self.effective_sample_size:,.0f}, heaviest row "
            f"{self.largest_weight_share:.1%} of all weight, {self.n_below_floor:,} rows below the floor.",
        ]
        if self.groups is not None and self.violated:
            lacking = (self.groups["out_of_reach"] > TOLERATED_SHARE).to_numpy()
            lines.append(f"Without support ({self.groups.index.name}): {_runs(self.groups.index, lacking)}.")
        if self.frontier is not None and self.violated and len(self.frontier):
            last = self.frontier.iloc[-1]
            lines.append(f"Supported up to {last['latest']} at horizon {last['tau']:g}; .frontier has other horizons.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        from .._views import html_table

        text = "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines())
        return text + ("" if self.groups is None else html_table(self.groups))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw G(t|x), averaged within each group; return the axes."""
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots()[1]
        names = ["all"] if self.groups is None else [str(name) for name in self.groups.index]
        colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(names)))
        for name, curve, colour in zip(names, self.curves.survival, colours, strict=True):
            ax.step(self.curves.times, curve, where="post", color=colour, label=name)
        ax.axvline(self.tau, color="0.4", linestyle="--", linewidth=1)
        ax.axhline(self.floor, color="0.4", linestyle=":", linewidth=1)
        ax.set(xlabel="time", ylabel="chance of still being followed", ylim=(0, 1.02), xlim=(0, None))
        if len(names) <= 12:
            ax.legend(frameon=False, fontsize="small")
        return ax


def check_positivity(
    censoring_model: object,
    X: TableLike,
    y: OutcomeLike,
    tau: float,
    by: str | ArrayLike | None = None,
    floor: float = 0.05,
) -> PositivityReport:
    """Check whether everybody could have been followed to the horizon.

    A patient transplanted three years ago cannot be seen for twenty: weighting cannot make up for what was never seen.
    This never raises on a violation; `report.raise_if_violated()` does.

    Parameters
    ----------
    censoring_model : model or SurvivalCurves
        Of the censoring time; if it is not fitted, a copy is fitted to ``y.censoring()``. A model that does not know
        when people entered cannot see that the late ones lack follow-up: give `by`, or use
        `lifeyears.models.AdministrativeCensoring`.
    X, y : table and outcome
    tau : float
        The horizon.
    by : str or array, optional
        A column of X, or a value for each row (transplant year, say), to name those without support.
    floor : float, default 0.05
        A row with a chance below this counts as not supported.

    Returns
    -------
    PositivityReport
        Prints as text; `.groups`, `.frontier`, `.plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> from lifeyears.models import KaplanMeier
    >>> year = np.repeat([2000, 2010], 5)
    >>> y = [1, 1, 1, 0, 0, 1, 1, 0, 0, 0], [3.0, 8.0, 14.0, 20.0, 20.0, 2.0, 5.0, 10.0, 10.0, 10.0]
    >>> report = check_positivity(KaplanMeier(), np.zeros((10, 1)), y, tau=15, by=year)
    >>> report.violated, report.groups["out_of_reach"].to_dict()   # nobody of 2010 was followed beyond 10
    (True, {2000: 0.0, 2010: 1.0})
    """
    y = as_outcome(y)
    check_positive("tau", tau)
    check_floor(floor)
    grid = np.linspace(0, max(tau, float(y.time.max())), 241)[1:]
    G = _censoring_curves(censoring_model, X, y, np.unique(np.append(grid, [np.nextafter(tau, 0), tau])))
    restricted = y.restrict(tau)
    reach = _reach(G, y, tau)
    own = G.at_own(restricted.time, left=True)
    weights = 1 / own[restricted.event & (own > 0)]
    lacking = reach < floor
    groups = frontier = None
    means = SurvivalCurves(G.times, G.survival.mean(axis=0, keepdims=True), G.interpolation)
    if by is not None:
        name, labels = _labels(by, X, len(y))
        groups, frontier, lacking, means = _by_group(name, labels, y, G, tau, reach, floor)
    return PositivityReport(
        tau=float(tau),
        floor=floor,
        smallest_reach=float(reach.min()),
        share_out_of_reach=float(lacking.mean()),
        longest_followup=float(y.time.max()),
        effective_sample_size=float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0,
        largest_weight_share=float(weights.max() / weights.sum()) if len(weights) else 0.0,
        n_below_floor=int((own < floor).sum()),
        groups=groups,
        frontier=frontier,
        curves=means,
    )


def _censoring_curves(source: object, X: TableLike, y: Outcome, times: AnyArray) -> SurvivalCurves:
    if isinstance(source, SurvivalCurves):
        return source.for_rows(len(y), "censoring")
    model = wrap(source)
    if not is_ready(model):
        if y.n_events == len(y):  # nobody is censored
            return SurvivalCurves.trusted(times, np.broadcast_to(1.0, (len(y), len(times))))
        model = clone(model, safe=False).fit(X, y.censoring())
    return model.predict_curves(X, times)


def _reach(G: SurvivalCurves, y: Outcome, horizon: float) -> AnyArray:
    """Return G(horizon⁻|x); 0 for all where follow-up ends, censored, before: the curve of a model need not."""
    longest = y.time.max()
    if longest < horizon and not y.event[y.time == longest].all():
        return np.zeros(len(y))
    return G.at(horizon, left=True)


def _labels(by: Any, X: Any, n: int) -> tuple[str, AnyArray]:
    """Return the name and the label of each row's group; numbers of many values are binned, named by their start."""
    if isinstance(by, str):
        columns = getattr(X, "columns", ())
        if by not in columns:
            names = list_values(map(str, columns), most=10) or "no names"
            raise RequestError(f"X has no column {by!r}; it has {names}", column=by)
        by = X[by]
    labels = np.asarray(by)
    if labels.shape != (n,):
        raise RequestError(f"by must have one value for each of the {n} rows; its shape is {labels.shape}")
    if labels.dtype.kind == "f" and len(np.unique(labels)) > MOST_GROUPS:
        edges = np.unique(np.quantile(labels, np.linspace(0, 1, 11)[:-1]))
        labels = edges[np.searchsorted(edges, labels, side="right") - 1].round(3)
    elif labels.dtype.kind not in "iufb":
        labels = np.array(["missing" if label is None or label != label else str(label) for label in labels])
    return str(getattr(by, "name", None) or "group"), labels


def _runs(values: Any, marked: AnyArray) -> str:
    """Name the marked values, neighbours as a run: '1, 4, 7 to 12'."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
    runs = []
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        if after - first > 4:
            runs.append(f"{values[first]} to {values[after - 1]}")
        else:
            runs.extend(str(values[i]) for i in range(first, after))
    return ", ".join(runs[:12]) + (f" and {len(runs) - 12} more" if len(runs) > 12 else "")


def _by_group(
    name: str, labels: AnyArray, y: Outcome, G: SurvivalCurves, tau: float, reach: AnyArray, floor: float
) -> tuple[pd.DataFrame, pd.DataFrame | None, AnyArray, SurvivalCurves]:
    """Support of each group, the frontier over groups in order, rows without support, and mean curves."""
    import pandas as pd

    values, code = np.unique(labels, return_inverse=True)
    count = np.bincount(code)
    longest = np.zeros(len(values))
    np.maximum.at(longest, code, y.time)
    # a group whose longest follow-up ends in a death lacks nobody: only a censored end is an end of follow-up
    at_end = y.time == longest[code]
    cut_off = np.bincount(code, at_end & ~y.event) > 0
    cut_off &= count >= FEWEST_IN_GROUP
    ordered = values.dtype.kind in "iuf"

    def share_without(horizon: float, chance: AnyArray) -> tuple[AnyArray, AnyArray]:
        short = longest < horizon
        lacks = cut_off & short
        if ordered:  # the end of a study cuts off all who entered late; one group among others may lack it by chance
            late = np.logical_and.accumulate(short[::-1])[::-1]
            lacks &= late | ((1 - (y.time >= horizon).mean()) ** count < CHANCE)
        rows = (chance < floor) | lacks[code]
        return rows, np.bincount(code, rows) / count

    lacking, share = share_without(tau, reach)
    table = pd.DataFrame(
        {"rows": count, "reach": np.bincount(code, reach) / count, "longest_followup": longest, "out_of_reach": share},
        index=pd.Index(values, name=name),
    )
    sums = np.zeros((len(values), len(G.times)))
    for rows in row_blocks(len(y), len(G.times)):
        np.add.at(sums, code[rows], G.survival[rows])
    means = SurvivalCurves(G.times, np.minimum(sums / count[:, None], 1.0), G.interpolation)
    if not ordered:
        return table, None, lacking, means
    horizons = np.linspace(tau / 10, tau, 10)
    latest = []
    for horizon in horizons:
        unsupported = share_without(horizon, _reach(G, y, horizon))[1] > TOLERATED_SHARE
        first = int(np.argmax(unsupported)) if unsupported.any() else len(values)
        latest.append(values[first - 1] if first else None)
    frontier = pd.DataFrame({"tau": horizons, "latest": latest})
    return table, frontier[frontier["latest"].notna()].reset_index(drop=True), lacking, means
