"""What every reader and simulator returns: a table of features, an outcome, and how they came about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .._typing import FloatArray, RandomState
from ..checks import check_random_state
from ..curves import SurvivalCurves
from ..errors import DataError, Dialect, Message, Setting, python_terms, render
from ..outcome import Outcome, suggest_horizon

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DataReport:
    """What was read, what was left out and why, and what needs attention; nothing is dropped silently.

    Attributes
    ----------
    rows_read, rows_kept : int
        Rows in the source and rows in the data set.
    dropped_rows : dict of str to int
        Reason → number of rows dropped for it.
    dropped_columns : dict of str to str
        Column → why it is not among the features. A reason that names a setting is a `lifeyears.errors.Message`,
        which each interface renders in its own terms.
    warnings : tuple of str
        What needs attention, as texts or Messages.
    leaks : tuple of str
        The warnings that put every result in doubt: columns that may reveal the outcome, and subjects that appear
        twice and may be in training and in test at once.
    filtered_values : dict of str to int
        Column → number of implausible values that were set to missing.
    """

    rows_read: int
    rows_kept: int
    dropped_rows: dict[str, int] = field(default_factory=dict)
    dropped_columns: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    filtered_values: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.render(python_terms)

    def render(self, dialect: Dialect) -> str:
        """Return the report as text, with every setting it names in the reader's terms."""
        lines = [f"{self.rows_read:,} rows read, {self.rows_kept:,} kept"]
        lines += [f"  {count:,} rows dropped: {reason}" for reason, count in self.dropped_rows.items()]
        lines += [f"  column {name} left out: {render(why, dialect)}" for name, why in self.dropped_columns.items()]
        lines += [
            f"  {count:,} implausible values of {name} set to missing" for name, count in self.filtered_values.items()
        ]
        lines += [f"  look: {render(warning, dialect)}" for warning in self.warnings]
        return "\n".join(lines)


class Law(Protocol):
    """The law of each subject's lifetime."""

    def expected(self, tau: float) -> FloatArray:
        """E[min(T*, τ)|x] of each subject; τ may be inf."""

    def curves(self, times: ArrayLike) -> SurvivalCurves:
        """S(t|x) at one time or many."""

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """A lifetime for each subject."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What only a simulation knows.

    Attributes
    ----------
    lifetime : array, shape (n,)
        Each subject's true lifetime T*.
    law : Law
        Where it was drawn from, given x.
    censoring : callable
        ``censoring(times)`` is the true G(t|x) = P(C > t|x) at one time or many, as curves. It is that of each
        subject's exact `entry`, which decides when the study ends for them; X may know less (the registry's has the
        whole year). Where censoring depends on T* itself there is no G(t|x), and the call raises a ValueError.
    """

    lifetime: FloatArray
    law: Law
    censoring: Callable[[ArrayLike], SurvivalCurves]

    def expected(self, tau: float) -> FloatArray:
        """E[min(T*, τ)|x] of each subject (τ = inf: the mean life): no ranking is better than the one by this."""
        return self.law.expected(tau)

    def curves(self, times: ArrayLike) -> SurvivalCurves:
        """The true survival curves S(t|x) at one time or many."""
        return self.law.curves(times)

    def redraw(self, random_state: RandomState = None) -> FloatArray:
        """Draw new lifetimes for the same subjects."""
        return self.law.draw(check_random_state(random_state))


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table of features with its right-censored outcome.

    Attributes
    ----------
    X : DataFrame
        The features a model may use, one row per subject; categorical ones have a categorical dtype.
    y : Outcome
        Observed times in `unit`, and whether they ended in an event.
    name, unit, source : str
        What it is called, the unit of time, and where it comes from (with its licence).
    horizon : float
        Suggested τ, by default the 95th percentile of the censored times.
    subgroups : DataFrame or None
        Columns for subgroup reports that are not predictors by default (race, insurance, region).
    entry : array or None
        When each subject entered (calendar time in `unit`), for splits by time and for the administrative cut.
    report : DataReport or None
        What was read, dropped and noticed.
    truth : Truth or None
        Known only for simulated data.
    time_origin : str, default ""
        The event at which follow-up starts (time zero), where it is known: "transplant" for the simulated registry
        and for STAR files.

    Examples
    --------
    >>> import pandas as pd
    >>> import lifeyears as ly
    >>> y = ly.as_outcome(([1, 0, 0], [2.0, 10.0, 20.0]))
    >>> Dataset(pd.DataFrame({"age": [50.0, 61.0, 47.0]}), y, "three patients")
    Dataset('three patients': 3 subjects, 1 features (0 categorical), 1 events, horizon 19.5 years)
    """

    X: pd.DataFrame
    y: Outcome
    name: str
    unit: str = "years"
    source: str = ""
    horizon: float = 0.0
    subgroups: pd.DataFrame | None = None
    entry: FloatArray | None = None
    report: DataReport | None = None
    truth: Truth | None = None
    time_origin: str = ""

    def __post_init__(self) -> None:
        if len(self.X) != len(self.y):
            raise DataError(f"X has {len(self.X)} rows and y has {len(self.y)}")
        if not self.horizon:
            object.__setattr__(self, "horizon", suggest_horizon(self.y))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def table(self) -> pd.DataFrame:
        """Features and subgroup columns side by side."""
        import pandas as pd

        if self.subgroups is None:
            return self.X
        return pd.concat([self.X, self.subgroups], axis=1)

    @property
    def categorical(self) -> list[str]:
        """Names of the categorical features, as `TablePreprocessor` takes them."""
        from .._frames import is_category

        return [name for name, column in self.X.items() if is_category(column)]

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self):,} subjects, {self.X.shape[1]} features "
            f"({len(self.categorical)} categorical), {self.y.n_events:,} events, "
            f"horizon {self.horizon:.4g} {self.unit})"
        )


def require_features(name: str, n_features: int) -> None:
    """Refuse a data set without features, which leaves nothing to rank by.

    Raises
    ------
    DataError
        If there is none.

    Examples
    --------
    >>> require_features("my.csv", 3)
    """
    if not n_features:
        raise DataError(
            f"no feature is left in {name}: without a column that distinguishes subjects there is nothing to rank by",
            hint=Message(
                "The report of the data set says why each column was excluded. Keep at least one: name fewer in ",
                Setting("drop"),
                ", or name some in ",
                Setting("keep"),
                ".",
            ),
        )
