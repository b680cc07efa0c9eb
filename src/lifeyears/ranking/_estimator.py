"""What all rankers and members share: tables become matrices, and parts add up to predictions and explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._frames import as_pandas
from .._threads import available_threads
from .._typing import FloatArray
from ..data import TablePreprocessor
from ..errors import DataError
from ..metrics import concordance_index
from ..outcome import Outcome
from ._calibration import CalibrationMap
from ._fit import RankerFit
from ._parts import FittedPart
from ._report import RankerReport
from ._rows import is_relevance
from ._shared import SharedWork
from .explanations import Explanation, explain_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import RandomState, TableLike
    from ..models import SurvivalModel
    from ..outcome import OutcomeLike


class RankingEstimator(BaseEstimator):
    """An estimator whose predictions are a calibrated weighted sum of parts, on a matrix made of the table.

    Attributes
    ----------
    base_ : fitted base model or None
    members_ : dict of str to list of fitted parts
        A member's prediction is the mean of its parts.
    weights_ : dict of str to float
    intercept_ : float
    calibration_map_ : CalibrationMap
    preprocessor_ : TablePreprocessor
        Turns tables, with categories and missing values, into a matrix.
    """

    random_state: RandomState
    base_: SurvivalModel | None
    members_: dict[str, list[FittedPart]]
    weights_: dict[str, float]
    intercept_: float
    calibration_map_: CalibrationMap
    preprocessor_: TablePreprocessor
    tau_: float
    typical_row_: FloatArray
    pseudo_labels_: FloatArray
    report_: RankerReport
    held_out_: FloatArray | None
    held_out_outcomes_: FloatArray | None

    def fit(self, X: TableLike, y: OutcomeLike) -> Self:
        """Fit to observed times and events.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            Features; they may hold categories and missing values.
        y : Outcome or what `lifeyears.as_outcome` reads
            Observed times and events. A one-dimensional array is refused: it may hold times without events, or
            relevance (`fit_relevance`).

        Returns
        -------
        self
        """
        return self.fit_sharing(X, y, SharedWork())

    def fit_sharing(self, X: TableLike, y: OutcomeLike, shared: SharedWork) -> Self:
        """Fit as `fit` does, taking intermediate results from `shared` or adding them to it; see `fit_together`.

        Parameters
        ----------
        X, y : as for `fit`
        shared : SharedWork
            Of fits to the same rows.

        Returns
        -------
        self
        """
        raise NotImplementedError

    def predict(self, X: TableLike) -> FloatArray:
        """Predict expected years within the horizon: the scores to rank by.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            The columns of the training table.

        Returns
        -------
        array, shape (n,)
            Higher is longer life. Between 0 and τ, in the unit of the times; or in that of the relevance, if that was
            given.
        """
        matrix = self._matrix(X)
        return self.calibration_map_(self._sum_parts(matrix))

    def explain(self, X: TableLike) -> Explanation:
        """Explain predictions: what each feature adds to each patient's years, and whom it moves into the top.

        Trees are explained by their Shapley values, spline hazards by their terms, and other models by the change in
        their prediction when a feature takes its training mean, scaled to add up.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `predict`.

        Returns
        -------
        Explanation
            ``.contributions`` is (n, p), in the unit of `predict`; `.top_reasons(row)`, `.movers(k)`, `.plot(row)`.
        """
        index = getattr(X, "index", None) if hasattr(X, "columns") else None
        return explain_matrix(self, self._matrix(X), index)

    def score(self, X: TableLike, y: OutcomeLike | ArrayLike) -> float:
        """Return the C-index, for scikit-learn's tools; `lifeyears.metrics.make_scorer` makes better scorers.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `predict`.
        y : as for `fit`, or relevance if the estimator was fitted to relevance
        """
        scores = self.predict(X)
        if is_relevance(y) and self.report_.on_relevance:  # every pair of different relevance is comparable
            relevance = np.asarray(y, dtype=float)
            y = Outcome(relevance - relevance.min(), np.ones(len(relevance), dtype=bool))
        return concordance_index(y, scores)

    def _store(self, fit: RankerFit, matrix: FloatArray) -> Self:
        """Set the fitted attributes; `matrix` is the training matrix."""
        self.base_, self.members_, self.weights_, self.intercept_ = fit.base, fit.members, fit.weights, fit.intercept
        self.calibration_map_, self.pseudo_labels_, self.report_ = fit.calibration, fit.labels, fit.report
        self.held_out_, self.held_out_outcomes_ = fit.held_out, fit.held_out_outcomes
        self.typical_row_ = matrix.mean(axis=0)
        return self

    def _sum_parts(self, matrix: FloatArray) -> FloatArray:
        """Return the weighted sum, before calibration."""
        total = np.full(len(matrix), self.intercept_)
        if "base" in self.weights_ and self.base_ is not None:
            total += self.weights_["base"] * self.base_.predict(matrix)
        for name, fits in self.members_.items():
            total += self.weights_[name] * np.mean([fit.predict(matrix) for fit in fits], axis=0)
        return total

    def _training_matrix(self, X: TableLike, shared: SharedWork) -> FloatArray:
        """Fit the preprocessor, and return the matrix of the training rows."""
        self.preprocessor_, matrix = shared.get(lambda: _preprocess(X), "matrix")
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.preprocessor_, name):
                setattr(self, name, getattr(self.preprocessor_, name))
            elif hasattr(self, name):
                delattr(self, name)
        if len(matrix) < 2:
            raise DataError(f"{type(self).__name__} needs at least two rows to rank; got n_samples = 1")
        return matrix

    def _matrix(self, X: TableLike) -> FloatArray:
        check_is_fitted(self)
        return np.asarray(self.preprocessor_.transform(X))

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "report_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = self.random_state is None
        return tags


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for; None and negative numbers mean all that are available."""
    return available_threads(None if n_jobs is not None and n_jobs < 0 else n_jobs)


def _preprocess(X: TableLike) -> tuple[TablePreprocessor, FloatArray]:
    table = as_pandas(X)
    if table is None:
        numeric = getattr(np.asarray(X), "dtype", np.dtype(object)).kind in "fiub"
    else:
        numeric = all(kind.kind in "fiub" if hasattr(kind, "kind") else False for kind in table.dtypes)
    # numbers are not scaled here: the base model does that itself
    preprocessor = TablePreprocessor(scale=not numeric).fit(X)
    return preprocessor, np.asarray(preprocessor.transform(X))
