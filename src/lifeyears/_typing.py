"""Names for the types that many signatures share; for annotations only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

    TableLike: TypeAlias = pd.DataFrame | ArrayLike
    """A table of features: a data frame of any library, or a two-dimensional array."""

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
RandomState: TypeAlias = int | np.integer[Any] | np.random.Generator | np.random.SeedSequence | None
PathLike: TypeAlias = str | os.PathLike[str]
Json: TypeAlias = dict[str, Any]
"""An object as JSON holds it."""
