"""What a policy did to the heart list in one replicate: life-years, deaths, transplants, waiting, by subgroup."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._typing import FloatArray, IntArray
from ....data import Population
from ....data.registry import BLOOD_GROUPS
from ....units import days_in
from ...engine import MATCHED, ListState, mean_or_nan, median_or_nan, rate_per_100, tally_run, time_in_states
from ._arrivals import Arrivals
from ._world import STATUSES, World

MEASURES = (
    "life_years_per_transplant",  # expected years of a recipient within the horizon
    "life_years_gained",  # of a year's transplants: expected years with the heart less those without one
    "life_years_gained_per_transplant",
    "waitlist_deaths_per_100_patient_years",
    "waitlist_deaths_per_year",
    "transplants_per_year",
    "hearts_lost_per_year",  # offered, and taken by nobody
    "waiting_days_median",  # of those transplanted, from listing to transplant
    "waiting",  # candidates on the list, on average
    "listed_per_year",
    "left_per_year",  # gone from the list for another reason
    "survival_1_year",  # of recipients
    "survival_5_years",
    "first_offer_accepted",  # share of hearts taken by the first who was asked
)
# The measures that come first in tables and summaries.
MAIN_MEASURES = (
    "life_years_per_transplant",
    "life_years_gained",
    "waitlist_deaths_per_100_patient_years",
    "transplants_per_year",
    "hearts_lost_per_year",
    "waiting_days_median",
)
GROUP_MEASURES = (
    "listed_per_year",
    "transplanted_of_listed",  # share of those listed since the start who have a heart by the end
    "transplants_per_100_patient_years",
    "waitlist_deaths_per_100_patient_years",
    "life_years_per_transplant",
    "life_years_gained_per_transplant",
    "waiting_days_median",
)
AGES = {"18–39": (0, 40), "40–54": (40, 55), "55–64": (55, 65), "65 and over": (65, 200)}


@dataclass(frozen=True, eq=False)
class Measurements:
    """Measures of one policy in one replicate.

    Attributes
    ----------
    measures : dict of measure to value
    groups : dict of (grouping, level) to dict of measure to value
    transplants_by_status : array, shape (6,)
        Per 100 patient-years in the status.
    """

    measures: dict[str, float]
    groups: dict[tuple[str, str], dict[str, float]]
    transplants_by_status: FloatArray


def measure_run(arrivals: Arrivals, state: ListState, world: World, years: float) -> Measurements:
    """Measure what happened from the start to the end; what came before the start is left out."""
    tally = tally_run(arrivals.listed, arrivals.arrived, state, years)
    hearts, who, exposure = tally.item, tally.recipient, tally.exposure
    population = Population(world.year, world.law)
    pairs = population.pairs(arrivals.candidates, arrivals.donors, candidate=who, donor=hearts) if len(hearts) else None
    law = None if pairs is None else population.lifetimes(pairs)
    life = np.zeros(0) if law is None else law.expected(world.tau)
    gain = life - arrivals.without[who, state.status[who]]
    survival = np.full(2, np.nan) if law is None else np.exp(-law.hazard([1.0, 5.0])).mean(axis=0)
    wait = tally.waits * days_in("years")
    values = {
        "life_years_per_transplant": mean_or_nan(life),
        "life_years_gained": gain.sum() / years,
        "life_years_gained_per_transplant": mean_or_nan(gain),
        "waitlist_deaths_per_100_patient_years": rate_per_100(tally.died.sum(), exposure.sum()),
        "waitlist_deaths_per_year": tally.died.sum() / years,
        "transplants_per_year": len(hearts) / years,
        "hearts_lost_per_year": tally.lost.sum() / years,
        "waiting_days_median": median_or_nan(wait),
        "waiting": exposure.sum() / years,
        "listed_per_year": tally.entered.sum() / years,
        "left_per_year": tally.removed.sum() / years,
        "survival_1_year": survival[0],
        "survival_5_years": survival[1],
        "first_offer_accepted": rate_per_100(tally.first_accepted.sum(), tally.offered.sum()) / 100,
    }
    groups = {}
    for grouping, codes, levels in list_groupings(arrivals):
        for code, level in enumerate(levels):
            here, theirs = codes == code, codes[who] == code
            groups[grouping, level] = {
                "listed_per_year": float((tally.entered & here).sum() / years),
                "transplanted_of_listed": mean_or_nan((state.place == MATCHED)[tally.entered & here]),
                "transplants_per_100_patient_years": rate_per_100(theirs.sum(), exposure[here].sum()),
                "waitlist_deaths_per_100_patient_years": rate_per_100((tally.died & here).sum(), exposure[here].sum()),
                "life_years_per_transplant": mean_or_nan(life[theirs]),
                "life_years_gained_per_transplant": mean_or_nan(gain[theirs]),
                "waiting_days_median": median_or_nan(wait[theirs]),
            }
    measures = {name: float(value) for name, value in values.items()}
    return Measurements(measures, groups, _transplants_by_status(arrivals, state, who, years))


def list_groupings(arrivals: Arrivals) -> list[tuple[str, IntArray, tuple[str, ...]]]:
    """List the subgroups of the candidates: by blood group, sex, age, and status when listed."""
    age = arrivals.candidates["age"].to_numpy(float)
    ages = np.searchsorted([high for _, high in list(AGES.values())[:-1]], age, side="right")
    woman = (arrivals.candidates["sex"] == "female").to_numpy().astype(int)
    return [
        ("blood group", arrivals.group, BLOOD_GROUPS),
        ("sex", woman, ("male", "female")),
        ("age", ages, tuple(AGES)),
        ("status when listed", arrivals.paths.first, STATUSES),
    ]


def _transplants_by_status(arrivals: Arrivals, state: ListState, who: IntArray, years: float) -> FloatArray:
    """Count transplants per 100 patient-years in each current status."""
    paths = arrivals.paths
    candidate = np.concatenate([np.arange(len(arrivals.listed)), paths.candidate])
    begin = np.concatenate([arrivals.listed, paths.time])
    status = np.concatenate([paths.first, paths.state])
    time = time_in_states(candidate, begin, status, state, years, len(STATUSES))
    counts = np.bincount(state.status[who], minlength=len(STATUSES))
    return np.array([rate_per_100(count, each) for count, each in zip(counts, time, strict=True)])
