"""joblib: fits in its workers, models through its files, hashes and caches."""

import joblib
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import lifeyears as ly
from conftest import cohort
from lifeyears.data import TablePreprocessor
from lifeyears.models import Cox, KaplanMeier, WeibullAFT


def models():
    return [
        KaplanMeier(),
        Cox(),
        WeibullAFT(),
        ly.StackedRanker(tau=8.0, effort="fast", random_state=0),
        ly.BootstrappedRanker(tau=8.0, n_estimators=5, random_state=0),
    ]


def said(model, X, y):
    return model.fit(X, y).predict(X)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_fits_in_workers_are_the_fits_here(backend):
    X, y = cohort(200, seed=5)
    work = (joblib.delayed(said)(model, X, y) for model in models())
    there = joblib.Parallel(n_jobs=2, backend=backend)(work)
    for model, found in zip(models(), there, strict=True):
        # to the last bits, which older numpy lets depend on where an array lies in memory
        np.testing.assert_allclose(found, said(model, X, y), rtol=1e-9)


def test_models_through_its_files_say_the_same(tmp_path):
    X, y = cohort(200, seed=5)
    for model in models():
        joblib.dump(model.fit(X, y), tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_equal_models_and_outcomes_have_equal_hashes():
    X, y = cohort(200, seed=5)
    assert joblib.hash(Cox().fit(X, y)) == joblib.hash(Cox().fit(X, y))
    assert joblib.hash(Cox(alpha=2.0).fit(X, y)) != joblib.hash(Cox().fit(X, y))
    assert joblib.hash(y) == joblib.hash(ly.Outcome(y.time, y.event))


def test_a_cached_pipeline_is_fitted_once(tmp_path):
    X, y = cohort(100, seed=5)
    plain = make_pipeline(TablePreprocessor(), Cox()).fit(X, y).predict(X)
    for _ in range(2):
        cached = make_pipeline(TablePreprocessor(), Cox(), memory=joblib.Memory(tmp_path, verbose=0)).fit(X, y)
        np.testing.assert_array_equal(cached.predict(X), plain)


def test_read_only_matrices_from_its_memory_maps(tmp_path):
    X, y = cohort(300, seed=5)
    joblib.dump(X, tmp_path / "X.joblib")
    mapped = joblib.load(tmp_path / "X.joblib", mmap_mode="r")
    for model in models():
        np.testing.assert_array_equal(said(model, mapped, y), said(model, X, y))
