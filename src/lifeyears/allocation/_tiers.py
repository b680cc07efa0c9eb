"""Tiers: rule-based allocation, such as the statuses of the US heart waitlist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from .._typing import AnyArray, FloatArray
from ..errors import DataError, Message, RequestError, Setting
from ._policies import DEFAULT_MODEL, CandidateTable, RankingPolicy

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    PerCandidate: TypeAlias = ArrayLike | str | Callable[[pd.DataFrame], ArrayLike]
    """A value for each candidate: an array, the name of a column, or a function of the candidates."""


@dataclass(frozen=True, eq=False)
class Tiers(RankingPolicy):
    """The first tier that has a candidate; within it the highest score or the longest wait; at random among ties.

    Parameters
    ----------
    tiers : array, str or callable
        The tier of each candidate: an array, the name of a column of `candidates`, or a function of `candidates`. The
        last two need the table to be passed to `probabilities`, `choose` and `offers`.
    waiting : array, str or callable, optional
        Waiting times, in the same forms. With them, candidates within a tier are ranked by waiting time, the longest
        first, and scores are ignored.
    order : sequence, optional
        The tiers from first to last. By default numbers and words are sorted (1 before 2, "1A" before "1B"), and
        ordered pandas categories keep their order.
    model : str or fitted model, optional
        Predicts the life that candidates within a tier are ranked by in `lifeyears.simulation.simulate`; "cox" unless
        given. Not used with `waiting`.

    Examples
    --------
    >>> Tiers([2, 1, 1]).probabilities([9.0, 4.0, 5.0])       # tier 1 first, then the score
    array([0., 0., 1.])
    >>> import pandas as pd
    >>> listed = pd.DataFrame({"status": ["2", "1", "1"], "days": [30, 7, 90]})
    >>> Tiers("status", waiting="days").choose([9.0, 4.0, 5.0], candidates=listed)
    2
    """

    tiers: PerCandidate
    waiting: PerCandidate | None = None
    order: Sequence[object] | None = None
    model: object = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.model is None and self.waiting is None:
            object.__setattr__(self, "model", DEFAULT_MODEL)

    def _expected_life(self, candidates: CandidateTable) -> FloatArray:
        return np.zeros(len(candidates)) if self.waiting is not None else super()._expected_life(candidates)

    def _keys(self, scores: FloatArray, candidates: pd.DataFrame | None) -> FloatArray:
        n = len(scores)
        tier = _rank_tiers(_evaluate("tiers", self.tiers, candidates, n), self.order)
        within = scores
        if self.waiting is not None:
            within = np.asarray(_evaluate("waiting", self.waiting, candidates, n), dtype=float)
            if np.isnan(within).any():
                raise DataError(f"waiting is missing for candidate {int(np.flatnonzero(np.isnan(within))[0])}")
        # one number for both: tiers are whole numbers, and places within all tiers lie below 1
        levels, place = np.unique(within, return_inverse=True)
        return np.asarray(place / len(levels) - tier)


def _evaluate(name: str, values: PerCandidate, candidates: pd.DataFrame | None, n: int) -> pd.Series | AnyArray:
    """Return a value for each candidate, from an array, the name of a column or a function."""
    if isinstance(values, str) or callable(values):
        if candidates is None:
            form = f"the column {values!r}" if isinstance(values, str) else "a function of the candidates"
            raise RequestError(
                f"{name} is {form}, and no table of candidates was passed",
                hint=Message("Pass the table with ", Setting("candidates"), "."),
            )
        if isinstance(values, str) and values not in candidates:
            raise DataError(f"{name} names the column {values!r}, which the candidates do not have")
        values = candidates[values] if isinstance(values, str) else values(candidates)
    shape = np.shape(cast("ArrayLike", values))
    if shape != (n,):
        raise DataError(f"{name} must hold one value for each of the {n} candidates; its shape is {shape}")
    return values


def _rank_tiers(tiers: pd.Series | AnyArray, order: Sequence[object] | None) -> FloatArray:
    """Return the rank of each candidate's tier, 0 for the first."""
    import pandas as pd

    column = pd.Series(tiers)
    if column.isna().any():
        raise DataError(f"the tier of candidate {int(np.flatnonzero(column.isna())[0])} is missing")
    if order is None:
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
            return np.asarray(column.cat.codes.to_numpy(dtype=float))
        values = column.to_numpy() if column.dtype.kind in "fiub" else column.astype(str).to_numpy(dtype=str)
        return np.unique(values, return_inverse=True)[1].astype(float)
    place = pd.Index(list(order)).get_indexer(pd.Index(column))
    if (place < 0).any():
        unknown = column[place < 0].tolist()[0]
        raise DataError(f"the tier {unknown!r} is not in order, which lists {', '.join(map(repr, order))}")
    return np.asarray(place, dtype=float)
