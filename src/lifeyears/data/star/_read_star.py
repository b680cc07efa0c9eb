"""Read a UNOS/OPTN STAR thoracic release: features, outcome, and a report of all that was left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..._typing import FloatArray
from ...checks import check_choice, check_number
from ...outcome import Outcome
from ..dataset import DataReport, Dataset
from ..tables import find_leaks
from ._columns import (
    AGE,
    DATE,
    DURATIONS,
    NO_USE,
    ORGANS,
    OUTCOMES,
    PATIENT,
    TRANSPLANT,
    explain_exclusion,
    find_missing_codes,
    find_plausible_range,
    is_code,
    is_measurement,
    is_subgroup,
)
from ._files import find_release, read_release
from ._rows import Transplants
from ._values import are_dates, are_quantities, parse_codes, parse_dates, parse_numbers

if TYPE_CHECKING:
    import pandas as pd

MOST_MISSING = 0.9  # columns with a larger share of missing values are left out
MOST_CODES = 60  # whole numbers with more distinct values than this are quantities
MOST_AFTER = 0.05  # a date that lies after the transplant more often than this is known only after it


def read_star(
    folder: str | Path,
    *,
    organ: str = "HR",
    min_age: float = 18,
    outcome: Literal["graft", "patient"] = "graft",
    encoding: str = "cp1252",
) -> Dataset:
    """Read the transplants of a UNOS/OPTN STAR thoracic release, as text, SAS or Stata.

    The folder, or one below it, holds ``THORACIC_DATA.DAT`` with the ``THORACIC_DATA.htm`` that names its
    columns, or ``thoracic_data.sas7bdat``, or ``thoracic_data.dta``. All three give the same table, whatever
    the order of their columns:

    - What is known only after the transplant, identifiers, free text and paperwork are left out.
    - Measurements are floats; flags and codes are categories, in which unknown (U, 998, …) is missing. Values
      outside a plausible range become missing and are counted in ``report.filtered_values``.
    - Dates before the transplant become days before it (``DAYS_SINCE_INIT_DATE``: days on the list); the
      transplant date becomes ``TX_YEAR`` and, as a decimal year, ``entry``.
    - Columns over 90% missing or with one value are left out.
    - Race, insurance, geography and centre go to ``subgroups``: for reports, not for prediction.

    Parameters
    ----------
    folder : str or Path
        Folder of the unpacked release.
    organ : str, default="HR"
        Organ transplanted (ORGAN, or where that is missing WL_ORG).
    min_age : float, default=18
        Youngest recipient at the transplant, in years.
    outcome : {"graft", "patient"}, default="graft"
        Graft survival (GTIME, GSTATUS) or patient survival (PTIME, PSTATUS), in years.
    encoding : str, default="cp1252"
        Encoding of the text.

    Returns
    -------
    Dataset

    Raises
    ------
    MissingFileError
        If there is no such folder, no thoracic file in it, or a .DAT without its .htm.
    FileReadError
        If a file of the release cannot be opened, or is cut short.
    DataError
        If the file is damaged (the message names the line), does not match its .htm, lacks a needed column,
        or no transplant is left.

    Examples
    --------
    >>> read_star("no/such/folder")
    Traceback (most recent call last):
    lifeyears.errors.MissingFileError: there is no folder no/such/folder. Name the folder of a STAR release.
    """
    check_choice("outcome", outcome, tuple(OUTCOMES))
    organ = str(organ).upper()
    release = find_release(folder)
    chosen = Transplants(organ, check_number("min_age", min_age), *OUTCOMES[outcome], file=release.data.name)
    needed = {AGE, DATE, PATIENT, TRANSPLANT, *ORGANS, *OUTCOMES[outcome]}
    contents = read_release(
        release, lambda name: name in needed or explain_exclusion(name) is None, chosen.choose, encoding
    )
    chosen.raise_if_none()
    frame = chosen.drop_repeats(contents.frame)
    y = chosen.read_outcome(frame)
    columns = _Columns(frame, contents.names)
    others = [f"{other.name} was not read: {release.data.name} comes first" for other in release.others]
    X = columns.features()
    leaks = find_leaks(X, y, era=columns.transplanted.dt.year.to_numpy())
    return Dataset(
        X=X,
        y=y,
        name=f"STAR {organ} {outcome}",
        unit="years",
        time_origin="transplant",
        source=f"OPTN/UNOS STAR thoracic file ({release.data.name}), under the registry's data use agreement",
        subgroups=columns.subgroups(),
        entry=_decimal_year(columns.transplanted),
        report=DataReport(
            rows_read=chosen.rows_read,
            rows_kept=len(frame),
            dropped_rows={why: count for why, count in chosen.dropped.items() if count},
            dropped_columns=dict(sorted(columns.left_out.items())),
            warnings=(
                *others,
                *contents.warnings,
                *chosen.find_repeated_patients(frame),
                *columns.find_leaks(y),
                *leaks,
            ),
            leaks=tuple(leaks),
            filtered_values=dict(sorted(columns.filtered.items())),
        ),
    )


class _Columns:
    """Features and subgroups made from the columns, and what was excluded or filtered and why."""

    def __init__(self, frame: pd.DataFrame, names: list[str]) -> None:
        self.transplanted = parse_dates(frame[DATE])
        self.left_out = {name: why for name in names if (why := explain_exclusion(name))}
        self.filtered: dict[str, int] = {}
        self._features: dict[str, pd.Series] = {}
        self._subgroups: dict[str, pd.Series] = {}
        self.left_out[DATE] = "turned into TX_YEAR and entry"
        for name in frame.columns:
            if name not in self.left_out:
                self._add(str(name), frame[name])
        self.left_out.pop("TX_YEAR", None)  # made anew, so that it is there in every release
        self._keep("TX_YEAR", self.transplanted.dt.year.astype(float), self._features)

    def features(self) -> pd.DataFrame:
        """In the order of their names: that of the file changes from release to release."""
        import pandas as pd

        return pd.DataFrame({name: self._features[name] for name in sorted(self._features)})

    def subgroups(self) -> pd.DataFrame | None:
        import pandas as pd

        if not self._subgroups:
            return None
        return pd.DataFrame({name: self._subgroups[name] for name in sorted(self._subgroups)})

    def find_leaks(self, y: Outcome, enough: int = 200, apart: float = 0.3) -> list[str]:
        """Warn of features that are filled in mostly for events: perhaps known only after them."""
        if min(y.n_events, len(y) - y.n_events) < enough:
            return []
        warnings = []
        for name in sorted(self._features):
            known = self._features[name].notna().to_numpy()
            events, censored = known[y.event].mean(), known[~y.event].mean()
            if events - censored > apart:
                warnings.append(f"{name} is known for {events:.0%} of events, {censored:.0%} of censored: a leak?")
        return warnings

    def _add(self, name: str, column: pd.Series) -> None:
        if is_subgroup(name):
            self._add_codes(name, column, self._subgroups)
        elif name in DURATIONS:
            self._add_duration(name, parse_dates(column))
        elif are_dates(column):
            self.left_out[name] = NO_USE
        elif not is_code(name) and (is_measurement(name) or are_quantities(column, MOST_CODES)):
            self._add_measurement(name, column)
        else:
            self._add_codes(name, column, self._features)

    def _add_codes(self, name: str, column: pd.Series, into: dict[str, pd.Series]) -> None:
        self._keep(name, parse_codes(column, find_missing_codes(name)), into)

    def _add_measurement(self, name: str, column: pd.Series) -> None:
        values, unreadable = parse_numbers(column)
        if unreadable > np.count_nonzero(~np.isnan(values)):  # a flag with the name of a measurement
            self._add_codes(name, column, self._features)
        else:
            self._add_quantity(name, values, unreadable)

    def _add_duration(self, name: str, before: pd.Series) -> None:
        """Add the days from a date to the transplant; a date after it is a slip, or tells what came later."""
        days = (self.transplanted - before).dt.days.to_numpy(dtype=float)
        known = days[~np.isnan(days)]
        if len(known) and (after := float(np.mean(known < 0))) > MOST_AFTER:
            self.left_out[name] = f"after the transplant in {after:.0%} of its rows"
        else:
            self.left_out[name] = f"turned into DAYS_SINCE_{name}"
            self._add_quantity(f"DAYS_SINCE_{name}", days)

    def _add_quantity(self, name: str, values: FloatArray, unreadable: int = 0) -> None:
        import pandas as pd

        low, high = find_plausible_range(name) or (-np.inf, np.inf)
        outside = (values < low) | (values > high)
        if filtered := unreadable + int(np.count_nonzero(outside)):
            self.filtered[name] = filtered
        self._keep(name, pd.Series(np.where(outside, np.nan, values)), self._features)

    def _keep(self, name: str, column: pd.Series, into: dict[str, pd.Series]) -> None:
        missing = float(column.isna().mean())
        if missing > MOST_MISSING:
            self.left_out[name] = f"{missing:.1%} missing" if missing < 1 else "no values"
        elif column.nunique() < 2:
            self.left_out[name] = "one value only"
        else:
            into[name] = column


def _decimal_year(day: pd.Series) -> FloatArray:
    days_in_year = np.where(day.dt.is_leap_year, 366, 365)
    years: FloatArray = day.dt.year.to_numpy() + (day.dt.day_of_year.to_numpy() - 1) / days_in_year
    return years
