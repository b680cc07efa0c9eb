"""How long the methods take on one core: rough numbers, for `--dry-run`, from the simulated registry in 2026."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .types import Arm


@dataclass(frozen=True)
class Cost:
    """Seconds of one fit: some, and more with the table's size and with the epochs over its rows.

    Attributes
    ----------
    fixed : float
    by_size : float
        For each 1,000 rows of 92 columns.
    by_epoch : float
        For each epoch over 1,000 rows.
    """

    fixed: float
    by_size: float = 0.0
    by_epoch: float = 0.0

    def seconds(self, rows: int, columns: int, epochs: int) -> float:
        """Return the seconds of a fit to so many rows and columns."""
        return self.fixed + self.by_size * rows / 1000 * columns / 92 + self.by_epoch * epochs * rows / 1000


ANY_MODEL = Cost(0.1, by_size=0.035)  # the paper's ranker included: it is fitted together with its base
MODELS = {"DeepSurv": Cost(0.3, by_epoch=0.0035), "DeepHit": Cost(0.3, by_epoch=0.0035)}
ANY_METHOD = Cost(0.0)
METHODS = {"stacked": Cost(3.0, by_size=1.3)}


def estimate_seconds(arms: Iterable[Arm], rows: int, columns: int, epochs: int) -> float:
    """Estimate the seconds of one job."""
    costs = [
        MODELS.get(arm.model, ANY_MODEL) if arm.base is None else METHODS.get(arm.method, ANY_METHOD) for arm in arms
    ]
    return sum(cost.seconds(rows, columns, epochs) for cost in costs)
