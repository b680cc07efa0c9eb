"""Scorers for scikit-learn's `cross_validate` and `GridSearchCV`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_choice, check_number, check_whole
from ..errors import Message, RequestError, Setting
from ..outcome import Outcome, as_outcome
from ._auc import auc_at
from ._concordance import concordance_index
from ._gain import ndcg_score, policy_value

if TYPE_CHECKING:
    from .._typing import AnyArray, FloatArray, TableLike
    from ..outcome import OutcomeLike

    Folds = int | Iterable[tuple[AnyArray, AnyArray]]

Measure = Literal["ndcg", "policy_value", "concordance", "auc"]
MEASURES = ("ndcg", "policy_value", "concordance", "auc")
_MOST_CACHED = 512
_cache: OrderedDict[str, FloatArray] = OrderedDict()


class Estimated(Protocol):
    """What a scorer needs of estimated relevance."""

    @property
    def values(self) -> FloatArray:
        """One value for each row."""


class RelevanceSource(Protocol):
    """What a scorer needs of a relevance estimator."""

    def estimate(self, X: TableLike, y: Outcome) -> Estimated:
        """Estimate the relevance of rows by fitted models."""

    def cross_fit(self, X: TableLike, y: Outcome, cv: Folds) -> Estimated:
        """Estimate the relevance of rows by models of other rows."""

    def __sklearn_is_fitted__(self) -> bool: ...


class Predictor(Protocol):
    """What a scorer needs of an estimator."""

    def predict(self, X: TableLike) -> ArrayLike:
        """Score rows, higher first."""


class Scorer:
    """``scorer(estimator, X, y)``: made by `make_scorer`, which checks what it is given; higher is better.

    Parameters
    ----------
    measure, k, waitlist, relevance, time, cv
        As for `make_scorer`.
    """

    def __init__(
        self,
        measure: Measure,
        k: int | None,
        waitlist: int | None,
        relevance: RelevanceSource | None,
        time: float | None,
        cv: Folds,
    ) -> None:
        self.measure = measure
        self.k = k
        self.waitlist = waitlist
        self.relevance = relevance
        self.time = time
        self.cv = cv

    def __call__(self, estimator: Predictor, X: TableLike, y: OutcomeLike) -> float:
        """Score a fitted estimator on a fold.

        Parameters
        ----------
        estimator : fitted estimator
            Its `predict` ranks the rows, higher first.
        X, y : table and outcome
            Of the fold.

        Returns
        -------
        float
            Higher is better.
        """
        scores = np.asarray(estimator.predict(X), dtype=float)
        if self.measure == "concordance":
            return concordance_index(y, scores)
        if self.measure == "auc":
            return float(auc_at(y, scores, check_number("time", self.time, low=0)))
        values = self._estimate_relevance(X, y)
        if self.measure == "ndcg":
            return ndcg_score(values, scores, k=self.k, waitlist=self.waitlist)
        return policy_value(values, scores, k=1 if self.k is None else self.k, waitlist=self.waitlist)

    def _estimate_relevance(self, X: TableLike, y: OutcomeLike) -> FloatArray:
        """Estimate the relevance of the fold: by the fitted estimator, or cross-fitted within the fold and cached."""
        outcome = as_outcome(y)
        if self.relevance is None:
            if outcome.n_events < len(outcome):
                raise RequestError(
                    f"{self.measure} of censored outcomes needs an estimate of relevance",
                    hint=Message("Pass ", Setting("relevance"), "ExpectedYears(), say."),
                )
            return outcome.time
        if self.relevance.__sklearn_is_fitted__():
            return self.relevance.estimate(X, outcome).values
        key = self._key(X, outcome)
        if key is None:
            return self.relevance.cross_fit(X, outcome, cv=self.cv).values
        if key not in _cache:  # several scorers, and every candidate of a grid, see the same fold
            _cache[key] = self.relevance.cross_fit(X, outcome, cv=self.cv).values
            while len(_cache) > _MOST_CACHED:
                _cache.popitem(last=False)
        _cache.move_to_end(key)
        return _cache[key]

    def _key(self, X: TableLike, y: Outcome) -> str | None:
        """Return a key of a fold and its relevance; None with functions, which have no contents to compare."""
        import joblib

        settings: dict[str, object] = getattr(self.relevance, "get_params", dict)()
        if any(callable(setting) and not hasattr(setting, "get_params") for setting in settings.values()):
            return None
        try:
            return str(joblib.hash((self.relevance, self.cv, X, y.time, y.event)))
        except Exception:  # what cannot be pickled cannot be remembered
            return None

    def __repr__(self) -> str:
        settings = {"k": self.k, "waitlist": self.waitlist, "relevance": self.relevance, "time": self.time}
        named = "".join(f", {name}={value!r}" for name, value in settings.items() if value is not None)
        return f"make_scorer({self.measure!r}{named})"


def make_scorer(
    measure: Measure,
    k: int | None = None,
    waitlist: int | None = None,
    relevance: RelevanceSource | None = None,
    time: float | None = None,
    cv: Folds = 5,
) -> Scorer:
    """Make a scorer for scikit-learn from one of our metrics.

    Parameters
    ----------
    measure : {"ndcg", "policy_value", "concordance", "auc"}
    k, waitlist : int, optional
        For "ndcg" and "policy_value".
    relevance : relevance estimator, optional
        What a censored life is worth. Fitted, it estimates the scored fold; unfitted, it is cross-fitted within
        the fold (so that no row is judged by a model that saw it), once for all scorers and candidates. None is for
        outcomes without censoring.
    time : float
        For "auc".
    cv : int or splitter, default 5
        Folds of that cross-fitting.

    Returns
    -------
    Scorer
        ``scorer(estimator, X, y)``, higher is better.

    Examples
    --------
    >>> make_scorer("ndcg", k=1, waitlist=256)
    make_scorer('ndcg', k=1, waitlist=256)
    """
    check_choice("measure", measure, MEASURES)
    if measure == "auc" and time is None:
        raise RequestError('"auc" needs a time', hint=Message("Pass ", Setting("time", 5), ", say."))
    if relevance is not None and not hasattr(relevance, "cross_fit"):
        raise RequestError(
            "relevance must be an estimator such as ExpectedYears(): each fold needs its own, so values for all rows "
            "cannot be used"
        )
    for name, value in (("k", k), ("waitlist", waitlist)):
        if value is not None:
            check_whole(name, value, low=1)
    return Scorer(measure, k, waitlist, relevance, time, cv)
