"""Cox's proportional hazards model, fitted by Newton's method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from .._kernels import each_row_times
from ..checks import check_choice, check_number
from ..outcome import Outcome
from ._base import check_has_events
from ._proportional import ProportionalHazards
from .fitting import (
    Baseline,
    Maximum,
    PartialLikelihood,
    RiskSets,
    column_scales,
    maximise,
    standard_errors,
    warn_not_converged,
)

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import FloatArray

WARM_START_ROWS = 20_000  # larger tables start from the fit of every k-th row, which saves passes over all


class Cox(ProportionalHazards):
    """Cox regression, h(t|x) = h₀(t)·exp(xβ), with Breslow's baseline hazard (paper, appendix D).

    Maximises log PL(β) − ½·alpha·‖β‖². As in scikit-survival the likelihood is summed, not averaged, so alpha = 0.1
    is almost nothing for a large table. Curves are right-continuous steps at the event times.

    Parameters
    ----------
    alpha : float, default 0.1
        Ridge penalty, on the features as they are given (standardise them first).
    ties : {"breslow", "efron"}
        How tied event times enter the likelihood.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    tol : float, default 1e-5
        Newton's method ends after a step smaller than this (in standard deviations of the features); its error is
        then about tol².
    max_iter : int, default 100
        Newton steps allowed; those by an earlier curvature do not count.

    Attributes
    ----------
    coef_ : array, shape (p,)
        β: positive shortens life.
    standard_error_ : array, shape (p,)
        From the inverse of the (penalised) information; NaN for a column that the data cannot tell from others, as a
        category's indicator if no category is left out (`TablePreprocessor(drop_first=True)` leaves out one).
    log_likelihood_ : float
        Log partial likelihood at β, without the penalty.
    mean_ : array, shape (p,)
        Means of the features over the training rows, weighted if weights were given.
    baseline_times_, baseline_hazard_ : arrays
        Breslow's cumulative hazard H₀ of a subject with x = `mean_`.
    tau_ : float
        The horizon in use.
    n_iter_ : int
        Newton steps taken over all rows, those by an earlier curvature not counted.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> cox = Cox().fit(x, (np.ones(50), 2.0 + x[:, 0]))
    >>> bool(cox.coef_[0] < 0), bool(cox.predict([[1.0]]) > cox.predict([[-1.0]]))
    (True, True)
    """

    def __init__(
        self,
        alpha: float = 0.1,
        ties: Literal["breslow", "efron"] = "breslow",
        tau: float | None = None,
        tol: float = 1e-5,
        max_iter: int = 100,
    ) -> None:
        self.alpha = alpha
        self.ties = ties
        self.tau = tau
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        check_choice("ties", self.ties, ("breslow", "efron"))
        check_number("alpha", self.alpha, low=0)
        check_has_events(y, "Cox")
        self.mean_ = np.average(X, axis=0, weights=sample_weight)
        sets = RiskSets.of(y, sample_weight, self.ties)
        Z = X[sets.order]
        Z -= self.mean_
        scale, constant = column_scales(X, self.mean_, np.sqrt(np.einsum("ij,ij->j", Z, Z) / len(Z)))
        Z /= scale
        Z[:, constant] = 0.0
        penalty = self.alpha / scale**2
        likelihood = PartialLikelihood(Z, sets, penalty)
        near = self._fit_sample(Z, y[sets.order], sets.weight, penalty)
        maximum = maximise(likelihood, np.zeros(Z.shape[1]), tol=self.tol, max_iter=self.max_iter, near=near)

        self.coef_ = maximum.parameters / scale
        self.standard_error_ = _keep_data_errors(standard_errors(maximum.curvature), maximum.curvature, penalty) / scale
        self.log_likelihood_ = maximum.value + 0.5 * float(penalty @ maximum.parameters**2)
        self.n_iter_ = maximum.n_iter
        self._check_convergence(maximum)
        eta = Z @ maximum.parameters
        self._keep_baseline(Baseline.breslow(sets, eta), eta)

    def _fit_sample(self, Z: FloatArray, y: Outcome, weight: FloatArray, penalty: FloatArray) -> Maximum | None:
        """Fit every k-th row of a large table (by time, so that events are alike), each standing for k."""
        step = len(Z) // WARM_START_ROWS * 4
        if not step:
            return None
        sample = slice(step // 2, None, step)
        sets = RiskSets.of(y[sample], step * weight[sample], self.ties)
        if len(sets.times) < 10 * Z.shape[1]:
            return None
        return maximise(PartialLikelihood(Z[sample], sets, penalty), np.zeros(Z.shape[1]), tol=0.05, max_iter=10)

    def _check_convergence(self, maximum: Maximum) -> None:
        runaway = maximum.runaways()
        if len(runaway):
            columns = ", ".join(self._column(j) for j in runaway[:3])
            warn_not_converged(
                "Cox",
                f"the coefficient of {columns} runs away: the column separates early from late events (all events, or "
                "none, on one side). Raise alpha, or drop the column",
            )
        elif not maximum.converged:
            advice = "Raise max_iter or alpha, or drop collinear columns"
            warn_not_converged("Cox", f"after {self.n_iter_} steps. {advice}")

    def _column(self, j: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(j if names is None else names[j])

    def _eta(self, X: FloatArray) -> FloatArray:
        return each_row_times(X - self.mean_, self.coef_)

    def summary(self) -> pd.DataFrame:
        """Coefficients with hazard ratios, standard errors, 95% intervals of the coefficients and p-values.

        One row a feature, a hazard ratio for one unit of it: a standard deviation, if it was scaled. NaN where the data
        cannot tell a column from others.
        """
        import pandas as pd

        check_is_fitted(self)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = self.coef_ / self.standard_error_
        half = stats.norm.ppf(0.975) * self.standard_error_
        return pd.DataFrame(
            {
                "coef": self.coef_,
                "hazard_ratio": np.exp(self.coef_),
                "standard_error": self.standard_error_,
                "low": self.coef_ - half,
                "high": self.coef_ + half,
                "z": z,
                "p": 2 * stats.norm.sf(np.abs(z)),
            },
            index=[self._column(j) for j in range(len(self.coef_))],
        )


def _keep_data_errors(error: FloatArray, curvature: FloatArray, penalty: FloatArray) -> FloatArray:
    """Set standard errors to NaN where they are the penalty's own: of columns that are sums of others in the data."""
    information = curvature - np.diag(penalty)
    known = np.flatnonzero(np.diag(information) > 1e-9 * np.diag(curvature))  # not drowned by its penalty
    error = error.copy()
    if len(known):
        error[known[np.isnan(standard_errors(information[np.ix_(known, known)]))]] = np.nan
    return error
