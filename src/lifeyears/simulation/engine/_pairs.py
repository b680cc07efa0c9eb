"""What a pair of a candidate and an item has: its own random numbers, and a score by the world's law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

if TYPE_CHECKING:
    from ..._typing import AnyArray, FloatArray, IntArray

# Places of a pair's uniform numbers (the last: of an item's). 1 and 2 are left to the law of the world.
OFFERED, ACCEPTS, ORDERS, PICKS = 3, 4, 5, 6


@numba.njit(cache=True)
def _mix(bits: np.uint64) -> np.uint64:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@numba.njit(cache=True)
def pair_uniform(candidate: np.uint64, item: np.uint64, number: int) -> float:
    """Return the pair's uniform number at a place, from 1 on: a mix of the two keys, as in `lifeyears.data.registry`.

    It does not depend on who else is on the list: common random numbers for every policy.
    """
    first = _mix(candidate) + np.uint64(0x9E3779B97F4A7C15) * item
    bits = _mix(_mix(first) + np.uint64(number) * np.uint64(0xD1B54A32D192ED03))
    return (np.float64(bits >> np.uint64(11)) + 0.5) * 2.0**-53


@numba.njit(cache=True)
def order_at_random(candidates: AnyArray, item: np.uint64) -> FloatArray:
    """Return the random numbers of several candidates with one item that a random order goes by."""
    out = np.empty(len(candidates))
    for i in range(len(candidates)):
        out[i] = pair_uniform(candidates[i], item, ORDERS)
    return out


def score_pairs(
    law: tuple[object, ...], who: IntArray, items: IntArray, distance: FloatArray, n: int, out: FloatArray
) -> None:
    """Write the scores of the first n candidates with an item (one for all, or one each) to `out`, by the world's law.

    The kernels of the engine call this function; a world implements it for the type of its law, with
    `numba.extending.overload`. Compiled code is chosen by type, so the engine stays free of any world and remains
    cached on disk.
    """
    raise NotImplementedError(f"no world has registered score_pairs for {type(law).__name__}")
