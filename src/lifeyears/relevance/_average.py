"""Averages of relevance over nuisance models: the paper's ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ..errors import RequestError
from ._estimators import RelevanceEstimator
from ._relevance import Diagnostics, Relevance

if TYPE_CHECKING:
    from .._typing import TableLike
    from ..outcome import OutcomeLike


class Ensemble(RelevanceEstimator):
    """The average of several estimators' relevance: the paper's ensemble over nuisance models, in one call.

    Parameters
    ----------
    estimators : sequence of relevance estimators
        With one horizon.

    Examples
    --------
    >>> from lifeyears.models import Cox, KaplanMeier
    >>> from lifeyears.relevance import ExpectedYears
    >>> both = Ensemble([ExpectedYears(KaplanMeier(), tau=5), ExpectedYears(Cox(), tau=5)])
    """

    def __init__(self, estimators: Sequence[RelevanceEstimator]) -> None:
        self.estimators = estimators

    def fit(self, X: TableLike, y: OutcomeLike) -> Self:
        """Fit a copy of each.

        Parameters
        ----------
        X, y : table and outcome
            As for the estimators.

        Returns
        -------
        self
        """
        self.estimators_ = [clone(each).fit(X, y) for each in self.estimators]
        return self

    def estimate(self, X: TableLike, y: OutcomeLike) -> Relevance:
        """Average their relevance.

        Parameters
        ----------
        X, y : table and outcome
            As for the estimators.

        Returns
        -------
        Relevance
            By `average_relevance`.
        """
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("this Ensemble is not fitted yet: call fit first")
        return average_relevance([each.estimate(X, y) for each in getattr(self, "estimators_", self.estimators)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_") or all(each.__sklearn_is_fitted__() for each in self.estimators)

    def parts(self) -> list[RelevanceEstimator]:
        return [part for each in self.estimators for part in each.parts()]


def average_relevance(relevances: Sequence[Relevance]) -> Relevance:
    """Average several relevances of the same rows.

    Parameters
    ----------
    relevances : sequence of Relevance
        Of one horizon.

    Returns
    -------
    Relevance
        Its diagnostics are the most careful of theirs: the smallest chance, the fewest effective rows, the most
        clipped. It has no `splits`.

    Examples
    --------
    >>> from lifeyears.relevance import IPCW, ExpectedYears
    >>> from lifeyears.models import KaplanMeier
    >>> X, y = [[0], [0], [0]], ([1, 0, 1], [1.0, 2.0, 4.0])
    >>> both = ExpectedYears(KaplanMeier(), tau=5), IPCW(KaplanMeier(), tau=5)
    >>> average_relevance([each.fit(X, y).estimate(X, y) for each in both]).values
    array([1., 2., 6.])
    """
    if not relevances:
        raise RequestError("there is nothing to average")
    taus = {each.tau for each in relevances}
    if len(taus) > 1:
        raise RequestError(f"relevances of several horizons cannot be averaged: {sorted(taus)}")
    parts = [each.diagnostics for each in relevances]
    values = np.mean([each.values for each in relevances], axis=0)
    names = list(dict.fromkeys(each.name for each in relevances))
    worst = min(parts, key=lambda part: part.effective_sample_size if part.weight_sum else np.inf)
    diagnostics = Diagnostics(
        n=parts[0].n,
        n_censored=parts[0].n_censored,
        smallest_chance=min(part.smallest_chance for part in parts),
        weight_sum=worst.weight_sum,
        weight_square_sum=worst.weight_square_sum,
        largest_weight=worst.largest_weight,
        n_clipped=max(part.n_clipped for part in parts),
        share_out_of_reach=max(part.share_out_of_reach for part in parts),
        n_fallback=max(part.n_fallback for part in parts),
        n_negative=int(np.count_nonzero(values < 0)),
    )
    return Relevance(values, taus.pop(), f"mean of {len(relevances)} {'/'.join(names)}", diagnostics)
