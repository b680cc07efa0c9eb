"""Types of donors: what a model is asked about before it is known which heart will be offered."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from ...._typing import IntArray
from ....data import Population
from ....data.registry import BLOOD_GROUPS
from ._pair_law import compute_heart_mass
from ._world import World

# A donor's type: older than 40 or not, and a large heart or not (about the median of the registry's donors).
OLD, LARGE = 40.0, 185.0
N_DONOR_TYPES = 4
# A typical pair: what is not known before a heart is offered.
TYPICAL = {"distance_nm": 250.0, "hla_mismatches": 5.0}


def classify_donors(donors: pd.DataFrame) -> IntArray:
    """Return the type of each donor, 0 to 3."""
    large = compute_heart_mass(donors, "donor_") > LARGE
    return np.asarray(2 * (donors["donor_age"].to_numpy(float) > OLD) + large, dtype=np.int64)


@lru_cache(maxsize=4)
def make_typical_donors(year: float, law: str) -> pd.DataFrame:
    """Return one donor per type: medians of numbers and the most frequent categories of 20,000 donors."""
    donors = Population(year, law).donors(20_000, random_state=1)
    types = classify_donors(donors)
    rows = []
    for each in range(N_DONOR_TYPES):
        those = donors[types == each]
        rows.append(
            {
                name: those[name].median() if those[name].dtype.kind == "f" else those[name].mode().iloc[0]
                for name in donors.columns
            }
        )
    return pd.DataFrame(rows).astype(donors.dtypes.to_dict())


def make_typical_pairs(candidates: pd.DataFrame, rows: IntArray, donor_type: int, world: World) -> pd.DataFrame:
    """Pair the candidates in `rows` with a typical donor of a type, of their own blood group, at a typical distance."""
    donors = make_typical_donors(world.year, world.law)
    population = Population(world.year, world.law)
    pairs = population.pairs(candidates, donors, candidate=rows, donor=donor_type, incompatible="keep")
    after_death = donors["donor_circulatory_death"].iloc[donor_type] == "yes"
    hours = round(2.2 + 0.0022 * TYPICAL["distance_nm"] + 1.6 * after_death, 1)
    same = pd.Categorical(["identical"] * len(rows), categories=["identical", "compatible"])
    group = pd.Categorical(pairs["blood_group"].astype(str), categories=BLOOD_GROUPS)
    return pairs.assign(**TYPICAL, ischemic_hours=hours, blood_match=same, donor_blood_group=group)
