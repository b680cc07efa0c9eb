"""BootstrappedRanker: a survival model retrained for the top of the list (section 5, appendix E)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._frames import as_pandas
from .._threads import one_thread
from ..curves import SurvivalCurves
from ..data import TablePreprocessor
from ..metrics import concordance_index
from ..outcome import Outcome, as_outcome, resolve_horizon
from ._curves import bent_to
from ._explain import Explanation, explain
from ._fitting import Fit, Fitting
from ._rows import checked_relevance, is_relevance
from ._settings import Settings, settings_of
from .loss._kernel import available_threads

if TYPE_CHECKING:
    import lightgbm


class BootstrappedRanker(BaseEstimator):
    """A survival model retrained for the top of the list.

    Stage 1 fits the base model and fills in what censoring hid: pseudo-labels. Stage 2 learns to rank by them.
    ``preset="paper"`` is the paper's: one LightGBM on squared error and a hinge weighted by the change in NDCG, over
    query groups that are redrawn at every round, with the settings of its Table A1. ``preset="default"`` is what was
    measured to be best (docs/method.md): trees of years, trees of hazards and hazards along broken lines, fitted
    crosswise over five folds, averaged, and weighed beside the base model by doubly robust outcomes of rows they had
    not seen. Where the top of its list is clearly worse than the base model's, the base is kept as it is.

    Parameters
    ----------
    base : survival model, optional
        Any model of `lifeyears.models`, or what `lifeyears.models.wrap` takes; None means Cox. It is given the matrix
        that `preprocessor_` makes, without column names.
    tau : float, optional
        The horizon; None means the largest training time.
    preset : {"default", "paper"}
        Where the hyperparameters below come from, if they are None.
    second_stage : {"gbdt", "mlp"}
        Trees, or a network (needs torch) with the same loss; LightGBM's settings below mean nothing to it.
    label : {"ey", "dr"}, optional
        Pseudo-labels: the paper's, or doubly robust ones. The latter may lie outside [0, τ]; within the change in NDCG
        they are clipped to it.
    cross_fit_base : bool, optional
        Whether a row's label comes from a base model that did not see the row. That model may have seen the rows that
        judge a fold: with doubly robust labels this hardly matters; with "ey" and a base that memorises (a forest), the
        trees get somewhat more weight than they have earned (measured on noise: correlation 0.07 in place of 0.02).
    censoring : survival model, optional
        Of the censoring times, for doubly robust labels and outcomes; None means Cox.
    members : sequence of {"base", "years", "hazard", "lines", "pairs"}, optional
        What the ranker is a weighted sum of: the base model's years, the paper's second stage, boosted partial
        likelihoods, and those along broken lines, as far as the evidence supports them, alone and with products.
    folds : int, optional
        For cross-fitting the members; 0 makes one fit, as the paper does.
    phases : int, optional
        Of lines and pairs: stretches of life with hazards of their own; boosted hazards have one fewer.
    alpha, margin, group_size : optional
        Of the hybrid loss; the margin is in the unit of time (the paper's 1.0 is a year: with times in days, 365.25).
        alpha=1 is squared error.
    learning_rate, n_estimators, num_leaves, max_depth, max_bin : optional
    min_child_samples, subsample, colsample_bytree : optional
        LightGBM's.
    early_stopping_rounds, validation_fraction : optional
        For one fit (``folds=0``): stop when the hybrid loss of this share of the rows, over groups drawn once, has not
        fallen for so many rounds.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Folds at once (processes, from 5,000 rows on); None means all cores, or one inside a worker process. It does not
        change the result.
    verbose : bool
        Show progress.

    Attributes
    ----------
    base_ : fitted base model, or None if relevance was given
    tau_ : float
    booster_ : lightgbm.Booster
        The second stage; of several, the first. `members_` has all.
    members_ : dict of str to list
        Fitted members, one a fold.
    pseudo_labels_ : array, shape (n,)
    report_ : RankerReport
    preprocessor_ : TablePreprocessor
        Tables with categories or missing values are welcome: this makes the matrix.
    held_out_ : array or None
        What the ranker says, in years, of training rows that neither its members nor the calibration applied to them
        had seen (NaN elsewhere; only the number of trees was chosen with them), and
        `held_out_outcomes_`: the doubly robust outcomes beside them.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> f = BootstrappedRanker(tau=10, preset="paper", n_estimators=5, random_state=0).fit(d.X, d.y)
    >>> f.predict(d.X).shape, f.tau_
    ((600,), 10.0)
    """

    def __init__(
        self,
        base: Any = None,
        tau: float | None = None,
        preset: Literal["default", "paper"] = "default",
        second_stage: Literal["gbdt", "mlp"] = "gbdt",
        label: Literal["ey", "dr"] | None = None,
        cross_fit_base: bool | None = None,
        censoring: Any = None,
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
        random_state: Any = None,
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

    def fit(self, X: Any, y: Any) -> Self:
        """Fit both stages.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            Numbers, categories, missing values.
        y : Outcome or what `lifeyears.as_outcome` reads; or a 1-D array of numbers
            Observed times and events; or relevance itself, where nothing is censored: then there is no base model,
            and the second stage learns to rank by it.

        Returns
        -------
        self
        """
        return self._fit_sharing(X, y, {})

    def _fit_sharing(self, X: Any, y: Any, shared: dict[tuple, Any]) -> Self:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        matrix = self._training_matrix(X, shared)
        settings = self._settings(len(matrix))
        if len(matrix) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two rows to rank; got n_samples = 1")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        given_relevance = is_relevance(y)
        if given_relevance:
            y = checked_relevance(y, len(matrix))
            self.tau_ = float(y.max())
        else:
            y = as_outcome(y)
            if len(y) != len(matrix):
                raise ValueError(f"X has {len(matrix)} rows and y has {len(y)}: there must be one outcome for each")
            self.tau_ = resolve_horizon(self.tau, y)
        fitting = Fitting(
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
            fit = fitting.on_relevance(matrix, y) if given_relevance else fitting.on_outcomes(matrix, y)
        return self._keep(fit, matrix)

    def _keep(self, fit: Fit, matrix: np.ndarray) -> Self:
        """Take over what was fitted."""
        self.base_, self.members_, self.weights_, self.intercept_ = fit.base, fit.members, fit.weights, fit.intercept
        self.calibration_map_, self.pseudo_labels_, self.report_ = fit.calibration, fit.labels, fit.report
        self.held_out_, self.held_out_outcomes_ = fit.held_out, fit.held_out_outcomes
        self.typical_row_ = matrix.mean(axis=0)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Expected years within the horizon, calibrated: what to rank by, and what to say of a patient.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            The columns of the training table; categories and missing values as there.

        Returns
        -------
        array, shape (n,)
            Higher is longer. Between 0 and τ, in the unit of the times; in that of the relevance, if that was given.
        """
        matrix = self._matrix(X)
        return self.calibration_map_(self._scores(matrix))

    def predict_curves(self, X: Any, times: Any = None) -> SurvivalCurves:
        """Survival curves whose mean life within the horizon is `predict`: the base model's shape, bent to it.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `predict`.
        times : array, shape (m,), optional
            The grid, increasing, in the unit of the training times; without it, that of the base model.

        Returns
        -------
        SurvivalCurves
            ``.survival`` is (n, m).

        Raises
        ------
        TypeError
            If relevance was given to `fit`: there is no base model then.
        """
        check_is_fitted(self)
        if self.base_ is None:
            raise TypeError("relevance was given in place of outcomes: there is no base model to take curves from")
        matrix = self._matrix(X)
        years = self.calibration_map_(self._scores(matrix))
        return bent_to(self.base_.predict_curves, matrix, years, self.tau_, times)

    def explain(self, X: Any) -> Explanation:
        """What each feature adds to each patient's years, and who it moves in and out of the top.

        Trees are explained by LightGBM's Shapley values, broken lines by their terms, the base model by what
        changes when a feature takes its typical value, scaled to add up.

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
        return explain(self, X, self._matrix(X))

    def score(self, X: Any, y: Any) -> float:
        """C-index, for scikit-learn's tools; see `lifeyears.metrics.make_scorer` for better."""
        if is_relevance(y):  # every pair of different relevance counts
            relevance = np.asarray(y, dtype=float)
            y = Outcome(relevance - relevance.min(), np.ones(len(relevance), dtype=bool))
        return concordance_index(y, self.predict(X))

    def plot_calibration(self, ax: Any = None, groups: int = 10) -> Any:
        """Draw doubly robust years of held-out rows against predicted ones, by groups, with 95% intervals."""
        from ._plots import plot_calibration

        check_is_fitted(self)
        return plot_calibration(self.held_out_, self.held_out_outcomes_, ax, groups)

    @property
    def booster_(self) -> lightgbm.Booster:
        """LightGBM's booster; of several, the first."""
        check_is_fitted(self)
        for fits in self.members_.values():
            for fit in fits:
                if hasattr(fit, "booster"):
                    return fit.booster
                if hasattr(fit, "phases") and hasattr(fit.phases[0], "booster"):
                    return fit.phases[0].booster
        raise AttributeError("this ranker has no trees (see report_)")

    # what it is fitted with

    def _settings(self, n: int) -> Settings:
        if self.second_stage not in ("gbdt", "mlp"):
            raise ValueError(f'second_stage must be "gbdt" or "mlp"; got {self.second_stage!r}')
        given = self.get_params(deep=False)
        if self.second_stage == "mlp" and self.members is None and self.preset == "default":
            given["members"] = ("base", "years")  # a network of years; hazards are the trees'
        settings = settings_of(self.preset, given)
        if self.second_stage == "mlp" and set(settings.members) - {"base", "years"}:
            raise ValueError(f'with second_stage="mlp" members may be "base" and "years"; got {settings.members!r}')
        if self.preset == "default" and self.min_child_samples is None:  # leaves of 100 rows leave small data no split
            settings = replace(settings, min_child_samples=max(5, min(settings.min_child_samples, n // 40)))
        return settings

    def _threads(self) -> int:
        return available_threads(None if self.n_jobs is not None and self.n_jobs < 0 else self.n_jobs)

    # what it says

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """The weighted sum, before calibration."""
        check_is_fitted(self)
        total = np.full(len(X), self.intercept_)
        if "base" in self.weights_:
            total += self.weights_["base"] * self.base_.predict(X)
        for name, fits in self.members_.items():
            total += self.weights_[name] * np.mean([fit.predict(X) for fit in fits], axis=0)
        return total

    def _training_matrix(self, X: Any, shared: dict[tuple, Any]) -> np.ndarray:
        if ("matrix",) not in shared:
            table = as_pandas(X)
            if table is None:
                numeric = getattr(np.asarray(X), "dtype", np.dtype(object)).kind in "fiub"
            else:
                numeric = all(kind.kind in "fiub" if hasattr(kind, "kind") else False for kind in table.dtypes)
            # numbers are left as they are: the base model scales as it sees fit
            preprocessor = TablePreprocessor(scale=not numeric).fit(X)
            shared["matrix",] = preprocessor, preprocessor.transform(X)
        self.preprocessor_, matrix = shared["matrix",]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.preprocessor_, name):
                setattr(self, name, getattr(self.preprocessor_, name))
            elif hasattr(self, name):
                delattr(self, name)
        return matrix

    def _matrix(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self.preprocessor_.transform(X)

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


def fit_together(rankers: Iterable[BootstrappedRanker], X: Any, y: Any) -> Iterator[BootstrappedRanker]:
    """Fit rankers over several base models on the same rows, one after the other.

    The result is that of `fit`; what does not depend on the base model (the binned table, the censoring model by which
    a `paper` ranker is calibrated) is made once for all that have the same settings and seed.

    Parameters
    ----------
    rankers : iterable of BootstrappedRanker
    X, y : as for `BootstrappedRanker.fit`

    Yields
    ------
    BootstrappedRanker
        Each, as soon as it is fitted.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> bases = ly.models.KaplanMeier(), ly.models.Cox()
    >>> rankers = [BootstrappedRanker(base, tau=10, preset="paper", n_estimators=5, random_state=0) for base in bases]
    >>> [len(ranker.predict(d.X)) for ranker in fit_together(rankers, d.X, d.y)]
    [600, 600]
    """
    shared: dict[tuple, Any] = {}
    for ranker in rankers:
        yield ranker._fit_sharing(X, y, shared)
