"""A finished run: its measures, intervals and tables, all made from the jobs."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._typing import FloatArray, Json
from ...data import Dataset, cohort_summary
from ...errors import RequestError
from ...metrics import Comparison, compare
from ...relevance import PositivityReport
from .._plan import CEILING, Plan, find_base, split_arm
from ..jobs import JobResult, assign_decades, select_rows
from ..paper import (
    NDCG_KEYS,
    WHOLE_LIFE,
    mean_known,
    tabulate_errors,
    tabulate_gains,
    tabulate_scatter,
    tabulate_selection,
)
from ._audit import tabulate_audit, tabulate_headroom, tabulate_models
from ._calibration import summarise_calibration, tabulate_calibration
from ._description import tabulate_predictors, tabulate_survival
from ._statistics import ENOUGH_JOBS, ENOUGH_ROWS, clip_interval, compare_folds, corrected_half_width
from ._subgroups import tabulate_subgroups
from ._summary import describe_run, summarise_run
from ._support import MOST_ROWS, check_support, tabulate_support

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
    summary : dict
        Plain values, as summary.json holds them: `best`, `answer`, `reading`, `warnings`, … (docs/runs.md).
    tables : dict of str to DataFrame
        `years`, `comparison`, `calibration`, `cohort`, …; `table_1` and the like are the paper's.
    """

    plan: Plan
    jobs: list[JobResult]
    dataset: Dataset
    command: str = ""

    @property
    def arms(self) -> list[str]:
        """Rows of the tables, "Cox ranker" and so on; "truth known" last, where a simulation knows it."""
        return list(self.jobs[0].measures)

    @property
    def judge(self) -> str:
        """By what relevance this run judges best: the truth, the true expectation, or doubly robust."""
        outcomes = self.jobs[0].outcomes
        return next(name for name in ("truth", "expected", "DR") if name in outcomes)

    @property
    def ndcg_judge(self) -> str:
        """By what relevance NDCG is told: the judge, or EY where the judge has negative values, as DR can."""
        judge = self.judge
        return judge if all(job.outcomes[judge].min() >= 0 for job in self.jobs) else "EY"

    @property
    def first(self) -> list[JobResult]:
        """The jobs of the first iteration: together they hold each row once."""
        return self.jobs[: self.plan.folds]

    def values(self, arm: str, measure: str) -> FloatArray:
        """A measure of an arm, one value per job; NaN where it could not be had."""
        return np.array([job.measures[arm].get(measure, np.nan) for job in self.jobs], dtype=float)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """Every measure of every job, in long form."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"iteration": iteration, "fold": fold, "arm": arm, "measure": name, "value": value}
                for (iteration, fold), job in zip(self.plan.jobs, self.jobs, strict=True)
                for arm, measures in job.measures.items()
                for name, value in measures.items()
            ]
        )

    def table(self, columns: dict[str, str]) -> pd.DataFrame:
        """Mean and standard deviation over jobs of some measures (heading → measure), with p-values of the ranker."""
        import pandas as pd

        rows = []
        for arm in self.arms:
            row: Json = dict(zip(("model", "framework"), split_arm(arm), strict=True))
            base = find_base(arm)
            for heading, measure in columns.items():
                values = self.values(arm, measure)
                known = values[~np.isnan(values)]
                row[heading] = known.mean() if len(known) else np.nan
                row[f"{heading} sd"] = known.std(ddof=1) if len(known) > 1 else np.nan
                if base is not None:
                    difference = compare_folds(values, self.values(base, measure), self.plan.test_to_train)
                    row[f"{heading} stars"] = difference.stars
                    row[f"{heading} p wilcoxon"] = difference.p_wilcoxon
                    row[f"{heading} p corrected"] = difference.p_corrected
            rows.append(row)
        return pd.DataFrame(rows)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table of the run by name; those of the paper have its numbers."""
        tables: dict[str, pd.DataFrame] = {"years": self.years, "audit": tabulate_audit(self)}
        if CEILING in self.arms:
            tables["room"] = tabulate_headroom(self)
        tables["comparison"] = self._tabulate_differences()
        tables |= self._paper_tables()
        tables |= {"calibration": tabulate_calibration(self), "calibration_by_arm": summarise_calibration(self)}
        tables |= tabulate_support(self.support, min(MOST_ROWS, len(select_rows(self.dataset, self.plan))))
        described = cohort_summary(self.dataset.y, self.dataset.X)
        tables["cohort"] = described.cohort
        tables["follow_up"] = described.followup.reset_index(names="follow-up")
        tables["survival"] = tabulate_survival(self.dataset.y, self.plan.tau)
        tables["predictors"] = tabulate_predictors(self.dataset.X)
        subgroups = self._tabulate_subgroups()
        if len(subgroups):
            tables["subgroups"] = subgroups
        tables["measures"] = self.measures
        return tables

    def _paper_tables(self) -> dict[str, pd.DataFrame]:
        aucs = {name: name for name in self.jobs[0].measures[self.arms[0]] if name.startswith("AUC@")}
        if self.plan.protocol == "artificial":
            ndcgs = {key: f"truth {key}" for key in (*NDCG_KEYS, "waitlist NDCG")}
            return {
                "table_1": self.table({"C-index": "C-index", **aucs, **ndcgs}),
                "table_a6": tabulate_selection(self, "fold"),
                "table_a6_by_iteration": tabulate_selection(self, "iteration"),
                "table_a6_whole_life": tabulate_selection(self, "fold", WHOLE_LIFE),
                "figure_a1": tabulate_errors(self),
                "figure_a1_whole_life": tabulate_errors(self, WHOLE_LIFE),
                "figure_a2": tabulate_scatter(self),
                "gain_truth": tabulate_gains(self, "truth"),
            }
        keys = (*NDCG_KEYS[:2], "waitlist NDCG")
        short = {f"{kind} {key}": f"{kind} {key}" for kind in ("EY", "IPCW") for key in keys}
        return {
            "table_2": self.table({"C-index": "C-index", **aucs, **short, "DR years": "DR value"}),
            "table_a7": self.table({key: f"EY {key}" for key in NDCG_KEYS[:5]}),
            "table_a8": self.table({key: f"IPCW {key}" for key in NDCG_KEYS[:5]}),
            "gain_ey": tabulate_gains(self, "EY"),
            "gain_ipcw": tabulate_gains(self, "IPCW"),
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

    def years_of(self, arm: str) -> tuple[float, float, float]:
        """Years per allocation of an arm, with its 95% interval."""
        if not self.by_folds:
            value, low, high = self.pooled.values.loc[arm, ["value", "low", "high"]]
            return clip_interval(value, low, high, 0.0, self.plan.tau)
        return self._over_folds(self.values(arm, f"{self.judge} value"), self.plan.tau)

    def ndcg_of(self, arm: str) -> tuple[float, float, float]:
        """NDCG over waitlists of an arm, with its 95% interval; NaN where it is not known."""
        if not self.by_folds:
            value, low, high = self._pooled_ndcg.loc[arm, ["ndcg", "ndcg_low", "ndcg_high"]]
            return clip_interval(value, low, high, 0.0, 1.0)
        return self._over_folds(self.values(arm, f"{self.ndcg_judge} waitlist NDCG"), 1.0)

    def _over_folds(self, values: FloatArray, most: float) -> tuple[float, float, float]:
        mean, half = mean_known(values), corrected_half_width(values[~np.isnan(values)], self.plan.test_to_train)
        return clip_interval(mean, mean - half, mean + half, 0.0, most)

    def gain(self, new: str, old: str) -> tuple[float, float, float, float]:
        """Years per allocation that one arm gains over another, with its 95% interval and p."""
        most = self.plan.tau
        if self.by_folds:
            measure = f"{self.judge} value"
            difference = compare_folds(self.values(new, measure), self.values(old, measure), self.plan.test_to_train)
            return *clip_interval(difference.mean, difference.low, difference.high, -most, most), difference.p_corrected
        table = self.pooled.differences
        if (new, old) in table.index:
            value, low, high, p = table.loc[(new, old), ["value", "low", "high", "p"]]
        else:
            value, high, low, p = table.loc[(old, new), ["value", "low", "high", "p"]] * (-1, -1, -1, 1)
        return *clip_interval(value, low, high, -most, most), float(p)

    @cached_property
    def years(self) -> pd.DataFrame:
        """Years per allocation and NDCG over waitlists by arm, with intervals, and the gain over the base."""
        import pandas as pd

        rows = []
        for arm in self.arms:
            model, framework = split_arm(arm)
            mean, low, high = self.years_of(arm)
            row = {"model": model, "framework": framework, "years": mean, "low": low, "high": high}
            base = find_base(arm)
            gain = (np.nan,) * 4 if base is None else self.gain(arm, base)
            row |= dict(zip(("gain", "gain low", "gain high", "p"), gain, strict=True))
            row |= dict(zip(("waitlist NDCG", "NDCG low", "NDCG high"), self.ndcg_of(arm), strict=True))
            for other in ("DR", "EY", "IPCW", "expected"):
                if other != self.judge and other in self.jobs[0].outcomes:
                    row[f"years by {other}"] = mean_known(self.beside(arm, f"{other} value"))
            rows.append(row | {"C-index": mean_known(self.beside(arm, "C-index"))})
        return pd.DataFrame(rows)

    def beside(self, arm: str, measure: str) -> FloatArray:
        """A measure over the jobs that years rest on: all, or the first iteration where patients are pooled."""
        values = self.values(arm, measure)
        return values if self.by_folds else values[: self.plan.folds]

    @cached_property
    def pooled(self) -> Comparison:
        """All rows of the first iteration, each ranked by models that did not see it, with bootstrap intervals.

        Every fold has models of its own, on levels of their own: rows are pooled by their rank within the fold.
        """
        return self._compare_arms(self.judge)

    @cached_property
    def _pooled_ndcg(self) -> pd.DataFrame:
        return (self.pooled if self.ndcg_judge == self.judge else self._compare_arms(self.ndcg_judge)).values

    def _compare_arms(self, judge: str) -> Comparison:
        relevance = np.concatenate([job.outcomes[judge] for job in self.first])
        scores = {arm: np.concatenate([_ranks(job.scores[j]) for job in self.first]) for j, arm in enumerate(self.arms)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows for each place: `reading` says it
            return compare(
                relevance,
                scores,
                k=min(self.plan.k, self.waitlist),
                waitlist=self.waitlist,
                n_resamples=500,
                random_state=RANDOM_STATE,
            )

    def _tabulate_differences(self) -> pd.DataFrame:
        import pandas as pd

        columns = ("value", "low", "high", "p")
        return pd.DataFrame(
            [
                {"model": one, "other": other, **dict(zip(columns, self.gain(one, other), strict=True))}
                for one, other in combinations(self.arms, 2)
            ],
            columns=["model", "other", *columns],
        )

    def _tabulate_subgroups(self) -> pd.DataFrame:
        first = self.first
        rows = np.concatenate([job.rows for job in first])
        scores = {arm: np.concatenate([job.scores[j] for job in first]) for j, arm in enumerate(self.arms)}
        ranks = {arm: np.concatenate([_ranks(job.scores[j]) for job in first]) for j, arm in enumerate(self.arms)}
        relevance = np.concatenate([job.outcomes[self.judge] for job in first])
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
        """Weights clipped, fits that did not converge and the like, over all jobs."""
        counts: Counter[str] = Counter()
        for job in self.jobs:
            counts.update(job.counts)
        return dict(counts)

    @cached_property
    def summary(self) -> Json:
        """What report and page are made of; see docs/runs.md for the fields."""
        return summarise_run(self)

    def best(self) -> str:
        """The arm with the most years per allocation, the ceiling left out."""
        return str(tabulate_models(self)["years"].idxmax())

    def reading(self) -> str:
        """The run in a few sentences."""
        return describe_run(self)

    def write(self, out: Path) -> None:
        """Write summary.json, the tables (CSV, Markdown, LaTeX) and the figures (PNG, PDF)."""
        from ._figures import write_figures
        from ._writing import write_tables

        write_tables(self, out)
        write_figures(self, out)

    def _repr_html_(self) -> str:
        from html import escape

        from ..._views import html_table

        best = self.best()
        marked = html_table(self.years, marked=lambda row: f"{row['model']} {row['framework']}" == best)
        return f"<p>{escape(self.reading())}</p>{marked}"

    def plot(self, name: str = "years", ax: Axes | None = None) -> Axes:
        """Draw a chart of the run (`years`, `audit`, `room`, `figure_3a`, …), as in the report; return the axes."""
        from ..._views import draw
        from ._charts import make_charts

        charts = make_charts(self.tables, self.dataset.unit, self.best(), self.plan.tau)
        if name not in charts:
            raise RequestError(f"there is no chart {name!r}; there are {', '.join(charts)}")
        return draw(charts[name], ax)


def _ranks(scores: FloatArray) -> FloatArray:
    """Ranks from 0 to 1, equals sharing theirs."""
    from scipy import stats

    return np.asarray((stats.rankdata(scores) - 0.5) / len(scores))
