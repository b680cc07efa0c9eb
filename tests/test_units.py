"""Units of time, and progress."""

import pytest

from lifeyears.errors import DataError, json_terms
from lifeyears.progress import no_progress
from lifeyears.units import DAYS_IN, days_in, is_known_unit, year_in


def test_lengths_fit_together():
    assert 24 * days_in("hours") == days_in("days") == 1
    assert days_in("weeks") == 7
    assert 12 * days_in("months") == days_in("years") == 365.25  # the Julian year: 365 days and a quarter
    for unit in DAYS_IN:
        assert is_known_unit(unit)
        assert year_in(unit) * days_in(unit) == pytest.approx(365.25, rel=1e-15)


def test_a_unit_without_a_length():
    assert not is_known_unit("time units")
    assert year_in("time units") == 1.0
    assert year_in("time units", unknown=7.5) == 7.5
    with pytest.raises(DataError, match=r"unit 'fortnights' is not known\. Name one of") as error:
        days_in("fortnights")
    assert error.value.render(json_terms).endswith('hours, days, weeks, months, years with "unit".')
    assert error.value.parameters == {"unit": "fortnights"}


def test_no_progress_takes_what_progress_is_called_with():
    assert no_progress("fitting") is None
    assert no_progress("fitting", done=1, total=3) is None
