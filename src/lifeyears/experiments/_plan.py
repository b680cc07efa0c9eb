"""What a run is to do: the protocol and its options, fixed before anything is computed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from .._typing import Json
from ..checks import check_choice, check_number, check_positive, check_whole
from ..errors import RequestError
from ..text import did_you_mean

MODELS = ("KM", "Cox", "AFT", "DeepSurv", "DeepHit")
KS = (1, 5, 10, 50, 100)
MOST_JOBS = 10_000
STARTUP_SECONDS = 20.0  # until workers have begun, and for the tables at the end
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
    subgroups : tuple of str
        Columns that define subgroups in the tables, in addition to those recognised by their names.
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
        check_choice("protocol", self.protocol, ("artificial", "full"))
        check_choice("censoring", self.censoring, ("paper", "independent"))
        check_choice("era", self.era, ("keep", "drop", "within"))
        check_choice("split", self.split, ("random", "temporal", "centre"))
        _check_models("models", self.models)
        _check_models("default_over", self.default_over)
        if not self.models:
            raise RequestError("models is empty: name at least one")
        check_whole("iterations", self.iterations, low=1)
        check_whole("folds", self.folds, low=2)
        check_whole("nuisance_folds", self.nuisance_folds, low=2)
        if self.iterations * self.folds > MOST_JOBS:
            raise RequestError(
                f"{self.iterations} iterations of {self.folds} folds are too many: at most {MOST_JOBS:,} jobs in all"
            )
        check_number("censored_share", self.censored_share)
        if not 0 < self.censored_share < 1:
            raise RequestError(f"censored_share must lie between 0 and 1; got {self.censored_share}")
        check_positive("tau", self.tau)
        check_whole("waitlist", self.waitlist, low=1)
        check_whole("epochs", self.epochs, low=1)
        check_whole("k", self.k)
        if not 1 <= self.k <= self.waitlist:
            raise RequestError(f"k must lie between 1 and the waitlist, {self.waitlist}; got {self.k}")
        if self.split == "temporal" and self.iterations > 1:
            raise RequestError("time has one order: a temporal split has one iteration")

    @property
    def jobs(self) -> list[tuple[int, int]]:
        """(iteration, fold) of every job."""
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
        """Estimate roughly how long it takes on one core, from what the simulated registry took in 2026.

        `STARTUP_SECONDS` are not included.
        """
        size = rows / 1000 * columns / 92
        deep = sum(model.startswith("Deep") for model in self.models)
        job = (len(self.models) - deep) * (0.1 + 0.035 * size)
        job += deep * (0.3 + 0.0035 * self.epochs * rows / 1000)
        job += sum(model in self.models for model in self.default_over) * (3 + 1.3 * size)
        return len(self.jobs) * job

    def as_dict(self) -> Json:
        """Return plain values, for the manifest."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def split_arm(arm: str) -> tuple[str, str]:
    """Split the name of an arm into model and framework: "Cox", "ranker"."""
    model, _, framework = arm.partition(" ")
    return model, framework


def find_base(arm: str) -> str | None:
    """Find the arm that a ranker is compared with, its base model alone; None for other arms."""
    model, framework = split_arm(arm)
    return f"{model} standard" if framework in ("ranker", "default") else None


def _check_models(name: str, models: tuple[str, ...]) -> None:
    unknown = [model for model in models if model not in MODELS]
    if unknown:
        close = did_you_mean(unknown[0], MODELS)
        raise RequestError(f"{name} names {', '.join(unknown)}; known are {', '.join(MODELS)}{close}")
