"""What the engine reads and writes: events, candidates, items, rules, an order, and the state of the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray

LISTED, CHANGED, GONE, ITEM = 0, 1, 2, 3  # kinds of events
WAITING, MATCHED, DEAD, REMOVED, NOT_LISTED = 0, 1, 2, 3, 4  # where a candidate is
BY_CLASS, BY_WAITING, AT_RANDOM, BY_TABLE, BY_LAW = 0, 1, 2, 3, 4  # what orders a match run
NO_FIT = 2  # in `ListRules.fits`: the item cannot go to the candidate


@dataclass(frozen=True, eq=False)
class Events:
    """What happens, in order of time.

    Attributes
    ----------
    time : array of float
        In years from the start; negative during the burn-in.
    kind : array of int
        `LISTED`, `CHANGED`, `GONE` or `ITEM`.
    who : array of int
        The candidate, or, of an `ITEM`, the item.
    state : array of int
        The candidate's new state; a code of the world.
    """

    time: FloatArray
    kind: IntArray
    who: IntArray
    state: IntArray


class CandidateArrays(NamedTuple):
    """The candidates, as the kernels read them: one entry per candidate."""

    key: AnyArray  # uint64: with an item's key, it decides what is random about the pair
    listed: FloatArray  # time of listing
    kind: IntArray  # column of `ListRules.fits`
    site: IntArray  # column of `ItemArrays.distances`
    size: FloatArray
    openness: FloatArray  # share of the fitting items that are offered at all


class ItemArrays(NamedTuple):
    """The items to be allocated, as the kernels read them: one entry per item."""

    key: AnyArray
    kind: IntArray  # row of `ListRules.fits`
    size: FloatArray
    quality: FloatArray  # on the log-odds of acceptance
    distances: FloatArray  # (items, sites)


class ListRules(NamedTuple):
    """How items are offered under any policy."""

    acceptance: FloatArray  # log-odds of acceptance, by the candidate's state
    n_active: int  # states below it are offered items; those from it on are not
    death: int  # the state of an event `GONE` that is a death
    fits: IntArray  # (kinds of items, kinds of candidates): 0 or 1, in this order within a class, or `NO_FIT`
    most_offers: int
    reach: float
    zones: FloatArray  # limits of distance: nearer zones come first
    size_low: float  # limits of the item's size over the candidate's
    size_high: float


class Order(NamedTuple):
    """What a policy orders by; see `make_order`."""

    kind: int
    k: int
    scores: FloatArray  # (candidates, types of items)
    item_type: IntArray  # of each item: the column of `scores`
    baseline: FloatArray  # (candidates or 1, states): subtracted from the scores
    classes: IntArray  # (states, zones of classes): the first class
    class_zones: FloatArray


class ListState(NamedTuple):
    """Where everybody is: changed in place as time passes."""

    place: IntArray  # of each candidate: `WAITING`, …
    status: IntArray  # of each candidate: the state, a code of the world
    left_at: FloatArray
    recipient: IntArray  # of each item; -1: nobody
    offers: IntArray  # of each item; -1: not yet offered
    members: IntArray  # (kinds, candidates): who waits
    waiting: IntArray  # (kinds,): how many
    slot: IntArray  # of each candidate: the position in `members`


@dataclass(frozen=True, eq=False)
class Scenario:
    """All that the engine needs to know of one replicate of a world; policies add an `Order`.

    Attributes
    ----------
    events : Events
    candidates : CandidateArrays
    items : ItemArrays
    rules : ListRules
    law : NamedTuple of arrays
        The world's own; `score_pairs` has an implementation for its type.
    """

    events: Events
    candidates: CandidateArrays
    items: ItemArrays
    rules: ListRules
    law: tuple[object, ...]


def make_order(
    kind: int,
    k: int = 1,
    scores: FloatArray | None = None,
    item_type: IntArray | None = None,
    baseline: FloatArray | None = None,
    classes: IntArray | None = None,
    class_zones: FloatArray | None = None,
    n_states: int = 1,
) -> Order:
    """Return an order in which what it does not use is empty.

    Parameters
    ----------
    kind : int
        `BY_CLASS` (the table of classes, then time on the list), `BY_WAITING`, `AT_RANDOM`, `BY_TABLE` (scores by
        candidate and type of item) or `BY_LAW` (scores of the world's `score_pairs`).
    k : int
        1 offers in order; above 1 is position-weighted (Algorithm 1 of the paper).
    scores, item_type : arrays, optional
        For `BY_TABLE`.
    baseline : array, optional
        For `BY_TABLE` and `BY_LAW`: what to subtract, by candidate (or one row for all) and state.
    classes, class_zones : arrays, optional
        For `BY_CLASS`: the first class by state and zone, and the limits of the zones. The second degree of fit goes
        into the class after it.
    n_states : int
        Number of states, for a `baseline` of zeros.
    """
    return Order(
        kind,
        k,
        np.zeros((1, 1)) if scores is None else scores,
        np.zeros(1, dtype=np.int64) if item_type is None else item_type,
        np.zeros((1, n_states)) if baseline is None else baseline,
        np.zeros((1, 1), dtype=np.int64) if classes is None else classes,
        np.zeros(0) if class_zones is None else class_zones,
    )


def sort_events(parts: Sequence[tuple[FloatArray, IntArray, IntArray, IntArray]]) -> Events:
    """Merge events (time, kind, who, state) into one sequence in order of time; ties stay in the order of the parts."""
    time, kind, who, state = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(time, kind="stable")
    return Events(time[order], *(part[order].astype(np.int64) for part in (kind, who, state)))


def empty_list(n_candidates: int, n_items: int, n_kinds: int) -> ListState:
    """Return the state in which nobody is listed yet."""
    return ListState(
        np.full(n_candidates, NOT_LISTED),
        np.zeros(n_candidates, dtype=np.int64),
        np.full(n_candidates, np.inf),
        np.full(n_items, -1),
        np.full(n_items, -1),
        np.zeros((n_kinds, n_candidates), dtype=np.int64),
        np.zeros(n_kinds, dtype=np.int64),
        np.zeros(n_candidates, dtype=np.int64),
    )


def copy_list(state: ListState) -> ListState:
    """Return a copy to continue from."""
    return ListState._make(part.copy() for part in state)
