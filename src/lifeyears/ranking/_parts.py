"""What a fitted ranker is a weighted sum of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from .._typing import FloatArray
from ..models import SurvivalModel


class FittedPart(Protocol):
    """A fitted predictor of years, on the matrix that a ranker's preprocessor makes."""

    @property
    def additive(self) -> bool:
        """Whether `predict_contributions` explains it; otherwise it is explained by occlusion."""

    @property
    def rounds(self) -> int | None:
        """Number of trees in each booster; None if it has none."""

    @property
    def n_terms(self) -> int | None:
        """Number of spline terms; None if it has none."""

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the expected years of each row."""


class AdditivePart(FittedPart, Protocol):
    """A part that knows what each column adds to its years."""

    def predict_contributions(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return years, and what each column adds to them (n, p + 1), the last being what all rows share."""


@dataclass(frozen=True, eq=False)
class ModelPart:
    """A fitted survival model, by its restricted mean."""

    additive: ClassVar[bool] = False
    rounds: ClassVar[int | None] = None
    n_terms: ClassVar[int | None] = None

    model: SurvivalModel

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the expected years of each row."""
        return self.model.predict(X)
