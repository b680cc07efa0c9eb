"""Pseudo-labels: the labels on which the second stage is trained, with censored lifetimes imputed (section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .._typing import FloatArray
from ..curves import MOST_GRID_POINTS, SurvivalCurves, row_blocks
from ..outcome import Outcome
from ..relevance import Diagnostics, DoublyRobust, ExpectedYears

if TYPE_CHECKING:
    from ..models import SurvivalModel


class LabelEstimate(Protocol):
    """Relevance of each row, with diagnostics: what a relevance estimator returns."""

    @property
    def values(self) -> FloatArray:
        """Relevance of each row."""

    @property
    def diagnostics(self) -> Diagnostics:
        """How it was estimated."""


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """Pseudo-labels y*, and how they were computed.

    Attributes
    ----------
    values : array, shape (n,)
        One label per row, in the unit of the times.
    n_observed, n_at_horizon, n_imputed : int
        Number of events observed before the horizon, of lives that reached it, and of lives imputed by the model.
    n_fallback : int
        Number of imputed rows whose own curve is 0 at their censoring time, so that the restricted mean was used in
        place of the conditional mean.
    diagnostics : Diagnostics
        Diagnostics of the relevance estimator, with the weights of doubly robust labels.
    """

    values: FloatArray
    n_observed: int
    n_at_horizon: int
    n_imputed: int
    n_fallback: int
    diagnostics: Diagnostics

    @classmethod
    def joined(cls, parts: Sequence[PseudoLabels], values: FloatArray) -> PseudoLabels:
        """Join several parts of one cohort, with `values` in the order of the cohort."""
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


def compute_pseudo_labels(
    estimate: Callable[[FloatArray, Outcome], LabelEstimate],
    X: FloatArray,
    y: Outcome,
    tau: float,
    fallback: SurvivalModel | None = None,
) -> PseudoLabels:
    """Compute the labels of all rows.

    Parameters
    ----------
    estimate : callable
        ``estimate(X, y)`` of a fitted relevance estimator, by which no row is worth less than its time already lived.
    X : array, shape (n, p)
    y : Outcome
    tau : float
        The horizon.
    fallback : SurvivalModel, optional
        The base model, for the paper's fallback: where its curve is 0 at the censoring time, the label is its
        restricted mean, even if that is shorter than the time already lived.

    Returns
    -------
    PseudoLabels
    """
    relevance, restricted = estimate(X, y), y.restrict(tau)
    values = relevance.values
    if fallback is not None and relevance.diagnostics.n_fallback:
        values = values.copy()
        candidates = np.flatnonzero(~restricted.event) if fallback.by_row else np.arange(len(y))
        blocks = row_blocks(len(candidates), 4 * MOST_GRID_POINTS) if fallback.by_row else [slice(None)]
        for rows in (candidates[block] for block in blocks):
            curves = fallback.predict_curves(X[rows])
            exhausted = ~restricted.event[rows] & (curves.at_own(restricted.time[rows]) <= 0)
            values[rows[exhausted]] = curves[exhausted].restricted_mean(tau)
    return PseudoLabels(
        values=values,
        n_observed=int(np.count_nonzero(restricted.event & (restricted.time < tau))),
        n_at_horizon=int(np.count_nonzero(restricted.time >= tau)),
        n_imputed=len(y) - restricted.n_events,
        n_fallback=relevance.diagnostics.n_fallback,
        diagnostics=relevance.diagnostics,
    )


def make_label_estimator(
    label: str, base: SurvivalModel, censoring: SurvivalModel | SurvivalCurves | None, tau: float
) -> ExpectedYears | DoublyRobust:
    """Return the relevance estimator of a kind of label ("ey" or "dr"), with fitted models.

    Weights of doubly robust labels are clipped at 1/0.05, and the clipped ones counted.
    """
    if label == "ey":
        return ExpectedYears(base, tau=tau)
    return DoublyRobust(base, censoring, tau=tau, on_violation="clip")
