"""Who gets the hearts: the share of allocations, years and calibration by subgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data import Dataset
from ..metrics._gain import rank_weights
from ._plan import base_of

if TYPE_CHECKING:
    import pandas as pd

RESAMPLES = 200
FEWEST = 30  # smaller groups are left out
ORDER = ("under 40", "40–54", "55–64", "65 and over", "none", "to 20%", "over 20%", "small", "medium", "large")
CHUNK_BYTES = 64_000_000


def groups_of(data: Dataset, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Labels of the rows by age, sex, race, insurance, region, blood group, sensitisation, centre size and era."""
    table = data.table.iloc[rows]
    table = table.set_axis([str(name).lower() for name in table.columns], axis=1)
    table = table.loc[:, ~table.columns.duplicated()]
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
    rank (`ranks`, where scores of several folds are not on one level). `change` is the share of a ranker less that of
    its base model: who enters and who leaves the top. Intervals are 95% percentiles over resampled patients, the same
    for all arms.
    """
    import pandas as pd

    arms = list(scores)
    chance = np.array([chances(scores[arm] if ranks is None else ranks[arm], waitlist) for arm in arms])
    groups = [
        (question, str(label), np.flatnonzero(labels == label))
        for question, labels in groups_of(data, rows).items()
        for label in sorted(np.unique(labels), key=_place)
    ]
    groups = [group for group in groups if len(group[2]) >= FEWEST]
    won = np.array(
        [[chance[:, members].sum(axis=1), chance[:, members] @ relevance[members]] for *_, members in groups]
    )
    share = won[:, 0] / chance.sum(axis=1) if groups else won
    drawn_share, drawn_years = _resampled(chance, relevance, [members for *_, members in groups])
    table = []
    for place, (question, label, members) in enumerate(groups):
        for j, arm in enumerate(arms):
            gap = scores[arm][members] - relevance[members]
            half = 1.96 * gap.std(ddof=1) / np.sqrt(len(members))
            row = {
                "by": question,
                "group": label,
                "arm": arm,
                "patients": len(members),
                "share of patients": len(members) / len(rows),
                "share of allocations": float(share[place, j]),
                **_ends("", drawn_share[:, place, j]),
            }
            base = base_of(arm)
            changed = base is not None
            b = j if base is None else arms.index(base)
            row |= {
                "share change": float(share[place, j] - share[place, b]) if changed else np.nan,
                **_ends("change ", drawn_share[:, place, j] - drawn_share[:, place, b] if changed else np.array([])),
                "years of allocations": float(won[place, 1, j] / won[place, 0, j]) if won[place, 0, j] else np.nan,
                **_ends("years ", drawn_years[:, place, j]),
                "predicted less outcome": float(gap.mean()),
                "gap low": float(gap.mean() - half),
                "gap high": float(gap.mean() + half),
            }
            table.append(row)
    return pd.DataFrame(table)


def _resampled(chance: np.ndarray, relevance: np.ndarray, groups: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Share and years of every group under every arm, in resamples of the patients; a few resamples at a time."""
    rng = np.random.default_rng(0)
    n = chance.shape[1]
    weights = chance.T.astype(np.float32)
    worth = weights * relevance[:, None].astype(np.float32)
    shares = np.empty((RESAMPLES, len(groups), len(chance)))
    years = np.empty_like(shares)
    step = max(1, CHUNK_BYTES // (4 * n))
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, RESAMPLES, step):
            part = slice(start, min(start + step, RESAMPLES))
            draws = rng.poisson(1.0, size=(part.stop - part.start, n)).astype(np.float32)
            totals = draws @ weights  # a resample may leave out the only ones with a chance: NaN then
            for place, members in enumerate(groups):
                chosen = draws[:, members]
                won = chosen @ weights[members]
                shares[part, place] = won / totals
                years[part, place] = chosen @ worth[members] / won
    return shares, years


def _ends(name: str, samples: np.ndarray) -> dict[str, float]:
    """The 95% interval of resamples; those without a value are left out."""
    known = samples[np.isfinite(samples)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (np.nan, np.nan)
    return {f"{name}low": float(low), f"{name}high": float(high)}


def chances(scores: np.ndarray, waitlist: int) -> np.ndarray:
    """Each patient's chance to be the top of a random waitlist; equals share theirs."""
    ranked = np.empty(len(scores))
    ranked[np.argsort(-scores, kind="stable")] = rank_weights(len(scores), 1, waitlist)
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    return (np.bincount(place, ranked) / count)[place]


def _place(label: str) -> tuple[int, float, str]:
    """Groups in the order people expect: cuts from low to high, numbers as numbers, missing last."""
    if label in ORDER:
        return 0, ORDER.index(label), ""
    return (1, float(label), "") if label.isdigit() else (3 if label == "missing" else 2, 0.0, label)


def _is_number(table: pd.DataFrame, name: str) -> bool:
    import pandas as pd

    return name in table and pd.api.types.is_numeric_dtype(table[name])


def _cut(values: pd.Series, edges: list[float], names: list[str]) -> np.ndarray:
    """Labels by edges, each the largest value of its group; missing values apart."""
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    labels = np.array(names, dtype=object)[np.searchsorted(edges, np.nan_to_num(numbers))]
    return np.where(np.isnan(numbers), "missing", labels).astype(str)
