"""Loops that numpy cannot vectorise, compiled by numba. Their plain twins stand in the tests."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_pairs(time, event, rank, n_ranks):
    """Count pairs for Harrell's C: rows latest first, censored before events at one time; see `concordance_counts`."""
    tree = np.zeros(n_ranks + 1, dtype=np.int64)  # Fenwick tree: how many passed rows have each rank of score
    same = np.zeros(n_ranks, dtype=np.int64)
    n = len(time)
    passed = 0
    concordant = 0
    tied = 0
    comparable = 0
    i = 0
    while i < n:
        j = i
        while j < n and time[j] == time[i] and not event[j]:
            passed += 1
            same[rank[j]] += 1
            node = rank[j] + 1
            while node <= n_ranks:
                tree[node] += 1
                node += node & -node
            j += 1
        first_event = j
        while j < n and time[j] == time[i]:
            below_or_equal = 0
            node = rank[j] + 1
            while node > 0:
                below_or_equal += tree[node]
                node -= node & -node
            comparable += passed
            concordant += passed - below_or_equal
            tied += same[rank[j]]
            j += 1
        for m in range(first_event, j):
            passed += 1
            same[rank[m]] += 1
            node = rank[m] + 1
            while node <= n_ranks:
                tree[node] += 1
                node += node & -node
        i = j
    return concordant, tied, comparable


@njit(cache=True, nogil=True)
def resampled_gains(draws, orders, first, relevance, running):
    """Waitlist gain of each ranking in each bootstrap resample, (resamples, rankings).

    `draws` holds row numbers, one resample a row. `orders` sorts the rows by falling score, one ranking a row; `first`
    marks where a new score begins. `running` is 0 followed by the running sum of the weights of the ranks. A row drawn
    c times takes c places in a row; equal scores share the weights of their places evenly.
    """
    n_resamples, n = draws.shape
    gains = np.zeros((n_resamples, len(orders)))
    counts = np.zeros(n, dtype=np.int64)
    nothing_left = running[n] - 1e-14 * abs(running[n])
    for b in range(n_resamples):
        counts[:] = 0
        for i in range(n):
            counts[draws[b, i]] += 1
        for m in range(len(orders)):
            place = 0
            gain = 0.0
            i = 0
            while i < n and running[place] < nothing_left:
                tied = 0
                worth = 0.0
                while True:
                    row = orders[m, i]
                    tied += counts[row]
                    worth += counts[row] * relevance[row]
                    i += 1
                    if i == n or first[m, i]:
                        break
                if tied > 0:
                    gain += (running[place + tied] - running[place]) * worth / tied
                    place += tied
            gains[b, m] = gain
    return gains
