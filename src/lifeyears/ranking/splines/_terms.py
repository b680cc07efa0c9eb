"""Terms of broken lines: columns above a knot, products of two of them, and matrices of them made block by block."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numba
import numpy as np

KNOTS = (0.25, 0.5, 0.75)  # quantiles of a column at which its line may bend
REACH = 2.0  # of a term within a product: standard deviations, or an indicator's 0 to 1, less the mean
BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Lines:
    """Terms of broken lines: which column, from which knot on, up to which value; mean and scale in training."""

    column: np.ndarray
    knot: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Lines:
        """Each column from its least value on, and numbers with three values or more above their quartiles too.

        Numbers count in standard deviations, indicators from 0 to 1: of rare ones less is believed.
        """
        column, knot, high, mean, scale = [], [], [], [], []
        for j in range(X.shape[1]):
            x = np.ascontiguousarray(X[:, j])
            least, most = x.min(), x.max()
            bends = np.empty(0) if ((x == least) | (x == most)).all() else np.unique(np.quantile(x, KNOTS))
            for start in (least, *bends[(bends > least) & (bends < most)]):
                term = np.maximum(x - start, 0.0)
                reach, spread = most - start, term.std()
                two = ((term == 0) | (term == reach)).all()
                column.append(j)
                knot.append(start)
                high.append(most)
                mean.append(term.mean())
                scale.append((reach if two else spread) or 1.0)
        return cls(np.array(column, dtype=np.int64), *(np.array(part) for part in (knot, high, mean, scale)))

    def only(self, kept: np.ndarray) -> Lines:
        """Some of them."""
        return Lines(*(getattr(self, part.name)[kept] for part in fields(self)))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Products of two terms, each centred, scaled and cut at `REACH`; and the product's mean in training."""

    first: np.ndarray
    second: np.ndarray
    mean: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, lines: Lines, chosen: np.ndarray) -> Pairs:
        """Each of the chosen terms with each other one of another column."""
        one, other = (chosen[side] for side in np.triu_indices(len(chosen), 1))
        apart = lines.column[one] != lines.column[other]
        pairs = cls(one[apart], other[apart], np.zeros(np.count_nonzero(apart)))
        terms = Terms(X, np.arange(len(X)), lines, pairs, len(lines.column) + np.arange(len(pairs.mean)))
        return cls(pairs.first, pairs.second, np.ones(len(X)) @ terms / len(X))

    def only(self, kept: np.ndarray) -> Pairs:
        """Some of them."""
        return Pairs(*(getattr(self, part.name)[kept] for part in fields(self)))


NO_PAIRS = Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))


class Terms:
    """Some terms of some rows, lines first, centred and scaled: a matrix of which only blocks are ever made."""

    __array_ufunc__ = None  # weights @ terms is ours to answer

    def __init__(self, X: np.ndarray, order: np.ndarray, lines: Lines, pairs: Pairs, chosen: np.ndarray) -> None:
        self.X, self.order, self.lines = X, order, lines
        many = len(lines.column)
        self.straight, pairs = chosen[chosen < many], pairs.only(chosen[chosen >= many] - many)
        self.multiplied, sides = np.unique([pairs.first, pairs.second], return_inverse=True)
        self.first, self.second = sides.reshape(2, -1)
        self.mean = pairs.mean
        self.shape = len(order), len(chosen)

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, rows: slice) -> np.ndarray:
        X = self.X[self.order[rows]]
        block, factors = np.empty((len(X), self.shape[1])), np.empty((len(X), len(self.multiplied)))
        for which, out in ((self.straight, block), (self.multiplied, factors)):
            _draw(X, which, self.lines.column, self.lines.knot, self.lines.mean, self.lines.scale, out)
        _multiply(factors, self.first, self.second, self.mean, block[:, len(self.straight) :])
        return block

    def __matmul__(self, coef: np.ndarray) -> np.ndarray:
        return np.concatenate([self[rows] @ coef for rows in self._blocks()])

    def __rmatmul__(self, weights: np.ndarray) -> np.ndarray:
        return np.sum([weights[rows] @ self[rows] for rows in self._blocks()], axis=0)

    def spread(self) -> np.ndarray:
        """Standard deviations of the columns around the training mean."""
        squares = np.sum([(self[rows] ** 2).sum(axis=0) for rows in self._blocks()], axis=0)
        return np.sqrt(squares / len(self))

    def _blocks(self) -> list[slice]:
        return [slice(start, start + BLOCK_ROWS) for start in range(0, len(self.order), BLOCK_ROWS)]


@numba.njit(cache=True, nogil=True)
def _draw(
    X: np.ndarray,
    which: np.ndarray,
    column: np.ndarray,
    knot: np.ndarray,
    mean: np.ndarray,
    scale: np.ndarray,
    out: np.ndarray,
) -> None:
    for i in range(len(X)):
        for place in range(len(which)):
            t = which[place]
            out[i, place] = (max(X[i, column[t]] - knot[t], 0.0) - mean[t]) / scale[t]


@numba.njit(cache=True, nogil=True)
def _multiply(factors: np.ndarray, first: np.ndarray, second: np.ndarray, mean: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(factors)):
        for t in range(len(first)):
            out[i, t] = _cut(factors[i, first[t]]) * _cut(factors[i, second[t]]) - mean[t]


@numba.njit(cache=True, nogil=True, inline="always")
def _cut(value: float) -> float:
    return min(max(value, -REACH), REACH)


@numba.njit(cache=True, nogil=True, inline="always")
def _above(value: float, knot: float, high: float, mean: float) -> float:
    """One term of one row, centred."""
    return max(min(value, high) - knot, 0.0) - mean


@numba.njit(cache=True, nogil=True)
def add_lines(
    columns: np.ndarray,
    column: np.ndarray,
    knot: np.ndarray,
    high: np.ndarray,
    mean: np.ndarray,
    slope: np.ndarray,
    cost: np.ndarray,
    by_column: bool,
    out: np.ndarray,
) -> None:
    """Add slope·term·cost to the row of `out` of the term's column, or of the phase."""
    for t in range(len(column)):
        x = columns[column[t]]
        for phase in range(len(slope)):
            to = out[column[t] if by_column else phase]
            if slope[phase, t] != 0.0:
                for i in range(len(x)):
                    to[i] += slope[phase, t] * _above(x[i], knot[t], high[t], mean[t]) * cost[phase, i]


@numba.njit(cache=True, nogil=True)
def add_pairs(
    columns: np.ndarray,
    column: np.ndarray,
    knot: np.ndarray,
    high: np.ndarray,
    mean: np.ndarray,
    scale: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    typical: np.ndarray,
    slope: np.ndarray,
    cost: np.ndarray,
    by_column: bool,
    out: np.ndarray,
) -> None:
    """Add slope·product·cost by halves to the rows of `out` of both columns, or whole to that of the phase."""
    for t in range(len(first)):
        a, b = first[t], second[t]
        x, z = columns[column[a]], columns[column[b]]
        for phase in range(len(slope)):
            one, other = out[column[a] if by_column else phase], out[column[b] if by_column else phase]
            for i in range(len(x)):
                product = _cut(_above(x[i], knot[a], high[a], mean[a]) / scale[a])
                product *= _cut(_above(z[i], knot[b], high[b], mean[b]) / scale[b])
                half = 0.5 * slope[phase, t] * (product - typical[t]) * cost[phase, i]
                one[i] += half
                other[i] += half
