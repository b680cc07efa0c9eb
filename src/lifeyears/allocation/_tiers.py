"""Tiers: rule-based allocation, as the status of the US heart list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._policies import RankingPolicy


@dataclass(frozen=True, eq=False)
class Tiers(RankingPolicy):
    """The first tier that has a candidate; within it the highest score or the longest wait; by lot among equals.

    Parameters
    ----------
    tiers : array, str or callable
        The tier of each candidate: as an array; as the name of a column of `candidates`; or as a function of
        `candidates`. The last two need the table to be passed to `probabilities`, `choose` and `offers`.
    waiting : array, str or callable, optional
        Waiting times, given in the same ways. With them, who has waited longest comes first within a tier, and scores
        are not looked at.
    order : sequence, optional
        The tiers from first to last. Without it numbers and words are sorted (1 before 2, "1A" before "1B"), and
        ordered pandas categories keep their order.

    Examples
    --------
    >>> Tiers([2, 1, 1]).probabilities([9.0, 4.0, 5.0])       # tier 1 first, then the score
    array([0., 0., 1.])
    >>> import pandas as pd
    >>> listed = pd.DataFrame({"status": ["2", "1", "1"], "days": [30, 7, 90]})
    >>> Tiers("status", waiting="days").choose([9.0, 4.0, 5.0], candidates=listed)
    2
    """

    tiers: Any
    waiting: Any = None
    order: Sequence[Any] | None = None

    def _keys(self, scores: np.ndarray, candidates: Any) -> np.ndarray:
        n = len(scores)
        tier = _places_of(_of_each(self.tiers, candidates, n, "tiers"), self.order)
        within = scores
        if self.waiting is not None:
            within = np.asarray(_of_each(self.waiting, candidates, n, "waiting"), dtype=float)
            if np.isnan(within).any():
                raise ValueError(f"waiting is missing for candidate {int(np.flatnonzero(np.isnan(within))[0])}")
        # one number for both: tiers are whole numbers, and places within all tiers lie below 1
        levels, place = np.unique(within, return_inverse=True)
        return place / len(levels) - tier


def _of_each(given: Any, candidates: Any, n: int, name: str) -> Any:
    """A value for each candidate, from an array, a column's name or a function."""
    if isinstance(given, str) or callable(given):
        if candidates is None:
            what = f"column {given!r}" if isinstance(given, str) else "function"
            raise ValueError(f"{name} is a {what}: pass the table too, as probabilities(scores, candidates=table)")
        if callable(given):
            given = given(candidates)
        elif given not in candidates:
            raise ValueError(f"{name} names the column {given!r}, which the candidates do not have")
        else:
            given = candidates[given]
    if np.ndim(given) != 1 or len(given) != n:
        raise ValueError(f"{name} must hold one value for each of the {n} candidates; its shape is {np.shape(given)}")
    return given


def _places_of(tiers: Any, order: Sequence[Any] | None) -> np.ndarray:
    """The place of each candidate's tier, 0 for the first."""
    import pandas as pd

    column = pd.Series(tiers)
    if column.isna().any():
        raise ValueError(f"the tier of candidate {int(np.flatnonzero(column.isna())[0])} is missing")
    if order is None:
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
            return column.cat.codes.to_numpy(dtype=float)
        values = column.to_numpy() if column.dtype.kind in "fiub" else column.astype(str).to_numpy(dtype=str)
        return np.unique(values, return_inverse=True)[1].astype(float)
    place = pd.Index(list(order)).get_indexer(pd.Index(column))
    if (place < 0).any():
        odd = column[place < 0].tolist()[0]
        raise ValueError(f"the tier {odd!r} is not in order, which lists {', '.join(map(repr, order))}")
    return place.astype(float)
