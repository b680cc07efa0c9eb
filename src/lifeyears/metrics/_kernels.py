"""Loops that numpy cannot vectorise, compiled by numba. Their plain twins stand in the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from .._typing import AnyArray, BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def _add(tree: IntArray, rank: int) -> None:
    """Count one more of this rank in a Fenwick tree."""
    node = rank + 1
    while node < len(tree):
        tree[node] += 1
        node += node & -node


@njit(cache=True, nogil=True)
def _count_up_to(tree: IntArray, rank: int) -> int:
    """How many of this rank or a lower one a Fenwick tree has counted."""
    count = 0
    node = rank + 1
    while node > 0:
        count += tree[node]
        node -= node & -node
    return count


@njit(cache=True, nogil=True)
def count_pairs(time: FloatArray, event: BoolArray, rank: AnyArray, n_ranks: int) -> tuple[int, int, int]:
    """Count pairs for `count_concordant_pairs`: rows latest first, censored before events at one time."""
    tree = np.zeros(n_ranks + 1, dtype=np.int64)  # of the rows passed, by rank of their score
    same = np.zeros(n_ranks, dtype=np.int64)
    passed = concordant = tied = comparable = 0
    i, n = 0, len(time)
    while i < n:
        j = i
        while j < n and time[j] == time[i] and not event[j]:  # the censored outlived the events of their time
            _add(tree, rank[j])
            same[rank[j]] += 1
            passed += 1
            j += 1
        first_event = j
        while j < n and time[j] == time[i]:
            comparable += passed
            concordant += passed - _count_up_to(tree, rank[j])
            tied += same[rank[j]]
            j += 1
        for m in range(first_event, j):
            _add(tree, rank[m])
            same[rank[m]] += 1
            passed += 1
        i = j
    return concordant, tied, comparable


@njit(cache=True, nogil=True)
def resampled_gains(
    draws: AnyArray,
    orders: AnyArray,
    first: BoolArray,
    relevance: FloatArray,
    running: FloatArray,
    slopes: FloatArray,
    pairs: IntArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Waitlist gain of each ranking in each bootstrap resample, with standard errors of the gains and of differences.

    `draws` holds row numbers, one resample per row. `orders` sorts the rows by falling score, one ranking per row;
    `first` marks where a new score begins. `running` is 0 followed by the running sum of the weights of the ranks,
    `slopes` its slope at each of these points. A row drawn c times takes c places in a row; equal scores share the
    weights of their places evenly. The standard errors are the infinitesimal jackknife's: the spread of the gain's
    derivatives by the mass of each row, which changes its own term and pushes all later rows down.

    Returns (resamples, rankings) gains and errors, and (resamples, pairs) errors of differences.
    """
    n_resamples, n = draws.shape
    n_rankings, n_pairs = len(orders), len(pairs)
    gains = np.zeros((n_resamples, n_rankings))
    errors = np.zeros((n_resamples, n_rankings))
    pair_errors = np.zeros((n_resamples, n_pairs))
    counts = np.zeros(n, dtype=np.int64)
    influence = np.zeros((n_rankings, n))
    total = np.zeros(n_rankings)
    start = np.zeros(n + 1, dtype=np.int64)  # where each tie begins, in the order of the ranking
    place = np.zeros(n + 1, dtype=np.int64)  # and its first place
    mean_relevance = np.zeros(n)  # of each tie
    nothing_left = running[n] - 1e-13 * abs(running[n])
    for b in range(n_resamples):
        counts[:] = 0
        for i in range(n):
            counts[draws[b, i]] += 1
        influence[:] = 0.0
        total[:] = 0.0
        for m in range(n_rankings):
            ties = 0
            i = 0
            while i < n and running[place[ties]] < nothing_left:
                start[ties] = i
                tied = 0
                value = 0.0
                while True:
                    row = orders[m, i]
                    tied += counts[row]
                    value += counts[row] * relevance[row]
                    i += 1
                    if i == n or first[m, i]:
                        break
                mean_relevance[ties] = value / tied if tied > 0 else 0.0
                place[ties + 1] = place[ties] + tied
                gains[b, m] += (running[place[ties + 1]] - running[place[ties]]) * mean_relevance[ties]
                ties += 1
                start[ties] = i
            pushed = 0.0  # what the later rows lose by being pushed down one place
            for t in range(ties - 1, -1, -1):
                tied = place[t + 1] - place[t]
                if tied > 0:
                    share = (running[place[t + 1]] - running[place[t]]) / tied
                    for i in range(start[t], start[t + 1]):
                        row = orders[m, i]
                        own = slopes[place[t + 1]] * mean_relevance[t] + share * (relevance[row] - mean_relevance[t])
                        influence[m, row] = own + pushed
                        total[m] += counts[row] * (own + pushed)
                    pushed += mean_relevance[t] * (slopes[place[t + 1]] - slopes[place[t]])
        for row in range(n):
            if counts[row] > 0:
                for m in range(n_rankings):
                    errors[b, m] += counts[row] * (influence[m, row] - total[m] / n) ** 2
                for p in range(n_pairs):
                    first_one, other = pairs[p, 0], pairs[p, 1]
                    gap = influence[first_one, row] - influence[other, row]
                    pair_errors[b, p] += counts[row] * (gap - (total[first_one] - total[other]) / n) ** 2
    return gains, np.sqrt(errors), np.sqrt(pair_errors)
