"""Recipients and donors of a simulated registry, drawn from one population."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..._typing import FloatArray, IntArray
from ._draw import draw, draw_codes, list_levels, make_category, make_column
from ._features import (
    DONOR,
    FIRST_YEAR,
    GROUPS_BY_RACE,
    INSURANCE_BY_AGE,
    LAST_YEAR,
    NEW_RULES,
    RECIPIENT,
    STATUSES,
    SUBGROUPS,
    TRANSPLANTS_A_YEAR,
    Choice,
)
from ._geography import REGIONS, draw_places, draw_places_near, list_centres
from ._rules import draw_status, estimate_filtration_rate, settle, settle_waiting

DAYS = 365.25  # in a year
# Columns of candidates and donors that are no features: what makes a pair's distance and luck its own.
CANDIDATE_KEY, DONOR_KEY = "candidate_key", "donor_key"
DONOR_PLACE = ("donor_east_nm", "donor_north_nm")
# Which donor group a recipient's heart came from: mostly the same, always compatible.
DONOR_GROUP_FOR = {
    "O": {"O": 1.0},
    "A": {"A": 0.88, "O": 0.12},
    "B": {"B": 0.75, "O": 0.25},
    "AB": {"AB": 0.45, "A": 0.35, "B": 0.15, "O": 0.05},
}
# How much likelier than by chance a heart given to a man, or to a woman, is a woman's.
WOMANS_HEART = {"male": 0.70, "female": 1.80}
SPECS = {spec.name: spec for spec in (*RECIPIENT, *DONOR, *SUBGROUPS)}


def draw_days(n: int, tilt: float, rng: np.random.Generator) -> FloatArray:
    """Draw the whole days from each transplant to the end of the study, in random order.

    Each year has its share of the transplants, but for rounding; `tilt` favours later (or earlier) decades.
    """
    years, counts = np.array(TRANSPLANTS_A_YEAR, dtype=float).T
    share = counts * np.exp(tilt * (years - 2005) / 10)
    ranks = (rng.permutation(n) + rng.random(n)) / n
    year = years[np.searchsorted(np.cumsum(share)[:-1] / share.sum(), ranks, side="right")]
    begins = np.maximum(year, FIRST_YEAR)
    when = begins + rng.random(n) * (year + 1 - begins)
    days: FloatArray = np.clip(np.ceil((LAST_YEAR - when) * DAYS), 1, np.floor((LAST_YEAR - FIRST_YEAR) * DAYS))
    return days


def draw_recipients(year: FloatArray, rng: np.random.Generator) -> pd.DataFrame:
    """Draw candidates at these times: what is known before any donor is, with subgroup columns and a key."""
    n = len(year)
    race = draw(SPECS["race_ethnicity"], year, {}, rng)
    drawn = {name: draw(SPECS[name], year, {}, rng) for name in ("sex", "diagnosis")}
    drawn["blood_group"] = draw_codes(_choice("blood_group"), year, rng, tilt=_by_race(race))
    hidden = _hidden_factors(drawn, n, rng)
    for spec in RECIPIENT:
        if spec.name not in drawn:
            drawn[spec.name] = draw(spec, year, hidden, rng)
    settle(drawn, year)
    status = draw_status(drawn, year, rng)
    settle_waiting(drawn, status)
    older = (drawn["age"] >= 65)[:, None]
    tilt = np.where(older, INSURANCE_BY_AGE["from 65"], INSURANCE_BY_AGE["younger"])
    insurance = draw_codes(_choice("insurance"), year, rng, tilt=tilt)
    centre = rng.choice(len(list_centres().share), n, p=list_centres().share)

    table = pd.DataFrame({spec.name: make_column(spec, drawn[spec.name], year, rng) for spec in RECIPIENT})
    table["bmi"] = (table["weight_kg"] / (table["height_cm"] / 100) ** 2).round(1)
    table["filtration_rate"] = estimate_filtration_rate(table["creatinine"], table["age"], drawn["sex"] == 0)
    table["pulmonary_mean"] = ((table["pulmonary_systolic"] + 2 * table["pulmonary_diastolic"]) / 3).round()
    table["status"] = make_category(status, list(STATUSES))
    table["race_ethnicity"] = make_category(race, _choice("race_ethnicity").levels)
    table["insurance"] = make_category(insurance, _choice("insurance").levels)
    table["region"] = make_category(list_centres().region[centre], list(REGIONS))
    table["centre"] = make_category(centre, list_centres().names())
    table[CANDIDATE_KEY] = rng.integers(0, 2**63, n)
    return table


def draw_donors(year: FloatArray, rng: np.random.Generator, recipients: pd.DataFrame | None = None) -> pd.DataFrame:
    """Draw donors at these times, with a place and a key; with `recipients`, one for each, as hearts are matched.

    Matched donors are of a like size, of a compatible blood group and near; a woman's heart goes to a man less often
    than chance has it.
    """
    n = len(year)
    hidden = {name: rng.standard_normal(n) for name in ("donor_age", "donor_weight", "donor_kidney", "donor_liver")}
    size = 0.85 * rng.standard_normal(n)
    drawn = {"donor_sex": draw(SPECS["donor_sex"], year, {}, rng)}
    if recipients is not None:
        tilt = np.where((recipients["sex"] == "male").to_numpy(), WOMANS_HEART["male"], WOMANS_HEART["female"])
        drawn["donor_sex"] = draw_codes(_choice("donor_sex"), year, rng, tilt=np.column_stack([np.ones(n), tilt]))
        drawn["donor_blood_group"] = _matching_groups(recipients["blood_group"], rng)
        tall = ((recipients["height_cm"] - 174) / 9.5).fillna(0).to_numpy()
        heavy = ((recipients["weight_kg"] - 81) / 16.5).fillna(0).to_numpy()
        size = 0.45 * tall - np.where(drawn["donor_sex"] == 0, 0.1, -0.4) + 0.75 * rng.standard_normal(n)
        hidden["donor_weight"] = 0.35 * heavy + 0.9 * hidden["donor_weight"]
    hidden["donor_size"] = np.where(drawn["donor_sex"] == 0, 0.3, -1.0) + size
    for spec in DONOR:
        if spec.name not in drawn:
            drawn[spec.name] = draw(spec, year, hidden, rng)
    table = pd.DataFrame({spec.name: make_column(spec, drawn[spec.name], year, rng) for spec in DONOR})
    table["donor_bmi"] = (table["donor_weight_kg"] / (table["donor_height_cm"] / 100) ** 2).round(1)
    if recipients is None:
        place = draw_places(n, rng)
    else:
        miles = np.clip(np.exp(rng.normal(np.where(year > NEW_RULES, 5.3, 4.6), 0.9, n)), 0, 2200)
        place = draw_places_near(recipients["centre"].cat.codes.to_numpy(), miles, rng)
    for name, miles in zip(DONOR_PLACE, place, strict=True):
        table[name] = miles.round(1)
    table[DONOR_KEY] = rng.integers(0, 2**63, n)
    return table


def _choice(name: str) -> Choice:
    spec = SPECS[name]
    assert isinstance(spec, Choice)
    return spec


def _hidden_factors(drawn: dict[str, np.ndarray], n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """How sick, how heavy and so on: what ties a recipient's features together."""
    male = drawn["sex"] == 0
    names = np.array(_choice("diagnosis").levels)[drawn["diagnosis"]]
    hidden = {name: rng.standard_normal(n) for name in ("sick", "weight", "kidney", "liver", "lungs", "sensitised")}
    hidden["size"] = np.where(male, 0.3, -1.0) + 0.85 * rng.standard_normal(n)
    born_with_it = np.select([names == "congenital", names == "ischemic"], [-1.5, 0.45], -0.12)
    hidden["age"] = 0.9 * rng.standard_normal(n) + born_with_it
    hidden["kidney"] = 0.3 * hidden["age"] + 0.95 * hidden["kidney"]
    hidden["sensitised"] = hidden["sensitised"] + np.where(male, -0.15, 0.45)
    return hidden


def _by_race(race: IntArray) -> FloatArray:
    names = _choice("race_ethnicity").levels
    tilts: FloatArray = np.array([GROUPS_BY_RACE.get(name, (1.0, 1.0, 1.0, 1.0)) for name in names])
    return tilts[race]


def _matching_groups(groups: pd.Series, rng: np.random.Generator) -> IntArray:
    """Draw the codes of the donors' blood groups."""
    names = list_levels(_choice("donor_blood_group"))
    codes = np.empty(len(groups), dtype=int)
    for group, shares in DONOR_GROUP_FOR.items():
        rows = np.flatnonzero(groups == group)
        codes[rows] = rng.choice([names.index(name) for name in shares], len(rows), p=list(shares.values()))
    return codes
