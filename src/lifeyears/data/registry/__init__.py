"""A simulated heart-transplant registry with known truth, the population it is drawn from, and its law of life.

`simulate_registry` makes the data set; `Population` draws candidates and donors for simulations of allocation. The
other names are the parts of the law that `lifeyears.simulation` compiles for speed: effects on the hazard, blood
groups, and the places of the transplant centres.
"""

from ._effects import CATEGORY_EFFECTS, EFFECT_SCALES, LINEAR_EFFECTS, Effects, compute_effects, sum_effects
from ._geography import Centres, list_centres
from ._lifetimes import Lifetimes
from ._match import (
    BLOOD_GROUPS,
    COMPATIBILITY_CODES,
    HLA_MISMATCH_CDF,
    classify_compatibility,
    hash_pairs,
    predict_heart_mass,
)
from ._outcome import LEVELS, WORLDS, Levels, RegistryWorld, combine_effects, find_world
from ._pairs import Population
from ._simulate import simulate_registry

__all__ = [
    "BLOOD_GROUPS",
    "CATEGORY_EFFECTS",
    "COMPATIBILITY_CODES",
    "EFFECT_SCALES",
    "HLA_MISMATCH_CDF",
    "LEVELS",
    "LINEAR_EFFECTS",
    "WORLDS",
    "Centres",
    "Effects",
    "Levels",
    "Lifetimes",
    "Population",
    "RegistryWorld",
    "classify_compatibility",
    "combine_effects",
    "compute_effects",
    "find_world",
    "hash_pairs",
    "list_centres",
    "predict_heart_mass",
    "simulate_registry",
    "sum_effects",
]
