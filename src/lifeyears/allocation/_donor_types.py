"""DonorTypeRanker: a predictor for each representative type of donor (section 3.2, on sequential matching)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._frames import as_pandas
from .._threads import one_thread
from .._typing import FloatArray, IntArray
from ..checks import check_whole, is_number
from ..data import TablePreprocessor
from ..errors import DataError, Message, RequestError, Setting
from ..metrics import concordance_index
from ..outcome import Outcome
from ..ranking import BootstrappedRanker
from ..text import list_values
from ._fitting import check_columns, check_pairs, choose_horizon, clone_ranker
from ._grouping import DonorTypes
from ._sharing import compute_weights, draw_type_folds, estimate_held_out_years, estimate_prior

if TYPE_CHECKING:
    from .._typing import RandomState, TableLike
    from ..outcome import OutcomeLike
    from ._grouping import Donors, TypeSource

DONOR = "donor_"
# Columns of a pair, not of a candidate, in the registry's tables: unknown before there is a donor.
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

    Organs arrive one after another, and a candidate's benefit depends on the donor. Donors are grouped into
    representative types; each type has a predictor of life from the candidate's features alone. All candidates are
    scored for all types once (`scores`); when a donor arrives, the column of the donor's type is the list.

    *Partial pooling.* One predictor is trained on all pairs, with the donor's type among its features: it learns what
    holds for all types, and how types differ on average. Another is trained on the pairs of each type alone: it learns
    what is particular to the type, as well as its few rows allow. The score is

        (1 − w)·pooled + w·own,   w = m / (m + prior),

    with m the number of events among the type's pairs: the posterior mean if types vary normally around the pooled
    predictor and the error variance of an own predictor decreases as 1/m. `prior` is therefore in events: a type with
    as many gets a weight of one half. By default it is estimated (empirical Bayes): the largest that predicts about as
    well as the best one, over all types, the residuals of the pooled predictor in the doubly robust years of held-out
    rows. Infinity, which is complete pooling, is among the choices. A type with fewer than `min_events` events has no
    predictor of its own.

    Columns of a pair (ischaemic time, distance, tissue match) are unknown before there is a donor, and are not used.

    Parameters
    ----------
    ranker : estimator, optional
        `lifeyears.BootstrappedRanker`, a model of `lifeyears.models`, or one that `lifeyears.models.wrap` accepts; None
        means ``BootstrappedRanker()``. Copies of it are fitted to matrices made by `TablePreprocessor`.
    n_types : int, default 8
        Number of clusters of donors (k-means on standardised numbers and indicators of categories); the largest comes
        first. Ignored if `types` is given.
    types : array, str or callable, optional
        The types themselves: one for each training row; the name of a column; or a function of the table of donor
        columns.
    donor_columns : sequence of str, optional
        Columns of the donor; by default those that start with ``donor_``.
    candidate_columns : sequence of str, optional
        Features of the predictors; by default all columns but those of the donor and of the pair (`PAIR_COLUMNS`).
    prior : float, optional
        Number of events at which a type's own predictor has a weight of one half; None means estimated. 0 uses each
        type alone, infinity the pooled predictor alone.
    folds : int, default 3
        Number of folds for estimating the prior: everything is fitted once more for each.
    min_events : int, default 50
        Fewest events of a type with a predictor of its own.
    tau : float, optional
        The horizon; None means the ranker's, else the largest training time.
    random_state : int, RandomState or None
        Seed of all random choices.

    Attributes
    ----------
    types_ : array
        Labels of the types, in the order of the columns of `scores`.
    report_ : DataFrame
        One row per type: `rows`, `events`, `weight` (w; 0 where the type has no predictor of its own).
    prior_ : float
    representatives_ : DataFrame or None
        For each type, the training donor nearest to its centre.
    pooled_, own_ : fitted ranker, dict of a type's position to fitted ranker
    tau_ : float

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> ranker = DonorTypeRanker(ly.models.Cox(), n_types=3, tau=10, prior=200, random_state=0).fit(d.X, d.y)
    >>> waiting = d.X.iloc[:20]
    >>> scores = ranker.scores(waiting)                       # once
    >>> scores.shape
    (20, 3)
    >>> donor = d.X.iloc[[50]]
    >>> bool((scores[:, ranker.lookup(donor)[0]] == ranker.predict(waiting, donor)).all())
    True
    """

    def __init__(
        self,
        ranker: object | None = None,
        n_types: int = 8,
        types: TypeSource | None = None,
        donor_columns: Sequence[str] | None = None,
        candidate_columns: Sequence[str] | None = None,
        prior: float | None = None,
        folds: int = 3,
        min_events: int = 50,
        tau: float | None = None,
        random_state: RandomState = None,
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

    def fit(self, X: TableLike, y: OutcomeLike) -> Self:
        """Determine the types and fit the predictors.

        Parameters
        ----------
        X : DataFrame (pandas or polars)
            Pairs of a candidate and a donor, with named columns.
        y : Outcome or what `lifeyears.as_outcome` reads
            Life after transplant.

        Returns
        -------
        self
        """
        table, outcome = check_pairs(X, y, type(self).__name__)
        self._check_settings()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.tau_ = choose_horizon(self.tau, self._ranker(), outcome)
        self.n_features_in_, self.feature_names_in_ = table.shape[1], np.asarray(table.columns, dtype=object)
        self.donor_types_ = DonorTypes(self._find_donor_columns(table), self.types)
        position = self.donor_types_.fit(table, self.n_types, seed)
        self.types_, self.representatives_ = self.donor_types_.labels, self.donor_types_.representatives
        self.candidate_columns_ = self._find_candidate_columns(table)
        self.preprocessor_ = TablePreprocessor().fit(table[self.candidate_columns_])
        with one_thread():
            matrix = np.asarray(self.preprocessor_.transform(table[self.candidate_columns_]))
            if self.prior is not None:
                self.prior_ = float(self.prior)
            else:
                self.prior_ = self._estimate_prior(matrix, outcome, position, seed)
            rows, with_own = np.arange(len(outcome)), not np.isinf(self.prior_)
            self.pooled_, self.own_ = self._fit_rows(matrix, outcome, position, rows, seed, with_own)
        counts = [np.bincount(position, minlength=len(self.types_)), self._count_events(outcome, position)]
        weights = compute_weights(counts[1], self.prior_)
        weights[[each for each in range(len(weights)) if each not in self.own_]] = 0.0
        self.report_ = pd.DataFrame(
            {"rows": counts[0], "events": counts[1], "weight": weights}, index=pd.Index(self.types_, name="type")
        )
        return self

    def scores(self, candidates: TableLike) -> FloatArray:
        """Predict the expected years of each candidate with a donor of each type.

        Parameters
        ----------
        candidates : DataFrame
            With the features of the predictors (`candidate_columns_`); other columns are ignored.

        Returns
        -------
        array, shape (n_candidates, n_types)
            In the order of `types_`; `lookup` returns the column of a donor.
        """
        matrix = self._matrix(candidates)
        return np.column_stack([self._score_type(matrix, position) for position in range(len(self.types_))])

    def predict(self, candidates: TableLike, donor: Donors | None = None) -> FloatArray:
        """Predict the expected years of each candidate with a donor.

        Parameters
        ----------
        candidates : DataFrame
        donor : DataFrame, Series, dict or type, optional
            One donor for all (a table of one row, a row, a type), or one for each candidate. Without it `candidates`
            is a table of pairs, with the columns of the donors too.

        Returns
        -------
        array, shape (n_candidates,)
        """
        matrix = self._matrix(candidates)
        position = self.lookup(as_pandas(candidates) if donor is None else donor)
        if len(position) not in (1, len(matrix)):
            raise DataError(
                f"there are {len(matrix)} candidates and {len(position)} donors; expected one donor, or one for each"
            )
        position = np.broadcast_to(position, len(matrix))
        years = np.empty(len(matrix))
        for each in np.unique(position):
            rows = position == each
            years[rows] = self._score_type(matrix[rows], int(each))
        return years

    def lookup(self, donors: Donors) -> IntArray:
        """Return the column of `scores` that is each donor's list.

        Parameters
        ----------
        donors : DataFrame, Series, dict, or types
        """
        check_is_fitted(self)
        return self.donor_types_.find_positions(donors)

    def score(self, X: TableLike, y: OutcomeLike) -> float:
        """Return the C-index of pairs, for scikit-learn's tools; `lifeyears.metrics` has better measures."""
        return concordance_index(y, self.predict(X))

    def _fit_rows(
        self,
        matrix: FloatArray,
        y: Outcome,
        position: IntArray,
        rows: IntArray,
        seed: int,
        with_own: bool = True,
    ) -> tuple[Any, dict[int, Any]]:
        """Fit the pooled predictor and those of the types with enough events, to some rows."""
        pooled = clone_ranker(self._ranker(), self.tau_, seed)
        pooled.fit(self._append_type(matrix[rows], position[rows]), y[rows])
        own = {}
        for each, events in enumerate(self._count_events(y[rows], position[rows])):
            members = rows[position[rows] == each]
            if with_own and events >= max(self.min_events, 1):
                own[each] = clone_ranker(self._ranker(), self.tau_, seed).fit(matrix[members], y[members])
        return pooled, own

    def _estimate_prior(self, matrix: FloatArray, y: Outcome, position: IntArray, seed: int) -> float:
        years, pooled, own, events = np.empty((4, len(y)))
        own[:] = np.nan
        if max(self._count_events(y, position)) * (self.folds - 1) / self.folds < self.min_events:
            return float("inf")  # no type can have a predictor of its own while a fold is held out
        for train, test in draw_type_folds(position, y.event, self.folds, seed):
            pooled_ranker, own_rankers = self._fit_rows(matrix, y, position, train, seed)
            pooled[test] = pooled_ranker.predict(self._append_type(matrix[test], position[test]))
            years[test] = estimate_held_out_years(self._append_type(matrix, position), y, train, test, self.tau_)
            events[test] = self._count_events(y[train], position[train])[position[test]]
            for each, ranker in own_rankers.items():
                members = test[position[test] == each]
                if len(members):
                    own[members] = ranker.predict(matrix[members])
        return estimate_prior(years, pooled, own, events)

    def _count_events(self, y: Outcome, position: IntArray) -> IntArray:
        return np.bincount(position[y.event], minlength=len(self.types_))

    def _ranker(self) -> object:
        return BootstrappedRanker() if self.ranker is None else self.ranker

    def _append_type(self, matrix: FloatArray, position: IntArray) -> FloatArray:
        return np.column_stack([matrix, position[:, None] == np.arange(len(self.types_))])

    def _find_donor_columns(self, table: pd.DataFrame) -> list[str]:
        if self.donor_columns is None:
            return [name for name in table.columns if str(name).startswith(DONOR)]
        return check_columns(self.donor_columns, table, "donor_columns")

    def _find_candidate_columns(self, table: pd.DataFrame) -> list[str]:
        if self.candidate_columns is not None:
            return check_columns(self.candidate_columns, table, "candidate_columns")
        others = {*self.donor_types_.columns, *PAIR_COLUMNS}
        if isinstance(self.types, str):
            others.add(self.types)
        columns = [name for name in table.columns if name not in others]
        if not columns:
            raise DataError("no columns are left for the candidates: all belong to the donor or to the pair")
        return columns

    def _check_settings(self) -> None:
        for name, low in (("n_types", 1), ("folds", 2), ("min_events", 0)):
            check_whole(name, getattr(self, name), low)
        if self.prior is not None and not (is_number(self.prior) and self.prior >= 0):
            raise RequestError(f"prior must be a number of events, at least 0, or None; got {self.prior!r}")

    def _matrix(self, candidates: TableLike) -> FloatArray:
        check_is_fitted(self)
        table = as_pandas(candidates)
        if table is None:
            raise DataError("candidates must be a DataFrame with the columns it had in training")
        absent = [str(name) for name in self.candidate_columns_ if name not in table]
        if absent:
            raise DataError(
                f"the candidates lack columns that they had in training: {list_values(absent)}",
                hint=Message("Add them, or train without them by ", Setting("candidate_columns"), "."),
            )
        return np.asarray(self.preprocessor_.transform(table[self.candidate_columns_]))

    def _score_type(self, matrix: FloatArray, position: int) -> FloatArray:
        pooled = self.pooled_.predict(self._append_type(matrix, np.full(len(matrix), position)))
        weight = float(self.report_["weight"].iloc[position])
        if not weight:
            return np.asarray(pooled)
        return np.asarray((1 - weight) * pooled + weight * self.own_[position].predict(matrix))

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
