"""Why a patient is where they are: contributions in years, and who moves in and out of the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from ..models import Cox

if TYPE_CHECKING:
    import pandas as pd

ROWS = 768  # whose contributions are made at once: what is in between stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions in years: for each patient, `typical` + the sum of the row of `contributions` = `years`.

    Attributes
    ----------
    contributions : DataFrame, shape (n, features)
        What each feature (categories are one feature) adds to the patient's years.
    typical : array, shape (n,)
        What is said of everybody before their features are looked at.
    years : array, shape (n,)
        `predict`.
    """

    contributions: pd.DataFrame
    typical: np.ndarray
    years: np.ndarray

    def top_reasons(self, row: int, most: int = 5) -> pd.Series:
        """The features that move a patient most.

        Parameters
        ----------
        row : int
            The patient's position in the table.
        most : int, default 5
            How many features.

        Returns
        -------
        Series
            Feature → years it adds (negative: takes away), the largest in size first.
        """
        row_of = self.contributions.iloc[row]
        return row_of.reindex(row_of.abs().sort_values(ascending=False, kind="stable").index)[:most]

    def movers(self, k: int = 5) -> pd.DataFrame:
        """Features by how many patients they move in or out of the top k of this list.

        A feature moves a patient in if the patient is in the top k, and would not be were the feature's contribution
        left out for everybody.

        Parameters
        ----------
        k : int, default 5
            From 1 to the number of patients.

        Returns
        -------
        DataFrame
            One row a feature: `moves_in`, how many patients it moves in (as many are moved out), and `mean_years`, the
            mean size of its contribution; most first.
        """
        import pandas as pd

        if not 1 <= k <= len(self.years):
            raise ValueError(f"k must lie between 1 and the {len(self.years)} patients of the list; got {k}")
        now = _top(self.years, k)
        rows = []
        for name, column in self.contributions.items():
            without = _top(self.years - column.to_numpy(), k)
            rows.append({"feature": name, "moves_in": int((now & ~without).sum()), "mean_years": column.abs().mean()})
        table = pd.DataFrame(rows).set_index("feature")
        return table.sort_values(["moves_in", "mean_years"], ascending=False, kind="stable")

    def plot(self, row: int = 0, most: int = 10, ax: Any = None) -> Any:
        """Draw the largest contributions of one patient.

        Parameters
        ----------
        row : int, default 0
            The patient's position in the table.
        most : int, default 10
            How many features.
        ax : matplotlib axes, optional
            New ones by default.

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
        return self.contributions.head(10).to_html(float_format="{:+.2f}".format)


def explain(ranker: Any, X: Any, matrix: np.ndarray) -> Explanation:
    """Contributions of the weighted sum, summed by feature of the table and scaled by the calibration."""
    import pandas as pd

    names, belongs = _features(ranker.preprocessor_)
    whose = np.append(belongs, len(names))  # the last is what all rows share
    parts = np.zeros((len(names) + 1, len(matrix)))
    parts[-1] = ranker.intercept_
    scores = np.full(len(matrix), ranker.intercept_)  # as `predict` adds them up
    blocks = [np.asfortranarray(matrix[start : start + ROWS]) for start in range(0, len(matrix), ROWS)]  # for all trees
    if "base" in ranker.weights_:
        said, shares = occluded(ranker.base_, matrix, ranker.typical_row_, belongs)
        scores += ranker.weights_["base"] * said
        parts += ranker.weights_["base"] * shares
    for name, fits in ranker.members_.items():
        each, weight = [], ranker.weights_[name] / len(fits)
        for fit in fits:
            if hasattr(fit, "explained"):
                said = np.empty(len(matrix))
                for start, block in zip(range(0, len(matrix), ROWS), blocks, strict=True):
                    said[start : start + ROWS], shares = fit.explained(block)
                    add_by_feature(shares.T, whose, np.zeros(len(whose)), np.full(len(whose), weight), parts, start)
            else:
                said, shares = occluded(fit, matrix, ranker.typical_row_, belongs)
                parts += weight * shares
            each.append(said)
        scores += ranker.weights_[name] * np.mean(each, axis=0)
    years = ranker.calibration_map_(scores)
    typical = ranker.calibration_map_(parts[-1].copy())
    moved = parts[:-1].sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(np.abs(moved) > 1e-12, (years - typical) / moved, 0.0)
    index = X.index if hasattr(X, "index") and hasattr(X, "columns") else None
    return Explanation(pd.DataFrame((parts[:-1] * rate).T, columns=names, index=index), typical, years)


def occluded(model: Any, matrix: np.ndarray, typical: np.ndarray, belongs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Any model's predictions; and what each feature adds: these less those with it at its training mean.

    That is (features + 1, n), scaled to add up; the last is what all rows share. All columns of a category are changed
    together.
    """
    here = model.predict(matrix)
    shared = float(model.predict(typical[None])[0])
    parts = np.empty((belongs[-1] + 2, len(matrix)))
    np.subtract(here, _without_each(model, matrix, typical, belongs), out=parts[:-1])
    size = np.abs(parts[:-1])
    missing, total = here - shared - parts[:-1].sum(axis=0), size.sum(axis=0)  # interactions: shared out by size
    with np.errstate(invalid="ignore", divide="ignore"):
        parts[:-1] += np.multiply(size, np.where(total > 0, missing / total, 0.0), out=size)
    parts[-1] = here - parts[:-1].sum(axis=0)
    return here, parts


def _without_each(model: Any, matrix: np.ndarray, typical: np.ndarray, belongs: np.ndarray) -> np.ndarray:
    """Predictions with one feature after the other at its training mean, (features, n)."""
    found = np.zeros((belongs[-1] + 1, len(matrix)))
    if isinstance(model, Cox):  # life depends on the linear predictor alone
        add_by_feature(matrix.T, belongs, typical, -model.coef_, found)
        found += model._eta(matrix)
        return model._table(found.ravel(), model._baseline(), model.tau_).reshape(found.shape)
    for feature in range(len(found)):
        without, columns = matrix.copy(), belongs == feature
        without[:, columns] = typical[columns]
        found[feature] = model.predict(without)
    return found


def add_by_feature(
    columns: np.ndarray, belongs: np.ndarray, origin: np.ndarray, weight: np.ndarray, out: np.ndarray, start: int = 0
) -> None:
    """Add weight·(column − origin) to the feature that each column belongs to; `columns` is (p, n)."""
    _add_by_feature(np.ascontiguousarray(columns), belongs, origin, weight, out, start)


@numba.njit(cache=True, nogil=True)
def _add_by_feature(
    columns: np.ndarray, belongs: np.ndarray, origin: np.ndarray, weight: np.ndarray, out: np.ndarray, start: int
) -> None:
    for place in range(len(columns)):
        column, feature = columns[place], out[belongs[place], start:]
        for row in range(len(column)):
            feature[row] += weight[place] * (column[row] - origin[place])


def _features(preprocessor: Any) -> tuple[list, np.ndarray]:
    """Features of the table, and for each column of the matrix the feature it belongs to."""
    names = [*preprocessor.numeric_, *preprocessor.categories_]
    many = [len(seen) for seen in preprocessor.categories_.values()]
    return names, np.repeat(np.arange(len(names)), [1] * len(preprocessor.numeric_) + many)


def _top(years: np.ndarray, k: int) -> np.ndarray:
    chosen = np.zeros(len(years), dtype=bool)
    chosen[np.argsort(-years, kind="stable")[:k]] = True
    return chosen
