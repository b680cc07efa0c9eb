"""How a candidate fares without a transplant: changes of status, death or leaving, in continuous time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import linalg

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


def frailty(candidates: pd.DataFrame, spread: float) -> np.ndarray:
    """What multiplies each candidate's death rate on the list: about 1 on average, more with bad kidneys, liver, age.

    `spread` is that of independent findings; as they hang together, 0.5 comes out as 0.59 (and the mean as 1.08).
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
    """What would become of each candidate without a transplant: one row a change, in the candidates' order.

    Attributes
    ----------
    candidate, time, state : arrays
        Whose change, when, and to which status (0 to 5), or `INACTIVE`, `DIED` or `LEFT`.
    first : array, shape (candidates,)
        Status when listed.
    """

    candidate: np.ndarray
    time: np.ndarray
    state: np.ndarray
    first: np.ndarray


def draw_paths(
    first: np.ndarray, listed: np.ndarray, frail: np.ndarray, end: float, world: World, rng: np.random.Generator
) -> Paths:
    """Draw every candidate's path from listing until death, leaving or the end; none knows of any policy."""
    changes, deaths = np.array(world.status_changes), np.array(world.death_rates)
    rates = np.column_stack([changes, np.zeros(N_STATES), np.array(world.leaving_rates)])
    who, state, now = np.arange(len(first)), first.copy(), listed.astype(float)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    while len(who):
        rate = rates[state]
        rate[:, DIED] = deaths[state] * frail[who]
        upto = np.cumsum(rate, axis=1)
        with np.errstate(divide="ignore"):
            now = now + rng.standard_exponential(len(who)) / upto[:, -1]
        drawn = rng.random(len(who)) * upto[:, -1]
        kept = now < end
        state = (drawn[:, None] >= upto).sum(axis=1)[kept]
        who, now = who[kept], now[kept]
        found.append((who, now, state))
        on = state < DIED
        who, now, state = who[on], now[on], state[on]
    candidate, time, state = (
        (np.concatenate(part) for part in zip(*found, strict=True)) if found else (np.zeros(0),) * 3
    )
    order = np.lexsort((time, candidate))
    return Paths(candidate[order].astype(np.int64), time[order], state[order].astype(np.int64), first)


def life_without(frail: np.ndarray, world: World) -> np.ndarray:
    """E[min(T, τ)] without a transplant, by frailty and current status (the last: inactive): (n, 7).

    Who leaves the list lives on by the same rates. With Q the changes of status less f times the death rates,
    life from status s is the s-th entry of ∫₀^τ e^{Qt} 1 dt; it is smooth in log f, and interpolated in it.
    """
    if not len(frail):
        return np.zeros((0, N_STATES))
    log = np.log(frail)
    grid = np.linspace(log.min(), log.max() + 1e-9, 1 if np.ptp(log) == 0 else 60)
    table = np.array([_life_of(np.exp(each), world) for each in grid])
    return np.column_stack([np.interp(log, grid, table[:, status]) for status in range(N_STATES)])


def _life_of(factor: float, world: World) -> np.ndarray:
    changes = np.array(world.status_changes)
    generator = changes - np.diag(changes.sum(axis=1) + factor * np.array(world.death_rates))
    # the integral is the upper right block of the exponential of the generator bordered by ones
    bordered = np.zeros((N_STATES + 1, N_STATES + 1))
    bordered[:-1, :-1], bordered[:-1, -1] = generator, 1.0
    return linalg.expm(bordered * world.tau)[:-1, -1]
