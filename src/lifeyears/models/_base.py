"""What all survival models share: checking input, expected life, curves, and scikit-learn's ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._threads import one_thread
from ..curves import Interpolation, StepFunction, SurvivalCurves, check_grid, row_blocks
from ..errors import DataError, RequestError
from ..metrics import concordance_index
from ..outcome import Outcome, as_outcome, resolve_horizon
from ..text import list_values

if TYPE_CHECKING:
    from .._typing import AnyArray, FloatArray, TableLike
    from ..outcome import OutcomeLike

LARGEST_VALUE = 1e100  # squares must not overflow


class SurvivalModel(BaseEstimator):
    """A survival model: fit on (X, y), then expected life and survival curves; higher is longer.

    A model of our own defines `_fit(X, y, sample_weight)`, `_survival(X, times)` and `_grid()`, and says by
    `interpolation` what its curves are between the times of a grid.
    """

    interpolation: Interpolation = "step"
    by_row = True  # a row's curve depends on that row alone, so that some rows can be asked about without the others
    requires: ClassVar[tuple[str, ...]] = ()  # modules that must be installed to fit it, beside those of the core
    tau: float | None

    def fit(self, X: TableLike, y: OutcomeLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            Numeric features without missing values (see `lifeyears.data.TablePreprocessor`).
        y : Outcome or what `lifeyears.as_outcome` reads
            Observed times and events.
        sample_weight : array, shape (n,), optional
            How many rows a row stands for: a weight of 2 is the same as the row standing there twice (but for
            Efron's ties, where weights mean what they mean in R).

        Returns
        -------
        self
        """
        matrix, outcome = self._check_training(X, y)
        weight = self._check_weight(sample_weight, matrix)
        if weight is not None:
            weighted = weight > 0
            matrix, outcome, weight = matrix[weighted], outcome[weighted], weight[weighted]
        self.tau_ = self._horizon(outcome)
        with one_thread():
            self._fit(matrix, outcome, weight)
        return self

    def predict(self, X: TableLike) -> FloatArray:
        """Expected lifetime within the horizon, E[min(T*, τ)|x].

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            Numeric features, the columns of the training table.

        Returns
        -------
        array, shape (n,)
            Within [0, τ], in the unit of the times. Higher is longer life, where scikit-survival's `predict` gives
            risk.
        """
        return self._expected(self._check_new(X))

    def predict_curves(self, X: TableLike, times: ArrayLike | None = None) -> SurvivalCurves:
        """Survival curves S(t|x) of every row of X.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            Numeric features, the columns of the training table.
        times : array, shape (m,), optional
            The grid, increasing, in the unit of the training times; without it, at most 512 times of the model's own.

        Returns
        -------
        SurvivalCurves
            ``.survival`` is (n, m), one row per row of X; ``.times`` are the m times.
        """
        matrix = self._check_new(X)
        if times is None:
            grid, reached = self._grid()
        else:
            grid = reached = check_grid(times)
        return SurvivalCurves.trusted(grid, self._survival(matrix, reached), self.interpolation)

    def predict_survival_function(self, X: TableLike) -> AnyArray:
        """Survival curves as callables, as scikit-survival's metrics take them.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            As for `predict`.

        Returns
        -------
        array of callables, shape (n,)
            ``f(t)`` is S(t|x), t in the unit of the times; each has ``x``, ``y`` and ``domain``.
        """
        curves = self.predict_curves(X)
        functions = np.empty(len(curves), dtype=object)
        functions[:] = [StepFunction(curves, row) for row in range(len(curves))]
        return functions

    def score(self, X: TableLike, y: OutcomeLike) -> float:
        """Return Harrell's C-index of the expected lifetimes, for scikit-learn's tools; see `lifeyears.metrics`."""
        return concordance_index(y, self.predict(X))

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        raise TypeError(f"{type(self).__name__} does not define how it is fitted")

    def _survival(self, X: FloatArray, times: FloatArray) -> FloatArray:
        raise TypeError(f"{type(self).__name__} does not define its curves")

    def _grid(self) -> tuple[FloatArray, FloatArray]:
        """The model's own grid: the times, and the times whose values are shown there (see `thinned`)."""
        raise TypeError(f"{type(self).__name__} does not define its grid")

    def _expected(self, X: FloatArray) -> FloatArray:
        """E[min(T*, τ)|x] from the curves on the model's own grid, a block of rows at a time."""
        times, reached = self._grid()
        expected = np.empty(len(X))
        for block in row_blocks(len(X), len(times)):
            curves = SurvivalCurves.trusted(times, self._survival(X[block], reached), self.interpolation)
            expected[block] = curves.restricted_mean(self.tau_)
        return expected

    def _check_training(self, X: TableLike, y: OutcomeLike | None) -> tuple[FloatArray, Outcome]:
        if y is None:
            raise RequestError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        matrix = self._check_matrix(X, reset=True)
        outcome = as_outcome(y)
        check_same_length(len(matrix), outcome)
        return matrix, outcome

    def _check_new(self, X: TableLike) -> FloatArray:
        check_is_fitted(self)
        return self._check_matrix(X, reset=False)

    def _check_matrix(self, X: TableLike, reset: bool) -> FloatArray:
        try:
            matrix: FloatArray = validate_data(self, X, dtype=np.float64, reset=reset)
        except ValueError as error:
            text = list(X.select_dtypes(exclude="number").columns) if hasattr(X, "select_dtypes") else []
            if text and "convert" in str(error):
                raise DataError(
                    f"X has columns that are not numbers: {list_values(map(str, text), most=5)}",
                    hint="Put a lifeyears.data.TablePreprocessor() before the model (a scikit-learn Pipeline does it).",
                    columns=text,
                ) from error
            raise
        if max(matrix.max(initial=0.0), -matrix.min(initial=0.0)) > LARGEST_VALUE:
            raise DataError(f"X holds values beyond {LARGEST_VALUE:g}", hint="Rescale the columns.")
        return matrix

    def _check_weight(self, sample_weight: ArrayLike | None, X: FloatArray) -> FloatArray | None:
        if sample_weight is None:
            return None
        weight: FloatArray = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weight < 0).any():
            raise RequestError("sample_weight must not be negative")
        if not (weight > 0).any():
            raise RequestError("sample_weight holds no number above zero")
        return weight

    def _horizon(self, y: Outcome) -> float:
        return resolve_horizon(self.tau, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_same_length(n: int, y: Outcome) -> None:
    """Refuse a table and an outcome of different lengths."""
    if n != len(y):
        raise DataError(f"X has {n} rows and y has {len(y)}: there must be one outcome for each row")


def check_has_events(y: Outcome, model: str) -> None:
    """Refuse data without a single event."""
    if not y.n_events:
        raise DataError(
            f"{model} needs at least one event; all {len(y)} times are censored (is the event column coded the right "
            "way round?)"
        )
