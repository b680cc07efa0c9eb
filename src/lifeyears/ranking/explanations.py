"""Explanations of a ranking: contributions of features in years, and who moves in and out of the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import numba
import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..errors import RequestError
from ..models import Cox

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ..data import TablePreprocessor
    from ._estimator import RankingEstimator
    from ._parts import AdditivePart

BLOCK_ROWS = 768  # explained at a time: intermediate results stay in the processor's cache


class Predictor(Protocol):
    """A fitted model with `predict`."""

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the expected years of each row."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions in years: for each patient, `typical` + the sum of the row of `contributions` = `years`.

    Attributes
    ----------
    contributions : DataFrame, shape (n, features)
        What each feature adds to the patient's years; all levels of a category are one feature.
    typical : array, shape (n,)
        The prediction for everybody, before any feature is considered.
    years : array, shape (n,)
        The predictions (`predict`).
    """

    contributions: pd.DataFrame
    typical: FloatArray
    years: FloatArray

    def top_reasons(self, row: int, most: int = 5) -> pd.Series:
        """Return the largest contributions of one patient.

        Parameters
        ----------
        row : int
            The patient's position in the table.
        most : int, default 5
            Number of features.

        Returns
        -------
        Series
            Years that each feature adds (negative: takes away), the largest in size first.
        """
        years = self.contributions.iloc[row]
        return years.reindex(years.abs().sort_values(ascending=False, kind="stable").index)[:most]

    def movers(self, k: int = 5) -> pd.DataFrame:
        """Count how many patients each feature moves into the top k of this list.

        A feature moves a patient in if the patient is in the top k, and would not be if the feature's contribution
        were left out for everybody.

        Parameters
        ----------
        k : int, default 5
            Length of the top, from 1 to the number of patients.

        Returns
        -------
        DataFrame
            One row per feature, the most influential first: `moves_in`, the number of patients it moves in (as many are
            moved out), and `mean_years`, the mean absolute contribution.
        """
        import pandas as pd

        if not 1 <= k <= len(self.years):
            raise RequestError(f"k must lie between 1 and the {len(self.years)} patients of the list; got {k}", k=k)
        top = _mark_top(self.years, k)
        rows = []
        for name, column in self.contributions.items():
            without = _mark_top(self.years - column.to_numpy(), k)
            rows.append({"feature": name, "moves_in": int((top & ~without).sum()), "mean_years": column.abs().mean()})
        table = pd.DataFrame(rows).set_index("feature")
        return table.sort_values(["moves_in", "mean_years"], ascending=False, kind="stable")

    def plot(self, row: int = 0, most: int = 10, ax: Axes | None = None) -> Axes:
        """Draw the largest contributions of one patient.

        Parameters
        ----------
        row : int, default 0
            The patient's position in the table.
        most : int, default 10
            Number of features.
        ax : matplotlib axes, optional
            By default new axes.

        Returns
        -------
        matplotlib axes
        """
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots(figsize=(6, 0.35 * most + 1))[1]
        reasons = self.top_reasons(row, most)[::-1]
        ax.barh([str(name) for name in reasons.index], reasons, color=np.where(reasons > 0, "#0072B2", "#D55E00"))
        ax.axvline(0, color="0.3", linewidth=0.8)
        ax.set(xlabel="years", title=f"{self.years[row]:.1f} years expected; {self.typical[row]:.1f} for anybody")
        return ax

    def _repr_html_(self) -> str:
        return str(self.contributions.head(10).to_html(float_format="{:+.2f}".format))


def explain_matrix(ranker: RankingEstimator, matrix: FloatArray, index: pd.Index | None = None) -> Explanation:
    """Explain rows that are preprocessed already: contributions of the weighted sum, scaled to calibrated years.

    Parameters
    ----------
    ranker : ranker or member
        Fitted.
    matrix : array, shape (n, columns)
        Rows as `ranker.preprocessor_` makes them.
    index : Index, optional
        Names of the rows.

    Returns
    -------
    Explanation
    """
    import pandas as pd

    names, feature_of = _list_features(ranker.preprocessor_)
    with_shared = np.append(feature_of, len(names))  # the last is what all rows share
    parts = np.zeros((len(names) + 1, len(matrix)))
    parts[-1] = ranker.intercept_
    scores = np.full(len(matrix), ranker.intercept_)  # as `predict` adds them up
    starts = range(0, len(matrix), BLOCK_ROWS)
    blocks = [np.asfortranarray(matrix[start : start + BLOCK_ROWS]) for start in starts]  # for all trees
    if "base" in ranker.weights_ and ranker.base_ is not None:
        predictions, shares = occlude_features(ranker.base_, matrix, ranker.typical_row_, feature_of)
        scores += ranker.weights_["base"] * predictions
        parts += ranker.weights_["base"] * shares
    for name, fits in ranker.members_.items():
        each, weight = [], ranker.weights_[name] / len(fits)
        for fit in fits:
            if fit.additive:
                additive = cast("AdditivePart", fit)
                predictions = np.empty(len(matrix))
                factors = np.zeros(len(with_shared)), np.full(len(with_shared), weight)
                for start, block in zip(starts, blocks, strict=True):
                    predictions[start : start + BLOCK_ROWS], shares = additive.predict_contributions(block)
                    add_by_feature(shares.T, with_shared, *factors, parts, start)
            else:
                predictions, shares = occlude_features(fit, matrix, ranker.typical_row_, feature_of)
                parts += weight * shares
            each.append(predictions)
        scores += ranker.weights_[name] * np.mean(each, axis=0)
    years = ranker.calibration_map_(scores)
    typical = ranker.calibration_map_(parts[-1].copy())
    total = parts[:-1].sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(np.abs(total) > 1e-12, (years - typical) / total, 0.0)
    return Explanation(pd.DataFrame((parts[:-1] * rate).T, columns=names, index=index), typical, years)


def occlude_features(
    model: Predictor, matrix: FloatArray, typical: FloatArray, feature_of: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return a model's predictions, and what each feature adds: these less those with it at its training mean.

    The latter is (features + 1, n), scaled to add up; the last is what all rows share. All columns of a category are
    changed together.
    """
    predictions = model.predict(matrix)
    shared = float(model.predict(typical[None])[0])
    parts = np.empty((feature_of[-1] + 2, len(matrix)))
    np.subtract(predictions, _predict_without_each(model, matrix, typical, feature_of), out=parts[:-1])
    size = np.abs(parts[:-1])
    missing, total = predictions - shared - parts[:-1].sum(axis=0), size.sum(axis=0)  # interactions, divided by size
    with np.errstate(invalid="ignore", divide="ignore"):
        parts[:-1] += np.multiply(size, np.where(total > 0, missing / total, 0.0), out=size)
    parts[-1] = predictions - parts[:-1].sum(axis=0)
    return predictions, parts


def _predict_without_each(
    model: Predictor, matrix: FloatArray, typical: FloatArray, feature_of: IntArray
) -> FloatArray:
    """Return predictions with one feature after the other at its training mean, (features, n)."""
    predictions = np.zeros((feature_of[-1] + 1, len(matrix)))
    if isinstance(model, Cox):  # life depends on the linear predictor alone
        add_by_feature(matrix.T, feature_of, typical, -model.coef_, predictions)
        predictions += model._eta(matrix)
        life = model._table(predictions.ravel(), model._baseline(), model.tau_)
        return np.asarray(life).reshape(predictions.shape)
    for feature in range(len(predictions)):
        without, columns = matrix.copy(), feature_of == feature
        without[:, columns] = typical[columns]
        predictions[feature] = model.predict(without)
    return predictions


def add_by_feature(
    columns: FloatArray, feature_of: IntArray, origin: FloatArray, weight: FloatArray, out: FloatArray, start: int = 0
) -> None:
    """Add weight·(column − origin) to the feature that each column belongs to; `columns` is (p, n)."""
    _add_by_feature(np.ascontiguousarray(columns), feature_of, origin, weight, out, start)


@numba.njit(cache=True, nogil=True)
def _add_by_feature(
    columns: np.ndarray, feature_of: np.ndarray, origin: np.ndarray, weight: np.ndarray, out: np.ndarray, start: int
) -> None:
    for place in range(len(columns)):
        column, feature = columns[place], out[feature_of[place], start:]
        for row in range(len(column)):
            feature[row] += weight[place] * (column[row] - origin[place])


def _list_features(preprocessor: TablePreprocessor) -> tuple[list[str], IntArray]:
    """Return the features of the table, and for each column of the matrix the position of its feature."""
    names = [*preprocessor.numeric_, *preprocessor.categories_]
    n_levels = [len(levels) for levels in preprocessor.categories_.values()]
    return names, np.repeat(np.arange(len(names)), [1] * len(preprocessor.numeric_) + n_levels)


def _mark_top(years: FloatArray, k: int) -> BoolArray:
    chosen = np.zeros(len(years), dtype=bool)
    chosen[np.argsort(-years, kind="stable")[:k]] = True
    return chosen
