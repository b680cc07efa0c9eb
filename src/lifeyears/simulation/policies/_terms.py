"""Terms of a score: what a composite policy weighs, in the same order of additions in Python and in the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ..._typing import AnyArray, FloatArray
from ...checks import check_number
from ...errors import RequestError
from ...text import did_you_mean
from ..worlds.heart import STATUSES

Weight: TypeAlias = float | Sequence[float]
Checked: TypeAlias = dict[str, float | tuple[float, ...]]

# term: what it is, with its unit
TERMS = {
    "life": "expected years with this heart, by the policy's model",
    "without": "expected years without a transplant, from the current status",
    "hazard": "deaths per year on the list, at the current status",
    "status": "six numbers: a bonus for each of the statuses 1 to 6",
    "waiting": "years since listing",
    "waiting_at_status": "years spent in the current status",
    "primary_blood_group": "1 if the blood group is a primary match, else 0",
    "distance": "nautical miles between the donor and the candidate's centre",
    "sensitised": "share of donors that the candidate has antibodies against, 0 to 1",
    "size": "how far the ratio of predicted heart masses is from 1",
    "age": "the candidate's age in years",
    "random": "a random number from 0 to 1 for each candidate and heart",
}
LARGEST_WEIGHT = 1e9
# Terms that the kernel computes, by the engine's names
KERNEL_TERMS = {
    "life": "pair",
    "waiting": "waiting",
    "waiting_at_status": "in_state",
    "primary_blood_group": "first_fit",
    "distance": "distance",
    "size": "size",
    "random": "random",
}


def check_weights(weights: Mapping[str, object]) -> Checked:
    """Check the weights of a composite policy; six numbers for `status`, one for every other term."""
    if not isinstance(weights, Mapping) or not weights:
        raise RequestError(f'weights must name terms, such as {{"life": 1, "without": -1}}; got {weights!r}')
    checked: Checked = {}
    for name, value in weights.items():
        if name not in TERMS:
            raise RequestError(
                f"there is no term {name!r}{did_you_mean(str(name), list(TERMS))}; there are {', '.join(TERMS)}"
            )
        if name != "status":
            checked[name] = check_number(f"the weight of {name}", value, -LARGEST_WEIGHT, LARGEST_WEIGHT)
            continue
        if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)) or len(value) != len(STATUSES):
            raise RequestError(f"the weight of status must be six numbers, for statuses 1 to 6; got {value!r}")
        checked[name] = tuple(
            check_number("a weight of status", each, -LARGEST_WEIGHT, LARGEST_WEIGHT) for each in value
        )
    return checked


def weight_of(weights: Mapping[str, Weight], name: str) -> float:
    """Return the weight of a term; 0 if it has none."""
    value = weights.get(name, 0.0)
    assert not isinstance(value, Sequence)
    return float(value)


def bonus_of(weights: Mapping[str, Weight]) -> FloatArray:
    """Return the bonuses of the statuses."""
    return np.asarray(weights.get("status", np.zeros(len(STATUSES))), dtype=float)


def sum_state_terms(
    weights: Mapping[str, Weight], without: AnyArray | float, hazard: AnyArray | float, bonus: AnyArray
) -> FloatArray:
    """Add up the terms that depend on the candidate's current status."""
    return np.asarray(weight_of(weights, "without") * without + weight_of(weights, "hazard") * hazard + bonus)


def sum_candidate_terms(
    weights: Mapping[str, Weight], age: AnyArray | float, sensitised: AnyArray | float
) -> FloatArray:
    """Add up the terms that do not change on the list."""
    return np.asarray(weight_of(weights, "age") * age + weight_of(weights, "sensitised") * sensitised)
