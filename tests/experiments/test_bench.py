import numpy as np
import pandas as pd
import pytest

from lifeyears.experiments import estimator_bench
from lifeyears.experiments.bench import FAIR, GOOD, MECHANISMS, draw_patients, true_policy_value
from lifeyears.metrics import policy_value

SMALL = {"n": 2000, "waitlist": 40, "tau": 12.0, "n_resamples": 60, "random_state": 5}

RIGHT_OR_NOT = ["right", "wrong", "both right", "survival wrong", "censoring wrong", "both wrong"]


@pytest.mark.parametrize("weights", [GOOD, FAIR, np.array([0.0, 0.0, 1.0])])
def test_true_policy_value_equals_simulation(weights):
    rng = np.random.default_rng(0)
    values = []
    for _ in range(40):
        patients = draw_patients(20_000, "independent", rng)
        values.append(policy_value(np.minimum(patients.life, 12.0), patients.X @ weights, waitlist=40))
    error = np.std(values) / np.sqrt(40)
    assert abs(np.mean(values) - true_policy_value(weights, 12.0, 40)) < 4 * error
    assert error < 0.05


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_mechanisms_censor_as_they_say(mechanism):
    patients = draw_patients(20_000, mechanism, np.random.default_rng(1))
    y = patients.y
    assert (y.time <= patients.life + 1e-12).all()
    assert (y.time[y.event] == patients.life[y.event]).all()
    times = np.array([3.0, 8.0])
    G = patients.censoring(times)
    if G is None:
        assert mechanism in ("informative", "paper")
        return
    # among those who live beyond t, the share still followed is G(t)
    for column, t in enumerate(times):
        alive = patients.life > t
        observed, expected = (y.time > t)[alive].mean(), G.survival[alive, column].mean()
        assert observed == pytest.approx(expected, abs=4 * np.sqrt(0.25 / alive.sum()))


def test_right_curves_are_unbiased_and_dr_needs_only_one():
    table = estimator_bench(replicates=40, mechanisms=["independent", "covariate"], only=RIGHT_OR_NOT, **SMALL).table
    table = table.set_index(["mechanism", "estimator", "nuisances"])
    for mechanism in ("independent", "covariate"):
        for key in (
            ("EY", "right"),
            ("IPCW", "right"),
            ("DR", "both right"),
            ("DR", "survival wrong"),
            ("DR", "censoring wrong"),
        ):
            row = table.loc[(mechanism, *key)]
            assert abs(row["bias"]) < 3.5 * row["standard_error"], key
    # and where nothing protects, the bench sees it
    for key in (("EY", "wrong"), ("DR", "both wrong")):
        row = table.loc[("independent", *key)]
        assert abs(row["bias"]) > 4 * row["standard_error"], key


def test_out_of_reach_horizons_bias_ipcw_and_not_ey_with_the_truth():
    table = estimator_bench(replicates=20, mechanisms=["administrative"], only=["right", "both right"], **SMALL).table
    table = table.set_index("estimator")
    assert table.loc["IPCW", "bias"] < -2
    assert abs(table.loc["EY", "bias"]) < 4 * table.loc["EY", "standard_error"]
    assert abs(table.loc["DR", "bias"]) < 4 * table.loc["DR", "standard_error"]


def test_censoring_that_depends_on_life_biases_all():
    # the paper's C ~ U[0, T*]: even with the true S, EY is too high
    table = estimator_bench(replicates=30, mechanisms=["paper"], only=["right"], **SMALL).table
    assert table["bias"].item() > 3 * table["standard_error"].item()


def test_same_seed_same_bench_whatever_the_jobs():
    options = {**SMALL, "n": 500, "waitlist": 8, "replicates": 3, "mechanisms": ["covariate"]}
    pd.testing.assert_frame_equal(
        estimator_bench(n_jobs=1, **options).table, estimator_bench(n_jobs=2, **options).table
    )


def test_bench_shows_itself_and_refuses_unknown_mechanisms():
    bench = estimator_bench(n=400, waitlist=8, replicates=2, mechanisms=["paper"], n_resamples=20)
    assert set(bench.table["nuisances"]) == {"right", "wrong", "fitted", "censoring wrong", "both wrong"}
    assert "2 cohorts of 400" in str(bench)
    assert "<table" in bench._repr_html_()
    assert bench.plot().get_xlabel().startswith("bias")
    for bad in (["rihgt"], "DR fitted"):
        with pytest.raises(ValueError, match="only must be a list of nuisances"):
            estimator_bench(n=100, replicates=1, only=bad)
    with pytest.raises(ValueError, match="no mechanism 'magic'"):
        estimator_bench(n=100, replicates=1, mechanisms=["magic"])
