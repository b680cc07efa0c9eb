"""Methods of another distribution, installed with pip into a fresh environment and found by their entry points."""

import json
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import hand

pytestmark = pytest.mark.slow


def run(*command, **kwargs):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A fresh environment with Lifeyears and the toys, and the cohort as a file."""
    place = tmp_path_factory.mktemp("plugin")
    venv.create(place / "env", with_pip=True)
    pip = [place / "env" / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--constraint", ROOT / "constraints.txt", f"{ROOT}[app]", HERE)
    hand.cohort().to_csv(place / "cohort.csv", index=False)
    return place


def python(place, code):
    """Run code in a new process of the environment, with the hand's values at hand; return what it prints as JSON."""
    before = f"import sys; sys.path.insert(0, {str(HERE)!r}); import hand, json, lifeyears as ly, numpy as np\n"
    out = run(place / "env" / "bin" / "python", "-c", before + textwrap.dedent(code), cwd=place)
    return json.loads(out)


KEYS = {
    "models": "ToyExponential",
    "estimators": "ToyOptimist",
    "rankers": "ToyReversed",
    "metrics": "toy_top",
    "policies": "toy_youngest",
}


def test_the_catalogue_lists_them_with_their_distribution(place):
    origins = python(
        place,
        f"""
        print(json.dumps({{kind: getattr(ly.catalogue, kind)[key].origin() for kind, key in {KEYS!r}.items()}}))
        """,
    )
    for kind, origin in origins.items():
        assert (origin["distribution"], origin["version"]) == ("lifeyears-toys", "0.7.0"), kind


def test_they_work_in_python_by_their_keys(place):
    values = python(
        place,
        """
        table = hand.cohort()
        X, y = table[["group"]], ly.as_outcome((table["died"], table["years"]))
        model = ly.models.wrap(ly.catalogue.models["ToyExponential"].build(tau=hand.TAU)).fit(X, y)
        reverse = ly.catalogue.rankers["ToyReversed"].build(model, tau=hand.TAU).fit(X, y)
        relevance = ly.relevance.cross_fit(ly.catalogue.estimators["ToyOptimist"].build(tau=hand.TAU), X, y)
        top = ly.catalogue.metrics["toy_top"].load()
        assert ly.catalogue.models.find(model).key == "ToyExponential"
        print(json.dumps({
            "life": dict(zip(map(str, table["group"]), model.predict(X))),
            "tops": [top(relevance, each.predict(X)) for each in (model, reverse)],
        }))
        """,
    )
    assert values["life"] == pytest.approx({str(group): life for group, life in hand.EXPECTED_LIFE.items()})
    assert values["tops"] == [hand.TOP_BY_MODEL, hand.TOP_BY_REVERSED]
