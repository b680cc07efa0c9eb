"""The second stage as LightGBM: trees that add up to years, or to the logarithm of a hazard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...models.fitting import Baseline, RiskSets
from ...outcome import Outcome
from .._settings import Settings
from ..splines._phases import Stretch, costs_of, years_of
from ._shallow import shallow_trees

if TYPE_CHECKING:
    import lightgbm

FEW_LEAVES = 8
Objective = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class YearsTrees:
    """f(x) = centre + Σ trees: years, as they are.

    LightGBM takes no offset from a custom objective: the mean label is ours to keep.
    """

    booster: lightgbm.Booster
    centre: float
    rounds: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Years of each row."""
        return self.centre + summed(self.booster, self.rounds, X)

    def explained(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Years; and what each column adds to them (n, p), and last what all rows share (Shapley values)."""
        sums, parts = shared_out(self.booster, self.rounds, X)
        parts[:, -1] += self.centre
        return self.centre + sums, parts


@dataclass(frozen=True, eq=False)
class Phase(Stretch):
    """f = Σ trees."""

    booster: lightgbm.Booster

    @classmethod
    def of(
        cls, booster: lightgbm.Booster, objective: PartialLikelihoodObjective, scores: np.ndarray, length: float
    ) -> Phase:
        """With Breslow's baseline for the scores of the training rows."""
        baseline = objective.baseline(scores)
        return cls(baseline, baseline.life_table(scores, length), length, booster)


@dataclass(frozen=True, eq=False)
class HazardTrees:
    """Hazards that are proportional within a phase; years are the restricted mean of the whole curve."""

    phases: tuple[Phase, ...]
    rounds: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Years of each row."""
        return years_of(self.phases, [summed(phase.booster, self.rounds, X) for phase in self.phases])

    def explained(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Years; and what each column adds to them (n, p), and last what all rows share (Shapley values of hazards)."""
        sums, parts = zip(*(shared_out(phase.booster, self.rounds, X) for phase in self.phases), strict=True)
        years, typical, costs = costs_of(self.phases, sums, [part[:, -1] for part in parts])
        total = parts[0]
        for place, (part, cost) in enumerate(zip(parts, costs, strict=True)):
            part *= cost[:, None]  # the parts are ours to use up
            if place:
                total += part
        total[:, -1] = typical
        return years, total


def summed(booster: lightgbm.Booster, rounds: int, X: np.ndarray) -> np.ndarray:
    """The first trees of a booster, added up."""
    trees = shallow_trees(booster, rounds)
    return np.asarray(booster.predict(X, num_iteration=rounds)) if trees is None else trees.predict(X)


def shared_out(booster: lightgbm.Booster, rounds: int, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same, and the Shapley values of the columns (n, p), with what all rows share last."""
    trees = shallow_trees(booster, rounds)
    if trees is not None:
        return trees.explained(X)
    parts = booster.predict(X, num_iteration=rounds, pred_contrib=True)
    return np.asarray(booster.predict(X, num_iteration=rounds)), np.asarray(parts)


class PartialLikelihoodObjective:
    """Gradient and Hessian of Cox's negative log partial likelihood (Breslow's ties) in the scores."""

    def __init__(self, y: Outcome) -> None:
        self.sets = RiskSets.of(y, None, "breslow")

    def __call__(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sets = self.sets
        eta = scores[sets.order]
        risk = np.exp(eta - eta.max())
        denominator = sets.denominators(risk)
        pull = sets.term_weight / denominator
        first = np.append(0.0, np.cumsum(pull))[sets.group]
        second = np.append(0.0, np.cumsum(pull / denominator))[sets.group]
        gradient, hessian = np.empty(len(eta)), np.empty(len(eta))
        gradient[sets.order] = risk * first - sets.event
        hessian[sets.order] = np.maximum(risk * first - risk**2 * second, 1e-9)
        return gradient, hessian

    def baseline(self, scores: np.ndarray) -> Baseline:
        """Breslow's cumulative hazard for these scores."""
        return Baseline.breslow(self.sets, scores[self.sets.order])


def training_table(X: np.ndarray, settings: Settings, seed: int) -> lightgbm.Dataset:
    """Binned columns, made once for all members."""
    import lightgbm

    return lightgbm.Dataset(X, params=_parameters(settings, seed, threads=1), free_raw_data=False)


def grow(
    table: lightgbm.Dataset,
    objective: Objective,
    start: np.ndarray | float,
    settings: Settings,
    seed: int,
    threads: int,
    callbacks: Sequence[Callable] = (),
    held_out: Callable[[np.ndarray], float] | None = None,
    held_out_table: lightgbm.Dataset | None = None,
) -> lightgbm.Booster:
    """Boost from `start`; with held-out rows, stop when their loss has not fallen for a while."""
    import lightgbm

    parameters = _parameters(settings, seed, threads)
    parameters["objective"] = lambda scores, _: objective(start + scores)
    extra: dict[str, Any] = {"callbacks": list(callbacks)}
    if held_out is not None and settings.early_stopping_rounds:
        parameters["metric"] = "None"
        extra["valid_sets"] = [held_out_table]
        extra["feval"] = lambda scores, _: ("held out", held_out(scores), False)
        stop = lightgbm.early_stopping(settings.early_stopping_rounds, verbose=False)
        extra["callbacks"].append(stop)
    return lightgbm.train(parameters, table, settings.n_estimators, **extra)


def staged(booster: lightgbm.Booster, X: np.ndarray, start: float, rounds: np.ndarray) -> np.ndarray:
    """Scores after some numbers of rounds, (len(rounds), n)."""
    trees = shallow_trees(booster, int(rounds[-1]))
    if trees is not None:
        return start + trees.staged(X, rounds)
    scores, last = [np.full(len(X), start)], 0
    for many in rounds:
        scores.append(scores[-1] + booster.predict(X, start_iteration=last, num_iteration=many - last, num_threads=1))
        last = many
    return np.array(scores[1:])


def _parameters(settings: Settings, seed: int, threads: int) -> dict[str, Any]:
    return {
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.num_leaves,
        "max_depth": settings.max_depth,
        "max_bin": settings.max_bin,
        "min_data_in_leaf": settings.min_child_samples,
        "min_sum_hessian_in_leaf": 1e-6,  # the loss's own scale is 1/|B|
        "bagging_fraction": settings.subsample,
        "bagging_freq": 1,  # without it the fraction does nothing
        "feature_fraction": settings.colsample_bytree,
        "feature_pre_filter": False,
        "seed": seed,
        "deterministic": True,  # the same trees for any number of threads
        # the same trees either way: by columns is faster for a few leaves on sampled columns, by rows for many leaves;
        # where many columns are indicators, dense ones are a fifth faster by columns, sparse ones a tenth by rows
        "force_col_wise" if settings.num_leaves <= FEW_LEAVES else "force_row_wise": True,
        "is_enable_sparse": settings.num_leaves > FEW_LEAVES,
        "num_threads": threads,
        "verbosity": -1,
    }
