"""polars: its frames in every place where a pandas frame goes, with the same numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import lifeyears as ly
from conftest import cohort
from lifeyears.data import TablePreprocessor
from lifeyears.models import Cox, KaplanMeier, WeibullAFT

pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def both():
    X, y = cohort(150, seed=7)
    rng = np.random.default_rng(0)
    columns = {"a": X[:, 0], "b": X[:, 1], "ward": rng.choice(["north", "south"], 150), "smoker": rng.random(150) < 0.3}
    return pd.DataFrame(columns), pl.DataFrame(columns), y


@pytest.mark.parametrize("model", [KaplanMeier(), Cox(), WeibullAFT()], ids=lambda model: type(model).__name__)
def test_models_take_its_frames(model, both):
    pandas, polars, y = both
    outcome = pl.DataFrame({"event": y.event, "time": y.time})
    names = ["a", "b"]
    fitted = model.fit(polars[names], outcome)
    assert list(fitted.feature_names_in_) == names
    said = fitted.predict(polars[names])
    np.testing.assert_array_equal(said, model.fit(pandas[names], y).predict(pandas[names]))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(polars[["b", "a"]])


@pytest.mark.parametrize("kind", ["String", "Categorical", "Enum"])
def test_pipelines_and_rankers_take_its_frames(kind, both):
    pandas, polars, y = both
    dtype = pl.Enum(["north", "south"]) if kind == "Enum" else getattr(pl, kind)
    table = polars.with_columns(pl.col("ward").cast(dtype))
    for model in (
        make_pipeline(TablePreprocessor(), Cox(tau=8.0)),
        ly.BootstrappedRanker(tau=8.0, n_estimators=4, random_state=0, n_jobs=1),
    ):
        expected = model.fit(pandas, y).predict(pandas)
        np.testing.assert_allclose(model.fit(table, y).predict(table), expected, rtol=1e-12)


def test_nulls_are_missing_values(both):
    pandas, polars, y = both
    gaps = np.arange(150) % 9 == 0
    theirs = polars.with_columns(pl.when(pl.Series(gaps)).then(None).otherwise(pl.col("a")).alias("a"))
    ours = pandas.assign(a=pandas["a"].mask(gaps))
    pipe = make_pipeline(TablePreprocessor(), Cox(tau=8.0))
    np.testing.assert_allclose(pipe.fit(theirs, y).predict(theirs), pipe.fit(ours, y).predict(ours), rtol=1e-12)


def test_relevance_and_metrics_take_its_series(both):
    _, polars, y = both
    names = ["a", "b"]
    robust = ly.relevance.DoublyRobust(Cox(), KaplanMeier(), tau=8.0, on_violation="clip")
    relevance = robust.fit(polars[names], y).estimate(polars[names], y)
    scores = polars["a"] * -1
    assert ly.metrics.concordance_index(y, scores) == ly.metrics.concordance_index(y, -polars["a"].to_numpy())
    value = ly.metrics.policy_value(relevance, scores, waitlist=10)
    assert value == ly.metrics.policy_value(relevance.values, -polars["a"].to_numpy(), waitlist=10)


def test_tables_are_read_from_its_frames(both):
    pandas, polars, y = both
    theirs = ly.data.read_table(polars.with_columns(time=y.time, event=y.event), time="time", event="event")
    ours = ly.data.read_table(pandas.assign(time=y.time, event=y.event), time="time", event="event")
    assert list(theirs.X) == list(ours.X)
    np.testing.assert_array_equal(theirs.y.time, ours.y.time)
