"""True expected life of a candidate with a donor, fast enough for every pair of every match run.

`lifeyears.data.Population` defines the law of a pair; it takes milliseconds per match run. Here the sums of effects
are split into the candidate's part, the donor's part and what only the two together have; the last is computed anew
for each pair, and the expectation is read from a table. A test compares the two.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np
import pandas as pd
from numba.extending import overload

from ...._typing import AnyArray, BoolArray, FloatArray, IntArray
from ....data import Population
from ....data.registry import (
    CATEGORY_EFFECTS,
    EFFECT_SCALES,
    HLA_MISMATCH_CDF,
    LINEAR_EFFECTS,
    Effects,
    combine_effects,
    find_world,
    predict_heart_mass,
    sum_effects,
)
from ...engine import pair_uniform, score_pairs
from ._world import World

STEP = 0.02  # of the table, in both directions
LATE_SPAN, EARLY_SPAN = (-2.5, 3.5), (-4.5, 9.0)
PAIR_FEATURES = ("ischemic_hours", "hla_mismatches", "heart_mass_ratio", "distance_nm")
# typical value, spread, effect on the late and on the early hazard, in the order of PAIR_FEATURES
PAIR_LINEAR = np.array([LINEAR_EFFECTS[name] for name in PAIR_FEATURES])
(LATE_MEAN, LATE_SPREAD), (EARLY_MEAN, EARLY_SPREAD), (NONLINEAR_MEAN, NONLINEAR_SPREAD) = (
    EFFECT_SCALES[part] for part in ("late", "early", "nonlinear")
)
SEX_LATE, SEX_EARLY = CATEGORY_EFFECTS[("sex_match", "female to male")]


class CandidateLaw(NamedTuple):
    """A candidate's part of the effects, and what interacts with a donor's findings."""

    key: AnyArray
    sums: FloatArray  # (n, 3): late, early, nonlinear
    age: FloatArray
    mass: FloatArray
    man: BoolArray
    sensitised: BoolArray  # antibodies of class 1 above 20
    stiff: BoolArray  # mean pulmonary pressure above 35
    unexposed: BoolArray  # never had CMV


class DonorLaw(NamedTuple):
    """A donor's part of the effects, and what interacts with a candidate's findings."""

    key: AnyArray
    sums: FloatArray
    age: FloatArray
    mass: FloatArray
    woman: BoolArray
    circulatory: BoolArray
    exposed: BoolArray


class ExpectedLifeTable(NamedTuple):
    """Expected life by the log late hazard (rows) and the early effects (columns), and the weights to enter it with."""

    years: FloatArray
    late_weight: float
    nonlinear_weight: float


class HeartLaw(NamedTuple):
    """The law of life after a transplant, for all pairs of a replicate."""

    candidates: CandidateLaw
    donors: DonorLaw
    table: ExpectedLifeTable


@lru_cache(maxsize=4)
def tabulate_expected_life(law: str, year: float, tau: float) -> ExpectedLifeTable:
    """Tabulate E[min(T*, τ)] for the registry's world, at one year and horizon."""
    rule = find_world(law)
    late, early = np.arange(*LATE_SPAN, STEP), np.arange(*EARLY_SPAN, STEP * 2)
    shift, effect = (grid.ravel() for grid in np.meshgrid(late, early, indexing="ij"))
    decade = np.full(len(shift), (np.floor(year) + 0.5 - 2005) / 10)
    lives = combine_effects(Effects(shift / rule.linear, effect, np.zeros(len(shift))), decade, rule)
    return ExpectedLifeTable(lives.expected(tau).reshape(len(late), len(early)), rule.linear, rule.nonlinear)


def split_effects(candidates: pd.DataFrame, donors: pd.DataFrame, world: World) -> tuple[CandidateLaw, DonorLaw]:
    """Compute the candidates' and the donors' parts: each with one partner, less what only the pair has."""
    theirs, ours = _candidate_law(candidates), _donor_law(donors)
    if not len(candidates) or not len(donors):
        return theirs, ours
    people = Population(world.year, world.law)
    theirs.sums[:] = _own_sums(people.pairs(candidates, donors, donor=0, incompatible="keep"))
    # beside the first candidate, whose part is then not to be counted again
    ours.sums[:] = _own_sums(people.pairs(candidates, donors, candidate=0, incompatible="keep")) - theirs.sums[0]
    return theirs, ours


def _own_sums(pairs: pd.DataFrame) -> FloatArray:
    """Return the sums of effects (late, early, nonlinear) of pairs, less what only a pair has."""
    whole = sum_effects(pairs)
    numbers = [pairs[name].to_numpy(float) for name in (*PAIR_FEATURES, "age", "donor_age")]
    numbers[2] = np.nan_to_num(numbers[2], nan=1.0)
    flags = [
        pairs["sex_match"] == "female to male",
        pairs["antibodies_class_1"] > 20,
        (pairs["cmv_positive"] == "no") & (pairs["donor_cmv_positive"] == "yes"),
        pairs["pulmonary_mean"] > 35,
    ]
    columns = zip(*(each.tolist() for each in numbers), *(each.tolist() for each in flags), strict=True)
    own = [_pair_sums(*row) for row in columns]
    return np.asarray(np.column_stack([whole[name] for name in ("late", "early", "nonlinear")]) - np.array(own))


def compute_heart_mass(people: pd.DataFrame, prefix: str = "") -> FloatArray:
    """Predict heart mass in grams by the registry's formula; NaN where size is not known."""
    woman = (people[f"{prefix}sex"] == "female").to_numpy()
    height, weight, age = (people[f"{prefix}{name}"].to_numpy(float) for name in ("height_cm", "weight_kg", "age"))
    return predict_heart_mass(woman, height, weight, age)


def _candidate_law(people: pd.DataFrame) -> CandidateLaw:
    return CandidateLaw(
        people["candidate_key"].to_numpy().astype(np.uint64),
        np.zeros((len(people), 3)),
        people["age"].to_numpy(float),
        compute_heart_mass(people),
        (people["sex"] == "male").to_numpy(),
        people["antibodies_class_1"].to_numpy(float) > 20,
        people["pulmonary_mean"].to_numpy(float) > 35,
        (people["cmv_positive"] == "no").to_numpy(),
    )


def _donor_law(people: pd.DataFrame) -> DonorLaw:
    return DonorLaw(
        people["donor_key"].to_numpy().astype(np.uint64),
        np.zeros((len(people), 3)),
        people["donor_age"].to_numpy(float),
        compute_heart_mass(people, "donor_"),
        (people["donor_sex"] == "female").to_numpy(),
        (people["donor_circulatory_death"] == "yes").to_numpy(),
        (people["donor_cmv_positive"] == "yes").to_numpy(),
    )


@numba.njit(cache=True)
def normal_quantile(p: float) -> float:
    """Return the quantile of the standard normal by Acklam's approximation, to nine digits."""
    if p < 0.02425 or p > 1 - 0.02425:
        q = np.sqrt(-2 * np.log(min(p, 1 - p)))
        x = (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q
               - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783) / (
            (((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q
             + 3.754408661907416) * q + 1)  # fmt: skip
        x = x if p < 0.5 else -x
    else:
        q = p - 0.5
        r = q * q
        x = (((((-3.969683028665376e01 * r + 2.209460984245205e02) * r - 2.759285104469687e02) * r
               + 1.383577518672690e02) * r - 3.066479806614716e01) * r + 2.506628277459239) * q / (
            ((((-5.447609879822406e01 * r + 1.615858368580409e02) * r - 1.556989798598866e02) * r
              + 6.680131188771972e01) * r - 1.328068155288572e01) * r + 1)  # fmt: skip
    return float(x)


@numba.njit(cache=True)
def _pair_sums(
    hours: float, mismatches: float, ratio: float, distance: float, age: float, donor_age: float,
    womans_to_man: bool, sensitised: bool, cmv: bool, stiff: bool,
) -> tuple[float, float, float]:  # fmt: skip
    """What only the two together have: effects on the late and the early hazard, thresholds and interactions."""
    late, early = 0.0, 0.0
    for j, value in enumerate((hours, mismatches, ratio, distance)):
        z = (value - PAIR_LINEAR[j, 0]) / PAIR_LINEAR[j, 1]
        late += PAIR_LINEAR[j, 2] * z
        early += PAIR_LINEAR[j, 3] * z
    if womans_to_man:
        late += SEX_LATE
        early += SEX_EARLY
    nonlinear = -0.22 * (age - 55) / 11 * (donor_age - 30) / 11.5
    nonlinear += 0.70 * (donor_age > 40 and hours > 3.0)
    nonlinear += 0.60 * (ratio < 0.86) * (1.6 if womans_to_man else 0.7)
    nonlinear += 0.55 * (sensitised and mismatches > 4)
    nonlinear += 0.45 * cmv
    nonlinear += 0.35 * (stiff and donor_age > 35)
    return late, early, nonlinear


@numba.njit(cache=True)
def expect_lives(
    rows: IntArray, hearts: IntArray, distance: FloatArray, n: int,
    candidates: CandidateLaw, donors: DonorLaw, table: ExpectedLifeTable, out: FloatArray,
) -> None:  # fmt: skip
    """Compute E[min(T*, τ)] of the first n candidates with hearts (one, or one each), so many nautical miles away."""
    for i in range(n):
        c, d = rows[i], hearts[i if len(hearts) > 1 else 0]
        hours = 2.2 + 0.0022 * distance[i] + 1.6 * donors.circulatory[d]
        hours += 0.7 * normal_quantile(pair_uniform(candidates.key[c], donors.key[d], 1))
        hours = np.rint(min(max(hours, 0.5), 9.0) * 10) / 10
        luck, mismatches = pair_uniform(candidates.key[c], donors.key[d], 2), 0.0
        for limit in HLA_MISMATCH_CDF:
            mismatches += limit < luck
        ratio = np.rint(donors.mass[d] / candidates.mass[c] * 1000) / 1000
        late, early, nonlinear = _pair_sums(
            hours, mismatches, 1.0 if np.isnan(ratio) else ratio, distance[i], candidates.age[c], donors.age[d],
            donors.woman[d] and candidates.man[c], candidates.sensitised[c],
            candidates.unexposed[c] and donors.exposed[d], candidates.stiff[c],
        )  # fmt: skip
        late += candidates.sums[c, 0] + donors.sums[d, 0] - LATE_MEAN
        early += candidates.sums[c, 1] + donors.sums[d, 1] - EARLY_MEAN
        nonlinear += candidates.sums[c, 2] + donors.sums[d, 2] - NONLINEAR_MEAN
        shift = table.late_weight * late / LATE_SPREAD + table.nonlinear_weight * nonlinear / NONLINEAR_SPREAD
        # bilinear interpolation; beyond the table, its edge
        row = min(max((shift - LATE_SPAN[0]) / STEP, 0.0), table.years.shape[0] - 1.001)
        column = min(max((early / EARLY_SPREAD - EARLY_SPAN[0]) / (2 * STEP), 0.0), table.years.shape[1] - 1.001)
        above, left = int(row), int(column)
        down, right = row - above, column - left
        upper = (1 - right) * table.years[above, left] + right * table.years[above, left + 1]
        lower = (1 - right) * table.years[above + 1, left] + right * table.years[above + 1, left + 1]
        out[i] = (1 - down) * upper + down * lower


@overload(score_pairs)
def _score_heart_pairs(law, who, items, distance, n, out):  # type: ignore[no-untyped-def] # numba types, not values
    """Score pairs by their expected life, where the law is that of the heart world."""
    if getattr(law, "instance_class", None) is not HeartLaw:
        return None

    def score(law, who, items, distance, n, out):  # type: ignore[no-untyped-def]
        expect_lives(who, items, distance, n, law.candidates, law.donors, law.table, out)

    return score
