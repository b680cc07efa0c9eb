"""exp(−a·b) of an outer product, four numbers at a time.

numpy's float64 exp takes about 6 ns a number on a machine without AVX-512; curves of many patients are nothing but
exponentials. The loops below are written so that LLVM vectorises them: no branch, no call, no table.
"""

from __future__ import annotations

import numba
import numpy as np

_SHIFT = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to the nearest integer, kept in the low bits
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # ln 2 in two parts: k·high is exact
_LOWEST = -708.0  # below it 2^k is no normal number, and e^x is taken as 0


@numba.njit(cache=True, fastmath={"contract"}, error_model="numpy")
def exp_minus_outer(rows: np.ndarray, columns: np.ndarray, out: np.ndarray) -> None:
    """out[i, j] = exp(−rows[i]·columns[j]) for products ≥ 0, within one unit in the last place.

    x = k·ln 2 + r with |r| ≤ ln 2 / 2; e^r from its Taylor series to r¹³ (the rest is below 1e-17); times 2^k, made
    by writing k into the bits of the exponent.
    """
    m = len(columns)
    exponent = np.empty(m, dtype=np.int64)
    power = exponent.view(np.float64)
    rounded = np.empty(m)
    bits = rounded.view(np.int64)
    for i in range(len(rows)):
        row, risk = out[i], -rows[i]
        for j in range(m):
            rounded[j] = max(risk * columns[j], _LOWEST) * _LOG2E + _SHIFT
        for j in range(m):
            k = rounded[j] - _SHIFT
            x = max(risk * columns[j], _LOWEST)
            r = (x - k * _LN2_HIGH) - k * _LN2_LOW
            p = 1.0 / 6227020800.0
            p = p * r + 1.0 / 479001600.0
            p = p * r + 1.0 / 39916800.0
            p = p * r + 1.0 / 3628800.0
            p = p * r + 1.0 / 362880.0
            p = p * r + 1.0 / 40320.0
            p = p * r + 1.0 / 5040.0
            p = p * r + 1.0 / 720.0
            p = p * r + 1.0 / 120.0
            p = p * r + 1.0 / 24.0
            p = p * r + 1.0 / 6.0
            p = p * r + 0.5
            row[j] = (p * r * r + r) + 1.0 if x > _LOWEST else 0.0
        for j in range(m):
            exponent[j] = (bits[j] + 1023) << 52  # the bits of _SHIFT fall off the top
        for j in range(m):
            row[j] = min(row[j] * power[j], 1.0)
