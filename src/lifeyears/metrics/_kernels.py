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
