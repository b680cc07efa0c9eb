"""Tables to matrices: imputation, scaling, one-hot encoding."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._frames import as_pandas, is_category, is_time
from .._typing import FloatArray
from ..errors import DataError, DataWarning

if TYPE_CHECKING:
    from .._typing import TableLike

MISSING_CATEGORY = "missing"
MOST_CATEGORIES = 50  # more than this, and more than half as many as rows, is an identifier


class TablePreprocessor(TransformerMixin, BaseEstimator):
    """Turn a table of mixed columns into one matrix of numbers, the same for all models (paper, appendix E).

    Numeric columns: missing values become the training median, then the column is centred and divided by its
    standard deviation. Categorical columns: one indicator column a category seen in training, and one for missing
    values if training had any; a category not seen in training gets zeros throughout.

    Parameters
    ----------
    categorical : list of column names, optional
        Which columns are categories; by default those whose dtype is not numeric. An integer code that stands for a
        category must be named here, or be of pandas' category dtype.
    scale : bool, default True
        Centre and scale the numeric columns.
    drop_first : bool, default False
        Leave out the indicator of each column's first category, with which the others are then compared: for reading
        coefficients. Without it (and with a small penalty) a ranking is the same whichever came first.

    Attributes
    ----------
    categories_ : dict of column to list of str
        Categories in the order of their indicator columns; "missing" stands for missing values.
    median_, mean_, scale_ : arrays
        Of the numeric columns; mean and scale after imputation.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [50.0, None, 70.0], "sex": ["F", "M", "F"]})
    >>> TablePreprocessor(scale=False).fit(table).transform(table)
    array([[50.,  1.,  0.],
           [60.,  0.,  1.],
           [70.,  1.,  0.]])
    """

    def __init__(
        self, categorical: Sequence[object] | None = None, scale: bool = True, drop_first: bool = False
    ) -> None:
        self.categorical = categorical
        self.scale = scale
        self.drop_first = drop_first

    def fit(self, X: TableLike, y: object = None) -> TablePreprocessor:
        """Learn medians, means, spreads and categories.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array
        y : ignored

        Returns
        -------
        self
        """
        table = self._table(X, reset=True)
        named = [] if self.categorical is None else list(self.categorical)
        absent = [name for name in named if name not in table.columns]
        if absent:
            raise DataError(f"categorical names columns that are not in the table: {absent}")
        self.categories_ = {
            name: _categories(table[name]) for name in table.columns if name in named or _is_category(table[name])
        }
        for name, categories in self.categories_.items():
            if len(categories) > max(MOST_CATEGORIES, 0.5 * len(table)):
                raise DataError(
                    f"column {name!r} has {len(categories):,} categories in {len(table):,} rows, as an identifier has: "
                    "drop it, or group its values"
                )
        self.numeric_ = [name for name in table.columns if name not in self.categories_]
        values = self._numbers(table)
        missing = np.isnan(values)
        empty = np.asarray(missing.all(axis=0))
        self.empty_ = [name for name, nothing in zip(self.numeric_, empty, strict=True) if nothing]
        known = np.where(empty, 0.0, values) if empty.any() else values  # an empty column carries nothing: all zero
        self.median_ = np.nanmedian(known, axis=0) if missing.any() else _medians(known)
        self.mean_, self.scale_ = np.zeros(values.shape[1]), np.ones(values.shape[1])
        if self.scale:
            filled = np.where(np.isnan(known), self.median_, known)
            self.mean_, spread = filled.mean(axis=0), filled.std(axis=0)
            constant = spread <= 1e-9 * np.maximum(np.abs(self.mean_), 1e-300)
            self.scale_ = np.where(constant, 1.0, spread)
        return self

    def transform(self, X: TableLike) -> FloatArray:
        """Make the matrix: numeric columns first, then the indicators, column by column.

        Parameters
        ----------
        X : DataFrame (pandas or polars) or array, shape (n, p)
            With the columns of the training table.

        Returns
        -------
        array, shape (n, columns)
            Named by `get_feature_names_out`.

        Examples
        --------
        >>> import pandas as pd
        >>> training = pd.DataFrame({"age": [50.0, 60.0, 70.0], "sex": ["F", "M", "F"]})
        >>> fitted = TablePreprocessor(scale=False).fit(training)
        >>> fitted.transform(pd.DataFrame({"age": [None, 40.0], "sex": ["M", "other"]}))
        array([[60.,  0.,  1.],
               [40.,  0.,  0.]])
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        numeric = self._numbers(table)
        missing = np.isnan(numeric)
        if missing.any():
            numeric = np.where(missing, self.median_, numeric)
        if self.scale:
            numeric = (numeric - self.mean_) / self.scale_
        elif not missing.any() and not self.categories_:
            numeric = numeric.copy()  # never the caller's own
        first = int(self.drop_first)
        indicators = [
            _indicators(table[name], name, categories)[:, first:] for name, categories in self.categories_.items()
        ]
        return np.concatenate([numeric, *indicators], axis=1) if indicators else numeric

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names of the columns of the matrix: ``age``, ``sex_F``, ``sex_M``, …."""
        check_is_fitted(self)
        names = [str(name) for name in self.numeric_]
        for name, categories in self.categories_.items():
            for value in categories[int(self.drop_first) :]:
                word = f"{name}_{value}"
                while word in names:  # "a_b" of column "a" beside a column "a_b"
                    word += "_"
                names.append(word)
        return np.array(names, dtype=object)

    def _table(self, X: TableLike, reset: bool) -> pd.DataFrame:
        table = as_pandas(X)
        if table is None:  # an array: scikit-learn's checks apply, but missing values are welcome
            X = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)
            table = pd.DataFrame(X) if X.dtype != object else pd.DataFrame(X).infer_objects()
            table.columns = getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
            return table
        validate_data(self, X if isinstance(X, pd.DataFrame) else table, skip_check_array=True, reset=reset)
        absent = [] if reset else [name for name in (*self.numeric_, *self.categories_) if name not in table.columns]
        if absent:
            raise DataError(f"the table lacks columns it had in training: {absent}")
        if not len(table):
            raise DataError("the table has no rows: 0 sample(s), while a minimum of 1 is required")
        return table

    def _numbers(self, table: pd.DataFrame) -> FloatArray:
        if self.numeric_ == list(table.columns) and (table.dtypes == np.float64).all():
            values = np.ascontiguousarray(table.to_numpy())
            if np.isfinite(values).all():  # the usual matrix of numbers
                return values
        columns = []
        for name in self.numeric_:
            try:
                columns.append(pd.to_numeric(table[name]).to_numpy(dtype=float, na_value=np.nan))
            except (ValueError, TypeError):
                raise DataError(
                    f"column {name!r} was numeric in training; here it holds text such as "
                    f"{next(iter(v for v in table[name] if isinstance(v, str)), '')!r}"
                ) from None
            if np.isinf(columns[-1]).any():
                row = np.flatnonzero(np.isinf(columns[-1]))[0]
                raise DataError(f"column {name!r} contains infinity in row {row}; set it to missing, or correct it")
        return np.column_stack(columns) if columns else np.zeros((len(table), 0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _medians(values: np.ndarray) -> FloatArray:
    """`np.median` of each column; of indicators, which are most columns of many tables, by counting."""
    medians = np.zeros(values.shape[1])
    for start in range(0, values.shape[1] if len(values) else 0, 8):  # a few at a time: they lie side by side
        for j, column in enumerate(np.ascontiguousarray(values[:, start : start + 8].T), start):
            low, high = column.min(), column.max()
            lows, highs = np.count_nonzero(column == low), np.count_nonzero(column == high)
            if lows + highs < len(column):
                medians[j] = np.median(column)
            else:
                medians[j] = low if lows > highs else high if highs > lows else (low + high) / 2
    return medians


def _is_category(column: pd.Series) -> bool:
    if is_time(column):
        raise DataError(
            f"column {column.name!r} holds dates or durations: turn it into a number (a year, days since entry), or "
            "drop it"
        )
    return is_category(column)


def _as_words(column: pd.Series) -> np.ndarray:
    """Categories as words, so that True, 1, 1.0 and "1" are one; missing ones as `MISSING_CATEGORY`."""
    codes, values = pd.factorize(column)
    words = np.array([spell_category(value) for value in values] + [MISSING_CATEGORY], dtype=object)
    chosen: np.ndarray = words[codes]  # code -1, a missing value, picks the last
    return chosen


def spell_category(value: object) -> str:
    """Write a category as a text: True, 1, 1.0 and "1" are one category.

    Examples
    --------
    >>> spell_category(True), spell_category(2.0), spell_category("II")
    ('1', '2', 'II')
    """
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (float, np.floating)) and float(value).is_integer()):
        return str(int(value))
    return str(value)


def _categories(column: pd.Series) -> list[str]:
    words = set(_as_words(column))
    return sorted(words - {MISSING_CATEGORY}) + ([MISSING_CATEGORY] if MISSING_CATEGORY in words else [])


def _indicators(column: pd.Series, name: object, categories: list[str]) -> FloatArray:
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, values = pd.factorize(column)
    words = [*map(spell_category, values), MISSING_CATEGORY]  # code -1, a missing value, picks the last
    place = pd.Index(categories).get_indexer(words)[codes]
    if len(codes) >= 20 and (place < 0).all() and (codes >= 0).any():
        warnings.warn(
            f"no value of column {name!r} was seen in training ({', '.join(sorted(set(words[:-1]))[:3])}, …, where "
            f"{', '.join(categories[:3])}, … were): is it coded in another way?",
            DataWarning,
            stacklevel=3,
        )
    indicators = np.zeros((len(column), len(categories)))
    known = place >= 0
    indicators[np.flatnonzero(known), place[known]] = 1.0
    return indicators
