"""Find the constants of the simulated registry: `python benchmarks/calibrate_registry.py`, half a minute.

What is fitted (`Levels`): the levels of both hazards, the late one's drift and shape and the rate of loss to follow-up,
to the quantiles of follow-up and the censored share of the paper's cohort (Tables A4 and A5) and to published survival
by era. `EFFECT_SCALES` is the mean and spread of the sums of effects. What is not fitted here: the effects themselves,
and round numbers set by hand so that Cox's C-indices are near the paper's (`--check` prints them): the spreads in
`WORLDS`, the fall of the early hazard, and the tilt of the years. No other method's result is looked at.

The table, the lives and the losses are drawn once, from a fixed seed, and only moved by the constants, so that least
squares can follow them. The same command prints the same constants.
"""

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from lifeyears import Outcome
from lifeyears.data import simulate_registry
from lifeyears.data.registry._effects import EFFECT_SCALES, Effects, sum_effects
from lifeyears.data.registry._features import LAST_YEAR
from lifeyears.data.registry._match import match_pairs
from lifeyears.data.registry._outcome import (
    LEVELS,
    WORLDS,
    Levels,
    combine_effects,
    compute_dropout_rates,
    count_decades,
)
from lifeyears.data.registry._population import DAYS, draw_days, draw_donors, draw_recipients
from lifeyears.data.registry._simulate import observe
from lifeyears.experiments import registry_check
from lifeyears.experiments.bench import describe_follow_up, estimate_survival_by_era

START = Levels(early=-1.8, late=-0.9, late_per_decade=-0.1, shape=1.8, dropout=-2.1)
FITTED = ("early", "late", "late_per_decade", "shape", "dropout")
COLUMNS = ["figure", "simulated", "reference", "difference"]
# What a deviation weighs: each of these sizes counts one in the sum of squares.
PERCENT_OF_A_QUANTILE, POINTS_CENSORED, POINTS_ALIVE = 2.0, 0.05, 1.0


@dataclass
class Cohort:
    """Patients whose features are fixed, and whose lives and losses move with the levels."""

    cut: np.ndarray
    table: pd.DataFrame
    effects: Effects
    luck: np.ndarray

    def outcome(self, levels: Levels) -> Outcome:
        law = combine_effects(self.effects, count_decades(self.table), WORLDS["registry"], levels)
        lost = 1 + np.floor(self.luck[2] / compute_dropout_rates(self.table, levels) * DAYS)
        return observe(law.draw(_Again(self.luck[:2])), lost, self.cut)


class _Again:
    """The same exponential numbers whenever asked."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers

    def standard_exponential(self, size: object) -> np.ndarray:
        return self.numbers


def draw_cohort(rows: int, seed: int) -> tuple[Cohort, dict[str, tuple[float, float]]]:
    rng = np.random.default_rng(seed)
    cut = draw_days(rows, START.tilt, rng)
    year = LAST_YEAR - cut / DAYS
    recipients = draw_recipients(year, rng)
    table = match_pairs(recipients, draw_donors(year, rng, recipients), year)
    sums = sum_effects(table)
    centre = {part: (round(float(total.mean()), 4), round(float(total.std()), 4)) for part, total in sums.items()}
    scaled = Effects(**{name: (sums[name] - mean) / spread for name, (mean, spread) in centre.items()})
    # the quantiles of an exponential, each once and shuffled: less noise than drawing them
    luck = -np.log1p(-np.array([rng.permutation(rows) + 0.5 for _ in range(3)]) / rows)
    return Cohort(cut, table, scaled, luck), centre


def residuals(cohort: Cohort, levels: Levels) -> np.ndarray:
    """How far off, each in units of what it weighs; the maxima are left out: one patient makes each."""
    y = cohort.outcome(levels)
    times = describe_follow_up(y)
    off = times["difference"].to_numpy()
    share, quantiles = off[0], off[1:][~times["years"].str.startswith("maximum").to_numpy()[1:]]
    alive = estimate_survival_by_era(y, cohort.table["transplant_year"].to_numpy())["difference"].to_numpy()
    return np.concatenate([[share / POINTS_CENSORED], quantiles / PERCENT_OF_A_QUANTILE, alive / POINTS_ALIVE])


def fit(cohort: Cohort, start: Levels) -> Levels:
    """Least squares, by differences wide enough (0.03) to look over the steps of sample quantiles."""

    def levels_of(point: np.ndarray) -> Levels:
        return replace(start, **dict(zip(FITTED, np.round(point, 4).tolist(), strict=True)))

    point = np.array([getattr(start, name) for name in FITTED])
    for _ in range(2):  # steps are relative to the variable: it is 1 plus how far to go from here
        here = point
        found = least_squares(
            lambda way, here=here: residuals(cohort, levels_of(here + way - 1)),
            np.ones(len(FITTED)),
            diff_step=0.03,
            xtol=1e-4,
            ftol=1e-5,
        )
        point = here + found.x - 1
        print(f"sum of squares {2 * found.cost:.2f} after {found.nfev} steps")
    return levels_of(point)


def over_seeds(levels: Levels, seeds: int) -> None:
    """Residuals of whole registries: mean over the seeds, and the worst."""
    tables = []
    for seed in range(seeds):
        data = simulate_registry(random_state=seed, levels=levels)
        both = describe_follow_up(data.y), estimate_survival_by_era(data.y, data.X["transplant_year"].to_numpy())
        tables.append(pd.concat([table.set_axis(COLUMNS, axis=1) for table in both]).set_index("figure"))
    off = pd.concat([table["difference"] for table in tables], axis=1)
    shown = tables[0][["reference"]].assign(
        simulated=pd.concat([table["simulated"] for table in tables], axis=1).mean(axis=1),
        mean=off.mean(axis=1),
        low=off.min(axis=1),
        high=off.max(axis=1),
    )
    print(f"\nseeds 0 to {seeds - 1}: difference in percent, of shares in points")
    print(shown.round(2).to_string())


def signal(seeds: int) -> None:
    """The KM and Cox rows that the paper has too, with the constants of the package."""
    rows = {}
    for seed in range(seeds):
        check = registry_check(models=["KM", "Cox"], seed=seed)
        events, full = check.events_only.set_index("model"), check.full.set_index("model")
        rows[seed] = {
            "Cox, events only: C-index (.623)": events.loc["Cox", "C-index"],
            "Cox, full: C-index (.601)": full.loc["Cox", "C-index"],
            "KM, events only: NDCG@1 (.230)": events.loc["KM", "NDCG@1"],
            "KM, events only: NDCG (.850)": events.loc["KM", "NDCG"],
        }
    print()
    print(pd.DataFrame(rows).T.agg(["mean", "min", "max"]).T.round(4).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=720_000)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=12, help="whole registries to try the constants on")
    parser.add_argument("--check", action="store_true", help="and the KM and Cox rows, four minutes more")
    options = parser.parse_args()

    cohort, centre = draw_cohort(options.rows, options.seed)
    levels = fit(cohort, START)
    print(f"\nEFFECT_SCALES = {centre}\n{levels}")
    print(
        "as in the package"
        if centre == EFFECT_SCALES and levels == LEVELS
        else "not what the package has: copy them there"
    )
    print("\nresiduals on the fitted cohort:", np.round(residuals(cohort, levels), 2).tolist())
    EFFECT_SCALES.update(centre)
    over_seeds(levels, options.seeds)
    if options.check:
        signal(options.seeds)
