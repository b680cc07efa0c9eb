"""The map from scores to years."""

import numpy as np
import pytest

from lifeyears.ranking._calibration import CalibrationMap


def test_calibration_map_rises_strictly_and_stays_within_the_horizon():
    rng = np.random.default_rng(3)
    scores = rng.normal(10, 2, 4000)
    made = CalibrationMap.fit(scores, np.clip(0.7 * scores + 2 + rng.normal(0, 5, 4000), -5, 25), 20.0)
    grid = np.linspace(-200, 200, 100_001)
    years = made(grid)
    assert (np.diff(years) > 0).all()
    assert years.min() > 0
    assert years.max() < 20
    assert made(scores).mean() == pytest.approx((0.7 * scores + 2).mean(), abs=0.3)
    flat = CalibrationMap.fit(np.repeat([1.0, 2.0, 3.0], 100), np.repeat([5.0, 5.0, 6.0], 100), 20.0)
    assert (np.diff(flat(np.array([1.0, 2.0, 3.0]))) > 0).all()  # the data are flat; the map is not


def test_calibration_uses_all_rows_of_a_tie_whatever_their_order():
    scores = np.repeat([1.0, 2.0, 3.0], [600, 700, 700])
    outcomes = np.concatenate([np.repeat([2.0, 6.0], 300), np.repeat([3.0, 7.0], 350), np.repeat([5.0, 9.0], 350)])
    for order in (np.arange(2000), np.arange(2000)[::-1]):
        made = CalibrationMap.fit(scores[order], outcomes[order], 20.0)
        slope = np.cov(scores, outcomes)[0, 1] / scores.var(ddof=1)
        expected = outcomes.mean() + slope * (np.array([1.0, 2.0, 3.0]) - scores.mean())  # few values: a straight line
        np.testing.assert_allclose(made(np.array([2.0])), expected[1], atol=0.02)
