"""BootstrappedRanker: the paper's labels, settings and second stage."""

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears import errors

SMALL = {"random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def cohort():
    d = ly.data.simulate_registry(n=1500, world="interactions", random_state=11)
    return d, ly.data.TablePreprocessor().fit_transform(d.X)


@pytest.fixture(scope="module")
def paper(cohort):
    d, _ = cohort
    return ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, **SMALL).fit(d.X, d.y)


def test_defaults_are_table_a1():
    paper = ly.BootstrappedRanker()
    assert (paper.alpha, paper.margin, paper.group_size) == (0.3, 1.0, 256)
    assert (paper.learning_rate, paper.n_estimators, paper.early_stopping_rounds) == (0.05, 100, 50)
    trees = ly.ranking.TreeSettings()
    assert (trees.num_leaves, trees.min_child_samples) == (31, 40)
    assert (trees.subsample, trees.colsample_bytree) == (0.8, 0.8)
    assert (paper.label, paper.second_stage) == ("ey", "gbdt")
    assert len(paper.get_params(deep=False)) <= 16


def test_pseudo_labels_are_the_papers(cohort, paper):
    d, _ = cohort
    y, labels = d.y, paper.pseudo_labels_
    assert (labels[y.time >= 15] == 15).all()
    died = y.event & (y.time < 15)
    np.testing.assert_array_equal(labels[died], y.time[died])
    censored = ~y.event & (y.time < 15)
    curves = paper.base_.predict_curves(paper.preprocessor_.transform(d.X))
    expected = np.array(  # T + ∫ S(t)/S(T) dt, one row at a time on the curve's own steps
        [conditional_mean(curves.times, curves.survival[i], y.time[i], 15.0) for i in np.flatnonzero(censored)]
    )
    np.testing.assert_allclose(labels[censored], expected, rtol=1e-10)
    report = paper.report_.labels
    assert (report.n_observed, report.n_imputed) == (died.sum(), censored.sum())
    assert report.n_observed + report.n_imputed + report.n_at_horizon == len(y)


def conditional_mean(times, survival, a, tau):
    at = lambda t: survival[np.searchsorted(times, t, side="right") - 1] if t >= times[0] else 1.0  # noqa: E731
    knots = np.concatenate([[a], times[(times > a) & (times < tau)], [tau]])
    return a + sum((knots[i + 1] - knots[i]) * at(knots[i]) for i in range(len(knots) - 1)) / at(a)


class Known(ly.models.KaplanMeier):
    """Says of everybody that they are dead at 2, whatever the data."""

    def _fit(self, X, y, sample_weight):
        self.times_, self.survival_ = np.array([1.0, 2.0]), np.array([0.5, 0.0])


def test_the_fallback_of_labels_is_the_papers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), ly.Outcome(rng.uniform(0.1, 5, 200), rng.random(200) < 0.6)
    lived = ~y.event & (y.time >= 2)
    f = ly.BootstrappedRanker(Known(), tau=5.0, n_estimators=3, **SMALL).fit(X, y)
    assert f.report_.labels.n_fallback == lived.sum()
    np.testing.assert_allclose(f.pseudo_labels_[lived], 1.5)


def test_paper_is_the_same_for_one_and_two_threads(cohort, paper):
    d, _ = cohort
    again = ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(again.fit(d.X, d.y).predict(d.X), paper.predict(d.X))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"second_stage": "forest"}, "second_stage"),
        ({"alpha": 2.0}, "alpha"),
        ({"group_size": 1}, "group_size"),
        ({"label": "ipcw"}, "label"),
        ({"tau": -1}, "tau"),
        ({"n_estimators": 1.5}, "n_estimators"),
        ({"trees": ly.ranking.TreeSettings(num_leaves=1)}, "num_leaves"),
        ({"cross_fit_base": "yes"}, "cross_fit_base"),
    ],
)
def test_wrong_settings_are_named(options, words, X, y):
    with pytest.raises(errors.RequestError, match=words):
        ly.BootstrappedRanker(**options).fit(X, y)


def test_network_does_not_train_on_its_held_out_rows(monkeypatch):
    pytest.importorskip("torch")
    import lifeyears.ranking.bootstrapped._fitting as module

    seen, train = [], module.train_network
    monkeypatch.setattr(module, "train_network", lambda X, *rest: seen.append(len(X)) or train(X, *rest))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), ly.Outcome(rng.exponential(5, 400), rng.random(400) < 0.6)
    f = ly.BootstrappedRanker(tau=8, second_stage="mlp", validation_fraction=0.3, **SMALL).fit(X, y)
    assert seen[0] + np.count_nonzero(~np.isnan(f.held_out_)) == 400


def test_the_seed_reaches_the_base_model():
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), ly.Outcome(rng.exponential(5, 200), rng.random(200) < 0.6)
    base = ly.models.DeepSurv(epochs=2, hidden=(4,))
    said = [ly.BootstrappedRanker(base, tau=8, n_estimators=3, **SMALL).fit(X, y).predict(X) for _ in range(2)]
    np.testing.assert_array_equal(*said)


def test_booleans_are_numbers(cohort):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=200) * 50, "flag": rng.random(200) < 0.5})
    y = ly.Outcome(rng.exponential(5, 200), rng.random(200) < 0.6)
    as_bool = ly.BootstrappedRanker(tau=8, n_estimators=3, **SMALL).fit(table, y)
    assert not as_bool.preprocessor_.scale
