"""What curves and models compute row by row, compiled; imported when first used, as compilers are heavy."""

from __future__ import annotations

import numba
import numpy as np


def each_row_times(matrix: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """`matrix @ weights`, a row's sum always taken from left to right.

    The last bit of a product by the linear algebra libraries depends on how many rows and threads there are. A
    patient's years must not depend on who else is on the list, nor on the machine that loads the model.
    """
    out = np.zeros(len(matrix))
    along = abs(matrix.strides[1]) < abs(matrix.strides[0])  # how the numbers lie together
    (_along_rows if along else _down_columns)(matrix, np.ascontiguousarray(weights, dtype=float), out)
    return out


@numba.njit(cache=True, nogil=True)
def _along_rows(matrix: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    whole = len(matrix) - len(matrix) % 4
    for i in range(0, whole, 4):  # four at a time: an addition does not wait for the one before
        a = b = c = d = 0.0
        for j in range(len(weights)):
            a += matrix[i, j] * weights[j]
            b += matrix[i + 1, j] * weights[j]
            c += matrix[i + 2, j] * weights[j]
            d += matrix[i + 3, j] * weights[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d
    _down_columns(matrix[whole:], weights, out[whole:])


@numba.njit(cache=True, nogil=True)
def _down_columns(matrix: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    for start in range(0, len(matrix), 2048):  # of `out`, so much stays in the cache
        stop = min(start + 2048, len(matrix))
        for j in range(len(weights)):
            for i in range(start, stop):
                out[i] += matrix[i, j] * weights[j]


@numba.njit(cache=True, nogil=True)
def areas_after(
    times: np.ndarray, survival: np.ndarray, a: np.ndarray, tau: float, linear: bool, out: np.ndarray
) -> None:
    """∫ₐ^τ S(t) dt of each curve from each of its times a on, which rise along the row and lie within [0, τ].

    Added up from the end: late, where S is tiny, a difference of two areas from 0 would have no digits left.
    """
    last = np.searchsorted(times, tau) - 1  # the last time before τ
    for row in range(len(survival)):
        S, beyond, upper, k = survival[row], 0.0, tau, a.shape[1] - 1
        for j in range(last, -2, -1):
            left, height, slope = (times[j], S[j], 0.0) if j >= 0 else (0.0, 1.0, 0.0)
            if linear and j + 1 < len(times):
                slope = (S[j + 1] - height) / (times[j + 1] - left) if times[j + 1] > left else 0.0
            while k >= 0 and a[row, k] >= left:
                mean = height + slope * (0.5 * (a[row, k] + upper) - left)
                out[row, k] = beyond + mean * (upper - a[row, k])
                k -= 1
            if k < 0:
                break
            beyond += (height + slope * 0.5 * (upper - left)) * (upper - left)
            upper = left
