"""A candidate and a donor together: blood groups, distance, and what chance adds to the pair.

What chance adds is a function of the candidate's key and the donor's key alone. A pair is therefore the same whether
it is looked at alone, in a match run or under another policy: common random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

from ._draw import category
from ._geography import centres, distance_from
from ._population import CANDIDATE_KEY, DONOR_KEY, DONOR_PLACE

GROUPS = ("O", "A", "B", "AB")
# Which hearts may go where (donor, candidate), and how the allocation rules call it.
KINDS = ("primary", "secondary", "incompatible")
KIND_OF = {
    ("O", "O"): "primary", ("O", "B"): "primary", ("A", "A"): "primary", ("A", "AB"): "primary",
    ("B", "B"): "primary", ("B", "AB"): "primary", ("AB", "AB"): "primary",
    ("O", "A"): "secondary", ("O", "AB"): "secondary",
}  # fmt: skip
KIND_CODES = np.array([[KINDS.index(KIND_OF.get((d, c), "incompatible")) for c in GROUPS] for d in GROUPS])
SEX_MATCHES = ("male to male", "male to female", "female to male", "female to female")
MISMATCHES = stats.binom.cdf(np.arange(6), 6, 0.77)  # of HLA, out of 6


def compatible(donor_group: Any, candidate_group: Any) -> Any:
    """Whether a heart may go from one blood group to another: "primary", "secondary" or "incompatible".

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
    >>> compatible("O", ["O", "A", "B"])
    array(['primary', 'secondary', 'primary'], dtype='<U12')
    >>> compatible("A", "O")
    'incompatible'
    """
    kinds = np.array(KINDS)[KIND_CODES[_group_codes(donor_group), _group_codes(candidate_group)]]
    return str(kinds) if np.ndim(kinds) == 0 else kinds


def match(
    candidates: pd.DataFrame,
    donors: pd.DataFrame,
    year: float | np.ndarray,
    candidate: np.ndarray | None = None,
    donor: np.ndarray | None = None,
    incompatible: str = "raise",
) -> pd.DataFrame:
    """Candidates with donors, and what only the two together have: a table of all features.

    `candidate` and `donor` are positions of rows, first with first; None takes all rows in their order.
    """
    theirs, ours = _columns(candidates, candidate), _columns(donors, donor)
    together = _together(theirs, ours, year)
    together["blood_match"] = _blood_match(theirs["blood_group"], ours["donor_blood_group"], incompatible)
    columns = {**theirs, **ours, **together}
    for name in (CANDIDATE_KEY, DONOR_KEY, *DONOR_PLACE):
        del columns[name]
    return pd.DataFrame(columns, copy=False)  # the columns are fresh already, or the registry's own


def _columns(table: pd.DataFrame, rows: np.ndarray | None) -> dict[str, Any]:
    """Some rows of each column: much faster, in a match run, than some rows of the table."""
    columns = {name: table[name].array for name in table.columns}
    if rows is not None:
        columns = {name: values.take(rows) for name, values in columns.items()}
    return {name: v if isinstance(v, pd.Categorical) else np.asarray(v) for name, v in columns.items()}


def _together(theirs: dict[str, Any], ours: dict[str, Any], year: float | np.ndarray) -> dict[str, Any]:
    """What a candidate and a donor have only as a pair, but for the blood groups."""
    centre = _codes(theirs["centre"], centres().names())
    if (centre < 0).any():
        raise ValueError(f"there is no centre {np.asarray(theirs['centre'])[centre < 0][0]!r}; they are C000 to C119")
    distance = distance_from(centre, *(ours[name] for name in DONOR_PLACE)).round()
    luck = pair_luck(theirs[CANDIDATE_KEY], ours[DONOR_KEY], 2)
    after_death = ours["donor_circulatory_death"] == "yes"
    hours = 2.2 + 0.0022 * distance + 1.6 * after_death + 0.7 * special.ndtri(luck[0])
    volume = 2000 * centres().share[centre] * np.interp(year, [1987, 1995, 2010, 2024], [0.7, 1.0, 1.0, 1.9])
    woman, womans = theirs["sex"] == "female", ours["donor_sex"] == "female"
    mass = _heart_mass(woman, theirs["height_cm"], theirs["weight_kg"], theirs["age"])
    donor_mass = _heart_mass(womans, ours["donor_height_cm"], ours["donor_weight_kg"], ours["donor_age"])
    return {
        "ischemic_hours": np.clip(hours, 0.5, 9).round(1),
        "distance_nm": distance,
        "hla_mismatches": np.searchsorted(MISMATCHES, luck[1]).astype(float),
        "heart_mass_ratio": (donor_mass / mass).round(3),
        "weight_ratio": (ours["donor_weight_kg"] / theirs["weight_kg"]).round(3),
        "age_difference": ours["donor_age"] - theirs["age"],
        "centre_volume": np.maximum(np.round(volume), 1),
        "transplant_year": np.floor(np.broadcast_to(year, len(distance))),
        "sex_match": category(2 * womans + woman, SEX_MATCHES),
    }


def pair_luck(candidate: np.ndarray, donor: np.ndarray, n: int) -> np.ndarray:
    """Uniform numbers of each pair, (n, pairs), from the two keys alone (splitmix64's mixing of bits)."""
    with np.errstate(over="ignore"):
        first = _mix(candidate.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15) * donor.astype(np.uint64)
        steps = np.arange(1, n + 1, dtype=np.uint64)[:, None] * np.uint64(0xD1B54A32D192ED03)
        bits = _mix(_mix(first) + steps)
    return ((bits >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53


def _mix(bits: np.ndarray) -> np.ndarray:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _blood_match(candidate_group: Any, donor_group: Any, incompatible: str) -> pd.Categorical:
    theirs, ours = _group_codes(candidate_group), _group_codes(donor_group)
    bad = KIND_CODES[ours, theirs] == KINDS.index("incompatible")
    if incompatible == "raise" and bad.any():
        rows = np.flatnonzero(bad)
        shown = ", ".join(f"{row} ({GROUPS[ours[row]]} to {GROUPS[theirs[row]]})" for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        raise ValueError(
            f"blood groups are incompatible in row{'s' if len(rows) > 1 else ''} {shown}{more}; pair compatible ones "
            '(Population.compatible tells), or pass incompatible="keep"'
        )
    names = ("identical", "compatible", "incompatible") if incompatible == "keep" else ("identical", "compatible")
    return category(np.where(bad, 2, ours != theirs), names)


def _group_codes(groups: Any) -> np.ndarray:
    codes = _codes(groups.array if isinstance(groups, pd.Series) else groups, GROUPS)
    if (codes < 0).any():
        found = np.atleast_1d(np.asarray(groups, dtype=object))[np.atleast_1d(codes) < 0][0]
        raise ValueError(f"there is no blood group {found!r}; there are {', '.join(GROUPS)}")
    return codes


def _codes(values: Any, names: Sequence[str]) -> np.ndarray:
    """Position of each value among the names; -1 for none of them. The shape stays."""
    if isinstance(values, pd.Categorical) and list(values.categories) == list(names):
        return values.codes
    values = np.asarray(values, dtype=object)
    return pd.Index(names).get_indexer(values.ravel()).reshape(values.shape)


def _heart_mass(woman: np.ndarray, height: np.ndarray, weight: np.ndarray, age: np.ndarray) -> np.ndarray:
    """Predicted heart mass in grams, left and right ventricle, from sex, height, weight and age."""
    metres = height / 100
    left = np.where(woman, 6.82, 8.25) * metres**0.54 * weight**0.61
    right = np.where(woman, 10.59, 11.25) * age**-0.32 * metres**1.135 * weight**0.315
    return left + right
