"""A model's card and its columns, as they are sent."""

from __future__ import annotations

from typing import Literal

from ._base import CalibrationGroup, Interval, Reply, field, optional


class ColumnNote(Reply):
    """A column that a row must have."""

    name: str = field("Name of the column.")
    kind: Literal["number", "category"] = field("Whether its values are numbers or categories.")
    role: Literal["candidate", "donor"] = field("Whom the column belongs to.")
    categories: list[str] | None = optional("The categories of the training data; others are refused.")
    shares: list[float | None] | None = optional(
        "Share of each category in the training data; null where fewer than ten patients would be disclosed."
    )
    low: float | None = optional("Lower end of the range of the training data, without the outermost 1%.")
    high: float | None = optional("Upper end of the range of the training data, without the outermost 1%.")
    quantiles: list[float] | None = optional("The 5, 25, 50, 75 and 95% quantiles of the training data.")
    missing: float | None = optional("Share of missing values in the training data, where it may be disclosed.")


class SchemaNote(Reply):
    """What a row must hold."""

    columns: list[ColumnNote] = field("The columns, in the order of the training table.")
    donor: list[str] = field("Names of the columns that belong to the donor; they may be sent once, as the donor.")


class CardData(Reply):
    """The training data."""

    name: str = field("Name of the data set.")
    source: str | None = field("Where the data come from.")
    simulated: bool = field("Whether the patients are simulated.")
    rows: int = field("Number of rows.")
    events: int = field("Number of events.")
    censored_percent: float = field("Percentage of rows that are censored.")
    features: int = field("Number of features.")
    categorical_features: int = field("Number of categorical features.")
    unit: str = field("Unit of the times.")
    follow_up: dict[str, dict[str, float | None]] = field(
        "Quantiles of the follow-up times, for the whole cohort and by outcome."
    )


class CardHorizon(Reply):
    """The horizon, and whether patients could be followed to it (positivity)."""

    tau: float = field("The horizon: predictions are expected times within it.")
    unit: str = field("Unit of the horizon.")
    smallest_reach: float | None = field("Smallest estimated probability of being followed to the horizon.")
    share_out_of_reach: float | None = field("Share of rows that could not be followed to the horizon.")
    reading: str = field("The same in a sentence.")


class CardModel(Reply):
    """How the model was fitted."""

    model: str = field("Key of the survival model in the catalogue.")
    method: str = field("Key of the ranking method in the catalogue; none is the survival model as it is.")
    label: str = field("Name of both for people.")
    seed: int = field("Seed of all random choices.")
    weights_are: str = field("What the weights are.")
    weights: dict[str, float] = field("Weight of each member of the ranker.")
    trees: dict[str, int] = field("Number of trees of each member that has trees.")
    base_alone: bool = field("Whether only the survival model is used, because nothing was better.")
    calibrated: bool = field("Whether predictions were calibrated on held-out rows.")
    notes: list[str] = field("Where the fit departed from the settings, and why.")


class CardMetrics(Reply):
    """Performance on held-out rows."""

    rows: int = field("Number of held-out rows.")
    waitlist: int = field("Length of the lists.")
    judged_by: str = field("What stands for the outcome of a row.")
    intervals: str = field("How the intervals were computed.")
    c_index: Interval = field("Harrell's C-index.")
    value: Interval = field("Expected time of one allocation to the top of the list, in the unit of the data.")
    at_random: Interval = field("Expected time of an allocation at random, in the unit of the data.")
    gain: Interval = field("The difference of the two, paired.")


class Bound(Reply):
    """The plug-in bound for one number of places."""

    k: int = field("Number of places among which Algorithm 1 draws.")
    ndcg: float | None = field("NDCG@k of held-out rows, by expected time.")
    ndcg_low: float | None = field("Lower end of the 95% interval of NDCG@k.")
    ndcg_high: float | None = field("Upper end of the 95% interval of NDCG@k.")
    bound: float | None = field("Plug-in bound on what the draw gains, as a share of the best choice.")
    low: float | None = field("Lower end of the 95% interval of the bound.")
    high: float | None = field("Upper end of the 95% interval of the bound.")


class CardSubgroup(Reply):
    """Performance in a subgroup of at least thirty held-out rows."""

    by: str = field("The characteristic that defines the subgroup.")
    group: str = field("The subgroup.")
    patients: int = field("Number of rows.")
    share_of_patients: float | None = field("Share of all rows.")
    share_of_allocations: float | None = field("Share of allocations to the top of the list.")
    low: float | None = field("Lower end of the 95% interval of the share of allocations.")
    high: float | None = field("Upper end of the 95% interval of the share of allocations.")
    predicted_less_outcome: float | None = field("Mean prediction less mean outcome, in the unit of the data.")
    gap_low: float | None = field("Lower end of the 95% interval of that difference.")
    gap_high: float | None = field("Upper end of the 95% interval of that difference.")


class Card(Reply):
    """What a model is, what it was trained on, how good it is, and its limits."""

    format: str = field("Identifies the file as a model card.")
    version: int = field("Version of the format.")
    name: str = field("Title of the model.")
    made_with: str = field("The software, with its version.")
    use: str = field("Intended use.")
    estimates: str = field("What the predicted number is.")
    data: CardData = field("The training data.")
    horizon: CardHorizon = field("The horizon, and whether it is supported by the data.")
    model: CardModel = field("How the model was fitted.")
    metrics: CardMetrics | None = field("Performance on held-out rows; null where none were held out.")
    bounds: list[Bound] = field("Plug-in bounds for one place after another, from 1.")
    calibration: list[CalibrationGroup] = field("Groups of held-out rows by prediction.")
    subgroups: list[CardSubgroup] = field("Subgroups of held-out rows.")
    limits: list[str] = field("What the model does not say.")
