"""What happened in a run: counts, waiting times and time at risk, from which a world makes its measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._arrays import DEAD, ListState

if TYPE_CHECKING:
    from ..._typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Tally:
    """What happened from time 0 to the end of a run; what came before is left out.

    Attributes
    ----------
    item, recipient : arrays of int
        The items that were accepted, and by which candidates.
    waits : array of float
        Time from listing to the match, of each recipient.
    exposure : array of float
        Time on the list, of each candidate.
    entered, died, removed : arrays of bool
        Of each candidate: listed, died on the list, or removed from it for another reason.
    offered, lost, first_accepted : arrays of bool
        Of each item: offered, accepted by nobody, accepted by the first who was asked.
    """

    item: IntArray
    recipient: IntArray
    waits: FloatArray
    exposure: FloatArray
    entered: BoolArray
    died: BoolArray
    removed: BoolArray
    offered: BoolArray
    lost: BoolArray
    first_accepted: BoolArray


def tally_run(listed: FloatArray, arrived: FloatArray, state: ListState, years: float) -> Tally:
    """Count what happened, given the times at which candidates were listed and items arrived."""
    offered = arrived >= 0
    item = np.flatnonzero(offered & (state.recipient >= 0))
    recipient = state.recipient[item]
    died = (state.place == DEAD) & (state.left_at >= 0)
    removed = (state.left_at >= 0) & (state.left_at < years) & ~died
    removed[recipient] = False
    return Tally(
        item=item,
        recipient=recipient,
        waits=arrived[item] - listed[recipient],
        exposure=np.clip(np.minimum(state.left_at, years) - np.maximum(listed, 0), 0, None),
        entered=listed >= 0,
        died=died,
        removed=removed,
        offered=offered,
        lost=offered & (state.recipient < 0),
        first_accepted=offered & (state.offers == 1) & (state.recipient >= 0),
    )


def time_in_states(
    candidate: IntArray, begin: FloatArray, status: IntArray, state: ListState, years: float, n_states: int
) -> FloatArray:
    """Add up the time that candidates spent in each of the first states between time 0 and the end.

    `candidate`, `begin` and `status` say who entered which state when; a stay ends with the next one, or when the
    candidate leaves the list.
    """
    order = np.lexsort((begin, candidate))
    candidate, begin, status = candidate[order], begin[order], status[order]
    end = np.append(begin[1:], np.inf)
    end[np.append(candidate[1:] != candidate[:-1], True)] = np.inf
    span = np.minimum(np.minimum(end, state.left_at[candidate]), years) - np.maximum(begin, 0)
    on = (status < n_states) & (span > 0)
    return np.bincount(status[on], span[on], minlength=n_states).astype(float)


def rate_per_100(count: float, time: float) -> float:
    """Return a rate per 100 units of time; NaN where there is no time."""
    return 100 * float(count) / float(time) if time > 0 else float("nan")


def mean_or_nan(values: FloatArray | BoolArray) -> float:
    """Return the mean; NaN of nothing."""
    return float(values.mean()) if len(values) else float("nan")


def median_or_nan(values: FloatArray) -> float:
    """Return the median; NaN of nothing."""
    return float(np.median(values)) if len(values) else float("nan")
