"""Why a patient is where they are: contributions in years, and who moves in and out of the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..models import Cox

if TYPE_CHECKING:
    import pandas as pd


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
        """The features that move this patient most, in years."""
        row_of = self.contributions.iloc[row]
        return row_of.reindex(row_of.abs().sort_values(ascending=False, kind="stable").index)[:most]

    def movers(self, k: int = 5) -> pd.DataFrame:
        """Features by how many patients they move in or out of the top k of this list.

        A feature moves a patient in if the patient is in the top k, and would not be were the feature's contribution
        left out for everybody.
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
        """Draw the largest contributions of one patient and return the axes."""
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
    parts = np.zeros((matrix.shape[1] + 1, len(matrix))).T  # as the trees' come
    parts[:, -1] = ranker.intercept_
    scores = np.full(len(matrix), ranker.intercept_)  # as `predict` adds them up
    if "base" in ranker.weights_:
        said, shares = occluded(ranker.base_, matrix, ranker.typical_row_, belongs)
        scores += ranker.weights_["base"] * said
        parts += ranker.weights_["base"] * shares
    by_columns = np.asfortranarray(matrix)  # once for all trees
    for name, fits in ranker.members_.items():
        each = []
        for fit in fits:
            whole = hasattr(fit, "explained")
            said, shares = fit.explained(by_columns) if whole else occluded(fit, matrix, ranker.typical_row_, belongs)
            each.append(said)
            parts += ranker.weights_[name] / len(fits) * shares
        scores += ranker.weights_[name] * np.mean(each, axis=0)
    years = ranker.calibration_map_(scores)
    typical = ranker.calibration_map_(parts[:, -1].copy())
    moved = parts[:, :-1].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(np.abs(moved) > 1e-12, (years - typical) / moved, 0.0)
    summed = np.add.reduceat(parts[:, :-1], np.flatnonzero(np.diff(belongs, prepend=-1)), axis=1)
    index = X.index if hasattr(X, "index") and hasattr(X, "columns") else None
    return Explanation(pd.DataFrame(summed * rate[:, None], columns=names, index=index), typical, years)


def occluded(model: Any, matrix: np.ndarray, typical: np.ndarray, belongs: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Any model's predictions; and what each feature adds: these less those with it at its training mean.

    That is scaled to add up. All columns of a category are changed together; what it adds stands in the first of them.
    """
    here = model.predict(matrix)
    shared = float(model.predict(typical[None])[0])
    first = np.flatnonzero(np.diff(belongs, prepend=-1))  # columns of a feature lie side by side
    parts = np.zeros((len(matrix), matrix.shape[1] + 1))
    parts[:, first] = here[:, None] - _without_each(model, matrix, typical, first)
    missing = here - shared - parts.sum(axis=1)  # interactions: shared out by size
    size = np.abs(parts).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts += np.where(size[:, None] > 0, np.abs(parts) / size[:, None], 0.0) * missing[:, None]
    parts[:, -1] = here - parts[:, :-1].sum(axis=1)
    return here, parts


def _without_each(model: Any, matrix: np.ndarray, typical: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Predictions with one feature after the other at its training mean, (n, features)."""
    if isinstance(model, Cox):  # life depends on the linear predictor alone
        moves = np.add.reduceat((matrix - typical) * model.coef_, first, axis=1)
        eta = model._eta(matrix)[:, None] - moves
        return model._table(eta.ravel(), model._baseline(), model.tau_).reshape(eta.shape)
    found = np.empty((len(matrix), len(first)))
    for feature, columns in enumerate(np.split(np.arange(matrix.shape[1]), first[1:])):
        without = matrix.copy()
        without[:, columns] = typical[columns]
        found[:, feature] = model.predict(without)
    return found


def _features(preprocessor: Any) -> tuple[list, list[int]]:
    """Features of the table, and for each column of the matrix the feature it belongs to."""
    names = [*preprocessor.numeric_, *preprocessor.categories_]
    belongs = list(range(len(preprocessor.numeric_)))
    for place, seen in enumerate(preprocessor.categories_.values(), start=len(belongs)):
        belongs += [place] * len(seen)
    return names, belongs


def _top(years: np.ndarray, k: int) -> np.ndarray:
    chosen = np.zeros(len(years), dtype=bool)
    chosen[np.argsort(-years, kind="stable")[:k]] = True
    return chosen
