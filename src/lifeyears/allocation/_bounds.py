"""Guarantees from NDCG: the bound of Theorem 1, and the plug-in bound from estimated NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from .._typing import FloatArray
from ..errors import DataError, Message, RequestError, Setting
from ..metrics import Comparison
from ._policies import check_k, total_discount

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class PlugInBound:
    """Theorem 1's bound with an estimated NDCG put in: an estimate of a guarantee, not a guarantee.

    Attributes
    ----------
    values : DataFrame
        One row per model: `bound`, `low`, `high`, a lower bound on the utility of position-weighted allocation as a
        share of the best possible. The interval is the percentile interval of NDCG over the comparison's resamples,
        divided by W_k; as for that, no coverage is claimed, and the relevance is held fixed. With EY it is biased
        upwards where many are censored: imputed lives vary less than real ones, which makes the ideal too small.
    k, waitlist, n, confidence, relevance
        Those of the comparison. Over waitlists, both sides of the bound are expectations over every list.
    """

    values: pd.DataFrame
    k: int
    waitlist: int
    n: int
    confidence: float
    relevance: str

    def __str__(self) -> str:
        head = (
            f"Plug-in bound: position-weighted allocation (k={self.k}) over every list of {self.waitlist} out of "
            f"{self.n:,} gains at least this share of the best, if NDCG@{self.k} is as estimated by {self.relevance}; "
            f"{self.confidence:.0%} bootstrap intervals"
        )
        return f"{head}\n{self.values.round(3)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        from .._views import html_table

        return f"<p>{escape(str(self).splitlines()[0])}</p>{html_table(self.values)}"


@overload
def guarantee(ndcg: Comparison, k: int | None = None) -> PlugInBound: ...
@overload
def guarantee(ndcg: float, k: int | None = None) -> float: ...
@overload
def guarantee(ndcg: ArrayLike, k: int | None = None) -> float | FloatArray: ...
def guarantee(ndcg: Comparison | ArrayLike, k: int | None = None) -> PlugInBound | float | FloatArray:
    """Return a lower bound on the utility of position-weighted allocation, as a share of the best: NDCG@k / W_k.

    Theorem 1: with a predictor of NDCG@k ≥ α, `PositionWeighted(k)` has an expected utility of at least α/W_k times
    that of the best candidate, W_k = Σ_{i≤k} 1/log2(i + 1); utilities must not be negative. It is a guarantee for
    *true* relevance. NDCG taken over waitlists makes it a statement on expectations over all lists. From estimated
    NDCG it is a plug-in bound.

    Parameters
    ----------
    ndcg : float, array or Comparison
        NDCG@k; or the result of `lifeyears.metrics.compare`.
    k : int, optional
        The k of NDCG@k; by default that of the comparison.

    Returns
    -------
    float, array or PlugInBound

    Examples
    --------
    >>> guarantee(0.9, k=1)                     # Corollary 1: greedy allocation
    0.9
    >>> round(guarantee(0.9, k=5), 3)           # "roughly α/3"
    0.305
    >>> import numpy as np, lifeyears as ly
    >>> years = np.random.default_rng(0).exponential(5, 2000)
    >>> guarantee(ly.metrics.compare(years, {"truth": years}, k=1, waitlist=20)).values.loc["truth", "bound"].item()
    1.0
    """
    if isinstance(ndcg, Comparison):
        return _bound_comparison(ndcg, k)
    if k is None:
        raise RequestError("the bound NDCG@k / W_k needs k", hint=Message("Pass ", Setting("k"), "."))
    value = np.asarray(ndcg, dtype=float)
    if not ((value >= -ROUNDING) & (value <= 1 + ROUNDING)).all():
        raise RequestError(
            f"NDCG lies between 0 and 1 where utilities are not negative, as Theorem 1 requires; got {ndcg!r}"
        )
    bound = value / total_discount(check_k(k))
    return float(bound) if bound.ndim == 0 else bound


def _bound_comparison(comparison: Comparison, k: int | None) -> PlugInBound:
    if k is not None and check_k(k) != comparison.k:
        raise RequestError(
            f"the comparison holds NDCG@{comparison.k}, and the bound for k = {k} needs NDCG@{k}",
            hint=Message("Call compare with ", Setting("k", k), "."),
        )
    table = comparison.values[["ndcg", "ndcg_low", "ndcg_high"]]
    if table.isna().to_numpy().any():
        raise DataError(
            "the comparison has no NDCG (some relevance is negative, as doubly robust relevance can be, or none is "
            "positive), and Theorem 1 is about non-negative utilities",
            hint="Compare by ExpectedYears, or use policy values.",
        )
    return PlugInBound(
        values=(table / total_discount(comparison.k)).set_axis(["bound", "low", "high"], axis=1),
        k=comparison.k,
        waitlist=comparison.waitlist,
        n=comparison.n,
        confidence=comparison.confidence,
        relevance=comparison.relevance,
    )
