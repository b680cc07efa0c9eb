"""Members that are boosted trees or a network: of years, and of hazards."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import FloatArray, IntArray
from ...checks import check_number, check_whole
from .._network import train_network
from .._piecewise import choose_cut_points, restrict_to_interval, sum_expected_life
from ..loss import HybridObjective
from ..trees import (
    SHALLOW_TREES,
    BoostedInterval,
    BoosterSettings,
    HazardTrees,
    PartialLikelihoodObjective,
    TreeSettings,
    YearsTrees,
    bin_columns,
    predict_stages,
    train_booster,
)
from ._members import FoldFit, LabelMember, Member, TrainingRows

if TYPE_CHECKING:
    import lightgbm

    from ..._typing import RandomState

N_STAGES = 12


def choose_stages(rounds: int) -> IntArray:
    """Return the numbers of rounds among which the best is chosen."""
    return np.unique(np.linspace(0, rounds, N_STAGES + 1)[1:].round().clip(min=1).astype(int))


def bin_rows(rows: TrainingRows, settings: BoosterSettings) -> lightgbm.Dataset:
    """Bin the columns of some rows, once for all members with the same trees."""
    return rows.shared.get(lambda: bin_columns(rows.X, settings, rows.seed), "table", rows.seed, settings.trees)


class BoostedYears(LabelMember):
    """Boosted trees that add up to expected years: squared error on doubly robust labels.

    The paper's second stage, with shallower trees and without the ranking part of the loss unless ``alpha`` is below 1.
    Alone, `fit` computes the labels with cross-fitted Cox models; `StackedRanker` computes them with its base model.

    Parameters
    ----------
    tau : float, optional
        The horizon; None means the largest training time. `StackedRanker` passes its own.
    n_estimators : int, default 600
        Number of boosting rounds. `StackedRanker` chooses among twelve stages of them on held-out rows; alone, all are
        used.
    learning_rate : float, default 0.05
        Factor by which each tree is shrunk.
    trees : TreeSettings, optional
        The shape of the trees; None means four leaves (docs/method.md).
    alpha : float, default 1.0
        Weight of the squared error in the hybrid loss; 1 is squared error alone.
    margin : float, default 1.0
        Margin of the hinge, in the unit of time.
    group_size : int, default 256
        Number of patients in a query group.
    random_state : int, RandomState or None
        Seed of all random choices. `StackedRanker` passes its own.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> member = BoostedYears(n_estimators=50, random_state=0).fit_relevance(X, X[:, 0])
    >>> bool(np.corrcoef(member.predict(X), X[:, 0])[0, 1] > 0.9)
    True
    """

    def __init__(
        self,
        tau: float | None = None,
        n_estimators: int = 600,
        learning_rate: float = 0.05,
        trees: TreeSettings | None = None,
        alpha: float = 1.0,
        margin: float = 1.0,
        group_size: int = 256,
        random_state: RandomState = None,
    ) -> None:
        self.tau = tau
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.trees = trees
        self.alpha = alpha
        self.margin = margin
        self.group_size = group_size
        self.random_state = random_state

    def check(self) -> None:
        """Refuse settings that cannot be used."""
        check_number("alpha", self.alpha, 0, 1)
        check_number("margin", self.margin, 0)
        check_whole("group_size", self.group_size, 2)
        BoosterSettings(self.n_estimators, self.learning_rate, self.trees or SHALLOW_TREES)

    def fit_stages(self, rows: TrainingRows, new: FloatArray) -> FoldFit:
        """Fit to some rows, starting from the mean label, and predict others after each stage."""
        trees = (self.trees or SHALLOW_TREES).resolve(rows.n_cohort)
        settings = BoosterSettings(self.n_estimators, self.learning_rate, trees)
        centre = float(rows.labels.mean())
        objective = HybridObjective(rows.labels, self.alpha, self.margin, self.group_size, rows.seed, rows.gains)
        booster = train_booster(bin_rows(rows, settings), objective, centre, settings, rows.seed, threads=1)
        rounds = choose_stages(self.n_estimators)
        stages = [YearsTrees(booster, centre, int(count)) for count in rounds]
        return FoldFit(predict_stages(booster, new, centre, rounds), list(stages))


class NetworkYears(LabelMember):
    """A neural network of expected years (needs torch), with the loss of `BoostedYears`.

    Parameters
    ----------
    tau : float, optional
        The horizon; None means the largest training time. `StackedRanker` passes its own.
    alpha, margin, group_size : as for `BoostedYears`
    random_state : int, RandomState or None
        Seed of all random choices. `StackedRanker` passes its own.

    Examples
    --------
    >>> NetworkYears(alpha=0.3)
    NetworkYears(alpha=0.3)
    """

    def __init__(
        self,
        tau: float | None = None,
        alpha: float = 1.0,
        margin: float = 1.0,
        group_size: int = 256,
        random_state: RandomState = None,
    ) -> None:
        self.tau = tau
        self.alpha = alpha
        self.margin = margin
        self.group_size = group_size
        self.random_state = random_state

    def check(self) -> None:
        """Refuse settings that cannot be used."""
        check_number("alpha", self.alpha, 0, 1)
        check_number("margin", self.margin, 0)
        check_whole("group_size", self.group_size, 2)

    def fit_stages(self, rows: TrainingRows, new: FloatArray) -> FoldFit:
        """Fit to some rows, and predict others."""
        shape = (self.alpha, self.margin, self.group_size)
        network = train_network(rows.X, rows.labels, rows.gains, *shape, rows.seed)
        return FoldFit(network.predict(new)[None], [network])


class BoostedHazards(Member):
    """Boosted hazards: gradient boosting of Cox's partial likelihood, piecewise in time.

    Within each interval of follow-up hazards are proportional, with a booster of their own; years are the restricted
    mean of the whole curve.

    Parameters
    ----------
    tau : float, optional
        The horizon; None means the largest training time. `StackedRanker` passes its own.
    n_intervals : int, default 2
        Number of intervals of time with effects of their own; fewer where events are few.
    n_estimators : int, default 600
        Number of boosting rounds in each interval. `StackedRanker` chooses among twelve stages of them on held-out
        rows; alone, all are used.
    learning_rate : float, default 0.05
        Factor by which each tree is shrunk.
    trees : TreeSettings, optional
        The shape of the trees; None means four leaves (docs/method.md).
    random_state : int, RandomState or None
        Seed of all random choices. `StackedRanker` passes its own.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=400)
    >>> BoostedHazards(tau=10, n_estimators=20, random_state=0).fit(d.X, d.y).predict(d.X).shape
    (400,)
    """

    def __init__(
        self,
        tau: float | None = None,
        n_intervals: int = 2,
        n_estimators: int = 600,
        learning_rate: float = 0.05,
        trees: TreeSettings | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.tau = tau
        self.n_intervals = n_intervals
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.trees = trees
        self.random_state = random_state

    def check(self) -> None:
        """Refuse settings that cannot be used."""
        check_whole("n_intervals", self.n_intervals, 1, 10)
        BoosterSettings(self.n_estimators, self.learning_rate, self.trees or SHALLOW_TREES)

    def fit_stages(self, rows: TrainingRows, new: FloatArray) -> FoldFit:
        """Fit boosted partial likelihoods to some rows, and predict others after each stage."""
        trees = (self.trees or SHALLOW_TREES).resolve(rows.n_cohort)
        settings = BoosterSettings(self.n_estimators, self.learning_rate, trees)
        table, rounds = bin_rows(rows, settings), choose_stages(self.n_estimators)
        intervals: list[list[BoostedInterval]] = [[] for _ in rounds]  # by stage
        scores: list[list[FloatArray]] = [[] for _ in rounds]
        for start, stop in pairwise(choose_cut_points(rows.outcomes, rows.tau, self.n_intervals)):
            alive, within = restrict_to_interval(rows.outcomes, start, stop)
            objective = PartialLikelihoodObjective(within)
            some = table if alive.all() else table.subset(np.flatnonzero(alive))
            booster = train_booster(some, objective, 0.0, settings, rows.seed, threads=1)
            trained, predicted = (predict_stages(booster, matrix, 0.0, rounds) for matrix in (rows.X[alive], new))
            for stage in range(len(rounds)):
                interval = BoostedInterval.from_scores(booster, objective, trained[stage], float(stop - start))
                intervals[stage].append(interval)
                scores[stage].append(predicted[stage])
        held_out = np.array([sum_expected_life(intervals[stage], scores[stage]) for stage in range(len(rounds))])
        stages = [HazardTrees(tuple(parts), int(count)) for parts, count in zip(intervals, rounds, strict=True)]
        return FoldFit(held_out, list(stages))
