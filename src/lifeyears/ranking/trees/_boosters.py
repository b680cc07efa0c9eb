"""The second stage as LightGBM: trees that add up to years, or to the logarithm of a hazard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._typing import FloatArray, IntArray
from ...models.fitting import Baseline, RiskSets
from ...outcome import Outcome
from .._piecewise import HazardInterval, linearise_expected_life, sum_expected_life
from ._settings import BoosterSettings
from ._shallow import tabulate_trees

if TYPE_CHECKING:
    import lightgbm

FEW_LEAVES = 8
Objective = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class YearsTrees:
    """Expected years f(x) = centre + Σ trees.

    LightGBM takes no offset from a custom objective, so that the mean label is kept here.
    """

    additive: ClassVar[bool] = True
    n_terms: ClassVar[int | None] = None

    booster: lightgbm.Booster
    centre: float
    rounds: int

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the expected years of each row."""
        return self.centre + sum_trees(self.booster, self.rounds, X)

    def predict_contributions(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return years, and their Shapley values (n, p + 1), the last being what all rows share."""
        sums, parts = compute_shapley_values(self.booster, self.rounds, X)
        parts[:, -1] += self.centre
        return self.centre + sums, parts


@dataclass(frozen=True, eq=False)
class BoostedInterval(HazardInterval):
    """An interval whose log hazard is f(x) = Σ trees."""

    booster: lightgbm.Booster

    @classmethod
    def from_scores(
        cls, booster: lightgbm.Booster, objective: PartialLikelihoodObjective, scores: FloatArray, length: float
    ) -> BoostedInterval:
        """Make an interval with Breslow's baseline for the scores of the training rows."""
        baseline = objective.estimate_baseline(scores)
        return cls(baseline, baseline.life_table(scores, length), length, booster)


@dataclass(frozen=True, eq=False)
class HazardTrees:
    """Hazards that are proportional within each interval; years are the restricted mean of the whole curve."""

    additive: ClassVar[bool] = True
    n_terms: ClassVar[int | None] = None

    intervals: tuple[BoostedInterval, ...]
    rounds: int

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the expected years of each row."""
        log_hazards = [sum_trees(interval.booster, self.rounds, X) for interval in self.intervals]
        return sum_expected_life(self.intervals, log_hazards)

    def predict_contributions(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return years, and what each column adds to them (n, p + 1), the last being what all rows share.

        Shapley values of the log hazards are scaled to add up to years.
        """
        values = [compute_shapley_values(interval.booster, self.rounds, X) for interval in self.intervals]
        sums, parts = zip(*values, strict=True)
        years, typical, slopes = linearise_expected_life(self.intervals, sums, [part[:, -1] for part in parts])
        total = parts[0]
        for place, (part, slope) in enumerate(zip(parts, slopes, strict=True)):
            part *= slope[:, None]  # in place: nobody else has these arrays
            if place:
                total += part
        total[:, -1] = typical
        return years, total


def sum_trees(booster: lightgbm.Booster, rounds: int, X: FloatArray) -> FloatArray:
    """Return the sum of the first trees of a booster."""
    trees = tabulate_trees(booster, rounds)
    return np.asarray(booster.predict(X, num_iteration=rounds)) if trees is None else trees.predict(X)


def compute_shapley_values(booster: lightgbm.Booster, rounds: int, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sum of the first trees, and its Shapley values (n, p + 1), the last being what all rows share."""
    trees = tabulate_trees(booster, rounds)
    if trees is not None:
        return trees.predict_contributions(X)
    parts = booster.predict(X, num_iteration=rounds, pred_contrib=True)
    return np.asarray(booster.predict(X, num_iteration=rounds)), np.asarray(parts)


class PartialLikelihoodObjective:
    """Gradient and Hessian of Cox's negative log partial likelihood (Breslow's ties) in the scores."""

    def __init__(self, y: Outcome) -> None:
        self.sets = RiskSets.of(y, None, "breslow")

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
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

    def estimate_baseline(self, scores: FloatArray) -> Baseline:
        """Return Breslow's cumulative hazard for these scores."""
        return Baseline.breslow(self.sets, scores[self.sets.order])


def bin_columns(X: FloatArray, settings: BoosterSettings, seed: int) -> lightgbm.Dataset:
    """Bin the columns for LightGBM, once for all members."""
    import lightgbm

    return lightgbm.Dataset(X, params=_parameters(settings, seed, threads=1), free_raw_data=False)


def train_booster(
    table: lightgbm.Dataset,
    objective: Objective,
    start: FloatArray | float,
    settings: BoosterSettings,
    seed: int,
    threads: int,
    held_out: Callable[[FloatArray], float] | None = None,
    held_out_table: lightgbm.Dataset | None = None,
) -> lightgbm.Booster:
    """Train a booster from `start`; with held-out rows, stop when their loss has not fallen for a while."""
    import lightgbm

    parameters = _parameters(settings, seed, threads)
    parameters["objective"] = lambda scores, _: objective(start + scores)
    extra: dict[str, Any] = {}
    if held_out is not None and settings.early_stopping_rounds:
        parameters["metric"] = "None"
        extra["valid_sets"] = [held_out_table]
        extra["feval"] = lambda scores, _: ("held out", held_out(scores), False)
        extra["callbacks"] = [lightgbm.early_stopping(settings.early_stopping_rounds, verbose=False)]
    return lightgbm.train(parameters, table, settings.n_estimators, **extra)


def predict_stages(booster: lightgbm.Booster, X: FloatArray, start: float, rounds: IntArray) -> FloatArray:
    """Return the scores after some numbers of rounds, (len(rounds), n)."""
    trees = tabulate_trees(booster, int(rounds[-1]))
    if trees is not None:
        return start + trees.predict_stages(X, rounds)
    scores, last = [np.full(len(X), start)], 0
    for count in rounds:
        scores.append(scores[-1] + booster.predict(X, start_iteration=last, num_iteration=count - last, num_threads=1))
        last = count
    return np.array(scores[1:])


def _parameters(settings: BoosterSettings, seed: int, threads: int) -> dict[str, Any]:
    trees = settings.trees
    return {
        "learning_rate": settings.learning_rate,
        "num_leaves": trees.num_leaves,
        "max_depth": trees.max_depth,
        "max_bin": trees.max_bin,
        "min_data_in_leaf": trees.min_child_samples,
        "min_sum_hessian_in_leaf": 1e-6,  # the loss's own scale is 1/|B|
        "bagging_fraction": trees.subsample,
        "bagging_freq": 1,  # without it the fraction does nothing
        "feature_fraction": trees.colsample_bytree,
        "feature_pre_filter": False,
        "seed": seed,
        "deterministic": True,  # the same trees for any number of threads
        # the same trees either way: by columns is faster for a few leaves on sampled columns, by rows for many leaves;
        # where many columns are indicators, dense ones are a fifth faster by columns, sparse ones a tenth by rows
        "force_col_wise" if trees.num_leaves <= FEW_LEAVES else "force_row_wise": True,
        "is_enable_sparse": trees.num_leaves > FEW_LEAVES,
        "num_threads": threads,
        "verbosity": -1,
    }
