"""The ranker's second stage on a Dask collection: the parts, and the whole on two local workers."""

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from conftest import cohort
from lifeyears.ranking import HybridObjective, fit_on_dask
from lifeyears.ranking.bootstrapped._dask import WorkerObjective, shuffle_block

distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.array")


def test_rows_are_dealt_once_each_and_at_random():
    X = np.arange(1000.0)[:, None]
    y = np.column_stack([np.ones(1000), X[:, 0] + 1])
    dealt = shuffle_block(X, y, n_parts=4, sample_share=0.3, held_out_share=0.1, seed=(0, 1))
    sample, outcome, held_out = dealt[-1]
    assert np.array_equal(outcome.time, sample[:, 0] + 1)
    trained = np.concatenate([dealt[at][0][:, 0] for at in range(4)])
    kept = np.concatenate([trained, sample[held_out, 0]])
    assert np.array_equal(np.sort(kept), X[:, 0])  # held out, or in one part
    for at in range(4):
        rows = dealt[at][0][:, 0]
        assert len(rows) == pytest.approx(len(trained) / 4, abs=1)
        assert rows.mean() == pytest.approx(499.5, abs=80)  # 4 standard errors of a mean of 225
        assert np.array_equal(dealt[at][1].time, rows + 1)


def test_the_objective_of_a_worker_is_that_of_one_machine():
    rng = np.random.default_rng(0)
    labels, scores = rng.uniform(-1, 12, 600), rng.normal(size=600)
    there = WorkerObjective(centre=5.0, tau=10.0, alpha=0.3, margin=1.0, group_size=64, seed=3)
    here = HybridObjective(labels, 0.3, 1.0, 64, 3, np.clip(labels, 0, 10.0))
    for _ in range(2):  # groups are redrawn in the same way
        for ours, theirs in zip(here(5.0 + scores), there(labels, scores), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_settings_and_collections_that_do_not_fit_are_refused():
    import dask.array as da

    X, y = da.zeros((10, 2), chunks=(5, 2)), da.zeros((10, 2), chunks=(2, 2))
    with pytest.raises(ValueError, match="second_stage='gbdt'"):
        fit_on_dask(ly.BootstrappedRanker(second_stage="mlp"), X, y)
    paper = ly.BootstrappedRanker()
    with pytest.raises(ValueError, match="cross_fit_base=False"):
        fit_on_dask(ly.BootstrappedRanker(cross_fit_base=True), X, y, client=object())
    with pytest.raises(ValueError, match="X has 2 partitions and y has 5"):
        fit_on_dask(paper, X, y, client=object())
    with pytest.raises(ValueError, match="must be a Dask DataFrame or a Dask array; got ndarray"):
        fit_on_dask(paper, np.zeros((3, 2)), y, client=object())


@pytest.mark.filterwarnings("ignore")  # of Dask's processes coming and going
def test_two_workers_learn_what_one_machine_learns():
    import dask.array as da
    from dask import delayed

    X, outcome = cohort(1600, seed=8)
    y = np.column_stack([outcome.event, outcome.time])
    ranker = ly.BootstrappedRanker(tau=10.0, n_estimators=20, random_state=0)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        fitted = fit_on_dask(ranker, da.from_array(X, (400, -1)), da.from_array(y, (400, -1)), client)
        longer = da.concatenate([da.from_delayed(delayed(np.ones)((401, 2)), (401, 2), float) for _ in range(4)])
        with pytest.raises(ValueError, match="partition of X has 400 rows and that of y 401"):
            fit_on_dask(ranker, da.from_array(X, (400, -1)), longer, client)
    assert "second stage on Dask" in str(fitted.report_)
    assert fitted.report_.calibrated
    alone = ly.BootstrappedRanker(**ranker.get_params()).set_params(n_jobs=1).fit(X, outcome)
    truth = pd.Series(-X @ np.linspace(0.6, -0.3, 3))  # what orders the lives of conftest's cohort
    by_two, by_one = (truth.corr(pd.Series(model.predict(X)), method="spearman") for model in (fitted, alone))
    assert by_one > 0.8
    assert by_two > by_one - 0.1
