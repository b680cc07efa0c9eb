"""Trees of depth two as look-up tables: predictions and Shapley values, many times faster than LightGBM's own.

Such a tree has at most three splits: one at the root, one on either side. The side of each on which a row falls decides
both the value of the tree and the Shapley value of each feature, so that eight entries hold either. Values are added
in LightGBM's order: the sums are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numba
import numpy as np

from ..._typing import FloatArray, IntArray

if TYPE_CHECKING:
    import lightgbm

# which of the three splits have the same feature: the players of the game
PARTITIONS = (((0,), (1,), (2,)), ((0, 1), (2,)), ((0, 2), (1,)), ((0,), (1, 2)), ((0, 1, 2),))
_tables_of: WeakKeyDictionary[lightgbm.Booster, dict[int, ShallowTrees | None]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class ShallowTrees:
    """The first trees of a booster.

    Attributes
    ----------
    feature, threshold : arrays, shape (trees, 3)
        Splits at the root, on its left and on its right: x[feature] ≤ threshold goes left.
    leaf : array, shape (trees, 8)
        The value of the tree by the sides of the three splits (1, 2 and 4 for left at each).
    shapley : array, shape (trees, 3, 8)
        The Shapley values of the splits' features, by the sides.
    typical : float
        What all rows share.
    """

    feature: IntArray
    threshold: FloatArray
    leaf: FloatArray
    shapley: FloatArray
    typical: float

    def predict_contributions(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum of the trees (n,), LightGBM's to the bit, and its Shapley values (n, p + 1).

        The last of these is what all rows share. They are LightGBM's but for rounding.
        """
        sums, parts = np.zeros(len(X)), np.zeros((X.shape[1] + 1, len(X)))
        _add_contributions(
            np.ascontiguousarray(X.T), self.feature, self.threshold, self.leaf, self.shapley, sums, parts
        )
        parts[-1] = self.typical
        return sums, parts.T

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the sum of the trees."""
        return np.asarray(self.predict_stages(X, [len(self.leaf)])[0])

    def predict_stages(self, X: FloatArray, rounds: Sequence[int] | IntArray) -> FloatArray:
        """Return the sums after some numbers of trees, (len(rounds), n)."""
        columns, sums, last = np.ascontiguousarray(X.T), np.zeros((len(rounds), len(X))), 0
        for stage, count in enumerate(rounds):
            sums[stage] = sums[stage - 1] if stage else 0.0
            some = slice(last, count)
            _add_trees(columns, self.feature[some], self.threshold[some], self.leaf[some], sums[stage])
            last = count
        return sums


def tabulate_trees(booster: lightgbm.Booster, rounds: int) -> ShallowTrees | None:
    """Make the tables of a booster's first trees, once for each number of them; None if a tree is too deep."""
    tables = _tables_of.setdefault(booster, {})
    if rounds not in tables:
        blocks = booster.model_to_string(num_iteration=rounds).partition("\nend of trees")[0].split("\nTree=")[1:]
        trees = (dict(line.partition("=")[::2] for line in block.splitlines() if "=" in line) for block in blocks)
        rows = []
        for tree in trees:
            if (row := _parse_splits(tree)) is None:
                break
            rows.append(row)
        tables[rounds] = _make_tables(rows) if rows and len(rows) == len(blocks) else None
    return tables[rounds]


def _parse_splits(tree: dict[str, str]) -> tuple[list[int], list[float], list[float], list[float]] | None:
    """Read features, thresholds, shares of the rows on the left, and the four leaves; an absent split has no effect."""
    value = [float(each) for each in tree["leaf_value"].split()]
    if len(value) == 1:
        return [0, 0, 0], [0.0] * 3, [0.5] * 3, value * 4
    names = ("left_child", "right_child", "split_feature")
    left, right, feature = ([int(each) for each in tree[name].split()] for name in names)
    threshold = [float(each) for each in tree["threshold"].split()]
    rows = [float(each) for each in tree["internal_count"].split()]
    leaf_rows = [float(each) for each in tree["leaf_count"].split()]
    if len(value) > 4 or any(int(kind) & 1 or int(kind) >> 2 == 1 for kind in tree["decision_type"].split()):
        return None  # deeper; or categories, or zeros that stand for missing

    def count(node: int) -> float:
        return rows[node] if node >= 0 else leaf_rows[~node]

    splits = [feature[0], feature[0], feature[0]], [threshold[0], 0.0, 0.0], [count(left[0]) / rows[0], 0.5, 0.5]
    leaves = []
    for side, child in ((1, left[0]), (2, right[0])):
        if child < 0:
            leaves += [value[~child]] * 2
        elif left[child] >= 0 or right[child] >= 0:
            return None
        else:
            splits[0][side], splits[1][side] = feature[child], threshold[child]
            splits[2][side] = count(left[child]) / rows[child]
            leaves += [value[~left[child]], value[~right[child]]]
    return *splits, leaves


def _make_tables(trees: list[tuple[list[int], list[float], list[float], list[float]]]) -> ShallowTrees:
    feature, threshold, left_share, leaves = (np.array(part) for part in zip(*trees, strict=True))
    sides = np.array([[code >> node & 1 for node in range(3)] for code in range(8)], dtype=float)
    # mean[known splits, sides, tree]: over the rows that are on the known sides
    mean = np.empty((8, 8, len(trees)))
    for known in range(8):
        for code in range(8):
            on_side = [sides[code, node] if known >> node & 1 else left_share[:, node] for node in range(3)]
            on_left = on_side[1] * leaves[:, 0] + (1 - on_side[1]) * leaves[:, 1]
            on_right = on_side[2] * leaves[:, 2] + (1 - on_side[2]) * leaves[:, 3]
            mean[known, code] = on_side[0] * on_left + (1 - on_side[0]) * on_right
    shapley = np.zeros((len(trees), 3, 8))
    same = [feature[:, 0] == feature[:, 1], feature[:, 0] == feature[:, 2], feature[:, 1] == feature[:, 2]]
    which = np.select([same[0] & same[1], same[0], same[1], same[2]], [4, 1, 2, 3], 0)
    for number, players in enumerate(PARTITIONS):
        rows = np.flatnonzero(which == number)
        for player in players:
            others = [each for each in players if each != player]
            shapley[rows, player[0]] = _compute_shapley(mean[:, :, rows], player, others).T
    # left of the root the second split decides, right of it the third
    reached = [(0 if code & 2 else 1) if code & 1 else (2 if code & 4 else 3) for code in range(8)]
    leaf = np.ascontiguousarray(leaves[:, reached])
    return ShallowTrees(feature.astype(np.int64), threshold, leaf, shapley, float(mean[0, 0].sum()))


def _compute_shapley(mean: FloatArray, player: tuple[int, ...], others: Sequence[tuple[int, ...]]) -> FloatArray:
    """Return the mean of what knowing the player's sides adds, over all orders in which players may come."""
    n_players, total = len(others) + 1, np.zeros(mean.shape[1:])
    for size in range(n_players):
        weight = factorial(size) * factorial(n_players - size - 1) / factorial(n_players)
        for before in combinations(others, size):
            known = sum(1 << node for group in before for node in group)
            total += weight * (mean[known | sum(1 << node for node in player)] - mean[known])
    return total


@numba.njit(cache=True, nogil=True)
def _add_trees(X: np.ndarray, feature: np.ndarray, threshold: np.ndarray, leaf: np.ndarray, sums: np.ndarray) -> None:
    for tree in range(len(feature)):
        a, b, c = feature[tree]
        _look_up(X[a], X[b], X[c], threshold[tree], leaf[tree], sums)


@numba.njit(cache=True, nogil=True)
def _add_contributions(
    X: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    leaf: np.ndarray,
    shapley: np.ndarray,
    sums: np.ndarray,
    parts: np.ndarray,
) -> None:
    for tree in range(len(feature)):
        a, b, c = feature[tree]
        _look_up(X[a], X[b], X[c], threshold[tree], leaf[tree], sums)
        for split in range(3):
            if shapley[tree, split].any():
                _look_up(X[a], X[b], X[c], threshold[tree], shapley[tree, split], parts[feature[tree, split]])


@numba.njit(cache=True, nogil=True)
def _look_up(
    first: np.ndarray, second: np.ndarray, third: np.ndarray, threshold: np.ndarray, table: np.ndarray, out: np.ndarray
) -> None:
    """Add to each row the entry of the table for its three sides; choices, not indices, so that four go at once."""
    at, bt, ct = threshold
    rrr, lrr, rlr, llr, rrl, lrl, rll, lll = table
    for i in range(len(out)):
        one, two = first[i] <= at, second[i] <= bt
        right = (llr if one else rlr) if two else (lrr if one else rrr)
        left = (lll if one else rll) if two else (lrl if one else rrl)
        out[i] += left if third[i] <= ct else right
