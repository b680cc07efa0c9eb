"""Representative donor types: clusters from k-means, or labels supplied by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import pandas as pd

from .._frames import as_pandas
from .._typing import AnyArray, FloatArray, IntArray
from ..data import TablePreprocessor
from ..errors import DataError, Message, RequestError, Setting
from ..text import list_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    TypeSource: TypeAlias = ArrayLike | str | Callable[[pd.DataFrame], ArrayLike]
    Donors: TypeAlias = pd.DataFrame | pd.Series | dict[str, object] | ArrayLike

N_STARTS = 4  # of k-means


@dataclass(eq=False)
class DonorTypes:
    """Assigns donors to types.

    Attributes
    ----------
    columns : list of str
        The donor's columns.
    source : None, array, str or callable
        How types are assigned: by k-means, by an array for the training rows, by a column, or by a function of donors.
    labels : array
        The types, in the order of the columns of all scores.
    representatives : DataFrame or None
        For each type, the training donor nearest to its centre.
    preprocessor, centres
        How donors become points, and the centres of k-means among them.
    """

    columns: list[str]
    source: TypeSource | None
    labels: AnyArray = field(default_factory=lambda: np.empty(0))
    representatives: pd.DataFrame | None = None
    preprocessor: TablePreprocessor | None = None
    centres: FloatArray | None = None

    def fit(self, table: pd.DataFrame, n_types: int, seed: int) -> IntArray:
        """Learn the types of the training donors; return each row's position in `labels`."""
        matrix = None
        if self.columns:
            self.preprocessor = TablePreprocessor().fit(table[self.columns])
            matrix = np.asarray(self.preprocessor.transform(table[self.columns]))
        if self.source is None:
            if matrix is None:
                raise DataError(
                    'there are no donor columns to find types by (by default those that start with "donor_")',
                    hint=Message("Name them with ", Setting("donor_columns"), ", or pass ", Setting("types"), "."),
                )
            position = self._cluster(matrix, n_types, seed)
            self.labels = np.arange(position.max() + 1)
        else:
            self.labels, position = np.unique(self._assign(table), return_inverse=True)
        if matrix is not None:
            self.representatives = self._find_representatives(table, matrix, position)
        return position

    def find_positions(self, donors: Donors) -> IntArray:
        """Return the position in `labels` of each donor: of a table, of a row of one, or of types themselves."""
        table = self._as_table(donors)
        if table is None:
            types = np.atleast_1d(np.asarray(donors))
        elif self.source is None:
            absent = [name for name in self.columns if name not in table]
            if absent:
                raise DataError(f"the donors lack columns that they had in training: {list_values(absent)}")
            matrix = cast("TablePreprocessor", self.preprocessor).transform(table[self.columns])
            return np.asarray(_squared_distances(matrix, np.asarray(self.centres)).argmin(axis=1))
        elif not (isinstance(self.source, str) or callable(self.source)):
            raise RequestError(
                "types were given as an array for the training rows, so the type of another donor is not known",
                hint=f"Pass the type itself, one of {list_values(self.labels.tolist())}.",
            )
        else:
            types = self._assign(table)
        place = np.asarray(pd.Index(self.labels).get_indexer(pd.Index(types)))
        if (place < 0).any():
            unknown = pd.Series(types)[place < 0].tolist()[0]
            raise DataError(
                f"the donor type {unknown!r} did not occur in training; the types are "
                f"{list_values(self.labels.tolist())}"
            )
        return place

    def _cluster(self, matrix: FloatArray, n_types: int, seed: int) -> IntArray:
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        distinct = len(np.unique(matrix, axis=0))
        if distinct < n_types:
            raise DataError(
                f"there are {distinct} different donors, fewer than the {n_types} types asked for",
                hint=Message("Use at most ", Setting("n_types", distinct), "."),
            )
        with threadpool_limits(1):  # the same types on any machine
            clusters = KMeans(n_types, n_init=N_STARTS, random_state=seed).fit(matrix)
        by_size = np.argsort(-np.bincount(clusters.labels_, minlength=n_types), kind="stable")
        self.centres = clusters.cluster_centers_[by_size]
        return np.asarray(np.argsort(by_size)[clusters.labels_])

    def _assign(self, table: pd.DataFrame) -> AnyArray:
        """Return the types that the user defined, one per row."""
        if isinstance(self.source, str):
            if self.source not in table:
                raise DataError(f"types names the column {self.source!r}, which the table does not have")
            types = table[self.source]
        elif callable(self.source):
            types = self.source(table[[name for name in self.columns if name in table]])
        else:
            types = self.source
        if np.ndim(types) != 1 or np.shape(types) != (len(table),):
            raise DataError(f"types must hold one for each of the {len(table)} rows; its shape is {np.shape(types)}")
        missing = pd.isna(pd.Series(types)).to_numpy()
        if missing.any():
            raise DataError(f"the donor type of row {int(np.flatnonzero(missing)[0])} is missing")
        return np.asarray(types)

    def _as_table(self, donors: Donors) -> pd.DataFrame | None:
        """Return donors as a table; one donor may be a Series or a dict. None: these are types, not donors."""
        if isinstance(donors, dict):
            return pd.DataFrame([donors])
        names = (*self.columns, self.source if isinstance(self.source, str) else "")
        if isinstance(donors, pd.Series) and any(name in donors.index for name in names):
            return donors.to_frame().T.infer_objects()
        return as_pandas(donors)

    def _find_representatives(self, table: pd.DataFrame, matrix: FloatArray, position: IntArray) -> pd.DataFrame:
        rows = []
        for each in range(len(self.labels)):
            members = np.flatnonzero(position == each)
            centre = matrix[members].mean(axis=0, keepdims=True)
            rows.append(members[_squared_distances(matrix[members], centre)[:, 0].argmin()])
        return table[self.columns].iloc[rows].set_axis(pd.Index(self.labels, name="type"), axis=0)


def _squared_distances(points: FloatArray, centres: FloatArray) -> FloatArray:
    return np.stack([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
