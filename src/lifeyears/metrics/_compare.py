"""Models against each other: policy value and NDCG with bootstrap intervals, and paired differences."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_random_state, check_values
from ..errors import RequestError, SampleSizeWarning
from ._checks import check_list, check_pair
from ._gain import discounts, rank_weights

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .._typing import AnyArray, BoolArray, FloatArray, IntArray, RandomState

CHUNK_BYTES = 32_000_000
ENOUGH = 40  # below this many rows for each place on the list, intervals cover less than they say


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Models compared by what their top picks are worth.

    Attributes
    ----------
    values : DataFrame
        One row per model: `value`, `low`, `high` (policy value: expected relevance of one allocation), and `ndcg`,
        `ndcg_low`, `ndcg_high` (NaN where some relevance is negative, as doubly robust ones can be).
    differences : DataFrame
        One row per pair (model, other): `value` of the model less that of the other, `low`, `high`, and the two-sided
        `p`, over the same resamples.
    k, waitlist, n, confidence, relevance
        What was compared.
    resamples : array, shape (n_resamples, models)
        The policy values of the resamples.
    """

    values: pd.DataFrame
    differences: pd.DataFrame
    k: int
    waitlist: int
    n: int
    confidence: float
    relevance: str
    resamples: FloatArray = field(repr=False)

    def best(self) -> str:
        """Return the model with the highest policy value."""
        return str(self.values["value"].idxmax())

    def __str__(self) -> str:
        level = f"{self.confidence:.0%}"
        head = (
            f"Expected worth of one allocation (k={self.k}) over every list of {self.waitlist} out of {self.n:,}, by "
            f"{self.relevance}; {level} bootstrap intervals"
        )
        return f"{head}\n{self.values.round(3)}\n\nPaired differences\n{self.differences.round(3)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        from .._views import html_table

        best = self.best()
        values = html_table(self.values, marked=lambda row: row["model"] == best)
        return f"<p>{escape(str(self).splitlines()[0])}</p>{values}{html_table(self.differences)}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the paired differences as a forest plot (values, if there is one model).

        Parameters
        ----------
        ax : matplotlib axes, optional
            New ones by default.

        Returns
        -------
        matplotlib axes
        """
        from .._views import draw, forest

        paired = len(self.differences) > 0
        table = self.differences if paired else self.values
        names = [" − ".join(name) if isinstance(name, tuple) else str(name) for name in table.index]
        label = "difference in expected worth of one allocation" if paired else "worth"
        value, low, high = (list(table[name]) for name in ("value", "low", "high"))
        chart = forest(names, value, low, high, label, alt=str(self), line=(0.0, "") if paired else None)
        axes: Axes = draw(chart, ax)
        return axes


def compare(
    relevance: ArrayLike,
    scores: Mapping[str, ArrayLike],
    k: int = 1,
    waitlist: int | None = 256,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Comparison:
    """Compare models by policy value and NDCG, with bootstrap intervals and paired differences.

    Intervals of policy values and of their differences are symmetric bootstrap-t intervals; those of NDCG are
    percentiles, and no coverage is claimed for them. Rows are resampled with replacement; every model sees the same
    resamples. Thanks to the closed form over waitlists a
    resample costs one pass over the rows. The intervals are for the value of these scores on the population the rows
    come from: they hold the scores and the relevance fixed.

    Parameters
    ----------
    relevance : array or Relevance, shape (n,)
        What each row is worth.
    scores : dict of str to array
        The models' scores, higher first; of models that did not see these rows (`Relevance.splits` helps to make
        such scores), else their values are too high.
    k, waitlist
        As in `policy_value`; ``waitlist=None`` is the one list of all n, whose top is one patient: its interval says
        little.
    n_resamples : int, default 1000
    confidence : float, default 0.95
    random_state : int, Generator or None

    Returns
    -------
    Comparison

    Warns
    -----
    SampleSizeWarning
        If there are fewer than 40 rows for each place on the list: intervals then cover less often than they say
        (docs/estimators.md has the measured coverage).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> years = rng.exponential(5, 2000)
    >>> c = compare(years, {"good": years + rng.normal(0, 5, 2000), "random": rng.normal(size=2000)}, waitlist=20)
    >>> c.best(), bool(c.differences.loc[("good", "random"), "low"] > 0)
    ('good', True)
    """
    import pandas as pd

    if not isinstance(scores, Mapping) or not scores:
        raise RequestError('scores must be a dict of model names to scores, such as {"cox": s1, "ranker": s2}')
    if not 0 < confidence < 1 or n_resamples * (1 - confidence) < 0.999:
        raise RequestError(
            f"confidence must lie within (0, 1) and n_resamples be at least 1/(1 − confidence); got {confidence} and "
            f"{n_resamples}"
        )
    name = getattr(relevance, "name", None)
    relevance = check_values("relevance", relevance)
    n = len(relevance)
    if waitlist is not None and n < waitlist:
        raise RequestError(
            f"there are {n} rows, fewer than the list of {waitlist}: pass a shorter waitlist", n=n, waitlist=waitlist
        )
    k, waitlist = check_list(n, k, waitlist)
    if n < ENOUGH * waitlist:
        warnings.warn(
            f"{n:,} rows are few for lists of {waitlist} (fewer than {ENOUGH} for each place): the top picks depend on "
            "a few patients, and intervals cover less often than their level. Use a shorter waitlist or more rows",
            SampleSizeWarning,
            stacklevel=2,
        )
    rankings = [check_pair(relevance, model_scores)[1] for model_scores in scores.values()]
    rankings.append(relevance)  # the ideal
    models = [str(model) for model in scores]
    pairs = np.array(list(combinations(range(len(models)), 2)), dtype=np.int64).reshape(-1, 2)
    resample = _Resampler(relevance, rankings, pairs, rank_weights(n, k, waitlist))
    gains, errors, gap_errors = (each[0] for each in resample(np.arange(n, dtype=np.int32)[None]))
    rng = check_random_state(random_state)
    chunk = max(1, CHUNK_BYTES // (4 * n))
    sizes = [min(chunk, n_resamples - done) for done in range(0, n_resamples, chunk)]
    parts = [resample(rng.integers(n, size=(size, n), dtype=np.int32)) for size in sizes]
    gains_, errors_, gap_errors_ = (np.concatenate(part) for part in zip(*parts, strict=True))

    total = discounts(k).sum()
    value, samples = gains[:-1] / total, gains_[:, :-1] / total
    low, high, _ = _studentised(value, errors[:-1] / total, samples, errors_[:, :-1] / total, confidence)
    values = {"value": value, "low": low, "high": high}
    if relevance.min() < 0:  # as doubly robust relevance can be: the ratio means nothing then
        gains[-1], gains_[:, -1] = np.nan, np.nan
    ideal, ideals = (gains[-1] if gains[-1] > 0 else np.nan), np.where(gains_[:, -1:] > 0, gains_[:, -1:], np.nan)
    tail = (1 - confidence) / 2
    low, high = np.quantile(gains_[:, :-1] / ideals, [tail, 1 - tail], axis=0)
    values |= {"ndcg": gains[:-1] / ideal, "ndcg_low": low, "ndcg_high": high}
    gap, gaps = value[pairs[:, 0]] - value[pairs[:, 1]], samples[:, pairs[:, 0]] - samples[:, pairs[:, 1]]
    low, high, p = _studentised(gap, gap_errors / total, gaps, gap_errors_ / total, confidence)
    index = pd.MultiIndex.from_arrays([[models[a] for a, _ in pairs], [models[b] for _, b in pairs]])
    return Comparison(
        values=pd.DataFrame(values, index=pd.Index(models, name="model")),
        differences=pd.DataFrame(
            {"value": gap, "low": low, "high": high, "p": p}, index=index.set_names(["model", "other"])
        ),
        k=k,
        waitlist=waitlist,
        n=n,
        confidence=confidence,
        relevance=str(name) if name else "relevance",
        resamples=samples,
    )


class _Resampler:
    """Gains and standard errors of rankings in resamples of the rows."""

    def __init__(self, relevance: FloatArray, rankings: list[FloatArray], pairs: IntArray, weights: FloatArray) -> None:
        orders = np.array([np.argsort(-ranking, kind="stable") for ranking in rankings])
        first = np.array([_new_scores(r[order]) for r, order in zip(rankings, orders, strict=True)])
        padded = np.concatenate([weights[:1], weights, [0.0]])
        slopes = 0.5 * (padded[:-1] + padded[1:])  # of the running sum, at its corners
        self.arguments = orders, first, relevance, np.append(0.0, np.cumsum(weights)), slopes, pairs

    def __call__(self, draws: AnyArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        from ._kernels import resampled_gains

        gains, errors, pair_errors = resampled_gains(draws, *self.arguments)
        return gains, errors, pair_errors


def _new_scores(ranked: FloatArray) -> BoolArray:
    return np.append(True, ranked[1:] != ranked[:-1])


def _studentised(
    value: FloatArray, error: FloatArray, samples: FloatArray, errors: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Symmetric bootstrap-t intervals, and the two-sided p-value of 0.

    The values hang on the few patients at the top, and their spread is estimated from the same few: dividing by it in
    every resample is what makes the interval wide enough. Where that cannot be done (a resample without spread, as when
    two models differ in a patient or two), the percentile interval stands in.
    """
    tail = (1 - confidence) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0) if samples.size else (value, value)
    beyond = np.minimum((samples <= 0).sum(axis=0), (samples >= 0).sum(axis=0))
    p = np.minimum(1.0, 2 * (beyond + 1) / (len(samples) + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(samples - value) / errors
        own = np.abs(value) / error
    distance[np.isnan(distance)] = 0.0  # no spread, and no distance either
    reach = np.quantile(distance, confidence, axis=0, method="higher") if distance.size else np.zeros(len(value))
    usable = (error > 0) & np.isfinite(reach)
    half = np.where(usable, reach, 0.0) * error
    low, high = np.where(usable, value - half, low), np.where(usable, value + half, high)
    return low, high, np.where(usable, (1 + (distance >= own).sum(axis=0)) / (len(samples) + 1), p)
