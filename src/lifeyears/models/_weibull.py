"""The Weibull accelerated failure time model, fitted by Newton's method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from .._kernels import each_row_times
from ..checks import check_number
from ..curves import MOST_GRID_POINTS
from ..errors import DataError, Message
from ..outcome import Outcome
from ..text import list_rows
from ._base import SurvivalModel, check_has_events
from .fitting import Maximum, column_scales, exp_minus_outer, maximise, warn_not_converged

if TYPE_CHECKING:
    from .._typing import FloatArray

WARM_START_ROWS = 20_000
BLOCK_ROWS = 1024
TIME_ZERO = 1e-300  # `Outcome.censoring` moves a censoring at 0 by less than this


class WeibullAFT(SurvivalModel):
    """Weibull regression, log T = xβ + b + ε/ρ: S(t|x) = exp(−(t/λ)^ρ) with λ = exp(xβ + b) (paper, appendix D).

    Maximises the mean log-likelihood less ½·penalizer·(Σ (sⱼβⱼ)² + (log ρ)²), sⱼ the standard deviation of column
    j: lifelines' objective, which shrinks log ρ too and leaves the intercept alone (with weights and a penalty the two
    differ: here sⱼ is weighted too, so that a weight of 2 is a row twice). Curves are smooth; on a grid they are
    straight between its times.

    Parameters
    ----------
    penalizer : float, default 0.1
        Ridge penalty beside the *mean* log-likelihood: 0.1 is strong.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    tol, max_iter : float and int
        Newton's method ends after a step smaller than tol (default 1e-6), or max_iter steps (default 100).

    Attributes
    ----------
    coef_ : array, shape (p,)
        β: positive lengthens life.
    intercept_ : float
        b.
    shape_ : float
        ρ: above 1 the hazard rises with time, below 1 it falls.
    log_likelihood_ : float
        Summed log-likelihood, without the penalty.
    tau_ : float
        The horizon in use.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> aft = WeibullAFT(penalizer=0.0).fit(x, (np.ones(50), np.exp(1 + x[:, 0] + 0.1 * np.sin(40 * x[:, 0]))))
    >>> aft.coef_.round(1)
    array([1.])
    """

    interpolation = "linear"

    def __init__(
        self, penalizer: float = 0.1, tau: float | None = None, tol: float = 1e-6, max_iter: int = 100
    ) -> None:
        self.penalizer = penalizer
        self.tau = tau
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        check_number("penalizer", self.penalizer, low=0)
        check_has_events(y, "WeibullAFT")
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        X, y, weight = self._without_time_zero(X, y, weight)

        total = weight.sum()
        mean = weight @ X / total
        Z = np.empty((len(X), X.shape[1] + 1))
        Z[:, -1] = 1.0
        features = np.subtract(X, mean, out=Z[:, :-1])
        # n − 1 below the line, as lifelines has it
        spread = np.sqrt(np.einsum("i,ij,ij->j", weight, features, features) / max(total - 1, 1))
        scale, constant = column_scales(X, mean, spread)
        features /= scale
        features[:, constant] = 0.0

        likelihood = _Likelihood(Z, y, weight / total, self.penalizer)
        start = np.zeros(Z.shape[1] + 1)
        start[-2] = np.log(weight @ y.time / (weight @ y.event))  # the exponential model without features
        near = self._fit_sample(Z, y, weight, start)
        maximum = maximise(likelihood, start, tol=self.tol, max_iter=self.max_iter, near=near)
        self._check_convergence(maximum)
        self.coef_ = maximum.parameters[:-2] / scale
        self.intercept_ = float(maximum.parameters[-2] - mean @ self.coef_)
        self.shape_ = float(np.exp(maximum.parameters[-1]))
        self.log_likelihood_ = total * (maximum.value + likelihood.penalty(maximum.parameters))
        self.n_iter_ = maximum.n_iter
        self.longest_ = float(max(y.time.max(), self.tau_))

    def _check_convergence(self, maximum: Maximum) -> None:
        names = getattr(self, "feature_names_in_", None)
        runaway = [j for j in maximum.runaways() if j < len(maximum.parameters) - 2]
        if len(runaway):
            columns = ", ".join(str(j if names is None else names[j]) for j in runaway[:3])
            warn_not_converged(
                "WeibullAFT",
                f"the coefficient of {columns} runs away: the column separates early from late events (all events, or "
                "none, on one side). Raise penalizer, or drop the column",
            )
        elif abs(maximum.parameters[-1]) > 8:
            warn_not_converged(
                "WeibullAFT",
                f"the shape runs away ({np.exp(maximum.parameters[-1]):.3g}): the features leave no spread in the "
                "times, or there are too few events. Raise penalizer",
            )
        elif not maximum.converged:
            warn_not_converged("WeibullAFT", f"after {maximum.n_iter} steps. Raise penalizer or max_iter")

    def _without_time_zero(
        self, X: FloatArray, y: Outcome, weight: FloatArray
    ) -> tuple[FloatArray, Outcome, FloatArray]:
        """Drop rows censored at time 0, which hold no information; refuse events there."""
        refuse_time_zero(y, "drop these rows")
        zero = y.time < TIME_ZERO
        return (X[~zero], y[~zero], weight[~zero]) if zero.any() else (X, y, weight)

    def _fit_sample(self, Z: FloatArray, y: Outcome, weight: FloatArray, start: FloatArray) -> Maximum | None:
        """Fit every k-th row of a large table."""
        step = len(Z) // WARM_START_ROWS * 4
        if not step:
            return None
        sample = slice(step // 2, None, step)
        if y[sample].n_events < 10 * Z.shape[1]:
            return None
        likelihood = _Likelihood(Z[sample], y[sample], weight[sample] / weight[sample].sum(), self.penalizer)
        return maximise(likelihood, start, tol=0.05, max_iter=20)

    def _log_scale(self, X: FloatArray) -> FloatArray:
        return each_row_times(X, self.coef_) + self.intercept_  # log λ

    def _grid(self) -> tuple[FloatArray, FloatArray]:
        # Weibull curves bend most near 0: the squares of an even grid are dense there
        times = self.longest_ * np.linspace(0, 1, MOST_GRID_POINTS) ** 2
        return times, times

    def _survival(self, X: FloatArray, times: FloatArray) -> FloatArray:
        log_scale = self._log_scale(X)
        far = np.log(self.tau_)  # (t/λ)^ρ = (t/τ)^ρ·(τ/λ)^ρ
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            hazard = np.exp(self.shape_ * (np.log(times) - far))
            risk = np.exp(self.shape_ * (far - log_scale))
            survival = np.empty((len(X), len(times)))
            exp_minus_outer(risk, hazard, survival)
            far_out = ~np.isfinite(risk) if np.isfinite(hazard).all() else np.ones(len(X), dtype=bool)
            if far_out.any():  # a shape that ran away, or a patient like no other
                exponent = self.shape_ * np.subtract.outer(-log_scale[far_out], -np.log(times))
                survival[far_out] = np.exp(-np.exp(exponent))
        return survival

    def _expected(self, X: FloatArray) -> FloatArray:
        """∫₀^τ exp(−(t/λ)^ρ) dt = λ·Γ(1 + 1/ρ)·P(1/ρ, (τ/λ)^ρ), P the regularised incomplete gamma function."""
        log_scale = self._log_scale(X)
        with np.errstate(over="ignore", under="ignore"):
            reach = np.exp(self.shape_ * (np.log(self.tau_) - log_scale))
            share = special.gammainc(1 / self.shape_, reach)
            log_life = log_scale + special.gammaln(1 + 1 / self.shape_) + np.log(np.maximum(share, 1e-300))
        # a subject who outlives τ almost surely: the formula loses its digits there, the answer is τ
        return np.where(reach < 1e-12, self.tau_, np.minimum(np.exp(np.minimum(log_life, 700)), self.tau_))


class _Likelihood:
    """Mean log-likelihood of (β, b, log ρ) less the penalty; features are standardised, the last column is 1."""

    def __init__(self, Z: FloatArray, y: Outcome, weight: FloatArray, penalizer: float) -> None:
        self.Z, self.weight, self.penalizer = Z, weight, penalizer
        self.log_time, self.event = np.log(y.time), y.event.astype(float)

    def penalty(self, theta: FloatArray) -> float:
        return 0.5 * self.penalizer * float(theta[:-2] @ theta[:-2] + theta[-1] ** 2)

    def value(self, theta: FloatArray) -> float:
        self.rho = np.exp(np.clip(theta[-1], -50, 50))
        self.z = self.rho * (self.log_time - self.Z @ theta[:-1])
        with np.errstate(over="ignore"):
            self.hazard = np.exp(self.z)  # cumulative, (t/λ)^ρ
        each = self.event * (self.z - self.log_time + theta[-1]) - self.hazard
        value = float(self.weight @ each) - self.penalty(theta)
        return value if np.isfinite(value) else -np.inf

    # derivatives where `value` was last called: ∂z/∂(xβ+b) = −ρ and ∂z/∂log ρ = z

    def gradient(self, theta: FloatArray) -> FloatArray:
        residual = self.weight * (self.event - self.hazard)
        gradient = np.append(-self.rho * (residual @ self.Z), self.weight @ self.event + residual @ self.z)
        gradient[:-2] -= self.penalizer * theta[:-2]
        gradient[-1] -= self.penalizer * theta[-1]
        return gradient

    def curvature(self, _: FloatArray) -> FloatArray:
        """The negative Hessian."""
        Z, w, rho, z, hazard = self.Z, self.weight, self.rho, self.z, self.hazard
        residual = w * (self.event - hazard)
        p = Z.shape[1]
        curvature = np.zeros((p + 1, p + 1))
        root = rho * np.sqrt(w * hazard)
        for start in range(0, len(Z), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            rooted = Z[rows] * root[rows, None]
            curvature[:p, :p] += rooted.T @ rooted
        curvature[:p, p] = curvature[p, :p] = rho * ((residual - w * z * hazard) @ Z)
        curvature[p, p] = w @ (z * (hazard - self.event) + z**2 * hazard)
        diagonal = np.arange(p + 1)
        diagonal = diagonal[diagonal != p - 1]  # the intercept is free
        curvature[diagonal, diagonal] += self.penalizer
        return curvature


def refuse_time_zero(y: Outcome, otherwise: str) -> None:
    """Refuse events at time 0, of which an accelerated failure time model cannot take the logarithm.

    The one rule for such events: `WeibullAFT` calls it when it is fitted, and others call it before long work.

    Parameters
    ----------
    y : Outcome
    otherwise : str or Message
        What can be done instead of moving these events, in the imperative, such as "drop these rows".

    Raises
    ------
    DataError
        If there is an event at time 0.

    Examples
    --------
    >>> refuse_time_zero(Outcome([0.0, 2.0], [True, True]), "drop these rows")
    Traceback (most recent call last):
    lifeyears.errors.DataError: AFT works with the logarithm of time and cannot take events at time 0: 1 of 2 events
    is there (row 0). If it happened on the first day, add half a day (half a unit) to the time, or drop these rows.
    """
    at_zero = y.event & (y.time < TIME_ZERO)
    count = int(at_zero.sum())
    if count:
        one = count == 1
        raise DataError(
            f"AFT works with the logarithm of time and cannot take events at time 0: {count:,} of {y.n_events:,} "
            f"events {'is' if one else 'are'} there ({list_rows(at_zero)})",
            hint=Message(
                f"If {'it' if one else 'they'} happened on the first day, add half a day (half a unit) to "
                f"{'the time' if one else 'these times'}, or ",
                otherwise,
                ".",
            ),
            n_events=count,
        )
