"""Scales of columns, for parameters that an optimiser can compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..._typing import BoolArray, FloatArray


def column_scales(X: FloatArray, mean: FloatArray, spread: FloatArray | None = None) -> tuple[FloatArray, BoolArray]:
    """Return standard deviations to divide by (1 for constant columns), and which columns are constant.

    A column that varies by no more than rounding is constant.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> column_scales(X, X.mean(axis=0))
    (array([1., 1.]), array([False,  True]))
    """
    spread = X.std(axis=0) if spread is None else spread
    constant: BoolArray = ~(spread > 1e-13 * np.abs(mean)) | (spread == 0)
    return np.where(constant, 1.0, spread), constant
