"""The result of a simulation: measures, paired differences, subgroups."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from .._typing import AnyArray, FloatArray, Json
from ..checks import check_choice
from ..text import count_noun
from ._config import Config
from .worlds.heart import GROUP_MEASURES, MAIN_MEASURES, MEASURES, STATUSES, Measurements

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL = "Direction from a simulated population, not a forecast: no patient, donor or rate in it is real."


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Policies compared in one simulated world.

    Attributes
    ----------
    table : DataFrame
        One row per policy and measure: `value` (mean over the replicates), and `low` and `high`, a 95% Monte Carlo
        interval (NaN if there is one replicate).
    differences : DataFrame
        The same for each policy less the reference, paired by replicate.
    by_group : DataFrame
        One row per policy, grouping, level and measure.
    group_differences : DataFrame
        The same for each policy less the reference, paired by replicate.
    replicates : DataFrame
        One row per policy and replicate, one column per measure.
    transplants_by_status : DataFrame
        Transplants per 100 patient-years in each current status, one row per policy.
    config : Config
    """

    table: pd.DataFrame
    differences: pd.DataFrame
    by_group: pd.DataFrame
    group_differences: pd.DataFrame
    replicates: pd.DataFrame
    transplants_by_status: pd.DataFrame
    config: Config = field(repr=False)

    def wide(self) -> pd.DataFrame:
        """The six main measures, one row per policy."""
        return (
            self.table["value"]
            .unstack("measure")
            .loc[[policy.name for policy in self.config.policies], list(MAIN_MEASURES)]
        )

    @property
    def intervals(self) -> str:
        """What `low` and `high` are, in words."""
        return "95% Monte Carlo intervals" if self.config.replicates > 1 else "no intervals of one replicate"

    def summary(self) -> Json:
        """Plain values, as summary.json holds them; None where there is no interval."""
        return {
            "label": LABEL,
            "settings": self.config.to_dict(),
            "policies": _nested(self.table),
            "reference": self.config.reference,
            "differences": _nested(self.differences),
            "reading": self.reading(),
        }

    def reading(self) -> str:
        """The result in words."""
        wide, oracles = self.wide(), [policy.name for policy in self.config.policies if policy.is_oracle]
        rest = wide.drop(index=oracles)
        if rest.empty:
            rest = wide
        if rest.isna().all(axis=0)[list(MAIN_MEASURES[:3])].any():
            return f"Nobody waited, or no heart was transplanted: there is nothing to compare. {LABEL}"
        if self.config.replicates == 1:
            return (
                "One replicate cannot tell policies from chance: more of them (20 unless asked otherwise) give "
                f"intervals, and an answer. {LABEL}"
            )
        life, gained = (str(rest[name].idxmax()) for name in ("life_years_per_transplant", "life_years_gained"))
        deaths = "waitlist_deaths_per_100_patient_years"
        fewest = str(rest[deaths].idxmin())
        text = (
            f"Of the policies that do not know the truth, {life} gives the most years a transplant "
            f"({rest.loc[life, 'life_years_per_transplant']:.2f}), {gained} gains the most years in all "
            f"({rest.loc[gained, 'life_years_gained']:,.0f} a year) and {fewest} has the fewest deaths on the list "
            f"({rest.loc[fewest, deaths]:.1f} per 100 patient-years)."
        )
        tiers = [policy.name for policy in self.config.policies if getattr(policy, "order", "") == "status"]
        if tiers and fewest not in tiers:
            text += (
                f" {tiers[0]} does not have the fewest ({rest.loc[tiers[0], deaths]:.1f}): it goes by status, zone and "
                f"time on the list alone, and in this world the order of {fewest} leaves fewer to die."
            )
        return f"{text} {LABEL}"

    def __str__(self) -> str:
        config = self.config
        head = (
            f"{count_noun(len(config.policies), 'policy', 'policies')}, {count_noun(config.years, 'year')}, "
            f"{count_noun(config.replicates, 'replicate')}; measures in .table, differences against "
            f"{config.reference} in .differences, {self.intervals}"
        )
        return f"{head}\n{self.wide().round(2)}\n\n{self.reading()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        style = {"float_format": "{:,.2f}".format}
        shown = self.differences[self.differences.index.get_level_values("measure").isin(MAIN_MEASURES)]
        return (
            f"<p>{html.escape(self.reading())}</p>{self.wide().to_html(**style)}"
            f"<p>Paired differences against {html.escape(str(self.config.reference))}, {self.intervals}</p>"
            f"{shown.to_html(**style)}"
        )

    def plot(self, measures: Sequence[str] = MAIN_MEASURES[:3], axes: Axes | AnyArray | None = None) -> Axes | AnyArray:
        """Draw some measures of every policy, with Monte Carlo intervals; return the axes."""
        import matplotlib.pyplot as plt

        for name in measures:
            check_choice("measures", name, MEASURES)
        names = [policy.name for policy in self.config.policies]
        if axes is None:
            size = (3.2 * len(measures) + 1, 0.9 + 0.32 * len(names))
            axes = plt.subplots(1, len(measures), figsize=size, sharey=True, layout="constrained", squeeze=False)[1][0]
        rows = np.arange(len(names))[::-1]
        for ax, measure in zip(np.atleast_1d(np.asarray(axes)), measures, strict=True):
            part = self.table.xs(measure, level="measure").loc[names]
            bars = np.vstack([part["value"] - part["low"], part["high"] - part["value"]])
            ax.errorbar(
                part["value"], rows, xerr=np.nan_to_num(bars), fmt="o", color="#0072B2", capsize=3, markersize=4
            )
            ax.set_yticks(rows, names)
            ax.set(xlabel=measure.replace("_", " "))
            ax.spines[["top", "right"]].set_visible(False)
        return axes


def collect_replicates(config: Config, replicates: list[dict[str, Measurements]]) -> Simulation:
    """Collect the replicates, one dictionary by policy each, into tables."""
    names = [policy.name for policy in config.policies]
    values = np.array([[_in_order(one[name].measures, MEASURES) for name in names] for one in replicates])
    index = pd.MultiIndex.from_product([names, list(MEASURES)], names=["policy", "measure"])
    others = [name for name in names if name != config.reference]
    reference = [names.index(str(config.reference))]
    kept = [names.index(name) for name in others]
    levels = list(replicates[0][names[0]].groups)
    groups = np.array(
        [
            [[_in_order(one[name].groups[level], GROUP_MEASURES) for level in levels] for name in names]
            for one in replicates
        ]
    )
    by_status = np.array([[one[name].transplants_by_status for name in names] for one in replicates])
    each = pd.MultiIndex.from_product([range(len(replicates)), names], names=["replicate", "policy"])
    return Simulation(
        table=_tabulate_intervals(values.reshape(len(replicates), -1), index),
        differences=_tabulate_intervals(
            (values - values[:, reference])[:, kept].reshape(len(replicates), -1),
            pd.MultiIndex.from_product([others, list(MEASURES)], names=["policy", "measure"]),
        ),
        by_group=_tabulate_intervals(groups.reshape(len(replicates), -1), _group_index(names, levels)),
        group_differences=_tabulate_intervals(
            (groups - groups[:, reference])[:, kept].reshape(len(replicates), -1), _group_index(others, levels)
        ),
        replicates=pd.DataFrame(values.reshape(-1, len(MEASURES)), index=each, columns=list(MEASURES)),
        transplants_by_status=pd.DataFrame(_mean_of_known(by_status), index=names, columns=list(STATUSES)),
        config=config,
    )


def _in_order(measured: dict[str, float], names: tuple[str, ...]) -> list[float]:
    return [measured[name] for name in names]


def _group_index(names: list[str], levels: list[tuple[str, str]]) -> pd.MultiIndex:
    return pd.MultiIndex.from_tuples(
        [(name, *level, measure) for name in names for level in levels for measure in GROUP_MEASURES],
        names=["policy", "grouping", "level", "measure"],
    )


def _tabulate_intervals(values: FloatArray, index: pd.MultiIndex) -> pd.DataFrame:
    """Return the mean over the replicates (rows) that have a value, with Student's interval."""
    known, mean = ~np.isnan(values), _mean_of_known(values)
    n = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt((np.where(known, values - mean, 0.0) ** 2).sum(axis=0) / (n - 1))
        half = stats.t.ppf(0.975, np.maximum(n - 1, 1)) * spread / np.sqrt(n)
    half = np.where(n > 1, half, np.nan)
    return pd.DataFrame({"value": mean, "low": mean - half, "high": mean + half}, index=index)


def _mean_of_known(values: FloatArray) -> FloatArray:
    """Return the mean over the replicates that have a value; NaN where none has."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))


def _nested(table: pd.DataFrame) -> dict[str, dict[str, dict[str, float | None]]]:
    nested: dict[str, dict[str, dict[str, float | None]]] = {}
    for (policy, measure), row in table.iterrows():
        nested.setdefault(policy, {})[measure] = {
            name: None if math.isnan(row[name]) else float(row[name]) for name in ("value", "low", "high")
        }
    return nested
