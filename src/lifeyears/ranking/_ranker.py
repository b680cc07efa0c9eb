"""BootstrappedRanker: a survival model retrained for the top of the list (section 5, appendix E)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._frames import as_pandas
from .._threads import available_threads, one_thread
from .._typing import FloatArray
from ..checks import check_choice
from ..curves import SurvivalCurves
from ..data import TablePreprocessor
from ..errors import DataError, Message, RequestError, Setting, UnsupportedModelError
from ..metrics import concordance_index
from ..outcome import Outcome, as_outcome, resolve_horizon
from ._curves import rescale_curves
from ._fitting import RankerFit, RankerFitter, Shared
from ._rows import check_relevance, is_relevance
from ._settings import Settings, resolve_settings
from .explanations import Explanation, explain_matrix
from .trees import HazardTrees, YearsTrees

if TYPE_CHECKING:
    import lightgbm
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import RandomState, TableLike
    from ..outcome import OutcomeLike, resolve_horizon


class BootstrappedRanker(BaseEstimator):
    """A survival model retrained for the top of the list.

    Stage 1 fits the base model and imputes censored lifetimes: pseudo-labels. Stage 2 learns to rank by them.
    ``preset="paper"`` is the paper's method: one LightGBM model with squared error and a hinge weighted by the change
    in NDCG, over query groups that are redrawn at every round, with the settings of its Table A1.
    ``preset="default"`` performed best in our experiments (docs/method.md): boosted years, boosted hazards and hazards
    along linear splines, cross-fitted over five folds, averaged, and weighted beside the base model by doubly robust
    outcomes of rows they were not fitted to. Where the top of its list is clearly worse than the base model's, the base
    model is used alone.

    Parameters
    ----------
    base : survival model, optional
        Any model of `lifeyears.models`, or one that `lifeyears.models.wrap` accepts; None means Cox. It is fitted to
        the matrix that `preprocessor_` makes, without column names.
    tau : float, optional
        The horizon; None means the largest training time.
    preset : {"default", "paper"}, default "default"
        Source of the hyperparameters below that are None.
    second_stage : {"gbdt", "mlp"}, default "gbdt"
        Boosted trees, or a neural network (needs torch) with the same loss. The network ignores LightGBM's settings.
    label : {"ey", "dr"}, optional
        Pseudo-labels: the paper's (expected years), or doubly robust ones. The latter may lie outside [0, τ]; within
        the change in NDCG they are clipped to it.
    cross_fit_base : bool, optional
        Whether the label of a row comes from a base model that was fitted without the row. That model may have seen
        rows of the fold in which members are assessed: with doubly robust labels this hardly matters; with "ey" and a
        base that overfits (a forest), the trees get somewhat too much weight (measured on noise: a correlation of 0.07
        instead of 0.02).
    censoring : survival model, optional
        Model of the censoring times, for doubly robust labels and outcomes; None means Cox.
    members : sequence of {"base", "years", "hazard", "lines", "pairs"}, optional
        What the ranker is a weighted sum of: the base model's years; the paper's second stage ("years"); boosted
        partial likelihoods ("hazard"); hazards along linear splines ("lines"), and these with spline interactions
        ("pairs"), both with empirical-Bayes prior variances.
    folds : int, optional
        Number of folds for cross-fitting the members; 0 makes one fit, as in the paper.
    phases : int, optional
        Number of intervals of time with effects of their own (piecewise in time) of "lines" and "pairs"; "hazard" has
        one fewer.
    alpha, margin, group_size : optional
        Hyperparameters of the hybrid loss. The margin is in the unit of time (the paper's 1.0 is a year: with times in
        days, 365.25). ``alpha=1`` is squared error.
    learning_rate, n_estimators, num_leaves, max_depth, max_bin : optional
        Hyperparameters of LightGBM.
    min_child_samples, subsample, colsample_bytree : optional
        Hyperparameters of LightGBM.
    early_stopping_rounds, validation_fraction : optional
        For one fit (``folds=0``): stop when the hybrid loss of this share of the rows, over groups drawn once, has not
        decreased for this many rounds.
    random_state : int, RandomState or None
        Seed of all random choices.
    n_jobs : int, optional
        Number of folds fitted in parallel (in processes, from 5,000 rows on); None means one per core, or one inside a
        worker process. It does not change the result.
    verbose : bool, default False
        Whether to show progress.

    Attributes
    ----------
    base_ : fitted base model, or None if relevance was given
    tau_ : float
        The horizon.
    booster_ : lightgbm.Booster
        The second stage; of several, the first. `members_` has all.
    members_ : dict of str to list
        Fitted members, one per fold.
    pseudo_labels_ : array, shape (n,)
    report_ : RankerReport
    preprocessor_ : TablePreprocessor
        Turns tables, with categories and missing values, into a matrix.
    held_out_ : array or None
        Years predicted for training rows by members and a calibration that were fitted without them (NaN elsewhere;
        only the number of trees was chosen with them).
    held_out_outcomes_ : array or None
        Doubly robust outcomes of these rows.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> ranker = BootstrappedRanker(tau=10, preset="paper", n_estimators=5, random_state=0).fit(d.X, d.y)
    >>> ranker.predict(d.X).shape, ranker.tau_
    ((600,), 10.0)
    """

    def __init__(
        self,
        base: object | None = None,
        tau: float | None = None,
        preset: Literal["default", "paper"] = "default",
        second_stage: Literal["gbdt", "mlp"] = "gbdt",
        label: Literal["ey", "dr"] | None = None,
        cross_fit_base: bool | None = None,
        censoring: object | None = None,
        members: Sequence[str] | None = None,
        folds: int | None = None,
        phases: int | None = None,
        alpha: float | None = None,
        margin: float | None = None,
        group_size: int | None = None,
        learning_rate: float | None = None,
        n_estimators: int | None = None,
        num_leaves: int | None = None,
        max_depth: int | None = None,
        max_bin: int | None = None,
        min_child_samples: int | None = None,
        subsample: float | None = None,
        colsample_bytree: float | None = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.base = base
        self.tau = tau
        self.preset = preset
        self.second_stage = second_stage
        self.label = label
        self.cross_fit_base = cross_fit_base
        self.censoring = censoring
        self.members = members
        self.folds = folds
        self.phases = phases
        self.alpha = alpha
        self.margin = margin
        self.group_size = group_size
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.max_bin = max_bin
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: TableLike, y: OutcomeLike | ArrayLike) -> Self:
        """Fit both stages.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            Features; they may hold categories and missing values.
        y : Outcome or what `lifeyears.as_outcome` reads; or a 1-D array of numbers
            Observed times and events; or relevance itself, where nothing is censored. Then there is no base model,
            and the second stage learns to rank by relevance.

        Returns
        -------
        self
        """
        return self._fit_sharing(X, y, {})

    def _fit_sharing(self, X: TableLike, y: OutcomeLike | ArrayLike, shared: Shared) -> Self:
        """Fit both stages, taking intermediate results from `shared` or adding them to it; see `fit_together`."""
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        matrix = self._training_matrix(X, shared)
        settings = self._settings(len(matrix))
        if len(matrix) < 2:
            raise DataError(f"{type(self).__name__} needs at least two rows to rank; got n_samples = 1")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        relevance = check_relevance(cast("ArrayLike", y), len(matrix)) if is_relevance(y) else None
        outcome = None
        if relevance is not None:
            self.tau_ = float(relevance.max())
        else:
            outcome = as_outcome(y)
            if len(outcome) != len(matrix):
                raise DataError(
                    f"X has {len(matrix)} rows and y has {len(outcome)}: there must be one outcome for each"
                )
            self.tau_ = resolve_horizon(self.tau, outcome)
        fitter = RankerFitter(
            base=self.base,
            censoring=self.censoring,
            tau=self.tau_,
            settings=settings,
            network=self.second_stage == "mlp",
            literal=self.preset == "paper",
            seed=seed,
            threads=self._threads(),
            verbose=self.verbose,
            shared=shared,
        )
        with one_thread():
            if relevance is not None:
                fit = fitter.fit_relevance(matrix, relevance)
            else:
                fit = fitter.fit_outcomes(matrix, cast("Outcome", outcome))
        return self._store(fit, matrix)

    def _store(self, fit: RankerFit, matrix: FloatArray) -> Self:
        """Set the fitted attributes; `matrix` is the training matrix."""
        self.base_, self.members_, self.weights_, self.intercept_ = fit.base, fit.members, fit.weights, fit.intercept
        self.calibration_map_, self.pseudo_labels_, self.report_ = fit.calibration, fit.labels, fit.report
        self.held_out_, self.held_out_outcomes_ = fit.held_out, fit.held_out_outcomes
        self.typical_row_ = matrix.mean(axis=0)
        return self

    def predict(self, X: TableLike) -> FloatArray:
        """Predict calibrated expected years within the horizon: the scores to rank by.

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
        return self.calibration_map_(self._scores(matrix))

    def predict_curves(self, X: TableLike, times: ArrayLike | None = None) -> SurvivalCurves:
        """Predict survival curves: the base model's, with hazards scaled so that their restricted mean is `predict`.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `predict`.
        times : array, shape (m,), optional
            The grid, increasing, in the unit of the training times; by default that of the base model.

        Returns
        -------
        SurvivalCurves
            ``.survival`` is (n, m).

        Raises
        ------
        UnsupportedModelError
            If the ranker was fitted to relevance, so that there is no base model.
        """
        check_is_fitted(self)
        if self.base_ is None:
            raise UnsupportedModelError(
                "the ranker was fitted to relevance: there is no base model to take curves from"
            )
        matrix = self._matrix(X)
        years = self.calibration_map_(self._scores(matrix))
        return rescale_curves(self.base_.predict_curves, matrix, years, self.tau_, times)

    def explain(self, X: TableLike) -> Explanation:
        """Explain predictions: what each feature adds to each patient's years, and whom it moves into the top.

        Trees are explained by their Shapley values, spline hazards by their terms, and the base model by the change in
        its prediction when a feature takes its training mean, scaled to add up.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `predict`.

        Returns
        -------
        Explanation
            ``.contributions`` is (n, p), in the unit of `predict`; `.top_reasons(row)`, `.movers(k)`, `.plot(row)`.
        """
        check_is_fitted(self)
        return explain_matrix(self, self._matrix(X), X.index if hasattr(X, "index") and hasattr(X, "columns") else None)

    def score(self, X: TableLike, y: OutcomeLike | ArrayLike) -> float:
        """Return the C-index, for scikit-learn's tools; `lifeyears.metrics.make_scorer` makes better scorers."""
        if is_relevance(y):  # every pair of different relevance is comparable
            relevance = np.asarray(y, dtype=float)
            y = Outcome(relevance - relevance.min(), np.ones(len(relevance), dtype=bool))
        return concordance_index(y, self.predict(X))

    def plot_calibration(self, ax: Axes | None = None, groups: int = 10) -> Axes:
        """Draw doubly robust years of held-out rows against predicted ones, in groups, with 95% intervals."""
        from ._plots import plot_calibration

        check_is_fitted(self)
        return plot_calibration(self.held_out_, self.held_out_outcomes_, ax, groups)

    @property
    def booster_(self) -> lightgbm.Booster:
        """The LightGBM booster; of several, the first."""
        check_is_fitted(self)
        for fits in self.members_.values():
            for fit in fits:
                if isinstance(fit, YearsTrees):
                    return fit.booster
                if isinstance(fit, HazardTrees):
                    return fit.intervals[0].booster
        raise AttributeError("this ranker has no trees (see report_)")

    def _settings(self, n: int) -> Settings:
        """Return the hyperparameters for n rows: those of the preset, changed by what is not None."""
        check_choice("second_stage", self.second_stage, ("gbdt", "mlp"))
        parameters = self.get_params(deep=False)
        if self.second_stage == "mlp" and self.members is None and self.preset == "default":
            parameters["members"] = ("base", "years")  # hazards are fitted by trees only
        settings = resolve_settings(self.preset, parameters)
        if self.second_stage == "mlp" and set(settings.members) - {"base", "years"}:
            raise RequestError(
                Message(
                    "with ",
                    Setting("second_stage", "mlp"),
                    f' members may be "base" and "years"; got {settings.members!r}',
                )
            )
        if (
            self.preset == "default" and self.min_child_samples is None
        ):  # with 100 rows per leaf, small data have no split
            settings = replace(settings, min_child_samples=max(5, min(settings.min_child_samples, n // 40)))
        return settings

    def _threads(self) -> int:
        return available_threads(None if self.n_jobs is not None and self.n_jobs < 0 else self.n_jobs)

    def _scores(self, X: FloatArray) -> FloatArray:
        """Return the weighted sum, before calibration."""
        check_is_fitted(self)
        total = np.full(len(X), self.intercept_)
        if "base" in self.weights_ and self.base_ is not None:
            total += self.weights_["base"] * self.base_.predict(X)
        for name, fits in self.members_.items():
            total += self.weights_[name] * np.mean([fit.predict(X) for fit in fits], axis=0)
        return total

    def _training_matrix(self, X: TableLike, shared: Shared) -> FloatArray:
        if ("matrix",) not in shared:
            table = as_pandas(X)
            if table is None:
                numeric = getattr(np.asarray(X), "dtype", np.dtype(object)).kind in "fiub"
            else:
                numeric = all(kind.kind in "fiub" if hasattr(kind, "kind") else False for kind in table.dtypes)
            # numbers are not scaled here: the base model does that itself
            preprocessor = TablePreprocessor(scale=not numeric).fit(X)
            shared["matrix",] = preprocessor, preprocessor.transform(X)
        self.preprocessor_, matrix = shared["matrix",]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.preprocessor_, name):
                setattr(self, name, getattr(self.preprocessor_, name))
            elif hasattr(self, name):
                delattr(self, name)
        return np.asarray(matrix)

    def _matrix(self, X: TableLike) -> FloatArray:
        check_is_fitted(self)
        return np.asarray(self.preprocessor_.transform(X))

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


def fit_together(
    rankers: Iterable[BootstrappedRanker], X: TableLike, y: OutcomeLike | ArrayLike
) -> Iterator[BootstrappedRanker]:
    """Fit rankers over several base models on the same rows, one after the other.

    The result is that of `fit`; what does not depend on the base model (the binned table, the censoring model by which
    a `paper` ranker is calibrated) is computed once for all that have the same settings and seed.

    Parameters
    ----------
    rankers : iterable of BootstrappedRanker
    X, y : as for `BootstrappedRanker.fit`

    Yields
    ------
    BootstrappedRanker
        Each ranker, as soon as it is fitted.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> bases = ly.models.KaplanMeier(), ly.models.Cox()
    >>> rankers = [BootstrappedRanker(base, tau=10, preset="paper", n_estimators=5, random_state=0) for base in bases]
    >>> [len(ranker.predict(d.X)) for ranker in fit_together(rankers, d.X, d.y)]
    [600, 600]
    """
    shared: Shared = {}
    for ranker in rankers:
        yield ranker._fit_sharing(X, y, shared)
