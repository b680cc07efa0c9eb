"""Saved models: the same predictions to the bit, in another process; anything changed is refused."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import lifeyears as ly
from lifeyears.allocation import DonorTypeRanker, LifeYearsGained
from lifeyears.errors import ModelFileError


@pytest.fixture(scope="module")
def cohort():
    d = ly.data.simulate_registry(n=400, random_state=3)
    return d.X, d.y, ly.data.TablePreprocessor().fit_transform(d.X)


SMALL = {"n_estimators": 8, "random_state": 0, "n_jobs": 1}


def stacked(base):
    return ly.StackedRanker(base, 10, members=ly.ranking.make_members(n_estimators=8), random_state=0, n_jobs=1)


MODELS = {
    "km": lambda: ly.models.KaplanMeier(tau=10),
    "cox": lambda: ly.models.Cox(alpha=5.0, tau=10),
    "aft": lambda: ly.models.WeibullAFT(tau=10),
    "deepsurv": lambda: ly.models.DeepSurv(epochs=2, hidden=(8,), tau=10, random_state=0),
    "deephit": lambda: ly.models.DeepHit(epochs=2, hidden=(8,), tau=10, random_state=0),
    "paper": lambda: ly.BootstrappedRanker(ly.models.Cox(alpha=5.0), tau=10, **SMALL),
    "default": lambda: stacked(ly.models.Cox(alpha=5.0)),
    "mlp": lambda: ly.BootstrappedRanker(ly.models.KaplanMeier(), tau=10, second_stage="mlp", **SMALL),
}


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_the_same_to_the_bit(name, cohort, tmp_path):
    _, y, matrix = cohort
    model = MODELS[name]().fit(matrix, y)
    again = ly.load(ly.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(matrix), model.predict(matrix))
    np.testing.assert_array_equal(again.predict_curves(matrix[:5]).survival, model.predict_curves(matrix[:5]).survival)
    assert again.get_params()["tau"] == 10


@pytest.mark.parametrize("name", ["km", "cox", "aft", "paper", "default"])
def test_a_patient_has_the_same_years_in_any_company(name, cohort):
    _, y, matrix = cohort
    model = MODELS[name]().fit(matrix, y)
    years = model.predict(matrix)
    for rows in (slice(7, 8), slice(3, 398), slice(None, None, 3)):
        np.testing.assert_array_equal(model.predict(matrix[rows]), years[rows])
        alone = model.predict_curves(matrix[rows]).survival
        np.testing.assert_array_equal(alone, model.predict_curves(matrix).survival[rows])


@pytest.mark.parametrize("kind", ["ranker", "by donor type"])
def test_in_another_process(kind, cohort, tmp_path):
    X, y, _ = cohort
    ranker = stacked(ly.models.Cox(alpha=5.0))
    model = (ranker if kind == "ranker" else DONOR_TYPES["k-means"]().set_params(random_state=0)).fit(X, y)
    ly.save(model, tmp_path / "model")
    X.to_pickle(tmp_path / "X.pkl")  # the test's own table, not the model
    code = (
        "import sys, numpy as np, pandas as pd, lifeyears as ly\n"
        "model = ly.load(sys.argv[1] + '/model')\n"
        "np.save(sys.argv[1] + '/said.npy', model.predict(pd.read_pickle(sys.argv[1] + '/X.pkl')))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "said.npy"), model.predict(X))


DONOR_TYPES = {
    "k-means": lambda: DonorTypeRanker(ly.models.Cox(alpha=5.0), n_types=3, min_events=5, prior=20, tau=10),
    "a column": lambda: DonorTypeRanker(ly.models.Cox(alpha=5.0), types="donor_blood_group", prior=np.inf, tau=10),
    "an array": lambda: DonorTypeRanker(ly.models.WeibullAFT(), types=np.arange(400) % 2, prior=0, tau=10),
    "rankers": lambda: DonorTypeRanker(
        ly.BootstrappedRanker(ly.models.Cox(alpha=5.0), **SMALL), n_types=2, prior=50, tau=10
    ),
}


@pytest.mark.parametrize("name", DONOR_TYPES)
def test_a_ranker_by_donor_type(name, cohort, tmp_path):
    X, y, _ = cohort
    model = DONOR_TYPES[name]().set_params(random_state=0).fit(X, y)
    again = ly.load(ly.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.scores(X), model.scores(X))
    donors = model.types_ if name == "an array" else X
    np.testing.assert_array_equal(again.lookup(donors), model.lookup(donors))
    pd.testing.assert_frame_equal(again.report_, model.report_, check_exact=True)
    pd.testing.assert_frame_equal(again.representatives_, model.representatives_, check_exact=True)
    assert again.prior_ == model.prior_


def test_donor_types_told_by_a_function_are_refused(cohort, tmp_path):
    X, y, _ = cohort
    model = DonorTypeRanker(
        ly.models.Cox(alpha=5.0), types=lambda donors: donors["donor_age"] > 40, prior=np.inf, tau=10
    )
    with pytest.raises(
        TypeError, match=r"DonorTypeRanker\.types holds a function, which .* cannot save without pickle"
    ):
        ly.save(model.fit(X, y), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kind", ["model", "by donor type"])
def test_life_years_gained(kind, cohort, tmp_path):
    X, y, _ = cohort
    given = ly.models.Cox(alpha=5.0) if kind == "model" else DONOR_TYPES["k-means"]().set_params(random_state=0)
    few = X[["age", "creatinine", "status"]]
    model = LifeYearsGained(given, tau=10, random_state=0).fit(X, y, few, (y.event, y.time / 3))
    again = ly.load(ly.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if kind == "by donor type":
        np.testing.assert_array_equal(again.scores(X), model.scores(X))


def test_a_pipeline(cohort, tmp_path):
    X, y, _ = cohort
    model = make_pipeline(ly.data.TablePreprocessor(), ly.models.Cox(alpha=5.0, tau=10)).fit(X, y)
    again = ly.load(ly.save(model, tmp_path / "pipeline"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert list(again.named_steps) == list(model.named_steps)


@pytest.fixture(scope="module")
def saved(cohort, tmp_path_factory):
    X, y, _ = cohort
    model = ly.BootstrappedRanker(ly.models.Cox(alpha=5.0), tau=10, **SMALL).fit(X, y)
    return ly.save(model, tmp_path_factory.mktemp("saved") / "model")


def test_nothing_in_it_is_a_pickle(saved):
    with zipfile.ZipFile(saved / "arrays.npz") as arrays:
        for name in arrays.namelist():
            array = np.lib.format.read_array(arrays.open(name), allow_pickle=False)  # raises on an object array
            assert array.dtype != object
    assert {path.suffix for path in saved.iterdir()} == {".json", ".npz", ".txt", ""}
    for path in saved.iterdir():
        assert not path.read_bytes().startswith(b"\x80")  # a pickle's first byte


@pytest.fixture(scope="module")
def saved_by_type(cohort, tmp_path_factory):
    X, y, _ = cohort
    model = DONOR_TYPES["k-means"]().set_params(random_state=0).fit(X, y)
    return ly.save(model, tmp_path_factory.mktemp("saved") / "model")


@pytest.mark.parametrize("which", ["saved", "saved_by_type"])
def test_a_thousand_flipped_bits_are_found(which, request, tmp_path):
    saved = request.getfixturevalue(which)
    rng = np.random.default_rng(0)
    files = sorted(saved.iterdir())
    sizes = np.array([path.stat().st_size for path in files])
    for path in files:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for trial in range(1000):
        # every other trial in one of the small files, which a draw by size would hardly touch
        file = files[rng.choice(len(files), p=None if trial % 2 else sizes / sizes.sum())]
        data = bytearray(file.read_bytes())
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        (tmp_path / file.name).write_bytes(data)
        with pytest.raises(ModelFileError):
            ly.load(tmp_path)
        (tmp_path / file.name).write_bytes(file.read_bytes())
    ly.load(tmp_path)


def rewritten(saved, folder, change):
    """A copy whose model.json is changed and whose checksums fit: a forger's file."""
    import hashlib

    folder.mkdir()
    content = json.loads((saved / "model.json").read_text())
    change(content)
    files = {path.name: path.read_bytes() for path in saved.iterdir() if path.name != "SHA256SUMS"}
    files["model.json"] = json.dumps(content).encode()
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    for name, data in {**files, "SHA256SUMS": sums.encode()}.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(schema=99), "Update lifeyears"),
        (lambda c: c.update(format="other"), "does not hold a model"),
        (lambda c: c.update(model={"class": "os.system", "state": {}}), "does not save"),
        (lambda c: c.update(model={"class": "Cox", "state": {"__class__": "x"}}), "cannot have"),
        (lambda c: c.update(model={"eval": "1"}), "unknown"),
        (lambda c: c.update(model={"array": "missing"}), "not a model"),
        (lambda c: c.pop("model"), "not a model"),
        (lambda c: c.update(model=[1, 2]), "does not hold a model"),
        (lambda c: c.update(model={"class": "BootstrappedRanker", "state": {}}), "leaves out"),
        (lambda c: c["model"]["state"].update(predict=5), "cannot have"),
        (lambda c: c.update(schema=-3), "schema"),
    ],
)
def test_a_forged_file_is_refused(change, words, saved, tmp_path):
    with pytest.raises(ModelFileError, match=words):
        ly.load(rewritten(saved, tmp_path / "forged", change))


def test_other_things_are_refused(saved, tmp_path):
    with pytest.raises(ModelFileError, match="not a folder"):
        ly.load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="SHA256SUMS is missing"):
        ly.load(tmp_path)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        ly.save(ly.load(saved), saved)
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileExistsError, match="not a saved model"):
        ly.save(ly.load(saved), tmp_path / "mine", overwrite=True)
    with pytest.raises(TypeError, match="without pickle"):
        ly.save(ly.models.wrap(lambda X: (np.ones(1), np.ones((len(X), 1)))), tmp_path / "foreign")
    assert not (tmp_path / "foreign").exists()


def test_overwriting_replaces_whole(saved, cohort, tmp_path):
    _, y, matrix = cohort
    ly.save(ly.models.KaplanMeier(tau=10).fit(matrix, y), tmp_path / "m")
    ly.save(ly.models.KaplanMeier(tau=5).fit(matrix, y), tmp_path / "m", overwrite=True)
    assert ly.load(tmp_path / "m").tau_ == 5
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("left_child=1", "left_child=0"),
        ("num_leaves=", "num_leaves=9"),
        ("tree_sizes=", "tree_sizes=7 "),
        ("Tree=0", "Tr"),
    ],
)
def test_forged_trees_are_refused_before_lightgbm_reads_them(old, new, saved):
    from lifeyears.ranking.trees import check_booster_text

    text = (saved / "booster_0.txt").read_text()
    check_booster_text(text)
    assert old in text
    with pytest.raises(ValueError, match="not as LightGBM writes it"):
        check_booster_text(text.replace(old, new, 1))


def test_overwriting_spares_what_is_not_ours(saved, tmp_path):
    model = ly.load(saved)
    folder = ly.save(model, tmp_path / "m")
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match="will not be replaced"):
        ly.save(model, folder, overwrite=True)
    (folder / "thesis.tex").unlink()
    (tmp_path / "current").symlink_to(folder)
    ly.save(model, tmp_path / "current", overwrite=True)
    assert (tmp_path / "current").is_symlink()
    ly.load(tmp_path / "current")


def test_a_file_of_before_a_setting_was_added_is_read_with_its_default(tmp_path):
    table = pd.DataFrame({"sex": ["F", "M", "F"], "age": [50.0, 60.0, 70.0]})
    made = ly.data.TablePreprocessor().fit(table)
    path = ly.save(made, tmp_path / "model")
    older = rewritten(path, tmp_path / "older", lambda content: content["model"]["state"].pop("drop_first"))
    np.testing.assert_array_equal(ly.load(older).transform(table), made.transform(table))


class Halves(ly.models.SurvivalModel):
    """A registered model of another package: half of the largest time for everybody."""

    interpolation = "linear"

    def __init__(self, tau=None):
        self.tau = tau

    def fit(self, X, y, sample_weight=None):
        self.half_ = ly.as_outcome(y).time.max() / 2
        self.tau_, self.n_features_in_ = 2 * self.half_, np.shape(X)[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.half_)

    def predict_curves(self, X, times=None):
        times = np.linspace(0, self.tau_, 5) if times is None else np.asarray(times, dtype=float)
        survival = np.clip(1 - times / self.tau_, 0, 1)
        return ly.SurvivalCurves(times, np.tile(survival, (len(X), 1)), "linear")

    def to_state(self):
        return {"half": self.half_, "columns": self.n_features_in_}

    @classmethod
    def from_state(cls, state):
        if not state["half"] > 0:
            raise ValueError("half must be above 0")
        model = cls()
        model.half_, model.tau_, model.n_features_in_ = state["half"], 2 * state["half"], state["columns"]
        return model


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(ly.catalogue.models, "_specs", dict(ly.catalogue.models.items()))
    return ly.catalogue.models.register("halves", Halves)


def test_a_registered_model_is_saved_by_its_own_state_and_found_by_its_key(registered, tmp_path):
    X = np.zeros((3, 2))
    model = Halves().fit(X, ([1, 1, 0], [1.0, 7.0, 3.0]))
    again = ly.load(ly.save(model, tmp_path / "model"))
    assert type(again) is Halves
    assert again.predict(X).tolist() == [3.5, 3.5, 3.5]


def test_a_registered_model_is_refused_where_it_is_unknown_or_its_state_is_wrong(registered, tmp_path):
    model = Halves().fit(np.zeros((2, 1)), ([1, 1], [1.0, 7.0]))
    folder = ly.save(model, tmp_path / "model")
    del ly.catalogue.models._specs["halves"]
    with pytest.raises(ModelFileError, match="'halves', which is not among the registered models"):
        ly.load(folder)
    ly.catalogue.models.register("halves", Halves)
    model.half_ = -1.0
    with pytest.raises(ModelFileError, match="a state that 'halves' refuses: half must be above 0"):
        ly.load(ly.save(model, tmp_path / "wrong"))


@pytest.fixture
def over_registered(registered):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), (rng.random(60) < 0.7, rng.uniform(1, 8, 60))
    return X, ly.StackedRanker(Halves(tau=8.0), tau=8.0, members=(), random_state=0, n_jobs=1).fit(X, y)


def test_a_ranker_over_a_registered_model_keeps_its_unfitted_base(over_registered, tmp_path):
    X, ranker = over_registered
    again = ly.load(ly.save(ranker, tmp_path / "ranker"))
    assert (type(again.base), again.base.get_params()) == (Halves, {"tau": 8.0})
    assert again.predict(X).tobytes() == ranker.predict(X).tobytes()


def test_parameters_that_a_registered_model_lacks_are_refused(over_registered, tmp_path):
    _, ranker = over_registered
    ranker.base.get_params = lambda deep=True: {"thirds": 3}
    with pytest.raises(ModelFileError, match="parameters that 'halves' refuses"):
        ly.load(ly.save(ranker, tmp_path / "ranker"))


def test_an_unfitted_model_is_built_only_of_a_class_that_can_be_loaded(over_registered, tmp_path, monkeypatch):
    folder = ly.save(over_registered[1], tmp_path / "ranker")
    monkeypatch.delattr(Halves, "from_state")
    with pytest.raises(ModelFileError, match=r"'halves', whose class has no from_state\(\)"):
        ly.load(folder)
