"""What k trades: a better bound against less variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..checks import check_values
from ..metrics import compare, policy_value
from ._bounds import guarantee
from ._policies import checked_k

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # told apart by colour-blind readers
PLACES = (1, 2, 3, 5, 10, 20)
Spread = Literal["estimate", "outcome"]
MEANING = {
    "estimate": "standard error of the estimated worth of one allocation",
    "outcome": "standard deviation of the worth of one allocation",
}


@dataclass(frozen=True, eq=False, repr=False)
class Tradeoff:
    """Position-weighted allocation at several k.

    Attributes
    ----------
    values : DataFrame
        One row a (model, k): `bound`, `low`, `high` (the plug-in bound, NDCG@k / W_k); `worth` (policy value: expected
        relevance of one allocation); `estimate`, the standard error of that worth over resamples of the rows; and
        `outcome`, the standard deviation of what a single allocation turns out to be worth.
    waitlist, n
        The lists: every one of `waitlist` out of n.
    """

    values: pd.DataFrame
    waitlist: int
    n: int

    def __str__(self) -> str:
        return (
            f"Position-weighted allocation over every list of {self.waitlist} out of {self.n:,}\n{self.values.round(3)}"
        )

    __repr__ = __str__

    def plot(self, ax: Any = None, spread: Spread = "estimate") -> Any:
        """Draw the bound against the variance, one line a model and one point a k; return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        spread : {"estimate", "outcome"}
            How well the worth of the policy is known (the paper's reason for a larger k), or how much the worth of a
            single allocation varies.
        """
        import matplotlib.pyplot as plt

        if spread not in MEANING:
            raise ValueError(f'spread must be "estimate" or "outcome"; got {spread!r}')
        ax = ax if ax is not None else plt.subplots(figsize=(6, 4), layout="constrained")[1]
        for number, (model, rows) in enumerate(self.values.groupby(level="model", sort=False)):
            colour = COLOURS[number % len(COLOURS)]
            bars = np.vstack([rows["bound"] - rows["low"], rows["high"] - rows["bound"]])
            ax.errorbar(rows[spread], rows["bound"], yerr=np.maximum(bars, 0), fmt="o-", color=colour, capsize=3, lw=1)
            ax.plot([], [], "o-", color=colour, label=model)
            for (_, k), row in rows.iterrows():
                ax.annotate(f"k={k}", (row[spread], row["bound"]), (4, 5), textcoords="offset points", color=colour)
        ax.set(xlabel=MEANING[spread], ylabel="plug-in bound: share of the best, at least", ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return ax


def tradeoff(
    relevance: Any,
    scores: Mapping[str, Any],
    ks: Sequence[int] = PLACES,
    waitlist: int | None = 256,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Tradeoff:
    """Bound and variance of position-weighted allocation at several k.

    A small k has the better bound, NDCG@k / W_k; a larger k rests on more patients, so that its worth is known better
    ("practical trade-offs for robustness", section 3.2).

    Parameters
    ----------
    relevance, scores, waitlist, n_resamples, confidence, random_state
        As for `lifeyears.metrics.compare`, which is called once for every k with the same resamples.
    ks : sequence of int, default (1, 2, 3, 5, 10, 20)
        None may exceed the length of a list.

    Returns
    -------
    Tradeoff

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> years = rng.exponential(5, 2000)
    >>> found = tradeoff(years, {"noisy": years + rng.normal(0, 5, 2000)}, ks=(1, 5), waitlist=20, n_resamples=100)
    >>> found.values["bound"].is_monotonic_decreasing, found.values["estimate"].is_monotonic_decreasing
    (True, True)
    """
    import pandas as pd

    if not len(ks):
        raise ValueError("ks is empty: give at least one k")
    worth = check_values("relevance", relevance)
    places = list(dict.fromkeys(checked_k(k) for k in ks))
    rows: dict[tuple[str, int], dict[str, float]] = {(str(name), k): {} for name in scores for k in places}
    for k in places:
        found = compare(relevance, scores, k, waitlist, n_resamples, confidence, random_state)
        bounds = guarantee(found).values
        errors = found.resamples.std(axis=0)
        for number, (name, given) in enumerate(scores.items()):
            squares = policy_value(worth**2, given, k, found.waitlist)
            value = float(found.values["value"].iloc[number])
            rows[str(name), k] = {
                **bounds.iloc[number].to_dict(),
                "worth": value,
                "estimate": float(errors[number]),
                "outcome": float(np.sqrt(max(squares - value**2, 0.0))),
            }
    table = pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=["model", "k"]))
    return Tradeoff(table, found.waitlist, found.n)


def plot_tradeoff(
    relevance: Any,
    scores: Mapping[str, Any],
    ks: Sequence[int] = PLACES,
    waitlist: int | None = 256,
    n_resamples: int = 1000,
    random_state: Any = 0,
    spread: Spread = "estimate",
    ax: Any = None,
) -> Any:
    """Draw what k trades: the plug-in bound against the variance.

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
    found = tradeoff(relevance, scores, ks, waitlist, n_resamples, random_state=random_state)
    return found.plot(ax, spread)
