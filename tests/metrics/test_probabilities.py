"""AUC, Brier score and calibration."""

import warnings

import numpy as np
import pytest

import lifeyears as ly
from conftest import cohort
from lifeyears.curves import product_limit
from lifeyears.metrics import auc_at, brier_score, calibration, concordance_index, integrated_brier_score

TIMES = [2.0, 5.0, 8.0]


@pytest.fixture(scope="module")
def continuous():
    """No ties between events and censorings: there scikit-survival's G(T) is our G(T⁻)."""
    X, y = cohort(400)
    return y[:200], y[200:], X[200:, 0].round(1), ly.models.Cox().fit(X[:200], y[:200]).predict_curves(X[200:])


def test_auc_equals_scikit_survival(continuous):
    train, test, risk, _ = continuous
    ours = auc_at(test, -risk, TIMES, censoring=train)
    sksurv = pytest.importorskip("sksurv.metrics")
    theirs, _ = sksurv.cumulative_dynamic_auc(train.to_structured(), test.to_structured(), risk, TIMES)
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert auc_at(test, -risk, 5.0, censoring=train) == ours[1]


def test_brier_equals_scikit_survival(continuous):
    train, test, _, curves = continuous
    sksurv = pytest.importorskip("sksurv.metrics")
    theirs = sksurv.brier_score(train.to_structured(), test.to_structured(), curves.at(TIMES), TIMES)[1]
    assert brier_score(test, curves, TIMES, censoring=train) == pytest.approx(theirs, abs=1e-12)
    assert brier_score(test, curves.at(5.0), 5.0, censoring=train) == pytest.approx(theirs[1], abs=1e-12)
    grid = np.linspace(1, 9, 30)
    ours = integrated_brier_score(test, curves, grid, censoring=train)
    theirs = sksurv.integrated_brier_score(train.to_structured(), test.to_structured(), curves.at(grid), grid)
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_auc_uses_the_left_limit_of_the_censoring_curve():
    # at 1 a death and a censoring: the death was seen with certainty, weight 1; the death at 2 with G(2⁻) = 2/3
    y = ly.Outcome([1.0, 1.0, 2.0, 3.0, 3.0], [True, False, True, True, True])
    scores = [1.0, 0.0, 4.0, 2.0, 3.0]
    # cases: 1 (score 1, weight 1), 2 (score 4, weight 3/2); controls score 2 and 3
    assert auc_at(y, scores, 2.5) == pytest.approx(1 / (1 + 4 / 3), abs=1e-12)


def test_auc_without_censoring_is_the_share_of_pairs():
    rng = np.random.default_rng(0)
    time, scores = rng.exponential(5, 80), rng.integers(0, 9, 80).astype(float)
    case, control = scores[time <= 4], scores[time > 4]
    pairs = np.mean([(a < b) + 0.5 * (a == b) for a in case for b in control])
    assert auc_at((np.ones(80), time), scores, 4.0) == pytest.approx(pairs)


def test_known_censoring_curves_are_used_as_given(continuous):
    train, test, risk, curves = continuous
    G = product_limit(train.censoring())
    assert auc_at(test, -risk, 5.0, censoring=G.curves(1)) == auc_at(test, -risk, 5.0, censoring=train)
    assert brier_score(test, curves, 5.0, G.curves(len(test))) == brier_score(test, curves, 5.0, train)
    with pytest.raises(ValueError, match="3 censoring curves for 200 rows"):
        auc_at(test, -risk, 5.0, censoring=G.curves(3))


def test_brier_by_hand():
    # dead at 1 with S = 0.2, alive at 2 with S = 0.9: (0.04 + 0.01)/2
    assert brier_score(([1, 1], [1.0, 3.0]), [0.2, 0.9], 2.0) == pytest.approx(0.025)


def test_undefined_requests_are_refused(continuous):
    _, test, risk, curves = continuous
    with pytest.raises(ValueError, match="nobody is followed beyond"):
        auc_at(test, -risk, 99.0)
    with pytest.raises(ValueError, match="no event is observed by"):
        auc_at(test, -risk, 1e-9)
    with pytest.raises(ValueError, match="rows by 2 times"):
        brier_score(test, np.ones((200, 3)), [1.0, 2.0])
    with pytest.raises(ValueError, match="probabilities"):
        brier_score(test, np.full(200, 1.5), 2.0)
    with pytest.raises(ValueError, match="increasing order"):
        integrated_brier_score(test, curves, [3.0, 2.0])
    early = ly.Outcome(np.array([1.0, 2.0, 0.5]), [False, False, True])
    with pytest.raises(ValueError, match="nobody can be followed"):
        auc_at(test, -risk, 5.0, censoring=early)


def test_calibration_intervals_cover_the_truth_as_often_as_they_say():
    covered = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = 2_000
        rate = rng.uniform(0.05, 0.5, n)
        life, end = rng.exponential(1 / rate), rng.uniform(0, 12, n)
        result = calibration((life <= end, np.minimum(life, end)), np.exp(-rate * 4), time=4.0)
        covered.extend((result.low <= result.predicted) & (result.predicted <= result.high))
        assert result.count.tolist() == [200] * 10
        assert result.error < 0.06
    # 400 intervals at 95%: the standard error of the share is 0.011
    assert abs(np.mean(covered) - 0.95) < 3 * 0.011
    assert len(result.to_frame()) == 10
    assert "<table" in result._repr_html_()


def test_calibration_intervals_equal_r(y, from_r):
    # one group of everybody is R's Kaplan–Meier, its interval on the log(−log) scale from R's standard error
    result = calibration(y, np.full(len(y), 0.5), time=5.0, n_bins=1)
    at = from_r["times"].index(5)
    survival, error = from_r["km"]["survival"][at], from_r["km"]["std_err"][at]
    spread = 1.959963984540054 * error / survival / abs(np.log(survival))
    assert result.observed[0] == pytest.approx(survival, abs=1e-12)
    assert result.low[0] == pytest.approx(survival ** np.exp(spread), abs=1e-10)
    assert result.high[0] == pytest.approx(survival ** np.exp(-spread), abs=1e-10)


def test_calibration_of_a_constant_prediction_is_one_group(y):
    assert len(calibration(y, np.full(len(y), 0.5), time=5.0).count) == 1


def test_calibration_beyond_follow_up_is_unknown_and_plots():
    y = ly.Outcome([1.0, 2.0, 8.0, 9.0], [True, False, True, True])
    result = calibration(y, [0.2, 0.2, 0.8, 0.8], time=5.0, n_bins=2)
    assert np.isnan(result.observed[0])
    assert result.observed[1] == 1
    assert result.plot(label="x").get_xlabel().startswith("predicted")
    with pytest.raises(ValueError, match="n_bins"):
        calibration(y, [0.2, 0.2, 0.8, 0.8], time=5.0, n_bins=0)


def test_calibration_at_the_end_of_follow_up_does_not_hang_on_the_order_of_rows():
    for events in ([1, 1, 0], [1, 0, 1]):  # a death and a censoring at the last time: beyond it nothing is known
        assert np.isnan(calibration(([*events], [1.0, 5.0, 5.0]), [0.5] * 3, time=6.0, n_bins=1).observed[0])
    unknown = calibration(([0, 0], [1.0, 2.0]), [0.5, 0.5], time=6.0, n_bins=1)
    assert np.isnan(unknown.error)
    nobody = calibration((np.zeros(30), np.full(30, 9.0)), np.full(30, 0.9), time=6.0, n_bins=1)
    assert (nobody.low[0], nobody.high[0]) == (0.9, 1.0)  # the rule of three: 1 − 3/30
    everybody = calibration((np.ones(30), np.full(30, 2.0)), np.full(30, 0.1), time=10.0, n_bins=1)
    assert (everybody.observed[0], everybody.low[0], everybody.high[0]) == (0.0, 0.0, 0.1)


def test_higher_is_longer_everywhere(y, patients):
    scores = -patients["x"].to_numpy()
    assert concordance_index(y, scores) > 0.6
    assert auc_at(y, scores, 5.0) > 0.6


def test_beyond_all_follow_up_the_brier_score_says_what_it_is():
    y = ly.Outcome([1.0, 2.0, 3.0, 4.0], [True, False, True, False])
    with pytest.warns(UserWarning, match="nobody was followed to 9; the longest follow-up is 4"):
        ly.metrics.brier_score(y, [0.1, 0.2, 0.3, 0.4], 9.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ly.metrics.brier_score(y, [0.1, 0.2, 0.3, 0.4], 4.0)
