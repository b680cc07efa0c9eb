"""The trade-off in k: a better bound against less variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._typing import RandomState
from ..checks import check_choice, check_values
from ..errors import RequestError
from ..metrics import compare, policy_value
from ._bounds import guarantee
from ._policies import check_k

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ..relevance import Relevance

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # a palette for colour-blind readers
PLACES = (1, 2, 3, 5, 10, 20)
Spread = Literal["estimate", "outcome"]
AXIS_LABELS = {
    "estimate": "standard error of the estimated worth of one allocation",
    "outcome": "standard deviation of the worth of one allocation",
}


@dataclass(frozen=True, eq=False, repr=False)
class Tradeoff:
    """Position-weighted allocation at several k.

    Attributes
    ----------
    values : DataFrame
        One row per (model, k): `bound`, `low`, `high` (the plug-in bound, NDCG@k / W_k); `worth` (policy value:
        expected relevance of one allocation); `estimate`, the standard error of that value over resamples of the rows;
        and `outcome`, the standard deviation of the relevance of a single allocation.
    waitlist, n : int
        Every list of `waitlist` out of n rows is considered.
    """

    values: pd.DataFrame
    waitlist: int
    n: int

    def __str__(self) -> str:
        return (
            f"Position-weighted allocation over every list of {self.waitlist} out of {self.n:,}\n{self.values.round(3)}"
        )

    __repr__ = __str__

    def plot(self, ax: Axes | None = None, spread: Spread = "estimate") -> Axes:
        """Draw the bound against the variance, one line per model and one point per k; return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        spread : {"estimate", "outcome"}
            The standard error of the policy value (the paper's reason for a larger k), or the standard deviation of the
            relevance of a single allocation.
        """
        import matplotlib.pyplot as plt

        check_choice("spread", spread, tuple(AXIS_LABELS))
        ax = ax if ax is not None else plt.subplots(figsize=(6, 4), layout="constrained")[1]
        for number, (model, rows) in enumerate(self.values.groupby(level="model", sort=False)):
            colour = COLOURS[number % len(COLOURS)]
            bars = np.vstack([rows["bound"] - rows["low"], rows["high"] - rows["bound"]])
            ax.errorbar(rows[spread], rows["bound"], yerr=np.maximum(bars, 0), fmt="o-", color=colour, capsize=3, lw=1)
            ax.plot([], [], "o-", color=colour, label=model)
            for (_, k), row in rows.iterrows():
                ax.annotate(f"k={k}", (row[spread], row["bound"]), (4, 5), textcoords="offset points", color=colour)
        ax.set(xlabel=AXIS_LABELS[spread], ylabel="plug-in bound: share of the best, at least", ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return ax


def tradeoff(
    relevance: Relevance | ArrayLike,
    scores: Mapping[str, ArrayLike],
    ks: Sequence[int] = PLACES,
    waitlist: int | None = 256,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Tradeoff:
    """Compute bound and variance of position-weighted allocation at several k.

    A small k has the better bound, NDCG@k / W_k; a larger k rests on more patients, so that its worth is known better
    ("practical trade-offs for robustness", section 3.2).

    Parameters
    ----------
    relevance, scores, waitlist, n_resamples, confidence, random_state
        As for `lifeyears.metrics.compare`, which is called once for every k with the same resamples.
    ks : sequence of int, default (1, 2, 3, 5, 10, 20)
        Values of k, none larger than the waitlist.

    Returns
    -------
    Tradeoff

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> years = rng.exponential(5, 2000)
    >>> result = tradeoff(years, {"noisy": years + rng.normal(0, 5, 2000)}, ks=(1, 5), waitlist=20, n_resamples=100)
    >>> result.values["bound"].is_monotonic_decreasing, result.values["estimate"].is_monotonic_decreasing
    (True, True)
    """
    import pandas as pd

    if not len(ks):
        raise RequestError("ks is empty; at least one k is needed")
    values = check_values("relevance", relevance)
    places = list(dict.fromkeys(check_k(k) for k in ks))
    rows: dict[tuple[str, int], dict[str, float]] = {(str(name), k): {} for name in scores for k in places}
    for k in places:
        comparison = compare(relevance, scores, k, waitlist, n_resamples, confidence, random_state)
        bounds = guarantee(comparison).values
        errors = comparison.resamples.std(axis=0)
        for number, (name, own_scores) in enumerate(scores.items()):
            squares = policy_value(values**2, own_scores, k, comparison.waitlist)
            value = float(comparison.values["value"].iloc[number])
            rows[str(name), k] = {
                **bounds.iloc[number].to_dict(),
                "worth": value,
                "estimate": float(errors[number]),
                "outcome": float(np.sqrt(max(squares - value**2, 0.0))),
            }
    table = pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=["model", "k"]))
    return Tradeoff(table, comparison.waitlist, comparison.n)


def plot_tradeoff(
    relevance: Relevance | ArrayLike,
    scores: Mapping[str, ArrayLike],
    ks: Sequence[int] = PLACES,
    waitlist: int | None = 256,
    n_resamples: int = 1000,
    random_state: RandomState = 0,
    spread: Spread = "estimate",
    ax: Axes | None = None,
) -> Axes:
    """Draw the trade-off in k: the plug-in bound against the variance.

    Parameters
    ----------
    relevance, scores, ks, waitlist, n_resamples, random_state
        As for `tradeoff`.
    spread, ax
        As for `Tradeoff.plot`.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> years = np.random.default_rng(0).exponential(5, 1000)
    >>> plot_tradeoff(years, {"truth": years}, ks=(1, 5), waitlist=20, n_resamples=50).get_ylabel()
    'plug-in bound: share of the best, at least'
    """
    return tradeoff(relevance, scores, ks, waitlist, n_resamples, random_state=random_state).plot(ax, spread)
