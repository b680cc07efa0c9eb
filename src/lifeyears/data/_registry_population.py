"""Recipients, donors and their matches, drawn from one population."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from ._registry_features import (
    DONOR,
    FIRST_YEAR,
    LAST_YEAR,
    RECIPIENT,
    SUBGROUPS,
    TRANSPLANTS_A_YEAR,
    Choice,
    Flag,
    Numeric,
)

N_CENTRES = 120
# Which donor group a recipient's heart came from: mostly the same, always compatible.
DONOR_GROUP_FOR = {
    "O": {"O": 1.0},
    "A": {"A": 0.88, "O": 0.12},
    "B": {"B": 0.75, "O": 0.25},
    "AB": {"AB": 0.45, "A": 0.35, "B": 0.15, "O": 0.05},
}
STATUSES = (
    "before 1999: 1", "before 1999: 2", "1A", "1B", "2",
    "status 1", "status 2", "status 3", "status 4", "status 5", "status 6",
)  # fmt: skip


def draw_years(n: int, tilt: float, rng: np.random.Generator) -> np.ndarray:
    """When each was transplanted, as decimal years; `tilt` favours later (or earlier) decades over the true counts."""
    years, counts = np.array(TRANSPLANTS_A_YEAR, dtype=float).T
    share = counts * np.exp(tilt * (years - 2005) / 10)
    year = rng.choice(years, n, p=share / share.sum())
    within = rng.random(n)
    return np.where(year == int(FIRST_YEAR), FIRST_YEAR + within * (year + 1 - FIRST_YEAR), year + within)


def draw_recipients(year: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Candidates at the given times: what is known of them before any donor is, subgroup columns included."""
    n = len(year)
    drawn = {spec.name: _draw(spec, year, {}, rng) for spec in RECIPIENT if spec.name in ("sex", "diagnosis")}
    male = np.asarray(drawn["sex"] == "male")
    diagnosis = np.asarray(drawn["diagnosis"])
    hidden = {name: rng.standard_normal(n) for name in ("sick", "weight", "kidney", "liver", "lungs", "sensitised")}
    hidden["size"] = np.where(male, 0.3, -1.0) + 0.85 * rng.standard_normal(n)
    born_with_it = np.select([diagnosis == "congenital", diagnosis == "ischemic"], [-1.5, 0.45], -0.12)
    hidden["age"] = 0.9 * rng.standard_normal(n) + born_with_it
    hidden["kidney"] = 0.3 * hidden["age"] + 0.95 * hidden["kidney"]
    hidden["sensitised"] = hidden["sensitised"] + np.where(male, -0.15, 0.45)
    for spec in RECIPIENT:
        if spec.name not in drawn:
            drawn[spec.name] = _draw(spec, year, hidden, rng)
    table = pd.DataFrame({spec.name: drawn[spec.name] for spec in RECIPIENT})
    table.loc[diagnosis == "retransplant", "prior_transplant"] = "yes"
    table["bmi"] = (table["weight_kg"] / (table["height_cm"] / 100) ** 2).round(1)
    table["filtration_rate"] = _filtration_rate(table["creatinine"], table["age"], male)
    table["pulmonary_mean"] = ((table["pulmonary_systolic"] + 2 * table["pulmonary_diastolic"]) / 3).round()
    table["status"] = _status(table, year)
    for spec in SUBGROUPS:
        table[spec.name] = _draw(spec, year, hidden, rng)
    return table


def draw_donors(year: np.ndarray, rng: np.random.Generator, recipients: pd.DataFrame | None = None) -> pd.DataFrame:
    """Donors at the given times; with `recipients`, one for each, of a size and blood group as hearts are matched."""
    n = len(year)
    hidden = {name: rng.standard_normal(n) for name in ("donor_age", "donor_weight", "donor_kidney", "donor_liver")}
    sex = _draw(next(s for s in DONOR if s.name == "donor_sex"), year, {}, rng)
    male = np.asarray(sex == "male")
    size = 0.85 * rng.standard_normal(n)
    if recipients is not None:
        # a woman's heart goes to a man less often than chance has it
        swap = np.asarray(recipients["sex"] == "female") & male & (rng.random(n) < 0.45)
        male = male & ~swap
        tall = ((recipients["height_cm"] - 174) / 9.5).fillna(0).to_numpy()
        heavy = ((recipients["weight_kg"] - 81) / 16.5).fillna(0).to_numpy()
        size = 0.45 * tall - np.where(male, 0.1, -0.4) + 0.75 * rng.standard_normal(n)
        hidden["donor_weight"] = 0.35 * heavy + 0.9 * hidden["donor_weight"]
    hidden["donor_size"] = np.where(male, 0.3, -1.0) + size
    drawn = {spec.name: _draw(spec, year, hidden, rng) for spec in DONOR}
    drawn["donor_sex"] = _category(np.where(male, "male", "female"), ("male", "female"))
    if recipients is not None:
        drawn["donor_blood_group"] = _matching_groups(recipients["blood_group"], rng)
    table = pd.DataFrame(drawn)
    table["donor_bmi"] = (table["donor_weight_kg"] / (table["donor_height_cm"] / 100) ** 2).round(1)
    return table


def match(recipients: pd.DataFrame, donors: pd.DataFrame, year: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Recipients with their donors, row by row, and what only the two together have: a table of all features."""
    n = len(recipients)
    after_death = (donors["donor_circulatory_death"] == "yes").to_numpy()
    wider = year > 2018.8  # hearts travel further since the rules of October 2018
    distance = np.clip(np.exp(rng.normal(np.where(wider, 5.3, 4.6), 0.9, n)), 0, 2200).round()
    hours = 2.2 + 0.0022 * distance + np.where(after_death, 1.6, 0) + 0.7 * rng.standard_normal(n)
    centre = rng.choice(N_CENTRES, n, p=_centre_shares())
    trend = np.interp(year, [1987, 1995, 2010, 2024], [0.7, 1.0, 1.0, 1.9])
    table = pd.concat([recipients.reset_index(drop=True), donors.reset_index(drop=True)], axis=1)
    table["ischemic_hours"] = np.clip(hours, 0.5, 9).round(1)
    table["distance_nm"] = distance
    table["hla_mismatches"] = rng.binomial(6, 0.77, n).astype(float)
    table["heart_mass_ratio"] = (_heart_mass(table, "donor_") / _heart_mass(table, "")).round(3)
    table["weight_ratio"] = (table["donor_weight_kg"] / table["weight_kg"]).round(3)
    table["age_difference"] = table["donor_age"] - table["age"]
    table["centre_volume"] = np.maximum(np.round(2000 * _centre_shares()[centre] * trend), 1)
    table["transplant_year"] = np.floor(year)
    same = table["donor_blood_group"].astype(str).to_numpy() == table["blood_group"].astype(str).to_numpy()
    table["blood_match"] = _category(np.where(same, "identical", "compatible"), ("identical", "compatible"))
    pairs = table["donor_sex"].astype(str) + " to " + table["sex"].astype(str)
    table["sex_match"] = _category(pairs, ("male to male", "male to female", "female to male", "female to female"))
    table["centre"] = pd.Categorical.from_codes(centre, [f"C{number:03d}" for number in range(N_CENTRES)])
    return table


def _draw(
    spec: Numeric | Flag | Choice, year: np.ndarray, hidden: dict[str, np.ndarray], rng: np.random.Generator
) -> pd.Series:
    """One feature for all rows, with missing values as its era has them."""
    n = len(year)
    stage = np.clip((year - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR), 0, 1)
    if isinstance(spec, Numeric):
        carried = sum((share * hidden[name] for name, share in spec.factors.items()), np.zeros(n))
        rest = max(0.0, 1 - sum(share**2 for share in spec.factors.values()))
        z = carried + np.sqrt(rest) * rng.standard_normal(n)
        z = z + spec.skew * (z**2 - 1)
        value = spec.mean + spec.per_decade * (year - 2005) / 10 + spec.sd * z
        value = np.clip(np.exp(value) if spec.log else value, spec.low, spec.high).round(spec.digits)
        values = pd.Series(value)
    elif isinstance(spec, Flag):
        share = np.interp(stage, [0, 0.5, 1], spec.share)
        pull = sum((weight * hidden[name] for name, weight in spec.factors.items()), np.zeros(n))
        pull = pull - 0.5 * sum(weight**2 for weight in spec.factors.values())  # the share stays about what it says
        yes = rng.random(n) < special.expit(special.logit(np.clip(share, 1e-9, 1 - 1e-9)) + pull)
        values = pd.Series(_category(np.where(yes, "yes", "no"), ("no", "yes")))
    else:
        u = rng.random(n)
        if spec.factors:
            pull = sum((weight * hidden[name] for name, weight in spec.factors.items()), np.zeros(n))
            length = np.sqrt(1 + sum(weight**2 for weight in spec.factors.values()))
            u = special.ndtr((pull + special.ndtri(u)) / length)
        bounds = np.cumsum(np.outer(1 - stage, spec.first) + np.outer(stage, spec.last), axis=1)
        code = (u[:, None] > bounds[:, :-1]).sum(axis=1)
        values = pd.Series(pd.Categorical.from_codes(code, list(spec.levels)))
    early, late = spec.missing
    if early or late:
        values[rng.random(n) < late + (early - late) * (1 - stage) ** 2] = np.nan
    return values


def _category(values: object, levels: tuple[str, ...]) -> pd.Categorical:
    return pd.Categorical(values, categories=list(levels))


def _matching_groups(groups: pd.Series, rng: np.random.Generator) -> pd.Categorical:
    names = list(DONOR_GROUP_FOR)
    found = np.empty(len(groups), dtype=object)
    for group, shares in DONOR_GROUP_FOR.items():
        rows = np.flatnonzero(groups == group)
        found[rows] = rng.choice(list(shares), len(rows), p=list(shares.values()))
    return _category(found, tuple(names))


def _filtration_rate(creatinine: pd.Series, age: pd.Series, male: np.ndarray) -> pd.Series:
    """Estimated glomerular filtration rate by the CKD-EPI formula of 2021."""
    kappa, alpha = np.where(male, 0.9, 0.7), np.where(male, -0.302, -0.241)
    ratio = creatinine / kappa
    rate = 142 * np.minimum(ratio, 1) ** alpha * np.maximum(ratio, 1) ** -1.2 * 0.9938**age * np.where(male, 1, 1.012)
    return rate.clip(3, 150).round()


def _heart_mass(table: pd.DataFrame, whose: str) -> pd.Series:
    """Predicted heart mass in grams, left and right ventricle, from age, sex, height and weight."""
    male = (table[f"{whose}sex"] == "male").to_numpy()
    metres, weight, age = table[f"{whose}height_cm"] / 100, table[f"{whose}weight_kg"], table[f"{whose}age"]
    left = np.where(male, 8.25, 6.82) * metres**0.54 * weight**0.61
    right = np.where(male, 11.25, 10.59) * age**-0.32 * metres**1.135 * weight**0.315
    return left + right


def _status(table: pd.DataFrame, year: np.ndarray) -> pd.Categorical:
    """Urgency in the words of its time: 1 and 2 before 1999, 1A, 1B, 2 until October 2018, then six statuses."""
    yes = {name: (table[name] == "yes").to_numpy() for name in
           ("ventilator", "ecmo", "right_assist_device", "balloon_pump", "artificial_heart", "inotropes",
            "left_assist_device")}  # fmt: skip
    intensive = (table["care_setting"] == "intensive care").to_numpy()
    most = yes["ecmo"] | yes["right_assist_device"] | yes["ventilator"]
    second = yes["balloon_pump"] | yes["artificial_heart"]
    third = yes["inotropes"] & intensive
    device = yes["left_assist_device"] | yes["inotropes"]
    sensitive = (table["antibodies_class_1"] > 50).to_numpy()
    now = np.select([most, second, third, device, sensitive], [5, 6, 7, 8, 9], 10)
    between = np.select([most | second | third, device], [2, 3], 4)
    first = np.where(most | second | third, 0, 1)
    code = np.select([year < 1999.0, year < 2018.8], [first, between], now)
    return pd.Categorical.from_codes(code, list(STATUSES))


def _centre_shares() -> np.ndarray:
    """How transplants spread over the centres: a few large, many small."""
    size = 1 / (np.arange(N_CENTRES) + 8.0)
    return size / size.sum()
