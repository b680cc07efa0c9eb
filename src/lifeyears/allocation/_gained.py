"""Life-years gained: expected life with a transplant minus expected life without."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._frames import as_pandas
from .._typing import FloatArray, IntArray
from ..data import TablePreprocessor
from ..errors import DataError, Message, RequestError, Setting, UnsupportedModelError
from ..models import SurvivalModel, WeibullAFT
from ..outcome import Outcome, as_outcome
from ..ranking import BootstrappedRanker
from ..text import list_values
from ._donor_types import DonorTypeRanker
from ._fitting import choose_horizon, clone_ranker

if TYPE_CHECKING:
    from collections.abc import Sized

    from .._typing import RandomState, TableLike
    from ..outcome import OutcomeLike
    from ._grouping import Donors


class LifeYearsGained(BaseEstimator):
    """Life-years gained: expected life with a transplant minus expected life on the waitlist without it, within τ.

    Ranking by life after transplant alone favours those who would live long anyway. Life-years gained measure the
    effect of the organ: LYG(x) = E[min(T, τ) | x, transplant now] − E[min(T, τ) | x, no transplant]. They can be
    negative.

    The second term is from a model of the waitlist: time from listing (or from any day on which the features hold) to
    death without a transplant. Patients who are transplanted, or leave the list, are censored that day. The sickest are
    transplanted first, so censoring depends on the features: those that determine priority must be among them. Few are
    followed for long; a step curve (Cox, Kaplan–Meier) keeps its last value beyond the last time, which overestimates
    life without a transplant and raises a warning. The default, Weibull, extrapolates.

    Parameters
    ----------
    with_transplant : estimator, optional
        Model of life after transplant: `lifeyears.BootstrappedRanker`, a model of `lifeyears.models`, or
        `DonorTypeRanker`; None means ``BootstrappedRanker()``. A fitted one is used unchanged unless
        transplants are passed to `fit`.
    without_transplant : survival model, optional
        Model of life without transplant; None means ``WeibullAFT()``. A fitted one is used unchanged unless a waitlist
        is passed to `fit`.
    tau : float, optional
        The horizon of both; None means that of `with_transplant`, else the largest time after transplant.
    random_state : int, RandomState or None
        Seed of all random choices.

    Attributes
    ----------
    with_, without_ : fitted models
    tau_ : float

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from lifeyears.models import KaplanMeier
    >>> x = pd.DataFrame({"age": [50.0, 60.0]})
    >>> years = LifeYearsGained(KaplanMeier(), KaplanMeier(), tau=10)
    >>> years.fit(x, ([1, 1], [8.0, 10.0]), x, ([1, 1], [1.0, 10.0])).predict(x)      # 9 minus 5.5
    array([3.5, 3.5])
    """

    def __init__(
        self,
        with_transplant: object | None = None,
        without_transplant: object | None = None,
        tau: float | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.with_transplant = with_transplant
        self.without_transplant = without_transplant
        self.tau = tau
        self.random_state = random_state

    def fit(
        self,
        X: TableLike | None = None,
        y: OutcomeLike | None = None,
        X_waitlist: TableLike | None = None,
        y_waitlist: OutcomeLike | None = None,
    ) -> Self:
        """Fit both models.

        Parameters
        ----------
        X, y : table and outcome
            Transplanted patients (with columns of the donor and the pair, if the model is to use them), and life from
            transplant. Without them `with_transplant` must be fitted already.
        X_waitlist, y_waitlist : table and outcome
            Waitlisted patients, and life without a transplant. Without them `without_transplant` must be fitted
            already.

        Returns
        -------
        self
        """
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        transplanted = _read_outcome(X, y, "y")
        waitlisted = _read_outcome(X_waitlist, y_waitlist, "y_waitlist")
        after = BootstrappedRanker() if self.with_transplant is None else self.with_transplant
        waiting = WeibullAFT() if self.without_transplant is None else self.without_transplant
        if transplanted is None:
            _check_fitted(after, "with_transplant", "X and y")
        if waitlisted is None:
            _check_fitted(waiting, "without_transplant", "X_waitlist and y_waitlist")
        self.tau_ = choose_horizon(self.tau, after, transplanted)
        self.with_ = _fit_model(after, X, transplanted, self.tau_, seed)
        self.without_ = _fit_model(waiting, X_waitlist, waitlisted, self.tau_, seed)
        if waitlisted is not None and waitlisted.time.max() < self.tau_ and self.without_.has_step_curves():
            text = Message(
                f"nobody on the waitlist was followed beyond {waitlisted.time.max():g}, and the horizon is "
                f"{self.tau_:g}: the curves of {type(waiting).__name__} keep their last value from there on, so that "
                "life without a transplant is overestimated. Use WeibullAFT, or a shorter ",
                Setting("tau"),
            )
            warnings.warn(text, stacklevel=2)
        return self

    def predict(self, X: TableLike, donor: Donors | None = None) -> FloatArray:
        """Predict the life-years gained by each candidate.

        Parameters
        ----------
        X : table
            Candidates, with the columns of both models, by name.
        donor : optional
            For a `DonorTypeRanker`: as in its `predict`.
        """
        check_is_fitted(self)
        if donor is None:
            return self.with_.predict(X, self.tau_) - self.without_.predict(X, self.tau_)
        return self._by_type().predict(X, donor) - self.without_.predict(X, self.tau_)

    def scores(self, candidates: TableLike) -> FloatArray:
        """Predict the life-years gained with a donor of each type, if `with_transplant` is a `DonorTypeRanker`."""
        return self._by_type().scores(candidates) - self.without_.predict(candidates, self.tau_)[:, None]

    def lookup(self, donors: Donors) -> IntArray:
        """Return the column of `scores` that is each donor's list."""
        return self._by_type().lookup(donors)

    @property
    def knows_types(self) -> bool:
        """Whether there are donor types for `scores` and `lookup`."""
        return isinstance(self.with_.model if hasattr(self, "with_") else self.with_transplant, DonorTypeRanker)

    def _by_type(self) -> DonorTypeRanker:
        check_is_fitted(self)
        if not self.knows_types:
            raise UnsupportedModelError(
                "with_transplant has no donor types: make it a DonorTypeRanker, or call predict(X)"
            )
        return cast("DonorTypeRanker", self.with_.model)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "without_")


@dataclass(frozen=True, eq=False)
class LifeModel:
    """A fitted model of life, its columns, and the preprocessor of tables that it cannot read itself."""

    model: Any
    columns: list[str] | None = None
    preprocessor: TablePreprocessor | None = None

    def predict(self, X: TableLike, tau: float) -> FloatArray:
        """Return E[min(T, τ)|x] of each row."""
        matrix = self._matrix(X)
        if np.isclose(_read_horizon(self.model), tau) or not hasattr(self.model, "predict_curves"):
            return np.asarray(self.model.predict(matrix), dtype=float)
        return np.asarray(self.model.predict_curves(matrix).restricted_mean(tau))

    def has_step_curves(self) -> bool:
        """Return whether its curves are steps, which keep their last value."""
        return bool(getattr(self.model, "interpolation", "step") == "step")

    def _matrix(self, X: TableLike) -> TableLike:
        table = as_pandas(X)
        columns = self.columns if self.columns is not None else getattr(self.model, "feature_names_in_", None)
        if table is not None and columns is not None and not isinstance(self.model, DonorTypeRanker):
            absent = [str(name) for name in columns if name not in table]
            if absent:
                raise DataError(
                    f"the table lacks columns that {type(self.model).__name__} needs: {list_values(absent)}"
                )
            X = table[list(columns)]
        return X if self.preprocessor is None else self.preprocessor.transform(X)


def _read_horizon(model: object) -> float:
    """Return the horizon of a fitted model; NaN if it has none."""
    tau = getattr(model, "tau_", getattr(model, "tau", None))
    return float("nan") if tau is None else float(tau)


def _read_outcome(X: TableLike | None, y: OutcomeLike | None, name: str) -> Outcome | None:
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise RequestError(f"the table and {name} must be passed together, or neither")
    outcome, n_rows = as_outcome(y), len(cast("Sized", X))
    if n_rows != len(outcome):
        raise DataError(
            f"the table has {n_rows} rows and {name} has {len(outcome)}: there must be one outcome for each"
        )
    return outcome


def _check_fitted(model: object, name: str, data: str) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise RequestError(f"{name} is not fitted", hint=f"Fit it before, or pass {data} to fit.") from None


def _fit_model(model: object, X: TableLike | None, y: Outcome | None, tau: float, seed: int) -> LifeModel:
    """Return a copy fitted to the data; or the model itself, if there are none."""
    if y is None:
        own, name = _read_horizon(model), type(model).__name__
        if not np.isclose(own, tau) and not hasattr(model, "predict_curves"):
            raise RequestError(
                f"{name} was fitted with the horizon {own:g}, not {tau:g}, and has no curves", hint="Fit it again."
            )
        return LifeModel(model)
    copy = clone_ranker(model, tau, seed)
    table = as_pandas(X)
    columns = None if table is None else list(table.columns)
    preprocessor = None
    if isinstance(copy, SurvivalModel) and table is not None and not _is_numeric(table):
        preprocessor = TablePreprocessor().fit(table)  # rankers make their own matrices; models take only numbers
        X = preprocessor.transform(table)
    return LifeModel(copy.fit(X, y), columns, preprocessor)


def _is_numeric(table: pd.DataFrame) -> bool:
    numeric = all(pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in table.dtypes)
    return numeric and not table.isna().to_numpy().any()
