"""Gradient boosting by LightGBM, XGBoost and CatBoost with survival objectives."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...checks import check_choice, check_positive, check_whole
from ...curves import MOST_GRID_POINTS
from ...outcome import Outcome
from .._base import SurvivalModel, check_has_events
from .._proportional import ProportionalHazards
from ..adapters import (
    DISTRIBUTIONS,
    CatBoostCoxAdapter,
    LightGBMAdapter,
    ProportionalAdapter,
    XGBoostAFTAdapter,
    XGBoostCoxAdapter,
)
from ._library import draw_seed, import_library

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike
    from ...outcome import OutcomeLike

PEERS = '"lifeyears[peers]"'


class BoostedCox(ProportionalHazards):
    """Boosted trees for the log hazard, h(t|x) = h₀(t)·exp(f(x)), with Breslow's baseline hazard.

    A subclass makes the model of its library in `_make` and names its adapter.
    """

    adapter: ClassVar[type[ProportionalAdapter]]
    n_estimators: int
    learning_rate: float
    random_state: int | np.random.RandomState | None

    @abstractmethod
    def _make(self, seed: int) -> Any:
        """Return the model of the library, not fitted."""

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        check_whole("n_estimators", self.n_estimators, low=1)
        check_positive("learning_rate", self.learning_rate)
        adapter = self.adapter(self._make(draw_seed(self.random_state)))
        adapter.fit(X, y, sample_weight)
        self.model_ = adapter.model
        assert adapter.baseline is not None
        self._keep_baseline(adapter.baseline, self._eta(X))

    def _eta(self, X: FloatArray) -> FloatArray:
        return self.adapter(self.model_).log_hazards(X)


class LightGBMCox(BoostedCox):
    """LightGBM trained with Cox's partial likelihood (Breslow's ties), and Breslow's baseline hazard.

    LightGBM has no survival objective: gradient and Hessian of the partial likelihood are computed here. Curves are
    right-continuous steps at the event times. One thread per fit.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    learning_rate : float, default 0.05
    num_leaves : int, default 8
        Largest number of leaves of a tree.
    min_child_samples : int, default 20
        Smallest number of rows in a leaf.
    subsample : float, default 0.8
        Share of the rows drawn for each tree.
    colsample_bytree : float, default 0.8
        Share of the columns drawn for each tree.
    reg_lambda : float, default 1.0
        Ridge penalty on the values of the leaves.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    random_state : int, RandomState or None
        Same seed, same trees.

    Attributes
    ----------
    model_ : lightgbm.LGBMRegressor
        Its raw score is the log hazard. It is not fitted if all columns are constant.
    baseline_times_, baseline_hazard_ : arrays
        Breslow's cumulative hazard H₀ for f(x) = 0.
    tau_ : float
        The horizon in use.

    References
    ----------
    Ke et al. (2017), LightGBM: a highly efficient gradient boosting decision tree. NeurIPS 30.
    Ridgeway (1999), The state of boosting. Computing Science and Statistics 31, 172–181.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 100)[:, None]
    >>> model = LightGBMCox(random_state=0).fit(x, (np.ones(100), 2.0 + x[:, 0]))
    >>> bool(model.predict([[0.9]])[0] > model.predict([[-0.9]])[0])
    True
    """

    adapter = LightGBMAdapter

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.05,
        num_leaves: int = 8,
        min_child_samples: int = 20,
        subsample: float = 0.8,
        colsample_bytree: float = 0.8,
        reg_lambda: float = 1.0,
        tau: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.tau = tau
        self.random_state = random_state

    def _make(self, seed: int) -> Any:
        import lightgbm

        return lightgbm.LGBMRegressor(
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            num_leaves=self.num_leaves,
            min_child_samples=self.min_child_samples,
            subsample=self.subsample,
            subsample_freq=1,  # without it the share of the rows does nothing
            colsample_bytree=self.colsample_bytree,
            reg_lambda=self.reg_lambda,
            random_state=seed,
            deterministic=True,
            force_row_wise=True,
            n_jobs=1,
            verbosity=-1,
        )


class UnweightedBoostedCox(BoostedCox):
    """A boosted Cox model of a library that leaves weights out of the risk sets: it takes none."""

    def fit(self, X: TableLike, y: OutcomeLike) -> Self:  # type: ignore[override]  # see above
        """Fit the model; unlike other models it takes no sample_weight.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            Numeric features without missing values.
        y : Outcome or what `lifeyears.as_outcome` reads
            Observed times and events.

        Returns
        -------
        self
        """
        return super().fit(X, y)


class XGBoostCox(UnweightedBoostedCox):
    """XGBoost with the objective ``survival:cox``, and Breslow's baseline hazard.

    Curves are right-continuous steps at the event times. One thread per fit. `fit` takes no
    sample weights, which XGBoost leaves out of the risk sets. Needs xgboost.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    learning_rate : float, default 0.05
    max_depth : int, default 3
    min_child_weight : float, default 1.0
        Smallest sum of Hessians in a leaf.
    subsample : float, default 0.8
        Share of the rows drawn for each tree.
    colsample_bytree : float, default 0.8
        Share of the columns drawn for each tree.
    reg_lambda : float, default 1.0
        Ridge penalty on the values of the leaves.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    random_state : int, RandomState or None
        Same seed, same trees.

    Attributes
    ----------
    model_ : xgboost.XGBRegressor
        Its margin is the log hazard.
    baseline_times_, baseline_hazard_ : arrays
        Breslow's cumulative hazard H₀ for a margin of 0.
    tau_ : float
        The horizon in use.

    References
    ----------
    Chen and Guestrin (2016), XGBoost: a scalable tree boosting system. KDD, 785–794.
    """

    adapter = XGBoostCoxAdapter
    requires = ("xgboost",)

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.05,
        max_depth: int = 3,
        min_child_weight: float = 1.0,
        subsample: float = 0.8,
        colsample_bytree: float = 0.8,
        reg_lambda: float = 1.0,
        tau: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.tau = tau
        self.random_state = random_state

    def _make(self, seed: int) -> Any:
        xgboost = import_library("xgboost", "XGBoostCox", PEERS)
        return xgboost.XGBRegressor(objective="survival:cox", **_xgboost_settings(self, seed))


class XGBoostAFT(SurvivalModel):
    """XGBoost with the objective ``survival:aft``: log T = μ(x) + σZ, μ a sum of trees.

    Curves are those of the distribution of Z with the σ that the model was trained with. On a grid they are straight
    between its times. One thread per fit. Needs xgboost.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    learning_rate : float, default 0.05
    max_depth : int, default 3
    min_child_weight : float, default 1.0
        Smallest sum of Hessians in a leaf.
    subsample : float, default 0.8
        Share of the rows drawn for each tree.
    colsample_bytree : float, default 0.8
        Share of the columns drawn for each tree.
    reg_lambda : float, default 1.0
        Ridge penalty on the values of the leaves.
    distribution : {"normal", "logistic", "extreme"}, default "normal"
        Of Z; "extreme" makes T Weibull.
    scale : float, default 1.0
        σ. XGBoost does not estimate it, and the spread of the curves depends on it: choose it by cross-validation.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    random_state : int, RandomState or None
        Same seed, same trees.

    Attributes
    ----------
    model_ : xgboost.XGBRegressor
        Its margin is μ(x).
    longest_ : float
        The last time of the model's own grid: the largest training time, or the horizon if that is later.
    tau_ : float
        The horizon in use.

    References
    ----------
    Barnwal, Cho and Hocking (2022), Survival regression with accelerated failure time model in XGBoost. Journal of
    Computational and Graphical Statistics 31, 1292–1302.
    """

    interpolation = "linear"
    requires = ("xgboost",)

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.05,
        max_depth: int = 3,
        min_child_weight: float = 1.0,
        subsample: float = 0.8,
        colsample_bytree: float = 0.8,
        reg_lambda: float = 1.0,
        distribution: str = "normal",
        scale: float = 1.0,
        tau: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.distribution = distribution
        self.scale = scale
        self.tau = tau
        self.random_state = random_state

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        xgboost = import_library("xgboost", "XGBoostAFT", PEERS)
        check_whole("n_estimators", self.n_estimators, low=1)
        check_choice("distribution", self.distribution, DISTRIBUTIONS)
        check_has_events(y, "XGBoostAFT")
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        # the exponential model without features: trees that start there need not climb to the unit of the times
        typical = float(weight @ y.time) / float(weight @ y.event)
        model = xgboost.XGBRegressor(
            objective="survival:aft",
            aft_loss_distribution=self.distribution,
            aft_loss_distribution_scale=check_positive("scale", self.scale),
            base_score=typical,
            **_xgboost_settings(self, draw_seed(self.random_state)),
        )
        adapter = XGBoostAFTAdapter(model)
        adapter.fit(X, y, sample_weight)
        self.model_ = adapter.model
        self.longest_ = float(max(y.time.max(), self.tau_))

    def _grid(self) -> tuple[FloatArray, FloatArray]:
        times = self.longest_ * np.linspace(0, 1, MOST_GRID_POINTS) ** 2
        return times, times

    def _survival(self, X: FloatArray, times: FloatArray) -> FloatArray:
        return XGBoostAFTAdapter(self.model_).curves(X, times).survival


class CatBoostCox(UnweightedBoostedCox):
    """CatBoost with the loss function ``Cox``, and Breslow's baseline hazard.

    Curves are right-continuous steps at the event times. One thread per fit; no files are written. `fit` takes no
    sample weights. Needs catboost.

    Parameters
    ----------
    n_estimators : int, default 300
        Number of trees.
    learning_rate : float, default 0.05
    depth : int, default 4
    l2_leaf_reg : float, default 3.0
        Ridge penalty on the values of the leaves.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    random_state : int, RandomState or None
        Same seed, same trees.

    Attributes
    ----------
    model_ : catboost.CatBoostRegressor
        Its raw prediction is the log hazard.
    baseline_times_, baseline_hazard_ : arrays
        Breslow's cumulative hazard H₀ for a raw prediction of 0.
    tau_ : float
        The horizon in use.

    References
    ----------
    Prokhorenkova et al. (2018), CatBoost: unbiased boosting with categorical features. NeurIPS 31.
    """

    adapter = CatBoostCoxAdapter
    requires = ("catboost",)

    def __init__(
        self,
        n_estimators: int = 300,
        learning_rate: float = 0.05,
        depth: int = 4,
        l2_leaf_reg: float = 3.0,
        tau: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.depth = depth
        self.l2_leaf_reg = l2_leaf_reg
        self.tau = tau
        self.random_state = random_state

    def _make(self, seed: int) -> Any:
        catboost = import_library("catboost", "CatBoostCox", "catboost")
        return catboost.CatBoostRegressor(
            loss_function="Cox",
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            depth=self.depth,
            l2_leaf_reg=self.l2_leaf_reg,
            random_seed=seed,
            thread_count=1,
            allow_writing_files=False,
            verbose=False,
        )


def _xgboost_settings(model: XGBoostCox | XGBoostAFT, seed: int) -> dict[str, Any]:
    return {
        "n_estimators": model.n_estimators,
        "learning_rate": model.learning_rate,
        "max_depth": model.max_depth,
        "min_child_weight": model.min_child_weight,
        "subsample": model.subsample,
        "colsample_bytree": model.colsample_bytree,
        "reg_lambda": model.reg_lambda,
        "tree_method": "hist",
        "random_state": seed,
        "n_jobs": 1,
        "verbosity": 0,
    }
