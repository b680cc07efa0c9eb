"""What a case leaves behind: every number, text and shape under a key of its own."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .names import FILES, is_unkeyed, json_as_before, table_as_before

EXACT = 2**53  # whole numbers beyond it are kept as texts
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass
class Record:
    """The values of one case by key, and what was found wrong on the way.

    Attributes
    ----------
    values : dict of str to array
        Numbers (float64) or texts (str).
    broken : list of str
        Promises that did not hold within this tree, such as equal predictions after saving and loading.
    """

    values: dict[str, np.ndarray] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def add(self, key: str, value: Any) -> None:
        """Record a value of any kind, taken apart into numbers and texts."""
        if value is None or isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
            self._numbers(key, [value], ())
        elif isinstance(value, (str, Path)):
            self._texts(key, [str(value)], ())
        elif isinstance(value, pd.DataFrame):
            self._table(key, value)
        elif isinstance(value, (pd.Series, pd.Index)):
            self._series(key, value)
        elif isinstance(value, np.ndarray):
            self._array(key, value)
        elif isinstance(value, Mapping):
            self._mapping(key, value)
        elif isinstance(value, (list, tuple, set, frozenset)):
            self._list(key, sorted(value) if isinstance(value, (set, frozenset)) else list(value))
        else:
            self._object(key, value)

    def attributes(self, key: str, thing: Any, *names: str) -> None:
        """Record some attributes of an object, under the names they have in the base."""
        from .names import read

        for name in names:
            self.add(f"{key}/{name}", read(thing, name))

    def table(self, key: str, table: pd.DataFrame) -> None:
        """Record a table in the form it had in the base; the last part of the key is its name."""
        self.add(key, table_as_before(key.rpartition("/")[2], table))

    def csv(self, key: str, path: Path) -> None:
        """Record a CSV file, its numbers with all their digits."""
        self.table(key, pd.read_csv(path, float_precision="round_trip"))

    def json(self, key: str, content: Any) -> None:
        """Record JSON (text, a file or plain values) in the form it had in the base."""
        if isinstance(content, Path):
            content = json.loads(content.read_text(encoding="utf-8"))
        elif isinstance(content, (str, bytes)):
            content = json.loads(content)
        self.add(key, json_as_before(key.rpartition("/")[2], content))

    def printed_numbers(self, key: str, text: str) -> None:
        """Record the numbers in a text as they are printed."""
        self.add(key, [found.replace(",", "").replace("−", "-") for found in NUMBER.findall(text)])

    def same(self, what: str, one: Any, other: Any) -> None:
        """Note what should be equal to the bit within one tree and is not."""
        first, second = Record(), Record()
        first.add("", one)
        second.add("", other)
        if first.values.keys() != second.values.keys() or not all(
            equal(first.values[key], second.values[key]).all() for key in first.values
        ):
            self.broken.append(what)

    # how values are taken apart

    def _numbers(self, key: str, values: Any, shape: tuple[int, ...]) -> None:
        self._keep(key, np.array([np.nan if one is None else one for one in values], dtype=float).reshape(shape))

    def _texts(self, key: str, texts: list[str], shape: tuple[int, ...]) -> None:
        self._keep(key, np.array(texts, dtype=object).reshape(shape))

    def _keep(self, key: str, value: np.ndarray) -> None:
        if key in self.values:
            raise KeyError(f"{key} is recorded twice")
        self.values[key] = value

    def _array(self, key: str, value: np.ndarray) -> None:
        if value.dtype.names is not None:
            for name in value.dtype.names:
                self._array(f"{key}/{name}", value[name])
        elif value.dtype.kind in "iu" and value.size and int(np.abs(value.astype(object)).max()) > EXACT:
            self._texts(key, [str(one) for one in value.ravel().tolist()], value.shape)
        elif value.dtype.kind in "fiub":
            self._keep(key, value.astype(float))
        elif value.dtype.kind in "mM":
            self._texts(key, [str(one) for one in value.ravel()], value.shape)
        elif value.ndim == 1:
            self._list(key, value.tolist())
        else:
            for number, row in enumerate(value):
                self._array(f"{key}/{number}", row)

    def _series(self, key: str, value: Any) -> None:
        if isinstance(value, pd.MultiIndex):
            for level in range(value.nlevels):
                self._series(f"{key}/{value.names[level] or level}", value.get_level_values(level))
            return
        if isinstance(value, pd.Series) and not isinstance(value.index, pd.RangeIndex):
            self._series(f"{key}/index", value.index)
        if isinstance(value.dtype, pd.CategoricalDtype):
            categories = value.cat.categories if isinstance(value, pd.Series) else value.categories
            self._list(f"{key}/categories", [_plain(one) for one in categories])
            value = value.astype(object)
        found = value.to_numpy()
        self._list(key, [_plain(one) for one in found]) if found.dtype == object else self._array(key, found)

    def _table(self, key: str, table: pd.DataFrame) -> None:
        self.add(f"{key}/shape", list(table.shape))
        if not isinstance(table.index, pd.RangeIndex):
            self._series(f"{key}/index", table.index)
        for name in table.columns:
            self._series(f"{key}/{name}", table[name].reset_index(drop=True))

    def _mapping(self, key: str, value: Mapping[Any, Any]) -> None:
        if {"columns", "data"} <= set(value) <= {"columns", "data", "index"} and isinstance(value["columns"], list):
            self.table(key, pd.DataFrame(value["data"], columns=value["columns"]))  # pandas' form "split"
        elif is_unkeyed(key):
            self._list(f"{key}/names", [str(name) for name in value])
            self._list(f"{key}/values", list(value.values()))
        else:
            for name, part in value.items():
                self.add(f"{key}/{name}", part)

    def _list(self, key: str, value: list[Any]) -> None:
        if all(one is None or isinstance(one, (bool, int, float, np.number, np.bool_)) for one in value):
            self._numbers(key, value, (len(value),))
        elif all(one is None or isinstance(one, str) or _is_nan(one) for one in value):
            self._texts(key, ["" if one is None or _is_nan(one) else one for one in value], (len(value),))
        elif all(isinstance(one, Mapping) for one in value) and len({tuple(one) for one in value}) == 1:
            for name in value[0]:  # rows with the same fields: one array for each
                self._list(f"{key}/{name}", [one[name] for one in value])
        elif any(isinstance(one, (list, tuple, Mapping, np.ndarray)) for one in value):
            for number, one in enumerate(value):
                self.add(f"{key}/{number}", one)
        else:
            self._texts(key, [str(one) for one in value], (len(value),))

    def _object(self, key: str, value: Any) -> None:
        name = type(value).__name__
        if name == "SurvivalCurves":
            self.attributes(key, value, "times", "survival", "interpolation")
        elif name == "Outcome":
            self.attributes(key, value, "time", "event")
        elif hasattr(value, "__dataclass_fields__"):
            for each in value.__dataclass_fields__:
                self.add(f"{key}/{each}", getattr(value, each))
        else:
            raise TypeError(f"{key} holds a {type(value).__module__}.{name}: record its parts")


def named_file(folder: Path, *names: str) -> Path:
    """A file in a folder, under its newest known name."""
    for name in names:
        folder = next((folder / new for new in (*FILES.get(name, ()), name) if (folder / new).exists()), folder / name)
    return folder


def equal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Element by element: the same bits, or both NaN; the same text. Arrays of other shapes or kinds differ."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return np.zeros((), dtype=bool)
    if one.dtype == object:
        return np.asarray(one == other)
    return (one.view(np.int64) == other.view(np.int64)) | (np.isnan(one) & np.isnan(other))


def _plain(value: Any) -> Any:
    if value is pd.NA or value is pd.NaT:
        return None
    return str(value) if isinstance(value, (pd.Timestamp, pd.Timedelta, pd.Interval)) else value


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
