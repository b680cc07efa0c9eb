"""What a run is to do: the protocol and its options, fixed before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

MODELS = ("KM", "Cox", "AFT", "DeepSurv", "DeepHit")
KS = (1, 5, 10, 50, 100)
MOST_UNITS = 10_000
START = 20.0  # seconds until workers have begun, and for the tables at the end
CEILING = "truth known"  # the arm that ranks by the true expected life, where a simulation knows it


@dataclass(frozen=True)
class Plan:
    """The options of a run; two runs with equal plans on equal data end in equal bytes.

    Attributes
    ----------
    protocol : {"artificial", "full"}
        Section 6.1: events only, censored artificially, judged by the truth. Section 6.2: the data as they are, judged
        by estimates.
    iterations, folds : int
    tau : float
        Horizon of labels and estimates. Table 1's relevance is the unrestricted T*.
    models : base models, by name
    default_over : base models that also get a row with ``preset="default"``
    seed : int
    waitlist, k : int
        Candidates on the lists of our own measures, and the places that count.
    epochs : int
        Of the deep models, at most.
    censored_share : float
        Of the artificial protocol.
    censoring : {"paper", "independent"}
        C ~ U[0, T*], which depends on T*, or a censoring time independent of it, of the same share.
    era : {"keep", "drop", "within"}
        Era columns are kept, or left out; "within" keeps them and ranks within an era.
    split : {"random", "temporal", "centre"}
    nuisance_folds : int
        Cross-fitting within each test fold.
    subgroups : columns whose groups get rows in the subgroup tables, beside those that are known by their names
    """

    protocol: Literal["artificial", "full"]
    iterations: int = 5
    folds: int = 5
    tau: float = 20.0
    models: tuple[str, ...] = MODELS
    default_over: tuple[str, ...] = ("Cox",)
    seed: int = 0
    waitlist: int = 256
    k: int = 1
    epochs: int = 75
    censored_share: float = 0.5
    censoring: Literal["paper", "independent"] = "paper"
    era: Literal["keep", "drop", "within"] = "keep"
    split: Literal["random", "temporal", "centre"] = "random"
    nuisance_folds: int = 2
    subgroups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _one_of("protocol", self.protocol, ("artificial", "full"))
        _one_of("censoring", self.censoring, ("paper", "independent"))
        _one_of("era", self.era, ("keep", "drop", "within"))
        _one_of("split", self.split, ("random", "temporal", "centre"))
        for name in ("models", "default_over"):
            unknown = [model for model in getattr(self, name) if model not in MODELS]
            if unknown:
                raise ValueError(f"{name} names {', '.join(unknown)}; known are {', '.join(MODELS)}")
        if not self.models:
            raise ValueError("models is empty: name at least one")
        if self.iterations < 1 or self.folds < 2 or self.nuisance_folds < 2:
            raise ValueError("iterations must be at least 1, folds and nuisance_folds at least 2")
        if self.iterations * self.folds > MOST_UNITS:
            raise ValueError(
                f"{self.iterations} iterations of {self.folds} folds are too many: at most {MOST_UNITS:,} units in all"
            )
        if not 0 < self.censored_share < 1:
            raise ValueError(f"censored_share must lie between 0 and 1; got {self.censored_share}")
        if not 0 < self.tau < float("inf"):
            raise ValueError(f"tau must be a positive, finite time; got {self.tau}")
        if self.waitlist < 1 or self.epochs < 1:
            raise ValueError("waitlist and epochs must be at least 1")
        if not 1 <= self.k <= self.waitlist:
            raise ValueError(f"k must lie between 1 and the waitlist, {self.waitlist}; got {self.k}")
        if self.split == "temporal" and self.iterations > 1:
            raise ValueError("time has one order: a temporal split has one iteration")

    @property
    def units(self) -> list[tuple[int, int]]:
        """(iteration, fold) of every unit."""
        return [(iteration, fold) for iteration in range(self.iterations) for fold in range(self.folds)]

    @property
    def test_to_train(self) -> float:
        """Rows of a test fold for each training row, on average: what overlapping training sets cost in certainty."""
        if self.split == "temporal":  # blocks of one size, each behind all before it
            return sum(1 / before for before in range(1, self.folds + 1)) / self.folds
        return 1 / (self.folds - 1)

    @property
    def arms(self) -> list[tuple[str, str]]:
        """(model, framework) of every row of the tables."""
        arms = []
        for model in self.models:
            arms += [(model, "standard"), (model, "ranker")]
            if model in self.default_over:
                arms.append((model, "default"))
        return arms

    def seconds(self, rows: int, columns: int) -> float:
        """Roughly how long it takes on one core, by what the registry took in 2026 (`START` not counted)."""
        size = rows / 1000 * columns / 92
        deep = sum(model.startswith("Deep") for model in self.models)
        unit = (len(self.models) - deep) * (0.1 + 0.035 * size)
        unit += deep * (0.3 + 0.0035 * self.epochs * rows / 1000)
        unit += sum(model in self.models for model in self.default_over) * (3 + 1.3 * size)
        return len(self.units) * unit

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the manifest."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def parts_of(arm: str) -> tuple[str, str]:
    """Model and framework of an arm: "Cox", "ranker"."""
    model, _, framework = arm.partition(" ")
    return model, framework


def base_of(arm: str) -> str | None:
    """The arm a ranker is judged against, its base model as it is; None for other arms."""
    model, framework = parts_of(arm)
    return f"{model} standard" if framework in ("ranker", "default") else None


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
