"""Other libraries' survival models behind our interface, recognised by module name; nothing of theirs is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from .._threads import one_thread
from ..curves import SurvivalCurves, check_grid, row_blocks, thin_steps
from ..errors import RequestError
from ..outcome import as_outcome
from ._base import SurvivalModel, check_same_length
from .adapters import Adapter, adapt, count_rows

if TYPE_CHECKING:
    from .._typing import FloatArray, TableLike
    from ..outcome import OutcomeLike


def wrap(model: Any, tau: float | None = None, baseline: tuple[TableLike, OutcomeLike] | None = None) -> SurvivalModel:
    """Give another library's survival model the interface of `lifeyears.models`.

    Parameters
    ----------
    model : object
        A survival model of another library, fitted or not:

        - scikit-survival: CoxPHSurvivalAnalysis, CoxnetSurvivalAnalysis with ``fit_baseline_model=True``,
          RandomSurvivalForest, ExtraSurvivalTrees, GradientBoostingSurvivalAnalysis; IPCRidge, which predicts times but
          no curves;
        - lifelines: CoxPHFitter, WeibullAFTFitter, LogNormalAFTFitter, KaplanMeierFitter, …;
        - XGBoost: a model with ``objective="survival:cox"`` or ``"survival:aft"``;
        - CatBoost: a model with ``loss_function="Cox"`` or ``"SurvivalAft:dist=Normal;scale=1"``;
        - LightGBM: LGBMRegressor without an objective, which is trained with Cox's partial likelihood;
        - hazardous: SurvivalBoost;
        - a scikit-learn Pipeline that ends in any of these or in a model of ours;
        - a function X → curves (`SurvivalCurves` or a pair of times and an (n, m) array).

        Models that predict log hazards only get Breslow's estimate of the baseline hazard; accelerated failure time
        objectives get the curves of the distribution that they were trained with.
    tau : float, optional
        Horizon of `predict`; None means the wrapped model's own, else the largest time it knows from training.
    baseline : pair of a table and an outcome, optional
        The rows that a fitted XGBoost, CatBoost or LightGBM Cox model was trained on, for Breslow's estimate: these
        libraries keep no baseline hazard. It is not needed if the model is fitted by `fit`.

    Returns
    -------
    SurvivalModel
        A model of ours is returned as it is.

    Raises
    ------
    UnsupportedModelError
        If the model is none of these; the message lists what is supported.

    Examples
    --------
    >>> import numpy as np
    >>> known = wrap(lambda X: (np.array([1.0, 2.0]), np.tile([0.5, 0.0], (len(X), 1))))
    >>> known.predict(np.zeros((1, 3)))               # 1 + 0.5
    array([1.5])
    """
    if isinstance(model, SurvivalModel) and tau is None and baseline is None:
        return model
    adapt(model)  # refuse early what is not known
    return WrappedModel(model, tau=tau, baseline=baseline)


class WrappedModel(SurvivalModel):
    """Another library's model behind our interface; made by `wrap`.

    Parameters
    ----------
    model : object
        What is wrapped. `fit` trains a copy of it, `model_`; a model that is fitted already can be used at once.
    tau : float, optional
        Horizon of `predict`.
    baseline : pair of a table and an outcome, optional
        As for `wrap`.
    """

    def __init__(
        self, model: Any, tau: float | None = None, baseline: tuple[TableLike, OutcomeLike] | None = None
    ) -> None:
        self.model = model
        self.tau = tau
        self.baseline = baseline

    def fit(self, X: TableLike, y: OutcomeLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a copy of the model to X and y, in the form its library takes.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            What the model takes.
        y : Outcome or what `lifeyears.as_outcome` reads
        sample_weight : array, shape (n,), optional
            Where the model takes weights.

        Returns
        -------
        self
        """
        if y is None:
            raise RequestError(f"{type(self.model).__name__} requires y to be passed, but the target y is None")
        y = as_outcome(y)
        validate_data(self, X, skip_check_array=True)
        check_same_length(count_rows(X), y)
        weight = self._check_weight(sample_weight, np.zeros((len(y), 1)))
        adapter = adapt(clone(self.model, safe=False))
        with one_thread():
            adapter.fit(X, y, weight)
        own = adapter.horizon()
        self.tau_ = own if self.tau is None and own is not None else self._horizon(y)
        adapter.extend_to(self.tau_)
        self.model_, self._adapter = adapter.model, adapter
        return self

    def predict(self, X: TableLike) -> FloatArray:
        """Expected lifetime within the horizon; for a model without curves, the time it predicts.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            As for `fit`.

        Returns
        -------
        array, shape (n,)
            In the unit of the times; higher is longer, whatever the wrapped model's own `predict` gives.
        """
        adapter = self._fitted(X)
        if not adapter.gives_curves():
            return adapter.predict_times(X)
        tau = self._own_horizon(adapter)
        if tau is None:
            curves = adapter.curves(X, None)
            return curves.restricted_mean(float(curves.times[-1]))
        grid = adapter.grid()
        if grid is None:
            return adapter.curves(X, None).restricted_mean(tau)
        blocks = row_blocks(count_rows(X), len(grid))
        return np.concatenate([adapter.curves(_take(X, rows), grid).restricted_mean(tau) for rows in blocks])

    def predict_curves(self, X: TableLike, times: ArrayLike | None = None) -> SurvivalCurves:
        """Survival curves of every row.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            As for `fit`.
        times : array, shape (m,), optional
            The grid; without it, at most 512 times of the model's own (of a function, all that it gives).

        Returns
        -------
        SurvivalCurves
            ``.survival`` is (n, m).
        """
        adapter = self._fitted(X)
        if not adapter.gives_curves():
            raise TypeError(
                f"{type(adapter.model).__name__} predicts times but no survival curves, so it can be ranked and "
                "scored, but not serve as a base or nuisance model"
            )
        grid = adapter.grid()
        requested = None if times is None else check_grid(times)
        if grid is None:
            return adapter.curves(X, requested)
        shown, reached = thin_steps(grid) if requested is None else (requested, requested)
        parts = [adapter.curves(_take(X, rows), reached) for rows in row_blocks(count_rows(X), len(grid))]
        return SurvivalCurves(shown, np.concatenate([part.survival for part in parts]), parts[0].interpolation)

    @property
    def by_row(self) -> bool:  # type: ignore[override]
        """As of a model of ours; else it is not known: a function may know rows by their places, a Pipeline see all."""
        return isinstance(self.model, SurvivalModel) and self.model.by_row

    def _fitted(self, X: TableLike) -> Adapter:
        """Return the adapter of the fitted model: of our fitted copy, or of the one passed if it was fitted already."""
        if hasattr(self, "model_"):
            validate_data(self, X, skip_check_array=True, reset=False)
            return self._adapter
        adapter = self._adapt_as_it_is()
        if adapter.is_fitted():
            return adapter
        name = type(self.model).__name__
        if adapter.is_trained():
            raise NotFittedError(
                f"this {name} is fitted, but its library keeps no baseline hazard, without which there are no curves: "
                "call fit, or pass the training rows to wrap, baseline=(X, y)"
            )
        raise NotFittedError(f"this {name} is not fitted yet: call fit first")

    def _adapt_as_it_is(self) -> Adapter:
        """Return the adapter of the model that was passed, with its baseline where that can be estimated."""
        adapter = adapt(self.model)
        if self.baseline is not None and adapter.is_trained():
            rows, outcome = self.baseline
            adapter.estimate_baseline(rows, as_outcome(outcome))
        if self.tau is not None:
            adapter.extend_to(self.tau)
        return adapter

    def _own_horizon(self, adapter: Adapter) -> float | None:
        """Return τ where it is known: from `fit`, from the user, or from the last time of a model fitted elsewhere."""
        if hasattr(self, "tau_") or self.tau is not None:
            return getattr(self, "tau_", self.tau)
        own = adapter.horizon()
        if own is not None:
            return own
        grid = adapter.grid()
        return None if grid is None else float(grid[-1])

    def __sklearn_is_fitted__(self) -> bool:
        if hasattr(self, "model_"):
            return True
        adapter = adapt(self.model)
        return adapter.is_fitted() or (self.baseline is not None and adapter.is_trained())


def _take(X: TableLike, rows: slice) -> TableLike:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
