"""A relevance estimator without nuisance models."""

from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator

from lifeyears import as_outcome


class ToyOptimist(BaseEstimator):
    """Whoever is censored before the horizon is taken to reach it.

    Parameters
    ----------
    tau : float, optional
        The horizon; None means the largest training time.
    """

    def __init__(self, tau=None):
        self.tau = tau

    def fit(self, X, y):
        self.tau_ = float(as_outcome(y).time.max()) if self.tau is None else float(self.tau)
        return self

    def estimate(self, X, y):
        within = as_outcome(y).restrict(self.tau_)
        return SimpleNamespace(values=np.where(within.event, within.time, self.tau_))
