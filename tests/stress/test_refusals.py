"""What test_properties takes for the same refusal."""

import pytest
from test_properties import answered, same

from lifeyears.relevance import PositivityError


def refuse(kind, words):
    raise kind(words)


def test_refusals_are_the_same_only_if_kind_and_words_are():
    late, later = (answered(refuse, ValueError, f"nobody at time {time}") for time in ("2.5", "1e-05"))
    same(late, later)
    other_words = answered(refuse, ValueError, "nobody")
    other_kind = answered(refuse, PositivityError, "nobody at time 2.5")
    for other in (other_words, other_kind, 1.0):
        with pytest.raises(AssertionError):
            same(late, other)
