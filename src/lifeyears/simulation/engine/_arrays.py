"""What the engine reads and writes: events, candidates, items, rules, an order, and the state of the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._typing import AnyArray, FloatArray, IntArray

LISTED, CHANGED, GONE, ITEM = 0, 1, 2, 3  # kinds of events
WAITING, MATCHED, DEAD, REMOVED, NOT_LISTED = 0, 1, 2, 3, 4  # where a candidate is
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
    size_low: float  # limits of the item's size over the candidate's
    size_high: float


class Weights(NamedTuple):
    """Weights of the terms that make up a score; see `make_order`."""

    pair: float
    waiting: float
    in_state: float
    first_fit: float
    distance: float
    size: float
    random: float


class Order(NamedTuple):
    """What a policy orders by: classes first, and within a class a weighted sum; see `make_order`."""

    k: int
    zones: FloatArray  # limits of distance
    classes: IntArray  # (states, zones): all of an earlier class are asked before those of a later one
    second_fit: int  # what the second degree of fit adds to the class
    weights: Weights
    by_law: bool
    scores: FloatArray  # (candidates, types of items)
    item_type: IntArray  # of each item: the column of `scores`
    by_state: FloatArray  # (candidates or 1, states)
    by_candidate: FloatArray  # (candidates or 1,)


class ListState(NamedTuple):
    """Where everybody is: changed in place as time passes."""

    place: IntArray  # of each candidate: `WAITING`, …
    status: IntArray  # of each candidate: the state, a code of the world
    since: FloatArray  # of each candidate: when the state began
    time_in: FloatArray  # (candidates, active states): time in earlier stays
    left_at: FloatArray
    recipient: IntArray  # of each item; -1: nobody
    offers: IntArray  # of each item; -1: not yet offered
    members: IntArray  # (kinds, candidates): who waits in an active state
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
    weights: Mapping[str, float],
    k: int = 1,
    *,
    zones: FloatArray | None = None,
    classes: IntArray | None = None,
    second_fit: int = 0,
    by_law: bool = False,
    scores: FloatArray | None = None,
    item_type: IntArray | None = None,
    by_state: FloatArray | None = None,
    by_candidate: FloatArray | None = None,
    n_states: int = 1,
) -> Order:
    """Return an order in which what it does not use is empty.

    Of two candidates in one class, the one with the higher score is asked first: the weighted sum of the terms below,
    plus `by_state` and `by_candidate`. Equal scores: who has the lower number.

    Parameters
    ----------
    weights : mapping
        Weights of the terms, those left out being 0: ``pair`` (the score of candidate and item: `scores`, or the
        world's `score_pairs`), ``waiting`` (time since listing), ``in_state`` (time spent in the current state),
        ``first_fit`` (1 for the first degree of fit, else 0), ``distance``, ``size`` (how far the ratio of sizes is
        from 1; 0 where it is not known), ``random`` (the pair's own random number).
    k : int
        1 offers in order; above 1 is position-weighted (Algorithm 1 of the paper).
    zones : array, optional
        Limits of distance, rising.
    classes : array, shape (states, zones + 1), optional
        The class of a state in a zone; by default the zone, nearest first.
    second_fit : int
        1 puts the second degree of fit into the class after that of the first.
    by_law : bool
        Whether ``pair`` is the world's `score_pairs`.
    scores, item_type : arrays, optional
        ``pair`` by candidate and type of item, and the type of each item.
    by_state : array, optional
        A part of the score by candidate (or one row for all) and state.
    by_candidate : array, optional
        A part of the score by candidate.
    n_states : int
        Number of states.
    """
    zones = np.zeros(0) if zones is None else np.asarray(zones, dtype=float)
    if classes is None:
        classes = np.tile(np.arange(len(zones) + 1), (n_states, 1))
    return Order(
        k,
        zones,
        classes,
        second_fit,
        Weights(**{name: float(weights.get(name, 0.0)) for name in Weights._fields}),
        by_law,
        np.zeros((1, 1)) if scores is None else scores,
        np.zeros(1, dtype=np.int64) if item_type is None else item_type,
        np.zeros((1, n_states)) if by_state is None else by_state,
        np.zeros(1) if by_candidate is None else by_candidate,
    )


def sort_events(parts: Sequence[tuple[FloatArray, IntArray, IntArray, IntArray]]) -> Events:
    """Merge events (time, kind, who, state) into one sequence in order of time; ties stay in the order of the parts."""
    time, kind, who, state = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(time, kind="stable")
    return Events(time[order], *(part[order].astype(np.int64) for part in (kind, who, state)))


def empty_list(n_candidates: int, n_items: int, n_kinds: int, n_active: int) -> ListState:
    """Return the state in which nobody is listed yet."""
    return ListState(
        np.full(n_candidates, NOT_LISTED),
        np.zeros(n_candidates, dtype=np.int64),
        np.zeros(n_candidates),
        np.zeros((n_candidates, n_active)),
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
