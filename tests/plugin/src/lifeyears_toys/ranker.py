"""A ranking method: the base model's ranking, upside down."""

from sklearn.base import BaseEstimator, clone

from lifeyears import as_outcome
from lifeyears.models import wrap


class ToyReversed(BaseEstimator):
    """Predict the horizon less what the base model predicts.

    Parameters
    ----------
    base : survival model
    tau : float, optional
        The horizon; None means the largest training time.
    """

    def __init__(self, base, tau=None):
        self.base = base
        self.tau = tau

    def fit(self, X, y):
        self.tau_ = float(as_outcome(y).time.max()) if self.tau is None else float(self.tau)
        self.base_ = clone(wrap(self.base)).fit(X, y)
        return self

    def predict(self, X):
        return self.tau_ - self.base_.predict(X)
