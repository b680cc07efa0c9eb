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
    table = data.table.iloc[rows]
    found: dict[str, np.ndarray] = {}
    if _is_number(table, "age"):
        found["age"] = _cut(table["age"], [39.999, 54.999, 64.999], ["under 40", "40–54", "55–64", "65 and over"])
    for name in ("sex", "race_ethnicity", "insurance", "region", "blood_group"):
        if name in table:
            found[name] = table[name].astype(object).where(table[name].notna(), "missing").astype(str).to_numpy()
    if _is_number(table, "antibodies_class_1"):
        found["sensitisation"] = _cut(table["antibodies_class_1"], [0, 20], ["none", "to 20%", "over 20%"])
    if _is_number(table, "centre_volume"):
        thirds = table["centre_volume"].quantile([1 / 3, 2 / 3]).tolist()
        if thirds[0] < thirds[1]:
            found["centre size"] = _cut(table["centre_volume"], thirds, ["small", "medium", "large"])
    if data.entry is not None:
        decade = (np.asarray(data.entry)[rows] // 10 * 10).astype(int)
        found["era"] = np.array([f"{year}s" for year in decade])
    return found


def subgroup_table(
    data: Dataset,
    rows: np.ndarray,
    relevance: np.ndarray,
    scores: dict[str, np.ndarray],
    waitlist: int,
    ranks: dict[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """For each subgroup and arm: share of allocations (k = 1), years, mean predicted less mean outcome; with intervals.

    An allocation goes to the top of a waitlist of random candidates; a patient's chance of it is the weight of their
    rank (`ranks`, where scores of several folds are not on one level). Intervals are 95% percentiles over resampled
    patients.
    """
    import pandas as pd

    n = len(rows)
    draws = np.random.default_rng(0).poisson(1.0, size=(RESAMPLES, n)).astype(np.float32)
    table = []
    for question, labels in groups_of(data, rows).items():
        kinds, codes = np.unique(labels, return_inverse=True)
        for arm, score in scores.items():
            chance = chances(score if ranks is None else ranks[arm], waitlist)
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


def _is_number(table: pd.DataFrame, name: str) -> bool:
    import pandas as pd

    return name in table and pd.api.types.is_numeric_dtype(table[name])


def _cut(values: pd.Series, edges: list[float], names: list[str]) -> np.ndarray:
    """Labels by edges, each the largest value of its group; missing values apart."""
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    labels = np.array(names, dtype=object)[np.searchsorted(edges, np.nan_to_num(numbers))]
    return np.where(np.isnan(numbers), "missing", labels).astype(str)
