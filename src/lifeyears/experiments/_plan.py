"""What a run is to do: the protocol, its methods and its options, fixed before anything is computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Literal

from .. import catalogue
from .._typing import Json
from ..catalogue import Catalogue, MethodSpec
from ..checks import check_choice, check_number, check_positive, check_whole
from ..errors import RequestError
from ._costs import estimate_seconds
from .types import Arm, Measure

MODELS = ("KM", "Cox", "AFT", "DeepSurv", "DeepHit")  # the paper's predictors
PAPER_METHOD = "bootstrapped"
ESTIMATORS = ("EY", "IPCW", "DR")  # those of every run: the paper's two, and the one that judges without a truth
METRICS = ("value", "ndcg", "c_index", "auc")
KS = (1, 5, 10, 50, 100)
MOST_JOBS = 10_000
STARTUP_SECONDS = 20.0  # until workers have begun, and for the tables at the end
GROUPS = {
    "models": catalogue.models,
    "rankers": catalogue.rankers,
    "estimators": catalogue.estimators,
    "metrics": catalogue.metrics,
}


def _registered(methods: Catalogue) -> tuple[str, ...]:
    return tuple(spec.key for spec in methods.registered())


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
    models : tuple of str
        Keys of survival models (`lifeyears.catalogue.models`); the paper's five by default.
    methods : tuple of str
        Keys of ranking methods (`lifeyears.catalogue.rankers`) that are fitted over every model; the paper's by
        default.
    stacked_over : tuple of str
        Models over which the stacked ranker is fitted too: it takes longer.
    estimators, metrics : tuple of str
        Keys of relevance estimators and metrics in addition to those of Lifeyears; by default all that are registered.
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
    methods: tuple[str, ...] = (PAPER_METHOD,)
    stacked_over: tuple[str, ...] = ("Cox",)
    estimators: tuple[str, ...] = field(default_factory=lambda: _registered(catalogue.estimators))
    metrics: tuple[str, ...] = field(default_factory=lambda: _registered(catalogue.metrics))
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
    specs: tuple[tuple[str, MethodSpec], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("protocol", self.protocol, ("artificial", "full"))
        check_choice("censoring", self.censoring, ("paper", "independent"))
        check_choice("era", self.era, ("keep", "drop", "within"))
        check_choice("split", self.split, ("random", "temporal", "centre"))
        if not self.models:
            raise RequestError("models is empty: name at least one")
        object.__setattr__(self, "specs", self._travelling_specs())
        labels = Counter(arm.label for arm in self.arms)
        if max(labels.values()) > 1:
            raise RequestError(f"two methods of the plan have the same label, {max(labels, key=labels.__getitem__)!r}")
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
    def arms(self) -> list[Arm]:
        """Rows of the tables: every model as it is, and as the base of ranking methods."""
        arms = []
        for model in self.models:
            stacked = ("stacked",) if model in self.stacked_over else ()
            methods = dict.fromkeys((*self.methods, *stacked))
            arms += [Arm(model), *(Arm(model, method) for method in methods)]
        return arms

    @property
    def value(self) -> Measure:
        """The value of an allocation from a waitlist; the relevance is to be filled in."""
        return Measure(None, "value", k=self.k, waitlist=self.waitlist)

    @property
    def ndcg(self) -> Measure:
        """NDCG over waitlists; the relevance is to be filled in."""
        return Measure(None, "ndcg", k=self.k, waitlist=self.waitlist)

    def methods_of(self, group: str) -> tuple[MethodSpec, ...]:
        """Return the specifications of the methods of a kind, in order.

        Parameters
        ----------
        group : {"models", "rankers", "estimators", "metrics"}
        """
        keys: dict[str, tuple[str, ...]] = {
            "models": self.models,
            "rankers": tuple(arm.method for arm in self.arms if arm.base is not None),
            "estimators": (*ESTIMATORS, *self.estimators),
            "metrics": (*METRICS, *self.metrics),
        }
        return tuple(GROUPS[group][key] for key in dict.fromkeys(keys[group]))

    def adopt_methods(self) -> None:
        """Put the methods that came with the plan into the catalogue of this process, a worker."""
        for group, spec in self.specs:
            GROUPS[group].adopt(spec)

    def seconds(self, rows: int, columns: int) -> float:
        """Estimate roughly how long it takes on one core, from what the simulated registry took in 2026.

        `STARTUP_SECONDS` are not included.
        """
        return len(self.jobs) * estimate_seconds(self.arms, rows, columns, self.epochs)

    def as_dict(self) -> Json:
        """Return the options as plain values, for the manifest."""
        options = {part.name: getattr(self, part.name) for part in fields(self) if part.init}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}

    def _travelling_specs(self) -> tuple[tuple[str, MethodSpec], ...]:
        """The methods that are not of Lifeyears: a worker has to be told of them. Unknown keys are refused here."""
        for model in self.stacked_over:
            catalogue.models[model]
        registered = {group: methods.registered() for group, methods in GROUPS.items()}
        return tuple((group, spec) for group in GROUPS for spec in self.methods_of(group) if spec in registered[group])
