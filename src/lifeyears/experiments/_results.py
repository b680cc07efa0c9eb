"""What a run says: its measures, tables and summary, all made from the units."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Dataset, cohort_summary
from ..metrics import Comparison, compare, pairwise_accuracy
from ._plan import Plan
from ._statistics import corrected_half_width, fold_difference
from ._subgroups import subgroup_table
from ._unit import UnitResult

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
NDCG_KEYS = ("NDCG@1", "NDCG@5", "NDCG@10", "NDCG@50", "NDCG@100", "NDCG")
RANDOM_STATE = 0
ENOUGH_ROWS = 40  # for each place on a list: docs/estimators.md has the coverage
ENOUGH_UNITS = 10  # fewer folds than this have too little spread to judge by


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Attributes
    ----------
    plan : Plan
    units : list of UnitResult
        In the order of ``plan.units``.
    dataset : Dataset
    """

    plan: Plan
    units: list[UnitResult]
    dataset: Dataset

    @property
    def arms(self) -> list[str]:
        """Rows of the tables, "Cox ranker" and so on; "truth known" last, where a simulation knows it."""
        return list(self.units[0].measures)

    @property
    def judge(self) -> str:
        """By what relevance this run judges best: the truth, the true expectation, or doubly robust."""
        outcomes = self.units[0].outcomes
        return next(name for name in ("truth", "expected", "DR") if name in outcomes)

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
            model, framework = arm.split(" ")
            row: dict[str, Any] = {"model": model, "framework": framework}
            for heading, measure in columns.items():
                values = self.values(arm, measure)
                known = values[~np.isnan(values)]
                row[heading] = known.mean() if len(known) else np.nan
                row[f"{heading} sd"] = known.std(ddof=1) if len(known) > 1 else np.nan
                if framework in ("ranker", "default"):
                    found = fold_difference(values, self.values(f"{model} standard", measure), self.plan.folds)
                    row[f"{heading} stars"] = found.stars
                    row[f"{heading} p wilcoxon"] = found.p_wilcoxon
                    row[f"{heading} p corrected"] = found.p_corrected
            rows.append(row)
        return pd.DataFrame(rows)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table of the run by name; those of the paper have its numbers."""
        made: dict[str, pd.DataFrame] = {"years": self._years(), "comparison": self._pooled_table()}
        if self.plan.protocol == "artificial":
            aucs = {name: name for name in self.units[0].measures[self.arms[0]] if name.startswith("AUC@")}
            made["table_1"] = self.table({"C-index": "C-index", **aucs, **{k: f"truth {k}" for k in NDCG_KEYS}})
            made["table_a6"] = self._selection("fold")
            made["table_a6_by_iteration"] = self._selection("iteration")
            made["figure_a1"] = self._errors()
        else:
            short = {f"{kind} {k}": f"{kind} {k}" for kind in ("EY", "IPCW") for k in NDCG_KEYS[:2]}
            aucs = {name: name for name in self.units[0].measures[self.arms[0]] if name.startswith("AUC@")}
            made["table_2"] = self.table({"C-index": "C-index", **aucs, **short})
            made["table_a7"] = self.table({k: f"EY {k}" for k in NDCG_KEYS[:5]})
            made["table_a8"] = self.table({k: f"IPCW {k}" for k in NDCG_KEYS[:5]})
        for kind in ("truth",) if self.plan.protocol == "artificial" else ("EY", "IPCW"):
            made[f"gain_{kind.lower()}"] = self._gains(kind)
        described = cohort_summary(self.dataset.y, self.dataset.X)
        made["cohort"] = described.cohort
        made["follow_up"] = described.followup.reset_index(names="follow-up")
        subgroups = self._subgroups()
        if len(subgroups):
            made["subgroups"] = subgroups
        made["measures"] = self.measures
        return made

    @property
    def by_folds(self) -> bool:
        """Whether intervals come from the spread over folds; with few of them, from resampling patients (`pooled`)."""
        return len(self.units) >= ENOUGH_UNITS or self.plan.era == "within"

    @property
    def waitlist(self) -> int:
        """Candidates on a list: as many as asked for, or as the smallest fold has."""
        return min(self.plan.waitlist, min(len(unit.rows) for unit in self.units))

    def years_of(self, arm: str) -> tuple[float, float, float]:
        """Years per allocation of an arm, with its 95% interval."""
        if not self.by_folds:
            value, low, high = self.pooled.values.loc[arm, ["value", "low", "high"]]
            return float(value), float(low), float(high)
        values = self.values(arm, f"{self.judge} value")
        mean, half = _mean(values), corrected_half_width(values[~np.isnan(values)], self.plan.folds)
        return mean, mean - half, mean + half

    def gain(self, new: str, old: str) -> tuple[float, float, float, float]:
        """Years per allocation that one arm gains over another, with its 95% interval and p."""
        if self.by_folds:
            measure = f"{self.judge} value"
            found = fold_difference(self.values(new, measure), self.values(old, measure), self.plan.folds)
            return found.mean, found.low, found.high, found.p_corrected
        table = self.pooled.differences
        if (new, old) in table.index:
            value, low, high, p = table.loc[(new, old), ["value", "low", "high", "p"]]
            return float(value), float(low), float(high), float(p)
        value, low, high, p = table.loc[(old, new), ["value", "low", "high", "p"]]
        return -float(value), -float(high), -float(low), float(p)

    def _years(self) -> pd.DataFrame:
        """Years per allocation by arm, with intervals, and the gain over the base."""
        import pandas as pd

        rows = []
        for arm in self.arms:
            model, framework = arm.split(" ")
            mean, low, high = self.years_of(arm)
            row = {"model": model, "framework": framework, "years": mean, "low": low, "high": high}
            if framework in ("ranker", "default"):
                gain, low, high, p = self.gain(arm, f"{model} standard")
                row |= {"gain": gain, "gain low": low, "gain high": high, "p": p}
            for other in ("DR", "EY", "IPCW", "expected"):
                if other != self.judge and other in self.units[0].outcomes:
                    row[f"years by {other}"] = _mean(self.values(arm, f"{other} value"))
            rows.append(row | {"C-index": _mean(self.values(arm, "C-index"))})
        return pd.DataFrame(rows)

    @cached_property
    def pooled(self) -> Comparison:
        """All rows of the first iteration, each ranked by models that did not see it, with bootstrap intervals.

        Every fold has models of its own, on levels of their own: rows are pooled by their rank within the fold.
        """
        first = [unit for (i, _), unit in zip(self.plan.units, self.units, strict=True) if i == 0]
        relevance = np.concatenate([unit.outcomes[self.judge] for unit in first])
        scores = {arm: np.concatenate([_ranks(unit.scores[j]) for unit in first]) for j, arm in enumerate(self.arms)}
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

    def _pooled_table(self) -> pd.DataFrame:
        table = self.pooled.differences.reset_index()
        table.columns = [str(name) for name in table.columns]
        return table

    def _selection(self, by: str) -> pd.DataFrame:
        """Table A6: how often an estimate names the better of two models."""
        import pandas as pd

        arms = self._papers_arms()
        rows = []
        for estimator in self._estimators():
            row: dict[str, Any] = {"estimator": estimator}
            for key in NDCG_KEYS:
                truth = np.array([self.values(arm, f"restricted {key}") for arm in arms]).T
                found = np.array([self.values(arm, f"{estimator} {key}") for arm in arms]).T
                if by == "iteration":
                    truth, found = (
                        x.reshape(self.plan.iterations, self.plan.folds, -1).mean(axis=1) for x in (truth, found)
                    )
                rates = [
                    pairwise_accuracy(t, f)
                    for t, f in zip(truth, found, strict=True)
                    if not (np.isnan(t).any() or np.isnan(f).any())
                ]
                row[key] = 100 * _mean(rates) if rates else np.nan
            rows.append(row)
        return pd.DataFrame(rows)

    def _errors(self) -> pd.DataFrame:
        """Figure A1 and A2: mean absolute error of estimated NDCG, and Spearman's ρ over all units and arms."""
        import pandas as pd
        from scipy import stats

        rows = []
        for estimator in self._estimators():
            row: dict[str, Any] = {"estimator": estimator}
            for key in NDCG_KEYS:
                truth = np.concatenate([self.values(arm, f"restricted {key}") for arm in self._papers_arms()])
                found = np.concatenate([self.values(arm, f"{estimator} {key}") for arm in self._papers_arms()])
                known = ~(np.isnan(truth) | np.isnan(found))
                row[f"{key} MAE"] = float(np.abs(found - truth)[known].mean()) if known.any() else np.nan
                enough = known.sum() > 2 and np.ptp(truth[known]) > 0 and np.ptp(found[known]) > 0
                row[f"{key} rho"] = float(stats.spearmanr(truth[known], found[known]).statistic) if enough else np.nan
            rows.append(row)
        return pd.DataFrame(rows)

    def _papers_arms(self) -> list[str]:
        """The paper's: each model, and its ranker."""
        return [arm for arm in self.arms if arm.endswith((" standard", " ranker"))]

    def _estimators(self) -> list[str]:
        names = [f"EY {model}" for model in self.plan.models]
        return ["IPCW KM", "IPCW Cox", "IPCW", *names, "EY"]

    def _gains(self, kind: str) -> pd.DataFrame:
        """Figures 2 and 3: mean gain in NDCG@k of a ranker over its base, in percent."""
        import pandas as pd

        rows = []
        for arm in self.arms:
            model, framework = arm.split(" ")
            if framework not in ("ranker", "default"):
                continue
            row: dict[str, Any] = {"model": model, "framework": framework}
            for key in NDCG_KEYS:
                base = _mean(self.values(f"{model} standard", f"{kind} {key}"))
                row[key] = 100 * (_mean(self.values(arm, f"{kind} {key}")) / base - 1) if base > 0 else np.nan
            rows.append(row)
        return pd.DataFrame(rows)

    def _subgroups(self) -> pd.DataFrame:
        first = [unit for (i, _), unit in zip(self.plan.units, self.units, strict=True) if i == 0]
        rows = np.concatenate([unit.rows for unit in first])
        scores = {arm: np.concatenate([unit.scores[j] for unit in first]) for j, arm in enumerate(self.arms)}
        ranks = {arm: np.concatenate([_ranks(unit.scores[j]) for unit in first]) for j, arm in enumerate(self.arms)}
        relevance = np.concatenate([unit.outcomes[self.judge] for unit in first])
        return subgroup_table(self.dataset, rows, relevance, scores, self.waitlist, ranks)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What report and page are made of; see docs/runs.md for the fields."""
        data = self.dataset
        counts: dict[str, int] = {}
        for unit in self.units:
            for name, value in unit.counts.items():
                counts[name] = counts.get(name, 0) + value
        return {
            "schema": SCHEMA,
            "protocol": self.plan.protocol,
            "plan": self.plan.as_dict(),
            "data": {
                "name": data.name,
                "rows": len(data),
                "features": data.X.shape[1],
                "events": int(data.y.n_events),
                "unit": data.unit,
                "source": data.source,
                "simulated": data.truth is not None,
            },
            "judge": self.judge,
            "intervals": "corrected resampled t over folds" if self.by_folds else "bootstrap-t over pooled patients",
            "waitlist": {"asked": self.plan.waitlist, "used": self.waitlist, "k": self.plan.k},
            "counts": counts,
            "best": self.best(),
            "reading": self.reading(),
            "tables": {
                name: json.loads(table.to_json(orient="split"))
                for name, table in self.tables.items()
                if name != "measures"
            },
        }

    def best(self) -> str:
        """The arm with the most years per allocation, the ceiling left out."""
        years = self._years()
        years = years[years["model"] != "truth"]
        row = years.loc[years["years"].idxmax()]
        return f"{row['model']} {row['framework']}"

    def reading(self) -> str:
        """The run in a few sentences."""
        years = self._years().assign(arm=lambda t: t["model"] + " " + t["framework"]).set_index("arm")
        models = years[years["model"] != "truth"]
        best, by_index = models["years"].idxmax(), models["C-index"].idxmax()
        unit = self.dataset.unit
        what = {"truth": "the true lifetimes", "expected": "the true expected life", "DR": "doubly robust estimates"}
        text = (
            f"Most {unit} per allocation: {best}, {models.loc[best, 'years']:.2f} "
            f"({models.loc[best, 'low']:.2f} to {models.loc[best, 'high']:.2f}), by {what[self.judge]}, top pick of a "
            f"waitlist of {self.waitlist}. "
        )
        if by_index == best:
            text += "C-index would have chosen the same. "
        else:
            cost = models.loc[best, "years"] - models.loc[by_index, "years"]
            text += f"C-index would have chosen {by_index}, which costs {cost:.2f} {unit} per allocation. "
        others = [arm for arm in models.index if arm != best]
        if others:
            second = models.loc[others, "years"].idxmax()
            gain, low, high, _ = self.gain(best, second)
            text += f"Over the next best, {second}, it gains {gain:.2f} ({low:.2f} to {high:.2f}): " + (
                "enough to say so." if low > 0 else "not enough evidence to say that it is better."
            )
        rows = sum(len(unit.rows) for unit in self.units[: self.plan.folds])
        if not self.by_folds and rows < ENOUGH_ROWS * self.waitlist:
            text += (
                f" There are {rows / self.waitlist:.0f} patients for each place on the list, fewer than {ENOUGH_ROWS}: "
                "intervals cover less often than they say."
            )
        return text

    def write(self, out: Path) -> None:
        """Write summary.json, the tables (CSV, Markdown, LaTeX) and the figures (PNG, PDF)."""
        from ._figures import write_figures
        from ._writing import write_tables

        write_tables(self, out)
        write_figures(self, out)

    def _repr_html_(self) -> str:
        return f"<p>{self.reading()}</p>" + self._years().to_html(index=False, float_format="{:.3f}".format)


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks from 0 to 1, equals sharing theirs."""
    from scipy import stats

    return (stats.rankdata(scores) - 0.5) / len(scores)


def _mean(values: Any) -> float:
    """The mean of what is known; NaN if nothing is."""
    values = np.asarray(values, dtype=float)
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
