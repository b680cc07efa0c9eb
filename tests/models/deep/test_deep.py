import subprocess
import sys

import numpy as np
import pytest

import lifeyears as ly
from conftest import cohort
from lifeyears.models import DeepHit, DeepSurv
from lifeyears.models.deep._deephit import bin_times

torch = pytest.importorskip("torch")
SMALL = {"hidden": (8,), "epochs": 6, "random_state": 0}


def test_defaults_are_the_papers_table_a2():
    surv, hit = DeepSurv(), DeepHit()
    for model in (surv, hit):
        assert tuple(model.hidden) == (64, 32)
        assert model.batch_norm
        assert (model.learning_rate, model.batch_size, model.epochs) == (1e-3, 256, 75)
    assert (surv.dropout, surv.weight_decay) == (0.4, 1e-4)
    assert (hit.dropout, hit.bins, hit.alpha, hit.sigma) == (0.5, 30, 0.3, 0.3)


def test_cox_loss_equals_pycox():
    cox_ph_loss_sorted = pytest.importorskip("pycox.models.loss").cox_ph_loss_sorted
    from lifeyears.models.deep.networks import cox_loss

    torch.manual_seed(0)
    output, event = torch.randn(40, 1), (torch.rand(40) < 0.5).float()
    theirs = float(cox_ph_loss_sorted(output, event))  # which knows no ties
    assert float(cox_loss(output, event, torch.arange(40))) == pytest.approx(theirs, rel=1e-5)


def test_cox_loss_with_ties_is_the_partial_likelihood_and_bears_large_outputs():
    from lifeyears.models.deep.networks import cox_loss
    from lifeyears.models.fitting import PartialLikelihood, RiskSets

    X, y = cohort(80, ties=True)
    order = np.argsort(-y.time, kind="stable")
    for scale in (1.0, 30.0):
        eta = scale * X[order, 0]
        sets = RiskSets.of(y[order], None, "breslow")
        exact = PartialLikelihood(eta[sets.order][:, None], sets, np.zeros(1)).value(np.ones(1))
        place = torch.from_numpy(np.unique(-y.time[order], return_inverse=True)[1])
        loss = cox_loss(torch.from_numpy(eta), torch.from_numpy(y.event[order].astype(float)), place)
        assert float(loss) == pytest.approx(-exact / y.n_events, rel=1e-9)


def test_deephit_loss_equals_pycox():
    pair_rank_mat = pytest.importorskip("pycox.models.data").pair_rank_mat
    losses = pytest.importorskip("pycox.models.loss")
    from lifeyears.models.deep.networks import deephit_loss

    rng = np.random.default_rng(0)
    output = torch.from_numpy(rng.normal(size=(50, 7)).astype(np.float32)).requires_grad_()
    bins, event = rng.integers(0, 7, 50), rng.random(50) < 0.6
    outlives = (bins[:, None] > np.arange(7)) | ((bins[:, None] == np.arange(7)) & ~event[:, None])
    ranks = torch.from_numpy(pair_rank_mat(bins, event.astype("float32")))
    bins, events = torch.from_numpy(bins), torch.from_numpy(event.astype(np.float32))
    theirs = 0.3 * losses.nll_pmf(output, bins, events) + 0.7 * losses.rank_loss_deephit_single(
        output, bins, events, ranks, 0.3
    )
    (slope,) = torch.autograd.grad(theirs, output)
    ours = deephit_loss(output, bins, events, torch.from_numpy(outlives.astype(np.float32)), alpha=0.3, sigma=0.3)
    (our_slope,) = torch.autograd.grad(ours, output)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    assert our_slope.numpy() == pytest.approx(slope.numpy(), abs=1e-6)


def test_time_bins_equal_pycox():
    DeepHitSingle = pytest.importorskip("pycox.models").DeepHitSingle
    _, y = cohort(200)
    transform = DeepHitSingle.label_transform(30)
    bins, event = transform.fit_transform(y.time, y.event.astype(float))
    assert bin_times(y, transform.cuts).tolist() == bins.tolist()
    assert y.event.tolist() == event.astype(bool).tolist()


@pytest.mark.parametrize("model", [DeepSurv(**SMALL), DeepHit(bins=10, **SMALL)], ids=["DeepSurv", "DeepHit"])
class TestBoth:
    def test_same_seed_same_network_and_global_state_untouched(self, model):
        X, y = cohort(300)
        torch.manual_seed(5)
        before, threads = torch.get_rng_state(), torch.get_num_threads()
        first, again = model.fit(X, y).predict(X), model.fit(X, y).predict(X)
        assert (first == again).all()
        assert (torch.get_rng_state() == before).all()
        assert torch.get_num_threads() == threads
        assert (model.set_params(random_state=1).fit(X, y).predict(X) != first).any()
        model.set_params(random_state=0)

    def test_curves_are_curves_and_predict_is_their_area(self, model):
        X, y = cohort(300)
        curves = model.set_params(tau=9.0).fit(X, y).predict_curves(X)
        assert (np.diff(curves.survival, axis=1) <= 0).all()
        assert (curves.at(0.0) == 1).all()
        assert model.predict(X) == pytest.approx(curves.restricted_mean(9.0), abs=0.02)
        model.set_params(tau=None)

    def test_learns(self, model):
        X, y = cohort(3000)
        model.set_params(epochs=30).fit(X[:2000], y[:2000])
        assert ly.metrics.concordance_index(y[2000:], model.predict(X[2000:])) > 0.6
        model.set_params(epochs=6)

    def test_stops_early_and_keeps_the_best_epoch(self, model):
        X, y = cohort(120)
        model.set_params(epochs=60, patience=2, learning_rate=0.05).fit(X, y)
        losses = [epoch["validation"] for epoch in model.history_]
        assert model.best_epoch_ == int(np.argmin(losses)) + 1
        assert len(losses) == min(60, model.best_epoch_ + 2)
        model.set_params(epochs=6, patience=10, learning_rate=1e-3)

    def test_small_and_odd_tables(self, model):
        X, y = cohort(257)  # a last batch of one row
        assert np.isfinite(model.fit(X, y).predict(X)).all()
        few = ly.Outcome(y.time[:12], np.arange(12) == 3)  # one event: no validation share is possible
        assert np.isfinite(model.fit(X[:12], few).predict(X)).all()
        assert model.best_epoch_ == 6
        with pytest.raises(ValueError, match="all 12 times are censored"):
            model.fit(X[:12], ly.Outcome(y.time[:12], np.zeros(12)))

    def test_progress_on_request(self, model, capsys):
        X, y = cohort(60)
        model.set_params(verbose=True).fit(X, y)
        assert type(model).__name__ in capsys.readouterr().out
        model.set_params(verbose=False)

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ({"batch_size": 1}, "batch_size"),
            ({"dropout": 1.0}, "dropout"),
            ({"validation_fraction": 1.0}, "validation"),
            ({"epochs": 0}, "epochs"),
        ],
    )
    def test_bad_settings(self, model, bad, message):
        X, y = cohort(60)
        with pytest.raises(ValueError, match=message):
            type(model)(**bad).fit(X, y)


def test_deepsurv_with_a_fixed_linear_network_is_cox():
    """The baseline hazard and the curves, on an absolute scale: the network is set to Cox's own coefficients."""
    X, y = cohort(400, ties=True)
    cox = ly.models.Cox(alpha=0, tau=9.0).fit(X, y)
    deep = DeepSurv(hidden=(), epochs=1, learning_rate=0.0, weight_decay=0.0, validation_fraction=0, tau=9.0)
    import lifeyears.models.deep.networks as networks

    original = networks.build_network

    def cox_network(*args, **kwargs):
        network = original(*args, **kwargs)
        with torch.no_grad():
            network[-1].weight[:] = torch.from_numpy((cox.coef_ * X.std(axis=0)).astype(np.float32))
        return network

    networks.build_network = cox_network
    try:
        deep.fit(X, y)
    finally:
        networks.build_network = original
    assert deep.predict_curves(X).survival == pytest.approx(cox.predict_curves(X).survival, abs=1e-4)
    assert deep.predict(X) == pytest.approx(cox.predict(X), abs=1e-3)


@pytest.mark.parametrize("model", [DeepSurv(random_state=0), DeepHit(random_state=0)], ids=["DeepSurv", "DeepHit"])
def test_mean_curve_is_near_kaplan_meier(model):
    X, y = cohort(3000)
    times = np.array([1.0, 3.0, 6.0, 9.0])
    mean = model.set_params(epochs=25).fit(X, y).predict_curves(X, times).survival.mean(axis=0)
    km = ly.models.KaplanMeier().fit(X, y).predict_curves(X[:1], times).survival[0]
    # Kaplan–Meier's standard error is below 0.013 here; DeepHit's bins and ranking loss cost it some calibration
    assert mean == pytest.approx(km, abs=0.03 if isinstance(model, DeepSurv) else 0.12)


def test_deephit_curves_are_straight_between_bins_and_sum_to_its_masses():
    X, y = cohort(200)
    model = DeepHit(bins=6, **SMALL).fit(X, y)
    logits = np.concatenate([model._outputs(X[:1])[0], [0.0]])
    mass = np.exp(logits) / np.exp(logits).sum()
    at_cuts = model.predict_curves(X[:1]).survival[0]
    assert at_cuts[1:] == pytest.approx(1 - np.cumsum(mass[:-1])[1:], abs=1e-9)
    middle = (model.cuts_[2] + model.cuts_[3]) / 2
    assert model.predict_curves(X[:1], [middle]).survival[0, 0] == pytest.approx((at_cuts[2] + at_cuts[3]) / 2)


def test_network_is_what_table_a2_says():
    from lifeyears.models.deep.networks import Dropout, build_network

    layers = build_network(5, (64, 32), 30, dropout=0.5, batch_norm=True, bias=True)
    kinds = [type(layer).__name__ for layer in layers]
    assert kinds == ["Linear", "ReLU", "BatchNorm1d", "Dropout", "Linear", "ReLU", "BatchNorm1d", "Dropout", "Linear"]
    dropped = Dropout(0.4).train()(torch.ones(200_000))
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.01)
    assert float((dropped == 0).float().mean()) == pytest.approx(0.4, abs=0.01)
    assert (Dropout(0.4).eval()(torch.ones(5)) == 1).all()


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_validation_share_is_what_was_asked_for(share):
    _, y = cohort(1000)
    training, held_out = DeepSurv(validation_fraction=share)._split(y, np.random.RandomState(0))
    assert len(held_out) == pytest.approx(1000 * share, abs=2)
    assert not set(training) & set(held_out)
    assert y.event[held_out].mean() == pytest.approx(y.event.mean(), abs=0.01)


def test_weight_decay_shrinks_the_weights():
    X, y = cohort(300)
    sizes = [
        float(DeepSurv(weight_decay=decay, **SMALL).fit(X, y).network_[0].weight.detach().norm())
        for decay in (0.0, 1.0)
    ]
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("bad", [{"bins": 1}, {"alpha": 2.0}, {"sigma": 0.0}])
def test_bad_settings_of_deephit(bad):
    X, y = cohort(60)
    with pytest.raises(ValueError, match=next(iter(bad))):
        DeepHit(**bad).fit(X, y)


def test_divergence_says_so():
    X, y = cohort(300)
    with pytest.raises(RuntimeError, match="lower value with learning_rate="):
        DeepSurv(learning_rate=1e30, epochs=5, random_state=0).fit(X, y)


def test_without_torch_the_deep_models_say_what_to_install():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import lifeyears as ly\n"
        "ly.models.Cox().fit([[0.0], [1.0], [2.0]], ([1, 1, 1], [1.0, 2.0, 3.0]))\n"
        "try: ly.models.DeepSurv().fit([[0.0], [1.0]], ([1, 1], [1.0, 2.0]))\n"
        "except ImportError as error: print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert 'pip install "lifeyears[deep]"' in out
