"""Life-years gained: expected life with a transplant less expected life without."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._frames import as_pandas
from ..data import TablePreprocessor
from ..models import SurvivalModel, WeibullAFT
from ..outcome import Outcome, as_outcome
from ..ranking import BootstrappedRanker
from ._donor_types import DonorTypeRanker
from ._fitting import fresh, horizon


class LifeYearsGained(BaseEstimator):
    """What a transplant adds: expected life with it less expected life on the waitlist without it, within τ.

    Ranking by life after transplant alone favours those who would live long anyway. This target asks what the organ
    changes: LYG(x) = E[min(T, τ) | x, transplant now] − E[min(T, τ) | x, no transplant]. It can be negative.

    The second term is from a model of the waitlist: time from listing (or from any day on which the features hold) to
    death without a transplant. Patients who are transplanted, or leave the list, are censored that day. The sickest are
    transplanted first, so censoring hangs on the features: those that decide on priority must be among them. Few
    are followed for long; a step curve (Cox, Kaplan–Meier) keeps its last value beyond the last time, which overstates
    life without a transplant and is warned of. The default, Weibull, goes on falling, by assumption.

    Parameters
    ----------
    with_transplant : estimator, optional
        `lifeyears.BootstrappedRanker`, a model of `lifeyears.models`, `DonorTypeRanker`; None means
        ``BootstrappedRanker(preset="paper")``. A fitted one is used as it is unless `fit` is given transplants.
    without_transplant : survival model, optional
        None means ``WeibullAFT()``. A fitted one is used as it is unless `fit` is given a waitlist.
    tau : float, optional
        The horizon of both; None means that of `with_transplant`, else the largest time after transplant.
    random_state : int, RandomState or None

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
    >>> years.fit(x, ([1, 1], [8.0, 10.0]), x, ([1, 1], [1.0, 10.0])).predict(x)      # 9 less 5.5
    array([3.5, 3.5])
    """

    def __init__(
        self,
        with_transplant: Any = None,
        without_transplant: Any = None,
        tau: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.with_transplant = with_transplant
        self.without_transplant = without_transplant
        self.tau = tau
        self.random_state = random_state

    def fit(self, X: Any = None, y: Any = None, X_waitlist: Any = None, y_waitlist: Any = None) -> Self:
        """Fit both models.

        Parameters
        ----------
        X, y : table and outcome
            Transplanted patients (with donor and pair columns, if the model is to know them), and life from transplant.
            Without them `with_transplant` must be fitted already.
        X_waitlist, y_waitlist : table and outcome
            Waitlisted patients, and life without a transplant. Without them `without_transplant` must be fitted
            already.

        Returns
        -------
        self
        """
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        y = _outcome_of(X, y, "y")
        y_waitlist = _outcome_of(X_waitlist, y_waitlist, "y_waitlist")
        given = BootstrappedRanker(preset="paper") if self.with_transplant is None else self.with_transplant
        waiting = WeibullAFT() if self.without_transplant is None else self.without_transplant
        if y is None:
            _check_fitted(given, "with_transplant", "X and y")
        if y_waitlist is None:
            _check_fitted(waiting, "without_transplant", "X_waitlist and y_waitlist")
        self.tau_ = horizon(self.tau, given, y)
        self.with_ = _ready(given, X, y, self.tau_, seed)
        self.without_ = _ready(waiting, X_waitlist, y_waitlist, self.tau_, seed)
        if y_waitlist is not None and y_waitlist.time.max() < self.tau_ and self.without_.steps():
            warnings.warn(
                f"nobody on the waitlist was followed beyond {y_waitlist.time.max():g}, and tau is {self.tau_:g}: the "
                f"curves of {type(waiting).__name__} stay where they are from there on, so that life without a "
                "transplant comes out too long. Use WeibullAFT, or a shorter tau",
                stacklevel=2,
            )
        return self

    def predict(self, X: Any, donor: Any = None) -> np.ndarray:
        """Years gained by each candidate.

        Parameters
        ----------
        X : table
            Candidates, with the columns of both models, told by their names.
        donor : optional
            For a `DonorTypeRanker`: as in its `predict`.
        """
        check_is_fitted(self)
        if donor is None:
            return self.with_.expected(X, self.tau_) - self.without_.expected(X, self.tau_)
        return self._by_type().predict(X, donor) - self.without_.expected(X, self.tau_)

    def scores(self, candidates: Any) -> np.ndarray:
        """Years gained by each candidate with a donor of each type, if `with_transplant` is a `DonorTypeRanker`."""
        return self._by_type().scores(candidates) - self.without_.expected(candidates, self.tau_)[:, None]

    def lookup(self, donors: Any) -> np.ndarray:
        """The column of `scores` that is each donor's list."""
        return self._by_type().lookup(donors)

    @property
    def knows_types(self) -> bool:
        """Whether `scores` and `lookup` have types of donors to go by."""
        return isinstance(self.with_.model if hasattr(self, "with_") else self.with_transplant, DonorTypeRanker)

    def _by_type(self) -> DonorTypeRanker:
        check_is_fitted(self)
        if not self.knows_types:
            raise TypeError("with_transplant knows no donor types: make it a DonorTypeRanker, or call predict(X)")
        return self.with_.model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "without_")


@dataclass(frozen=True, eq=False)
class Life:
    """A fitted model, the columns it was given, and how they become what it takes."""

    model: Any
    columns: list | None = None
    preprocessor: TablePreprocessor | None = None

    def expected(self, X: Any, tau: float) -> np.ndarray:
        """E[min(T, τ)|x] of each row."""
        matrix = self._matrix(X)
        if np.isclose(_own_horizon(self.model), tau) or not hasattr(self.model, "predict_curves"):
            return np.asarray(self.model.predict(matrix), dtype=float)
        return self.model.predict_curves(matrix).restricted_mean(tau)

    def steps(self) -> bool:
        """Whether its curves are steps, which keep their last value."""
        return getattr(self.model, "interpolation", "step") == "step"

    def _matrix(self, X: Any) -> Any:
        table = as_pandas(X)
        columns = self.columns if self.columns is not None else getattr(self.model, "feature_names_in_", None)
        if table is not None and columns is not None and not isinstance(self.model, DonorTypeRanker):
            absent = [str(name) for name in columns if name not in table]
            if absent:
                raise ValueError(f"the table lacks columns that {type(self.model).__name__} needs: {', '.join(absent)}")
            X = table[list(columns)]
        return X if self.preprocessor is None else self.preprocessor.transform(X)


def _own_horizon(model: Any) -> float:
    """The horizon of a fitted model; NaN if it does not say."""
    own = getattr(model, "tau_", getattr(model, "tau", None))
    return float("nan") if own is None else float(own)


def _outcome_of(X: Any, y: Any, name: str) -> Outcome | None:
    if (X is None) != (y is None):
        raise ValueError(f"give both the table and {name}, or neither")
    if y is None:
        return None
    y = as_outcome(y)
    if len(X) != len(y):
        raise ValueError(f"the table has {len(X)} rows and {name} has {len(y)}: there must be one outcome for each")
    return y


def _check_fitted(model: Any, name: str, data: str) -> None:
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ValueError(f"{name} is not fitted: fit it before, or pass {data} to fit") from None


def _ready(model: Any, X: Any, y: Outcome | None, tau: float, seed: int) -> Life:
    """A copy fitted to the data; or the model itself, if there are none."""
    if y is None:
        own, name = _own_horizon(model), type(model).__name__
        if not np.isclose(own, tau) and not hasattr(model, "predict_curves"):
            raise ValueError(f"{name} was fitted with the horizon {own:g}, not {tau:g}, and has no curves: fit it anew")
        return Life(model)
    model = fresh(model, tau, seed)
    table = as_pandas(X)
    columns = None if table is None else list(table.columns)
    preprocessor = None
    if isinstance(model, SurvivalModel) and table is not None and not _all_numbers(table):
        preprocessor = TablePreprocessor().fit(table)  # rankers make their own matrices; models take numbers alone
        X = preprocessor.transform(table)
    return Life(model.fit(X, y), columns, preprocessor)


def _all_numbers(table: pd.DataFrame) -> bool:
    numeric = all(pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in table.dtypes)
    return numeric and not table.isna().to_numpy().any()
