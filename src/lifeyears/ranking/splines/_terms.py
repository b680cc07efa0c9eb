"""Terms of linear splines: columns above a knot, interactions of two of them, and matrices of both, made in blocks."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numba
import numpy as np

from ..._typing import FloatArray, IntArray

KNOTS = (0.25, 0.5, 0.75)  # quantiles of a column at which its spline may bend
LARGEST_FACTOR = 2.0  # terms of an interaction are clipped here, in their scale (standard deviations, mostly)
BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class SplineTerms:
    """Linear splines (min(x, high) − knot)₊: the column, knot and upper end of each; its mean and scale in training."""

    column: IntArray
    knot: FloatArray
    high: FloatArray
    mean: FloatArray
    scale: FloatArray

    @classmethod
    def from_matrix(cls, X: FloatArray) -> SplineTerms:
        """Make the terms of a matrix: each column from its least value, and numeric columns above their quartiles too.

        Numbers are scaled by their standard deviation, indicators from 0 to 1: those of rare categories are therefore
        shrunk more.
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

    def select(self, kept: IntArray) -> SplineTerms:
        """Return some of the terms."""
        return SplineTerms(*(getattr(self, part.name)[kept] for part in fields(self)))


@dataclass(frozen=True, eq=False)
class InteractionTerms:
    """Products of two spline terms, each centred, scaled and clipped; with the mean of the product in training."""

    first: IntArray
    second: IntArray
    mean: FloatArray

    @classmethod
    def from_splines(cls, X: FloatArray, splines: SplineTerms, chosen: IntArray) -> InteractionTerms:
        """Multiply each of the chosen terms with every other one of another column."""
        one, other = (chosen[side] for side in np.triu_indices(len(chosen), 1))
        apart = splines.column[one] != splines.column[other]
        products = cls(one[apart], other[apart], np.zeros(np.count_nonzero(apart)))
        every = len(splines.column) + np.arange(len(products.mean))
        terms = TermMatrix(X, np.arange(len(X)), splines, products, every)
        return cls(products.first, products.second, np.ones(len(X)) @ terms / len(X))

    def select(self, kept: IntArray) -> InteractionTerms:
        """Return some of the terms."""
        return InteractionTerms(*(getattr(self, part.name)[kept] for part in fields(self)))


NO_INTERACTIONS = InteractionTerms(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))


class TermMatrix:
    """Some terms of some rows, splines first, centred and scaled: a matrix of which only blocks are ever made."""

    __array_ufunc__ = None  # weights @ terms is ours to answer

    def __init__(
        self, X: FloatArray, order: IntArray, splines: SplineTerms, interactions: InteractionTerms, chosen: IntArray
    ) -> None:
        self.X, self.order, self.splines = X, order, splines
        n_splines = len(splines.column)
        self.alone = chosen[chosen < n_splines]
        products = interactions.select(chosen[chosen >= n_splines] - n_splines)
        self.multiplied, sides = np.unique([products.first, products.second], return_inverse=True)
        self.first, self.second = sides.reshape(2, -1)
        self.mean = products.mean
        self.shape = len(order), len(chosen)

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, rows: slice) -> FloatArray:
        X = self.X[self.order[rows]]
        block, factors = np.empty((len(X), self.shape[1])), np.empty((len(X), len(self.multiplied)))
        for which, out in ((self.alone, block), (self.multiplied, factors)):
            _fill_splines(X, which, self.splines.column, self.splines.knot, self.splines.mean, self.splines.scale, out)
        _fill_interactions(factors, self.first, self.second, self.mean, block[:, len(self.alone) :])
        return block

    def __matmul__(self, coef: FloatArray) -> FloatArray:
        return np.concatenate([self[rows] @ coef for rows in self._blocks()])

    def __rmatmul__(self, weights: FloatArray) -> FloatArray:
        return np.asarray(np.sum([weights[rows] @ self[rows] for rows in self._blocks()], axis=0))

    def spread(self) -> FloatArray:
        """Return the standard deviations of the columns around the training mean."""
        squares = np.sum([(self[rows] ** 2).sum(axis=0) for rows in self._blocks()], axis=0)
        return np.asarray(np.sqrt(squares / len(self)))

    def _blocks(self) -> list[slice]:
        return [slice(start, start + BLOCK_ROWS) for start in range(0, len(self.order), BLOCK_ROWS)]


@numba.njit(cache=True, nogil=True)
def _fill_splines(
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
def _fill_interactions(
    factors: np.ndarray, first: np.ndarray, second: np.ndarray, mean: np.ndarray, out: np.ndarray
) -> None:
    for i in range(len(factors)):
        for t in range(len(first)):
            out[i, t] = _clip(factors[i, first[t]]) * _clip(factors[i, second[t]]) - mean[t]


@numba.njit(cache=True, nogil=True, inline="always")
def _clip(value: float) -> float:
    return min(max(value, -LARGEST_FACTOR), LARGEST_FACTOR)


@numba.njit(cache=True, nogil=True, inline="always")
def _spline(value: float, knot: float, high: float, mean: float) -> float:
    """Return one term of one row, centred."""
    return max(min(value, high) - knot, 0.0) - mean


@numba.njit(cache=True, nogil=True)
def add_splines(
    columns: np.ndarray,
    column: np.ndarray,
    knot: np.ndarray,
    high: np.ndarray,
    mean: np.ndarray,
    slope: np.ndarray,
    factor: np.ndarray,
    by_column: bool,
    out: np.ndarray,
) -> None:
    """Add slope·term·factor to the row of `out` of the term's column, or of the interval."""
    for t in range(len(column)):
        x = columns[column[t]]
        for interval in range(len(slope)):
            to = out[column[t] if by_column else interval]
            if slope[interval, t] != 0.0:
                for i in range(len(x)):
                    to[i] += slope[interval, t] * _spline(x[i], knot[t], high[t], mean[t]) * factor[interval, i]


@numba.njit(cache=True, nogil=True)
def add_interactions(
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
    factor: np.ndarray,
    by_column: bool,
    out: np.ndarray,
) -> None:
    """Add slope·product·factor to the rows of `out` of both columns, half to each; or whole to that of the interval."""
    for t in range(len(first)):
        a, b = first[t], second[t]
        x, z = columns[column[a]], columns[column[b]]
        for interval in range(len(slope)):
            one, other = out[column[a] if by_column else interval], out[column[b] if by_column else interval]
            for i in range(len(x)):
                product = _clip(_spline(x[i], knot[a], high[a], mean[a]) / scale[a])
                product *= _clip(_spline(z[i], knot[b], high[b], mean[b]) / scale[b])
                half = 0.5 * slope[interval, t] * (product - typical[t]) * factor[interval, i]
                one[i] += half
                other[i] += half
