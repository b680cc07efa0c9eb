"""Argument checks: what passes is returned in its type, what does not is named."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifeyears.checks import (
    check_choice,
    check_number,
    check_positive,
    check_random_state,
    check_values,
    check_whole,
    is_number,
)
from lifeyears.errors import RequestError


@pytest.mark.parametrize("value", [True, False, np.True_, "1", None, 1j, [1], np.array([1.0]), Decimal(1)])
def test_what_is_not_one_number(value):
    assert not is_number(value)
    assert not is_number(value, whole=True)
    for check in (check_number, check_whole, check_positive):
        with pytest.raises(RequestError, match=r"x must be .*number; got"):
            check("x", value)


@pytest.mark.parametrize("value", [2, np.int32(2), np.uint8(2)])
def test_whole_numbers_of_any_type_become_int(value):
    assert is_number(value, whole=True)
    assert check_whole("x", value) == 2
    assert type(check_whole("x", value)) is int
    assert type(check_number("x", value)) is float


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5), Fraction(1, 2)])
def test_numbers_of_any_type_become_float(value):
    assert is_number(value)
    assert not is_number(value, whole=True)
    assert check_number("x", value) == check_positive("x", value) == 0.5
    assert type(check_positive("x", value)) is float


@given(st.floats(), st.floats(-5, 5), st.floats(-5, 5))
def test_limits_are_included_and_nothing_else_passes(value, low, high):
    if low <= value <= high:
        assert check_number("x", value, low, high) == value
    else:
        with pytest.raises(RequestError, match="x must be"):
            check_number("x", value, low, high)


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "at least -inf"), (np.inf, "must be finite"), (-np.inf, "must be finite")],
)
def test_numbers_are_finite_even_without_limits(value, message):
    with pytest.raises(RequestError, match=message):
        check_number("x", value)


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, -0.0])
def test_a_horizon_is_positive_and_finite(value):
    with pytest.raises(RequestError, match="tau must be a positive, finite number; got") as error:
        check_positive("tau", value)
    assert error.value.parameters == {"name": "tau"}


def test_choices():
    assert check_choice("ties", "random", ("average", "random")) == "random"
    assert check_choice("tail", None, (None, "drop")) is None
    with pytest.raises(RequestError, match=r"got 'Average' \(did you mean 'average'\?\)"):
        check_choice("ties", "Average", ("average", "random"))
    for unlike in ("xyz", 7, ["average"], np.array(["average", "random"])):
        with pytest.raises(RequestError, match="ties must be one of 'average', 'random'; got"):
            check_choice("ties", unlike, ("average", "random"))
    with pytest.raises(RequestError, match="ties must be one of"):  # a list is in no set
        check_choice("ties", ["average"], {"average"})


def test_values_are_finite_and_in_one_row():
    class Estimate:
        values = np.array([1, 2])

    assert check_values("relevance", Estimate()).tolist() == [1.0, 2.0]
    assert check_values("scores", [True, False]).dtype == float
    for bad, message in (
        ([1, np.nan, np.inf], r"missing or infinite in row 1 \(2 rows in all\)"),
        ([[1.0]], r"one-dimensional; its shape is \(1, 1\)"),
        ([], "scores is empty"),
        (["high"], "scores must be numbers"),
        ([[1], [2, 3]], "scores must be numbers"),
    ):
        with pytest.raises(RequestError, match=message):
            check_values("scores", bad)
    with pytest.raises(RequestError) as error:
        check_values("scores", [0.0, np.nan])
    assert error.value.parameters == {"name": "scores", "row": 1}


def test_seeds():
    generator = np.random.default_rng(3)
    assert check_random_state(generator) is generator
    assert check_random_state(3).random() == np.random.default_rng(3).random()
    assert isinstance(check_random_state(None), np.random.Generator)
    for bad in (-1, "seven", 1.5):
        with pytest.raises(RequestError, match="random_state must be a whole number from 0 on, or None; got"):
            check_random_state(bad)
