"""A survival model: exponential lifetimes in two groups."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lifeyears import SurvivalCurves, as_outcome
from lifeyears.models import SurvivalModel


class ToyExponential(SurvivalModel):
    """S(t|x) = exp(−λt) with λ = events / total time, one λ on either side of the middle of the first column.

    Parameters
    ----------
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    """

    interpolation = "linear"

    def __init__(self, tau=None):
        self.tau = tau

    def fit(self, X, y, sample_weight=None):
        y, first = as_outcome(y), _first_column(X)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self.n_features_in_ = np.shape(X)[1]
        self.tau_ = float(y.time.max()) if self.tau is None else float(self.tau)
        self.middle_ = float(first.min() + first.max()) / 2
        upper = first > self.middle_
        rates = []
        for members in (~upper, upper):
            events, time = weight[members] @ y.event[members], weight[members] @ y.time[members]
            rates.append(events / time if time > 0 else 0.0)
        self.rates_ = np.array(rates)
        return self

    def predict(self, X):
        rate = np.maximum(self._rates(X), 1e-300)
        return -np.expm1(-rate * self.tau_) / rate

    def predict_curves(self, X, times=None):
        times = np.linspace(0, self.tau_, 201) if times is None else np.asarray(times, dtype=float)
        return SurvivalCurves(times, np.exp(-np.outer(self._rates(X), times)), "linear")

    def to_state(self):
        check_is_fitted(self)
        fitted = {name: getattr(self, name) for name in ("n_features_in_", "tau_", "middle_", "rates_")}
        return {"tau": self.tau, **fitted}

    @classmethod
    def from_state(cls, state):
        model = cls(tau=state["tau"])
        model.n_features_in_ = int(state["n_features_in_"])
        model.tau_, model.middle_ = float(state["tau_"]), float(state["middle_"])
        model.rates_ = np.asarray(state["rates_"], dtype=float)
        model.validate()
        return model

    def validate(self):
        if self.rates_.shape != (2,) or not (self.rates_ >= 0).all() or not self.tau_ > 0:
            raise ValueError("a ToyExponential has two rates that are not negative, and a horizon above 0")

    def _rates(self, X):
        check_is_fitted(self)
        return self.rates_[(_first_column(X) > self.middle_).astype(int)]


def _first_column(X):
    return np.asarray(X, dtype=float)[:, 0]
