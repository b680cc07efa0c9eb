"""Methods of another distribution, installed with pip into a fresh environment and found by their entry points."""

import html
import json
import os
import re
import subprocess
import sys
import textwrap
import time
import urllib.request
import venv
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import hand

pytestmark = pytest.mark.slow


# without the tree's own sources: what is installed is what is tried
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def run(*command, **kwargs):
    words = [str(part) for part in command]
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, **kwargs)
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


COLUMNS = ["cohort.csv", "--time", "years", "--event", "died", "--unit", "years", "--horizon", "8"]
ARMS = ["ToyExponential", "ToyExponential + ToyReversed"]


@pytest.fixture(scope="module")
def compared(place):
    """What `compare` prints with two workers, and the folder of its run.

    A list of 32 candidates out of a fold of 40 always has both groups, so that its best has a relevance of 8 and its
    worst of 2. By doubly robust estimates too: nobody of group 1 dies before 8.
    """
    options = ["--models", "ToyExponential", "--methods", "ToyReversed", "--folds", "3", "--waitlist", "32"]
    out = run(
        *(place / "env" / "bin" / "lifeyears", "compare", *COLUMNS, *options, "--jobs", "2", "--quiet", "--out", "run"),
        cwd=place,
    )
    return out, place / "run"


def cells(out, heading):
    """The rows of a printed table below a title that begins so: the label of the arm, and the cells behind it."""
    after = out[out.index(heading) :].splitlines()
    rows = [re.split(r"\s{2,}", line.strip()) for line in after[1:]]
    return {row[0]: row[1:] for row in rows[:7] if row[0] in ARMS}


def test_compare_prints_the_values_of_the_hand(compared):
    out, _ = compared
    model, reverse = "8.00 (8.00 to 8.00)", "2.00 (2.00 to 2.00)"
    assert (hand.TOP_BY_MODEL, hand.TOP_BY_REVERSED) == (8, 2)
    assert "years per allocation by ToyOptimist" in out
    assert cells(out, "cohort, full") == {
        ARMS[0]: [model, "–", "8.00", "1.000"],
        ARMS[1]: [reverse, "−6.00 (−6.00 to −6.00)", "2.00", "0.000"],
    }
    assert cells(out, "Registered metrics") == {
        ARMS[0]: ["toy_top", "DR", model, "–"],
        ARMS[1]: ["toy_top", "DR", reverse, "−6.00 (−6.00 to −6.00)"],
    }


def test_the_manifest_names_their_distribution_and_version(compared):
    methods = json.loads((compared[1] / "manifest.json").read_text())["methods"]
    for kind in ("models", "estimators", "rankers", "metrics"):
        origin = methods[kind][KEYS[kind]]
        assert (origin["distribution"], origin["version"]) == ("lifeyears-toys", "0.7.0"), kind


def test_the_report_shows_them(compared):
    page = html.unescape((compared[1] / "report.html").read_text())
    for shown in (*ARMS, "Registered metrics", "toy_top", "years per allocation by ToyOptimist", "8.00 (8.00 to 8.00)"):
        assert shown in page, shown


@pytest.fixture(scope="module")
def model(place):
    """The folder that `fit` writes."""
    options = ["--model", "ToyExponential", "--method", "none", "--quiet", "--out", "model"]
    run(place / "env" / "bin" / "lifeyears", "fit", *COLUMNS, *options, cwd=place)
    return place / "model"


def test_a_new_process_reloads_the_model_to_the_bit(place, model):
    # the process that fits is not the one that loads; a third one loads what the second has written
    code = """
        table = hand.cohort()
        model = ly.load({path!r})
        X = table[["group"]]
        ly.save(model, "again", overwrite=True)
        print(json.dumps({{
            "rates": model.base_.rates_.tobytes().hex(),
            "scores": model.predict(X).tobytes().hex(),
            "life": sorted(set(model.base_.predict(model.preprocessor_.transform(X)).tolist())),
            "base": [type(model.base).__module__, model.base.tau],
        }}))
        """
    first, again = (python(place, code.format(path=path)) for path in (str(model), "again"))
    assert first == again
    assert first["life"] == pytest.approx(sorted(hand.EXPECTED_LIFE.values()))
    assert first["base"] == ["lifeyears_toys.model", hand.TAU]
    in_fitting_process = python(
        place,
        """
        from lifeyears.scoring import fit_model
        table = hand.cohort()
        data = ly.data.read_table("cohort.csv", time="years", event="died", unit="years", horizon=8.0)
        model = fit_model(data, model="ToyExponential", method="none")
        before = model.ranker.predict(table[["group"]]).tobytes().hex()
        model.save("fitted")
        print(json.dumps(before))
        """,
    )
    assert in_fitting_process == python(
        place,
        """
        print(json.dumps(ly.load("fitted").predict(hand.cohort()[["group"]]).tobytes().hex()))
        """,
    )
    assert in_fitting_process == first["scores"]


@pytest.fixture(scope="module")
def service(place, model, compared):
    """The address of `lifeyears serve` with the model and the run."""
    command = [place / "env" / "bin" / "lifeyears", "serve", "--model", model, "--run", compared[1], "--port", "0"]
    words, errors = [str(part) for part in command], place / "serve.err"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=stderr, text=True, env=ENVIRONMENT) as server,
    ):
        try:
            found = next(filter(None, (re.search(r"http://[\w.:]+", line) for line in server.stdout)), None)
            assert found, errors.read_text()
            yield found[0]
        finally:
            server.terminate()


def ask(address, path, content=None):
    body = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address + path, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def test_the_service_describes_and_ranks_with_the_saved_model(place, service):
    described = ask(service, "/api/model")
    assert described["card"]["model"]["label"] == "ToyExponential"
    ranked = ask(service, "/api/rank", {"candidates": [{"group": 0}, {"group": 1}, {"group": 0}]})["ranked"]
    scores = python(
        place,
        """
        import pandas as pd
        print(json.dumps(ly.load("model").predict(pd.DataFrame({"group": [1, 0, 0]})).tolist()))
        """,
    )
    assert [each["row"] for each in ranked] == [1, 0, 2]
    assert [each["years"] for each in ranked] == pytest.approx(scores)
    assert ARMS[1] in json.dumps(ask(service, "/api/run"))


def test_the_page_shows_the_model_the_run_and_the_policy(browser, service):
    context = browser.new_context(base_url=service)
    page = context.new_page()
    page.goto("/")
    page.get_by_text("ToyExponential, cohort").first.wait_for(state="attached")
    page.get_by_role("link", name="Compare").click()
    page.locator("#compare").get_by_text(ARMS[1]).first.wait_for(state="attached")
    page.get_by_role("link", name="Policy lab").click()
    page.locator("#policies").get_by_text("toy_youngest").wait_for()
    context.close()


def test_the_service_offers_and_simulates_the_policy(service):
    assert "toy_youngest" in [each["policy"] for each in ask(service, "/api/policies")["policies"]]
    settings = {"policies": ["us_status", "toy_youngest"], "years": 1, "replicates": 1, "scale": 0.05}
    job = ask(service, "/api/simulations", settings)
    until = time.monotonic() + 240
    while job["state"] in ("waiting", "running") and time.monotonic() < until:
        time.sleep(0.5)
        job = ask(service, f"/api/simulations/{job['id']}")
    assert job["state"] == "done", job
    assert list(job["result"]["policies"]) == ["us_status", "toy_youngest"]


def test_simulate_shows_the_policy(place):
    options = ["--policies", "us_status,toy_youngest", "--years", "0.2", "--replicates", "1", "--jobs", "1"]
    out = run(place / "env" / "bin" / "lifeyears", "simulate", *options, "--quiet", "--out", "simulated", cwd=place)
    assert re.search(r"^\s*toy_youngest\s+\d", out, re.MULTILINE)
    assert "toy_youngest" in (place / "simulated" / "report.html").read_text()
    printed = json.loads((place / "simulated" / "summary.json").read_text())["policies"]["toy_youngest"]
    by_hand = python(
        place,
        """
        youngest = ly.simulation.Composite(weights={"age": -1}, name="by hand")
        result = ly.simulation.simulate([youngest, "toy_youngest"], years=0.2, replicates=1, n_jobs=1)
        groups = result.by_group["value"]
        assert groups.loc["by hand"].equals(groups.loc["toy_youngest"])
        assert groups.notna().any()
        print(json.dumps(result.summary()["policies"]))
        """,
    )
    assert by_hand["toy_youngest"] == by_hand["by hand"] == printed
