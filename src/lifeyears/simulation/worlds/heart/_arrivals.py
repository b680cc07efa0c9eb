"""Who comes in one replicate, and when: candidates with their paths, donors, and the events in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...._typing import FloatArray, IntArray
from ....data import Population
from ....data.registry import BLOOD_GROUPS, list_centres
from ...engine import CHANGED, GONE, ITEM, LISTED, Events, sort_events
from ._pair_law import CandidateLaw, DonorLaw, split_effects
from ._paths import DIED, Paths, compute_frailty, draw_paths, expect_life_without
from ._world import STATUSES, World

# In which status they are who wait when the burn-in begins: the urgent are few, as they do not wait long.
WAITING_IN = np.array([0.005, 0.03, 0.03, 0.17, 0.01, 0.14, 0.615])
# finding of a donor: how much it takes from the log-odds of being accepted, before scaling to `World.quality`
QUALITY = {
    "donor_diabetes": 0.8,
    "donor_hypertension": 0.4,
    "donor_coronary_disease": 1.0,
    "donor_circulatory_death": 0.5,
    "donor_hepatitis_c": 0.5,
    "donor_cocaine": 0.2,
}
QUALITY_SPREAD = 0.83  # of the recorded part, about what the registry's donors of 2022 have


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Who comes in one replicate, and when, drawn before any policy acts: common random numbers.

    Attributes
    ----------
    candidates, donors : DataFrame
        As `Population` draws them.
    listed : array
        When each candidate is listed, in years from the start (negative: before it).
    arrived : array
        When each heart is offered.
    paths : Paths
        The course of each candidate without a transplant.
    without : array, shape (candidates, 7)
        Expected life within the horizon without a transplant, from each status.
    quality : array
        Of each heart, on the log-odds of being accepted.
    group, centre, donor_group : arrays of codes
    open_to : array
        Share of hearts that suit each candidate, beyond blood group, distance and size.
    distances : array, shape (donors, list_centres)
        Nautical miles.
    candidate_law, donor_law
        For the true expected life of a pair.
    events : Events
    """

    candidates: pd.DataFrame
    donors: pd.DataFrame
    listed: FloatArray
    arrived: FloatArray
    paths: Paths
    without: FloatArray
    quality: FloatArray
    group: IntArray
    centre: IntArray
    open_to: FloatArray
    donor_group: IntArray
    distances: FloatArray
    candidate_law: CandidateLaw
    donor_law: DonorLaw
    events: Events


def draw_arrivals(world: World, years: float, seed: np.random.SeedSequence) -> Arrivals:
    """Draw one replicate, from the beginning of the burn-in on; candidates and donors have their own streams."""
    seeds = seed.spawn(6)
    arrivals, starts, courses, hearts, tastes = (np.random.default_rng(each) for each in seeds[:5])
    population, span = Population(world.year, world.law), world.burn_in_years + years
    n_listed = int(arrivals.poisson(world.listed_per_year * span))
    early = np.sort(-world.burn_in_years - arrivals.exponential(0.7, world.waiting_at_start))
    listed = np.concatenate([early, np.sort(arrivals.uniform(-world.burn_in_years, years, n_listed))])
    n_donors = int(hearts.poisson(world.donors_per_year * span))
    arrived = np.sort(hearts.uniform(-world.burn_in_years, years, n_donors))

    candidates = population.candidates(len(listed), random_state=seeds[5])
    donors = population.donors(n_donors, random_state=hearts)
    first = _draw_first_status(candidates, world, starts)
    first[: len(early)] = starts.choice(len(WAITING_IN), len(early), p=WAITING_IN)
    frailty = compute_frailty(candidates, world.frailty)
    entry = np.maximum(listed, -world.burn_in_years)
    paths = draw_paths(first, entry, frailty, years, world, courses)
    theirs, ours = split_effects(candidates, donors, world)
    known = list_centres()
    place = (donors[name].to_numpy()[:, None] for name in ("donor_east_nm", "donor_north_nm"))
    return Arrivals(
        candidates=candidates,
        donors=donors,
        listed=listed,
        arrived=arrived,
        paths=paths,
        without=expect_life_without(frailty, world),
        quality=_draw_quality(donors, world.quality, tastes),
        group=_codes(candidates["blood_group"], BLOOD_GROUPS),
        centre=candidates["centre"].cat.codes.to_numpy(dtype=np.int64),
        open_to=world.suitable * (1 - np.nan_to_num(candidates["antibodies_class_1"].to_numpy(float)) / 100),
        donor_group=_codes(donors["donor_blood_group"], BLOOD_GROUPS),
        distances=np.hypot(known.east - next(place), known.north - next(place)).round(),
        candidate_law=theirs,
        donor_law=ours,
        events=_merge_events(entry, first, paths, arrived),
    )


def _draw_first_status(candidates: pd.DataFrame, world: World, rng: np.random.Generator) -> IntArray:
    """Draw the status when listed, given the status that the findings are of."""
    at_transplant = _codes(candidates["status"], STATUSES)
    upto = np.cumsum(np.array(world.listed_in), axis=1)[np.where(at_transplant < 0, 3, at_transplant)]
    return np.asarray(np.minimum((rng.random(len(at_transplant))[:, None] >= upto).sum(axis=1), 5))


def _draw_quality(donors: pd.DataFrame, spread: float, rng: np.random.Generator) -> FloatArray:
    """Draw how likely list_centres are to accept a heart: half of the variance is in what is recorded of the donor."""
    age = np.nan_to_num((donors["donor_age"].to_numpy(float) - 33) / 11.5)
    pumping = np.nan_to_num((donors["donor_ejection_fraction"].to_numpy(float) - 61.5) / 7)
    recorded = -0.5 * age + 0.3 * pumping
    for name, loss in QUALITY.items():
        recorded = recorded - loss * ((donors[name] == "yes").to_numpy() - 0.1)
    return np.asarray(spread * np.sqrt(0.5) * (recorded / QUALITY_SPREAD + rng.standard_normal(len(donors))))


def _codes(values: pd.Series, names: tuple[str, ...]) -> IntArray:
    return np.asarray(pd.Index(names).get_indexer(np.asarray(values, dtype=object)), dtype=np.int64)


def _merge_events(entry: FloatArray, first: IntArray, paths: Paths, arrived: FloatArray) -> Events:
    kind = np.where(paths.state >= DIED, GONE, CHANGED)
    return sort_events(
        [
            (entry, np.full(len(entry), LISTED), np.arange(len(entry)), first),
            (paths.time, kind, paths.candidate, paths.state),
            (arrived, np.full(len(arrived), ITEM), np.arange(len(arrived)), np.zeros(len(arrived), dtype=int)),
        ]
    )
