"""One feature of a simulated registry for all rows: its values, which of them are missing, and its column."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from ..._typing import FloatArray, IntArray
from ._features import FIRST_YEAR, LAST_YEAR, Choice, Flag, Numeric

Drawn = dict[str, np.ndarray]  # numbers as they are; categories as codes; nothing missing yet


def draw(spec: Numeric | Flag | Choice, year: FloatArray, hidden: Drawn, rng: np.random.Generator) -> np.ndarray:
    """Draw the values of one feature: numbers, or codes of categories (0 and 1 for no and yes)."""
    if isinstance(spec, Numeric):
        return _numbers(spec, year, hidden, rng)
    pull = _pull(spec, hidden, len(year))
    if isinstance(spec, Flag):
        share = np.clip(np.interp(year, spec.years, spec.share), 1e-9, 1 - 1e-9)
        pull = pull - 0.5 * sum(weight**2 for weight in spec.factors.values())  # the share stays about what it says
        chance: FloatArray = special.expit(special.logit(share) + pull)
        return (rng.random(len(year)) < chance).astype(int)
    return draw_codes(spec, year, rng, pull=pull)


def draw_codes(
    spec: Choice,
    year: FloatArray,
    rng: np.random.Generator,
    pull: FloatArray | None = None,
    tilt: FloatArray | None = None,
) -> IntArray:
    """Draw the codes of a choice; `tilt`, (n, levels), multiplies the probability of each level for a row."""
    late = _stage(year)
    shares = np.outer(1 - late, spec.first) + np.outer(late, spec.last)
    if tilt is not None:
        shares = shares * tilt
        shares /= shares.sum(axis=1, keepdims=True)
    u = rng.random(len(year))
    if spec.factors and pull is not None:
        length = np.sqrt(1 + sum(weight**2 for weight in spec.factors.values()))
        u = special.ndtr((pull + special.ndtri(u)) / length)
    codes: IntArray = (u[:, None] > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
    return codes


def make_column(
    spec: Numeric | Flag | Choice, values: np.ndarray, year: FloatArray, rng: np.random.Generator
) -> np.ndarray | pd.Categorical:
    """Make the column of a table, with values missing as its era has them."""
    early, late = spec.missing
    gone = rng.random(len(year)) < late + (early - late) * (1 - _stage(year)) ** 2 if early or late else None
    if isinstance(spec, Numeric):
        return values if gone is None else np.where(gone, np.nan, values)
    return make_category(values if gone is None else np.where(gone, -1, values), list_levels(spec))


def list_levels(spec: Flag | Choice) -> tuple[str, ...]:
    """List the names of the categories, in the order of their codes."""
    return ("no", "yes") if isinstance(spec, Flag) else spec.levels


def make_category(codes: np.ndarray, names: tuple[str, ...] | list[str]) -> pd.Categorical:
    """Make a categorical column of codes; -1 is missing."""
    return pd.Categorical.from_codes(codes, list(names))


def _numbers(spec: Numeric, year: FloatArray, hidden: Drawn, rng: np.random.Generator) -> FloatArray:
    rest = max(0.0, 1 - sum(share**2 for share in spec.factors.values()))
    z = _pull(spec, hidden, len(year)) + np.sqrt(rest) * rng.standard_normal(len(year))
    if spec.skew:  # a shifted log-normal of mean 0 and spread 1: rises throughout, so that no tail folds back
        spread = np.sign(spec.skew) * np.sqrt(np.expm1(spec.skew**2))
        z = np.expm1(spec.skew * z - spec.skew**2 / 2) / spread
    value = spec.mean + spec.per_decade * (year - 2005) / 10 + spec.sd * z
    values: FloatArray = np.clip(np.exp(value) if spec.log else value, spec.low, spec.high).round(spec.digits)
    return values


def _pull(spec: Numeric | Flag | Choice, hidden: Drawn, n: int) -> FloatArray:
    return sum((weight * hidden[name] for name, weight in spec.factors.items()), np.zeros(n))


def _stage(year: FloatArray) -> FloatArray:
    """How far through the study: 0 at its beginning, 1 at its end."""
    return np.clip((year - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR), 0, 1)
