"""How long the patients of a simulated registry live, world by world, and when they are lost to follow-up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..._typing import FloatArray
from ...errors import RequestError
from ...text import did_you_mean
from ._effects import Effects, compute_effects
from ._lifetimes import Lifetimes

BEND_LIMIT = 2.0  # effects beyond this many spreads bend the hazard no further: ρ stays within 0.9 and 3.6


@dataclass(frozen=True)
class RegistryWorld:
    """How features and outcome hang together.

    `linear`, `nonlinear`: spread (on the log hazard) of the linear effects and of thresholds and interactions.
    `early`: spread of the early phase's own linear effects; None makes the early phase proportional to the late one.
    `bend`: spread of log ρ, by which hazards cross. `informative`: share of patients who, if nothing comes before, are
    lost in the last quarter of their life after the transplant.
    """

    linear: float
    nonlinear: float
    early: float | None = None
    bend: float = 0.0
    informative: float = 0.0


WORLDS: dict[str, RegistryWorld] = {
    "registry": RegistryWorld(linear=0.21, nonlinear=0.21, early=0.43),
    "proportional": RegistryWorld(linear=0.57, nonlinear=0.0),
    "interactions": RegistryWorld(linear=0.20, nonlinear=0.53),
    "crossing": RegistryWorld(linear=0.20, nonlinear=0.20, bend=0.35),
    "informative_censoring": RegistryWorld(linear=0.21, nonlinear=0.21, early=0.43, informative=0.35),
}


@dataclass(frozen=True)
class Levels:
    """Where the hazards lie, the same in all worlds: benchmarks/calibrate_registry.py finds them."""

    tilt: float = 0.03  # of the transplants' years, per decade
    early: float = -1.7796
    early_per_decade: float = -0.7  # between these years; before and after the risk of the operation stood still
    early_years: tuple[float, float] = (2000.0, 2012.0)
    late: float = -0.8615
    late_per_decade: float = -0.1741
    shape: float = 1.685
    dropout: float = -2.0337  # log of the chance in ten years
    dropout_per_decade: float = 0.0


LEVELS = Levels()


def find_world(name: str) -> RegistryWorld:
    """Find the world of this name."""
    if not isinstance(name, str) or name not in WORLDS:
        close = did_you_mean(name, WORLDS) if isinstance(name, str) else ""
        raise RequestError(f"there is no world {name!r}{close}; there are {', '.join(WORLDS)}")
    return WORLDS[name]


def compute_lifetimes(table: pd.DataFrame, world: str, levels: Levels = LEVELS) -> Lifetimes:
    """Compute the law of life of each row of a table of features."""
    return combine_effects(compute_effects(table), count_decades(table), find_world(world), levels)


def combine_effects(x: Effects, decade: FloatArray, rule: RegistryWorld, levels: Levels = LEVELS) -> Lifetimes:
    """Combine the effects of each patient with the time of transplant into a law of life."""
    log_late = levels.late + levels.late_per_decade * decade + rule.linear * x.late + rule.nonlinear * x.nonlinear
    if rule.early is None:  # one factor for both phases: proportional hazards
        log_early = log_late - levels.late + levels.early
    else:
        first, last = ((year - 2005) / 10 for year in levels.early_years)
        log_early = levels.early + levels.early_per_decade * np.clip(decade, first, last) + rule.early * x.early
    bend = np.exp(rule.bend * np.clip(x.early, -BEND_LIMIT, BEND_LIMIT))
    return Lifetimes(np.exp(log_early), np.exp(log_late), levels.shape * bend)


def compute_dropout_rates(table: pd.DataFrame, levels: Levels = LEVELS) -> FloatArray:
    """Compute the yearly rate of loss to follow-up: higher for the young, at small centres and for those who work."""
    age = (table["age"].to_numpy(float) - 55) / 11
    volume = (table["centre_volume"].to_numpy(float) - 26) / 31
    works = (table["works_for_income"] == "yes").to_numpy()
    log_rate = (
        levels.dropout + levels.dropout_per_decade * count_decades(table) - 0.25 * age - 0.15 * volume + 0.2 * works
    )
    rates: FloatArray = np.exp(log_rate) / 10
    return rates


def count_decades(table: pd.DataFrame) -> FloatArray:
    """Count the decades from 2005 to the middle of the transplant year, as the table holds whole years."""
    years: FloatArray = table["transplant_year"].to_numpy(float)
    return (years + 0.5 - 2005) / 10
