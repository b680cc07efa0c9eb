"""A small world where everything is known: for measuring estimators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.integrate import trapezoid

from ..._typing import FloatArray
from ...curves import SurvivalCurves
from ...errors import RequestError
from ...outcome import Outcome

SHAPE, SCALE = 1.3, 12.0  # Weibull life, in years
EFFECTS = np.array([0.6, 0.4, 0.3])  # of three standard normal features, on the log hazard
STUDY = 30.0  # years from the first entry to the end of the study
MECHANISMS = ("independent", "covariate", "administrative", "informative", "paper")


@dataclass(frozen=True, eq=False)
class Patients:
    """A drawn cohort: features, entry, true lifetimes, and what was observed of them."""

    X: FloatArray
    entry: FloatArray
    life: FloatArray
    y: Outcome
    mechanism: str

    def survival(self, times: FloatArray) -> SurvivalCurves:
        """The true S(t|x)."""
        return SurvivalCurves.trusted(
            times, np.exp(-np.multiply.outer(np.exp(self.X @ EFFECTS), (times / SCALE) ** SHAPE)), "linear"
        )

    def survival_ignoring_x(self, times: FloatArray) -> SurvivalCurves:
        """A wrong S: everybody's hazard half of the average one, whatever x is."""
        curve = np.exp(-0.5 * (times / SCALE) ** SHAPE)
        return SurvivalCurves.trusted(times, np.broadcast_to(curve, (len(self.X), len(times))), "linear")

    def censoring(self, times: FloatArray) -> SurvivalCurves | None:
        """The true G(t|x), where censoring depends on x alone; else None."""
        if self.mechanism == "independent":
            curve = np.clip(1 - times / 40, 0, 1)
            return SurvivalCurves.trusted(times, np.broadcast_to(curve, (len(self.X), len(times))), "linear")
        if self.mechanism == "covariate":
            return SurvivalCurves.trusted(times, np.exp(-np.multiply.outer(_dropout(self.X), times)), "linear")
        if self.mechanism == "administrative":
            dropout = np.exp(-0.01 * times)
            return SurvivalCurves.trusted(times, dropout * (times < (STUDY - self.entry)[:, None]))
        return None

    def censoring_ignoring_x(self, times: FloatArray) -> SurvivalCurves:
        """A wrong G: a constant rate that is too high, whatever x is."""
        curve = np.exp(-0.06 * times)
        return SurvivalCurves.trusted(times, np.broadcast_to(curve, (len(self.X), len(times))), "linear")


def draw_patients(n: int, mechanism: str, rng: np.random.Generator) -> Patients:
    """Draw patients and censor them.

    "independent": C ~ U[0, 40]. "covariate": a rate that depends on x, as life does. "administrative": entry ~
    U[0, 30], the study ends at 30, and 1% a year drop out. "informative": half are lost in the last third of their
    lives. "paper": half are censored at C ~ U[0, T*], which depends on T* too.
    """
    X = rng.standard_normal((n, 3))
    entry = rng.uniform(0, STUDY, n)
    life = SCALE * (rng.standard_exponential(n) * np.exp(-X @ EFFECTS)) ** (1 / SHAPE)
    if mechanism == "independent":
        end = rng.uniform(0, 40, n)
    elif mechanism == "covariate":
        end = rng.standard_exponential(n) / _dropout(X)
    elif mechanism == "administrative":
        end = np.minimum(STUDY - entry, rng.standard_exponential(n) / 0.01)
    elif mechanism == "informative":
        end = np.where(rng.random(n) < 0.5, life * rng.uniform(0.67, 1, n), np.inf)
    elif mechanism == "paper":
        end = np.where(rng.random(n) < 0.5, life * rng.random(n), np.inf)
    else:
        raise RequestError(f"there is no mechanism {mechanism!r}; there are {', '.join(MECHANISMS)}")
    return Patients(X, entry, life, Outcome(np.minimum(life, end), life <= end), mechanism)


def true_policy_value(weights: FloatArray, tau: float, waitlist: int) -> float:
    """Expected min(T*, τ) of the top of W patients ranked by X @ weights, by quadrature (k = 1).

    X is normal, so the log hazard given the score is normal too; the score of the best of W has density W·Φ^{W−1}·φ.
    """
    length = np.linalg.norm(weights)
    slope = EFFECTS @ weights / length
    spread = np.sqrt(max(EFFECTS @ EFFECTS - slope**2, 0.0))
    z = np.linspace(-8, 8, 4001)  # the standardised score
    best = waitlist * stats.norm.cdf(z) ** (waitlist - 1) * stats.norm.pdf(z)
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(40)
    eta = slope * z[:, None] + spread * nodes
    times = np.linspace(0, tau, 2001)
    table = np.linspace(eta.min(), eta.max(), 1500)
    life = trapezoid(np.exp(-np.multiply.outer(np.exp(table), (times / SCALE) ** SHAPE)), times, axis=1)
    given_score = np.interp(eta, table, life) @ node_weights / node_weights.sum()
    return float(trapezoid(given_score * best, z))


def _dropout(X: FloatArray) -> FloatArray:
    return 0.03 * np.exp(-0.5 * X[:, 0] + 0.3 * X[:, 1])
