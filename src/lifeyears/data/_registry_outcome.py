"""How long the patients of a simulated registry live, and when they are lost to follow-up.

The cumulative hazard of a patient x is

    H(t|x) = E(x)·(1 − exp(−t/θ)) + L(x)·(t/10)^ρ(x)

an early phase (death around the operation) and a late one that goes on for decades. log E and log L are sums of the
recorded features' effects, drift with the transplant year, and are scaled so that the cohort looks like the paper's.
A missing value acts as a typical one, so that E[min(T*, τ)|x] is exact for the table as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..curves import SurvivalCurves, row_blocks

THETA = 0.2  # years: how long the early phase lasts
# feature: (typical value, spread, effect on the late hazard, on the early hazard), effects for one spread
LINEAR: dict[str, tuple[float, float, float, float]] = {
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
CATEGORY: dict[tuple[str, str], tuple[float, float]] = {
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


def _thresholds_and_interactions(value: Callable[[str], np.ndarray], yes: Callable[..., np.ndarray]) -> np.ndarray:
    """What a linear model cannot say: steps, U-shapes, and one feature changing what another means."""
    age, donor_age, hours = value("age"), value("donor_age"), value("ischemic_hours")
    older, donor_older = (age - 55) / 11, (donor_age - 30) / 11.5
    return (
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


@dataclass(frozen=True)
class World:
    """How features and outcome hang together.

    `linear`, `nonlinear`: spread (on the log hazard) of the linear effects and of thresholds and interactions.
    `early`: spread of the early phase's own linear effects; None makes the early phase proportional to the late one.
    `bend`: spread of log ρ, by which hazards cross. `informative`: share of patients who are lost shortly before death.
    """

    linear: float
    nonlinear: float
    early: float | None = None
    bend: float = 0.0
    informative: float = 0.0


WORLDS: dict[str, World] = {
    "registry": World(linear=0.25, nonlinear=0.25, early=0.45),
    "proportional": World(linear=0.57, nonlinear=0.0),
    "interactions": World(linear=0.20, nonlinear=0.53),
    "crossing": World(linear=0.20, nonlinear=0.20, bend=0.35),
    "informative_censoring": World(linear=0.25, nonlinear=0.25, early=0.45, informative=0.35),
}


@dataclass(frozen=True)
class Levels:
    """Where the hazards lie: found by fitting the cohort's quantiles (see docs/registry.md), the same in all worlds."""

    tilt: float = -0.096  # of the transplants' years, per decade
    early: float = -1.792
    early_per_decade: float = -0.205
    late: float = -0.938
    late_per_decade: float = -0.16
    shape: float = 1.792
    dropout: float = -1.49  # log of the chance in ten years
    dropout_per_decade: float = 0.0


LEVELS = Levels()
# Mean and spread, over a large cohort, of the sums above: they make the spreads in `World` mean what they say.
CENTRE = {"late": (0.333, 0.494), "early": (0.544, 0.710), "nonlinear": (0.473, 0.606)}


@dataclass(frozen=True, eq=False)
class Lifetimes:
    """The law of each patient's lifetime: H(t|x) as above."""

    early: np.ndarray
    late: np.ndarray
    shape: np.ndarray

    def __len__(self) -> int:
        return len(self.early)

    def hazard(self, times: np.ndarray) -> np.ndarray:
        """H(t|x), (n, m)."""
        times = np.asarray(times, dtype=float)
        with np.errstate(divide="ignore"):
            grown = np.exp(np.multiply.outer(self.shape, np.log(times / 10)))
        return np.multiply.outer(self.early, -np.expm1(-times / THETA)) + self.late[:, None] * grown

    def curves(self, times: np.ndarray) -> SurvivalCurves:
        """S(t|x) at these times, straight between them."""
        return SurvivalCurves(times, np.exp(-self.hazard(times)), "linear")

    def expected(self, tau: float) -> np.ndarray:
        """E[min(T*, τ)|x] = ∫₀^τ S(t|x) dt, by Gauss–Legendre quadrature in the early and the late phase."""
        edges = [0.0, *(edge for edge in (0.25, 1.0, 4.0) if edge < tau), float(tau)]
        nodes, weights = np.polynomial.legendre.leggauss(20)
        half = np.diff(edges) / 2
        times = np.concatenate([low + (nodes + 1) * h for low, h in zip(edges[:-1], half, strict=True)])
        weights = np.concatenate([weights * h for h in half])
        life = np.empty(len(self))
        for rows in row_blocks(len(self), 2 * len(times)):
            part = Lifetimes(self.early[rows], self.late[rows], self.shape[rows])
            life[rows] = np.exp(-part.hazard(times)) @ weights
        return life

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """A lifetime for each: the earlier of two deaths, each by inverting its own hazard."""
        first, second = rng.standard_exponential((2, len(self)))
        with np.errstate(divide="ignore"):
            share = np.minimum(first / self.early, 1.0)
            early = np.where(share < 1, -THETA * np.log1p(-share), np.inf)
        return np.minimum(early, 10 * (second / self.late) ** (1 / self.shape))


def lifetimes(table: pd.DataFrame, world: str, levels: Levels = LEVELS) -> Lifetimes:
    """The law of life of each row of a table of features."""
    rule = WORLDS[world]
    late, early, nonlinear = _effects(table)
    decade = (table["transplant_year"].to_numpy(float) + 0.5 - 2005) / 10
    bend = np.exp(rule.bend * early) if rule.bend else np.ones(len(table))
    log_late = levels.late + levels.late_per_decade * decade + rule.linear * late + rule.nonlinear * nonlinear
    if rule.early is None:  # one factor for both phases: proportional hazards
        log_early = log_late - levels.late + levels.early
    else:
        log_early = levels.early + levels.early_per_decade * decade + rule.early * early
    return Lifetimes(np.exp(log_early), np.exp(log_late), levels.shape * bend)


def dropout_rates(table: pd.DataFrame, levels: Levels = LEVELS) -> np.ndarray:
    """Chance a year of being lost to follow-up: the young, the distant and small centres lose more."""
    age = (table["age"].to_numpy(float) - 55) / 11
    volume = (table["centre_volume"].to_numpy(float) - 26) / 31
    works = (table["works_for_income"] == "yes").to_numpy()
    decade = (table["transplant_year"].to_numpy(float) + 0.5 - 2005) / 10
    log_rate = levels.dropout + levels.dropout_per_decade * decade - 0.25 * age - 0.15 * volume + 0.2 * works
    return np.exp(log_rate) / 10


def _effects(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Linear effects on the late and the early hazard, and thresholds and interactions, each of mean 0 and spread 1."""
    late, early = np.zeros(len(table)), np.zeros(len(table))
    for name, (typical, spread, on_late, on_early) in LINEAR.items():
        z = (table[name].fillna(typical).to_numpy(float) - typical) / spread
        late += on_late * z
        early += on_early * z
    for (name, level), (on_late, on_early) in CATEGORY.items():
        here = (table[name] == level).to_numpy()
        late += on_late * here
        early += on_early * here

    def value(name: str) -> np.ndarray:
        typical = LINEAR[name][0] if name in LINEAR else 0.0
        return table[name].fillna(typical).to_numpy(float)

    def yes(name: str, level: str) -> np.ndarray:
        return (table[name] == level).to_numpy()

    sums = {"late": late, "early": early, "nonlinear": _thresholds_and_interactions(value, yes)}
    late, early, nonlinear = ((sums[key] - mean) / spread for key, (mean, spread) in CENTRE.items())
    return late, early, nonlinear
