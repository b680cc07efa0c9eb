"""A finished run: its measures, intervals and tables, all made from the units."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Dataset, cohort_summary
from ..metrics import Comparison, compare
from ..relevance import PositivityReport
from ._audit import audit_table, models_of, room_table
from ._checking import (
    MOST_ROWS,
    calibration_by_arm,
    calibration_table,
    predictor_table,
    support,
    support_tables,
    survival_table,
)
from ._job import UnitResult, cohort_of, eras_of
from ._paper_tables import NDCG_KEYS, WHOLE_LIFE, error_table, gain_table, mean_of, scatter_table, selection_table
from ._plan import CEILING, Plan, base_of, parts_of
from ._statistics import ENOUGH_ROWS, ENOUGH_UNITS, corrected_half_width, fold_difference, possible
from ._subgroups import subgroup_table
from ._summary import reading_of, summary_of

if TYPE_CHECKING:
    import pandas as pd

RANDOM_STATE = 0


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Attributes
    ----------
    plan : Plan
    units : list of UnitResult
        In the order of ``plan.units``.
    dataset : Dataset
    command : str
        What runs it again, for the report; without folders, so that a run is the same wherever it lies.
    summary : dict
        Plain values, as summary.json holds them: `best`, `answer`, `reading`, `warnings`, … (docs/runs.md).
    tables : dict of str to DataFrame
        `years`, `comparison`, `calibration`, `cohort`, …; `table_1` and the like are the paper's.
    """

    plan: Plan
    units: list[UnitResult]
    dataset: Dataset
    command: str = ""

    @property
    def arms(self) -> list[str]:
        """Rows of the tables, "Cox ranker" and so on; "truth known" last, where a simulation knows it."""
        return list(self.units[0].measures)

    @property
    def judge(self) -> str:
        """By what relevance this run judges best: the truth, the true expectation, or doubly robust."""
        outcomes = self.units[0].outcomes
        return next(name for name in ("truth", "expected", "DR") if name in outcomes)

    @property
    def ndcg_judge(self) -> str:
        """By what relevance NDCG is told: the judge, or EY where the judge has negative values, as DR can."""
        judge = self.judge
        return judge if all(unit.outcomes[judge].min() >= 0 for unit in self.units) else "EY"

    @property
    def first(self) -> list[UnitResult]:
        """The units of the first iteration: together they hold each row once."""
        return self.units[: self.plan.folds]

    def values(self, arm: str, measure: str) -> np.ndarray:
        """A measure of an arm, one value a unit; NaN where it could not be had."""
        return np.array([unit.measures[arm].get(measure, np.nan) for unit in self.units], dtype=float)

    @cached_property
    def measures(self) -> pd.DataFrame:
        """Every measure of every unit, in long form."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"iteration": iteration, "fold": fold, "arm": arm, "measure": name, "value": value}
                for (iteration, fold), unit in zip(self.plan.units, self.units, strict=True)
                for arm, found in unit.measures.items()
                for name, value in found.items()
            ]
        )

    def table(self, columns: dict[str, str]) -> pd.DataFrame:
        """Mean and standard deviation over units of some measures (heading → measure), with p-values of the ranker."""
        import pandas as pd

        rows = []
        for arm in self.arms:
            row: dict[str, Any] = dict(zip(("model", "framework"), parts_of(arm), strict=True))
            base = base_of(arm)
            for heading, measure in columns.items():
                values = self.values(arm, measure)
                known = values[~np.isnan(values)]
                row[heading] = known.mean() if len(known) else np.nan
                row[f"{heading} sd"] = known.std(ddof=1) if len(known) > 1 else np.nan
                if base is not None:
                    found = fold_difference(values, self.values(base, measure), self.plan.test_to_train)
                    row[f"{heading} stars"] = found.stars
                    row[f"{heading} p wilcoxon"] = found.p_wilcoxon
                    row[f"{heading} p corrected"] = found.p_corrected
            rows.append(row)
        return pd.DataFrame(rows)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table of the run by name; those of the paper have its numbers."""
        made: dict[str, pd.DataFrame] = {"years": self.years, "audit": audit_table(self)}
        if CEILING in self.arms:
            made["room"] = room_table(self)
        made["comparison"] = self._differences()
        made |= self._papers_tables()
        made |= {"calibration": calibration_table(self), "calibration_by_arm": calibration_by_arm(self)}
        made |= support_tables(self.support, min(MOST_ROWS, len(cohort_of(self.dataset, self.plan))))
        described = cohort_summary(self.dataset.y, self.dataset.X)
        made["cohort"] = described.cohort
        made["follow_up"] = described.followup.reset_index(names="follow-up")
        made["survival"] = survival_table(self.dataset.y, self.plan.tau)
        made["predictors"] = predictor_table(self.dataset.X)
        subgroups = self._subgroups()
        if len(subgroups):
            made["subgroups"] = subgroups
        made["measures"] = self.measures
        return made

    def _papers_tables(self) -> dict[str, pd.DataFrame]:
        aucs = {name: name for name in self.units[0].measures[self.arms[0]] if name.startswith("AUC@")}
        if self.plan.protocol == "artificial":
            ndcgs = {key: f"truth {key}" for key in (*NDCG_KEYS, "waitlist NDCG")}
            return {
                "table_1": self.table({"C-index": "C-index", **aucs, **ndcgs}),
                "table_a6": selection_table(self, "fold"),
                "table_a6_by_iteration": selection_table(self, "iteration"),
                "table_a6_whole_life": selection_table(self, "fold", WHOLE_LIFE),
                "figure_a1": error_table(self),
                "figure_a1_whole_life": error_table(self, WHOLE_LIFE),
                "figure_a2": scatter_table(self),
                "gain_truth": gain_table(self, "truth"),
            }
        keys = (*NDCG_KEYS[:2], "waitlist NDCG")
        short = {f"{kind} {key}": f"{kind} {key}" for kind in ("EY", "IPCW") for key in keys}
        return {
            "table_2": self.table({"C-index": "C-index", **aucs, **short, "DR years": "DR value"}),
            "table_a7": self.table({key: f"EY {key}" for key in NDCG_KEYS[:5]}),
            "table_a8": self.table({key: f"IPCW {key}" for key in NDCG_KEYS[:5]}),
            "gain_ey": gain_table(self, "EY"),
            "gain_ipcw": gain_table(self, "IPCW"),
        }

    @cached_property
    def support(self) -> dict[str, PositivityReport]:
        """Whether everybody could have been followed to the horizon, by model of censoring."""
        return support(self)

    @property
    def by_folds(self) -> bool:
        """Whether intervals come from the spread over folds; with few of them, from resampling patients (`pooled`)."""
        return len(self.units) >= ENOUGH_UNITS or self.plan.era == "within"

    @property
    def waitlist(self) -> int:
        """Candidates on a list: as many as asked for, or as the smallest fold has."""
        return min(self.plan.waitlist, min(len(unit.rows) for unit in self.units))

    @property
    def few_rows(self) -> bool:
        """Whether there are fewer patients for each place on a list than intervals need."""
        return sum(len(unit.rows) for unit in self.first) < ENOUGH_ROWS * self.waitlist

    def years_of(self, arm: str) -> tuple[float, float, float]:
        """Years per allocation of an arm, with its 95% interval."""
        if not self.by_folds:
            value, low, high = self.pooled.values.loc[arm, ["value", "low", "high"]]
            return possible(value, low, high, 0.0, self.plan.tau)
        return self._over_folds(self.values(arm, f"{self.judge} value"), self.plan.tau)

    def ndcg_of(self, arm: str) -> tuple[float, float, float]:
        """NDCG over waitlists of an arm, with its 95% interval; NaN where it is not known."""
        if not self.by_folds:
            value, low, high = self._pooled_ndcg.loc[arm, ["ndcg", "ndcg_low", "ndcg_high"]]
            return possible(value, low, high, 0.0, 1.0)
        return self._over_folds(self.values(arm, f"{self.ndcg_judge} waitlist NDCG"), 1.0)

    def _over_folds(self, values: np.ndarray, most: float) -> tuple[float, float, float]:
        mean, half = mean_of(values), corrected_half_width(values[~np.isnan(values)], self.plan.test_to_train)
        return possible(mean, mean - half, mean + half, 0.0, most)

    def gain(self, new: str, old: str) -> tuple[float, float, float, float]:
        """Years per allocation that one arm gains over another, with its 95% interval and p."""
        most = self.plan.tau
        if self.by_folds:
            measure = f"{self.judge} value"
            found = fold_difference(self.values(new, measure), self.values(old, measure), self.plan.test_to_train)
            return *possible(found.mean, found.low, found.high, -most, most), found.p_corrected
        table = self.pooled.differences
        if (new, old) in table.index:
            value, low, high, p = table.loc[(new, old), ["value", "low", "high", "p"]]
        else:
            value, high, low, p = table.loc[(old, new), ["value", "low", "high", "p"]] * (-1, -1, -1, 1)
        return *possible(value, low, high, -most, most), float(p)

    @cached_property
    def years(self) -> pd.DataFrame:
        """Years per allocation and NDCG over waitlists by arm, with intervals, and the gain over the base."""
        import pandas as pd

        rows = []
        for arm in self.arms:
            model, framework = parts_of(arm)
            mean, low, high = self.years_of(arm)
            row = {"model": model, "framework": framework, "years": mean, "low": low, "high": high}
            base = base_of(arm)
            gain = (np.nan,) * 4 if base is None else self.gain(arm, base)
            row |= dict(zip(("gain", "gain low", "gain high", "p"), gain, strict=True))
            row |= dict(zip(("waitlist NDCG", "NDCG low", "NDCG high"), self.ndcg_of(arm), strict=True))
            for other in ("DR", "EY", "IPCW", "expected"):
                if other != self.judge and other in self.units[0].outcomes:
                    row[f"years by {other}"] = mean_of(self.beside(arm, f"{other} value"))
            rows.append(row | {"C-index": mean_of(self.beside(arm, "C-index"))})
        return pd.DataFrame(rows)

    def beside(self, arm: str, measure: str) -> np.ndarray:
        """A measure over the units that years rest on: all, or the first iteration where patients are pooled."""
        values = self.values(arm, measure)
        return values if self.by_folds else values[: self.plan.folds]

    @cached_property
    def pooled(self) -> Comparison:
        """All rows of the first iteration, each ranked by models that did not see it, with bootstrap intervals.

        Every fold has models of its own, on levels of their own: rows are pooled by their rank within the fold.
        """
        return self._compared(self.judge)

    @cached_property
    def _pooled_ndcg(self) -> pd.DataFrame:
        return (self.pooled if self.ndcg_judge == self.judge else self._compared(self.ndcg_judge)).values

    def _compared(self, judge: str) -> Comparison:
        relevance = np.concatenate([unit.outcomes[judge] for unit in self.first])
        scores = {
            arm: np.concatenate([_ranks(unit.scores[j]) for unit in self.first]) for j, arm in enumerate(self.arms)
        }
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

    def _differences(self) -> pd.DataFrame:
        import pandas as pd

        columns = ("value", "low", "high", "p")
        return pd.DataFrame(
            [
                {"model": one, "other": other, **dict(zip(columns, self.gain(one, other), strict=True))}
                for one, other in combinations(self.arms, 2)
            ],
            columns=["model", "other", *columns],
        )

    def _subgroups(self) -> pd.DataFrame:
        first = self.first
        rows = np.concatenate([unit.rows for unit in first])
        scores = {arm: np.concatenate([unit.scores[j] for unit in first]) for j, arm in enumerate(self.arms)}
        ranks = {arm: np.concatenate([_ranks(unit.scores[j]) for unit in first]) for j, arm in enumerate(self.arms)}
        relevance = np.concatenate([unit.outcomes[self.judge] for unit in first])
        strata, named = eras_of(self.dataset, self.plan, rows), self.plan.subgroups
        return subgroup_table(self.dataset, rows, relevance, scores, self.waitlist, ranks, self.plan.k, strata, named)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Weights clipped, fits that did not converge and the like, over all units."""
        found: Counter[str] = Counter()
        for unit in self.units:
            found.update(unit.counts)
        return dict(found)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What report and page are made of; see docs/runs.md for the fields."""
        return summary_of(self)

    def best(self) -> str:
        """The arm with the most years per allocation, the ceiling left out."""
        return str(models_of(self)["years"].idxmax())

    def reading(self) -> str:
        """The run in a few sentences."""
        return reading_of(self)

    def write(self, out: Path) -> None:
        """Write summary.json, the tables (CSV, Markdown, LaTeX) and the figures (PNG, PDF)."""
        from ._figures import write_figures
        from ._writing import write_tables

        write_tables(self, out)
        write_figures(self, out)

    def _repr_html_(self) -> str:
        from html import escape

        from .._views import html_table

        best = self.best()
        marked = html_table(self.years, marked=lambda row: f"{row['model']} {row['framework']}" == best)
        return f"<p>{escape(self.reading())}</p>{marked}"

    def plot(self, name: str = "years", ax: Any = None) -> Any:
        """Draw a chart of the run (`years`, `audit`, `room`, `figure_3a`, …), as in the report; return the axes."""
        from .._views import draw
        from ._figures import charts_of

        charts = charts_of(self.tables, self.dataset.unit, self.best(), self.plan.tau)
        if name not in charts:
            raise ValueError(f"there is no chart {name!r}; there are {', '.join(charts)}")
        return draw(charts[name], ax)


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks from 0 to 1, equals sharing theirs."""
    from scipy import stats

    return (stats.rankdata(scores) - 0.5) / len(scores)
