"""The censoring distribution behind the weighted metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..curves import SurvivalCurves, product_limit
from ..errors import RequestError
from ..outcome import Outcome, as_outcome

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray
    from ..outcome import OutcomeLike


def censoring_curves(y: Outcome, censoring: OutcomeLike | SurvivalCurves | None) -> SurvivalCurves:
    """Return G(t) for each row of y.

    Parameters
    ----------
    y : Outcome
        The rows to be weighted.
    censoring : None, outcome or SurvivalCurves
        None: Kaplan–Meier of the censoring of y itself. An outcome (of the training set, say): Kaplan–Meier of its
        censoring. Curves: G(t|x) as known or modelled, one row for each of y, or one for all.
    """
    if isinstance(censoring, SurvivalCurves):
        return censoring.for_rows(len(y), "censoring")
    source = y if censoring is None else as_outcome(censoring)
    return product_limit(source.censoring()).curves(len(y))


def inverse_weights(chance: FloatArray, needed: BoolArray, time: float) -> FloatArray:
    """Return 1/G where it is needed, else 0; refuse rows that had no chance of being observed."""
    if (chance[needed] <= 0).any():
        raise RequestError(
            f"by the censoring distribution nobody can be followed to time {time:g}, yet some rows were",
            hint="Pass the censoring of a larger set, or an earlier time.",
            time=time,
        )
    weights: FloatArray = np.divide(1.0, chance, out=np.zeros(len(chance)), where=needed)
    return weights
