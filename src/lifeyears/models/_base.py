"""What all survival models share: checking input, expected life, curves, and scikit-learn's ways."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._threads import one_thread
from ..curves import StepFunction, SurvivalCurves, checked_grid, row_blocks
from ..metrics import concordance_index
from ..outcome import Outcome, as_outcome

MOST_GRID_POINTS = 512
LARGEST_VALUE = 1e100  # squares must not overflow


class SurvivalModel(BaseEstimator):
    """A survival model: fit on (X, y), then expected life and survival curves; higher is longer.

    A model of our own defines `_fit(X, y, sample_weight)`, `_survival(X, times)` and `_grid()`, and says by
    `interpolation` what its curves are between the times of a grid.
    """

    interpolation: Literal["step", "linear"] = "step"
    by_row = True  # a row's curve depends on that row alone, so that some rows can be asked about without the others
    tau: float | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        X, y = self._checked_training(X, y)
        weight = self._checked_weight(sample_weight, X)
        if weight is not None:
            seen = weight > 0
            X, y, weight = X[seen], y[seen], weight[seen]
        self.tau_ = self._horizon(y)
        with one_thread():
            self._fit(X, y, weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
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
        X = self._checked_new(X)
        return self._expected(X)

    def predict_curves(self, X: Any, times: Any = None) -> SurvivalCurves:
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
            ``.survival`` is (n, m), one row a row of X; ``.times`` are the m times.
        """
        X = self._checked_new(X)
        if times is None:
            times, reached = self._grid()
        else:
            times = reached = checked_grid(times)
        return SurvivalCurves.trusted(times, self._survival(X, reached), self.interpolation)

    def predict_survival_function(self, X: Any) -> np.ndarray:
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

    def score(self, X: Any, y: Any) -> float:
        """Harrell's C-index of the expected lifetimes: for scikit-learn's tools; see `lifeyears.metrics` for better."""
        return concordance_index(y, self.predict(X))

    def _fit(self, X: np.ndarray, y: Outcome, sample_weight: np.ndarray | None) -> None:
        raise TypeError(f"{type(self).__name__} does not define how it is fitted")

    def _survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} does not define its curves")

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        """The model's own grid: the times, and the times whose values are shown there (see `thinned`)."""
        raise TypeError(f"{type(self).__name__} does not define its grid")

    def _expected(self, X: np.ndarray) -> np.ndarray:
        """E[min(T*, τ)|x] from the curves on the model's own grid, a block of rows at a time."""
        times, reached = self._grid()
        expected = np.empty(len(X))
        for block in row_blocks(len(X), len(times)):
            curves = SurvivalCurves.trusted(times, self._survival(X[block], reached), self.interpolation)
            expected[block] = curves.restricted_mean(self.tau_)
        return expected

    def _checked_training(self, X: Any, y: Any) -> tuple[np.ndarray, Outcome]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = self._checked_matrix(X, reset=True)
        y = as_outcome(y)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} rows and y has {len(y)}: there must be one outcome for each row")
        return X, y

    def _checked_new(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._checked_matrix(X, reset=False)

    def _checked_matrix(self, X: Any, reset: bool) -> np.ndarray:
        try:
            X = validate_data(self, X, dtype=np.float64, reset=reset)
        except ValueError as error:
            text = [] if not hasattr(X, "select_dtypes") else list(X.select_dtypes(exclude="number").columns)
            if text and "convert" in str(error):
                raise ValueError(
                    f"X has columns that are not numbers: {', '.join(map(str, text[:5]))}. Put a "
                    "lifeyears.data.TablePreprocessor() before the model (a scikit-learn Pipeline does it)"
                ) from error
            raise
        if max(X.max(initial=0.0), -X.min(initial=0.0)) > LARGEST_VALUE:
            raise ValueError(f"X holds values beyond {LARGEST_VALUE:g}: rescale the columns")
        return X

    def _checked_weight(self, sample_weight: Any, X: np.ndarray) -> np.ndarray | None:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weight < 0).any():
            raise ValueError("sample_weight must not be negative")
        if not (weight > 0).any():
            raise ValueError("sample_weight holds no number above zero")
        return weight

    def _horizon(self, y: Outcome) -> float:
        return horizon_of(self.tau, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def horizon_of(tau: Any, y: Outcome | None) -> float:
    """The horizon: as given, or the largest time seen."""
    if tau is None:
        if y is None:
            raise ValueError(
                "give tau: the fitted model does not tell its horizon, and there are no times to take it from"
            )
        if not y.time.max() > 0:
            raise ValueError("all times are 0: there is no life to predict")
        return float(y.time.max())
    if not is_number(tau) or not 0 < tau < np.inf:
        raise ValueError(f"tau must be a positive, finite time, or None; got {tau!r}")
    return float(tau)


def is_number(value: Any) -> bool:
    """Whether a setting is a number (True and False are not)."""
    return isinstance(value, Real) and not isinstance(value, bool)


def need_events(y: Outcome, model: str) -> None:
    """Refuse data in which nothing happened."""
    if not y.n_events:
        raise ValueError(
            f"{model} needs at least one event; all {len(y)} times are censored (is the event column the right way "
            "round?)"
        )


def column_scales(X: np.ndarray, mean: np.ndarray, spread: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations to divide by (1 for constant columns), and which columns are constant but for rounding."""
    spread = X.std(axis=0) if spread is None else spread
    constant = ~(spread > 1e-13 * np.abs(mean)) | (spread == 0)
    return np.where(constant, 1.0, spread), constant


def thinned(times: np.ndarray, most: int = MOST_GRID_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most `most` steps in place of many: when each happens, and the time whose value it reaches.

    A run of neighbouring steps becomes one, at the mean of their times and with the value after the last of them: the
    area under the curve stays the same but for terms of second order.
    """
    if len(times) <= most:
        return times, times
    # the last step stays where it is: a curve that ends at 0 must not end early
    first = np.unique(np.append(np.linspace(0, len(times) - 1, most - 1, endpoint=False).astype(int), len(times) - 1))
    last = np.append(first[1:], len(times)) - 1
    return np.add.reduceat(times, first) / (last - first + 1), times[last]
