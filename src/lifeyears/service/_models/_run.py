"""A run of `compare` or `reproduce`, as Compare shows it: keys and labels, never names to be taken apart."""

from __future__ import annotations

from typing import Literal

from ._base import Interval, Reply, field


class ArmNote(Reply):
    """A survival model, used as it is or as the base of a ranking method."""

    model: str = field("Key of the survival model in the catalogue, or oracle.")
    method: str = field("Key of the ranking method in the catalogue; none is the survival model as it is.")
    label: str = field("Name for people.")
    oracle: bool = field("Whether it ranks by the truth, which only a simulation knows.")


class FindingNote(Reply):
    """A conclusion of the run."""

    code: str = field("A short identifier for programs.")
    severity: Literal["answer", "serious", "warning", "note"] = field(
        "What kind of conclusion it is; serious ones must be read before the answer."
    )
    title: str = field("The conclusion in a few words.")
    text: str = field("The conclusion in a few sentences.")


class RunData(Reply):
    """The data of the run."""

    name: str = field("Name of the data set.")
    rows: int = field("Number of rows.")
    events: int = field("Number of events.")
    unit: str = field("Unit of the times.")
    simulated: bool = field("Whether the patients are simulated.")


class RunWaitlist(Reply):
    """The lists of the run."""

    used: int = field("Length of the lists.")
    k: int = field("Places of a list that count.")


class LeaderboardRow(Reply):
    """What one arm achieves."""

    arm: ArmNote = field("The arm.")
    value: Interval = field("Expected time of one allocation, in the unit of the data.")
    c_index: float | None = field("Harrell's C-index.")
    gain: Interval | None = field("Gain of a ranking method over its survival model; null for other arms.")
    p: float | None = field("Two-sided p-value of no gain.")


class RunDifference(Reply):
    """Two arms compared, paired."""

    arm: ArmNote = field("The one arm.")
    other: ArmNote = field("The other arm.")
    value: float | None = field("Value of the one less that of the other, in the unit of the data.")
    low: float | None = field("Lower end of the 95% interval.")
    high: float | None = field("Upper end of the 95% interval.")
    p: float | None = field("Two-sided p-value of no difference.")


class RunSubgroup(Reply):
    """A subgroup under one arm."""

    arm: ArmNote = field("The arm.")
    by: str = field("The characteristic that defines the subgroup.")
    group: str = field("The subgroup.")
    patients: int = field("Number of patients.")
    share_of_patients: float | None = field("Share of all patients.")
    share_of_allocations: float | None = field("Share of allocations to the top of the list.")
    low: float | None = field("Lower end of the 95% interval of the share of allocations.")
    high: float | None = field("Upper end of the 95% interval of the share of allocations.")
    predicted_less_outcome: float | None = field("Mean prediction less mean outcome, in the unit of the data.")
    gap_low: float | None = field("Lower end of the 95% interval of that difference.")
    gap_high: float | None = field("Upper end of the 95% interval of that difference.")


class RunColumn(Reply):
    """A column of a table."""

    key: str = field("Key of the column.")
    heading: str = field("Heading for people.")


class RunTable(Reply):
    """A table: columns, and rows of plain values."""

    columns: list[RunColumn] = field("The columns.")
    rows: list[list[str | int | float | bool | None]] = field("The rows: one value per column.")


class FollowUpCurve(Reply):
    """The probability of still being followed, for one group of entry."""

    label: str = field("The group.")
    values: list[float | None] = field("The probability at each of the times.")


class FollowUpCurves(Reply):
    """The probability of still being followed."""

    times: list[float] = field("Times, in the unit of the data.")
    curves: list[FollowUpCurve] = field("One curve per group.")


class RunReply(Reply):
    """The run that is compared."""

    data: RunData = field("The data of the run.")
    waitlist: RunWaitlist = field("The lists of the run.")
    intervals: str = field("How the intervals were computed.")
    findings: list[FindingNote] = field("The conclusions, the gravest first.")
    best: ArmNote = field("The arm with the highest value.")
    leaderboard: list[LeaderboardRow] = field("The arms, the highest value first.")
    differences: list[RunDifference] = field("Every pair of arms.")
    subgroups: list[RunSubgroup] = field("Subgroups of at least thirty patients, for each arm.")
    support: list[str] = field("Whether patients could be followed to the horizon, for each model of censoring.")
    counts: dict[str, int] = field("Weights clipped, fits that did not converge and the like.")
    positivity: RunTable | None = field("The positivity check in numbers; null if the run has none.")
    follow_up: FollowUpCurves | None = field("The probability of still being followed; null if the run has none.")
