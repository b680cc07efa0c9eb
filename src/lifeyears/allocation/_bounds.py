"""What NDCG guarantees: Theorem 1's bound, and the plug-in bound of estimated NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..metrics import Comparison
from ._policies import checked_k, total_discount

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class PlugInBound:
    """Theorem 1's bound with an estimated NDCG put in: an estimate of a guarantee, not a guarantee.

    Attributes
    ----------
    values : DataFrame
        One row a model: `bound`, `low`, `high`, the share of the best possible utility that position-weighted
        allocation gains at least. The interval is NDCG's percentile interval over the comparison's resamples, divided
        by W_k; as with that, no coverage is claimed, and the relevance is held fixed. By EY it errs upwards where
        many are censored: imputed lives spread less than real ones, which makes the ideal too small.
    k, waitlist, n, confidence, relevance
        Of the comparison. Over waitlists, both sides of the bound are expectations over every list.
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
def guarantee(ndcg: Any, k: int | None = None) -> Any: ...
def guarantee(ndcg: Any, k: int | None = None) -> Any:
    """The share of the best possible utility that position-weighted allocation gains at least: NDCG@k / W_k.

    Theorem 1: with a predictor of NDCG@k ≥ α, `PositionWeighted(k)` has an expected utility of at least α/W_k times
    that of the best candidate, W_k = Σ_{i≤k} 1/log2(i + 1); utilities must not be negative. It is a guarantee for
    *true* relevance. NDCG taken over waitlists makes it a statement on expectations over all lists. From estimated
    NDCG it is a plug-in bound.

    Parameters
    ----------
    ndcg : float, array or Comparison
        NDCG@k; or what `lifeyears.metrics.compare` returns.
    k : int
        The k of NDCG@k. With a comparison it may be left out: the comparison knows it.

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
        return _plug_in(ndcg, k)
    if k is None:
        raise ValueError("give the k of NDCG@k too: the bound is NDCG@k / W_k")
    value = np.asarray(ndcg, dtype=float)
    if not ((value >= -ROUNDING) & (value <= 1 + ROUNDING)).all():
        raise ValueError(
            f"NDCG lies between 0 and 1 where utilities are not negative, as Theorem 1 needs; got {ndcg!r}"
        )
    bound = value / total_discount(checked_k(k))
    return float(bound) if bound.ndim == 0 else bound


def _plug_in(comparison: Comparison, k: int | None) -> PlugInBound:
    if k is not None and checked_k(k) != comparison.k:
        raise ValueError(
            f"the comparison holds NDCG@{comparison.k}, and the bound for k={k} needs NDCG@{k}: call compare(…, k={k})"
        )
    table = comparison.values[["ndcg", "ndcg_low", "ndcg_high"]]
    if table.isna().to_numpy().any():
        raise ValueError(
            "the comparison has no NDCG (some relevance is negative, as doubly robust ones can be, or none is "
            "positive), and Theorem 1 is about utilities from 0 on: compare by ExpectedYears, or look at policy values"
        )
    return PlugInBound(
        values=(table / total_discount(comparison.k)).set_axis(["bound", "low", "high"], axis=1),
        k=comparison.k,
        waitlist=comparison.waitlist,
        n=comparison.n,
        confidence=comparison.confidence,
        relevance=comparison.relevance,
    )
