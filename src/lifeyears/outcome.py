"""Right-censored outcomes: the one gate through which every `y` passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .checks import check_positive
from .errors import DataError, Message, RequestError, Setting
from .text import list_rows

if TYPE_CHECKING:
    import pandas as pd

    from ._typing import AnyArray, BoolArray, FloatArray

    OutcomeLike: TypeAlias = "Outcome | ArrayLike | pd.DataFrame | tuple[ArrayLike, ArrayLike]"
    """What `as_outcome` reads."""

EVENT_NAMES = frozenset({"event", "status", "death", "dead", "died", "failed", "failure", "delta", "observed", "e"})
TIME_NAMES = frozenset({"time", "duration", "survival", "futime", "followup", "years", "months", "days", "t"})
BACKWARDS_WORDS = ("censor", "alive", "surviv", "living")
ENTRY_NAMES = frozenset({"entry", "start", "truncation", "left", "tstart"})


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """Observed times and whether each ended in an event (True) or was censored (False).

    Parameters
    ----------
    time : array of float, shape (n,)
        Observed time, T = min(T*, C): finite and not negative, in the user's unit.
    event : array of bool, shape (n,)
        δ = 1{T* ≤ C}: True where the event was seen, False where the subject was censored.

    Examples
    --------
    >>> y = Outcome(time=[5.0, 2.0, 9.0], event=[True, False, True])
    >>> y.restrict(6).time.tolist(), y.restrict(6).event.tolist()
    ([5.0, 2.0, 6.0], [True, False, True])
    """

    time: FloatArray
    event: BoolArray

    def __post_init__(self) -> None:
        time, event = _check_time(self.time), _check_event(self.event)
        if len(time) != len(event):
            raise DataError(
                f"event has {len(event)} values and time has {len(time)}: there must be one of each for every row"
            )
        time.setflags(write=False)
        event.setflags(write=False)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "event", event)

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``, so that scikit-learn's splitters can count the rows."""
        return (len(self.time),)

    @property
    def n_events(self) -> int:
        """How many of the times end in an event."""
        return int(np.count_nonzero(self.event))

    def restrict(self, tau: float) -> Outcome:
        """Cut follow-up at the horizon: T → min(T, τ), δ → max(δ, 1{T ≥ τ}) (paper, section 2)."""
        check_positive("tau", tau)
        return Outcome(np.minimum(self.time, tau), self.event | (self.time >= tau))

    def censoring(self) -> Outcome:
        """Swap events and censorings, to fit a model of the censoring time.

        At a tied time events come before censorings, so a subject who died at t was not at risk of being
        censored at t. Plain (time, event) data cannot say so; a death is therefore moved back by the smallest
        step a float can take, which carries the rule to any model without moving a jump of G.
        """
        time = np.where(self.event, np.nextafter(self.time, 0.0), self.time)
        at_zero = self.time == 0
        if np.any(at_zero & self.event):  # nothing is earlier than 0: there the censorings move instead
            time[at_zero & ~self.event] = np.finfo(float).tiny
        return Outcome(time, ~self.event)

    def to_structured(self) -> AnyArray:
        """As scikit-survival's structured array, fields ``event`` and ``time``."""
        y = np.empty(len(self), dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = self.event, self.time
        return y

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        if dtype is not None and np.dtype(dtype).names is None:
            raise TypeError("an Outcome has two fields, time and event; it cannot become one plain array")
        return self.to_structured()

    def __len__(self) -> int:
        return len(self.time)

    @overload
    def __getitem__(self, rows: int) -> np.void: ...

    @overload
    def __getitem__(self, rows: slice | AnyArray | Sequence[int]) -> Outcome: ...

    def __getitem__(self, rows: int | slice | AnyArray | Sequence[int]) -> Outcome | np.void:
        if isinstance(rows, (int, np.integer)) or (isinstance(rows, np.ndarray) and rows.ndim == 0):
            record = np.empty((), dtype=[("event", bool), ("time", float)])
            record["event"], record["time"] = self.event[rows], self.time[rows]
            return cast("np.void", record[()])
        return Outcome(self.time[rows], self.event[rows])

    def __repr__(self) -> str:
        if not len(self):
            return "Outcome(n=0)"
        return (
            f"Outcome(n={len(self):,}, events={self.n_events:,} ({self.n_events / len(self):.1%}), "
            f"time {self.time.min():.4g} to {self.time.max():.4g})"
        )


def as_outcome(y: OutcomeLike) -> Outcome:
    """Read a right-censored outcome from any of the forms survival data comes in.

    Parameters
    ----------
    y : Outcome, structured array, DataFrame, or (event, time) pair
        A structured array has a boolean event field and a float time field, in that order, under any names
        (scikit-survival's form). A DataFrame (pandas or polars) has two columns, recognised by name (event,
        status, death, …; time, duration, years, …), else taken as event, then time.

    Returns
    -------
    Outcome

    Raises
    ------
    DataError
        For negative, missing or infinite times, events that are not 0/1, lengths that differ, no rows, or data
        with an entry time (left truncation is not supported). The message names the first bad rows.
    RequestError
        If y has none of these forms.

    Examples
    --------
    >>> as_outcome(([1, 0, 1], [2.0, 3.5, 1.0]))
    Outcome(n=3, events=2 (66.7%), time 1 to 3.5)
    """
    if isinstance(y, Outcome):
        outcome = y
    elif isinstance(y, np.ndarray) and y.dtype.names is not None:
        outcome = _from_columns(list(y.dtype.names), y)
    elif hasattr(y, "columns") and hasattr(y, "shape"):
        outcome = _from_columns(list(y.columns), y)
    elif isinstance(y, (tuple, list)) and len(y) == 2 and all(np.ndim(part) == 1 for part in y):
        event, time = y
        if _is_binary(time) and not _is_binary(event):
            raise RequestError("the pair looks like (time, event); it must be (event, time)")
        outcome = Outcome(cast("FloatArray", time), cast("BoolArray", event))
    else:
        raise RequestError(
            f"cannot read an outcome from {_describe(y)}",
            hint="Pass a structured array (bool event, float time), a DataFrame with an event and a time column, a "
            "pair (event, time), or a lifeyears Outcome.",
        )
    if not len(outcome):
        raise DataError("the outcome has no rows")
    return outcome


def suggest_horizon(y: OutcomeLike) -> float:
    """Suggest a horizon τ: the 95th percentile of the censored times, the paper's rule.

    Parameters
    ----------
    y : Outcome or what `as_outcome` reads

    Returns
    -------
    float
        In the unit of the times. Without censoring there is nothing to restrict: the largest time.

    Examples
    --------
    >>> suggest_horizon(([1, 0, 0], [2.0, 10.0, 20.0]))
    19.5
    """
    y = as_outcome(y)
    censored = y.time[~y.event]
    return float(np.quantile(censored, 0.95) if len(censored) else y.time.max())


def resolve_horizon(tau: float | None, y: Outcome | None) -> float:
    """Return the horizon: τ as it was passed, or the largest time of the outcome.

    Parameters
    ----------
    tau : float or None
        A positive, finite time. None means the largest time of y.
    y : Outcome or None

    Raises
    ------
    RequestError
        If tau is not a positive number, or if it is None and y does not give one.

    Examples
    --------
    >>> y = Outcome([2.0, 7.0], [True, False])
    >>> resolve_horizon(None, y), resolve_horizon(5, y)
    (7.0, 5.0)
    """
    if tau is not None:
        return check_positive("tau", tau)
    if y is None:
        raise RequestError(
            "the horizon is not known: the fitted model has none of its own, and there are no times to take it from",
            hint=Message("Pass ", Setting("tau"), "."),
        )
    if not y.time.max() > 0:
        raise DataError("all times are 0: there is no life to predict")
    return float(y.time.max())


def _from_columns(names: list[Any], table: Any) -> Outcome:
    """Find the event and the time among the columns of a structured array or a frame."""
    plain = [str(name).lower().replace("_", "").replace(" ", "") for name in names]
    if len(names) > 2 and any(name in ENTRY_NAMES or name.startswith("entry") for name in plain):
        raise DataError(
            f"y has the columns {names}: an entry time means left truncation, which is not supported",
            hint="If every subject is followed from time 0, drop the entry column; if not, the estimates would be "
            "wrong.",
        )
    if len(names) != 2:
        raise DataError(f"y must have two columns, event and time; it has {len(names)}: {names}")
    event, time = names
    known_by_type = isinstance(table, np.ndarray) and table.dtype[event].kind == "b" and table.dtype[time].kind != "b"
    swapped = not known_by_type and (plain[1] in EVENT_NAMES or (plain[0] in TIME_NAMES and plain[1] not in TIME_NAMES))
    if swapped:
        event, time = time, event
    backwards = str(event).lower()
    if not isinstance(table, np.ndarray) and any(word in backwards for word in BACKWARDS_WORDS):
        raise DataError(
            f"the column {event!r} looks like the opposite of an event",
            hint=f"Pass a column that is 1 where the event was observed, e.g. {{'event': 1 - y[{event!r}], 'time': …}};"
            " if 1 does mean an event there, rename it to 'event'.",
        )
    first, second = _column(table, names, 0), _column(table, names, 1)
    return Outcome(first, second) if swapped else Outcome(second, first)


def _column(table: Any, names: list[Any], at: int) -> AnyArray:
    """Return a column by its place: two names may be equal, or tuples."""
    try:
        return np.asarray(table.iloc[:, at] if hasattr(table, "iloc") else table[names[at]])
    except Exception as error:  # whatever another library's frame may raise
        raise DataError(f"the column {names[at]!r} of y cannot be read as numbers: {error}") from None


def _check_time(time: ArrayLike) -> FloatArray:
    if np.asarray(time).dtype.kind in "mM":
        raise DataError(
            "time must be numbers, not dates or durations",
            hint="Divide by the unit, e.g. delta / np.timedelta64(1, 'D').",
        )
    try:
        numbers: FloatArray = np.array(time, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"time must be numbers: {error}") from None
    if numbers.ndim != 1:
        raise DataError(f"time must be one-dimensional; its shape is {numbers.shape}")
    for bad, what in ((np.isnan(numbers), "missing"), (np.isinf(numbers), "infinite"), (numbers < 0, "negative")):
        if bad.any():
            raise DataError(
                f"time has {what} values in {list_rows(bad)}; times must be finite and not negative",
                hint="Correct or drop these rows.",
            )
    return numbers


def _check_event(event: ArrayLike) -> BoolArray:
    values = np.asarray(event)
    if values.ndim != 1:
        raise DataError(f"event must be one-dimensional; its shape is {values.shape}")
    if values.dtype == bool:
        return values.copy()
    try:
        numbers: FloatArray = values.astype(float)
    except (TypeError, ValueError):
        raise DataError(f"event must be 0/1 or True/False; found {_first_values(values)}") from None
    if np.isnan(numbers).any():
        raise DataError(f"event is missing in {list_rows(np.isnan(numbers))}", hint="Correct or drop these rows.")
    bad = (numbers != 0) & (numbers != 1)
    if bad.any():
        advice = " (1 = censored, 2 = event, as in R? then pass event == 2)" if set(numbers) <= {1.0, 2.0} else ""
        raise DataError(f"event must be 0/1 or True/False; found {_first_values(values)} in {list_rows(bad)}{advice}")
    is_event: BoolArray = numbers == 1
    return is_event


def _is_binary(values: ArrayLike) -> bool:
    values = np.asarray(values)
    return values.dtype == bool or (values.dtype.kind in "iuf" and bool(np.isin(values, (0, 1)).all()))


def _first_values(values: AnyArray, most: int = 5) -> str:
    distinct = list(dict.fromkeys(repr(value) for value in values.tolist()))
    return ", ".join(distinct[:most]) + (", …" if len(distinct) > most else "")


def _describe(y: object) -> str:
    shape = getattr(y, "shape", None)
    return f"{type(y).__name__} of shape {shape}" if shape is not None else f"{type(y).__name__}"
