"""How a candidate fares without a transplant: changes of status, death or leaving, in continuous time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import linalg

from ...._typing import FloatArray, IntArray
from ._world import INACTIVE, World

N_STATES = INACTIVE + 1  # the six statuses, and being inactive
DIED, LEFT = N_STATES, N_STATES + 1  # where a path ends
# feature: (typical value, spread, effect on the log death rate, logarithm first); the sum is scaled to `frailty`
FRAILTY = {
    "creatinine": (0.26, 0.36, 0.5, True),
    "bilirubin": (-0.25, 0.60, 0.4, True),
    "albumin": (3.7, 0.6, -0.4, False),
    "sodium": (136.5, 4.2, -0.3, False),
    "age": (54.0, 11.5, 0.4, False),
}


def compute_frailty(candidates: pd.DataFrame, spread: float) -> FloatArray:
    """Return the factor of each candidate's death rate on the list: about 1 on average, more with poor findings or age.

    `spread` is that of independent findings; as they are correlated, 0.5 results in 0.59 (and a mean of 1.08).
    """
    total = np.zeros(len(candidates))
    for name, (typical, width, effect, log) in FRAILTY.items():
        values = candidates[name].to_numpy(float)
        values = np.log(values) if log else values
        total += effect * np.nan_to_num((values - typical) / width)
    total *= spread / np.sqrt(sum(effect**2 for *_, effect, _ in FRAILTY.values()))
    return np.exp(total - spread**2 / 2)


@dataclass(frozen=True, eq=False)
class Paths:
    """The course of each candidate without a transplant: one row per change, in the candidates' order.

    Attributes
    ----------
    candidate, time, state : arrays
        Whose change, when, and to which status (0 to 5), or `INACTIVE`, `DIED` or `LEFT`.
    first : array, shape (candidates,)
        Status when listed.
    """

    candidate: IntArray
    time: FloatArray
    state: IntArray
    first: IntArray


def draw_paths(
    first: IntArray, listed: FloatArray, frailty: FloatArray, end: float, world: World, rng: np.random.Generator
) -> Paths:
    """Draw every candidate's path from listing until death, leaving or the end; it does not depend on any policy."""
    changes, deaths = np.array(world.status_changes), np.array(world.death_rates)
    rates = np.column_stack([changes, np.zeros(N_STATES), np.array(world.leaving_rates)])
    who, state, now = np.arange(len(first)), first.copy(), listed.astype(float)
    steps: list[tuple[IntArray, FloatArray, IntArray]] = []
    while len(who):
        rate = rates[state]
        rate[:, DIED] = deaths[state] * frailty[who]
        upto = np.cumsum(rate, axis=1)
        with np.errstate(divide="ignore"):
            now = now + rng.standard_exponential(len(who)) / upto[:, -1]
        drawn = rng.random(len(who)) * upto[:, -1]
        kept = now < end
        state = (drawn[:, None] >= upto).sum(axis=1)[kept]
        who, now = who[kept], now[kept]
        steps.append((who, now, state))
        on = state < DIED
        who, now, state = who[on], now[on], state[on]
    nobody = np.zeros(0, dtype=np.int64)
    parts = zip(*(steps or [(nobody, np.zeros(0), nobody)]), strict=True)
    candidate, time, state = (np.concatenate(part) for part in parts)
    order = np.lexsort((time, candidate))
    return Paths(candidate[order].astype(np.int64), time[order], state[order].astype(np.int64), first)


def expect_life_without(frailty: FloatArray, world: World) -> FloatArray:
    """Return E[min(T, τ)] without a transplant, by frailty and current status (the last: inactive): (n, 7).

    Those who leave the list live on by the same rates. With Q the changes of status less f times the death rates,
    life from status s is the s-th entry of ∫₀^τ e^{Qt} 1 dt; it is smooth in log f, and interpolated in it.
    """
    if not len(frailty):
        return np.zeros((0, N_STATES))
    log = np.log(frailty)
    grid = np.linspace(log.min(), log.max() + 1e-9, 1 if np.ptp(log) == 0 else 60)
    table = np.array([_expect_life(np.exp(each), world) for each in grid])
    return np.column_stack([np.interp(log, grid, table[:, status]) for status in range(N_STATES)])


def _expect_life(factor: float, world: World) -> FloatArray:
    changes = np.array(world.status_changes)
    generator = changes - np.diag(changes.sum(axis=1) + factor * np.array(world.death_rates))
    # the integral is the upper right block of the exponential of the generator bordered by ones
    bordered = np.zeros((N_STATES + 1, N_STATES + 1))
    bordered[:-1, :-1], bordered[:-1, -1] = generator, 1.0
    return np.asarray(linalg.expm(bordered * world.tau)[:-1, -1])
