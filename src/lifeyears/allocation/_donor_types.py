"""DonorTypeRanker: a predictor for each representative type of donor (section 3.2, on sequential matching)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._frames import as_pandas
from .._threads import one_thread
from ..checks import is_number
from ..data import TablePreprocessor
from ..metrics import concordance_index
from ..outcome import Outcome
from ..ranking import BootstrappedRanker
from ._fitting import checked_pairs, fresh, horizon, present
from ._sharing import estimated_prior, held_out_years, own_weights, stratified_folds
from ._typing_donors import DonorTypes

DONOR = "donor_"
# What belongs to a pair, not to a candidate, in the registry's tables: not known before there is a donor.
PAIR_COLUMNS = (
    "ischemic_hours",
    "distance_nm",
    "hla_mismatches",
    "heart_mass_ratio",
    "weight_ratio",
    "age_difference",
    "sex_match",
    "blood_match",
)


class DonorTypeRanker(BaseEstimator):
    """A predictor for each type of donor, so that a match run is a look-up.

    Organs come one after another, and what a candidate gains depends on the donor. Donors are grouped into
    representative types; each type has a predictor of life from the candidate's features alone. All candidates are
    scored for all types once (`scores`); when a donor comes, the column of the donor's type is the list.

    *Sharing strength.* One predictor is trained on all pairs, with the donor's type among its features: it knows what
    holds for all types, and how types differ on the whole. Another is trained on the pairs of each type alone: it knows
    what is particular to the type, as well as its few rows allow. The score is

        (1 − w)·pooled + w·own,   w = m / (m + prior),

    with m the events among the type's pairs: the posterior mean where types scatter normally around the pooled
    predictor and an own predictor's error variance falls as 1/m. `prior` is therefore in events: a type with as many
    is believed half. By default it is estimated (empirical Bayes): the largest that predicts about as well as the best
    one, over all types, what the pooled predictor misses in the doubly robust years of rows that neither had seen.
    Infinity, which is pooling alone, is among the choices. A type with fewer than `min_events` events has no predictor
    of its own.

    What belongs to a pair (ischaemic hours, distance, tissue) is not known before there is a donor, and is not used.

    Parameters
    ----------
    ranker : estimator, optional
        `lifeyears.BootstrappedRanker`, a model of `lifeyears.models`, or what `lifeyears.models.wrap` takes; None
        means ``BootstrappedRanker(preset="paper")``. Copies of it are fitted to matrices made by `TablePreprocessor`.
    n_types : int, default 8
        How many types k-means looks for among the donors (standardised numbers, indicators of categories); the
        largest type comes first. Without effect if `types` is given.
    types : array, str or callable, optional
        The types themselves: one for each training row; the name of a column; or a function of the table of donor
        columns.
    donor_columns : sequence of str, optional
        By default those that start with ``donor_``.
    candidate_columns : sequence of str, optional
        What the predictors see; by default all columns but the donor's and the pair's (`PAIR_COLUMNS`).
    prior : float, optional
        See above; None means estimated. 0 believes each type alone, infinity the pooled predictor alone.
    folds : int, default 3
        For estimating the prior: everything is fitted once more for each.
    min_events : int, default 50
    tau : float, optional
        The horizon; None means the ranker's, else the largest training time.
    random_state : int, RandomState or None

    Attributes
    ----------
    types_ : array
        Labels of the types, in the order of the columns of `scores`.
    report_ : DataFrame
        One row a type: `rows`, `events`, `weight` (w; 0 where the type has no predictor of its own).
    prior_ : float
    representatives_ : DataFrame or None
        Of each type the training donor nearest to the centre of the type.
    pooled_, own_ : fitted ranker, dict of type's position to fitted ranker
    tau_ : float

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> f = DonorTypeRanker(ly.models.Cox(), n_types=3, tau=10, prior=200, random_state=0).fit(d.X, d.y)
    >>> waiting = d.X.iloc[:20]
    >>> scores = f.scores(waiting)                            # once
    >>> scores.shape
    (20, 3)
    >>> donor = d.X.iloc[[50]]
    >>> bool((scores[:, f.lookup(donor)[0]] == f.predict(waiting, donor)).all())
    True
    """

    def __init__(
        self,
        ranker: Any = None,
        n_types: int = 8,
        types: Any = None,
        donor_columns: Sequence[Any] | None = None,
        candidate_columns: Sequence[Any] | None = None,
        prior: float | None = None,
        folds: int = 3,
        min_events: int = 50,
        tau: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.ranker = ranker
        self.n_types = n_types
        self.types = types
        self.donor_columns = donor_columns
        self.candidate_columns = candidate_columns
        self.prior = prior
        self.folds = folds
        self.min_events = min_events
        self.tau = tau
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the types and fit the predictors.

        Parameters
        ----------
        X : DataFrame (pandas or polars)
            Pairs of a candidate and a donor, with names for the columns.
        y : Outcome or what `lifeyears.as_outcome` reads
            Life after transplant.

        Returns
        -------
        self
        """
        table, y = checked_pairs(X, y, type(self).__name__)
        self._check_settings()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.tau_ = horizon(self.tau, self._ranker(), y)
        self.n_features_in_, self.feature_names_in_ = table.shape[1], np.asarray(table.columns, dtype=object)
        self.donor_types_ = DonorTypes(self._donor_columns(table), self.types)
        position = self.donor_types_.fit(table, self.n_types, seed)
        self.types_, self.representatives_ = self.donor_types_.labels, self.donor_types_.representatives
        self.candidate_columns_ = self._candidate_columns(table)
        self.preprocessor_ = TablePreprocessor().fit(table[self.candidate_columns_])
        with one_thread():
            matrix = self.preprocessor_.transform(table[self.candidate_columns_])
            self.prior_ = float(self.prior) if self.prior is not None else self._estimated(matrix, y, position, seed)
            rows = np.arange(len(y))
            self.pooled_, self.own_ = self._fitted(matrix, y, position, rows, seed, with_own=not np.isinf(self.prior_))
        counts = [np.bincount(position, minlength=len(self.types_)), self._events(y, position)]
        weights = own_weights(counts[1], self.prior_)
        weights[[each for each in range(len(weights)) if each not in self.own_]] = 0.0
        self.report_ = pd.DataFrame(
            {"rows": counts[0], "events": counts[1], "weight": weights}, index=pd.Index(self.types_, name="type")
        )
        return self

    def scores(self, candidates: Any) -> np.ndarray:
        """Expected years of each candidate with a donor of each type.

        Parameters
        ----------
        candidates : DataFrame
            With the columns that the predictors see (`candidate_columns_`); others are not looked at.

        Returns
        -------
        array, shape (n_candidates, n_types)
            In the order of `types_`; `lookup` tells the column of a donor.
        """
        matrix = self._matrix(candidates)
        return np.column_stack([self._scored(matrix, position) for position in range(len(self.types_))])

    def predict(self, candidates: Any, donor: Any = None) -> np.ndarray:
        """Expected years of each candidate with a donor.

        Parameters
        ----------
        candidates : DataFrame
        donor : DataFrame, Series, dict or type, optional
            One donor for all (a table of one row, a row, a type), or one for each candidate. Without it `candidates`
            is a table of pairs, which has the donors' columns too.

        Returns
        -------
        array, shape (n_candidates,)
        """
        matrix = self._matrix(candidates)
        position = self.lookup(as_pandas(candidates) if donor is None else donor)
        if len(position) not in (1, len(matrix)):
            raise ValueError(f"there are {len(matrix)} candidates and {len(position)} donors; give one, or one each")
        position = np.broadcast_to(position, len(matrix))
        years = np.empty(len(matrix))
        for each in np.unique(position):
            rows = position == each
            years[rows] = self._scored(matrix[rows], int(each))
        return years

    def lookup(self, donors: Any) -> np.ndarray:
        """The column of `scores` that is each donor's list.

        Parameters
        ----------
        donors : DataFrame, Series, dict, or types
        """
        check_is_fitted(self)
        return self.donor_types_.positions(donors)

    def score(self, X: Any, y: Any) -> float:
        """C-index of pairs, for scikit-learn's tools; see `lifeyears.metrics` for better."""
        return concordance_index(y, self.predict(X))

    # how it is fitted

    def _fitted(
        self, matrix: np.ndarray, y: Outcome, position: np.ndarray, rows: np.ndarray, seed: int, with_own: bool = True
    ) -> tuple[Any, dict[int, Any]]:
        """The pooled predictor and those of the types with enough events, trained on some rows."""
        pooled = fresh(self._ranker(), self.tau_, seed).fit(self._with_type(matrix[rows], position[rows]), y[rows])
        own = {}
        for each, events in enumerate(self._events(y[rows], position[rows])):
            members = rows[position[rows] == each]
            if with_own and events >= max(self.min_events, 1):
                own[each] = fresh(self._ranker(), self.tau_, seed).fit(matrix[members], y[members])
        return pooled, own

    def _estimated(self, matrix: np.ndarray, y: Outcome, position: np.ndarray, seed: int) -> float:
        years, pooled, own, events = np.empty((4, len(y)))
        own[:] = np.nan
        if max(self._events(y, position)) * (self.folds - 1) / self.folds < self.min_events:
            return float("inf")  # no type can have a predictor of its own while a fold is held out
        for train, test in stratified_folds(2 * position + y.event, self.folds, seed):
            everybody, each_type = self._fitted(matrix, y, position, train, seed)
            pooled[test] = everybody.predict(self._with_type(matrix[test], position[test]))
            years[test] = held_out_years(self._with_type(matrix, position), y, train, test, self.tau_)
            events[test] = self._events(y[train], position[train])[position[test]]
            for each, ranker in each_type.items():
                members = test[position[test] == each]
                if len(members):
                    own[members] = ranker.predict(matrix[members])
        return estimated_prior(years, pooled, own, events)

    def _events(self, y: Outcome, position: np.ndarray) -> np.ndarray:
        return np.bincount(position[y.event], minlength=len(self.types_))

    def _ranker(self) -> Any:
        return BootstrappedRanker(preset="paper") if self.ranker is None else self.ranker

    def _with_type(self, matrix: np.ndarray, position: np.ndarray) -> np.ndarray:
        return np.column_stack([matrix, position[:, None] == np.arange(len(self.types_))])

    def _donor_columns(self, table: pd.DataFrame) -> list:
        if self.donor_columns is None:
            return [name for name in table.columns if str(name).startswith(DONOR)]
        return present(self.donor_columns, table, "donor_columns")

    def _candidate_columns(self, table: pd.DataFrame) -> list:
        if self.candidate_columns is not None:
            return present(self.candidate_columns, table, "candidate_columns")
        others = {*self.donor_types_.columns, *PAIR_COLUMNS}
        if isinstance(self.types, str):
            others.add(self.types)
        columns = [name for name in table.columns if name not in others]
        if not columns:
            raise ValueError("no columns are left for the candidates: all belong to the donor or to the pair")
        return columns

    def _check_settings(self) -> None:
        for name, least in (("n_types", 1), ("folds", 2), ("min_events", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(f"{name} must be a whole number from {least} on; got {value!r}")
        if self.prior is not None and not (is_number(self.prior) and self.prior >= 0):
            raise ValueError(f"prior must be a number of events from 0 on, or None; got {self.prior!r}")

    # what it says

    def _matrix(self, candidates: Any) -> np.ndarray:
        check_is_fitted(self)
        table = as_pandas(candidates)
        if table is None:
            raise ValueError("candidates must be a DataFrame with the columns it had in training")
        absent = [str(name) for name in self.candidate_columns_ if name not in table]
        if absent:
            raise ValueError(
                f"the candidates lack columns they had in training: {', '.join(absent)}. Add them, or train without "
                "(candidate_columns)"
            )
        return self.preprocessor_.transform(table[self.candidate_columns_])

    def _scored(self, matrix: np.ndarray, position: int) -> np.ndarray:
        pooled = self.pooled_.predict(self._with_type(matrix, np.full(len(matrix), position)))
        weight = float(self.report_["weight"].iloc[position])
        return pooled if not weight else (1 - weight) * pooled + weight * self.own_[position].predict(matrix)

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
