"""The simulated registry beside the paper's cohort: what was calibrated, and what came out by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...curves import product_limit
from ...data import Dataset, TablePreprocessor, simulate_registry
from ...folds import draw_folds
from ...metrics import auc_at, concordance_index, ndcg_score
from ...outcome import Outcome
from ...progress import Progress, no_progress
from .._plan import MODELS
from ..building import build_model
from ..paper import load_paper_table

if TYPE_CHECKING:
    import pandas as pd

    from ..._typing import FloatArray

HORIZON = 20.0
QUANTILES = {"median": 0.5, "75%": 0.75, "90%": 0.9, "95%": 0.95, "99%": 0.99, "maximum": 1.0}  # rows of Table A5
# Published survival of recipients, percent alive after so many years, and who they are.
PUBLISHED_SURVIVAL = {
    "2011–13": {1: 90.3, 3: 84.7, 5: 79.6},
    "all years": {1: 82.6, 5: 70.8, 10: 54.3},
}
AUC_TIMES = (5.0, 10.0, 15.0)  # the paper has the first alone


@dataclass(frozen=True, eq=False)
class RegistryCheck:
    """Four tables, the paper's (or published) figures beside ours.

    Attributes
    ----------
    follow_up : DataFrame
        Censored share, in percent, and quantiles of follow-up, in years.
    survival : DataFrame
        Percent alive after some years, of those transplanted in 2011–13 and of all.
    events_only : DataFrame
        One row a model, cross-validated on patients with an observed event: C-index, NDCG@1 and NDCG, beside Table 1.
    full : DataFrame
        One row a model, cross-validated on the full cohort: C-index and AUC at 5 years, beside Table 2; AUC at 10 and
        15 years.
    """

    follow_up: pd.DataFrame
    survival: pd.DataFrame
    events_only: pd.DataFrame
    full: pd.DataFrame


def registry_check(
    models: Sequence[str] = MODELS,
    n: int = 60_055,
    seed: int = 0,
    folds: int = 5,
    progress: Progress = no_progress,
) -> RegistryCheck:
    """Put the simulated registry beside the paper's cohort.

    Calibrated: censored share, quantiles of follow-up, survival by era, the value of a random ranking, and Cox's
    C-indices. All else is reported as it comes.

    Parameters
    ----------
    models : sequence of str
        Rows to compute; KM and Cox are what was calibrated to.
    n, seed, folds : int
        Size and seed of the simulation, and folds of the cross-validation.
    progress : Progress
        Called with the step under way.

    Returns
    -------
    RegistryCheck
        `.follow_up`, `.survival`, `.events_only`, `.full`.
    """
    import pandas as pd

    data = simulate_registry(n, random_state=seed)
    observed = data.y.event
    # the paper's warm-up uses patients with an observed event alone, and knows their times in full
    alone = Dataset(data.X[observed].reset_index(drop=True), data.y[observed], "events only", horizon=HORIZON)
    events, full = [], []
    table_1, table_2 = (
        load_paper_table(name).query("method == 'none'").set_index("model") for name in ("table_1", "table_2")
    )
    for name in models:
        progress(f"{name} on events only")
        row = _cross_validated(name, alone, folds, seed)
        events.append(
            {
                "model": name,
                **_beside(row, {"C-index": "c_index", "NDCG@1": "ndcg_1", "NDCG": "ndcg"}, table_1.loc[name]),
            }
        )
        progress(f"{name} on the full cohort")
        row = _cross_validated(name, data, folds, seed)
        later = {measure: row[measure] for measure in map(_auc_name, AUC_TIMES[1:])}
        paper_keys = {"C-index": "c_index", _auc_name(5.0): "auc_5"}
        full.append({"model": name, **_beside(row, paper_keys, table_2.loc[name]), **later})
    return RegistryCheck(
        describe_follow_up(data.y),
        estimate_survival_by_era(data.y, data.X["transplant_year"].to_numpy()),
        pd.DataFrame(events),
        pd.DataFrame(full),
    )


def describe_follow_up(y: Outcome) -> pd.DataFrame:
    """Tabulate the censored share and quantiles of follow-up of a cohort, beside the paper's.

    The difference is in percent of the paper's; that of the share, a percentage itself, in points.
    """
    import pandas as pd

    groups = {"all": y.time, "observed": y.time[y.event], "censored": y.time[~y.event]}
    theirs = load_paper_table("follow_up").drop(columns="follow_up").to_numpy()
    rows = [
        (f"{name}, {group}", float(np.quantile(times, level)), float(theirs[row, column]))
        for row, (name, level) in enumerate(QUANTILES.items())
        for column, (group, times) in enumerate(groups.items())
    ]
    censored = float(load_paper_table("cohort")["censored_percent"].iloc[0])
    rows.insert(0, ("share censored, %", 100 * (1 - y.n_events / len(y)), censored))
    table = pd.DataFrame(rows, columns=["years", "simulated", "UNOS (paper)"])
    off = table["simulated"] - table["UNOS (paper)"]
    table["difference"] = off.where(table.index == 0, 100 * off / table["UNOS (paper)"])
    return table


def estimate_survival_by_era(y: Outcome, transplant_year: FloatArray) -> pd.DataFrame:
    """Estimate survival in percent, of those transplanted in 2011–13 and of all, beside published figures."""
    import pandas as pd

    rows = []
    for era, published in PUBLISHED_SURVIVAL.items():
        inside = (transplant_year >= 2011) & (transplant_year <= 2013) if era == "2011–13" else np.full(len(y), True)
        limit = product_limit(y[inside]) if inside.any() else None
        for years, figure in published.items():
            alive = np.nan
            if limit is not None:
                before = np.searchsorted(limit.times, years, side="right")
                alive = 100 * float(limit.survival[before - 1]) if before else 100.0
            rows.append((f"{years} year{'s' if years > 1 else ''}, {era}", alive, figure, alive - figure))
    return pd.DataFrame(rows, columns=["alive after, %", "simulated", "published", "difference"])


def _beside(row: dict[str, float], keys: dict[str, str], paper: pd.Series) -> dict[str, float]:
    """Measures, each followed by the paper's figure, which has a key of its own."""
    return {
        name: value
        for measure, key in keys.items()
        for name, value in ((measure, row[measure]), (f"{measure}, UNOS", float(paper[key])))
    }


def _auc(y: Outcome, scores: FloatArray, time: float) -> float:
    """AUC, or NaN where a small cohort has nobody on one side of the time."""
    if not (y.event & (y.time <= time)).any() or not (y.time > time).any():
        return np.nan
    return float(auc_at(y, scores, time))


def _auc_name(time: float) -> str:
    return f"AUC at {time:g} years"


def _cross_validated(name: str, data: Dataset, folds: int, seed: int) -> dict[str, float]:
    """C-index, AUCs, NDCG@1 and NDCG by the times as they are, each the mean over the folds."""
    rows = []
    no_strata = np.arange(len(data))  # every row a label of its own: folds regardless of the event
    for train, test in draw_folds(no_strata, folds, random_state=seed):
        table = TablePreprocessor().fit(data.X.iloc[train])
        model = build_model(name, HORIZON, seed)
        model.fit(table.transform(data.X.iloc[train]), data.y[train])
        scores = model.predict(table.transform(data.X.iloc[test]))
        y = data.y[test]
        rows.append(
            (
                concordance_index(y, scores),
                *(_auc(y, scores, time) for time in AUC_TIMES),
                ndcg_score(y.time, scores, k=1),
                ndcg_score(y.time, scores),
            )
        )
    measures = ("C-index", *map(_auc_name, AUC_TIMES), "NDCG@1", "NDCG")
    return dict(zip(measures, np.mean(rows, axis=0).tolist(), strict=True))
