"""Who gets the hearts: the share of allocations, years and calibration by subgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data import Dataset
from ..metrics._gain import rank_weights

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 200
FEWEST = 30  # smaller groups are left out


def groups_of(data: Dataset, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Labels of the rows by age, sex, race, insurance, region, blood group, sensitisation, centre size and era."""
    import pandas as pd

    table = data.table.iloc[rows]
    found: dict[str, np.ndarray] = {}
    if "age" in table and pd.api.types.is_numeric_dtype(table["age"]):
        found["age"] = _cut(table["age"], [-np.inf, 40, 55, 65, np.inf], ["under 40", "40–54", "55–64", "65 and over"])
    for name in ("sex", "race_ethnicity", "insurance", "region", "blood_group"):
        if name in table:
            found[name] = table[name].astype(object).where(table[name].notna(), "missing").astype(str).to_numpy()
    if "antibodies_class_1" in table:
        found["sensitisation"] = _cut(
            table["antibodies_class_1"], [-np.inf, 0, 20, np.inf], ["none", "to 20%", "over 20%"]
        )
    if "centre_volume" in table:
        edges = [-np.inf, *np.quantile(table["centre_volume"].dropna(), [1 / 3, 2 / 3]), np.inf]
        found["centre size"] = _cut(table["centre_volume"], edges, ["small", "medium", "large"])
    if data.entry is not None:
        decade = (np.asarray(data.entry)[rows] // 10 * 10).astype(int)
        found["era"] = np.array([f"{year}s" for year in decade])
    return found


def subgroup_table(
    data: Dataset, rows: np.ndarray, relevance: np.ndarray, scores: dict[str, np.ndarray], waitlist: int
) -> pd.DataFrame:
    """For each subgroup and arm: share of allocations (k = 1), years, mean predicted less mean outcome; with intervals.

    An allocation goes to the top of a waitlist of random candidates; a patient's chance of it is the weight of their
    rank. Intervals are 95% percentiles over resampled patients.
    """
    import pandas as pd

    n = len(rows)
    draws = np.random.default_rng(0).poisson(1.0, size=(RESAMPLES, n)).astype(np.float32)
    table = []
    for question, labels in groups_of(data, rows).items():
        kinds, codes = np.unique(labels, return_inverse=True)
        for arm, score in scores.items():
            chance = chances(score, waitlist)
            totals = draws @ chance
            drawn = totals > 0  # a resample may leave out the only ones with a chance
            for kind, label in enumerate(kinds):
                members = codes == kind
                if members.sum() < FEWEST:
                    continue
                share = float(chance[members].sum() / chance.sum())
                shares = (draws[:, members] @ chance[members])[drawn] / totals[drawn]
                gap = score[members] - relevance[members]
                half = 1.96 * gap.std(ddof=1) / np.sqrt(members.sum())
                won = chance[members].sum()
                table.append(
                    {
                        "by": question,
                        "group": str(label),
                        "arm": arm,
                        "patients": int(members.sum()),
                        "share of patients": float(members.mean()),
                        "share of allocations": share,
                        "low": float(np.quantile(shares, 0.025)),
                        "high": float(np.quantile(shares, 0.975)),
                        "years of allocations": float(chance[members] @ relevance[members] / won) if won else np.nan,
                        "predicted less outcome": float(gap.mean()),
                        "gap low": float(gap.mean() - half),
                        "gap high": float(gap.mean() + half),
                    }
                )
    return pd.DataFrame(table)


def chances(scores: np.ndarray, waitlist: int) -> np.ndarray:
    """Each patient's chance to be the top of a random waitlist; equals share theirs."""
    ranked = np.empty(len(scores))
    ranked[np.argsort(-scores, kind="stable")] = rank_weights(len(scores), 1, waitlist)
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    return (np.bincount(place, ranked) / count)[place]


def _cut(values: pd.Series, edges: list[float], names: list[str]) -> np.ndarray:
    import pandas as pd

    found = pd.cut(
        values.astype(float), edges, labels=names, duplicates="drop" if len(set(edges)) < len(edges) else "raise"
    )
    return found.astype(object).where(found.notna(), "missing").astype(str).to_numpy()
