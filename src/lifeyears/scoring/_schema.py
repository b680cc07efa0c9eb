"""What a row must hold: the columns a model was trained on, and rows checked against them, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd

from ..data.preprocessing import MISSING_CATEGORY, spell_category
from ..data.tables import MISSING_TEXTS, find_decimal_marks, parse_numbers
from ..errors import DataError, RequestError

if TYPE_CHECKING:
    from .._typing import AnyArray, FloatArray, Json
    from ..data import TablePreprocessor

Cell: TypeAlias = object
"""A value of a row as it was sent: a number, a text, a boolean, None, or anything else that is then refused."""

DONOR = "donor_"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
FEWEST = 10  # patients behind anything a card says of a column
FAR = 100.0  # spans of the training range: what lies further off is an error of units or of typing
SHOWN = 60  # characters of a value in a message
NO_ROWS = "there are no candidates: give at least one row"


class RowError(DataError):
    """A row that does not fit the model, with its place.

    Attributes
    ----------
    problem : str
        What is wrong, without the place.
    row : int or None
        The row's index, from 0.
    column : str or None

    Examples
    --------
    >>> error = RowError("'old' is not a number", code="not_a_number", row=1, column="age")
    >>> str(error)
    "row 2, column age: 'old' is not a number"
    >>> error.placed("line 3")
    "line 3, column age: 'old' is not a number"
    """

    default_code = "invalid_row"

    def __init__(
        self,
        problem: str,
        *,
        hint: str = "",
        code: str | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        self.row, self.column, self.problem = row, column, problem
        place = self.placed("" if row is None else f"row {row + 1}")
        super().__init__(place, hint=hint, code=code, row=row, column=column)
        self.problem = problem

    def placed(self, row: str) -> str:
        """Return the problem with its place, the row under the name that the reader knows it by ("" for none)."""
        place = [row] if row else []
        place += [] if self.column is None else [f"column {self.column}"]
        return f"{', '.join(place)}: {self.problem}" if place else self.problem


@dataclass(frozen=True)
class Column:
    """One column that the model was trained on.

    Attributes
    ----------
    name : str
    kind : {"number", "category"}
    role : {"candidate", "donor"}
    categories : tuple of str or None
        Those seen in training.
    shares : tuple of float or None
        How often each was; None for those with fewer than ten patients, and for the next larger one if the rest would
        tell how few they are.
    low, high : float or None
        Between them lay the numbers of training, but for the outermost 1% (or ten) at either end.
    quantiles : tuple of float or None
        5, 25, 50, 75 and 95%.
    missing : float or None
        The share that was missing in training; None where it would tell of one to nine patients.
    """

    name: str
    kind: str
    role: str = "candidate"
    categories: tuple[str, ...] | None = None
    shares: tuple[float | None, ...] | None = None
    low: float | None = None
    high: float | None = None
    quantiles: tuple[float, ...] | None = None
    missing: float | None = None

    def as_dict(self) -> Json:
        """Plain values, without those that do not apply."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {name: value for name, value in plain.items() if value is not None}

    @classmethod
    def from_dict(cls, plain: Json) -> Column:
        """Make a column from what `as_dict` returned."""
        values: Json = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
        return cls(**values)


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Rows that fit a model, column by column.

    Attributes
    ----------
    columns : tuple of Column
    values : dict of name to array
        Numbers, NaN where there is none; of a category its place among the categories, −1 where there is none.
    """

    columns: tuple[Column, ...]
    values: dict[str, AnyArray]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def frame(self) -> pd.DataFrame:
        """The table that the model's `predict` takes."""
        cells: dict[str, object] = {}
        for column in self.columns:
            values = self.values[column.name]
            is_number = column.kind == "number"
            cells[column.name] = (
                values if is_number else pd.Categorical.from_codes(values, list(column.categories or ()))
            )
        return pd.DataFrame(cells, copy=False)

    def matrix(self, preprocessor: TablePreprocessor) -> FloatArray:
        """What `preprocessor.transform` makes of `frame()`, to the bit, without pandas: several times faster."""
        numbers = np.column_stack([self.values[name] for name in preprocessor.numeric_] or [np.zeros((len(self), 0))])
        filled = np.where(np.isnan(numbers), preprocessor.median_, numbers)
        widths = [len(seen) for seen in preprocessor.categories_.values()]
        matrix = np.zeros((len(self), numbers.shape[1] + sum(widths)))
        matrix[:, : numbers.shape[1]] = (filled - preprocessor.mean_) / preprocessor.scale_
        start, every = numbers.shape[1], np.arange(len(self))
        for (name, seen), width in zip(preprocessor.categories_.items(), widths, strict=True):
            codes = self.values[name]
            if seen[-1:] == [MISSING_CATEGORY]:
                matrix[every, start + np.where(codes < 0, width - 1, codes)] = 1.0
            else:
                matrix[every[codes >= 0], start + codes[codes >= 0]] = 1.0
            start += width
        return matrix


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of a row, in the order the model wants them.

    Examples
    --------
    >>> schema = Schema((Column("age", "number"), Column("sex", "category", categories=("F", "M"))))
    >>> schema.table([{"age": 61, "sex": "F"}, {"age": None, "sex": "M"}]).values["age"].tolist()
    [61.0, nan]
    >>> schema.table([{"age": 61, "sex": "F"}, {"age": "old", "sex": "M"}])
    Traceback (most recent call last):
    lifeyears.scoring._schema.RowError: row 2, column age: 'old' is not a number
    """

    columns: tuple[Column, ...]

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def donor_names(self) -> list[str]:
        """Names of what belongs to the donor."""
        return [column.name for column in self.columns if column.role == "donor"]

    @classmethod
    def of(cls, X: pd.DataFrame, preprocessor: TablePreprocessor, donor: Sequence[str] | None = None) -> Schema:
        """Describe the columns of a training table; `donor` names those of the donor (those that begin so, if None)."""
        absent = [name for name in donor or () if name not in X.columns]
        if absent:
            raise RequestError(
                f"there is no column {absent[0]!r} to be the donor's; there are {', '.join(map(str, X))}", name="donor"
            )
        columns = []
        for name in map(str, X.columns):
            role = "donor" if (name.startswith(DONOR) if donor is None else name in donor) else "candidate"
            if name in preprocessor.categories_:
                columns.append(_category(name, role, X[name], preprocessor.categories_[name]))
            else:
                columns.append(_number(name, role, X[name]))
        return cls(tuple(columns))

    def table(self, rows: Sequence[Cell], donor: Mapping[str, Cell] | None = None) -> CheckedRows:
        """Check rows of plain values, with the donor's columns joined to each.

        Raises
        ------
        RowError
            For a row that is no object, a column that is not there, text where a number belongs, a category that was
            not seen in training, a number far outside what was.
        """
        if not rows:
            raise RowError(NO_ROWS, code="no_rows")
        objects: list[dict[str, Cell]] = []
        for row, candidate in enumerate(rows):
            if not isinstance(candidate, dict):
                problem = f"a row is an object of column and value; found {_shown(candidate)}"
                raise RowError(problem, code="not_a_row", row=row)
            objects.append(candidate)
        shared = {} if donor is None else dict(donor)
        columns = _columns(objects)
        checked = {}
        for column in self.columns:
            if column.name in shared:
                checked[column.name] = self._one_for_all(column, shared[column.name], len(objects))
                continue
            values = columns(column.name)
            if values is None:
                row = next(i for i, candidate in enumerate(objects) if column.name not in candidate)
                advice = "give it for every candidate, or for the donor; null where it is not known"
                raise RowError(f"the column is missing: {advice}", code="missing_column", row=row, column=column.name)
            checked[column.name] = _checked(column, values)
        return CheckedRows(self.columns, checked)

    def frame(self, table: pd.DataFrame, donor: Mapping[str, Cell] | None = None) -> CheckedRows:
        """The same for a table that was read from a file: texts become numbers where numbers belong."""
        shared = {} if donor is None else dict(donor)
        absent = [name for name in self.names if name not in table.columns and name not in shared]
        if absent:
            more = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
            problem = f"the column is missing{more}: it was there in training"
            raise RowError(problem, code="missing_column", column=absent[0])
        if not len(table):
            raise RowError(NO_ROWS, code="no_rows")
        checked = {}
        for column in self.columns:
            if column.name in shared:
                checked[column.name] = self._one_for_all(column, shared[column.name], len(table))
            else:
                checked[column.name] = _checked(column, _plain_values(column, table[column.name]), "a blank cell")
        return CheckedRows(self.columns, checked)

    def outside(self, table: CheckedRows) -> dict[str, int]:
        """For each column, how many numbers lie well outside what training saw: there the model extrapolates."""
        counts = {}
        for column in self.columns:
            if column.kind == "number" and column.low is not None and column.high is not None:
                values = table.values[column.name]
                margin = 0.25 * (column.high - column.low)  # the range leaves out the outermost 1% of training
                count = int(np.count_nonzero((values < column.low - margin) | (values > column.high + margin)))
                if count:
                    counts[column.name] = count
        return counts

    def as_list(self) -> list[Json]:
        """Plain values, as the card holds them."""
        return [column.as_dict() for column in self.columns]

    def _one_for_all(self, column: Column, value: Cell, n: int) -> AnyArray:
        try:
            return np.repeat(_checked(column, [value]), n)
        except RowError as error:
            raise RowError(f"of the donor: {error.problem}", code=error.code, column=error.column) from None


def _columns(rows: Sequence[dict[str, Cell]]) -> Callable[[str], Sequence[Cell] | None]:
    """The values of a column, by its name; None if a row lacks it."""
    names = list(rows[0])
    if all(list(row) == names for row in rows):  # as programs write rows: all at once, and much faster
        cells = list(chain.from_iterable(map(dict.values, rows)))
        return {name: cells[place :: len(names)] for place, name in enumerate(names)}.get

    def one(name: str) -> Sequence[Cell] | None:
        try:
            return list(map(itemgetter(name), rows))
        except KeyError:
            return None

    return one


def _checked(column: Column, values: Sequence[Cell], missing: str = "null") -> AnyArray:
    """Check the values of a column; `missing` is what stands for a value that is not known, where they come from."""
    return _numbers(column, values) if column.kind == "number" else _category_codes(column, values, missing)


def _numbers(column: Column, values: Sequence[Cell]) -> FloatArray:
    """Return numbers, NaN where there is none; the first that is wrong is refused."""
    if not set(map(type, values)) <= {int, float, NoneType}:
        row = next(i for i, value in enumerate(values) if type(value) not in (int, float, NoneType))
        raise RowError(f"{_shown(values[row])} is not a number", code="not_a_number", row=row, column=column.name)
    try:
        array = np.array(values, dtype=float)
    except OverflowError:
        row = next(i for i, value in enumerate(values) if isinstance(value, int) and abs(value) > 1e300)
        raise RowError("the number is too large", code="out_of_range", row=row, column=column.name) from None
    if np.isinf(array).any():
        row = int(np.flatnonzero(np.isinf(array))[0])
        raise RowError("the number is not finite", code="out_of_range", row=row, column=column.name)
    if column.low is not None and column.high is not None:
        margin = FAR * max(column.high - column.low, 0.01 * abs(column.high), 1e-9)
        with np.errstate(invalid="ignore"):
            far = (array < column.low - margin) | (array > column.high + margin)
        if far.any():
            row = int(np.flatnonzero(far)[0])
            span = f"{column.low:g} to {column.high:g}"
            problem = f"{_shown(values[row])} lies far outside what the model knows ({span})"
            raise RowError(problem, code="out_of_range", row=row, column=column.name)
    return array


class _Codes(dict[Cell, int]):
    """Places of categories by value, found when they are first looked up."""

    def __init__(self, column: Column) -> None:
        self.names = [*(column.categories or ()), MISSING_CATEGORY]

    def __missing__(self, value: Cell) -> int:
        spelled = next((word for word in _spellings(value) if word in self.names), None)
        if spelled is None:
            raise LookupError(value)
        self[value] = code = -1 if spelled == MISSING_CATEGORY else self.names.index(spelled)
        return code


def _spellings(value: Cell) -> list[str]:
    """The ways to write a value as a category: true is True, TRUE or 1, as it was written where the model learnt."""
    if value is None:
        return [MISSING_CATEGORY]
    text = str(value).strip()
    words = [text] if isinstance(value, str) else [spell_category(value), text]
    if not isinstance(value, str) and value in (0, 1):
        text = str(bool(value))
    if text.casefold() in ("true", "false"):
        words += [text.capitalize(), text.upper(), text.lower()]
    return words


def _category_codes(column: Column, values: Sequence[Cell], missing: str) -> AnyArray:
    """Return the places of categories; the first value that was not seen in training is refused."""
    codes = _Codes(column)  # True, 1 and 1.0 are one here, and one category
    try:
        return np.fromiter(map(codes.__getitem__, values), dtype=np.int64, count=len(values))
    except TypeError:  # lists and objects have no hash
        row = next(i for i, value in enumerate(values) if isinstance(value, (list, dict)))
        problem = f"{_shown(values[row])} is no category"
        raise RowError(problem, code="not_a_category", row=row, column=column.name) from None
    except LookupError:
        row = next(i for i, value in enumerate(values) if value not in codes)
        seen = ", ".join(codes.names[:8]) + (", …" if len(codes.names) > 9 else "")
        problem = f"{_shown(values[row])} was not seen in training ({seen}); {missing} where it is not known"
        problem += _lost_zeros(values[row], codes.names)
        raise RowError(problem, code="unknown_category", row=row, column=column.name) from None


def _lost_zeros(value: Cell, names: Sequence[str]) -> str:
    """Say which code is meant where only leading zeros are lacking, as spreadsheets leave them out."""
    word = spell_category(value)
    meant = next((name for name in names if name.isdecimal() and name.lstrip("0") == word.lstrip("0")), None)
    if meant is None or not word.isdecimal():
        return ""
    return f". Did it lose its leading zeros? {meant} was seen"


def _plain_values(column: Column, cells: pd.Series) -> list[Cell]:
    """Cells of a file as numbers, texts and None."""
    values: list[Cell] = cells.astype(object).where(cells.notna(), None).tolist()
    if column.kind == "category":
        return [
            None if isinstance(value, str) and value.strip() in MISSING_TEXTS else _native(value) for value in values
        ]
    texts = [value for value in values if isinstance(value, str) and value.strip() not in MISSING_TEXTS]
    possible = find_decimal_marks([text.strip() for text in texts])
    if len(possible) > 1:
        unclear = next(
            (text for text in texts if parse_numbers([text.strip()], ".")[0] != parse_numbers([text.strip()], ",")[0]),
            None,
        )
        if unclear is not None:
            problem = f"{_shown(unclear)} can be read in two ways: write it without a mark between thousands"
            raise RowError(problem, code="not_a_number", row=values.index(unclear), column=column.name)
    return [_number_or_text(value, possible[:1]) if isinstance(value, str) else _native(value) for value in values]


def _number_or_text(text: str, decimal: str) -> Cell:
    text = text.strip()
    if text in MISSING_TEXTS:
        return None
    decimal = decimal or "."
    return float(parse_numbers([text], decimal)[0]) if decimal in find_decimal_marks([text]) else text


def _native(value: Cell) -> Cell:
    value = value.item() if isinstance(value, np.generic) else value
    return float(value) if isinstance(value, bool) is False and isinstance(value, int) else value


def _number(name: str, role: str, values: pd.Series) -> Column:
    cells: FloatArray = pd.to_numeric(values).to_numpy(dtype=float, na_value=np.nan)
    known = cells[~np.isnan(cells)]
    missing = _missing_share(len(cells) - len(known), len(cells))
    if len(known) < 2 * FEWEST:
        return Column(name, "number", role, missing=missing)
    edge = max(0.01, FEWEST / len(known))
    low, high = (float(_rounded(value)) for value in np.quantile(known, [edge, 1 - edge]))
    quantiles = tuple(float(_rounded(value)) for value in np.quantile(known, QUANTILES))
    return Column(name, "number", role, low=low, high=high, quantiles=quantiles, missing=missing)


def _rounded(value: float) -> float:
    """Four significant digits: enough for a range, and nobody's exact value."""
    return float(f"{value:.4g}")


def _category(name: str, role: str, values: pd.Series, seen: list[str]) -> Column:
    words = values.astype(object).map(spell_category, na_action="ignore").value_counts()
    counts = {word: int(words.get(word, 0)) for word in seen if word != MISSING_CATEGORY}
    total, hidden = max(sum(counts.values()), 1), _hidden(counts)
    return Column(
        name,
        "category",
        role,
        categories=tuple(counts),
        shares=tuple(None if word in hidden else round(count / total, 4) for word, count in counts.items()),
        missing=_missing_share(int(values.isna().sum()), len(values)),
    )


def _hidden(counts: Mapping[str, int]) -> set[str]:
    """Categories of few patients; with the next larger one where what is told would add up to all but so few."""
    order = sorted(counts, key=counts.__getitem__)
    few = sum(count < FEWEST for count in counts.values())
    if 0 < sum(counts[word] for word in order[:few]) < FEWEST:
        few += 1
    return set(order[:few])


def _missing_share(count: int, total: int) -> float | None:
    return None if 0 < count < FEWEST or 0 < total - count < FEWEST else round(count / total, 4)


def _shown(value: Cell) -> str:
    """A value in a message: never more than a few words of it."""
    text = repr(value) if isinstance(value, (str, int, float, bool, NoneType)) else f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
