"""How a ranker is fitted: once, as the paper does, or as members over folds; on outcomes or on relevance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from ..curves import SurvivalCurves
from ..metrics import compare, policy_value
from ..models import Cox, wrap
from ..outcome import Outcome
from ..relevance._cross_fit import Splits
from ._calibration import CalibrationMap
from ._ensemble import Grown, Weighing, grow_fold, honestly_calibrated, weigh
from ._labels import PseudoLabels, label_estimator, pseudo_labels
from ._network import train_network
from ._report import RankerReport
from ._rows import fresh, plain_folds, scattered, seeded, survival_folds, validation_split
from ._settings import Settings
from .loss._objective import HybridLoss, HybridObjective
from .trees._boosters import YearsTrees, grow, training_table

WAITLIST = 256
LABEL_FOLDS = 5
FEWEST_TO_CALIBRATE = 50
WORTH_A_PROCESS = 5000  # rows: below, starting workers takes longer than the trees


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted ranker, without its table of features: a weighted sum of members, and a map to years."""

    base: Any
    members: dict[str, list]
    weights: dict[str, float]
    intercept: float
    calibration: CalibrationMap
    labels: np.ndarray
    held_out: np.ndarray | None
    held_out_outcomes: np.ndarray | None
    report: RankerReport


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that members had not seen: the scores they gave, outcomes, and years by a map that saw neither.

    Without outcomes nothing is calibrated.
    """

    rows: np.ndarray
    scores: np.ndarray
    outcomes: np.ndarray
    years: np.ndarray

    @classmethod
    def nobody(cls) -> HeldOut:
        """No rows."""
        return cls(np.empty(0, int), np.empty(0), np.empty(0), np.empty(0))


@dataclass(eq=False)
class Fitting:
    """What a fit needs to know, and what it has to say (`notes`)."""

    base: Any
    censoring: Any
    tau: float
    settings: Settings
    network: bool
    literal: bool  # the paper's fallback for labels, as it stands
    seed: int
    threads: int
    verbose: bool
    notes: list[str] = field(default_factory=list)
    shared: dict[tuple, Any] = field(default_factory=dict)  # what other fits on the same rows need too

    def on_outcomes(self, X: np.ndarray, y: Outcome) -> Fit:
        """Both stages."""
        base = self.new_base().fit(X, y)
        if not self.settings.folds:
            labels = self._labels(X, y, base)
            member, held_out = self._one_member(X, labels.values, np.clip(labels.values, 0.0, self.tau), y.event)
            outcomes = np.empty(0)
            if len(held_out) >= FEWEST_TO_CALIBRATE:
                key = "censoring", self.seed, id(self.censoring)  # kept beside it: an id stands for what lives
                _, censoring = self._once(lambda: (self.censoring, self.new_censoring(X, y)), *key)
                outcomes = self.judged(base, censoring, X[held_out], y[held_out]).values
            return self.of_one_member(base, member, labels, X, held_out, outcomes)
        if y.n_events < 2 * self.settings.folds:
            self.notes.append(f"{len(y)} rows with {y.n_events} events are too few to learn more than the base model")
            return self._fit(base, {}, {"base": 1.0}, 0.0, self._labels(X, y, base), HeldOut.nobody())
        splits = survival_folds(y, self.settings.folds, self.seed)
        said, outcomes, labels = self._judge_base(X, y, base, splits)
        grown = self._grow(X, y, labels.values, np.clip(labels.values, 0.0, self.tau), splits)
        with_base = "base" in self.settings.members
        weighing = weigh(grown, splits, said if with_base else None, outcomes)
        if with_base and clearly_worse(weighing.held_out, said, outcomes):
            weighing = weigh([{} for _ in splits], splits, said, outcomes)
            self.notes.append("on held-out rows the members' top was clearly worse than the base model's")
        return self._weighed(base, weighing, grown, labels, outcomes, splits)

    def on_relevance(self, X: np.ndarray, relevance: np.ndarray) -> Fit:
        """The second stage alone: relevance is the label."""
        if "years" not in self.settings.members:
            raise ValueError('relevance is learned by the member "years": leave it among the members')
        gains = relevance - min(relevance.min(), 0.0)
        many = min(self.settings.folds, len(X) // 4)
        if many > 1:
            splits = plain_folds(len(X), many, self.seed)
            grown = self._grow(X, None, relevance, gains, splits)
            return self._weighed(None, weigh(grown, splits, None, relevance), grown, relevance, relevance, splits)
        member, held_out = self._one_member(X, relevance, gains, np.ones(len(X), dtype=bool))
        return self.of_one_member(None, member, relevance, X, held_out, relevance[held_out])

    # one member on all rows

    def _one_member(
        self, X: np.ndarray, labels: np.ndarray, gains: np.ndarray, kinds: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """The paper's second stage, stopped on a validation share; and the rows held out."""
        settings, seed = self.settings, self.seed
        shape = (settings.alpha, settings.margin, settings.group_size)
        train, held_out = validation_split(kinds, settings.validation_fraction, seed)
        if settings.early_stopping_rounds and not len(held_out):
            self.notes.append("no rows were held out: trained for all rounds, and not calibrated")
        if self.network:
            return train_network(X[train], labels[train], gains[train], *shape, seed), held_out
        centre = float(labels[train].mean())
        table = self._once(lambda: training_table(X[train], settings, seed), "table", seed, settings)
        objective = HybridObjective(labels[train], *shape, seed, gains[train], self.threads)
        judge, judges = None, None
        if len(held_out):
            loss = HybridLoss(labels[held_out], *shape, seed, gains[held_out])
            judge, judges = (
                (lambda scores: loss(centre + scores)),
                self._once(lambda: table.create_valid(X[held_out]), "held out", seed, settings),
            )
        booster = grow(table, objective, centre, settings, seed, self.threads, self._callbacks(), judge, judges)
        rounds = booster.best_iteration or booster.current_iteration()
        return YearsTrees(booster, centre, rounds), held_out

    def of_one_member(
        self,
        base: Any,
        member: Any,
        labels: PseudoLabels | np.ndarray,
        X: np.ndarray,
        rows: np.ndarray,
        outcomes: np.ndarray,
    ) -> Fit:
        """The fit that is one member, judged on the rows of X held out, by their outcomes (none: too few rows)."""
        scores = member.predict(X[rows]) if len(rows) else np.empty(0)
        years = self._half_by_half(scores, outcomes) if isinstance(labels, PseudoLabels) else scores
        held_out = HeldOut(rows, scores, outcomes, years)
        return self._fit(base, {"years": [member]}, {"years": 1.0}, 0.0, labels, held_out)

    def _half_by_half(self, scores: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
        """Years of held-out rows by a map fitted to the other half of them."""
        if len(outcomes) < FEWEST_TO_CALIBRATE:
            return scores
        years, odd = np.empty(len(scores)), np.arange(len(scores)) % 2 == 1
        for half in (odd, ~odd):
            years[half] = CalibrationMap.fit(scores[~half], outcomes[~half], self.tau)(scores[half])
        return years

    # members over folds

    def _judge_base(
        self, X: np.ndarray, y: Outcome, base: Any, splits: Splits
    ) -> tuple[np.ndarray, np.ndarray, PseudoLabels]:
        """Of rows left out: the base model's years, doubly robust outcomes, and pseudo-labels."""
        said, outcomes = np.empty(len(y)), np.empty(len(y))
        parts = []
        for train, test in self._shown(splits, "base model"):
            model, censoring = self.new_base().fit(X[train], y[train]), self.new_censoring(X[train], y[train])
            said[test] = model.predict(X[test])
            judged = self.judged(model, censoring, X[test], y[test])
            outcomes[test] = judged.values
            parts.append(judged if self.settings.label == "dr" else self.labelled(model, None, X[test], y[test]))
        if self.settings.cross_fit_base:
            return said, outcomes, joined(parts, splits)
        return said, outcomes, self._labels(X, y, base)

    def _grow(
        self, X: np.ndarray, y: Outcome | None, labels: np.ndarray, gains: np.ndarray, splits: Splits
    ) -> list[dict[str, Grown]]:
        settings = self.settings
        if set(settings.members) == {"base"}:
            return [{} for _ in splits]
        if self.network:
            shape = (settings.alpha, settings.margin, settings.group_size)
            grown = []
            for k, (train, test) in enumerate(self._shown(splits, "network")):
                fit = train_network(X[train], labels[train], gains[train], *shape, self.seed + k)
                grown.append({"years": Grown(fit.predict(X[test])[None], [fit])})
            return grown
        jobs = (
            delayed(grow_fold)(X, y, labels, gains, train, test, settings, self.tau, self.seed + k)
            for k, (train, test) in enumerate(splits)
        )
        # processes, not threads: LightGBM keeps its number of threads in one place for all
        workers = min(self.threads, len(splits)) if len(X) >= WORTH_A_PROCESS else 1
        running = Parallel(n_jobs=workers, return_as="generator")(jobs)
        grown = list(self._shown(running, "trees", len(splits)))
        unsettled = sum(not all(member.settled for member in fold.values()) for fold in grown)
        if unsettled:
            self.notes.append(f"broken lines: Newton's method did not converge in {unsettled} of {len(grown)} folds")
        return grown

    def _weighed(
        self,
        base: Any,
        weighing: Weighing,
        grown: list[dict[str, Grown]],
        labels: PseudoLabels | np.ndarray,
        outcomes: np.ndarray,
        splits: Splits,
    ) -> Fit:
        """Keep the members that count, each at the stage that was best."""
        weights = {name: weight for name, weight in weighing.weights.items() if weight > 0}
        members = {
            name: [fold[name].stages[stage] for fold in grown]
            for name, stage in weighing.stage.items()
            if name in weights
        }
        scores = weighing.held_out
        honest = isinstance(labels, PseudoLabels) and len(outcomes) >= FEWEST_TO_CALIBRATE
        years = honestly_calibrated(weighing, splits, outcomes, self.tau) if honest else scores
        held_out = HeldOut(np.arange(len(outcomes)), scores, outcomes, years)
        return self._fit(base, members, weights, weighing.intercept, labels, held_out)

    def _fit(
        self,
        base: Any,
        members: dict[str, list],
        weights: dict[str, float],
        intercept: float,
        labels: PseudoLabels | np.ndarray,
        held_out: HeldOut,
    ) -> Fit:
        """Calibrate on held-out rows, and report."""
        rows, outcomes = held_out.rows, held_out.outcomes
        enough = len(outcomes) >= FEWEST_TO_CALIBRATE
        on_outcomes = isinstance(labels, PseudoLabels)
        values = labels.values if isinstance(labels, PseudoLabels) else labels
        if not on_outcomes:  # relevance has no horizon
            calibration = CalibrationMap.identity()
        elif enough:
            calibration = CalibrationMap.fit(held_out.scores, outcomes, self.tau)
        else:
            calibration = CalibrationMap.identity(self.tau)
            self.notes.append(f"not calibrated: {len(outcomes)} rows were held out, {FEWEST_TO_CALIBRATE} are needed")
        report = RankerReport(
            labels=labels if isinstance(labels, PseudoLabels) else None,
            weights=weights,
            rounds={name: fits[0].rounds for name, fits in members.items() if hasattr(fits[0], "rounds")},
            terms={
                name: round(float(np.median([fit.terms for fit in fits])))
                for name, fits in members.items()
                if hasattr(fits[0], "terms")
            },
            kept_base=set(weights) == {"base"},
            calibrated=calibration.fitted,
            notes=tuple(self.notes),
        )
        return Fit(
            base=base,
            members=members,
            weights=weights,
            intercept=intercept,
            calibration=calibration,
            labels=values,
            held_out=scattered(held_out.years, rows, len(values)) if enough else None,
            held_out_outcomes=scattered(outcomes, rows, len(values)) if enough else None,
            report=report,
        )

    def _once(self, make: Callable[[], Any], *key: Any) -> Any:
        """What `make` makes, or made for another ranker on the same rows."""
        if key not in self.shared:
            self.shared[key] = make()
        return self.shared[key]

    # labels and models

    def _labels(self, X: np.ndarray, y: Outcome, base: Any) -> PseudoLabels:
        """Labels by the base model fitted to all rows, or (for one fit) cross-fitted."""
        weighted = self.settings.label == "dr"
        if not self.settings.cross_fit_base or self.settings.folds:
            return self.labelled(base, self.new_censoring(X, y) if weighted else None, X, y)
        splits = survival_folds(y, min(LABEL_FOLDS, len(y)), self.seed)
        parts = []
        for train, test in self._shown(splits, "labels"):
            censoring = self.new_censoring(X[train], y[train]) if weighted else None
            parts.append(self.labelled(self.new_base().fit(X[train], y[train]), censoring, X[test], y[test]))
        return joined(parts, splits)

    def labelled(self, base: Any, censoring: Any, X: np.ndarray, y: Outcome) -> PseudoLabels:
        """Labels of the kind asked for, by fitted models."""
        estimate = label_estimator(self.settings.label, base, censoring, self.tau).estimate
        literal = base if self.literal and self.settings.label == "ey" else None
        return pseudo_labels(estimate, X, y, self.tau, literal)

    def judged(self, base: Any, censoring: Any, X: np.ndarray, y: Outcome) -> PseudoLabels:
        """Doubly robust outcomes, by which members are chosen, weighed and calibrated."""
        return pseudo_labels(label_estimator("dr", base, censoring, self.tau).estimate, X, y, self.tau)

    def new_base(self) -> Any:
        """A base model to fit."""
        return fresh(wrap(Cox() if self.base is None else self.base), self.tau, self.seed)

    def new_censoring(self, X: np.ndarray, y: Outcome) -> Any:
        """A fitted model of the censoring times; curves of 1 where nobody is censored."""
        if y.n_events == len(y):
            return SurvivalCurves.trusted(np.zeros(1), np.ones((1, 1)))
        model = clone(wrap(Cox(alpha=10.0) if self.censoring is None else self.censoring), safe=False)
        return seeded(model, self.seed).fit(X, y.censoring())

    # progress

    def _shown(self, work: Any, what: str, total: int | None = None) -> Any:
        if not self.verbose:
            return work
        from rich.progress import track

        return track(work, description=f"BootstrappedRanker: {what}", total=total)

    def _callbacks(self) -> list:
        if not self.verbose:
            return []
        import lightgbm

        return [lightgbm.log_evaluation(max(1, self.settings.n_estimators // 10))]


def joined(parts: Sequence[PseudoLabels], splits: Splits) -> PseudoLabels:
    """Labels of the folds, put back in the order of the rows."""
    values = np.empty(sum(len(test) for _, test in splits))
    for (_, test), part in zip(splits, parts, strict=True):
        values[test] = part.values
    return PseudoLabels.joined(parts, values)


def clearly_worse(scores: np.ndarray, base_said: np.ndarray, outcomes: np.ndarray) -> bool:
    """The guard: whether, on held-out rows, the top of the ranker's list is clearly worse than the base's."""
    waitlist = min(WAITLIST, len(outcomes))
    ranked, based = (policy_value(outcomes, said, waitlist=waitlist) for said in (scores, base_said))
    if ranked >= based:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on small samples: here it only has to be clear
        both = {"base": base_said, "ranker": scores}
        found = compare(outcomes, both, waitlist=waitlist, n_resamples=200, random_state=0)
    low, high = found.differences[["low", "high"]].iloc[0]
    return bool(low > 0 or high < 0)
