"""BootstrappedRanker: a survival model retrained for the top of the list (section 5, appendix E)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._threads import one_thread
from ..curves import SurvivalCurves
from ..data import TablePreprocessor
from ..data._frames import as_pandas
from ..metrics import compare, concordance_index, policy_value
from ..models import Cox, wrap
from ..models._base import is_number
from ..outcome import Outcome, as_outcome
from ..relevance._cross_fit import Splits, draw_splits
from ._calibration import CalibrationMap
from ._curves import bent_to
from ._ensemble import Grown, Weighing, grow_fold, honestly_calibrated, weigh
from ._explain import Explanation, explain
from ._kernel import available_threads
from ._labels import PseudoLabels, label_estimator, pseudo_labels
from ._network import train_network
from ._objective import HybridLoss, HybridObjective
from ._settings import Settings, settings_of
from ._trees import YearsTrees, grow, training_table

if TYPE_CHECKING:
    import lightgbm

WAITLIST = 256
FEWEST_TO_CALIBRATE = 50
WORTH_A_PROCESS = 5000  # rows: below, starting workers takes longer than the trees


@dataclass(frozen=True, eq=False)
class RankerReport:
    """What a ranker is made of.

    Attributes
    ----------
    labels : PseudoLabels or None
        How the pseudo-labels came about; None where relevance was given.
    weights : dict of member to weight
        Of the base model and the members; their sum is near 1 if each is calibrated.
    rounds : dict of member to int
        Trees kept.
    kept_base : bool
        The base model is used as it is: too few events, or nothing was better on held-out rows (see `notes`).
    calibrated : bool
        Whether held-out rows were there to map scores to years.
    notes : tuple of str
        What was done otherwise than asked, and why.
    """

    labels: PseudoLabels | None
    weights: dict[str, float]
    rounds: dict[str, int]
    kept_base: bool
    calibrated: bool
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{name} {weight:.2f}" for name, weight in self.weights.items()]
        lines = [f"weights: {', '.join(parts)}"]
        if self.rounds:
            lines.append("trees: " + ", ".join(f"{name} {many}" for name, many in self.rounds.items()))
        if self.labels is not None:
            lines.append(repr(self.labels))
        if self.kept_base:
            lines.append("the base model is used as it is")
        return "\n".join([*lines, *self.notes])


class BootstrappedRanker(BaseEstimator):
    """A survival model retrained for the top of the list.

    Stage 1 fits the base model and fills in what censoring hid: pseudo-labels. Stage 2 learns to rank by them.
    ``preset="paper"`` is the paper's: one LightGBM on squared error and a hinge weighted by the change in NDCG, over
    query groups that are redrawn at every round, with the settings of its Table A1. ``preset="default"`` is what was
    measured to be best
    (docs/method.md): trees of years and trees of hazards, cross-fitted over five folds, averaged, and weighed beside
    the base model by doubly robust outcomes of rows they had not seen. Where the base model is right it keeps it.

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
    members : sequence of {"base", "years", "hazard"}, optional
        What the ranker is a weighted sum of: the base model's years, the paper's second stage, boosted partial
        likelihoods.
    folds : int, optional
        For cross-fitting the members; 0 makes one fit, as the paper does.
    phases : int, optional
        Of the hazard members: stretches of life with trees of their own.
    alpha, margin, group_size : optional
        Of the hybrid loss; the margin is in the unit of time. alpha=1 is squared error.
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
        had seen (NaN elsewhere), and `held_out_outcomes_`: the doubly robust outcomes beside them.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> f = BootstrappedRanker(tau=10, preset="paper", n_estimators=5, random_state=0).fit(d.X, d.y)
    >>> f.predict(d.X).shape, f.tau_
    ((600,), 10.0)
    """

    held_out_: np.ndarray | None
    held_out_outcomes_: np.ndarray | None

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

    def fit(self, X: Any, y: Any) -> BootstrappedRanker:
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
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        matrix = self._training_matrix(X)
        settings = self._settings(len(matrix))
        if len(matrix) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two rows to rank; got n_samples = 1")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.notes_: list[str] = []
        self._seed = seed
        self.typical_row_ = matrix.mean(axis=0)
        with one_thread():
            if _is_relevance(y):
                self._fit_relevance(matrix, _checked_relevance(y, len(matrix)), settings, seed)
            else:
                y = as_outcome(y)
                if len(y) != len(matrix):
                    raise ValueError(f"X has {len(matrix)} rows and y has {len(y)}: there must be one outcome for each")
                self.tau_ = self._horizon(y)
                if settings.folds:
                    self._fit_folds(matrix, y, settings, seed)
                else:
                    self._fit_once(matrix, y, settings, seed)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Expected years within the horizon, calibrated: what to rank by, and what to say of a patient."""
        matrix = self._matrix(X)
        return self.calibration_map_(self._scores(matrix))

    def predict_curves(self, X: Any, times: Any = None) -> SurvivalCurves:
        """Survival curves whose mean life within the horizon is `predict`: the base model's shape, bent to it."""
        check_is_fitted(self)
        if self.base_ is None:
            raise TypeError("relevance was given in place of outcomes: there is no base model to take curves from")
        matrix = self._matrix(X)
        years = self.calibration_map_(self._scores(matrix))
        return bent_to(self.base_.predict_curves, matrix, years, self.tau_, times)

    def explain(self, X: Any) -> Explanation:
        """What each feature adds to each patient's years, and who it moves in and out of the top.

        Trees are explained by LightGBM's Shapley values; the base model by what changes when a feature takes its
        typical value, scaled to add up.
        """
        check_is_fitted(self)
        return explain(self, X, self._matrix(X))

    def score(self, X: Any, y: Any) -> float:
        """C-index, for scikit-learn's tools; see `lifeyears.metrics.make_scorer` for better."""
        if _is_relevance(y):  # every pair of different relevance counts
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
                if hasattr(fit, "phases"):
                    return fit.phases[0].booster
        raise AttributeError("this ranker has no trees (see report_)")

    # how it is fitted

    def _fit_once(self, X: np.ndarray, y: Outcome, settings: Settings, seed: int) -> None:
        """One second stage on all rows, as the paper does, stopped on a validation share."""
        self.base_ = self._new_base().fit(X, y)
        labels = self._labels(X, y, settings, seed)
        self.pseudo_labels_ = labels.values
        gains = np.clip(labels.values, 0.0, self.tau_)
        train, held_out = _validation_split(y, settings.validation_fraction, seed)
        if settings.early_stopping_rounds and not len(held_out):
            self.notes_.append("no rows were held out: trained for all rounds, and not calibrated")
        if self.second_stage == "mlp":
            shape = (settings.alpha, settings.margin, settings.group_size)
            member: Any = train_network(X[train], labels.values[train], gains[train], *shape, seed)
        else:
            member = self._one_booster(X, labels.values, gains, train, held_out, settings, seed)
        self.members_ = {"years": [member]}
        outcomes = np.empty(0)
        if len(held_out) >= 50:
            judge = label_estimator("dr", self.base_, self._new_censoring(X, y), self.tau_)
            outcomes = pseudo_labels(judge.estimate, X[held_out], y[held_out], self.tau_, False).values
        scores = member.predict(X[held_out]) if len(held_out) else np.empty(0)
        self._finish(labels, {"years": 1.0}, 0.0, scores, held_out, outcomes, len(y))

    def _one_booster(
        self,
        X: np.ndarray,
        labels: np.ndarray,
        gains: np.ndarray,
        train: np.ndarray,
        held_out: np.ndarray,
        settings: Settings,
        seed: int,
    ) -> YearsTrees:
        threads = self._threads()
        centre = float(labels[train].mean())
        shape = (settings.alpha, settings.margin, settings.group_size)
        table = training_table(X[train], settings, seed)
        objective = HybridObjective(labels[train], *shape, seed, gains[train], threads)
        judge, judges = None, None
        if len(held_out):
            loss = HybridLoss(labels[held_out], *shape, seed, gains[held_out])
            judge, judges = (lambda scores: loss(centre + scores)), table.create_valid(X[held_out])
        booster = grow(table, objective, centre, settings, seed, threads, self._callbacks(settings), judge, judges)
        return YearsTrees(booster, centre, booster.best_iteration or booster.current_iteration())

    def _fit_folds(self, X: np.ndarray, y: Outcome, settings: Settings, seed: int) -> None:
        """Members cross-fitted over folds and weighed by outcomes of rows they had not seen."""
        splits = self._splits(y, settings, seed)
        self.base_ = self._new_base().fit(X, y)
        if splits is None:
            labels = self._labels(X, y, settings, seed)
            self.pseudo_labels_, self.members_ = labels.values, {}
            self._finish(labels, {"base": 1.0}, 0.0, np.empty(0), np.empty(0, int), np.empty(0), len(y))
            return
        base_said, outcomes, labels = self._judge_base(X, y, settings, splits)
        self.pseudo_labels_ = labels.values
        grown = self._grow(X, y, labels.values, splits, settings, seed)
        weighing = weigh(grown, splits, base_said if "base" in settings.members else None, outcomes)
        if "base" in settings.members and self._clearly_worse(weighing, base_said, outcomes):
            weighing = weigh([{} for _ in splits], splits, base_said, outcomes)
            self.notes_.append("on held-out rows the members' top was clearly worse than the base model's")
        self._keep(weighing, grown, labels, outcomes, splits)

    def _fit_relevance(self, X: np.ndarray, relevance: np.ndarray, settings: Settings, seed: int) -> None:
        """Learning to rank without survival: relevance is the label."""
        from sklearn.model_selection import KFold

        if "years" not in settings.members:
            raise ValueError('relevance is learned by the member "years": leave it among the members')
        self.base_, self.tau_ = None, float(relevance.max())
        self.pseudo_labels_ = relevance
        gains = relevance - min(relevance.min(), 0.0)
        folds = min(settings.folds, len(X) // 4)
        if folds > 1:
            splits = tuple(KFold(folds, shuffle=True, random_state=seed).split(X))
            grown = self._grow(X, None, relevance, splits, settings, seed)
            self._keep(weigh(grown, splits, None, relevance), grown, None, relevance, splits)
            return
        everybody = Outcome(np.ones(len(X)), np.ones(len(X), dtype=bool))
        train, held_out = _validation_split(everybody, settings.validation_fraction, seed)
        if self.second_stage == "mlp":
            shape = (settings.alpha, settings.margin, settings.group_size)
            member: Any = train_network(X[train], relevance[train], gains[train], *shape, seed)
        else:
            member = self._one_booster(X, relevance, gains, train, held_out, settings, seed)
        self.members_ = {"years": [member]}
        scores = member.predict(X[held_out]) if len(held_out) else np.empty(0)
        self._finish(None, {"years": 1.0}, 0.0, scores, held_out, relevance[held_out], len(X))

    def _judge_base(
        self, X: np.ndarray, y: Outcome, settings: Settings, splits: Splits
    ) -> tuple[np.ndarray, np.ndarray, PseudoLabels]:
        """Of rows left out: the base model's years, doubly robust outcomes, and pseudo-labels."""
        said, outcomes = np.empty(len(y)), np.empty(len(y))
        parts: list[PseudoLabels] = []
        labels = np.empty(len(y))
        for train, test in self._shown(splits, "base model"):
            base = self._new_base().fit(X[train], y[train])
            judge = label_estimator("dr", base, self._new_censoring(X[train], y[train]), self.tau_)
            said[test] = base.predict(X[test])
            judged = pseudo_labels(judge.estimate, X[test], y[test], self.tau_, False)
            outcomes[test] = judged.values
            if settings.label == "ey":
                estimate = label_estimator("ey", base, None, self.tau_).estimate
                judged = pseudo_labels(estimate, X[test], y[test], self.tau_, self.preset != "paper")
            labels[test] = judged.values
            parts.append(judged)
        if settings.cross_fit_base:
            return said, outcomes, PseudoLabels.joined(parts, labels)
        return said, outcomes, self._labels(X, y, settings, 0)

    def _grow(
        self, X: np.ndarray, y: Outcome | None, labels: np.ndarray, splits: Splits, settings: Settings, seed: int
    ) -> list[dict[str, Grown]]:
        gains = np.clip(labels, 0.0, self.tau_) if y is not None else labels - min(labels.min(), 0.0)
        if not {"years", "hazard"} & set(settings.members):
            return [{} for _ in splits]
        if self.second_stage == "mlp":
            fits = [
                train_network(
                    X[train],
                    labels[train],
                    gains[train],
                    settings.alpha,
                    settings.margin,
                    settings.group_size,
                    seed + k,
                )
                for k, (train, _) in enumerate(self._shown(splits, "network"))
            ]
            return [
                {"years": Grown(fit.predict(X[test])[None], [fit])} for fit, (_, test) in zip(fits, splits, strict=True)
            ]
        jobs = (
            delayed(grow_fold)(X, y, labels, gains, train, test, settings, self.tau_, seed + k)
            for k, (train, test) in enumerate(splits)
        )
        # processes, not threads: LightGBM keeps its number of threads in one place for all
        workers = min(self._threads(), len(splits)) if len(X) >= WORTH_A_PROCESS else 1
        running = Parallel(n_jobs=workers, return_as="generator")(jobs)
        return list(self._shown(running, "trees", len(splits)))

    def _keep(
        self,
        weighing: Weighing,
        grown: list[dict[str, Grown]],
        labels: PseudoLabels | None,
        outcomes: np.ndarray,
        splits: Splits,
    ) -> None:
        self.members_ = {
            name: [fold[name].stages[stage] for fold in grown]
            for name, stage in weighing.stage.items()
            if weighing.weights[name] > 0
        }
        weights = {name: weight for name, weight in weighing.weights.items() if weight > 0}
        n = len(outcomes)
        self._finish(labels, weights, weighing.intercept, weighing.held_out, np.arange(n), outcomes, n)
        if self.held_out_ is not None and labels is not None:
            self.held_out_ = honestly_calibrated(weighing, splits, outcomes, self.tau_)

    def _finish(
        self,
        labels: PseudoLabels | None,
        weights: dict[str, float],
        intercept: float,
        scores: np.ndarray,
        rows: np.ndarray,
        outcomes: np.ndarray,
        n: int,
    ) -> None:
        """Calibrate on held-out rows, where there are any, and report."""
        self.weights_, self.intercept_ = weights, intercept
        enough = len(outcomes) >= FEWEST_TO_CALIBRATE
        if labels is None:  # relevance has no horizon
            self.calibration_map_ = CalibrationMap.identity()
        elif enough:
            self.calibration_map_ = CalibrationMap.fit(scores, outcomes, self.tau_)
        else:
            self.calibration_map_ = CalibrationMap.identity(self.tau_)
            self.notes_.append(f"not calibrated: {len(outcomes)} rows were held out, {FEWEST_TO_CALIBRATE} are needed")
        self.held_out_ = self.held_out_outcomes_ = None
        if enough:
            self.held_out_ = _scattered(self._half_by_half(scores, outcomes, labels is not None), rows, n)
            self.held_out_outcomes_ = _scattered(outcomes, rows, n)
        self.report_ = RankerReport(
            labels=labels,
            weights=weights,
            rounds={name: fits[0].rounds for name, fits in self.members_.items() if hasattr(fits[0], "rounds")},
            kept_base=set(weights) == {"base"},
            calibrated=self.calibration_map_.fitted,
            notes=tuple(self.notes_),
        )
        del self.notes_, self._seed

    def _half_by_half(self, scores: np.ndarray, outcomes: np.ndarray, calibrate: bool) -> np.ndarray:
        """Years of held-out rows by a map fitted to the other half of them."""
        if not calibrate:
            return scores
        years, odd = np.empty(len(scores)), np.arange(len(scores)) % 2 == 1
        for half in (odd, ~odd):
            years[half] = CalibrationMap.fit(scores[~half], outcomes[~half], self.tau_)(scores[half])
        return years

    def _labels(self, X: np.ndarray, y: Outcome, settings: Settings, seed: int) -> PseudoLabels:
        """Labels by the base model fitted to all rows, or cross-fitted."""
        never_below = settings.label == "ey" and self.preset != "paper"
        if settings.cross_fit_base and not settings.folds:
            splits = _folds(y, min(5, len(y)), seed)
            labels, parts = np.empty(len(y)), []
            for train, test in self._shown(splits, "labels"):
                base = self._new_base().fit(X[train], y[train])
                censoring = self._new_censoring(X[train], y[train]) if settings.label == "dr" else None
                estimate = label_estimator(settings.label, base, censoring, self.tau_).estimate
                part = pseudo_labels(estimate, X[test], y[test], self.tau_, never_below)
                labels[test] = part.values
                parts.append(part)
            return PseudoLabels.joined(parts, labels)
        censoring = self._new_censoring(X, y) if settings.label == "dr" else None
        estimator = label_estimator(settings.label, self.base_, censoring, self.tau_)
        return pseudo_labels(estimator.estimate, X, y, self.tau_, never_below)

    def _clearly_worse(self, weighing: Weighing, base_said: np.ndarray, outcomes: np.ndarray) -> bool:
        """The guard: whether, on held-out rows, the top of the ranker's list is clearly worse than the base's."""
        waitlist = min(WAITLIST, len(outcomes))
        if policy_value(outcomes, weighing.held_out, waitlist=waitlist) >= policy_value(
            outcomes, base_said, waitlist=waitlist
        ):
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on small samples: here it only has to be clear
            found = compare(
                outcomes,
                {"base": base_said, "ranker": weighing.held_out},
                waitlist=waitlist,
                n_resamples=200,
                random_state=0,
            )
        low, high = found.differences[["low", "high"]].iloc[0]
        return bool(low > 0 or high < 0)

    # what it is fitted with

    def _settings(self, n: int) -> Settings:
        if self.second_stage not in ("gbdt", "mlp"):
            raise ValueError(f'second_stage must be "gbdt" or "mlp"; got {self.second_stage!r}')
        given = self.get_params(deep=False)
        if self.second_stage == "mlp" and self.members is None and self.preset == "default":
            given["members"] = ("base", "years")  # a network of years; hazards are the trees'
        settings = settings_of(self.preset, given)
        if self.preset == "default" and self.min_child_samples is None:  # leaves of 100 rows leave small data no split
            settings = replace(settings, min_child_samples=max(5, min(settings.min_child_samples, n // 40)))
        return settings

    def _horizon(self, y: Outcome) -> float:
        if self.tau is None:
            if not y.time.max() > 0:
                raise ValueError("all times are 0: there is no life to predict")
            return float(y.time.max())
        if not is_number(self.tau) or not 0 < self.tau < np.inf:
            raise ValueError(f"tau must be a positive, finite time, or None; got {self.tau!r}")
        return float(self.tau)

    def _new_base(self) -> Any:
        base = _seeded(clone(wrap(Cox() if self.base is None else self.base), safe=False), self._seed)
        return base.set_params(tau=self.tau_) if "tau" in base.get_params() else base

    def _new_censoring(self, X: np.ndarray, y: Outcome) -> Any:
        """A fitted model of the censoring times; curves of 1 where nobody is censored."""
        if y.n_events == len(y):
            return SurvivalCurves.trusted(np.zeros(1), np.ones((1, 1)))
        model = clone(wrap(Cox(alpha=10.0) if self.censoring is None else self.censoring), safe=False)
        return _seeded(model, self._seed).fit(X, y.censoring())

    def _splits(self, y: Outcome, settings: Settings, seed: int) -> Splits | None:
        """The folds; None where there are too few events."""
        if y.n_events < 2 * settings.folds:
            self.notes_.append(f"{len(y)} rows with {y.n_events} events are too few to learn more than the base model")
            return None
        return _folds(y, settings.folds, seed)

    def _threads(self) -> int:
        if self.n_jobs is not None and self.n_jobs < 0:
            return available_threads(None)
        return available_threads(self.n_jobs)

    def _shown(self, work: Any, what: str, total: int | None = None) -> Any:
        if not self.verbose:
            return work
        from rich.progress import track

        return track(work, description=f"BootstrappedRanker: {what}", total=total)

    def _callbacks(self, settings: Settings) -> list:
        if not self.verbose:
            return []
        import lightgbm

        return [lightgbm.log_evaluation(max(1, settings.n_estimators // 10))]

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

    def _training_matrix(self, X: Any) -> np.ndarray:
        table = as_pandas(X)
        if table is None:
            numeric = getattr(np.asarray(X), "dtype", np.dtype(object)).kind in "fiub"
        else:
            numeric = all(kind.kind in "fiub" if hasattr(kind, "kind") else False for kind in table.dtypes)
        # numbers are left as they are: the base model scales as it sees fit
        self.preprocessor_ = TablePreprocessor(scale=not numeric)
        matrix = self.preprocessor_.fit(X).transform(X)
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


def _folds(y: Outcome, folds: int, seed: int) -> Splits:
    """Folds, stratified by event where there are enough of both kinds."""
    from sklearn.model_selection import KFold

    rarest = min(y.n_events, len(y) - y.n_events)
    if rarest >= folds or not rarest:
        return draw_splits(y, folds, None, seed)
    return draw_splits(y, KFold(folds, shuffle=True, random_state=seed), None, seed)


def _seeded(model: Any, seed: int) -> Any:
    """The model with a seed wherever it has none: same seed, same result."""
    open_ = [name for name, value in model.get_params().items() if name.endswith("random_state") and value is None]
    return model.set_params(**dict.fromkeys(sorted(open_), seed)) if open_ else model


def _scattered(values: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    """Values in their rows, NaN elsewhere."""
    whole = np.full(n, np.nan)
    whole[rows] = values
    return whole


def _is_relevance(y: Any) -> bool:
    """Whether y is a 1-D array of numbers: relevance, not an outcome."""
    if isinstance(y, (Outcome, tuple)):
        return False
    array = np.asarray(y)
    return array.ndim == 1 and array.dtype.kind in "fiub" and array.dtype.names is None


def _checked_relevance(y: Any, n: int) -> np.ndarray:
    relevance = np.asarray(y, dtype=float)
    if len(relevance) != n:
        raise ValueError(f"X has {n} rows and y has {len(relevance)}: there must be one relevance for each row")
    if not np.isfinite(relevance).all():
        row = int(np.flatnonzero(~np.isfinite(relevance))[0])
        raise ValueError(f"relevance must be finite; row {row} is {relevance[row]}")
    return relevance


def _validation_split(y: Outcome, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows held out, events and censorings shared out alike."""
    rng = np.random.default_rng(seed)
    held_out = np.zeros(len(y), dtype=bool)
    for kind in (y.event, ~y.event):
        rows = rng.permutation(np.flatnonzero(kind))
        held_out[rows[: int(share * len(rows))]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
