"""Methods from elsewhere: a model, an estimator, a ranking method and two metrics of one file, in worker processes."""

import json
import warnings

import numpy as np
import pytest

import lifeyears as ly
from lifeyears import catalogue
from lifeyears.errors import LifeyearsWarning, RequestError
from lifeyears.experiments import Arm, Measure, Plan, build_model
from lifeyears.experiments.results import display_columns

PLUGIN = '''
from types import SimpleNamespace
import numpy as np
import lifeyears as ly


class Half(ly.models.KaplanMeier):
    """Kaplan–Meier by any other name."""


class Observed:
    """What was observed, up to the horizon; it needs no nuisance model."""

    def __init__(self, tau):
        self.tau = tau

    def get_params(self, deep=True):
        return {"tau": self.tau}

    def fit(self, X, y):
        return self

    def estimate(self, X, y):
        return SimpleNamespace(values=np.minimum(y.time, self.tau))


class First:
    """Rank by the first column."""

    def __init__(self, base, tau=None):
        self.base, self.tau = base, tau

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


def top(relevance, scores, k=1):
    return relevance[np.argsort(-scores, kind="stable")[:k]].mean()


def events(y, scores):
    return y.event.mean()


events.greater_is_better = False
'''
KINDS = {"models": "Half", "estimators": "Observed", "rankers": "First", "metrics": "top"}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """The methods of a file in the catalogue, which is restored afterwards."""
    path = tmp_path_factory.mktemp("plugin") / "mine.py"
    path.write_text(PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        for group, name in KINDS.items():
            methods = getattr(catalogue, group)
            patch.setattr(methods, "_specs", dict(methods.items()))
            methods.resolve(f"{path}:{name}")
        catalogue.metrics.resolve(f"{path}:events")
        yield path


@pytest.fixture(scope="module")
def data():
    return ly.data.simulate_registry(n=240, random_state=1)


@pytest.fixture(scope="module")
def run(plugin, data, tmp_path_factory):
    out = tmp_path_factory.mktemp("registered") / "run"
    options = {"models": ("Cox", "Half"), "methods": ("First",), "stacked_over": (), "waitlist": 20, "tau": 15.0}
    return out, ly.experiments.run("full", data, out, n_jobs=2, iterations=1, folds=2, k=3, **options)


def test_registered_methods_reach_the_workers(run, data):
    _, done = run
    assert done.arms == [Arm("Cox"), Arm("Cox", "First"), Arm("Half"), Arm("Half", "First"), Arm("oracle")]
    for job in done.jobs:
        np.testing.assert_array_equal(job.scores[1], job.scores[3])  # both rank by the first column
        assert np.ptp(job.scores[2]) == 0
        observed = np.minimum(data.y.time[job.rows], 15.0)
        np.testing.assert_array_equal(job.outcomes["Observed"], observed)
        for place, arm in enumerate(done.arms):
            order = np.argsort(-job.scores[place], kind="stable")[:3]
            assert job.measures[arm][Measure("Observed", "top", k=3)] == pytest.approx(observed[order].mean())
            assert job.measures[arm][Measure(None, "events")] == data.y.event[job.rows].mean()


def test_registered_metrics_have_rows_with_intervals(run, data):
    _, done = run
    table = done.tables["metrics"].set_index(["metric", "model", "method"])
    shares = [data.y.event[job.rows].mean() for job in done.jobs]
    row = table.loc[("events", "Cox", "none")]
    assert row["value"] == pytest.approx(np.mean(shares))
    # two folds: t with one degree of freedom, the variance (1/2 + 1)·s² (Nadeau and Bengio)
    half = 12.706204736 * np.std(shares, ddof=1) * np.sqrt(1.5)
    assert row["high"] - row["value"] == pytest.approx(half)
    assert row["better"] == "lower"
    assert table.loc[("top", "Cox", "First"), "relevance"] == "expected"
    assert np.isfinite(table.loc[("top", "Cox", "First"), "gain"])
    assert "value_Observed" in done.tables["allocation"]
    headings = [column.name for column in display_columns(done.summary.tables["metrics"])]
    assert headings[:4] == ["model", "metric", "by", "better is"]


def test_the_manifest_records_where_methods_come_from(run, plugin, data):
    out, done = run
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["plan"]["models"] == ["Cox", "Half"]
    assert manifest["plan"]["estimators"] == ["Observed"]
    assert manifest["methods"]["models"]["Cox"]["distribution"] == "lifeyears"
    assert manifest["methods"]["models"]["Half"]["factory"] == "mine.py:Half"
    assert [note.key for note in done.summary.metrics][-2:] == ["top", "events"]
    plugin.write_text(PLUGIN + "\n# another version\n")
    try:
        with pytest.warns(LifeyearsWarning, match="Half has changed"):
            ly.experiments.run("full", data, out, n_jobs=1, **options_of(done.plan))
    finally:
        plugin.write_text(PLUGIN)


def options_of(plan):
    return {name: value for name, value in plan.as_dict().items() if name != "protocol"} | {
        name: tuple(value) for name, value in plan.as_dict().items() if isinstance(value, list)
    }


def test_a_metric_says_what_it_is_given(plugin, data):
    catalogue.metrics.register("odd", lambda scores, relevance: 0.0)
    try:
        from lifeyears.experiments.jobs import run_job

        plan = Plan("full", folds=2, models=("KM",), methods=(), stacked_over=(), waitlist=20, metrics=("odd",))
        with pytest.raises(RequestError, match="must take relevance or y as its first parameter; it takes 'scores'"):
            run_job(data, plan, 0, 0)
    finally:
        del catalogue.metrics._all()["odd"]


def test_models_are_given_what_they_take(plugin):
    assert build_model("DeepSurv", 10.0, 3, 7).get_params()["epochs"] == 7
    assert build_model("DeepSurv", 10.0, 3, 7).get_params()["random_state"] == 3
    assert build_model("Half", 10.0, 3, 7).tau == 10.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RequestError, match="no survival model 'Halff'"):
            build_model("Halff", 10.0)


def test_two_methods_with_one_label_are_refused(plugin):
    catalogue.models.register("Cox again", "lifeyears.models:Cox", label="Cox")
    try:
        with pytest.raises(RequestError, match="the same label, 'Cox'"):
            Plan("full", models=("Cox", "Cox again"))
    finally:
        del catalogue.models._all()["Cox again"]
