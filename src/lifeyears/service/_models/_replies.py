"""The answers of the service."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict

from ...scoring import MOST_BOUNDED
from ._base import CalibrationGroup, Interval, Reply, field, optional
from ._card import Bound, Card, SchemaNote

KEY = "Key of the model, as it is served (the name of its folder): not its title."
TITLE = "Title of the model, from its card; requests name a model by its key."
UNIT = "Unit of all times in this answer."
HORIZON = "The horizon: predictions are expected times within it."


class HealthReply(Reply):
    """The service is up."""

    status: Literal["ok"] = field("Always ok.")
    version: str = field("Version of Lifeyears.")


class ServedModel(Reply):
    """One of the models that are served."""

    model: str = field(KEY)
    name: str = field(TITLE)


class ModelReply(Reply):
    """A model: the columns of a row, and its card."""

    model: str = field(KEY)
    models: list[ServedModel] = field("All models that are served.")
    columns_: SchemaNote = field("What a row must hold.", alias="schema")
    card: Card = field("The model's card.")


_EXACT = ConfigDict(extra="forbid")
_LOW = "Lower end of the 95% interval of the mean of held-out rows with similar predictions, where rows were held out."


# Of these there are thousands in an answer: dictionaries take a fifth of the time that models take.
class Reason(TypedDict):
    """What a feature adds to a prediction."""

    __pydantic_config__ = _EXACT  # type: ignore[misc]

    feature: Annotated[str, field("Name of the column.")]
    years: Annotated[
        float, field("What it adds to the expected time; negative if it takes away. In the unit of the data.")
    ]


class Ranked(TypedDict):
    """A candidate in the ranking."""

    __pydantic_config__ = _EXACT  # type: ignore[misc]

    rank: Annotated[int, field("Place in the ranking, from 1.")]
    row: Annotated[int, field("Index of the candidate in the request, from 0.")]
    years: Annotated[float, field("Expected time within the horizon, in the unit of the data.")]
    low: NotRequired[Annotated[float, field(_LOW)]]
    high: NotRequired[Annotated[float, field("Upper end of that interval.")]]
    probability: Annotated[float, field("Probability of being drawn by Algorithm 1.", ge=0, le=1)]
    reasons: Annotated[list[Reason], field("The features that change the prediction most, the largest first.")]


class RankReply(Reply):
    """Candidates of one organ, best first."""

    model: str = field(TITLE)
    k: int = field("Number of places among which Algorithm 1 draws.")
    unit: str = field(UNIT)
    horizon: float = field(HORIZON)
    estimates: str = field("What the predicted number is.")
    use: str = field("Intended use.")
    typical: float = field("The prediction before any feature is considered.")
    ranked: list[Ranked] = field("The candidates, best first.")
    bound: Bound | None = field(
        "From the model's card: NDCG@k of held-out rows and the plug-in bound on what Algorithm 1's draw gains, as a "
        "share of the best choice, with 95% intervals; for lists of the card's metrics.waitlist candidates, however "
        f"many were sent. Null for k above {MOST_BOUNDED} or above that length, and where no rows were held out."
    )
    outside: dict[str, int] = field(
        "Number of values, by column, that lie well outside the training data: there the model extrapolates."
    )
    ignored: list[str] = field("Columns of the first candidate that the model does not use.")


class Explained(Reply):
    """The explanation of one prediction."""

    row: int = field("Index of the candidate in the request, from 0.")
    years: float = field("Expected time within the horizon, in the unit of the data.")
    typical: float = field("The prediction before any feature is considered.")
    low: float | None = optional(_LOW)
    high: float | None = optional("Upper end of that interval.")
    reasons: list[Reason] = field("What every feature adds, the largest first; with `typical` they sum to `years`.")
    survival: list[float] = field("Probability of being without the event at each of `times`.")


class ExplainReply(Reply):
    """Explanations and survival curves."""

    model: str = field(TITLE)
    unit: str = field(UNIT)
    horizon: float = field(HORIZON)
    times: list[float] = field("Times of the survival curves, from 0 to the horizon.")
    explained: list[Explained] = field("One explanation per candidate, in the order of the request.")


class Positivity(Reply):
    """Whether the rows could be followed to the horizon."""

    smallest_reach: float | None = field("Smallest estimated probability of being followed to the horizon.")
    share_out_of_reach: float | None = field("Share of rows that could not be followed to the horizon.")
    reading: str = field("The same in a sentence.")


class EvaluateReply(Reply):
    """How well the model ranks rows whose outcome is known."""

    model: str = field(TITLE)
    rows: int = field("Number of rows.")
    events: int = field("Number of events.")
    k: int = field("Places of a list that count.")
    waitlist: int = field("Length of the lists.")
    unit: str = field(UNIT)
    judged_by: str = field("What stands for the outcome of a row: observed or estimated times.")
    positivity: Positivity = field("Whether the rows could be followed to the horizon.")
    c_index: float = field("Harrell's C-index, with times restricted to the horizon.")
    value: Interval = field("Expected time of one allocation by the model.")
    at_random: Interval = field("Expected time of an allocation at random.")
    gain: Interval = field("The difference of the two, paired.")
    mean_predicted: float = field("Mean prediction.")
    mean_outcome: float = field("Mean outcome.")
    calibration: list[CalibrationGroup] = field("Groups of rows by prediction.")
    note: str = field("What to keep in mind; empty if nothing.")


class PolicyNote(Reply):
    """A policy of the simulator."""

    policy: str = field("Key of the policy in the catalogue.")
    label: str = field("Name for people.")
    oracle: bool = field("Whether it ranks by the truth, which only a simulation knows.")
    default: bool = field("Whether it is simulated unless policies are named.")


class NumberNote(Reply):
    """A number that a simulation takes."""

    name: str = field("Name of the field of the request.")
    label: str = field("Name for people.")
    default: float = field("Value unless another is sent.")
    low: float = field("Smallest value.")
    high: float = field("Largest value.")
    whole: bool = field("Whether it must be a whole number.")


class MeasureNote(Reply):
    """A measure of a simulation."""

    measure: str = field("Key of the measure.")
    label: str = field("Name for people.")
    main: bool = field("Whether it is one of the main measures.")


class PoliciesReply(Reply):
    """What can be simulated."""

    policies: list[PolicyNote] = field("The policies.")
    settings: list[NumberNote] = field("The numbers that a request may set.")
    measures: list[MeasureNote] = field("The measures of a result.")
    listed_per_year: float = field("Candidates listed per year at full size.")
    donors_per_year: float = field("Hearts offered per year at full size.")


class Progress(Reply):
    """How far a simulation is."""

    done: int = field("Number of replicates done.")
    total: int = field("Number of replicates in all.")
    message: str = field("What is being done, or why it ended.")


class SimulationSettings(Reply):
    """The settings of a simulation, as they are used."""

    policies: list[str] = field("Keys of the policies.")
    years: float = field("Years to simulate.")
    replicates: int = field("Number of replicates.")
    seed: int = field("Seed of all random choices.")
    scale: float = field("Size of the list; 1 is the United States.")
    training_rows: int = field("Simulated patients to fit models to.")
    donors_rate: float = field("Hearts offered, as a multiple of today's number.")
    listed_rate: float = field("Candidates listed, as a multiple of today's number.")


class SimulationResult(Reply):
    """Policies compared in one simulated world."""

    label: str = field("How to read the result.")
    settings: dict[str, Any] = field("All settings of the simulator, by name, as a configuration file holds them.")
    policies: dict[str, dict[str, Interval]] = field(
        "Every measure of every policy: means over replicates with 95% Monte Carlo intervals, null for one replicate."
    )
    reference: str = field("Key of the policy that the others are compared with.")
    differences: dict[str, dict[str, Interval]] = field(
        "Every measure of every other policy less that of the reference, paired by replicate."
    )
    reading: str = field("The result in a few sentences.")


class SimulationReply(Reply):
    """A simulation, how far it is, and its result."""

    id: str = field("Identifier of the simulation.")
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = field("What became of it.")
    progress: Progress = field("How far it is.")
    settings: SimulationSettings = field("The settings, as they are used.")
    result: SimulationResult | None = field("The result; null until it is done.")


class SampleReply(Reply):
    """Candidates and a donor to try a model with; nobody in it is real."""

    kind: str | None = optional("What the rows are (not where one donor was asked for).")
    donors: list[dict[str, Any]] | None = optional("The donors to choose from: column and value.")
    pair: list[str] | None = optional("Columns of the candidates that change with the donor.")
    donor: dict[str, Any] = field("The donor: column and value.")
    candidates: list[dict[str, Any]] = field("The candidates whom the organ fits: column and value.")
