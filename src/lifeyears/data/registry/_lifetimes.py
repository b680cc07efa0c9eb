"""The law of life in a simulated registry: an early phase of dying, around the operation, and a late one.

The cumulative hazard of a patient x is

    H(t|x) = E(x)·(1 − exp(−t/θ)) + L(x)·(t/10)^ρ(x)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ..._typing import FloatArray
from ...curves import SurvivalCurves, row_blocks
from ...errors import RequestError

THETA = 0.2  # years: how long the early phase lasts
EARLY_ENDS = 40 * THETA  # by then exp(−t/θ) is below 1e-17
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True, eq=False)
class Lifetimes:
    """The law of each patient's lifetime.

    Attributes
    ----------
    early, late, shape : arrays, shape (n,)
        E(x), L(x) and ρ(x) of H(t|x) = E·(1 − exp(−t/θ)) + L·(t/10)^ρ, t in years and θ = 0.2.

    Examples
    --------
    >>> law = Lifetimes(np.array([0.0]), np.array([0.5]), np.array([1.0]))    # exponential, 20 years on average
    >>> law.expected(np.inf), law.curves(20.0).survival.round(4)
    (array([20.]), array([[0.3679]]))
    """

    early: FloatArray
    late: FloatArray
    shape: FloatArray

    def __len__(self) -> int:
        return len(self.early)

    def hazard(self, times: ArrayLike) -> FloatArray:
        """H(t|x) at one time or many, (n, m)."""
        grid = np.atleast_1d(np.asarray(times, dtype=float))
        hazard: FloatArray = np.multiply.outer(self.early, -np.expm1(-grid / THETA)) + self._late_hazard(grid)
        return hazard

    def curves(self, times: ArrayLike) -> SurvivalCurves:
        """S(t|x) at one time or many, straight between them."""
        return SurvivalCurves(np.asarray(times), np.exp(-self.hazard(times)), "linear")

    def expected(self, tau: float) -> FloatArray:
        """E[min(T*, τ)|x] = ∫₀^τ S(t|x) dt; τ = inf gives the unrestricted mean.

        With e^{−E(1 − e^{−t/θ})} = e^{−E} + e^{−E}·(e^{E·exp(−t/θ)} − 1), the first term leaves an incomplete gamma
        function, for any τ and ρ; the second dies out with the early phase and is left to Gauss–Legendre quadrature.
        """
        if np.ndim(tau) or not tau > 0:
            raise RequestError(f"tau must be one positive time (inf: the unrestricted mean); got {tau!r}")
        nodes, weights = _early_rule(min(float(tau), EARLY_ENDS))
        fading = np.exp(-nodes / THETA)
        life: FloatArray = np.exp(-self.early) * self._late_life(float(tau))
        for rows in row_blocks(len(self), 4 * len(nodes)):
            part = Lifetimes(self.early[rows], self.late[rows], self.shape[rows])
            excess = np.expm1(np.multiply.outer(part.early, fading))
            life[rows] += np.exp(-part.early) * ((excess * np.exp(-part._late_hazard(nodes))) @ weights)
        return life

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """A lifetime for each: the earlier of two deaths, each by inverting its own hazard."""
        first, second = rng.standard_exponential((2, len(self)))
        with np.errstate(divide="ignore"):
            share = np.minimum(first / self.early, 1.0)
            early = np.where(share < 1, -THETA * np.log1p(-share), np.inf)
        drawn: FloatArray = np.minimum(early, 10 * (second / self.late) ** (1 / self.shape))
        return drawn

    def _late_hazard(self, times: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            hazard: FloatArray = self.late[:, None] * np.exp(np.multiply.outer(self.shape, np.log(times / 10)))
        return hazard

    def _late_life(self, tau: float) -> FloatArray:
        """∫₀^τ exp(−L·(t/10)^ρ) dt = s·Γ(1 + 1/ρ)·P(1/ρ, (τ/s)^ρ) with s = 10·L^(−1/ρ)."""
        with np.errstate(over="ignore"):
            reached = self.late * (tau / 10) ** self.shape
        power = 1 / self.shape
        life: FloatArray = 10 * self.late**-power * special.gamma(1 + power) * special.gammainc(power, reached)
        return life


def _early_rule(end: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of an integral from 0 to `end`, with t = end·v³: (t/10)^ρ is smooth in v."""
    v = (NODES + 1) / 2
    return end * v**3, end * 1.5 * v**2 * WEIGHTS
