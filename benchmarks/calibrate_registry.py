"""Find the constants of the simulated registry: `python benchmarks/calibrate_registry.py`, about two minutes.

What is fitted: the levels of the hazards, their drift, the shape of the late phase and the rate of loss to follow-up
(`Levels`), to the quantiles of follow-up and the censored share of the paper's cohort (Tables A4 and A5) and to
published survival by era. `CENTRE` is the mean and spread of the sums of effects. What is not fitted here: the
spreads in `WORLDS`, round numbers chosen so that Cox's C-index is near the paper's (`--check` prints it), and the
effects themselves. No other method's result is looked at.

The table, the lives and the losses are drawn once, from a fixed seed, and only moved by the constants: the loss is
then a smooth enough function for Nelder and Mead. The same command prints the same constants.
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
from lifeyears.data._registry_effects import CENTRE, Effects, sums_of_effects
from lifeyears.data._registry_features import LAST_YEAR
from lifeyears.data._registry_lifetimes import Lifetimes
from lifeyears.data._registry_match import match
from lifeyears.data._registry_outcome import LEVELS, WORLDS, Levels, decades, dropout_rates, early_drift
from lifeyears.data._registry_population import DAYS, draw_days, draw_donors, draw_recipients
from lifeyears.experiments import registry_check
from lifeyears.experiments._registry_check import follow_up, survival_by_era

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
        rule, decade = WORLDS["registry"], decades(self.table)
        late = levels.late + levels.late_per_decade * decade
        late = late + rule.linear * self.effects.late + rule.nonlinear * self.effects.nonlinear
        early = levels.early + early_drift(decade, levels) + rule.early * self.effects.early
        law = Lifetimes(np.exp(early), np.exp(late), np.full(len(decade), levels.shape))
        life = law.draw(_Again(self.luck[:2]))
        lost = 1 + np.floor(self.luck[2] / dropout_rates(self.table, levels) * DAYS)
        death, end = np.maximum(np.ceil(life * DAYS), 1), np.minimum(self.cut, lost)
        return Outcome(np.minimum(death, end) / DAYS, death <= end)


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
    table = match(recipients, draw_donors(year, rng, recipients), year)
    sums = sums_of_effects(table)
    centre = {name: (round(float(sum_.mean()), 4), round(float(sum_.std()), 4)) for name, sum_ in sums.items()}
    scaled = Effects(**{name: (sums[name] - mean) / spread for name, (mean, spread) in centre.items()})
    # the quantiles of an exponential, each once and shuffled: less noise than drawing them
    luck = -np.log1p(-np.array([rng.permutation(rows) + 0.5 for _ in range(3)]) / rows)
    return Cohort(cut, table, scaled, luck), centre


def residuals(cohort: Cohort, levels: Levels) -> np.ndarray:
    """How far off, each in units of what it weighs; the maxima are left out: one patient makes each."""
    y = cohort.outcome(levels)
    times = follow_up(y)
    off = times["difference"].to_numpy()
    share, quantiles = off[0], off[1:][~times["years"].str.startswith("maximum").to_numpy()[1:]]
    alive = survival_by_era(y, cohort.table["transplant_year"].to_numpy())["difference"].to_numpy()
    return np.concatenate([[share / POINTS_CENSORED], quantiles / PERCENT_OF_A_QUANTILE, alive / POINTS_ALIVE])


def fit(cohort: Cohort, start: Levels) -> Levels:
    """Least squares, by differences wide enough (0.03) to look over the steps of sample quantiles."""

    def levels_of(point: np.ndarray) -> Levels:
        return replace(start, **dict(zip(FITTED, np.round(point, 4).tolist(), strict=True)))

    def off(logs: np.ndarray) -> np.ndarray:
        return residuals(cohort, levels_of(begin + logs))

    begin = np.array([getattr(start, name) for name in FITTED])
    for _ in range(2):
        found = least_squares(lambda way: off(way - 1), np.ones(len(FITTED)), diff_step=0.03, xtol=1e-4, ftol=1e-5)
        begin = begin + found.x - 1
        print(f"sum of squares {2 * found.cost:.2f} after {found.nfev} steps")
    return levels_of(begin)


def over_seeds(levels: Levels, seeds: int) -> None:
    """Residuals of whole registries: mean over the seeds, and the worst."""
    tables = []
    for seed in range(seeds):
        data = simulate_registry(random_state=seed, levels=levels)
        both = follow_up(data.y), survival_by_era(data.y, data.X["transplant_year"].to_numpy())
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=720_000)
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=12, help="whole registries to check the present constants on")
    parser.add_argument("--check", action="store_true", help="and the KM and Cox rows, a minute more")
    options = parser.parse_args()

    cohort, centre = draw_cohort(options.rows, options.seed)
    levels = fit(cohort, START)
    print(f"\nCENTRE = {centre}\n{levels}")
    print("as in the package" if centre == CENTRE and levels == LEVELS else "not what the package has: copy them there")
    print("\nresiduals on the fitted cohort:", np.round(residuals(cohort, levels), 2).tolist())
    CENTRE.update(centre)
    over_seeds(levels, options.seeds)
    if options.check:
        check = registry_check(models=["KM", "Cox"])
        print(check.events_only.to_string(), check.full.to_string(), sep="\n")
