"""The folds of an iteration, and what was known of the training rows when the test rows entered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...data import Dataset
from ...errors import DataError, Message, Setting
from ...folds import Splits, draw_folds, temporal_folds
from ...outcome import Outcome
from ...units import DAYS_IN, is_known_unit
from .._plan import Plan
from ..columns import find_column
from ._cohort import derive_seed

if TYPE_CHECKING:
    from ..._typing import IntArray


def split_rows(data: Dataset, rows: IntArray, y: Outcome, plan: Plan, iteration: int) -> Splits:
    """Split rows into (train, test) pairs: at random as in the paper, later on earlier entries, or by centre."""
    if plan.split == "temporal":
        return _split_by_entry(data, rows, plan.folds)
    seed = derive_seed(plan, iteration, 2)
    centres = _read_centres(data)[rows] if plan.split == "centre" else None
    return draw_folds(y.event, plan.folds, groups=centres, random_state=seed)


def censor_at_test_entry(
    data: Dataset, rows: IntArray, y: Outcome, plan: Plan, train: IntArray, test: IntArray
) -> Outcome:
    """Censor the training outcomes of a temporal split when the first test row enters; of other splits, change nothing.

    Entry is in decimal years, time in the unit of the data.
    """
    observed: Outcome = y[train]
    if plan.split != "temporal" or data.entry is None:
        return observed
    entry = np.asarray(data.entry, dtype=float)[rows]
    since = (entry[test].min() - entry[train]) * DAYS_IN["years"] / DAYS_IN[data.unit]
    time = np.maximum(np.minimum(observed.time, since), np.finfo(float).tiny)
    return Outcome(time, observed.event & (observed.time <= since))


def _split_by_entry(data: Dataset, rows: IntArray, folds: int) -> Splits:
    """Split into blocks of entry time, each tested by models of all blocks before it."""
    if data.entry is None:
        raise DataError(
            "a temporal split needs the time of entry, which this data set does not have",
            hint=Message("Name its column with ", Setting("entry"), "."),
        )
    if not is_known_unit(data.unit):
        raise DataError(
            f"a temporal split needs to know the length of the unit of time, and {data.unit!r} is none of "
            f"{', '.join(DAYS_IN)}",
            hint=Message("Name the unit with ", Setting("unit"), "."),
        )
    blocks = [test for _, test in temporal_folds(np.asarray(data.entry)[rows], folds + 1)]
    return tuple((np.concatenate(blocks[:later]), blocks[later]) for later in range(1, len(blocks)))


def _read_centres(data: Dataset) -> np.ndarray:
    centre = find_column(data, "centre")
    if centre is None:
        raise DataError(
            "a split by centre needs to know the centre of each row, and this data set has no such column",
            hint=Message("Name it with ", Setting("centre"), ", or add a column `centre` to `Dataset.subgroups`."),
        )
    return np.asarray(centre.astype(str).to_numpy())
