"""Pseudo-labels: what stands for each life in the second stage (section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..curves import MOST_GRID_POINTS, row_blocks
from ..outcome import Outcome
from ..relevance import Diagnostics, DoublyRobust, ExpectedYears


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """Labels y*, and how they came about.

    Attributes
    ----------
    values : array, shape (n,)
    n_observed, n_at_horizon, n_imputed : int
        Events seen before the horizon, lives that reached it, and lives filled in by the model.
    n_fallback : int
        Of the imputed: rows whose own curve says they are dead by their censoring time, so that the restricted mean
        took the place of the conditional mean.
    diagnostics : Diagnostics
        Of the relevance estimator; with the weights of doubly robust labels.
    """

    values: np.ndarray
    n_observed: int
    n_at_horizon: int
    n_imputed: int
    n_fallback: int
    diagnostics: Diagnostics

    @classmethod
    def joined(cls, parts: Sequence[PseudoLabels], values: np.ndarray) -> PseudoLabels:
        """Of several parts of one cohort, with the labels put back in its order."""
        return cls(
            values=values,
            n_observed=sum(part.n_observed for part in parts),
            n_at_horizon=sum(part.n_at_horizon for part in parts),
            n_imputed=sum(part.n_imputed for part in parts),
            n_fallback=sum(part.n_fallback for part in parts),
            diagnostics=Diagnostics.join([part.diagnostics for part in parts]),
        )

    def __repr__(self) -> str:
        return (
            f"PseudoLabels({len(self.values):,}: {self.n_observed:,} observed, {self.n_at_horizon:,} at the horizon, "
            f"{self.n_imputed:,} imputed, {self.n_fallback:,} of them by the restricted mean)"
        )


def pseudo_labels(
    estimate: Callable[[Any, Outcome], Any], X: np.ndarray, y: Outcome, tau: float, literal: Any = None
) -> PseudoLabels:
    """Labels of all rows.

    `estimate(X, y)` is that of a fitted relevance estimator, by which nobody is worth less than the time already lived.
    The paper's fallback, where a curve says that nobody is left, is the restricted mean, however short: it is taken as
    it stands by the curves of the base model `literal`.
    """
    found, seen = estimate(X, y), y.restrict(tau)
    values = found.values
    if literal is not None and found.diagnostics.n_fallback:
        values = values.copy()
        asked = np.flatnonzero(~seen.event) if literal.by_row else np.arange(len(y))
        blocks = row_blocks(len(asked), 4 * MOST_GRID_POINTS) if literal.by_row else [slice(None)]
        for rows in (asked[block] for block in blocks):
            curves = literal.predict_curves(X[rows])
            gone = ~seen.event[rows] & (curves.at_own(seen.time[rows]) <= 0)
            values[rows[gone]] = curves[gone].restricted_mean(tau)
    return PseudoLabels(
        values=values,
        n_observed=int(np.count_nonzero(seen.event & (seen.time < tau))),
        n_at_horizon=int(np.count_nonzero(seen.time >= tau)),
        n_imputed=len(y) - seen.n_events,
        n_fallback=found.diagnostics.n_fallback,
        diagnostics=found.diagnostics,
    )


def label_estimator(label: str, base: Any, censoring: Any, tau: float) -> Any:
    """EY or DR with fitted models; DR's weights are clipped at 1/0.05 and counted."""
    if label == "ey":
        return ExpectedYears(base, tau=tau)
    return DoublyRobust(base, censoring, tau=tau, on_violation="clip")
