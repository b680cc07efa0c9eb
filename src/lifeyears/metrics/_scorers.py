"""Scorers for scikit-learn's `cross_validate` and `GridSearchCV`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Literal

import numpy as np

from ..outcome import as_outcome
from ._auc import auc_at
from ._concordance import concordance_index
from ._gain import ndcg_score, policy_value

Measure = Literal["ndcg", "policy_value", "concordance", "auc"]
MEASURES = ("ndcg", "policy_value", "concordance", "auc")
_KEPT = 512
_cache: OrderedDict[str, Any] = OrderedDict()


class Scorer:
    """``scorer(estimator, X, y)``: made by `make_scorer`, which checks what it is given; higher is better.

    Parameters
    ----------
    measure, k, waitlist, relevance, time, cv
        As for `make_scorer`.
    """

    def __init__(
        self, measure: Measure, k: int | None, waitlist: int | None, relevance: Any, time: float | None, cv: Any
    ) -> None:
        self.measure = measure
        self.k = k
        self.waitlist = waitlist
        self.relevance = relevance
        self.time = time
        self.cv = cv

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
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
            return float(auc_at(y, scores, self.time))
        values = self._relevance_of(X, y)
        if self.measure == "ndcg":
            return ndcg_score(values, scores, k=self.k, waitlist=self.waitlist)
        return policy_value(values, scores, k=1 if self.k is None else self.k, waitlist=self.waitlist)

    def _relevance_of(self, X: Any, y: Any) -> np.ndarray:
        """Relevance of the fold: by the fitted estimator, or cross-fitted within the fold and remembered."""
        y = as_outcome(y)
        if self.relevance is None:
            if y.n_events < len(y):
                raise ValueError(
                    f"{self.measure} of censored outcomes needs a relevance, e.g. relevance=ExpectedYears()"
                )
            return y.time
        if self.relevance.__sklearn_is_fitted__():
            return self.relevance.estimate(X, y).values
        key = self._key(X, y)
        if key is None:
            return self.relevance.cross_fit(X, y, cv=self.cv).values
        if key not in _cache:  # several scorers, and every candidate of a grid, see the same fold
            _cache[key] = self.relevance.cross_fit(X, y, cv=self.cv).values
            while len(_cache) > _KEPT:
                _cache.popitem(last=False)
        _cache.move_to_end(key)
        return _cache[key]

    def _key(self, X: Any, y: Any) -> str | None:
        """What names a fold and its relevance; None with functions, which have no contents to compare."""
        import joblib

        nuisances: Any = getattr(self.relevance, "get_params", dict)().values()
        if any(callable(given) and not hasattr(given, "get_params") for given in nuisances):
            return None
        try:
            return joblib.hash((self.relevance, self.cv, X, y.time, y.event))
        except Exception:  # what cannot be pickled cannot be remembered
            return None

    def __repr__(self) -> str:
        settings = {"k": self.k, "waitlist": self.waitlist, "relevance": self.relevance, "time": self.time}
        given = ", ".join(f"{name}={value!r}" for name, value in settings.items() if value is not None)
        return f"make_scorer({self.measure!r}{', ' + given if given else ''})"


def make_scorer(
    measure: Measure,
    k: int | None = None,
    waitlist: int | None = None,
    relevance: Any = None,
    time: float | None = None,
    cv: Any = 5,
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
    if measure not in MEASURES:
        raise ValueError(f"there is no measure {measure!r}; there are {', '.join(MEASURES)}")
    if measure == "auc" and time is None:
        raise ValueError('"auc" needs a time: make_scorer("auc", time=5)')
    if relevance is not None and not hasattr(relevance, "cross_fit"):
        raise ValueError(
            "relevance must be an estimator such as ExpectedYears(): each fold needs its own, so values for all rows "
            "cannot be used"
        )
    for name, value in (("k", k), ("waitlist", waitlist)):
        if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
            raise ValueError(f"{name} must be a whole number, 1 or larger; got {value!r}")
    return Scorer(measure, k, waitlist, relevance, time, cv)
