"""Fitting several rankers to the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from ._estimator import RankingEstimator
from ._shared import SharedWork

if TYPE_CHECKING:
    from .._typing import TableLike
    from ..outcome import OutcomeLike

_Ranker = TypeVar("_Ranker")


def fit_together(rankers: Iterable[_Ranker], X: TableLike, y: OutcomeLike) -> Iterator[_Ranker]:
    """Fit rankers over several base models on the same rows, one after the other.

    The result is that of `fit`; what does not depend on the base model (the matrix and its bins, the model of censoring
    by which a `BootstrappedRanker` is calibrated) is computed once for all that have the same settings and seed.

    Parameters
    ----------
    rankers : iterable of rankers
        `BootstrappedRanker`, `StackedRanker`, or any other with `fit(X, y)`, which then shares nothing.
    X, y : as for `BootstrappedRanker.fit`

    Yields
    ------
    ranker
        Each ranker, as soon as it is fitted.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> bases = ly.models.KaplanMeier(), ly.models.Cox()
    >>> rankers = [ly.BootstrappedRanker(base, tau=10, n_estimators=5, random_state=0) for base in bases]
    >>> [len(ranker.predict(d.X)) for ranker in fit_together(rankers, d.X, d.y)]
    [600, 600]
    """
    shared = SharedWork()
    for ranker in rankers:
        if isinstance(ranker, RankingEstimator):
            ranker.fit_sharing(X, y, shared)
        else:
            ranker.fit(X, y)  # type: ignore[attr-defined]
        yield ranker
