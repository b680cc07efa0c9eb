"""Cross-fitting: nobody's relevance comes from a model that saw them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from ..checks import check_values, check_whole
from ..curves import SurvivalCurves
from ..errors import DataError, Message, RequestError, Setting
from ..folds import Splits, check_folds, draw_folds
from ..outcome import Outcome, as_outcome
from ._estimators import RelevanceEstimator
from ._relevance import Diagnostics, Relevance

if TYPE_CHECKING:
    from .._typing import AnyArray, IntArray, TableLike
    from ..outcome import OutcomeLike


@runtime_checkable
class Splitter(Protocol):
    """A cross-validation splitter as scikit-learn defines it."""

    def split(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None) -> Iterable[tuple[AnyArray, AnyArray]]:
        """Yield (train, test) row numbers."""


class AnyRelevanceEstimator(Protocol):
    """What a relevance estimator of another distribution needs: to be fitted, and to estimate."""

    def fit(self, X: Any, y: Any, /) -> AnyRelevanceEstimator:
        """Fit it to some rows."""

    def estimate(self, X: Any, y: Any, /) -> Any:
        """Return a `Relevance`, or any object with ``values``, one for each row."""


CrossValidation = int | Splitter | Iterable["tuple[ArrayLike, ArrayLike]"]


def cross_fit(
    estimator: AnyRelevanceEstimator,
    X: TableLike,
    y: OutcomeLike,
    cv: CrossValidation = 5,
    groups: ArrayLike | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Relevance:
    """Estimate relevance with nuisance models that never saw the rows they are used on.

    Parameters
    ----------
    estimator : ExpectedYears, IPCW, DoublyRobust, Ensemble, or an estimator of yours
        Unfitted; a copy is fitted for each fold. One of yours has ``fit(X, y)`` and ``estimate(X, y)``, which returns
        a `Relevance` or any object with ``values``.
    X, y : table and outcome
    cv : int, scikit-learn splitter, or iterable of (train, test), default 5
        An int draws that many folds (see `lifeyears.folds.draw_folds`), stratified by event; with `groups` (centres,
        say) no group is in two folds. `temporal_folds` gives blocks of entry time. Test folds must partition the rows.
    groups : array, optional
        A label for each row.
    random_state : int or None, default 0
        Seed of the drawn folds.
    n_jobs : int, optional
        Number of folds fitted in parallel, through joblib.

    Returns
    -------
    Relevance
        With `splits`.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=400)
    >>> X = ly.data.TablePreprocessor().fit_transform(d.X)
    >>> relevance = cross_fit(ly.relevance.ExpectedYears(ly.models.KaplanMeier(), tau=10), X, d.y, cv=2)
    >>> len(relevance), len(relevance.splits)
    (400, 2)
    """
    from joblib import Parallel, delayed

    outcome = as_outcome(y)
    parts_of = estimator.parts() if isinstance(estimator, RelevanceEstimator) else []
    nuisances = [nuisance for part in parts_of for nuisance in part.nuisances().values()]
    if nuisances and all(isinstance(nuisance, SurvivalCurves) for nuisance in nuisances):
        raise RequestError("known curves need no cross-fitting", hint="Call estimate(X, y) with them.")
    splits = draw_splits(outcome, cv, groups, random_state)
    parts: list[Relevance] = Parallel(n_jobs=n_jobs)(
        delayed(_estimate_fold)(estimator, X, outcome, train, test) for train, test in splits
    )
    values = np.empty(len(outcome))
    for (_, test), part in zip(splits, parts, strict=True):
        values[test] = part.values
    diagnostics = Diagnostics.join([part.diagnostics for part in parts])
    return Relevance(values, max(part.tau for part in parts), parts[0].name, diagnostics, splits)


def draw_splits(
    y: Outcome, cv: CrossValidation, groups: ArrayLike | None = None, random_state: int | None = 0
) -> Splits:
    """Draw or check (train, test) row numbers: test folds partition the rows, and no group is on both sides.

    Parameters
    ----------
    y : Outcome
    cv : int, scikit-learn splitter, or iterable of (train, test)
        As for `cross_fit`.
    groups : array, shape (n,), optional
        A label for each row.
    random_state : int or None, default 0
        Seed of drawn folds.

    Raises
    ------
    RequestError
        If folds are drawn by event and there are fewer rows of one kind than folds, or if the folds passed do not
        partition the rows.
    """
    if isinstance(cv, (int, np.integer)):
        check_whole("cv", cv, low=2)
        rarest = min(y.n_events, len(y) - y.n_events)
        if groups is None and 0 < rarest < cv:
            raise DataError(
                f"{cv} folds stratified by event need {cv} rows of each kind; one kind has {rarest}",
                hint=Message("Use fewer folds with ", Setting("cv"), "."),
            )
        return draw_folds(y.event, int(cv), groups, random_state)
    folds = cv.split(np.zeros(len(y)), y.event, groups) if isinstance(cv, Splitter) else cv
    return check_folds(folds, len(y), groups)


def _estimate_fold(
    estimator: AnyRelevanceEstimator, X: TableLike, y: Outcome, train: IntArray, test: IntArray
) -> Relevance:
    own = clone(estimator, safe=False)
    if isinstance(own, RelevanceEstimator):
        own = _take_curves(own, test, len(y))
    fitted = own.fit(_safe_indexing(X, train), y[train])
    return _as_relevance(fitted.estimate(_safe_indexing(X, test), y[test]), fitted, y[test])


def _as_relevance(estimate: Any, estimator: AnyRelevanceEstimator, y: Outcome) -> Relevance:
    """Return the estimate of any estimator as a `Relevance`; what it does not state is taken from the outcome."""
    if isinstance(estimate, Relevance):
        return estimate
    values = check_values("relevance", getattr(estimate, "values", estimate)).copy()
    name = type(estimator).__name__
    if len(values) != len(y):
        raise DataError(f"{name} estimates {len(values)} values for {len(y)} rows")
    tau = getattr(estimator, "tau", None)
    tau = float(y.time.max()) if tau is None else float(tau)
    censored = int((~y.restrict(tau).event).sum())
    return Relevance(values, tau, name, Diagnostics(len(y), censored, n_negative=int((values < 0).sum())))


def _take_curves(estimator: RelevanceEstimator, rows: IntArray, n: int) -> RelevanceEstimator:
    """Cut the known curves of an estimator (one row for each subject) to some rows."""
    for part in estimator.parts():
        for role, nuisance in part.nuisances().items():
            if isinstance(nuisance, SurvivalCurves) and len(nuisance) == n:
                part.set_params(**{role: nuisance[rows]})
    return estimator
