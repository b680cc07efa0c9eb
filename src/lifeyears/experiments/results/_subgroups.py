"""Who gets the hearts: the share of allocations, years and calibration by subgroup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..._typing import FloatArray, IntArray
from ...data import Dataset
from ...metrics import discounts, rank_weights
from ..columns import COLUMN_NAMES, find_column
from ..types import Arm

if TYPE_CHECKING:
    import pandas as pd

LabelArray = NDArray[np.str_]
RESAMPLES = 200
FEWEST_IN_SUBGROUP = 30  # smaller groups are left out
MOST_GROUPS = 8  # of a column of numbers that is asked for; more values are cut into thirds
ORDER = (
    *("under 40", "40–54", "55–64", "65 and over", "none", "to 20%", "over 20%", "small", "medium", "large"),
    *("lowest third", "middle third", "highest third"),
)
CHUNK_BYTES = 64_000_000


def label_subgroups(data: Dataset, rows: IntArray, named: Sequence[str] = ()) -> dict[str, LabelArray]:
    """Label the rows by age, sex, race, insurance, region, blood group, sensitisation, centre size and era.

    As far as the data set has them (`columns.COLUMN_NAMES`), and by the columns that are `named`.
    """
    labels: dict[str, LabelArray] = {}
    columns = {role: find_column(data, role) for role in COLUMN_NAMES}
    table = {question: column.iloc[rows] for question, column in columns.items() if column is not None}
    if _is_number(table.get("age")):
        labels["age"] = _cut(table["age"], [39.999, 54.999, 64.999], ["under 40", "40–54", "55–64", "65 and over"])
    for question in ("sex", "race_ethnicity", "insurance", "region", "blood_group"):
        if question in table:
            labels[question] = _words(table[question])
    if _is_number(table.get("antibodies")):
        labels["sensitisation"] = _cut(table["antibodies"], [0, 20], ["none", "to 20%", "over 20%"])
    if "centre_volume" not in table and "centre" in table:
        table["centre_volume"] = table["centre"].groupby(table["centre"], observed=True).transform("size")
    if _is_number(table.get("centre_volume")):
        labels |= _thirds("centre size", table["centre_volume"], ["small", "medium", "large"])
    if data.entry is not None:
        decade = (np.asarray(data.entry)[rows] // 10 * 10).astype(int)
        labels["era"] = np.array([f"{year}s" for year in decade])
    for name in named:
        column = data.table[name].iloc[rows]
        if _is_number(column) and column.nunique() > MOST_GROUPS:
            labels |= _thirds(name, column, ["lowest third", "middle third", "highest third"])
        else:
            labels[name] = _words(column)
    return labels


def tabulate_subgroups(
    data: Dataset,
    rows: IntArray,
    relevance: FloatArray,
    scores: dict[Arm, FloatArray],
    waitlist: int,
    ranks: dict[Arm, FloatArray] | None = None,
    k: int = 1,
    strata: NDArray[np.generic] | None = None,
    named: Sequence[str] = (),
) -> pd.DataFrame:
    """Tabulate, by subgroup and arm, the share of allocations, years, and mean predicted less mean outcome.

    An allocation goes to one of the top k of a waitlist of random candidates, as Algorithm 1 draws it (with k = 1, to
    the top); a patient's chance of it is the weight of their rank (`ranks`, where scores of several folds are not on
    one level). Lists are drawn within `strata`, where they are given. `change` is the share of a ranker less that of
    its base model: who enters and who leaves the top. Intervals are 95% percentiles over resampled patients, the same
    for all arms.
    """
    import pandas as pd

    arms = list(scores)
    places = scores if ranks is None else ranks
    chance = np.array([chance_within_strata(places[arm], waitlist, k, strata) for arm in arms])
    groups = [
        (question, str(label), np.flatnonzero(labels == label))
        for question, labels in label_subgroups(data, rows, named).items()
        for label in sorted(np.unique(labels), key=_place)
    ]
    groups = [group for group in groups if len(group[2]) >= FEWEST_IN_SUBGROUP]
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
                "model": arm.model,
                "method": arm.method,
                "patients": len(members),
                "share_of_patients": len(members) / len(rows),
                "share_of_allocations": float(share[place, j]),
                **_ends("", drawn_share[:, place, j]),
            }
            changed = arm.base is not None
            b = j if arm.base is None else arms.index(arm.base)
            row |= {
                "share_change": float(share[place, j] - share[place, b]) if changed else np.nan,
                **_ends("change_", drawn_share[:, place, j] - drawn_share[:, place, b] if changed else np.array([])),
                "value": float(won[place, 1, j] / won[place, 0, j]) if won[place, 0, j] else np.nan,
                **_ends("value_", drawn_years[:, place, j]),
                "gap": float(gap.mean()),
                "gap_low": float(gap.mean() - half),
                "gap_high": float(gap.mean() + half),
            }
            table.append(row)
    return pd.DataFrame(table)


def _resampled(chance: FloatArray, relevance: FloatArray, groups: list[IntArray]) -> tuple[FloatArray, FloatArray]:
    """Share and years of every group under every arm, in resamples of the patients; a few resamples at a time."""
    rng = np.random.default_rng(0)
    n = chance.shape[1]
    weights = chance.T.astype(np.float32)
    weighted = weights * relevance[:, None].astype(np.float32)
    shares = np.empty((RESAMPLES, len(groups), len(chance)))
    years = np.empty_like(shares)
    step = max(1, CHUNK_BYTES // (4 * n))
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, RESAMPLES, step):
            part = slice(start, min(start + step, RESAMPLES))
            draws = rng.poisson(1.0, size=(part.stop - part.start, n)).astype(np.float32)
            totals = draws @ weights  # a resample may leave out the only ones with a chance: NaN then
            for place, members in enumerate(groups):
                drawn = draws[:, members]
                won = drawn @ weights[members]
                shares[part, place] = won / totals
                years[part, place] = drawn @ weighted[members] / won
    return shares, years


def _ends(name: str, samples: FloatArray) -> dict[str, float]:
    """The 95% interval of resamples; those without a value are left out."""
    known = samples[np.isfinite(samples)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (np.nan, np.nan)
    return {f"{name}low": float(low), f"{name}high": float(high)}


def chance_of_allocation(scores: FloatArray, waitlist: int, k: int = 1) -> FloatArray:
    """Compute each patient's chance of the allocation of a random waitlist; equal scores share theirs."""
    ranked = np.empty(len(scores))
    ranked[np.argsort(-scores, kind="stable")] = rank_weights(len(scores), k, waitlist) / discounts(k).sum()
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    return (np.bincount(place, ranked) / count)[place]


def chance_within_strata(scores: FloatArray, waitlist: int, k: int, strata: NDArray[np.generic] | None) -> FloatArray:
    """Compute the same with lists drawn within strata, from each as often as it is large."""
    if strata is None:
        return chance_of_allocation(scores, waitlist, min(k, waitlist))
    chance = np.empty(len(scores))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        most = min(waitlist, len(members))
        chance[members] = chance_of_allocation(scores[members], most, min(k, most)) * len(members) / len(scores)
    return chance


def _place(label: str) -> tuple[int, float, str]:
    """Groups in the order people expect: cuts from low to high, numbers as numbers, missing last."""
    if label in ORDER:
        return 0, ORDER.index(label), ""
    return (1, float(label), "") if label.isdigit() else (3 if label == "missing" else 2, 0.0, label)


def _is_number(column: pd.Series | None) -> bool:
    import pandas as pd

    return column is not None and pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _words(column: pd.Series) -> LabelArray:
    return np.asarray(column.astype(object).where(column.notna(), "missing").astype(str).to_numpy())


def _thirds(question: str, values: pd.Series, names: list[str]) -> dict[str, LabelArray]:
    """Labels by thirds; nothing where one value holds more than a third."""
    edges = values.quantile([1 / 3, 2 / 3]).tolist()
    return {question: _cut(values, edges, names)} if edges[0] < edges[1] else {}


def _cut(values: pd.Series, edges: list[float], names: list[str]) -> LabelArray:
    """Labels by edges, each the largest value of its group; missing values apart."""
    numbers = values.to_numpy(dtype=float, na_value=np.nan)
    labels = np.array(names, dtype=object)[np.searchsorted(edges, np.nan_to_num(numbers))]
    return np.where(np.isnan(numbers), "missing", labels).astype(str)
