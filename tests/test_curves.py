import math

import numpy as np
import pytest
from scipy.integrate import quad

from lifeyears import Outcome, SurvivalCurves
from lifeyears._kernels import each_row_times
from lifeyears.curves import product_limit

STEP = SurvivalCurves([1.0, 3.0, 4.0], [[0.8, 0.5, 0.1], [1.0, 0.5, 0.0]])
LINE = SurvivalCurves([1.0, 3.0, 4.0], [[0.8, 0.5, 0.1], [1.0, 0.5, 0.0]], "linear")


def test_step_curves_are_right_continuous():
    assert STEP.at(3.0).tolist() == [0.5, 0.5]
    assert STEP.at(3.0, left=True).tolist() == [0.8, 1.0]
    assert STEP.at(0.0).tolist() == [1, 1]
    assert STEP.at(0.99).tolist() == [1, 1]
    assert STEP.at(99.0).tolist() == [0.1, 0.0]
    assert STEP.at([0.5, 3.5]).tolist() == [[1, 0.5], [1, 0.5]]


def test_linear_curves_go_through_their_points_from_0_1():
    assert LINE.at([0.0, 0.5, 1.0, 2.0, 3.5, 9.0])[0] == pytest.approx([1, 0.9, 0.8, 0.65, 0.3, 0.1])
    assert LINE.at(2.0, left=True) == pytest.approx(LINE.at(2.0))


def test_each_subject_at_a_time_of_its_own():
    assert STEP.at_own([3.0, 0.5]).tolist() == [0.5, 1.0]
    assert STEP.at_own([3.0, 3.0], left=True).tolist() == [0.8, 1.0]
    assert LINE.at_own([2.0, 3.5]) == pytest.approx([0.65, 0.25])


@pytest.mark.parametrize("curves", [STEP, LINE], ids=["step", "linear"])
@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0, 3.7, 4.0, 10.0])
def test_restricted_mean_is_the_area(curves, tau):
    for row in range(2):
        one = curves[row]
        area, _ = quad(lambda t, c=one: c.at(t)[0], 0, tau, points=[1, 3, 4], limit=200)
        assert curves.restricted_mean(tau)[row] == pytest.approx(area, abs=1e-9)


@pytest.mark.parametrize("curves", [STEP, LINE], ids=["step", "linear"])
@pytest.mark.parametrize("a", [0.0, 0.5, 1.0, 2.2, 3.0, 3.9])
def test_mean_life_after_is_the_conditional_mean(curves, a):
    tau = 6.0
    for row in range(2):
        one = curves[row]
        area, _ = quad(lambda t, c=one: c.at(t)[0], a, tau, points=[1, 3, 4], limit=200)
        assert curves.mean_life_after(a, tau)[row] == pytest.approx(a + area / one.at(a)[0], abs=1e-9)


def test_mean_life_after_falls_back_to_the_restricted_mean_where_nobody_is_left():
    life = STEP.mean_life_after([4.5, 4.5], 6.0)
    assert life[1] == STEP.restricted_mean(6.0)[1]
    assert life[0] == pytest.approx(6.0)  # S stays at 0.1: alive to the horizon


def test_mean_life_after_the_horizon_is_the_horizon():
    assert STEP.mean_life_after(7.0, 3.5).tolist() == [3.5, 3.5]
    assert STEP.mean_life_after(7.0, 5.0).tolist() == [5.0, 5.0]  # also where S is 0 by then


@pytest.mark.parametrize("interpolation", ["step", "linear"])
@pytest.mark.parametrize("rate", [0.1, 2.0, 3.0, 10.0])
def test_mean_life_after_keeps_its_digits_where_hardly_anybody_is_left(rate, interpolation):
    times = np.linspace(0.1, 20, 200)
    S = np.exp(-rate * times)
    curves = SurvivalCurves(times, S[None], interpolation)
    # memoryless: what is left after 15 is the same as at the start, on the same grid
    ratio = np.exp(-rate * 0.1)
    cells = 50  # from 15 to 20
    step = 0.1 * sum(ratio**i for i in range(cells))
    line = step - 0.05 * (1 - ratio**cells)
    expected = 15 + (step if interpolation == "step" else line)
    assert curves.mean_life_after(15.0, 20.0)[0] == pytest.approx(expected, rel=1e-9)


def test_common_times_equal_own_times():
    for curves in (STEP, LINE):
        times = np.array([0.0, 0.5, 1.0, 2.2, 3.0, 3.9, 4.5, 5.0, 6.0])
        each = curves.mean_life_after_each(times, 5.0)
        for column, t in enumerate(times):
            assert each[:, column] == pytest.approx(curves.mean_life_after(t, 5.0))


def test_the_end_of_time():
    assert LINE.at(np.inf).tolist() == [0.1, 0.0]
    assert STEP.at(np.inf).tolist() == [0.1, 0.0]


def test_mean_life_after_by_hand():
    # alive at 2: S(3)/S(2) = 5/8 reach 3, 1/8 live beyond 4: 2 + 1 + 5/8 + 1/8·1
    assert STEP.mean_life_after([2.0, 2.0], 5.0)[0] == pytest.approx(2 + 1 + 5 / 8 + 1 / 8)


@pytest.mark.parametrize("interpolation", ["step", "linear"])
@pytest.mark.parametrize("first", [0.0, 0.3])
def test_one_curve_shown_for_all_and_curves_of_each_own(interpolation, first):
    rng = np.random.default_rng(0)
    times = first + np.append(0.0, np.cumsum(rng.uniform(0.01, 1, 30)))
    survival = 1 - np.sort(rng.uniform(0, 0.9, 31))
    one = SurvivalCurves(times, np.broadcast_to(survival, (5, 31)), interpolation)
    own = SurvivalCurves(times, np.asfortranarray(np.tile(survival, (5, 1))), interpolation)
    a, tau = rng.uniform(0, 12, 5), 11.0
    for left in (False, True):
        np.testing.assert_array_equal(one.mean_life_after(a, tau, left), own.mean_life_after(a, tau, left))
    fine = np.linspace(0, tau, 400_001)
    S = one[0].at(0.5 * (fine[1:] + fine[:-1]))[0]
    for i in range(5):
        inside = np.clip(fine[1:] - np.maximum(fine[:-1], a[i]), 0, None)
        expected = min(a[i] + (S * inside).sum() / one.at(a[i])[0], tau) if a[i] < tau else tau
        assert one.mean_life_after(a, tau)[i] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("times", "survival", "message"),
    [
        ([1.0, 1.0], [[0.5, 0.5]], "strictly increasing"),
        ([-1.0, 1.0], [[0.5, 0.5]], "not negative"),
        ([1.0, 2.0], [[0.5, 0.6]], "row 0 is not a survival curve"),
        ([1.0, 2.0], [[1.0, 0.6], [1.2, 0.6]], "row 1 is not a survival curve"),
        ([1.0, 2.0], [[1.0, np.nan]], "NaN"),
        ([1.0, 2.0], [[1.0, 0.5, 0.2]], "shapes"),
        ([], np.ones((1, 0)), "list of numbers"),
    ],
)
def test_what_is_no_curve_is_refused(times, survival, message):
    with pytest.raises(ValueError, match=message):
        SurvivalCurves(times, survival)


def test_rounding_noise_is_smoothed():
    curves = SurvivalCurves([1.0, 2.0], [[1 + 1e-12, 1 + 2e-12]])
    assert curves.survival.tolist() == [[1, 1]]


def test_bad_requests_are_refused():
    for bad in (-1.0, np.nan, [[1.0]]):
        with pytest.raises(ValueError, match="times must be"):
            STEP.at(bad)
    with pytest.raises(ValueError, match="one for each"):
        STEP.mean_life_after([1.0, 2.0, 3.0], 5.0)
    for tau in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="tau"):
            STEP.restricted_mean(tau)
    with pytest.raises(ValueError, match="interpolation"):
        SurvivalCurves([1.0], [[0.5]], "cubic")


def test_kaplan_meier_by_hand():
    # 6 at risk: death at 1; 2 censored at 2 with a death there; death of the last at 5
    y = Outcome([1.0, 2.0, 2.0, 2.0, 4.0, 5.0], [True, True, False, False, False, True])
    km = product_limit(y)
    assert km.times.tolist() == [1, 2, 5]
    assert km.survival == pytest.approx([5 / 6, 5 / 6 * 4 / 5, 0.0])
    assert km.greenwood()[:2] == pytest.approx([1 / 30, 1 / 30 + 1 / 20])


def test_weighted_kaplan_meier_equals_repeated_rows():
    y = Outcome([1.0, 2.0, 2.0, 3.0], [True, False, True, True])
    weight = np.array([2, 1, 3, 1])
    assert product_limit(y, weight).survival == pytest.approx(
        product_limit(y[np.repeat(np.arange(4), weight)]).survival
    )


def test_curves_can_be_plotted_and_described():
    assert len(STEP.plot().lines) == 2
    assert len(LINE.plot(rows=[0]).lines) == 1
    assert "2 subjects" in repr(STEP)


def test_a_notebook_shows_curves_as_a_table_of_chances():
    shown = SurvivalCurves([2.0, 5.0], [[0.5, 0.0], [0.75, 0.25]])._repr_html_()
    assert [text for text in ("S(2)", "S(5)", ">0.500<", ">0.250<") if text not in shown] == []


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 7), (4, 0), (403, 92), (5000, 13)])
def test_a_row_has_the_same_sum_in_any_company(n, m):
    rng = np.random.default_rng(n)
    matrix, weights = rng.normal(size=(n, m)), rng.normal(size=m)
    sums = each_row_times(matrix, weights)
    size = np.abs(matrix) @ np.abs(weights)
    for i in {0, n // 2, n - 1}:
        assert sums[i] == pytest.approx(math.fsum(matrix[i] * weights), abs=1e-15 * m * size[i])
        assert each_row_times(matrix[i : i + 1], weights)[0] == sums[i]
    for laid in (np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2], matrix[::-1][::-1]):
        np.testing.assert_array_equal(each_row_times(laid, weights), sums)
