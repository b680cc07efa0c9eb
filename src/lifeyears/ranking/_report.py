"""The report of a fitted ranker."""

from __future__ import annotations

from dataclasses import dataclass

from .labels import PseudoLabels


@dataclass(frozen=True, eq=False)
class RankerReport:
    """What a ranker consists of.

    Attributes
    ----------
    labels : PseudoLabels or None
        How the pseudo-labels were computed; None if relevance was given.
    weights : dict of member to weight
        Weights of the base model and the members; their sum is near 1 if each is calibrated.
    rounds : dict of member to int
        Number of trees kept.
    terms : dict of member to int
        Number of spline terms and interactions kept, in the median fold.
    kept_base : bool
        Whether the base model is used alone: events were too few, or nothing was better on held-out rows (see `notes`).
    calibrated : bool
        Whether there were held-out rows to calibrate scores to years.
    notes : tuple of str
        What was done differently from what was requested, and why.
    on_relevance : bool
        Whether the ranker was fitted to known relevance in place of observed times.
    """

    labels: PseudoLabels | None
    weights: dict[str, float]
    rounds: dict[str, int]
    terms: dict[str, int]
    kept_base: bool
    calibrated: bool
    notes: tuple[str, ...] = ()
    on_relevance: bool = False

    def __str__(self) -> str:
        parts = [f"{name} {weight:.2f}" for name, weight in self.weights.items()]
        lines = [f"weights: {', '.join(parts)}"]
        if self.rounds:
            lines.append("trees: " + ", ".join(f"{name} {count}" for name, count in self.rounds.items()))
        if self.terms:
            lines.append("terms: " + ", ".join(f"{name} {count}" for name, count in self.terms.items()))
        if self.labels is not None:
            lines.append(repr(self.labels))
        if self.kept_base:
            lines.append("the base model is used as it is")
        return "\n".join([*lines, *self.notes])
