"""BootstrappedRanker: a survival model retrained for the top of the list (section 5, appendix E)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._threads import one_thread
from ...checks import check_choice, check_number, check_whole
from ...errors import RequestError
from ...outcome import resolve_horizon
from .._estimator import count_threads
from .._labelling import Labelling
from .._rankers import Ranker
from .._rows import check_relevance, read_outcomes
from .._shared import SharedWork
from ..trees import BoosterSettings, TreeSettings
from ._fitting import HybridShape, SecondStage

if TYPE_CHECKING:
    import lightgbm
    from numpy.typing import ArrayLike

    from ..._typing import RandomState, TableLike
    from ...outcome import OutcomeLike


class BootstrappedRanker(Ranker):
    """The paper's ranker: a survival model retrained for the top of the list.

    Stage 1 fits the base model and imputes censored lifetimes: pseudo-labels. Stage 2 learns to rank by them: one
    LightGBM model (or a network) with squared error and a hinge weighted by the change in NDCG, over query groups that
    are redrawn at every round. The defaults are those of the paper's Table A1. Ours are the share of the rows that is
    held out and the criterion for stopping (the hybrid loss itself, over groups drawn once), the offset (the mean
    label), groups of nearly equal size, and the calibration of the scores to years on the held-out rows.

    Parameters
    ----------
    base : survival model, optional
        Any model of `lifeyears.models`, or one that `lifeyears.models.wrap` accepts; None means Cox. It is fitted to
        the matrix that `preprocessor_` makes, without column names.
    tau : float, optional
        The horizon; None means the largest training time.
    label : {"ey", "dr"}, default "ey"
        Pseudo-labels: the paper's (expected years), or doubly robust ones. The latter may lie outside [0, τ]; within
        the change in NDCG they are clipped to it.
    cross_fit_base : bool, default False
        Whether the label of a row comes from a base model that was fitted without the row.
    censoring : survival model, optional
        Model of the censoring times, for doubly robust labels and for the calibration; None means Cox.
    second_stage : {"gbdt", "mlp"}, default "gbdt"
        Boosted trees, or a neural network (needs torch) with the same loss. The network ignores LightGBM's settings.
    alpha : float, default 0.3
        Weight of the squared error in the hybrid loss; 1 is squared error alone.
    margin : float, default 1.0
        Margin of the hinge: one unit of time. The paper's is a year; pass a year in your unit (365.25 with times in
        days), or use `lifeyears.ranking.build_ranker`, which does.
    group_size : int, default 256
        Number of patients in a query group.
    n_estimators : int, default 100
        Largest number of boosting rounds.
    learning_rate : float, default 0.05
        Factor by which each tree is shrunk.
    trees : TreeSettings, optional
        The shape of the trees; None means that of Table A1.
    early_stopping_rounds : int, default 50
        Stop when the hybrid loss of the held-out rows has not decreased for this many rounds; 0 means never.
    validation_fraction : float, default 0.1
        Share of the rows that is held out for stopping and for calibration.
    random_state : int, RandomState or None
        Seed of all random choices.
    n_jobs : int, optional
        Number of threads; None means one per core, or one inside a worker process. It does not change the result.

    Attributes
    ----------
    base_ : fitted base model, or None if relevance was given
    tau_ : float
        The horizon.
    booster_ : lightgbm.Booster
        The second stage, if it consists of trees.
    pseudo_labels_ : array, shape (n,)
    report_ : RankerReport
    preprocessor_ : TablePreprocessor
        Turns tables, with categories and missing values, into a matrix.
    held_out_ : array or None
        Years predicted for held-out rows by a calibration that was fitted without them (NaN elsewhere; only the number
        of trees was chosen with them).
    held_out_outcomes_ : array or None
        Doubly robust outcomes of these rows.

    See Also
    --------
    StackedRanker : The ensemble that performed best in our experiments.

    References
    ----------
    Zilberstein, S., Anagnostides, I., Sandholm, T. (2026). Section 5 and appendix E.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=600)
    >>> ranker = BootstrappedRanker(tau=10, n_estimators=5, random_state=0).fit(d.X, d.y)
    >>> ranker.predict(d.X).shape, ranker.tau_
    ((600,), 10.0)
    """

    def __init__(
        self,
        base: object | None = None,
        tau: float | None = None,
        label: Literal["ey", "dr"] = "ey",
        cross_fit_base: bool = False,
        censoring: object | None = None,
        second_stage: Literal["gbdt", "mlp"] = "gbdt",
        alpha: float = 0.3,
        margin: float = 1.0,
        group_size: int = 256,
        n_estimators: int = 100,
        learning_rate: float = 0.05,
        trees: TreeSettings | None = None,
        early_stopping_rounds: int = 50,
        validation_fraction: float = 0.1,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.base = base
        self.tau = tau
        self.label = label
        self.cross_fit_base = cross_fit_base
        self.censoring = censoring
        self.second_stage = second_stage
        self.alpha = alpha
        self.margin = margin
        self.group_size = group_size
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.trees = trees
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit_sharing(self, X: TableLike, y: OutcomeLike, shared: SharedWork) -> Self:
        matrix = self._training_matrix(X, shared)
        stage = self._second_stage(len(matrix), shared)
        outcome = read_outcomes(y, len(matrix), type(self).__name__)
        self.tau_ = resolve_horizon(self.tau, outcome)
        with one_thread():
            fit = stage.fit_outcomes(matrix, outcome, self._labelling(stage.seed), bool(self.cross_fit_base))
        return self._store(fit, matrix)

    def fit_relevance(self, X: TableLike, relevance: ArrayLike) -> Self:
        """Fit the second stage alone, to known relevance: there is no base model.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            Features; they may hold categories and missing values.
        relevance : array of numbers, shape (n,)
            What each row is worth; higher is better. Nothing may be censored.

        Returns
        -------
        self

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> ranker = BootstrappedRanker(n_estimators=50, random_state=0).fit_relevance(X, np.exp(X[:, 0]))
        >>> bool(np.corrcoef(ranker.predict(X), X[:, 0])[0, 1] > 0.7)
        True
        """
        matrix = self._training_matrix(X, SharedWork())
        stage = self._second_stage(len(matrix), SharedWork())
        values = check_relevance(relevance, len(matrix))
        self.tau_ = float(values.max())
        with one_thread():
            fit = stage.fit_relevance(matrix, values)
        return self._store(fit, matrix)

    @property
    def booster_(self) -> lightgbm.Booster:
        """The LightGBM booster of the second stage."""
        check_is_fitted(self)
        if self.second_stage != "gbdt":
            raise AttributeError("the second stage of this ranker is a network: there is no booster")
        booster: lightgbm.Booster = self.members_["years"][0].booster  # type: ignore[attr-defined]
        return booster

    def _labelling(self, seed: int) -> Labelling:
        return Labelling(self.base, self.censoring, self.tau_, self.label, literal=True, seed=seed)

    def _second_stage(self, n: int, shared: SharedWork) -> SecondStage:
        """Return the settings of the second stage, checked, for n rows."""
        check_choice("second_stage", self.second_stage, ("gbdt", "mlp"))
        check_choice("label", self.label, ("ey", "dr"))
        if not isinstance(self.cross_fit_base, (bool, np.bool_)):
            raise RequestError(f"cross_fit_base must be True or False; got {self.cross_fit_base!r}")
        check_number("alpha", self.alpha, 0, 1)
        check_number("margin", self.margin, 0)
        check_whole("group_size", self.group_size, 2)
        check_number("validation_fraction", self.validation_fraction, 0, 0.9)
        trees = (TreeSettings() if self.trees is None else self.trees).resolve(n)
        return SecondStage(
            loss=HybridShape(self.alpha, self.margin, self.group_size),
            booster=BoosterSettings(self.n_estimators, self.learning_rate, trees, self.early_stopping_rounds),
            network=self.second_stage == "mlp",
            validation_fraction=self.validation_fraction,
            seed=self._draw_seed(),
            threads=count_threads(self.n_jobs),
            shared=shared,
        )
