"""Argument checks: each returns the value in its proper type, or raises an error that names the argument."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import SupportsFloat, SupportsInt, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import RequestError
from .text import did_you_mean

_Choice = TypeVar("_Choice", bound=object)


def is_number(value: object, whole: bool = False) -> bool:
    """Return whether a value is one number; True and False are not.

    Examples
    --------
    >>> is_number(2.5), is_number(2.5, whole=True), is_number(True)
    (True, False, False)
    """
    return isinstance(value, Integral if whole else Real) and not isinstance(value, (bool, np.bool_))


def check_number(name: str, value: object, low: float = -np.inf, high: float = np.inf) -> float:
    """Check a finite number within limits (both included).

    Examples
    --------
    >>> check_number("share", 0.5, 0, 1)
    0.5
    >>> check_number("share", 2, 0, 1)
    Traceback (most recent call last):
    lifeyears.errors.RequestError: share must be at most 1; got 2
    """
    if not is_number(value):
        raise RequestError(f"{name} must be a number; got {value!r}", name=name)
    number = float(cast("SupportsFloat", value))
    _check_limits(name, value, number, low, high)
    return number


def check_whole(name: str, value: object, low: float = -np.inf, high: float = np.inf) -> int:
    """Check a whole number within limits (both included).

    Examples
    --------
    >>> check_whole("k", 0, low=1)
    Traceback (most recent call last):
    lifeyears.errors.RequestError: k must be at least 1; got 0
    """
    if not is_number(value, whole=True):
        raise RequestError(f"{name} must be a whole number; got {value!r}", name=name)
    number = int(cast("SupportsInt", value))
    _check_limits(name, value, number, low, high)
    return number


def check_positive(name: str, value: object) -> float:
    """Check a positive, finite number, such as a horizon.

    Examples
    --------
    >>> check_positive("tau", 20)
    20.0
    """
    number = float(cast("SupportsFloat", value)) if is_number(value) else np.nan
    if not 0 < number < np.inf:
        raise RequestError(f"{name} must be a positive, finite number; got {value!r}", name=name)
    return number


def check_choice(name: str, value: _Choice, allowed: Collection[object]) -> _Choice:
    """Check that a value is one of those allowed.

    Examples
    --------
    >>> check_choice("ties", "avrage", ("average", "random"))
    Traceback (most recent call last):
    lifeyears.errors.RequestError: ties must be one of 'average', 'random'; got 'avrage' (did you mean 'average'?)
    """
    try:
        known = value in allowed
    except (TypeError, ValueError):  # an array, say, which is equal to nothing here
        known = False
    if not known:
        close = did_you_mean(value, [str(choice) for choice in allowed]) if isinstance(value, str) else ""
        choices = ", ".join(map(repr, allowed))
        raise RequestError(f"{name} must be one of {choices}; got {value!r}{close}", name=name)
    return value


def check_values(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Check a finite, one-dimensional array of numbers; of a `Relevance`, its values are taken.

    Examples
    --------
    >>> check_values("scores", [1, 2])
    array([1., 2.])
    """
    try:
        numbers: NDArray[np.float64] = np.asarray(getattr(values, "values", values), dtype=float)
    except (TypeError, ValueError) as error:
        raise RequestError(f"{name} must be numbers: {error}", name=name) from None
    if numbers.ndim != 1:
        raise RequestError(f"{name} must be one-dimensional; its shape is {numbers.shape}", name=name)
    if not len(numbers):
        raise RequestError(f"{name} is empty", name=name)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise RequestError(f"{name} is missing or infinite in row {row} ({bad.sum()} rows in all)", name=name, row=row)
    return numbers


def check_random_state(random_state: object) -> np.random.Generator:
    """Return a random generator from a seed, or the generator itself.

    Examples
    --------
    >>> check_random_state("seven")
    Traceback (most recent call last):
    lifeyears.errors.RequestError: random_state must be a whole number from 0 on, or None; got 'seven'
    """
    try:
        return np.random.default_rng(cast("int | None", random_state))
    except (TypeError, ValueError):
        raise RequestError(
            f"random_state must be a whole number from 0 on, or None; got {random_state!r}", name="random_state"
        ) from None


def _check_limits(name: str, value: object, number: float, low: float, high: float) -> None:
    if not number >= low:  # NaN, too
        raise RequestError(f"{name} must be at least {low:g}; got {value!r}", name=name)
    if number > high:
        raise RequestError(f"{name} must be at most {high:g}; got {value!r}", name=name)
    if abs(number) == np.inf:  # a whole number of any size is not
        raise RequestError(f"{name} must be finite; got {value!r}", name=name)
