"""What a fitted ranker is made of, in words."""

from __future__ import annotations

from dataclasses import dataclass

from ._labels import PseudoLabels


@dataclass(frozen=True, eq=False)
class RankerReport:
    """What a ranker is made of.

    Attributes
    ----------
    labels : PseudoLabels or None
        How the pseudo-labels came about; None where relevance was given.
    weights : dict of member to weight
        Of the base model and the members; their sum is near 1 if each is calibrated.
    rounds : dict of member to int
        Trees kept.
    terms : dict of member to int
        Kept of broken lines and products, in the median fold.
    kept_base : bool
        The base model is used as it is: too few events, or nothing was better on held-out rows (see `notes`).
    calibrated : bool
        Whether held-out rows were there to map scores to years.
    notes : tuple of str
        What was done otherwise than asked, and why.
    """

    labels: PseudoLabels | None
    weights: dict[str, float]
    rounds: dict[str, int]
    terms: dict[str, int]
    kept_base: bool
    calibrated: bool
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{name} {weight:.2f}" for name, weight in self.weights.items()]
        lines = [f"weights: {', '.join(parts)}"]
        if self.rounds:
            lines.append("trees: " + ", ".join(f"{name} {many}" for name, many in self.rounds.items()))
        if self.terms:
            lines.append("terms: " + ", ".join(f"{name} {many}" for name, many in self.terms.items()))
        if self.labels is not None:
            lines.append(repr(self.labels))
        if self.kept_base:
            lines.append("the base model is used as it is")
        return "\n".join([*lines, *self.notes])
