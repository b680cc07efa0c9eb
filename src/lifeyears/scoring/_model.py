"""A fitted model with its card: candidates ranked with years, chances and reasons."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .._threads import one_thread
from ..allocation import PositionWeighted
from ..errors import ModelFileError
from ..ranking import Explanation, Ranker
from ..ranking.explanations import explain_matrix
from ..saving import load, save
from ._card import FORMAT, VERSION
from ._schema import CheckedRows, Column, Schema

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray, Json

log = logging.getLogger(__name__)

CARD = "card.json"
REASONS = 5
# LightGBM keeps one number of threads for a whole process: one prediction at a time, whoever asks for it.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates of one organ, best first.

    Attributes
    ----------
    order : array of int, shape (n,)
        Rows of the input, best first.
    years : array, shape (n,)
        Of the rows, in the order of the input; so are the others below.
    low, high : arrays or None
        Ends of the 95% interval of the mean years of held-out people with like predictions, stretched to take in
        `years`; None where nothing was held out.
    probability : array
        The chance of each by Algorithm 1.
    typical : array
        What is said of anybody, before their features are looked at.
    features : list of str
    reasons : array of int, shape (n, most)
        The features that move each row most.
    reason_years : array, shape (n, most)
        By how many years.
    """

    order: IntArray
    years: FloatArray
    low: FloatArray | None
    high: FloatArray | None
    probability: FloatArray
    typical: FloatArray
    features: list[str]
    reasons: IntArray
    reason_years: FloatArray

    def rows(self) -> list[Json]:
        """Plain values, best first: rank, row, years, low, high, probability, reasons."""
        order = self.order
        columns: dict[str, list[object]] = {
            "rank": list(range(1, len(order) + 1)),
            "row": order.tolist(),
            "years": self.years[order].tolist(),
        }
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low[order].tolist(), "high": self.high[order].tolist()}
        columns["probability"] = self.probability[order].tolist()
        names, most = np.array(self.features, dtype=object)[self.reasons[order]], self.reasons.shape[1]
        years = self.reason_years[order]
        every = [{"feature": a, "years": b} for a, b in zip(names.ravel(), years.ravel().tolist(), strict=True)]
        columns["reasons"] = [every[start : start + most] for start in range(0, len(every), most)]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def frame(self) -> pd.DataFrame:
        """The same as a table, with reasons in words."""
        table = pd.DataFrame(self.rows())
        words = ["; ".join(f"{one['feature']} {one['years']:+.2f}" for one in row) for row in table["reasons"]]
        return table.assign(reasons=words)


@dataclass(frozen=True, eq=False)
class MatchModel:
    """A fitted ranker and its card.

    Parameters
    ----------
    ranker : BootstrappedRanker or StackedRanker
        Fitted.
    card : dict
        What it is and how good, as `make_card` has it; `fit_model` makes both.

    Examples
    --------
    >>> import lifeyears as ly
    >>> from lifeyears.scoring import fit_model
    >>> d = ly.data.simulate_registry(n=400)
    >>> model = fit_model(d, method="none")
    >>> best = model.rank(model.schema.frame(d.X), k=5).rows()[0]
    >>> best["rank"], round(best["probability"], 3), len(best["reasons"])
    (1, 0.339, 5)
    """

    ranker: Ranker
    card: Json

    @cached_property
    def schema(self) -> Schema:
        """The columns of a row."""
        return Schema(tuple(Column.from_dict(plain) for plain in self.card["columns"]))

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.card["name"])

    @property
    def tau(self) -> float:
        """The horizon."""
        return float(self.ranker.tau_)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write model and card to one folder, checksums and all; `lifeyears.load` reads the model there."""
        text = json.dumps(self.card, indent=1, ensure_ascii=False, allow_nan=False)
        return save(self.ranker, path, overwrite, also={CARD: text + "\n"})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MatchModel:
        """Read what `save` wrote; predictions are the same to the bit.

        Raises
        ------
        ModelFileError
            If there is no model there, or none with a card, or it was changed.
        """
        ranker = load(path)
        if not isinstance(ranker, Ranker) or not (Path(path) / CARD).is_file():
            raise ModelFileError(f"{path} holds a model without a card: `lifeyears fit` makes one with a card")
        model = cls(ranker, read_card(path))
        log.info("read the model %r from %s", model.name, path)
        return model

    def rank(self, table: CheckedRows, k: int = 5, most: int = REASONS) -> Ranking:
        """Rank the candidates of one organ.

        Parameters
        ----------
        table : CheckedRows
            One row a candidate, the donor's columns among its own: from ``schema.table`` (plain values) or
            ``schema.frame`` (a DataFrame).
        k : int, default 5
            Places among which Algorithm 1 draws.
        most : int, default 5
            Reasons for each candidate.

        Returns
        -------
        Ranking
            `.rows()` and `.frame()` have the candidates best first.
        """
        policy = PositionWeighted(k)
        explanation = self.explain(table)
        years = explanation.years
        low, high = self.interval(years)
        parts = np.ascontiguousarray(explanation.contributions.to_numpy())
        reasons = _largest(np.abs(parts), min(most, parts.shape[1]))
        return Ranking(
            order=np.argsort(-years, kind="stable"),
            years=years,
            low=low,
            high=high,
            probability=policy.probabilities(years),
            typical=explanation.typical,
            features=[str(name) for name in explanation.contributions.columns],
            reasons=reasons,
            reason_years=np.take_along_axis(parts, reasons, axis=1),
        )

    def explain(self, table: CheckedRows) -> Explanation:
        """All contributions in years, as the ranker's `explain` has them."""
        with _ONE_AT_A_TIME, one_thread():
            return explain_matrix(self.ranker, table.matrix(self.ranker.preprocessor_))

    def curves(self, table: CheckedRows, points: int = 41) -> tuple[FloatArray, FloatArray]:
        """Times from 0 to the horizon, and calibrated survival there, (n, points)."""
        times = np.linspace(0.0, self.tau, points)
        with _ONE_AT_A_TIME:
            return times, self.ranker.predict_curves(table.frame(), times[1:]).survival

    def interval(self, years: FloatArray) -> tuple[FloatArray | None, FloatArray | None]:
        """Where the mean of people with like predictions lay, by the card's groups of held-out rows; or None."""
        groups = self.card["calibration"]
        if not groups:
            return None, None
        predicted, low, high = np.array([[group[name] for name in ("predicted", "low", "high")] for group in groups]).T
        # the gap between predicted and observed, at this prediction; it takes in the prediction itself
        below, above = (
            np.interp(years, predicted, np.minimum(low - predicted, 0)),
            np.interp(years, predicted, np.maximum(high - predicted, 0)),
        )
        return np.clip(years + below, 0.0, self.tau), np.clip(years + above, 0.0, self.tau)


def read_card(path: str | os.PathLike[str]) -> Json:
    """The card of a model's folder."""
    try:
        card = json.loads((Path(path) / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path} holds no card that can be read: {error}") from None
    if not isinstance(card, Mapping) or card.get("format") != FORMAT:
        raise ModelFileError(f"{path}/{CARD} is no card that lifeyears wrote")
    if card.get("version") != VERSION:
        raise ModelFileError(
            f"{path}/{CARD} has version {card.get('version')}; this version of lifeyears reads {VERSION}. Fit the "
            "model again, or use the version of lifeyears that wrote it"
        )
    return dict(card)


def _largest(sizes: FloatArray, most: int) -> IntArray:
    """Columns of the largest values of each row, largest first; equal ones in their order."""
    left, every = sizes.copy(), np.arange(len(sizes))
    largest = np.empty((len(sizes), most), dtype=np.int64)
    for place in range(most):
        largest[:, place] = left.argmax(axis=1)
        left[every, largest[:, place]] = -1.0
    return largest
