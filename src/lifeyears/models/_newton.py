"""Newton's method for concave log-likelihoods, with the care that hard data needs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

Derivatives = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Maximum:
    """Where the search ended; `curvature` is the negative Hessian one step (less than tol) before."""

    parameters: np.ndarray
    value: float
    curvature: np.ndarray
    n_iter: int
    converged: bool


def maximise(
    value: Callable[[np.ndarray], float],
    derivatives: Callable[[np.ndarray], Derivatives],
    start: np.ndarray,
    *,
    tol: float,
    max_iter: int,
) -> Maximum:
    """Climb to the maximum of a smooth function.

    Parameters
    ----------
    value : callable
        The function.
    derivatives : callable
        Its gradient and the negative of its Hessian. It is called right after `value` at the same point, so that
        the two can share work.
    start : array
        Where to begin.
    tol : float
        The search ends with the Newton step whose largest element is below this. Newton's method squares the
        error at each step, so the parameters are then good to about tol².
    max_iter : int
        Steps allowed.
    """
    here, height, curvature = start, value(start), np.empty((0, 0))
    for step_number in range(1, max_iter + 1):
        gradient, curvature = derivatives(here)
        step = _newton_step(gradient, curvature)
        share, ahead = 1.0, value(here + step)
        slack = 1e-12 * (1 + abs(height))  # rounding may hide the last, tiny rise
        while not ahead >= height - slack and share > 1e-10:
            share *= 0.5
            ahead = value(here + share * step)
        if not ahead >= height - slack:
            return Maximum(here, height, curvature, step_number, converged=bool(np.abs(step).max() < 1e-3))
        here, height = here + share * step, ahead
        if share == 1.0 and np.abs(step).max(initial=0.0) < tol:
            return Maximum(here, height, curvature, step_number, converged=True)
    return Maximum(here, height, curvature, max_iter, converged=False)


def warn_not_converged(model: str, advice: str) -> None:
    """Tell that the maximum was not reached, and what to do."""
    warnings.warn(f"{model} did not converge: {advice}", ConvergenceWarning, stacklevel=4)


def _newton_step(gradient: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Solve curvature @ step = gradient; where the curvature is flat or wrong-way, do not move along it."""
    try:
        factor = linalg.cho_factor(curvature, lower=True, check_finite=False)
        pivots = np.diag(factor[0])
        if pivots.min() > 1e-7 * pivots.max():
            return linalg.cho_solve(factor, gradient, check_finite=False)
    except linalg.LinAlgError:
        pass
    sizes, directions = linalg.eigh(curvature, check_finite=False)
    largest = np.abs(sizes).max()
    usable = np.abs(sizes) > 1e-12 * largest if largest > 0 else np.zeros(len(sizes), dtype=bool)
    along = directions[:, usable].T @ gradient
    return directions[:, usable] @ (along / np.abs(sizes[usable]))
