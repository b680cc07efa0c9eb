"""What a policy did in one replicate: life-years, deaths, transplants, hearts lost, waiting, by subgroup."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import Population
from ._match import DEAD, TRANSPLANTED, State
from ._people import People
from ._world import STATUSES, World

DAYS = 365.25
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
class Measured:
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
    transplants_by_status: np.ndarray


def measure(people: People, state: State, world: World, years: float) -> Measured:
    """Measure what happened from the start to the end; what came before the start is left out."""
    hearts = people.arrived >= 0
    given = np.flatnonzero(hearts & (state.recipient >= 0))
    who = state.recipient[given]
    pairs = people.candidates, people.donors
    population = Population(world.year, world.law)
    law = population.lifetimes(population.pairs(*pairs, candidate=who, donor=given)) if len(given) else None
    life = np.zeros(0) if law is None else law.expected(world.tau)
    gain = life - people.without[who, state.status[who]]
    survival = np.full(2, np.nan) if law is None else np.exp(-law.hazard([1.0, 5.0])).mean(axis=0)
    wait = (people.arrived[given] - people.listed[who]) * DAYS

    exposure = np.clip(np.minimum(state.left_at, years) - np.maximum(people.listed, 0), 0, None)
    died = (state.place == DEAD) & (state.left_at >= 0)
    left = (state.left_at >= 0) & (state.left_at < years) & ~died
    left[who] = False
    lost = hearts & (state.recipient < 0)
    entered = people.listed >= 0
    first = hearts & (state.offers == 1) & (state.recipient >= 0)
    values = {
        "life_years_per_transplant": _mean(life),
        "life_years_gained": gain.sum() / years,
        "life_years_gained_per_transplant": _mean(gain),
        "waitlist_deaths_per_100_patient_years": _rate(died.sum(), exposure.sum()),
        "waitlist_deaths_per_year": died.sum() / years,
        "transplants_per_year": len(given) / years,
        "hearts_lost_per_year": lost.sum() / years,
        "waiting_days_median": _median(wait),
        "waiting": exposure.sum() / years,
        "listed_per_year": entered.sum() / years,
        "left_per_year": left.sum() / years,
        "survival_1_year": survival[0],
        "survival_5_years": survival[1],
        "first_offer_accepted": _rate(first.sum(), hearts.sum()) / 100,
    }
    groups = {}
    for grouping, codes, levels in groupings(people):
        for code, level in enumerate(levels):
            here, theirs = codes == code, codes[who] == code
            groups[grouping, level] = {
                "listed_per_year": float((entered & here).sum() / years),
                "transplanted_of_listed": _mean((state.place == TRANSPLANTED)[entered & here]),
                "transplants_per_100_patient_years": _rate(theirs.sum(), exposure[here].sum()),
                "waitlist_deaths_per_100_patient_years": _rate((died & here).sum(), exposure[here].sum()),
                "life_years_per_transplant": _mean(life[theirs]),
                "life_years_gained_per_transplant": _mean(gain[theirs]),
                "waiting_days_median": _median(wait[theirs]),
            }
    return Measured(
        {name: float(value) for name, value in values.items()}, groups, _by_status(people, state, who, years)
    )


def groupings(people: People) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
    """Subgroups of the candidates: by blood group, sex, age, and status when listed."""
    age = people.candidates["age"].to_numpy(float)
    ages = np.searchsorted([high for _, high in list(AGES.values())[:-1]], age, side="right")
    woman = (people.candidates["sex"] == "female").to_numpy().astype(int)
    return [
        ("blood group", people.group, ("O", "A", "B", "AB")),
        ("sex", woman, ("male", "female")),
        ("age", ages, tuple(AGES)),
        ("status when listed", people.paths.first, STATUSES),
    ]


def _by_status(people: People, state: State, who: np.ndarray, years: float) -> np.ndarray:
    """Transplants per 100 patient-years in each current status."""
    paths, n = people.paths, len(people.listed)
    candidate = np.concatenate([np.arange(n), paths.candidate])
    begin = np.concatenate([people.listed, paths.time])
    status = np.concatenate([paths.first, paths.state])
    order = np.lexsort((begin, candidate))
    candidate, begin, status = candidate[order], begin[order], status[order]
    end = np.append(begin[1:], np.inf)
    end[np.append(candidate[1:] != candidate[:-1], True)] = np.inf
    span = np.minimum(np.minimum(end, state.left_at[candidate]), years) - np.maximum(begin, 0)
    on = (status < len(STATUSES)) & (span > 0)
    time = np.bincount(status[on], span[on], minlength=len(STATUSES))
    counts = np.bincount(state.status[who], minlength=len(STATUSES))
    return np.array([_rate(count, each) for count, each in zip(counts, time, strict=True)])


def _rate(count: float, time: float) -> float:
    """Per 100 of the time; NaN where there is none."""
    return 100 * float(count) / float(time) if time > 0 else float("nan")


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else float("nan")
