"""BootstrappedRanker: what it is made of, what it does with odd data, and that it finds what is there to be found."""

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears.metrics import policy_value
from lifeyears.ranking import PRESETS
from lifeyears.ranking._calibration import CalibrationMap
from lifeyears.ranking._ensemble import SHRINKAGE, FoldFit, choose_simplest, choose_stages, fit_weights
from lifeyears.ranking._piecewise import choose_cut_points
from lifeyears.ranking.trees import PartialLikelihoodObjective

SMALL = {"random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def cohort():
    d = ly.data.simulate_registry(n=1500, world="interactions", random_state=11)
    return d, ly.data.TablePreprocessor().fit_transform(d.X)


@pytest.fixture(scope="module")
def default(cohort):
    d, _ = cohort
    return ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, n_estimators=60, **SMALL).fit(d.X, d.y)


@pytest.fixture(scope="module")
def paper(cohort):
    d, _ = cohort
    return ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, preset="paper", **SMALL).fit(d.X, d.y)


def test_fitted_together_they_are_what_each_is_alone(cohort, paper):
    d, _ = cohort
    bases = ly.models.KaplanMeier(), ly.models.Cox(alpha=10.0)
    kinds = ({"preset": "paper"}, {"n_estimators": 10, "folds": 2})
    rankers = [ly.BootstrappedRanker(base, tau=15, **kind, **SMALL) for base in bases for kind in kinds]
    fitted = list(ly.ranking.fit_together(rankers, d.X, d.y))
    np.testing.assert_array_equal(fitted[2].predict(d.X), paper.predict(d.X))
    assert fitted[2].members_["years"][0].rounds == paper.members_["years"][0].rounds
    alone = ly.BootstrappedRanker(bases[1], tau=15, **kinds[1], **SMALL).fit(d.X, d.y)
    np.testing.assert_array_equal(fitted[3].predict(d.X), alone.predict(d.X))


def test_rankers_fitted_together_keep_their_own_model_of_censoring(cohort):
    d, _ = cohort
    make = [
        lambda censoring=c: ly.BootstrappedRanker(
            ly.models.KaplanMeier(), tau=15, censoring=censoring, preset="paper", **SMALL
        )
        for c in (None, ly.models.KaplanMeier(), ly.models.Cox(alpha=1.0))
    ]
    together = [ranker.predict(d.X) for ranker in ly.ranking.fit_together([each() for each in make], d.X, d.y)]
    for each, said in zip(make, together, strict=True):
        np.testing.assert_array_equal(said, each().fit(d.X, d.y).predict(d.X))
    assert len({tuple(said) for said in together}) == 3


def test_paper_preset_is_table_a1():
    paper = PRESETS["paper"]
    assert (paper.alpha, paper.margin, paper.group_size) == (0.3, 1.0, 256)
    assert (paper.learning_rate, paper.n_estimators, paper.num_leaves, paper.min_child_samples) == (0.05, 100, 31, 40)
    assert (paper.subsample, paper.colsample_bytree, paper.early_stopping_rounds) == (0.8, 0.8, 50)
    assert (paper.label, paper.folds, paper.members) == ("ey", 0, ("years",))


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


def test_fallback_is_literal_in_paper_and_never_below_the_time_lived_in_default():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), ly.Outcome(rng.uniform(0.1, 5, 200), rng.random(200) < 0.6)
    options = {"tau": 5.0, "label": "ey", "folds": 0, "members": ("years",), "n_estimators": 3, **SMALL}
    lived = ~y.event & (y.time >= 2)
    for preset in ("paper", "default"):
        base = Known()
        f = ly.BootstrappedRanker(base, preset=preset, cross_fit_base=False, **options).fit(X, y)
        assert f.report_.labels.n_fallback == lived.sum()
        expected = np.full(lived.sum(), 1.5) if preset == "paper" else np.maximum(1.5, y.time[lived])
        np.testing.assert_allclose(f.pseudo_labels_[lived], expected)


class Known(ly.models.KaplanMeier):
    """Says of everybody that they are dead at 2, whatever the data."""

    def _fit(self, X, y, sample_weight):
        self.times_, self.survival_ = np.array([1.0, 2.0]), np.array([0.5, 0.0])


class Memoriser(ly.models.KaplanMeier):
    """Refuses to be asked about rows it was fitted on."""

    def _fit(self, X, y, sample_weight):
        super()._fit(X, y, sample_weight)
        self.seen_ = set(X[:, 0].tolist())

    def predict_curves(self, X, times=None):
        assert not self.seen_ & set(np.asarray(X)[:, 0].tolist()), "a label came from a model that saw the row"
        return super().predict_curves(X, times)


@pytest.mark.parametrize("preset", ["paper", "default"])
@pytest.mark.parametrize("label", ["ey", "dr"])
def test_cross_fitted_labels_come_from_models_that_did_not_see_the_row(preset, label):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 2)), ly.Outcome(rng.uniform(0.1, 5, 300), rng.random(300) < 0.6)
    options = {"label": label, "cross_fit_base": True, "n_estimators": 3, "validation_fraction": 0.0, **SMALL}
    f = ly.BootstrappedRanker(Memoriser(), tau=4.0, preset=preset, **options).fit(X, y)
    assert len(f.pseudo_labels_) == 300
    with pytest.raises(AssertionError, match="saw the row"):
        ly.BootstrappedRanker(Memoriser(), tau=4.0, preset="paper", n_estimators=3, **SMALL).fit(X, y)


def test_partial_likelihood_equals_finite_differences():
    rng = np.random.default_rng(2)
    y = ly.Outcome(np.round(rng.exponential(2, 30), 1) + 0.1, rng.random(30) < 0.6)  # ties
    f = rng.normal(size=30)

    def loss(f):
        total = 0.0
        for i in np.flatnonzero(y.event):
            total += np.log(np.exp(f[y.time >= y.time[i]]).sum()) - f[i]
        return total

    gradient, hessian = PartialLikelihoodObjective(y)(f)
    for i in range(30):
        step = np.zeros(30)
        step[i] = 1e-4
        assert gradient[i] == pytest.approx((loss(f + step) - loss(f - step)) / 2e-4, abs=1e-6)
        assert hessian[i] == pytest.approx((loss(f + step) - 2 * loss(f) + loss(f - step)) / 1e-8, abs=1e-4)


def test_default_beats_a_wrong_base_and_is_calibrated():
    """A threshold interaction that Cox cannot see: the truth is known, so the gain needs no estimate."""
    rng = np.random.default_rng(5)

    def draw(n):
        X = rng.normal(size=(n, 6))
        rate = 0.1 * np.exp(1.2 * np.where((X[:, 0] > 0) == (X[:, 1] > 0), 1.0, -1.0))
        life, cut = rng.exponential(1 / rate), rng.uniform(2, 30, n)
        return X, ly.Outcome(np.minimum(life, cut), life <= cut), (1 - np.exp(-rate * 15)) / rate

    X, y, _ = draw(3000)
    new, _, truth = draw(3000)
    f = ly.BootstrappedRanker(tau=15, n_estimators=200, **SMALL).fit(X, y)
    gain = policy_value(truth, f.predict(new), waitlist=256) - policy_value(truth, f.base_.predict(new), waitlist=256)
    assert gain > 3.0  # of about 5.4 that there are
    said = f.predict(new)
    assert np.polyfit(said, truth, 1)[0] == pytest.approx(1.0, abs=0.2)  # a mean of folds is a little too cautious
    assert said.mean() == pytest.approx(truth.mean(), abs=0.3)


def test_where_cox_is_right_little_is_lost():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 5))
    rate = 0.1 * np.exp(X @ np.array([0.6, -0.4, 0.3, 0.0, 0.0]))
    life, cut = rng.exponential(1 / rate), rng.uniform(2, 30, 3000)
    f = ly.BootstrappedRanker(tau=15, n_estimators=200, **SMALL)
    f.fit(X, ly.Outcome(np.minimum(life, cut), life <= cut))
    new = rng.normal(size=(3000, 5))
    rate = 0.1 * np.exp(new @ np.array([0.6, -0.4, 0.3, 0.0, 0.0]))
    truth = (1 - np.exp(-rate * 15)) / rate
    loss = policy_value(truth, f.base_.predict(new), waitlist=256) - policy_value(truth, f.predict(new), waitlist=256)
    assert loss < 0.1


def test_same_for_any_number_of_jobs_and_seeded(cohort, default, monkeypatch):
    d, _ = cohort
    monkeypatch.setattr("lifeyears.ranking._fitting.WORTH_A_PROCESS", 100)
    again = ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, n_estimators=60, random_state=0, n_jobs=2).fit(
        d.X, d.y
    )
    np.testing.assert_array_equal(again.predict(d.X), default.predict(d.X))
    other = ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, n_estimators=60, random_state=1).fit(d.X, d.y)
    assert not np.array_equal(other.predict(d.X), default.predict(d.X))


def test_paper_is_the_same_for_one_and_two_threads(cohort, paper):
    d, _ = cohort
    again = ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, preset="paper", random_state=0, n_jobs=2)
    np.testing.assert_array_equal(again.fit(d.X, d.y).predict(d.X), paper.predict(d.X))


def test_curves_have_the_predicted_years(cohort, default):
    d, _ = cohort
    curves = default.predict_curves(d.X)
    np.testing.assert_allclose(curves.restricted_mean(15), default.predict(d.X), atol=1e-6)
    assert (np.diff(curves.survival, axis=1) <= 0).all()


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


def test_contributions_add_up(cohort, default, paper):
    d, _ = cohort
    for f in (default, paper):
        found = f.explain(d.X[:40])
        np.testing.assert_allclose(found.typical + found.contributions.sum(axis=1), f.predict(d.X[:40]), atol=1e-8)
        assert set(found.contributions.columns) == set(d.X.columns)
        assert found.top_reasons(0).abs().is_monotonic_decreasing
        assert found.movers(k=5)["moves_in"].max() <= 5
        found.plot(0)


def test_explanation_finds_the_feature_that_matters():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 3)), columns=["noise", "signal", "other"])
    y = ly.Outcome(rng.exponential(np.exp(X["signal"])) + 0.01, np.ones(800, dtype=bool))
    f = ly.BootstrappedRanker(tau=5, n_estimators=40, **SMALL).fit(X, y)
    assert f.explain(X).contributions.abs().mean().idxmax() == "signal"
    assert f.explain(X).movers(k=5).index[0] == "signal"


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("preset", ["paper", "default"])
def test_relevance_in_place_of_outcomes(kind, preset):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(12_000, 3))
    relevance = (1000 * np.maximum(X[:, 0], 0) + rng.normal(0, 100, 12_000) - 50).astype(kind)  # beyond 30, negative
    f = ly.BootstrappedRanker(preset=preset, n_estimators=30, group_size=12_000, learning_rate=0.3, **SMALL)
    f.fit(X, relevance)
    assert f.base_ is None
    assert np.corrcoef(f.predict(X), relevance)[0, 1] > 0.8
    with pytest.raises(TypeError, match="no base model"):
        f.predict_curves(X)


def test_mlp_has_the_same_loss(cohort):
    torch = pytest.importorskip("torch")
    from lifeyears.ranking import HybridLoss, HybridObjective
    from lifeyears.ranking._network import compute_hybrid_loss

    rng = np.random.default_rng(0)
    y = rng.uniform(0, 20, 64)
    f = rng.normal(10, 1, 64)
    output = torch.tensor(f, requires_grad=True)
    loss = compute_hybrid_loss(output, torch.tensor(y), torch.tensor(y), 0.3, 1.0, 64, 0.0, 1.0)
    assert float(loss.detach()) == pytest.approx(HybridLoss(y, 0.3, 1.0, 64)(f), rel=1e-12)
    loss.backward()
    expected = HybridObjective(y, 0.3, 1.0, 64, precision=np.float64).differentiate(f, np.arange(64))[0]
    np.testing.assert_allclose(output.grad.numpy(), expected, rtol=1e-6, atol=1e-12)
    d, _ = cohort
    for preset in ("paper", "default"):
        f = ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, preset=preset, second_stage="mlp", **SMALL)
        f.fit(d.X[:300], d.y[:300])
        assert np.isfinite(f.predict(d.X)).all()
        f.explain(d.X[:5])


def test_missing_values_unseen_categories_and_column_order(cohort, default):
    d, _ = cohort
    new = d.X.iloc[:30].copy()
    new["age"] = np.nan
    new["diagnosis"] = new["diagnosis"].astype(object)
    new.loc[new.index[0], "diagnosis"] = "never seen"
    assert np.isfinite(default.predict(new)).all()
    assert len(default.predict(d.X.iloc[:1])) == 1
    with pytest.raises(ValueError, match="order"):
        default.predict(d.X[d.X.columns[::-1]])
    with pytest.raises(ValueError, match=r"age|feature names"):
        default.predict(d.X.drop(columns="age"))


def test_few_rows_equal_labels_one_group_no_validation_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    few = ly.Outcome(np.arange(1.0, 13), np.array([True, False] * 6))
    f = ly.BootstrappedRanker(**SMALL).fit(X, few)
    assert f.report_.kept_base
    assert "too few" in str(f.report_)
    paper = ly.BootstrappedRanker(preset="paper", **SMALL).fit(X, few)
    assert "no rows were held out" in str(paper.report_)
    assert np.isfinite(paper.predict(X)).all()
    X = rng.normal(size=(200, 2))
    same = ly.Outcome(np.full(200, 3.0), np.ones(200, dtype=bool))
    for preset in ("paper", "default"):
        f = ly.BootstrappedRanker(ly.models.KaplanMeier(), preset=preset, tau=5, n_estimators=5, **SMALL).fit(X, same)
        np.testing.assert_allclose(f.predict(X), 3.0, atol=0.2)
    with pytest.raises(ValueError, match="one outcome for each"):
        f.fit(X[:5], same)


def test_nobody_censored():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = ly.Outcome(rng.exponential(np.exp(X[:, 0])) + 0.01, np.ones(300, dtype=bool))
    f = ly.BootstrappedRanker(tau=4, n_estimators=20, **SMALL).fit(X, y)
    np.testing.assert_allclose(f.pseudo_labels_, np.minimum(y.time, 4))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"preset": "best"}, "preset"),
        ({"second_stage": "forest"}, "second_stage"),
        ({"alpha": 2.0}, "alpha"),
        ({"group_size": 1}, "group_size"),
        ({"folds": 1}, "folds"),
        ({"members": ("boost",)}, "members"),
        ({"second_stage": "mlp", "members": ("base", "lines")}, "members"),
        ({"preset": "paper", "members": ("base", "years")}, "folds"),
        ({"label": "ipcw"}, "label"),
        ({"tau": -1}, "tau"),
        ({"n_estimators": 1.5}, "n_estimators"),
    ],
)
def test_wrong_settings_are_named(options, words, X, y):
    with pytest.raises(ValueError, match=words):
        ly.BootstrappedRanker(**options).fit(X, y)


def test_a_wrapped_model_as_base(X, y):
    sksurv = pytest.importorskip("sksurv.linear_model")
    base = sksurv.CoxPHSurvivalAnalysis(alpha=0.1)
    ours = ly.BootstrappedRanker(ly.models.Cox(), tau=y.time.max(), n_estimators=5, **SMALL).fit(X, y)
    theirs = ly.BootstrappedRanker(base, tau=y.time.max(), n_estimators=5, **SMALL).fit(X, y)
    np.testing.assert_allclose(theirs.predict(X), ours.predict(X), rtol=1e-3)


def test_phases_and_stages():
    y = ly.Outcome(np.arange(1.0, 1001), np.ones(1000, dtype=bool))
    np.testing.assert_allclose(choose_cut_points(y, 1000.0, 2), [0, np.quantile(y.time, 1 / 3), 1000])
    assert list(choose_cut_points(y[:100], 1000.0, 2)) == [0, 1000]  # too few deaths for two
    assert choose_stages(600)[-1] == 600
    assert len(choose_stages(600)) == 12
    assert list(choose_stages(3)) == [1, 2, 3]


@pytest.mark.parametrize("sign", [1, -1])
def test_weights_are_least_squares_pulled_towards_the_members_with_none_negative(sign):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    base, member = truth + rng.normal(size=400), sign * truth + rng.normal(size=400)
    splits = [(np.arange(200, 400), np.arange(200)), (np.arange(200), np.arange(200, 400))]
    folds = [{"years": FoldFit(member[None, test], [None])} for _, test in splits]
    found = fit_weights(folds, splits, base, truth)
    both = np.column_stack([base - base.mean(), member - member.mean()])
    pull = SHRINKAGE * np.trace(both.T @ both) / 2  # (A'A + pull·I)·w = A'b + pull·aims, aims: none for the base
    right = both.T @ truth + pull * np.array([0.0, 1.0])
    if sign > 0:
        expected = np.linalg.solve(both.T @ both + pull * np.eye(2), right)
    else:
        expected = [right[0] / (both[:, 0] @ both[:, 0] + pull), 0.0]  # the member would count against itself
    np.testing.assert_allclose(list(found.weights.values()), expected, rtol=1e-9)


def test_of_stages_about_as_good_the_simplest_is_kept():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=10_000)
    best, alike, worse = noise, noise + 0.01 * rng.normal(size=10_000), noise + 0.2 * rng.normal(size=10_000)
    errors = np.array([worse + 0.1, alike + 0.0001, best])  # worse by 50, and by 1, standard errors
    assert choose_simplest(errors) == 1
    assert choose_simplest(errors[[0, 2]]) == 1
    assert choose_simplest(errors[1:]) == 0


def test_calibration_plot_is_one_call(default, paper):
    axes = default.plot_calibration()
    assert axes.get_xlabel() == "years predicted"
    paper.plot_calibration()


def test_the_scorer_and_the_pipeline(cohort):
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    d, matrix = cohort
    model = make_pipeline(
        ly.data.TablePreprocessor(), ly.BootstrappedRanker(ly.models.Cox(alpha=10.0), tau=15, n_estimators=5, **SMALL)
    )
    scorer = ly.metrics.make_scorer(
        "policy_value", k=1, waitlist=64, relevance=ly.relevance.ExpectedYears(ly.models.KaplanMeier(), tau=15)
    )
    scores = cross_val_score(model, matrix, d.y, scoring=scorer, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


def test_curves_at_asked_times_are_those_of_the_own_grid(cohort, default):
    d, _ = cohort
    asked = default.predict_curves(d.X[:20], times=[5.0, 10.0])
    np.testing.assert_allclose(asked.survival, default.predict_curves(d.X[:20]).at([5.0, 10.0]), atol=2e-3)


def test_an_explanation_does_not_depend_on_who_else_is_explained(cohort, default):
    d, _ = cohort
    alone, among = default.explain(d.X.iloc[[3]]), default.explain(d.X.iloc[:10])
    np.testing.assert_allclose(alone.contributions.iloc[0], among.contributions.iloc[3], atol=1e-10)


def test_a_single_censored_row_does_not_switch_it_off():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    event = np.ones(600, dtype=bool)
    event[5] = False
    y = ly.Outcome(rng.exponential(np.exp(np.abs(X[:, 0]))) + 0.01, event)
    for options in ({}, {"preset": "paper", "cross_fit_base": True}):
        f = ly.BootstrappedRanker(tau=4, n_estimators=10, **options, **SMALL).fit(X, y)
        assert f.members_


def test_all_equal_times_with_many_rows():
    X = np.random.default_rng(0).normal(size=(1200, 2))
    y = ly.Outcome(np.full(1200, 3.0), np.ones(1200, dtype=bool))
    f = ly.BootstrappedRanker(ly.models.KaplanMeier(), tau=5, n_estimators=5, **SMALL).fit(X, y)
    np.testing.assert_allclose(f.predict(X), 3.0, atol=0.2)


def test_network_does_not_train_on_its_held_out_rows(monkeypatch):
    pytest.importorskip("torch")
    import lifeyears.ranking._fitting as module

    seen, train = [], module.train_network
    monkeypatch.setattr(module, "train_network", lambda X, *rest: seen.append(len(X)) or train(X, *rest))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), ly.Outcome(rng.exponential(5, 400), rng.random(400) < 0.6)
    f = ly.BootstrappedRanker(tau=8, preset="paper", second_stage="mlp", validation_fraction=0.3, **SMALL).fit(X, y)
    assert seen[0] + np.count_nonzero(~np.isnan(f.held_out_)) == 400


def test_the_calibration_plot_shows_no_calibration_where_there_is_no_signal():
    """On noise, held-out years must not go with outcomes: over seeds, the mean correlation is near 0."""
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(600, 4)), ly.Outcome(rng.exponential(5, 600), rng.random(600) < 0.6)
        f = ly.BootstrappedRanker(tau=8, n_estimators=20, random_state=seed, n_jobs=1).fit(X, y)
        said, outcomes = f.held_out_, f.held_out_outcomes_
        found.append(np.corrcoef(said, outcomes)[0, 1] if np.ptp(said) > 0 else 0.0)
    assert np.mean(found) < 2.5 * np.std(found, ddof=1) / np.sqrt(8) + 0.02


def test_calibration_uses_all_rows_of_a_tie_whatever_their_order():
    scores = np.repeat([1.0, 2.0, 3.0], [600, 700, 700])
    outcomes = np.concatenate([np.repeat([2.0, 6.0], 300), np.repeat([3.0, 7.0], 350), np.repeat([5.0, 9.0], 350)])
    for order in (np.arange(2000), np.arange(2000)[::-1]):
        made = CalibrationMap.fit(scores[order], outcomes[order], 20.0)
        slope = np.cov(scores, outcomes)[0, 1] / scores.var(ddof=1)
        expected = outcomes.mean() + slope * (np.array([1.0, 2.0, 3.0]) - scores.mean())  # few values: a straight line
        np.testing.assert_allclose(made(np.array([2.0])), expected[1], atol=0.02)


def test_predictions_stay_within_the_horizon(cohort):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    y = ly.Outcome(np.where(X[:, 0] > 0, 30.0, 1.0) * rng.uniform(0.5, 1, 800), np.ones(800, dtype=bool))
    for preset in ("paper", "default"):
        f = ly.BootstrappedRanker(tau=10, preset=preset, n_estimators=40, **SMALL).fit(X, y)
        years = f.predict(10 * X)
        assert years.min() > 0
        assert years.max() < 10


def test_relevance_and_grid_search():
    from sklearn.model_selection import GridSearchCV

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    search = GridSearchCV(
        ly.BootstrappedRanker(**SMALL), {"n_estimators": np.array([1, 30])}, cv=2, error_score="raise"
    ).fit(X, X[:, 0] - 1)
    assert search.best_params_["n_estimators"] == 30
    noise = ly.BootstrappedRanker(preset="paper", **SMALL).fit(X, rng.normal(size=300))
    assert noise.weights_ == {"years": 1.0}
    with pytest.raises(ValueError, match="members"):
        ly.BootstrappedRanker(members=("base",), **SMALL).fit(X, X[:, 0])


def test_the_seed_reaches_the_base_model():
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), ly.Outcome(rng.exponential(5, 200), rng.random(200) < 0.6)
    base = ly.models.DeepSurv(epochs=2, hidden=(4,))
    said = [
        ly.BootstrappedRanker(base, tau=8, preset="paper", n_estimators=3, **SMALL).fit(X, y).predict(X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*said)


def test_booleans_are_numbers(cohort):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=200) * 50, "flag": rng.random(200) < 0.5})
    y = ly.Outcome(rng.exponential(5, 200), rng.random(200) < 0.6)
    as_bool = ly.BootstrappedRanker(tau=8, preset="paper", n_estimators=3, **SMALL).fit(table, y)
    assert not as_bool.preprocessor_.scale
