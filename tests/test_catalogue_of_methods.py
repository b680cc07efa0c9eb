import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import lifeyears as ly
from lifeyears.catalogue import Catalogue, MethodSpec
from lifeyears.errors import RequestError


class Constant:
    """A model that predicts one number."""


@pytest.fixture
def models():
    return Catalogue("survival model", "models", "lifeyears.models._specs")


def test_methods_are_listed_in_order_and_found_by_key():
    assert list(ly.catalogue.models)[:5] == ["KM", "Cox", "AFT", "DeepSurv", "DeepHit"]
    assert ly.catalogue.models["Cox"].load() is ly.models.Cox
    assert ly.catalogue.models["AFT"].label == "Weibull AFT"
    assert list(ly.catalogue.estimators)[:3] == ["EY", "IPCW", "DR"]
    assert ly.catalogue.metrics["value"].load() is ly.metrics.policy_value
    assert "us_status" in ly.catalogue.policies


def test_an_unknown_key_names_the_closest():
    with pytest.raises(RequestError, match=r"no survival model 'Coxx' \(did you mean 'Cox'\?\)"):
        ly.catalogue.models["Coxx"]
    with pytest.raises(KeyError):
        ly.catalogue.models["nothing like it"]


def test_registering_adds_a_method_and_protects_ours(models):
    models.register("constant", Constant, label="A constant", saves=False)
    assert list(models)[-1] == "constant"
    assert models["constant"].label == "A constant"
    assert models["constant"].supports == {"saves": False}
    assert models.find(Constant()) is models["constant"]
    models.register("constant", f"{__name__}:Constant")  # ours to change
    with pytest.raises(RequestError, match="cannot be replaced"):
        models.register("Cox", Constant)
    for key in ("", " a", "a,b", "a:b", "../a"):
        with pytest.raises(RequestError, match="cannot be a key"):
            models.register(key, Constant)


def test_a_name_may_be_in_any_case_or_point_to_a_class(models, tmp_path):
    assert models.resolve("cox").key == "Cox"
    assert models.resolve("fractions:Fraction").build(1, 2) == 0.5
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    pass\n")
    spec = models.resolve(f"{file}:Mine")
    assert type(spec.build()).__name__ == "Mine"
    assert spec.origin().keys() == {"factory", "sha256"}
    assert spec.origin()["factory"] == "mine.py:Mine"
    for wrong in (f"{tmp_path}/no.py:Mine", f"{file}:Other", "no.such.module:Thing", "nothing"):
        with pytest.raises(RequestError):
            models.resolve(wrong)


def test_the_origin_names_the_distribution_and_its_version():
    assert ly.catalogue.models["Cox"].origin() == {
        "factory": "lifeyears.models:Cox",
        "distribution": "lifeyears",
        "version": ly.__version__,
    }
    assert ly.catalogue.policies["us_status"].origin()["distribution"] == "lifeyears"


def test_a_spec_travels_to_a_worker(models):
    spec = pickle.loads(pickle.dumps(MethodSpec("half", "One half", "fractions:Fraction")))
    models.adopt(spec)
    assert models["half"].build(1, 2) == 0.5


def test_entry_points_are_read_at_the_first_lookup(tmp_path):
    """A distribution as pip would have installed it: its entry point becomes a key, and clashes are reported."""
    info = tmp_path / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lifeyears.models]\ntoy = fractions:Fraction\nCox = fractions:Fraction\n")
    code = (
        "import warnings, lifeyears as ly\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    assert ly.catalogue.models['toy'].build(1, 2) == 0.5\n"
        "    assert ly.catalogue.models['Cox'].load() is ly.models.Cox\n"
        "assert [str(w.message) for w in caught if 'left out' in str(w.message)]\n"
    )
    source = Path(ly.__file__).parents[1]
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={"PYTHONPATH": f"{source}:{tmp_path}", "PATH": "/usr/bin:/bin"}
    )
