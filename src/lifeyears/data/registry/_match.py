"""A candidate and a donor together: blood groups, distance, and what chance adds to the pair.

What chance adds is a function of the candidate's key and the donor's key alone. A pair is therefore the same whether
it is looked at alone, in a match run or under another policy: common random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
from scipy import special, stats

from ..._typing import BoolArray, FloatArray, IntArray
from ...errors import DataError, Message, Setting
from ._draw import make_category
from ._geography import list_centres, measure_distance
from ._population import CANDIDATE_KEY, DONOR_KEY, DONOR_PLACE

if TYPE_CHECKING:
    Column: TypeAlias = np.ndarray | pd.Categorical
    Texts: TypeAlias = str | Sequence[str] | np.ndarray | pd.Series | pd.Categorical

BLOOD_GROUPS = ("O", "A", "B", "AB")
# Which hearts may go where (donor, candidate), and how the allocation rules call it.
KINDS = ("primary", "secondary", "incompatible")
KIND_OF = {
    ("O", "O"): "primary", ("O", "B"): "primary", ("A", "A"): "primary", ("A", "AB"): "primary",
    ("B", "B"): "primary", ("B", "AB"): "primary", ("AB", "AB"): "primary",
    ("O", "A"): "secondary", ("O", "AB"): "secondary",
}  # fmt: skip
COMPATIBILITY_CODES = np.array(  # rows: the donor's group; columns: the candidate's; values: positions in KINDS
    [[KINDS.index(KIND_OF.get((d, c), "incompatible")) for c in BLOOD_GROUPS] for d in BLOOD_GROUPS]
)
SEX_MATCHES = ("male to male", "male to female", "female to male", "female to female")
HLA_MISMATCH_CDF: FloatArray = stats.binom.cdf(np.arange(6), 6, 0.77)  # of 0 to 5 mismatches, out of 6


def classify_compatibility(donor_group: Texts, candidate_group: Texts) -> str | np.ndarray:
    """Classify whether a heart may go from one blood group to another: "primary", "secondary" or "incompatible".

    Primary: O to O and B, A to A and AB, B to B and AB, AB to AB. Secondary: O to A and AB. All else is incompatible.

    Parameters
    ----------
    donor_group, candidate_group : str or sequence of str
        "O", "A", "B" or "AB"; one for many is fine.

    Returns
    -------
    str, or array of str if either is a sequence

    Examples
    --------
    >>> classify_compatibility("O", ["O", "A", "B"])
    array(['primary', 'secondary', 'primary'], dtype='<U12')
    >>> classify_compatibility("A", "O")
    'incompatible'
    """
    kinds = np.array(KINDS)[COMPATIBILITY_CODES[_group_codes(donor_group), _group_codes(candidate_group)]]
    return str(kinds) if np.ndim(kinds) == 0 else kinds


def match_pairs(
    candidates: pd.DataFrame,
    donors: pd.DataFrame,
    year: float | FloatArray,
    candidate: IntArray | None = None,
    donor: IntArray | None = None,
    incompatible: str = "raise",
) -> pd.DataFrame:
    """Match candidates with donors, and add what only the two together have: a table of all features.

    `candidate` and `donor` are positions of rows, first with first; None takes all rows in their order.
    """
    theirs, ours = _columns(candidates, candidate), _columns(donors, donor)
    together = _together(theirs, ours, year)
    together["blood_match"] = _blood_match(theirs["blood_group"], ours["donor_blood_group"], incompatible)
    columns = {**theirs, **ours, **together}
    for name in (CANDIDATE_KEY, DONOR_KEY, *DONOR_PLACE):
        del columns[name]
    return pd.DataFrame(columns, copy=False)  # the columns are fresh already, or the registry's own


def _columns(table: pd.DataFrame, rows: IntArray | None) -> dict[str, Column]:
    """Some rows of each column: much faster, in a match run, than some rows of the table."""
    columns = {name: table[name].array for name in table.columns}
    if rows is not None:
        columns = {name: values.take(rows) for name, values in columns.items()}
    return {name: v if isinstance(v, pd.Categorical) else np.asarray(v) for name, v in columns.items()}


def _together(theirs: dict[str, Column], ours: dict[str, Column], year: float | FloatArray) -> dict[str, Column]:
    """What a candidate and a donor have only as a pair, but for the blood groups."""
    centre = _codes(theirs["centre"], list_centres().names())
    if (centre < 0).any():
        unknown = np.asarray(theirs["centre"])[centre < 0][0]
        raise DataError(f"there is no centre {unknown!r}; they are C000 to C119", centre=unknown)
    distance = measure_distance(centre, *(ours[name] for name in DONOR_PLACE)).round()
    luck = hash_pairs(theirs[CANDIDATE_KEY], ours[DONOR_KEY], 2)
    after_death = ours["donor_circulatory_death"] == "yes"
    hours = 2.2 + 0.0022 * distance + 1.6 * after_death + 0.7 * special.ndtri(luck[0])
    volume = 2000 * list_centres().share[centre] * np.interp(year, [1987, 1995, 2010, 2024], [0.7, 1.0, 1.0, 1.9])
    woman, womans = theirs["sex"] == "female", ours["donor_sex"] == "female"
    mass = predict_heart_mass(woman, theirs["height_cm"], theirs["weight_kg"], theirs["age"])
    donor_mass = predict_heart_mass(womans, ours["donor_height_cm"], ours["donor_weight_kg"], ours["donor_age"])
    return {
        "ischemic_hours": np.clip(hours, 0.5, 9).round(1),
        "distance_nm": distance,
        "hla_mismatches": np.searchsorted(HLA_MISMATCH_CDF, luck[1]).astype(float),
        "heart_mass_ratio": (donor_mass / mass).round(3),
        "weight_ratio": (ours["donor_weight_kg"] / theirs["weight_kg"]).round(3),
        "age_difference": ours["donor_age"] - theirs["age"],
        "centre_volume": np.maximum(np.round(volume), 1),
        "transplant_year": np.floor(np.broadcast_to(year, len(distance))),
        "sex_match": make_category(2 * womans + woman, SEX_MATCHES),
    }


def hash_pairs(candidate: np.ndarray, donor: np.ndarray, n: int) -> FloatArray:
    """Make uniform numbers for each pair, (n, pairs), from the two keys alone (splitmix64's mixing of bits)."""
    with np.errstate(over="ignore"):
        first = _mix(candidate.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15) * donor.astype(np.uint64)
        steps = np.arange(1, n + 1, dtype=np.uint64)[:, None] * np.uint64(0xD1B54A32D192ED03)
        bits = _mix(_mix(first) + steps)
    uniform: FloatArray = ((bits >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    return uniform


def _mix(bits: np.ndarray) -> np.ndarray:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = bits ^ (bits >> np.uint64(31))
    return mixed


def _blood_match(candidate_group: Column, donor_group: Column, incompatible: str) -> pd.Categorical:
    theirs, ours = _group_codes(candidate_group), _group_codes(donor_group)
    bad = COMPATIBILITY_CODES[ours, theirs] == KINDS.index("incompatible")
    if incompatible == "raise" and bad.any():
        rows = np.flatnonzero(bad)
        shown = ", ".join(f"{row} ({BLOOD_GROUPS[ours[row]]} to {BLOOD_GROUPS[theirs[row]]})" for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        raise DataError(
            f"blood groups are incompatible in row{'s' if len(rows) > 1 else ''} {shown}{more}",
            hint=Message(
                "Pair compatible ones (Population.compatible classifies them), or pass ",
                Setting("incompatible", "keep"),
                ".",
            ),
            rows=rows.tolist(),
        )
    names = ("identical", "compatible", "incompatible") if incompatible == "keep" else ("identical", "compatible")
    return make_category(np.where(bad, 2, ours != theirs), names)


def _group_codes(groups: Texts) -> IntArray:
    codes = _codes(groups.array if isinstance(groups, pd.Series) else groups, BLOOD_GROUPS)
    if (codes < 0).any():
        found = np.atleast_1d(np.asarray(groups, dtype=object))[np.atleast_1d(codes) < 0][0]
        raise DataError(f"there is no blood group {found!r}; there are {', '.join(BLOOD_GROUPS)}")
    return codes


def _codes(values: Texts, names: Sequence[str]) -> IntArray:
    """Position of each value among the names; -1 for none of them. The shape stays."""
    if isinstance(values, pd.Categorical) and list(values.categories) == list(names):
        codes: IntArray = values.codes
        return codes
    values = np.asarray(values, dtype=object)
    return np.asarray(pd.Index(names).get_indexer(values.ravel()).reshape(values.shape))


def predict_heart_mass(woman: BoolArray, height: FloatArray, weight: FloatArray, age: FloatArray) -> FloatArray:
    """Predict the heart mass in grams, left and right ventricle, from sex, height, weight and age."""
    metres = height / 100
    left = np.where(woman, 6.82, 8.25) * metres**0.54 * weight**0.61
    right = np.where(woman, 10.59, 11.25) * age**-0.32 * metres**1.135 * weight**0.315
    mass: FloatArray = left + right
    return mass
