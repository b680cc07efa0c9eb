"""What a simulation found: measures, paired differences, subgroups."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ._config import Config
from ._measures import GROUP_MEASURES, MEASURES, Measured

LABEL = "Direction from a simulated population, not a forecast: no patient, donor or rate in it is real."
# The measures that the table on a terminal and the summary's readers want first.
MAIN = (
    "life_years_per_transplant",
    "life_years_gained",
    "waitlist_deaths_per_100_patient_years",
    "transplants_per_year",
    "hearts_lost_per_year",
    "waiting_days_median",
)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Policies compared in one simulated world.

    Attributes
    ----------
    table : DataFrame
        One row a policy and measure: `value` (mean over the replicates), and `low` and `high`, a 95% Monte Carlo
        interval (NaN if there is one replicate).
    differences : DataFrame
        The same for each policy less the reference, paired by replicate.
    by_group : DataFrame
        One row a policy, grouping, level and measure.
    group_differences : DataFrame
        The same for each policy less the reference, paired by replicate.
    replicates : DataFrame
        One row a policy and replicate, one column a measure.
    transplants_by_status : DataFrame
        Transplants per 100 patient-years in each current status, one row a policy.
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
        """The six main measures, one row a policy."""
        return self.table["value"].unstack("measure").loc[[policy.name for policy in self.config.policies], list(MAIN)]

    @property
    def intervals(self) -> str:
        """What `low` and `high` are, in words."""
        return "95% Monte Carlo intervals" if self.config.replicates > 1 else "no intervals of one replicate"

    def summary(self) -> dict[str, Any]:
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
        wide, truth = self.wide(), [policy.name for policy in self.config.policies if policy.knows]
        rest = wide.drop(index=truth)
        if rest.empty:
            rest = wide
        if rest.isna().all(axis=0)[list(MAIN[:3])].any():
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
        tiers = [policy.name for policy in self.config.policies if policy.order == "status"]
        if tiers and fewest not in tiers:
            text += (
                f" {tiers[0]} does not have the fewest ({rest.loc[tiers[0], deaths]:.1f}): it goes by status, zone and "
                f"time on the list alone, and in this world the order of {fewest} leaves fewer to die."
            )
        return f"{text} {LABEL}"

    def __str__(self) -> str:
        config = self.config
        head = (
            f"{counted(len(config.policies), 'policy', 'policies')}, {counted(config.years, 'year')}, "
            f"{counted(config.replicates, 'replicate')}; measures in .table, differences against "
            f"{config.reference} in .differences, {self.intervals}"
        )
        return f"{head}\n{self.wide().round(2)}\n\n{self.reading()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        style = {"float_format": "{:,.2f}".format}
        shown = self.differences[self.differences.index.get_level_values("measure").isin(MAIN)]
        return (
            f"<p>{html.escape(self.reading())}</p>{self.wide().to_html(**style)}"
            f"<p>Paired differences against {html.escape(str(self.config.reference))}, {self.intervals}</p>"
            f"{shown.to_html(**style)}"
        )

    def plot(
        self, measures: Any = ("life_years_per_transplant", "life_years_gained", MAIN[2]), axes: Any = None
    ) -> Any:
        """Draw some measures of every policy, with Monte Carlo intervals; return the axes."""
        import matplotlib.pyplot as plt

        unknown = [name for name in measures if name not in MEASURES]
        if unknown:
            raise ValueError(f"there is no measure {unknown[0]!r}; there are {', '.join(MEASURES)}")
        names = [policy.name for policy in self.config.policies]
        if axes is None:
            size = (3.2 * len(measures) + 1, 0.9 + 0.32 * len(names))
            axes = plt.subplots(1, len(measures), figsize=size, sharey=True, layout="constrained", squeeze=False)[1][0]
        rows = np.arange(len(names))[::-1]
        for ax, measure in zip(np.atleast_1d(axes), measures, strict=True):
            part = self.table.xs(measure, level="measure").loc[names]
            bars = np.vstack([part["value"] - part["low"], part["high"] - part["value"]])
            ax.errorbar(
                part["value"], rows, xerr=np.nan_to_num(bars), fmt="o", color="#0072B2", capsize=3, markersize=4
            )
            ax.set_yticks(rows, names)
            ax.set(xlabel=measure.replace("_", " "))
            ax.spines[["top", "right"]].set_visible(False)
        return axes


def counted(many: float, one: str, more: str = "") -> str:
    """So many of a thing.

    Examples
    --------
    >>> counted(1, "year"), counted(2.5, "year"), counted(2, "policy", "policies")
    ('1 year', '2.5 years', '2 policies')
    """
    return f"{many:,g} {one if many == 1 else more or one + 's'}"


def collect(config: Config, found: list[dict[str, Measured]]) -> Simulation:
    """Put the replicates together."""
    names = [policy.name for policy in config.policies]
    values = np.array([[_in_order(one[name].measures, MEASURES) for name in names] for one in found])
    index = pd.MultiIndex.from_product([names, list(MEASURES)], names=["policy", "measure"])
    others = [name for name in names if name != config.reference]
    reference = [names.index(str(config.reference))]
    kept = [names.index(name) for name in others]
    levels = list(found[0][names[0]].groups)
    groups = np.array(
        [[[_in_order(one[name].groups[level], GROUP_MEASURES) for level in levels] for name in names] for one in found]
    )
    by_status = np.array([[one[name].transplants_by_status for name in names] for one in found])
    each = pd.MultiIndex.from_product([range(len(found)), names], names=["replicate", "policy"])
    return Simulation(
        table=interval_table(values.reshape(len(found), -1), index),
        differences=interval_table(
            (values - values[:, reference])[:, kept].reshape(len(found), -1),
            pd.MultiIndex.from_product([others, list(MEASURES)], names=["policy", "measure"]),
        ),
        by_group=interval_table(groups.reshape(len(found), -1), _group_index(names, levels)),
        group_differences=interval_table(
            (groups - groups[:, reference])[:, kept].reshape(len(found), -1), _group_index(others, levels)
        ),
        replicates=pd.DataFrame(values.reshape(-1, len(MEASURES)), index=each, columns=list(MEASURES)),
        transplants_by_status=pd.DataFrame(
            _known_mean(by_status), index=names, columns=[f"status {n}" for n in range(1, 7)]
        ),
        config=config,
    )


def _in_order(measured: dict[str, float], names: tuple[str, ...]) -> list[float]:
    return [measured[name] for name in names]


def _group_index(names: list[str], levels: list[tuple[str, str]]) -> pd.MultiIndex:
    return pd.MultiIndex.from_tuples(
        [(name, *level, measure) for name in names for level in levels for measure in GROUP_MEASURES],
        names=["policy", "grouping", "level", "measure"],
    )


def interval_table(values: np.ndarray, index: pd.MultiIndex) -> pd.DataFrame:
    """Mean over the replicates (rows) with Student's interval; replicates where a value is missing are left out."""
    known, mean = ~np.isnan(values), _known_mean(values)
    n = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt((np.where(known, values - mean, 0.0) ** 2).sum(axis=0) / (n - 1))
        half = stats.t.ppf(0.975, np.maximum(n - 1, 1)) * spread / np.sqrt(n)
    half = np.where(n > 1, half, np.nan)
    return pd.DataFrame({"value": mean, "low": mean - half, "high": mean + half}, index=index)


def _known_mean(values: np.ndarray) -> np.ndarray:
    """Mean over the replicates that have a value; NaN where none has."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)


def _nested(table: pd.DataFrame) -> dict[str, dict[str, dict[str, float | None]]]:
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for (policy, measure), row in table.iterrows():
        found.setdefault(policy, {})[measure] = {
            name: None if math.isnan(row[name]) else float(row[name]) for name in ("value", "low", "high")
        }
    return found
