"""A finished run: its measures, intervals and tables, all made from the jobs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import FloatArray, Json
from ...data import Dataset
from ...errors import RequestError
from ...metrics import Comparison, compare
from ...relevance import PositivityReport
from .._plan import Plan
from ..jobs import JobResult, assign_decades, select_rows
from ..measures import C_INDEX, NDCGS, column_key, judged_by
from ..paper import (
    mean_known,
    measure_whole_life,
    measure_within_horizon,
    tabulate_errors,
    tabulate_gains,
    tabulate_scatter,
    tabulate_selection,
)
from ..types import ORACLE, Arm, Finding, Measure, Summary, Table
from ._audit import rank_models, tabulate_audit, tabulate_headroom
from ._calibration import summarise_calibration, tabulate_calibration
from ._description import tabulate_cohort, tabulate_predictors, tabulate_survival
from ._findings import draw_findings, render_reading
from ._statistics import ENOUGH_JOBS, ENOUGH_ROWS, clip_interval, compare_folds, corrected_half_width
from ._subgroups import tabulate_subgroups
from ._summary import summarise_run
from ._support import MOST_ROWS, check_support, tabulate_support
from ._tables import display_columns, make_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

RANDOM_STATE = 0


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Attributes
    ----------
    plan : Plan
    jobs : list of JobResult
        In the order of ``plan.jobs``.
    dataset : Dataset
    command : str
        What runs it again, for the report; without folders, so that a run is the same wherever it lies.
    summary : Summary
        What summary.json holds: `answer`, `findings`, `tables`, … (docs/runs.md).
    findings : tuple of Finding
        The conclusions, the gravest first.
    tables : dict of str to DataFrame
        `allocation`, `comparison`, `calibration`, `cohort`, …; `table_1` and the like are the paper's. Columns have
        neutral keys; `summary.tables` has their headings too.
    """

    plan: Plan
    jobs: list[JobResult]
    dataset: Dataset
    command: str = ""

    @property
    def arms(self) -> list[Arm]:
        """Rows of the tables; the oracle last, where a simulation knows the truth."""
        return list(self.jobs[0].measures)

    @property
    def relevance(self) -> str:
        """By what relevance this run judges: the true lifetimes, the true expectation, or doubly robust."""
        outcomes = self.jobs[0].outcomes
        return next(name for name in ("restricted", "expected", "DR") if name in outcomes)

    @property
    def ndcg_relevance(self) -> str:
        """By what relevance NDCG is judged: the same, or EY where that has negative values, as DR can."""
        relevance = self.relevance
        return relevance if all(job.outcomes[relevance].min() >= 0 for job in self.jobs) else "EY"

    @property
    def first(self) -> list[JobResult]:
        """The jobs of the first iteration: together they hold each row once."""
        return self.jobs[: self.plan.folds]

    def values(self, arm: Arm, measure: Measure) -> FloatArray:
        """A measure of an arm, one value per job; NaN where it could not be computed."""
        return np.array([job.measures[arm].get(measure, np.nan) for job in self.jobs], dtype=float)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """Every measure of every job, in long form."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"iteration": iteration, "fold": fold, **asdict(arm), **asdict(measure), "value": value}
                for (iteration, fold), job in zip(self.plan.jobs, self.jobs, strict=True)
                for arm, measures in job.measures.items()
                for measure, value in measures.items()
            ],
            columns=[
                *("iteration", "fold", "model", "method", "relevance", "nuisance", "metric", "k", "waitlist", "time"),
                "value",
            ],
        ).astype({"k": "Int64", "waitlist": "Int64"})

    def tabulate_measures(self, columns: Mapping[Measure, Measure]) -> pd.DataFrame:
        """Tabulate mean and standard deviation over jobs of some measures, with p-values against the base model.

        Parameters
        ----------
        columns : mapping of Measure to Measure
            What a column is called by (`column_key`) → what it holds.
        """
        import pandas as pd

        rows = []
        for arm in self.arms:
            row: Json = asdict(arm)
            for column, measure in columns.items():
                key, values = column_key(column), self.values(arm, measure)
                known = values[~np.isnan(values)]
                row[key] = known.mean() if len(known) else np.nan
                row[f"{key}_sd"] = known.std(ddof=1) if len(known) > 1 else np.nan
                if arm.base is not None:
                    difference = compare_folds(values, self.values(arm.base, measure), self.plan.test_to_train)
                    row[f"{key}_stars"] = difference.stars
                    row[f"{key}_p_wilcoxon"] = difference.p_wilcoxon
                    row[f"{key}_p_corrected"] = difference.p_corrected
            rows.append(row)
        return pd.DataFrame(rows)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table of the run by name; those of the paper have its numbers."""
        tables: dict[str, pd.DataFrame] = {"allocation": self.allocation, "audit": tabulate_audit(self)}
        if Arm(ORACLE) in self.arms:
            tables["headroom"] = tabulate_headroom(self)
        tables["comparison"] = self._tabulate_differences()
        if self.plan.metrics:
            tables["metrics"] = self._tabulate_registered()
        tables |= self._paper_tables()
        tables |= {"calibration": tabulate_calibration(self), "calibration_by_arm": summarise_calibration(self)}
        tables |= tabulate_support(self.support, min(MOST_ROWS, len(select_rows(self.dataset, self.plan))))
        tables |= tabulate_cohort(self.dataset.y, self.dataset.X)
        tables["survival"] = tabulate_survival(self.dataset.y, self.plan.tau)
        tables["predictors"] = tabulate_predictors(self.dataset.X)
        subgroups = self._tabulate_subgroups()
        if len(subgroups):
            tables["subgroups"] = subgroups
        tables["measures"] = self.measures
        return tables

    def typed_table(self, name: str) -> Table:
        """Return a table with its title, and headings that carry the unit of the data."""
        return make_table(name, self.tables[name], self.dataset.unit, self.jobs[0].measures[self.arms[0]])

    def _paper_tables(self) -> dict[str, pd.DataFrame]:
        aucs = [measure for measure in self.jobs[0].measures[self.arms[0]] if measure.metric == "auc"]
        first = {measure: measure for measure in (C_INDEX, *aucs)}
        on_lists = self.plan.ndcg
        if self.plan.protocol == "artificial":
            within, whole = measure_within_horizon(self), measure_whole_life(self)
            ndcgs = {**whole, on_lists: judged_by(on_lists, "restricted")}
            return {
                "table_1": self.tabulate_measures({**first, **ndcgs}),
                "table_a6": tabulate_selection(self, "fold", within),
                "table_a6_by_iteration": tabulate_selection(self, "iteration", within),
                "table_a6_whole_life": tabulate_selection(self, "fold", whole),
                "figure_a1": tabulate_errors(self, within),
                "figure_a1_whole_life": tabulate_errors(self, whole),
                "figure_a2": tabulate_scatter(self),
                "gain_truth": tabulate_gains(self, ndcgs),
            }
        short = [judged_by(measure, key) for key in ("EY", "IPCW") for measure in (*NDCGS[:2], on_lists)]
        short.append(judged_by(self.plan.value, "DR"))
        return {
            "table_2": self.tabulate_measures({**first, **{measure: measure for measure in short}}),
            "table_a7": self.tabulate_measures({measure: judged_by(measure, "EY") for measure in NDCGS[:5]}),
            "table_a8": self.tabulate_measures({measure: judged_by(measure, "IPCW") for measure in NDCGS[:5]}),
            "gain_ey": tabulate_gains(self, {measure: judged_by(measure, "EY") for measure in (*NDCGS, on_lists)}),
            "gain_ipcw": tabulate_gains(self, {measure: judged_by(measure, "IPCW") for measure in (*NDCGS, on_lists)}),
        }

    @cached_property
    def support(self) -> dict[str, PositivityReport]:
        """Support at the horizon, by model of censoring."""
        return check_support(self)

    @property
    def by_folds(self) -> bool:
        """Whether intervals come from the spread over folds; with few of them, from resampling patients (`pooled`)."""
        return len(self.jobs) >= ENOUGH_JOBS or self.plan.era == "within"

    @property
    def waitlist(self) -> int:
        """Candidates on a list: as many as asked for, or as the smallest fold has."""
        return min(self.plan.waitlist, min(len(job.rows) for job in self.jobs))

    @property
    def few_rows(self) -> bool:
        """Whether there are fewer patients for each place on a list than intervals need."""
        return sum(len(job.rows) for job in self.first) < ENOUGH_ROWS * self.waitlist

    def value_of(self, arm: Arm) -> tuple[float, float, float]:
        """Value per allocation of an arm, with its 95% interval."""
        if not self.by_folds:
            value, low, high = self.pooled.values.loc[arm.label, ["value", "low", "high"]]
            return clip_interval(value, low, high, 0.0, self.plan.tau)
        return self._over_folds(self.values(arm, judged_by(self.plan.value, self.relevance)), self.plan.tau)

    def ndcg_of(self, arm: Arm) -> tuple[float, float, float]:
        """NDCG over waitlists of an arm, with its 95% interval; NaN where it is not known."""
        if not self.by_folds:
            value, low, high = self._pooled_ndcg.loc[arm.label, ["ndcg", "ndcg_low", "ndcg_high"]]
            return clip_interval(value, low, high, 0.0, 1.0)
        return self._over_folds(self.values(arm, judged_by(self.plan.ndcg, self.ndcg_relevance)), 1.0)

    def _over_folds(self, values: FloatArray, most: float) -> tuple[float, float, float]:
        mean, half = mean_known(values), corrected_half_width(values[~np.isnan(values)], self.plan.test_to_train)
        return clip_interval(mean, mean - half, mean + half, 0.0, most)

    def gain(self, new: Arm, old: Arm) -> tuple[float, float, float, float]:
        """Value per allocation that one arm gains over another, with its 95% interval and p."""
        most = self.plan.tau
        if self.by_folds:
            measure = judged_by(self.plan.value, self.relevance)
            difference = compare_folds(self.values(new, measure), self.values(old, measure), self.plan.test_to_train)
            return *clip_interval(difference.mean, difference.low, difference.high, -most, most), difference.p_corrected
        table = self.pooled.differences
        if (new.label, old.label) in table.index:
            value, low, high, p = table.loc[(new.label, old.label), ["value", "low", "high", "p"]]
        else:
            value, high, low, p = table.loc[(old.label, new.label), ["value", "low", "high", "p"]] * (-1, -1, -1, 1)
        return *clip_interval(value, low, high, -most, most), float(p)

    @cached_property
    def allocation(self) -> pd.DataFrame:
        """Value per allocation and NDCG over waitlists by arm, with intervals, and the gain over the base."""
        import pandas as pd

        others = [key for key in ("DR", "EY", "IPCW", "expected", *self.plan.estimators) if key != self.relevance]
        rows = []
        for arm in self.arms:
            row: Json = asdict(arm) | dict(zip(("value", "low", "high"), self.value_of(arm), strict=True))
            gain = (np.nan,) * 4 if arm.base is None else self.gain(arm, arm.base)
            row |= dict(zip(("gain", "gain_low", "gain_high", "p"), gain, strict=True))
            row |= dict(zip(("ndcg", "ndcg_low", "ndcg_high"), self.ndcg_of(arm), strict=True))
            for other in others:
                if other in self.jobs[0].outcomes:
                    row[f"value_{other}"] = mean_known(self.values_used(arm, judged_by(self.plan.value, other)))
            rows.append(row | {"c_index": mean_known(self.values_used(arm, C_INDEX))})
        return pd.DataFrame(rows)

    def values_used(self, arm: Arm, measure: Measure) -> FloatArray:
        """A measure over the jobs that values rest on: all, or the first iteration where patients are pooled."""
        values = self.values(arm, measure)
        return values if self.by_folds else values[: self.plan.folds]

    @cached_property
    def pooled(self) -> Comparison:
        """All rows of the first iteration, each ranked by models that did not see it, with bootstrap intervals.

        Every fold has models of its own, on levels of their own: rows are pooled by their rank within the fold.
        """
        return self._compare_arms(self.relevance)

    @cached_property
    def _pooled_ndcg(self) -> pd.DataFrame:
        same = self.ndcg_relevance == self.relevance
        return (self.pooled if same else self._compare_arms(self.ndcg_relevance)).values

    def _compare_arms(self, relevance: str) -> Comparison:
        scores = {
            arm.label: np.concatenate([_ranks(job.scores[j]) for job in self.first]) for j, arm in enumerate(self.arms)
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows for each place: a finding says it
            return compare(
                np.concatenate([job.outcomes[relevance] for job in self.first]),
                scores,
                k=min(self.plan.k, self.waitlist),
                waitlist=self.waitlist,
                n_resamples=500,
                random_state=RANDOM_STATE,
            )

    def _tabulate_differences(self) -> pd.DataFrame:
        import pandas as pd

        columns = ("difference", "low", "high", "p")
        return pd.DataFrame(
            [
                {
                    **asdict(one),
                    "other_model": other.model,
                    "other_method": other.method,
                    **dict(zip(columns, self.gain(one, other), strict=True)),
                }
                for one, other in combinations(self.arms, 2)
            ],
            columns=["model", "method", "other_model", "other_method", *columns],
        )

    def _tabulate_registered(self) -> pd.DataFrame:
        """Tabulate registered metrics: means over folds, with intervals that know that folds overlap."""
        import pandas as pd

        rows = []
        for spec in self.plan.methods_of("metrics"):
            known = [m for m in self.jobs[0].measures[self.arms[0]] if m.metric == spec.key]
            judged = [m for m in known if m.relevance in (None, self.relevance)]
            if spec.key not in self.plan.metrics:
                continue
            better = "higher" if getattr(spec.load(), "greater_is_better", True) else "lower"
            for measure, arm in product(judged, self.arms):
                values = self.values(arm, measure)
                mean, half = (
                    mean_known(values),
                    corrected_half_width(values[~np.isnan(values)], self.plan.test_to_train),
                )
                row: Json = asdict(arm) | {"metric": spec.key, "relevance": measure.relevance, "better": better}
                row |= {"value": mean, "low": mean - half, "high": mean + half}
                gain = (np.nan,) * 4
                if arm.base is not None:
                    change = compare_folds(values, self.values(arm.base, measure), self.plan.test_to_train)
                    gain = (change.mean, change.low, change.high, change.p_corrected)
                rows.append(row | dict(zip(("gain", "gain_low", "gain_high", "p"), gain, strict=True)))
        return pd.DataFrame(rows)

    def _tabulate_subgroups(self) -> pd.DataFrame:
        first = self.first
        rows = np.concatenate([job.rows for job in first])
        scores = {arm: np.concatenate([job.scores[j] for job in first]) for j, arm in enumerate(self.arms)}
        ranks = {arm: np.concatenate([_ranks(job.scores[j]) for job in first]) for j, arm in enumerate(self.arms)}
        relevance = np.concatenate([job.outcomes[self.relevance] for job in first])
        return tabulate_subgroups(
            self.dataset,
            rows,
            relevance,
            scores,
            self.waitlist,
            ranks,
            k=self.plan.k,
            strata=assign_decades(self.dataset, self.plan, rows),
            named=self.plan.subgroups,
        )

    @cached_property
    def counts(self) -> dict[str, int]:
        """Fits that did not converge, rankers that kept their base model and other warnings, over all jobs."""
        return _add_up(job.counts for job in self.jobs)

    @cached_property
    def clipped(self) -> dict[str, int]:
        """Clipped weights by estimator, over all jobs."""
        return _add_up(job.clipped for job in self.jobs)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The conclusions of the run, the gravest first."""
        return draw_findings(self)

    @cached_property
    def summary(self) -> Summary:
        """All that the report, the page and REST are made of; see docs/runs.md for the fields."""
        return summarise_run(self)

    def best(self) -> Arm:
        """The arm with the highest value per allocation, the oracle left out."""
        return rank_models(self)[0]

    def reading(self) -> str:
        """The run in a few sentences."""
        return render_reading(self.findings)

    def write(self, out: Path) -> None:
        """Write summary.json, the tables (CSV, Markdown, LaTeX) and the figures (PNG, PDF)."""
        from ._figures import write_figures
        from ._writing import write_tables

        write_tables(self, out)
        write_figures(self.summary, out)

    def _repr_html_(self) -> str:
        from html import escape

        import pandas as pd

        from ..._views import html_table

        best, columns = self.best().label, display_columns(self.typed_table("allocation"))
        frame = pd.DataFrame({column.name: column.texts for column in columns})
        return f"<p>{escape(self.reading())}</p>{html_table(frame, marked=lambda row: row['model'] == best)}"

    def plot(self, name: str = "allocation", part: str = "", ax: Axes | None = None) -> Axes:
        """Draw a chart of the run, as in the report; return the axes.

        Parameters
        ----------
        name : str
            Such as "allocation", "audit", "headroom", "figure_3a" or "calibration".
        part : str
            Of a chart with one panel per model or column, which: "Cox" of "calibration".
        ax : Axes, optional
        """
        from ..._views import draw
        from ._charts import ChartKey, make_charts

        charts = make_charts(self.summary)
        key = ChartKey(name, part)
        if key not in charts:
            known = ", ".join(f"{each.name}{f' ({each.part})' * bool(each.part)}" for each in charts)
            raise RequestError(f"there is no chart {name!r}{f' of {part!r}' * bool(part)}; there are {known}")
        return draw(charts[key], ax)


def _add_up(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part)
    return dict(counts)


def _ranks(scores: FloatArray) -> FloatArray:
    """Ranks from 0 to 1, equals sharing theirs."""
    from scipy import stats

    return np.asarray((stats.rankdata(scores) - 0.5) / len(scores))
