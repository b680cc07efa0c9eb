"""Other libraries' survival models behind our interface, recognised by module name; nothing of theirs is imported."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from ..curves import SurvivalCurves, checked_grid, row_blocks
from ..outcome import as_outcome
from ._adapters import Adapter, adapter_for
from ._base import SurvivalModel, thinned


def wrap(model: Any, tau: float | None = None) -> SurvivalModel:
    """Give another library's survival model the interface of `lifeyears.models`.

    Parameters
    ----------
    model : object
        One of: a scikit-survival model (CoxPHSurvivalAnalysis, CoxnetSurvivalAnalysis with
        ``fit_baseline_model=True``, RandomSurvivalForest, ExtraSurvivalTrees, GradientBoostingSurvivalAnalysis;
        IPCRidge, which gives times but no curves); a lifelines model (CoxPHFitter, WeibullAFTFitter,
        LogNormalAFTFitter, KaplanMeierFitter, …); a scikit-learn Pipeline that ends in any of these or in a model of
        ours; a function X → curves (`SurvivalCurves` or a pair of times and an (n, m) array). Fitted or not.
    tau : float, optional
        Horizon of `predict`; None means the wrapped model's own, else the largest time it knows from training.

    Returns
    -------
    SurvivalModel
        A model of ours is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> known = wrap(lambda X: (np.array([1.0, 2.0]), np.tile([0.5, 0.0], (len(X), 1))))
    >>> known.predict(np.zeros((1, 3)))               # 1 + 0.5
    array([1.5])
    """
    if isinstance(model, SurvivalModel) and tau is None:
        return model
    adapter_for(model)  # refuse early what is not known
    return WrappedModel(model, tau=tau)


class WrappedModel(SurvivalModel):
    """Another library's model behind our interface; made by `wrap`.

    Parameters
    ----------
    model : object
        What is wrapped. `fit` trains a copy of it, `model_`; a model that is fitted already can be used at once.
    tau : float, optional
        Horizon of `predict`.
    """

    def __init__(self, model: Any, tau: float | None = None) -> None:
        self.model = model
        self.tau = tau

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
            raise ValueError(f"{type(self.model).__name__} requires y to be passed, but the target y is None")
        y = as_outcome(y)
        validate_data(self, X, skip_check_array=True)
        if _rows(X) != len(y):
            raise ValueError(f"X has {_rows(X)} rows and y has {len(y)}: there must be one outcome for each row")
        weight = self._checked_weight(sample_weight, np.zeros((len(y), 1)))
        self.model_ = clone(self.model, safe=False)
        self._adapter().fit(self.model_, X, y, weight)
        own = self._adapter().horizon(self.model_)
        self.tau_ = own if self.tau is None and own is not None else self._horizon(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
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
        model = self._fitted(X)
        adapter = self._adapter()
        if not adapter.gives_curves(model):
            return adapter.times(model, X)
        tau = self._own_horizon(model)
        if tau is None:
            curves = adapter.curves(model, X, None)
            return curves.restricted_mean(float(curves.times[-1]))
        grid = adapter.grid(model)
        if grid is None:
            return adapter.curves(model, X, None).restricted_mean(tau)
        blocks = row_blocks(_rows(X), len(grid))
        return np.concatenate([adapter.curves(model, _take(X, rows), grid).restricted_mean(tau) for rows in blocks])

    def predict_curves(self, X: Any, times: Any = None) -> SurvivalCurves:
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
        model = self._fitted(X)
        adapter = self._adapter()
        if not adapter.gives_curves(model):
            raise TypeError(
                f"{type(model).__name__} predicts times but no survival curves, so it can be ranked and scored, yet "
                "not serve as a base or nuisance model"
            )
        grid = adapter.grid(model)
        if times is not None:
            times = checked_grid(times)
        if grid is None:
            return adapter.curves(model, X, times)
        times, reached = (times, times) if times is not None else thinned(grid)
        parts = [adapter.curves(model, _take(X, rows), reached) for rows in row_blocks(_rows(X), len(grid))]
        return SurvivalCurves(times, np.concatenate([part.survival for part in parts]), parts[0].interpolation)

    @property
    def by_row(self) -> bool:  # type: ignore[override]
        """As of a model of ours; else it is not known: a function may tell rows by their places, a Pipeline see all."""
        return isinstance(self.model, SurvivalModel) and self.model.by_row

    def _adapter(self) -> Adapter:
        return adapter_for(self.model)

    def _fitted(self, X: Any) -> Any:
        """The model to ask: our fitted copy, or the one handed over if it was fitted already."""
        if hasattr(self, "model_"):
            validate_data(self, X, skip_check_array=True, reset=False)
            return self.model_
        if self._adapter().is_fitted(self.model):
            return self.model
        raise NotFittedError(f"this {type(self.model).__name__} is not fitted yet: call fit first")

    def _own_horizon(self, model: Any) -> float | None:
        """τ where it is known: from `fit`, from the user, or from the last time of a model fitted elsewhere."""
        if hasattr(self, "tau_") or self.tau is not None:
            return getattr(self, "tau_", self.tau)
        own = self._adapter().horizon(model)
        if own is not None:
            return own
        grid = self._adapter().grid(model)
        return None if grid is None else float(grid[-1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_") or self._adapter().is_fitted(self.model)


def _rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _take(X: Any, rows: slice) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
