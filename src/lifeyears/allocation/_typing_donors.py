"""Representative donor types: found by k-means, or given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._frames import as_pandas
from ..data import TablePreprocessor

STARTS = 4  # of k-means


@dataclass(eq=False)
class DonorTypes:
    """Which type a donor is of.

    Attributes
    ----------
    columns : list of str
        The donor's columns.
    given : None, array, str or callable
        How types are told: by k-means, as an array for the training rows, by a column, by a function of donors.
    labels : array
        The types, in the order of the columns of all scores.
    representatives : DataFrame or None
        Of each type the training donor nearest to its centre.
    preprocessor, centres
        How donors become points, and the centres that k-means found among them.
    """

    columns: list
    given: Any
    labels: Any = None
    representatives: pd.DataFrame | None = None
    preprocessor: Any = None
    centres: Any = None

    def fit(self, table: pd.DataFrame, n_types: int, seed: int) -> np.ndarray:
        """Learn the types of the training donors; return each row's position in `labels`."""
        matrix = None
        if self.columns:
            self.preprocessor = TablePreprocessor().fit(table[self.columns])
            matrix = self.preprocessor.transform(table[self.columns])
        if self.given is None:
            if matrix is None:
                raise ValueError(
                    "there are no donor columns to find types by: name them in donor_columns (by default those that "
                    'start with "donor_"), or give types'
                )
            position = self._clustered(matrix, n_types, seed)
            self.labels = np.arange(position.max() + 1)
        else:
            told = self._told(table)
            self.labels, position = np.unique(told, return_inverse=True)
        if matrix is not None:
            self.representatives = self._nearest(table, matrix, position)
        return position

    def positions(self, donors: Any) -> np.ndarray:
        """The position in `labels` of each donor: of a table, a row of one, or of types themselves."""
        table = self._as_table(donors)
        if table is None:
            told = np.atleast_1d(np.asarray(donors))
        elif self.given is None:
            absent = [name for name in self.columns if name not in table]
            if absent:
                raise ValueError(f"the donors lack columns they had in training: {', '.join(map(str, absent))}")
            matrix = self.preprocessor.transform(table[self.columns])
            return _squared_distances(matrix, self.centres).argmin(axis=1)
        elif not (isinstance(self.given, str) or callable(self.given)):
            raise ValueError(
                "types were given as an array, so the type of another donor is not known: pass the type itself, one of "
                f"{_listed(self.labels)}"
            )
        else:
            told = self._told(table)
        place = pd.Index(self.labels).get_indexer(pd.Index(told))
        if (place < 0).any():
            odd = pd.Series(told)[place < 0].tolist()[0]
            raise ValueError(f"there is no donor type {odd!r} in training; there are {_listed(self.labels)}")
        return place

    def _clustered(self, matrix: np.ndarray, n_types: int, seed: int) -> np.ndarray:
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        distinct = len(np.unique(matrix, axis=0))
        if distinct < n_types:
            raise ValueError(f"there are {distinct} different donors, fewer than n_types={n_types}")
        with threadpool_limits(1):  # the same types on any machine
            found = KMeans(n_types, n_init=STARTS, random_state=seed).fit(matrix)
        by_size = np.argsort(-np.bincount(found.labels_, minlength=n_types), kind="stable")
        self.centres = found.cluster_centers_[by_size]
        return np.argsort(by_size)[found.labels_]

    def _told(self, table: pd.DataFrame) -> np.ndarray:
        """The types that the user tells, one a row."""
        if isinstance(self.given, str):
            if self.given not in table:
                raise ValueError(f"types names the column {self.given!r}, which the table does not have")
            told = table[self.given]
        elif callable(self.given):
            told = self.given(table[[name for name in self.columns if name in table]])
        else:
            told = self.given
        if np.ndim(told) != 1 or len(told) != len(table):
            raise ValueError(f"types must hold one for each of the {len(table)} rows; its shape is {np.shape(told)}")
        missing = pd.isna(pd.Series(told)).to_numpy()
        if missing.any():
            raise ValueError(f"the donor type of row {int(np.flatnonzero(missing)[0])} is missing")
        return np.asarray(told)

    def _as_table(self, donors: Any) -> pd.DataFrame | None:
        """Donors as a table; one donor may be a Series or a dict. None: these are types, not donors."""
        if isinstance(donors, dict):
            return pd.DataFrame([donors])
        if isinstance(donors, pd.Series) and any(name in donors.index for name in (*self.columns, self._column())):
            return donors.to_frame().T.infer_objects()
        return as_pandas(donors)

    def _column(self) -> str:
        return self.given if isinstance(self.given, str) else ""

    def _nearest(self, table: pd.DataFrame, matrix: np.ndarray, position: np.ndarray) -> pd.DataFrame:
        rows = []
        for each in range(len(self.labels)):
            members = np.flatnonzero(position == each)
            centre = matrix[members].mean(axis=0, keepdims=True)
            rows.append(members[_squared_distances(matrix[members], centre)[:, 0].argmin()])
        return table[self.columns].iloc[rows].set_axis(pd.Index(self.labels, name="type"), axis=0)


def _squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.stack([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=1)


def _listed(labels: np.ndarray, most: int = 12) -> str:
    shown = ", ".join(repr(label) for label in labels[:most].tolist())
    return shown + (", …" if len(labels) > most else "")
