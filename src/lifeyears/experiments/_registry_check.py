"""The simulated registry beside the paper's cohort: what was calibrated, and what came out by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..data import Dataset, TablePreprocessor, simulate_registry
from ..metrics import auc_at, concordance_index, ndcg_score
from ..outcome import Outcome
from ._truth import HORIZON, five_models

if TYPE_CHECKING:
    import pandas as pd

QUANTILES = {"median": 0.5, "75%": 0.75, "90%": 0.9, "95%": 0.95, "99%": 0.99, "maximum": 1.0}
# The paper's Tables A4 and A5 (all, observed, censored), on the UNOS registry.
PAPER_FOLLOW_UP = {
    "median": (5.60, 5.71, 5.25),
    "75%": (10.83, 11.46, 10.01),
    "90%": (16.32, 17.01, 15.82),
    "95%": (20.01, 20.37, 19.64),
    "99%": (26.76, 26.42, 27.01),
    "maximum": (36.02, 35.25, 36.02),
}
PAPER_CENSORED = 0.4947
# Its Table 1 (events only: C-index, NDCG@1, NDCG) and Table 2 (full: C-index, AUC at 5 years), `standard` rows.
PAPER_EVENTS = {
    "KM": (0.500, 0.230, 0.850),
    "Cox": (0.623, 0.288, 0.898),
    "AFT": (0.631, 0.264, 0.895),
    "DeepSurv": (0.626, 0.272, 0.897),
    "DeepHit": (0.626, 0.216, 0.895),
}
PAPER_FULL = {
    "KM": (0.500, 0.500),
    "Cox": (0.601, 0.627),
    "AFT": (0.599, 0.636),
    "DeepSurv": (0.601, 0.627),
    "DeepHit": (0.590, 0.582),
}


@dataclass(frozen=True, eq=False)
class RegistryCheck:
    """Three tables, the paper's figures beside ours."""

    follow_up: pd.DataFrame
    events_only: pd.DataFrame
    full: pd.DataFrame


def registry_check(
    models: Sequence[str] = ("KM", "Cox", "AFT", "DeepSurv", "DeepHit"),
    n: int = 60_055,
    seed: int = 0,
    folds: int = 5,
    progress: Callable[[str], object] = lambda message: None,
) -> RegistryCheck:
    """Put the simulated registry beside the paper's cohort.

    Calibrated: censored share, quantiles of follow-up, and the C-indices of Cox. All else is reported as it comes.

    Parameters
    ----------
    models : sequence of str
        Rows to compute; KM and Cox are what was calibrated to.
    n, seed, folds : int
        Size and seed of the simulation, and folds of the cross-validation.
    progress : callable
        Told in a few words what is being done.
    """
    import pandas as pd

    data = simulate_registry(n, random_state=seed)
    seen = data.y.event
    # the paper's warm-up uses patients with an observed event alone, and knows their times in full
    alone = Dataset(data.X[seen].reset_index(drop=True), data.y[seen], "events only", horizon=HORIZON)
    events, full = [], []
    for name in models:
        progress(f"{name} on events only")
        index, _, first, whole = _cross_validated(name, alone, folds, seed)
        paper = PAPER_EVENTS[name]
        events.append((name, index, paper[0], first, paper[1], whole, paper[2]))
        progress(f"{name} on the full cohort")
        index, auc, _, _ = _cross_validated(name, data, folds, seed)
        full.append((name, index, PAPER_FULL[name][0], auc, PAPER_FULL[name][1]))
    measures = ("C-index", "NDCG@1", "NDCG")
    paired = [f"{m}{p}" for m in measures for p in ("", ", UNOS")]
    return RegistryCheck(
        follow_up(data.y),
        pd.DataFrame(events, columns=["model", *paired]),
        pd.DataFrame(full, columns=["model", "C-index", "C-index, UNOS", "AUC at 5 years", "AUC at 5 years, UNOS"]),
    )


def follow_up(y: Outcome) -> pd.DataFrame:
    """Censored share and quantiles of follow-up of a cohort, beside the paper's."""
    import pandas as pd

    groups = {"all": y.time, "observed": y.time[y.event], "censored": y.time[~y.event]}
    rows = [
        (f"{name}, {group}", float(np.quantile(times, level)), PAPER_FOLLOW_UP[name][column])
        for name, level in QUANTILES.items()
        for column, (group, times) in enumerate(groups.items())
    ]
    rows.insert(0, ("share censored", 1 - y.n_events / len(y), PAPER_CENSORED))
    table = pd.DataFrame(rows, columns=["years", "simulated", "UNOS (paper)"])
    table["difference %"] = 100 * (table["simulated"] / table["UNOS (paper)"] - 1)
    return table


def _cross_validated(name: str, data: Dataset, folds: int, seed: int) -> tuple[float, float, float, float]:
    """C-index, AUC at 5 years, NDCG@1 and NDCG by the times as they are, each the mean over the folds."""
    from sklearn.model_selection import KFold

    rows = []
    for train, test in KFold(folds, shuffle=True, random_state=seed).split(data.X):
        table = TablePreprocessor().fit(data.X.iloc[train])
        model = five_models(HORIZON, seed)[name]
        model.fit(table.transform(data.X.iloc[train]), data.y[train])
        scores = model.predict(table.transform(data.X.iloc[test]))
        y = data.y[test]
        rows.append(
            (
                concordance_index(y, scores),
                auc_at(y, scores, 5.0),
                ndcg_score(y.time, scores, k=1),
                ndcg_score(y.time, scores),
            )
        )
    index, auc, first, whole = np.mean(rows, axis=0)
    return float(index), float(auc), float(first), float(whole)
