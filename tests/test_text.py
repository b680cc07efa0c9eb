"""Words for messages."""

import numpy as np
import pytest

from lifeyears.text import count_noun, did_you_mean, list_rows, list_values


@pytest.mark.parametrize(
    ("count", "nouns", "expected"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (1.0, ("year",), "1 year"),
        (1.5, ("year",), "1.5 years"),
        (12_000, ("row",), "12,000 rows"),
        (1, ("policy", "policies"), "1 policy"),
        (3, ("policy", "policies"), "3 policies"),
    ],
)
def test_counts_agree_with_their_nouns(count, nouns, expected):
    assert count_noun(count, *nouns) == expected


def test_long_lists_say_how_many_more():
    assert list_values([]) == ""
    assert list_values(["a"]) == "a"
    assert list_values(["a", 1, 2.5, None]) == "a, 1, 2.5, None"
    assert list_values(map(str, range(12))) == ", ".join(map(str, range(12)))
    assert list_values(range(2012)) == ", ".join(map(str, range(12))) + " and 2,000 more"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([4], "row 4"),
        ([0, 9], "rows 0, 9"),
        (range(5), "rows 0, 1, 2, 3, 4"),
        (range(8), "rows 0, 1, 2, 3, 4 and 3 more"),
    ],
)
def test_rows_of_a_mask_are_named(rows, expected):
    bad = np.zeros(10, dtype=bool)
    bad[list(rows)] = True
    assert list_rows(bad) == expected


def test_a_close_name_is_suggested_as_it_is_written():
    assert did_you_mean("Evnt ", ["time", "Event"]) == " (did you mean 'Event'?)"
    assert did_you_mean("outcome", ["time", "Event"]) == ""
    assert did_you_mean("x", []) == ""
