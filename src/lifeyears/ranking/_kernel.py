"""Gradients and Hessians of the ranking loss over query groups: the k² pairs of each, without a branch (section 5)."""

from __future__ import annotations

import multiprocessing
from typing import Any

import numba
import numpy as np


def _pair_sums(
    scores: np.ndarray,
    labels: np.ndarray,
    gains: np.ndarray,
    starts: np.ndarray,
    discounts: np.ndarray,
    margin: float,
    gradient: np.ndarray,
    hessian: np.ndarray,
) -> None:
    """dL_rank/df_i and its diagonal second derivative, ranks held fixed.

    L_rank = Σ_{i,j: y_i > y_j} ½·max(0, m − (f_i − f_j))²·|ΔNDCG_ij| within each group, where
    |ΔNDCG_ij| = |gain_i − gain_j|·|d(r_i) − d(r_j)|/IDCG over the whole group. Rows of a group lie side by side,
    between `starts`; equal scores keep their order there. A group whose ideal DCG is not positive has no ranking loss.
    """
    for group in numba.prange(len(starts) - 1):
        start, stop = starts[group], starts[group + 1]
        k = stop - start
        f, y, gain = scores[start:stop], labels[start:stop], gains[start:stop]
        ideal = (np.sort(gain)[::-1] * discounts[:k]).sum()
        place = np.empty(k, dtype=scores.dtype)
        place[np.argsort(-f, kind="mergesort")] = discounts[:k]
        scale = scores.dtype.type(1.0 / ideal) if ideal > 0 else scores.dtype.type(0.0)
        m, zero, one = scores.dtype.type(margin), scores.dtype.type(0), scores.dtype.type(1)
        for i in range(k):
            f_i, y_i, gain_i, place_i = f[i], y[i], gain[i], place[i]
            slope, bend = zero, zero
            for j in range(k):
                order = (one if y[j] > y_i else zero) - (one if y_i > y[j] else zero)  # +1: j ought to be above i
                hinge = max(zero, m - order * (f[j] - f_i))
                weight = abs(order) * abs(gain[j] - gain_i) * abs(place[j] - place_i)
                slope += order * hinge * weight
                bend += weight if hinge > zero else zero
            gradient[start + i] = slope * scale
            hessian[start + i] = bend * scale


def _pair_loss(
    scores: np.ndarray, labels: np.ndarray, gains: np.ndarray, starts: np.ndarray, discounts: np.ndarray, margin: float
) -> float:
    """L_rank itself, summed over the groups."""
    total = 0.0
    for group in range(len(starts) - 1):
        start, stop = starts[group], starts[group + 1]
        k = stop - start
        f, y, gain = scores[start:stop], labels[start:stop], gains[start:stop]
        ideal = (np.sort(gain)[::-1] * discounts[:k]).sum()
        if not ideal > 0:
            continue
        place = np.empty(k)
        place[np.argsort(-f, kind="mergesort")] = discounts[:k]
        loss = 0.0
        for i in range(k):
            for j in range(k):
                hinge = max(0.0, margin - (f[i] - f[j]))
                weight = abs(gain[i] - gain[j]) * abs(place[i] - place[j])
                loss += 0.5 * hinge * hinge * weight if y[i] > y[j] else 0.0
        total += loss / ideal
    return total


_options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "cache": True}
_one_thread = numba.njit(**_options)(_pair_sums)
pair_loss = numba.njit(**_options)(_pair_loss)
_all_threads = numba.njit(parallel=True, **_options)(_pair_sums)


def pair_sums(
    scores: np.ndarray,
    labels: np.ndarray,
    gains: np.ndarray,
    starts: np.ndarray,
    discounts: np.ndarray,
    margin: float,
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of the ranking loss, in the precision of the scores; the same for any number of threads.

    A group is summed by one thread, in one order. A worker process uses one thread, whatever is asked for.
    """
    gradient, hessian = np.empty_like(scores), np.empty_like(scores)
    arguments = (scores, labels, gains, starts, discounts.astype(scores.dtype), margin, gradient, hessian)
    threads = available_threads(threads)
    if threads == 1:
        _one_thread(*arguments)
    else:
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        try:
            _all_threads(*arguments)
        finally:
            numba.set_num_threads(before)
    return gradient, hessian


def available_threads(wanted: int | None) -> int:
    """How many threads to use: those asked for (None: all cores), but one inside a worker process."""
    if multiprocessing.parent_process() is not None:
        return 1
    return int(numba.config.NUMBA_NUM_THREADS) if wanted is None else max(1, wanted)
