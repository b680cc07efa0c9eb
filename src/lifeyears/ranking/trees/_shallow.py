"""Trees of at most two splits in a row, as tables: what they say and why, many times faster than LightGBM tells it.

Such a tree asks at most three questions: one at the root, one on either side. The eight answers to them decide both its
value and the Shapley value of each question's feature, so that both can be looked up. Values are added in LightGBM's
order: the sums are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import Any
from weakref import WeakKeyDictionary

import numba
import numpy as np

# which of the three questions have the same feature: the players of the game
PARTITIONS = (((0,), (1,), (2,)), ((0, 1), (2,)), ((0, 2), (1,)), ((0,), (1, 2)), ((0, 1, 2),))
_kept: WeakKeyDictionary[Any, dict[int, ShallowTrees | None]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class ShallowTrees:
    """The first trees of a booster.

    Attributes
    ----------
    feature, threshold : arrays, shape (trees, 3)
        Questions at the root, on its left and on its right: x[feature] ≤ threshold?
    leaf : array, shape (trees, 8)
        The value by the answers (1, 2 and 4 for a yes to each).
    shares : array, shape (trees, 3, 8)
        The Shapley values of the questions' features, by the answers.
    typical : float
        What all rows share.
    """

    feature: np.ndarray
    threshold: np.ndarray
    leaf: np.ndarray
    shares: np.ndarray
    typical: float

    def explained(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sum of the trees (n,), as LightGBM has it to the bit; and its Shapley values but for rounding (n, p + 1).

        The last of these is what all rows share.
        """
        sums, parts = np.zeros(len(X)), np.zeros((X.shape[1] + 1, len(X)))
        _share_out(np.ascontiguousarray(X.T), self.feature, self.threshold, self.leaf, self.shares, sums, parts)
        parts[-1] = self.typical
        return sums, parts.T

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The sum of the trees alone."""
        return self.staged(X, [len(self.leaf)])[0]

    def staged(self, X: np.ndarray, rounds: Sequence[int] | np.ndarray) -> np.ndarray:
        """The sums after some numbers of trees, (len(rounds), n)."""
        columns, sums, last = np.ascontiguousarray(X.T), np.zeros((len(rounds), len(X))), 0
        for stage, many in enumerate(rounds):
            sums[stage] = sums[stage - 1] if stage else 0.0
            some = slice(last, many)
            _add_up(columns, self.feature[some], self.threshold[some], self.leaf[some], sums[stage])
            last = many
        return sums


def shallow_trees(booster: Any, rounds: int) -> ShallowTrees | None:
    """The tables of a booster's first trees, made once; None if a tree is too deep."""
    found = _kept.setdefault(booster, {})
    if rounds not in found:
        blocks = booster.model_to_string(num_iteration=rounds).partition("\nend of trees")[0].split("\nTree=")[1:]
        trees = (dict(line.partition("=")[::2] for line in block.splitlines() if "=" in line) for block in blocks)
        rows = []
        for tree in trees:
            if (row := _questions(tree)) is None:
                break
            rows.append(row)
        found[rounds] = _tables(rows) if rows and len(rows) == len(blocks) else None
    return found[rounds]


def _questions(tree: dict[str, str]) -> tuple[list[int], list[float], list[float], list[float]] | None:
    """Features, thresholds, shares of the rows that say yes, and the four leaves; what is not asked changes nothing."""
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

    asked = [feature[0], feature[0], feature[0]], [threshold[0], 0.0, 0.0], [count(left[0]) / rows[0], 0.5, 0.5]
    leaves = []
    for side, child in ((1, left[0]), (2, right[0])):
        if child < 0:
            leaves += [value[~child]] * 2
        elif left[child] >= 0 or right[child] >= 0:
            return None
        else:
            asked[0][side], asked[1][side] = feature[child], threshold[child]
            asked[2][side] = count(left[child]) / rows[child]
            leaves += [value[~left[child]], value[~right[child]]]
    return *asked, leaves


def _tables(trees: list[tuple[list[int], list[float], list[float], list[float]]]) -> ShallowTrees:
    feature, threshold, chance, leaves = (np.array(part) for part in zip(*trees, strict=True))
    answers = np.array([[code >> node & 1 for node in range(3)] for code in range(8)], dtype=float)
    # v[known questions, answers, tree]: the mean over the rows that give the known answers
    worth = np.empty((8, 8, len(trees)))
    for known in range(8):
        for code in range(8):
            yes = [answers[code, node] if known >> node & 1 else chance[:, node] for node in range(3)]
            on_left = yes[1] * leaves[:, 0] + (1 - yes[1]) * leaves[:, 1]
            on_right = yes[2] * leaves[:, 2] + (1 - yes[2]) * leaves[:, 3]
            worth[known, code] = yes[0] * on_left + (1 - yes[0]) * on_right
    shares = np.zeros((len(trees), 3, 8))
    same = [feature[:, 0] == feature[:, 1], feature[:, 0] == feature[:, 2], feature[:, 1] == feature[:, 2]]
    which = np.select([same[0] & same[1], same[0], same[1], same[2]], [4, 1, 2, 3], 0)
    for number, players in enumerate(PARTITIONS):
        rows = np.flatnonzero(which == number)
        for player in players:
            others = [each for each in players if each != player]
            shares[rows, player[0]] = _shapley(worth[:, :, rows], player, others).T
    # a yes at the root leads to the left, where the second answer counts, a no to the right, where the third does
    reached = [(0 if code & 2 else 1) if code & 1 else (2 if code & 4 else 3) for code in range(8)]
    leaf = np.ascontiguousarray(leaves[:, reached])
    return ShallowTrees(feature.astype(np.int64), threshold, leaf, shares, float(worth[0, 0].sum()))


def _shapley(worth: np.ndarray, player: tuple[int, ...], others: Sequence[tuple[int, ...]]) -> np.ndarray:
    """The mean of what knowing the player's answers adds, over all orders in which players may come."""
    many, total = len(others) + 1, np.zeros(worth.shape[1:])
    for size in range(many):
        weight = factorial(size) * factorial(many - size - 1) / factorial(many)
        for before in combinations(others, size):
            known = sum(1 << node for group in before for node in group)
            total += weight * (worth[known | sum(1 << node for node in player)] - worth[known])
    return total


@numba.njit(cache=True, nogil=True)
def _add_up(X: np.ndarray, feature: np.ndarray, threshold: np.ndarray, leaf: np.ndarray, sums: np.ndarray) -> None:
    for tree in range(len(feature)):
        a, b, c = feature[tree]
        _look_up(X[a], X[b], X[c], threshold[tree], leaf[tree], sums)


@numba.njit(cache=True, nogil=True)
def _share_out(
    X: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    leaf: np.ndarray,
    shares: np.ndarray,
    sums: np.ndarray,
    parts: np.ndarray,
) -> None:
    for tree in range(len(feature)):
        a, b, c = feature[tree]
        _look_up(X[a], X[b], X[c], threshold[tree], leaf[tree], sums)
        for question in range(3):
            if shares[tree, question].any():
                to = parts[feature[tree, question]]
                _look_up(X[a], X[b], X[c], threshold[tree], shares[tree, question], to)


@numba.njit(cache=True, nogil=True)
def _look_up(
    first: np.ndarray, second: np.ndarray, third: np.ndarray, threshold: np.ndarray, table: np.ndarray, out: np.ndarray
) -> None:
    """Add to each row what the table has for its three answers; choices, not indices, so that four go at once."""
    at, bt, ct = threshold
    nnn, ynn, nyn, yyn, nny, yny, nyy, yyy = table
    for i in range(len(out)):
        one, two = first[i] <= at, second[i] <= bt
        no = (yyn if one else nyn) if two else (ynn if one else nnn)
        yes = (yyy if one else nyy) if two else (yny if one else nny)
        out[i] += yes if third[i] <= ct else no
