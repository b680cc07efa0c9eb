"""The result of a ranker's fit, and how it is calibrated and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ..models import SurvivalModel
from ._calibration import CalibrationMap
from ._parts import FittedPart
from ._report import RankerReport
from ._rows import scatter_values
from .labels import PseudoLabels

FEWEST_TO_CALIBRATE = 50


@dataclass(frozen=True, eq=False)
class RankerFit:
    """A fitted ranker, without its preprocessor: a weighted sum of parts, and a calibration map."""

    base: SurvivalModel | None
    members: dict[str, list[FittedPart]]
    weights: dict[str, float]
    intercept: float
    calibration: CalibrationMap
    labels: FloatArray
    held_out: FloatArray | None
    held_out_outcomes: FloatArray | None
    report: RankerReport


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows that members were not fitted to: scores, outcomes, and years by a map that was not fitted to them either.

    Without outcomes nothing is calibrated.
    """

    rows: IntArray
    scores: FloatArray
    outcomes: FloatArray
    years: FloatArray

    @classmethod
    def empty(cls) -> HeldOutRows:
        """Return no rows."""
        return cls(np.empty(0, int), np.empty(0), np.empty(0), np.empty(0))


def finish_fit(
    tau: float,
    base: SurvivalModel | None,
    members: Mapping[str, Sequence[FittedPart]],
    weights: dict[str, float],
    intercept: float,
    labels: PseudoLabels | FloatArray,
    held_out: HeldOutRows,
    notes: Sequence[str] = (),
) -> RankerFit:
    """Calibrate on held-out rows, and report.

    Parameters
    ----------
    tau : float
        The horizon.
    base : fitted survival model or None
    members : mapping of str to fits
    weights : dict of str to float
        Of the members, and of "base".
    intercept : float
    labels : PseudoLabels, or an array if relevance is known
    held_out : HeldOutRows
    notes : sequence of str
        For the report.

    Returns
    -------
    RankerFit
    """
    rows, outcomes, notes = held_out.rows, held_out.outcomes, list(notes)
    enough = len(outcomes) >= FEWEST_TO_CALIBRATE
    if isinstance(labels, PseudoLabels):
        values, pseudo_labels = labels.values, labels
        if enough:
            calibration = CalibrationMap.fit(held_out.scores, outcomes, tau)
        else:
            calibration = CalibrationMap.identity(tau)
            notes.append(f"not calibrated: {len(outcomes)} rows were held out, {FEWEST_TO_CALIBRATE} are needed")
    else:  # relevance has no horizon
        values, pseudo_labels, calibration = labels, None, CalibrationMap.identity()
    rounds = {name: fits[0].rounds for name, fits in members.items()}
    terms = {name: [fit.n_terms for fit in fits if fit.n_terms is not None] for name, fits in members.items()}
    report = RankerReport(
        labels=pseudo_labels,
        weights=weights,
        rounds={name: count for name, count in rounds.items() if count is not None},
        terms={name: round(float(np.median(counts))) for name, counts in terms.items() if counts},
        kept_base=set(weights) == {"base"},
        calibrated=calibration.fitted,
        notes=tuple(notes),
        on_relevance=pseudo_labels is None,
    )
    return RankerFit(
        base=base,
        members={name: list(fits) for name, fits in members.items()},
        weights=weights,
        intercept=intercept,
        calibration=calibration,
        labels=values,
        held_out=scatter_values(held_out.years, rows, len(values)) if enough else None,
        held_out_outcomes=scatter_values(outcomes, rows, len(values)) if enough else None,
        report=report,
    )
