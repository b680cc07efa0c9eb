"""Censoring with a known administrative cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..curves import SurvivalCurves, thin_steps
from ..errors import DataError, Message, Setting
from ..outcome import Outcome, as_outcome
from ..text import list_values
from ._base import SurvivalModel, check_same_length
from ._kaplan_meier import KaplanMeier
from ._wrap import wrap

if TYPE_CHECKING:
    from .._typing import FloatArray, TableLike
    from ..outcome import OutcomeLike


class AdministrativeCensoring(SurvivalModel):
    """A model of the censoring time where the end of the study is known: a cut for each, times a dropout model.

    G(t|x) = 1{t < end − entry(x)}·G_dropout(t|x). Whoever is censored at the cut was censored by it; the dropout model
    is fitted to the others' censoring times. Use it as the censoring model of `IPCW`, `DoublyRobust` and
    `check_positivity`; like every censoring model it is fitted to ``y.censoring()``. Curves are right-continuous steps.

    Parameters
    ----------
    dropout : model, optional
        Of the loss to follow-up; None means Kaplan–Meier.
    entry : str or int, default "entry"
        The column of X that holds the time of entry (calendar time, in the unit of y).
    end : float, optional
        When the study ended; None takes the latest entry plus follow-up seen in training.
    keep_entry : bool, default False
        Whether the dropout model sees the entry column too.
    tolerance : float, default 0.01
        How far dates may be off by rounding: a censoring within this of the cut was the cut's, and G falls to 0 this
        much after it.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.

    Attributes
    ----------
    end_ : float
        The end of the study in use.
    dropout_ : fitted model, or None where nobody dropped out
    tau_ : float
        The horizon in use.

    Examples
    --------
    >>> import pandas as pd
    >>> from lifeyears import Outcome
    >>> X = pd.DataFrame({"entry": [2010.0, 2015.0, 2018.0]})
    >>> y = Outcome([10.0, 2.0, 2.0], [False, True, False])       # followed to the end, died, followed to the end
    >>> model = AdministrativeCensoring(end=2020).fit(X, y.censoring())
    >>> model.predict_curves(X, times=[1, 4, 8]).survival
    array([[1., 1., 1.],
           [1., 1., 0.],
           [1., 0., 0.]])
    """

    def __init__(
        self,
        dropout: Any = None,
        entry: str | int = "entry",
        end: float | None = None,
        keep_entry: bool = False,
        tolerance: float = 0.01,
        tau: float | None = None,
    ) -> None:
        self.dropout = dropout
        self.entry = entry
        self.end = end
        self.keep_entry = keep_entry
        self.tolerance = tolerance
        self.tau = tau

    def fit(self, X: TableLike, y: OutcomeLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the dropout model.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            With the entry column; the rest is for the dropout model.
        y : Outcome or what `lifeyears.as_outcome` reads
            With events and censorings swapped: ``y.censoring()``.
        sample_weight : array, shape (n,), optional
            For the dropout model.

        Returns
        -------
        self
        """
        y = as_outcome(y)
        entry, rest = self._split_entry(X)
        check_same_length(len(entry), y)
        self.end_ = float((entry + y.time).max()) if self.end is None else float(self.end)
        cut = self.end_ - entry
        beyond = y.time > cut + self.tolerance
        if beyond.any():
            row = int(np.flatnonzero(beyond)[0])
            raise DataError(
                f"row {row} was followed for {y.time[row]:g}, but by its entry ({entry[row]:g}) the study ended after "
                f"{cut[row]:g} ({int(beyond.sum())} such rows)",
                hint=Message("Check ", Setting("entry"), ", ", Setting("end"), " and their unit."),
                row=row,
            )
        dropped = y.event & (y.time < cut - self.tolerance)
        self.tau_ = self._horizon(y)
        self.longest_ = float(y.time.max())
        self.dropout_ = None
        if dropped.any():
            model = clone(wrap(KaplanMeier() if self.dropout is None else self.dropout), safe=False)
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.dropout_ = model.fit(rest, Outcome(y.time, dropped), **weights)
        return self

    def predict(self, X: TableLike) -> FloatArray:
        """Expected time under observation within the horizon.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `fit`.

        Returns
        -------
        array, shape (n,)
            In the unit of the times.
        """
        return self.predict_curves(X).restricted_mean(self.tau_)

    def predict_curves(self, X: TableLike, times: ArrayLike | None = None) -> SurvivalCurves:
        """G(t|x) of every row.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `fit`.
        times : array, shape (m,), optional
            The grid; without it, at most 512 times.

        Returns
        -------
        SurvivalCurves
            ``.survival`` is (n, m).
        """
        check_is_fitted(self)
        entry, rest = self._split_entry(X)
        if times is None:
            times = np.linspace(0, self.longest_, 241)[1:]
            if self.dropout_ is not None:
                own = self.dropout_.predict_curves(rest[:1]).times
                times = thin_steps(np.unique(np.concatenate([times, own[own > 0]])))[1]
        grid: FloatArray = np.asarray(times, dtype=float)
        within = grid < (self.end_ - entry + self.tolerance)[:, None]  # never before the cut as it was seen
        if self.dropout_ is None:
            return SurvivalCurves(grid, within.astype(float))
        dropout = self.dropout_.predict_curves(rest, grid).survival
        return SurvivalCurves(grid, dropout * within)

    @property
    def by_row(self) -> bool:  # type: ignore[override]
        """As of the dropout model."""
        return self.dropout is None or wrap(self.dropout).by_row

    def _split_entry(self, X: Any) -> tuple[FloatArray, Any]:
        """Return the entry times, and the table for the dropout model."""
        if isinstance(self.entry, str):
            columns = list(getattr(X, "columns", ()))
            if self.entry not in columns:
                known = list_values(map(str, columns), most=8) if columns else "no column names"
                raise DataError(
                    f"AdministrativeCensoring looks for the time of entry in column {self.entry!r} of X, which has "
                    f"{known}",
                    hint=Message("Name the column with ", Setting("entry"), "."),
                    column=self.entry,
                )
            entry = np.asarray(X[self.entry])
            rest = X if self.keep_entry else X[[name for name in columns if name != self.entry]]
        else:
            X = np.asarray(X)
            entry = X[:, self.entry]
            rest = X if self.keep_entry else np.delete(X, self.entry, axis=1)
        if entry.dtype.kind in "mM":
            raise DataError("the time of entry must be a number in the unit of the times (decimal years), not a date")
        entry = entry.astype(float)
        if not rest.shape[1]:  # a dropout model without features still wants a table
            rest = np.zeros((len(entry), 1))
        if not np.isfinite(entry).all():
            row = int(np.flatnonzero(~np.isfinite(entry))[0])
            raise DataError(f"the time of entry is missing in row {row} of the {len(entry)} given")
        return entry, rest
