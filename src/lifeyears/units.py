"""Units of time: what Lifeyears knows of the unit in which a data set counts."""

from __future__ import annotations

from .errors import DataError, Message, Setting

DAYS_IN = {"hours": 1 / 24, "days": 1.0, "weeks": 7.0, "months": 365.25 / 12, "years": 365.25}


def is_known_unit(unit: str) -> bool:
    """Return whether the length of a unit is known: "time units", say, is a name without a length.

    Examples
    --------
    >>> is_known_unit("days"), is_known_unit("time units")
    (True, False)
    """
    return unit in DAYS_IN


def days_in(unit: str) -> float:
    """Return the number of days in one unit of time.

    Raises
    ------
    DataError
        If the unit is not one of hours, days, weeks, months and years.

    Examples
    --------
    >>> days_in("weeks")
    7.0
    """
    if unit not in DAYS_IN:
        raise DataError(
            f"the length of the time unit {unit!r} is not known",
            hint=Message("Name one of ", ", ".join(DAYS_IN), " with ", Setting("unit"), "."),
            unit=unit,
        )
    return DAYS_IN[unit]


def year_in(unit: str, unknown: float = 1.0) -> float:
    """Return the length of a year in a unit of time.

    Parameters
    ----------
    unit : str
    unknown : float, default 1.0
        What to return where the length of the unit is not known.

    Examples
    --------
    >>> year_in("days"), year_in("years"), year_in("time units")
    (365.25, 1.0, 1.0)
    """
    return DAYS_IN["years"] / DAYS_IN[unit] if unit in DAYS_IN else unknown
