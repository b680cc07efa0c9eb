"""Newton's method for concave log-likelihoods, with the care that hard data needs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import linalg
from sklearn import exceptions as sklearn_exceptions

from ...checks import check_whole
from ...errors import ConvergenceWarning

if TYPE_CHECKING:
    from ..._typing import FloatArray, IntArray

SHRINKING = 0.75  # a step by an earlier curvature is taken while each is at most this share of the one before,
SMALLEST = 0.5  # and no smaller than this share of tol: the last, by a new curvature, is then most likely below


class Smooth(Protocol):
    """A concave function; its derivatives are asked for right after its value at the same point, to share work."""

    def value(self, at: FloatArray) -> float: ...

    def gradient(self, at: FloatArray) -> FloatArray: ...

    def curvature(self, at: FloatArray) -> FloatArray:
        """The negative Hessian."""


@dataclass(frozen=True)
class Maximum:
    """Where the search ended; `curvature` is the negative Hessian one step (if converged, less than tol) before.

    `informed` is the information there was at the start on each parameter with the others unknown, and `flatness` the
    share of it that is left.
    """

    parameters: FloatArray
    value: float
    curvature: FloatArray
    n_iter: int
    converged: bool
    informed: FloatArray
    flatness: FloatArray

    def runaways(self) -> IntArray:
        """Parameters along which the likelihood goes on rising towards infinity, as separable data make it."""
        return np.flatnonzero(self.flatness < (1e-8 if self.converged else 1e-2))


def maximise(function: Smooth, start: FloatArray, *, tol: float, max_iter: int, near: Maximum | None = None) -> Maximum:
    """Climb to the maximum of a smooth function.

    With hundreds of parameters the curvature costs ten times as much as value and gradient: it is kept for further
    steps as long as they shrink, corrected by what each of them shows, and made afresh for the last.

    Parameters
    ----------
    function : Smooth
        Value, gradient and curvature.
    start : array
        Where to begin, if `near` is not better.
    tol : float
        The search ends with the Newton step, by the curvature at its own point, whose largest element is below this.
        Newton's method squares the error at each step, so the parameters are then good to about tol².
    max_iter : int
        Steps allowed, those by an earlier curvature not counted.
    near : Maximum, optional
        Of about the same function (from a sample of the rows, say): where to begin if it is better than `start`, and
        the curvature for the first steps.

    Returns
    -------
    Maximum

    Examples
    --------
    >>> import numpy as np
    >>> class Parabola:                                            # −½(x − 3)²
    ...     def value(self, at):
    ...         return float(-0.5 * (at - 3) @ (at - 3))
    ...     def gradient(self, at):
    ...         return 3 - at
    ...     def curvature(self, at):
    ...         return np.eye(1)
    >>> maximise(Parabola(), np.zeros(1), tol=1e-6, max_iter=10).parameters
    array([3.])
    """
    check_whole("max_iter", max_iter, low=1)
    here, height = start, function.value(start)
    curvature = first = np.empty((0, 0))
    last = 0.0  # the size of the last step, or 0 where the next needs a new curvature
    if near is not None and (ahead := function.value(near.parameters)) > height:
        here, height, curvature = near.parameters, ahead, near.curvature
        if near.informed.min() > 1e-8 * near.informed.max():  # a sample may know nothing of a rare column
            last = np.inf
    elif near is not None:  # nor of an extreme row
        near, height = None, function.value(start)
    converged, step_number = False, 0
    step = gradient = np.empty(0)
    while step_number < max_iter and not converged:
        before, gradient = gradient, function.gradient(here)
        if 0 < last < np.inf:
            curvature = _update_curvature(curvature, step, before - gradient)
        step = _newton_step(gradient, curvature) if last else np.empty(0)
        fresh = not last or not SMALLEST * tol <= np.abs(step).max(initial=0.0) <= SHRINKING * last
        if fresh:
            step_number += 1
            curvature = function.curvature(here)
            first = first if len(first) else curvature
            step = _newton_step(gradient, curvature)
        share, ahead = 1.0, function.value(here + step)
        slack = 1e-12 * (1 + abs(height))  # rounding may hide the last, tiny rise
        while not ahead >= height - slack and share > 1e-10:
            share *= 0.5
            ahead = function.value(here + share * step)
        if not ahead >= height - slack:
            if not fresh:
                last, height = 0.0, function.value(here)
                continue
            converged = bool(np.abs(step).max() < 1e-3)
            break
        here, height = here + share * step, ahead
        size = np.abs(step).max(initial=0.0)
        last = size if share == 1.0 and size < np.inf else 0.0
        converged = fresh and share == 1.0 and size < tol
    informed = _information(first)
    informed = informed if near is None else np.maximum(informed, near.informed)
    return Maximum(here, height, curvature, step_number, bool(converged), informed, _information(curvature) / informed)


class NotConvergedWarning(ConvergenceWarning, sklearn_exceptions.ConvergenceWarning):
    """A Newton search ended before its maximum; filters for either library's category apply to it."""


def warn_not_converged(model: str, advice: str) -> None:
    """Warn that the maximum was not reached, and say what to do."""
    warnings.warn(NotConvergedWarning(f"{model} did not converge: {advice}", model), stacklevel=4)


def standard_errors(curvature: FloatArray) -> FloatArray:
    """Square roots of the diagonal of the inverse; NaN for parameters that lie partly in its null space."""
    evened, scale = _even_out(curvature)
    sizes, directions = linalg.eigh(evened, check_finite=False)
    flat = sizes <= 1e-10 * sizes.max(initial=0.0)
    unknown = (directions[:, flat] ** 2).sum(axis=1) > 1e-8
    variance: FloatArray = directions[:, ~flat] ** 2 @ (1 / sizes[~flat])
    return np.where(unknown, np.nan, np.sqrt(variance) / scale)


def _information(curvature: FloatArray) -> FloatArray:
    """1 / the diagonal of the inverse: the information on each parameter when the others are not known."""
    slack = 1e-13 * max(np.abs(np.diag(curvature)).max(initial=0.0), 1e-280)  # keeps collinear columns in bounds
    try:
        factor = linalg.cho_factor(curvature + slack * np.eye(len(curvature)), lower=True, check_finite=False)
    except linalg.LinAlgError:  # not concave here
        sizes, directions = linalg.eigh(curvature, check_finite=False)
        return np.asarray(1 / (directions**2 @ (1 / np.maximum(np.abs(sizes), slack))))
    return np.asarray(1 / np.diag(linalg.cho_solve(factor, np.eye(len(curvature)), check_finite=False)))


def _update_curvature(curvature: FloatArray, step: FloatArray, fall: FloatArray) -> FloatArray:
    """The curvature made to explain by how much the gradient fell along the last step (BFGS)."""
    along = curvature @ step
    if not step @ fall > 1e-8 * (step @ along) > 0:
        return curvature
    return curvature + np.outer(fall, fall) / (step @ fall) - np.outer(along, along) / (step @ along)


def _even_out(curvature: FloatArray) -> tuple[FloatArray, FloatArray]:
    """With ones on the diagonal, so that one strict penalty does not dwarf all the rest; and what it was divided by."""
    diagonal = np.abs(np.diag(curvature))
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return curvature / scale[:, None] / scale, scale


def _newton_step(gradient: FloatArray, curvature: FloatArray) -> FloatArray:
    """Solve curvature @ step = gradient.

    Along a wrong-way curvature the step goes uphill all the same. Where the curvature is flat it is a unit step uphill,
    or none if there is no slope either (collinear columns).
    """
    evened, scale = _even_out(curvature)
    try:
        factor = linalg.cho_factor(evened, lower=True, check_finite=False)
        if np.diag(factor[0]).min(initial=1.0) > 1e-7:
            return np.asarray(linalg.cho_solve(factor, gradient / scale, check_finite=False) / scale)
    except linalg.LinAlgError:
        pass
    sizes, directions = linalg.eigh(curvature, check_finite=False)
    largest = np.abs(sizes).max()
    along = directions.T @ gradient
    flat = np.abs(sizes) <= 1e-12 * largest
    sloping = np.abs(along) > 1e-10 * max(largest, np.abs(gradient).max(initial=0.0))
    length = np.where(flat, np.where(sloping, np.sign(along), 0.0), along / np.where(flat, 1.0, np.abs(sizes)))
    return np.asarray(directions @ length)
