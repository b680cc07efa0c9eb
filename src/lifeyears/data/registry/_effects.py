"""What the features of a simulated registry do to the hazard of death: linear effects, thresholds and interactions.

A missing value acts as a typical one, so that E[min(T*, τ)|x] is exact for the table as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..._typing import BoolArray, FloatArray

# feature: (typical value, spread, effect on the late hazard, on the early hazard), effects for one spread
LINEAR_EFFECTS: dict[str, tuple[float, float, float, float]] = {
    "age": (55, 11, 0.14, 0.15),
    "donor_age": (30, 11.5, 0.20, 0.18),
    "ischemic_hours": (2.6, 0.9, 0.06, 0.22),
    "creatinine": (1.3, 0.5, 0.12, 0.20),
    "bilirubin": (0.8, 0.6, 0.03, 0.18),
    "albumin": (3.7, 0.6, -0.10, -0.12),
    "bmi": (26.8, 5, 0.08, 0.05),
    "urea_nitrogen": (22, 13, 0.04, 0.06),
    "hemoglobin": (12.1, 2, -0.05, -0.05),
    "pulmonary_mean": (28, 9, 0.02, 0.14),
    "antibodies_class_1": (1, 14, 0.06, 0.05),
    "days_on_list": (74, 400, 0.02, 0.0),
    "hla_mismatches": (5, 1, 0.08, 0.02),
    "heart_mass_ratio": (1.0, 0.2, -0.04, -0.10),
    "centre_volume": (26, 31, -0.09, -0.16),
    "donor_creatinine": (1.1, 0.6, 0.02, 0.04),
    "donor_ejection_fraction": (62, 7, -0.03, -0.05),
    "distance_nm": (114, 200, 0.0, 0.03),
    "cardiac_output": (4.4, 1.3, -0.02, -0.04),
    "sodium": (137, 4.2, -0.03, -0.04),
}
# (feature, category): effect on the late and on the early hazard
CATEGORY_EFFECTS: dict[tuple[str, str], tuple[float, float]] = {
    ("diabetes", "yes"): (0.24, 0.08),
    ("dialysis", "yes"): (0.35, 0.65),
    ("ventilator", "yes"): (0.10, 0.70),
    ("ecmo", "yes"): (0.08, 0.80),
    ("balloon_pump", "yes"): (-0.03, 0.10),
    ("right_assist_device", "yes"): (0.10, 0.50),
    ("artificial_heart", "yes"): (0.10, 0.55),
    ("left_assist_device", "yes"): (0.02, 0.22),
    ("prior_sternotomy", "yes"): (0.04, 0.25),
    ("prior_transplant", "yes"): (0.30, 0.35),
    ("recent_infection", "yes"): (0.05, 0.25),
    ("smoking_history", "yes"): (0.14, 0.03),
    ("malignancy", "yes"): (0.15, 0.03),
    ("lung_disease", "yes"): (0.14, 0.10),
    ("vascular_disease", "yes"): (0.16, 0.08),
    ("hepatitis_c", "yes"): (0.28, 0.05),
    ("cmv_positive", "no"): (0.04, 0.0),
    ("works_for_income", "yes"): (-0.15, -0.05),
    ("functional_status", "much help"): (0.08, 0.15),
    ("sex", "female"): (-0.08, 0.05),
    ("diagnosis", "ischemic"): (0.15, 0.05),
    ("diagnosis", "congenital"): (-0.30, 0.85),
    ("diagnosis", "retransplant"): (0.20, 0.20),
    ("diagnosis", "restrictive"): (0.05, 0.15),
    ("donor_smoking", "yes"): (0.12, 0.05),
    ("donor_diabetes", "yes"): (0.22, 0.08),
    ("donor_hypertension", "yes"): (0.12, 0.06),
    ("donor_coronary_disease", "yes"): (0.20, 0.15),
    ("donor_cause_of_death", "stroke"): (0.08, 0.12),
    ("donor_circulatory_death", "yes"): (0.0, 0.10),
    ("sex_match", "female to male"): (0.08, 0.12),
}


# Mean and spread, over a large cohort, of the sums of effects (benchmarks/calibrate_registry.py finds them): they make
# the spreads in `RegistryWorld` mean what they say.
EFFECT_SCALES = {"late": (0.322, 0.494), "early": (0.5273, 0.709), "nonlinear": (0.4205, 0.5833)}


@dataclass(frozen=True, eq=False)
class Effects:
    """Of each row: linear effects on the late and on the early hazard, and thresholds and interactions.

    Each has mean 0 and spread 1 over the registry.
    """

    late: FloatArray
    early: FloatArray
    nonlinear: FloatArray


def compute_effects(table: pd.DataFrame) -> Effects:
    """Compute the effects of each row of a table of features."""
    sums = sum_effects(table)
    return Effects(**{part: (sums[part] - mean) / spread for part, (mean, spread) in EFFECT_SCALES.items()})


def sum_effects(table: pd.DataFrame) -> dict[str, FloatArray]:
    """Add up the effects of each row, before they are centred and scaled."""
    late, early = np.zeros(len(table)), np.zeros(len(table))
    value, yes = _readers(table)
    for name, (typical, spread, on_late, on_early) in LINEAR_EFFECTS.items():
        z = (value(name) - typical) / spread
        late += on_late * z
        early += on_early * z
    for (name, level), (on_late, on_early) in CATEGORY_EFFECTS.items():
        here = yes(name, level)
        late += on_late * here
        early += on_early * here
    return {"late": late, "early": early, "nonlinear": _thresholds_and_interactions(value, yes)}


def _readers(table: pd.DataFrame) -> tuple[Callable[[str], FloatArray], Callable[[str, str], BoolArray]]:
    """How to read a number (a missing one is typical) and whether a category is a certain one."""

    def value(name: str) -> FloatArray:
        numbers: FloatArray = table[name].to_numpy(float)
        typical = LINEAR_EFFECTS[name][0] if name in LINEAR_EFFECTS else 0.0
        return np.where(np.isnan(numbers), typical, numbers)

    def yes(name: str, level: str) -> BoolArray:
        values = table[name].array
        if isinstance(values, pd.Categorical) and level in values.categories:  # by code: faster, in a match run
            values, level = values.codes, values.categories.get_loc(level)
        return np.asarray(values == level)

    return value, yes


def _thresholds_and_interactions(
    value: Callable[[str], FloatArray], yes: Callable[[str, str], BoolArray]
) -> FloatArray:
    """What a linear model cannot say: steps, U-shapes, and one feature changing what another means."""
    age, donor_age, hours = value("age"), value("donor_age"), value("ischemic_hours")
    older, donor_older = (age - 55) / 11, (donor_age - 30) / 11.5
    total: FloatArray = (
        0.55 * (age < 35)  # the young: rejection, missed medicines
        + 0.35 * (age > 65)
        + 0.70 * ((donor_age > 40) & (hours > 3.0))  # an old heart bears a long way badly
        - 0.22 * older * donor_older  # old for old does less harm than it should
        + 0.60 * (value("heart_mass_ratio") < 0.86) * np.where(yes("sex_match", "female to male"), 1.6, 0.7)
        + 0.45 * (value("bmi") > 35)
        + 0.30 * (value("bmi") < 20)
        + 0.60 * ((value("creatinine") > 1.9) & yes("diabetes", "yes"))
        + 0.55 * ((value("antibodies_class_1") > 20) & (value("hla_mismatches") > 4))
        + 0.50 * ((value("albumin") < 3.1) & yes("functional_status", "much help"))
        + 0.45 * (yes("cmv_positive", "no") & yes("donor_cmv_positive", "yes"))
        - 0.40 * ((value("centre_volume") > 60) & (value("transplant_year") > 2005))
        + 0.40 * (yes("left_assist_device", "yes") & (value("transplant_year") < 2008))  # the first pumps
        + 0.35 * ((value("pulmonary_mean") > 35) & (donor_age > 35))
        - 0.35 * (yes("diagnosis", "dilated") & yes("sex", "female") & (age < 55))
    )
    return total
