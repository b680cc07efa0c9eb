"""What the report says, without a browser."""

import base64
import hashlib
import json
import re

import pytest

from lifeyears.cli import run as command
from lifeyears.report import Summary, as_html, as_html_beside, check_summary, read_summary, static_text, write_report
from lifeyears.report._answer import describe_answer, join_names
from lifeyears.report._methods import TRIPOD


def without_bundle(text):
    return text.replace(static_text("plotly-basic.min.js"), "")


def words(text):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text.split("<main>")[1].split("</main>")[0]))


def test_every_command_that_runs_writes_it(demo):
    text = (demo / "report.html").read_text()
    assert text == as_html(read_summary(demo))  # from summary.json alone, and the same each time
    assert len(text.encode()) < 3_000_000


def test_it_asks_for_nothing_and_lets_nothing_in(demo):
    text = (demo / "report.html").read_text()
    own = without_bundle(text)
    assert not re.findall(r'(?:src|href|action)="(?!#|data:,)[^"]*"', own)
    assert "http://" not in own
    assert "https://" not in own
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    for kind, directive in (("script", "script-src"), ("style", "style-src-elem")):
        allowed = re.search(rf"{directive} ([^;]*)", policy).group(1)
        for content in re.findall(rf"<{kind}>(.*?)</{kind}>", text, flags=re.DOTALL):
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in allowed
            assert "unsafe-inline" not in allowed


def test_the_bundle_is_the_one_that_was_published():
    digest = hashlib.sha256(static_text("plotly-basic.min.js").encode()).hexdigest()
    assert digest == "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"  # npm, 4.1.1
    assert "MIT License" in static_text("plotly-basic.LICENSE.txt")


def test_nothing_significant_is_said(tiny):
    first, second = describe_answer(tiny.summary)
    assert first == "The evidence is not enough to prefer any model to another."
    assert "no difference from the other 3 is beyond chance" in second
    assert "Not enough" in tiny.text
    assert "Use " not in first


def test_a_run_with_one_model(one_model):
    answer = one_model.summary["answer"]
    assert {answer["best"], answer["next"]["arm"]} == {"Cox standard", "Cox ranker"}
    assert answer["best"] in words(one_model.text)
    content = json.loads(json.dumps(one_model.summary.content))  # and with one arm only
    for name in ("years", "audit", "calibration_by_arm"):
        content["tables"][name]["data"] = content["tables"][name]["data"][:1]
    content["tables"]["comparison"]["data"] = []
    content["answer"] |= {"best": "Cox standard", "next": None, "base": None, "alike": []}
    content["best"] = "Cox standard"
    content["audit"] |= {"by_c_index": "Cox standard", "same": True, "cost": None, "spearman": None}
    text = as_html(Summary(check_summary(content)))
    assert "With nothing to compare, there is nothing to choose." in text


def test_no_support_is_the_first_thing_said(unsupported):
    assert unsupported.summary["support"]["violated"]
    said = words(unsupported.text)
    warning, answer = (
        said.index("Warning: No support at 10 years."),
        said.index(describe_answer(unsupported.summary)[0]),
    )
    assert warning < answer
    assert said.index("The answer") < warning < said.index("The decision audit")
    assert re.search(r"Use a shorter horizon: [0-9.]+ years is supported", said)
    assert "Read the warning above" in said
    assert "evidence for the best No support" in said
    content = json.loads(json.dumps(unsupported.summary.content))
    content["answer"]["alike"] = []
    assert describe_answer(Summary(content))[0].startswith("By estimates that lack support")


def test_evidence_that_is_enough_names_the_model(demo):
    content = json.loads((demo / "summary.json").read_text())
    content["answer"] |= {"best": "Cox ranker", "alike": []}
    content["answer"]["next"] |= {"arm": "AFT standard", "gain": 1.25, "low": 0.5, "high": 2.0, "enough": True}
    first, second = describe_answer(Summary(check_summary(content)))
    assert first == "Use Cox ranker: the Cox model with the paper's ranker on top."
    assert "1.25 (0.50 to 2.00) more than the next best, AFT standard" in second
    assert "better than each of the other" in second
    assert "Models are held fixed in this" in second  # patients were resampled, training sets were not
    over_folds = Summary(check_summary(content | {"intervals": "corrected resampled t over folds"}))
    assert "held fixed" not in describe_answer(over_folds)[1]
    content["answer"]["alike"] = ["KM ranker"]  # the next best is beaten, another is not: that is not enough
    first, second = describe_answer(Summary(check_summary(content)))
    assert first == "Cox ranker gives the most, but the evidence is not enough to prefer it to KM ranker."
    arms = {f"{row[0]} {row[1]}" for row in content["tables"]["audit"]["data"]} - {"Cox ranker"}
    content["answer"]["alike"] = sorted(arms - {"KM standard"})
    assert "It is better than KM standard by more than chance" in describe_answer(Summary(check_summary(content)))[1]


def test_what_choosing_by_c_index_costs_has_one_sign(demo):
    content = json.loads((demo / "summary.json").read_text())
    cost = {"arm": "AFT ranker", "gain": 0.69, "low": -0.72, "high": 2.1, "p": 0.3, "enough": False}
    content["audit"] |= {"by_c_index": "AFT ranker", "same": False, "cost": cost}
    content["answer"]["alike"] = ["AFT ranker"]
    said = words(as_html(Summary(check_summary(content))))
    assert "choosing by C-index 0.69 years lost, 95% interval −0.72 to 2.10" in said
    assert "costs 0.69 (−0.72 to 2.10) years per allocation; the interval holds 0" in said
    cost |= {"low": 0.01, "p": 0.04, "enough": True}
    assert "corrected for the number of comparisons, that may be chance" in as_html(Summary(check_summary(content)))
    content["answer"]["alike"] = []
    assert "years per allocation, more than chance." in as_html(Summary(check_summary(content)))


def test_models_that_rank_nobody_do_not_squeeze_the_chart(demo):
    summary = read_summary(demo)
    chart = summary.charts["audit"]
    assert "KM standard" not in {series.name for series in chart.series}
    table = summary.tables["audit"]
    flat = table[(table["model"] == "KM") & (table["framework"] == "standard")].iloc[0]
    told = f"KM standard (C-index 0.5, {flat['years']:.2f} years)"
    assert f"Left out, since they rank nobody: {told}" in words(as_html(summary))
    assert f"KM standard 0.500, {flat['years']:.2f}" in chart.alt


def test_a_tight_bound_is_not_told_as_one_number(demo):
    content = json.loads((demo / "summary.json").read_text())
    table = content["tables"]["audit"]
    for row in table["data"]:
        for column, value in (("bound", 0.9788), ("bound low", 0.9755), ("bound high", 0.982)):
            row[table["columns"].index(column)] = value
    assert "gains at least 97.9% (97.5 to 98.2) of the best possible utility" in words(as_html(Summary(content)))


def test_what_is_not_known_is_left_open(demo):
    """Units of an older version lack NDCG over waitlists: the page has no bound, and says the rest."""
    content = json.loads((demo / "summary.json").read_text())
    for name, columns in (
        ("audit", ("bound", "bound low", "bound high", "p")),
        ("years", ("waitlist NDCG", "NDCG low")),
    ):
        table = content["tables"][name]
        for row in table["data"]:
            for column in columns:
                row[table["columns"].index(column)] = None
    text = as_html(Summary(check_summary(content)))
    assert "The plug-in bound: with NDCG" not in text
    assert "nan" not in words(text).lower().split()


def test_names_in_a_sentence():
    assert join_names(["a"]) == "a"
    assert join_names(["a", "b"]) == "a or b"
    assert join_names(list("abcdef")) == "a, b, c and 3 more"


def test_checklist_has_every_item_of_tripod_ai():
    numbers = {int(found) for item, *_ in TRIPOD for found in re.findall(r"\d+", item)}
    assert numbers == set(range(1, 28))


def test_summaries_of_other_schemas_are_refused_with_advice(demo, tmp_path, capsys):
    content = json.loads((demo / "summary.json").read_text())
    for schema, advice in ((1, "Run the same command with the same"), (99, "Upgrade lifeyears")):
        (tmp_path / "summary.json").write_text(json.dumps({**content, "schema": schema}))
        assert command(["report", str(tmp_path)]) == 2
        assert advice in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("answer"), "lacks the field 'answer'"),
        (lambda c: c["answer"].pop("next"), "'answer' lacks next"),
        (lambda c: c["tables"].pop("years"), "lacks the tables years"),
        (lambda c: c["tables"]["years"]["data"][0].append(1), "do not fit its columns"),
        (lambda c: c.update(warnings={}), "'warnings' is a dict"),
        (lambda c: c.pop("schema"), "not the summary of a run"),
    ],
)
def test_a_broken_summary_is_named(demo, change, message):
    content = json.loads((demo / "summary.json").read_text())
    change(content)
    with pytest.raises(ValueError, match=message):
        check_summary(content)


def test_the_command(demo, one_model, tmp_path, capsys):
    assert command(["report", str(demo), "--out", str(tmp_path / "mine.html")]) == 0
    assert (tmp_path / "mine.html").read_text() == (demo / "report.html").read_text()
    assert "mine.html" in capsys.readouterr().out
    assert command(["report", str(demo), str(one_model.folder), "--out", str(tmp_path / "both.html")]) == 0
    for arguments, message in (
        (["nowhere"], "no folder nowhere"),
        ([str(tmp_path)], "no finished run"),
    ):
        assert command(["report", *arguments]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "manifest.json").write_text("{}")
    assert command(["report", str(tmp_path / "begun")]) == 2
    assert "not finished" in capsys.readouterr().err


def test_its_help_has_an_example(capsys):
    assert command(["report", "--help"]) == 0
    assert "lifeyears report lifeyears-demo" in capsys.readouterr().out


def test_a_folder_of_runs_gets_a_report_each(demo, tmp_path, capsys):
    for name in ("artificial", "full"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.json").write_bytes((demo / "summary.json").read_bytes())
    assert command(["report", str(tmp_path)]) == 0
    assert (tmp_path / "artificial" / "report.html").exists()
    assert (tmp_path / "full" / "report.html").exists()
    assert command(["report", str(tmp_path), "--out", "x.html"]) == 2
    assert "several runs" in capsys.readouterr().err


def test_two_equal_runs_have_nothing_changed(demo):
    summary = read_summary(demo)
    text = as_html_beside(summary, summary)
    assert "Settings and data are the same." in text
    assert "Levels are not comparable" not in text


def test_runs_in_other_units_are_not_subtracted(demo):
    first, second = read_summary(demo), json.loads((demo / "summary.json").read_text())
    second["data"]["unit"] = "days"
    text = as_html_beside(first, Summary(check_summary(second)))
    assert "horizon: 20 years and 20 days" in text
    assert 'data-chart="beside"' not in text
    assert set(re.findall(r'<td class="number">(.*?)</td>', text.split('data-name="beside"')[1])) >= {"–"}


def test_settings_are_told_as_they_were(demo):
    text = (demo / "report.html").read_text()
    plan = read_summary(demo)["plan"]
    said = words(text)
    for name in ("epochs", "waitlist", "seed", "tau"):
        assert f"{name} {plan[name]}" in said


@pytest.mark.slow
def test_a_million_rows_fit_in_three_megabytes(tmp_path):
    """Fitted, judged and reported; the page is as large as its tables, whatever the rows."""
    import numpy as np
    import pandas as pd

    import lifeyears as ly

    rng, n = np.random.default_rng(0), 1_000_000
    X = pd.DataFrame({"age": rng.normal(50, 12, n), "sex": pd.Categorical(rng.choice(["f", "m"], n))})
    life, end = 12 * rng.weibull(1.3, n) * np.exp(-0.03 * (X["age"].to_numpy() - 50)), rng.uniform(0.5, 20, n)
    data = ly.data.Dataset(X, ly.Outcome(np.minimum(life, end), life <= end), "a million", entry=2020 - end)
    options = {"iterations": 1, "folds": 2, "models": ("Cox",), "default_over": (), "tau": 10.0}
    ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **options)
    assert write_report(tmp_path / "run").stat().st_size < 3_000_000


@pytest.mark.parametrize(
    ("out", "file"), [("there", "there/report.html"), ("new", "new/report.html"), ("one.html", "one.html")]
)
def test_out_is_a_folder_or_a_page(demo, tmp_path, capsys, out, file):
    (tmp_path / "there").mkdir()
    assert command(["report", str(demo), "--out", str(tmp_path / out)]) == 0
    assert (tmp_path / file).read_text() == as_html(read_summary(demo))
    assert str(tmp_path / file) in capsys.readouterr().out


def test_settings_that_mean_nothing_in_a_run_are_left_out(tiny):
    table = tiny.text.split('data-name="settings"')[1].split("</table>")[0]
    for name in ("censored_share", "censoring", "epochs"):  # the data as they are, and no deep model
        assert name in tiny.summary["plan"]
        assert f">{name}<" not in table
    assert ">folds<" in table


def test_ipcw_beyond_the_horizon_is_called_impossible(unsupported):
    content = json.loads(json.dumps(unsupported.summary.content))
    table = content["tables"]["years"]
    table["data"][1][table["columns"].index("years by IPCW")] = 54.0  # within 10 years
    said = words(as_html(Summary(check_summary(content))))
    arm = f"{table['data'][1][0]} {table['data'][1][1]}"
    assert f"Impossible, since above the horizon of 10 years: {arm} (54.00)" in said
    assert "far off either way" in said
    assert "far too low" not in said


def test_two_units_are_told_apart_side_by_side(demo):
    first = read_summary(demo)
    second = json.loads(json.dumps(first.content))
    second["data"]["unit"] = "days"
    text = as_html_beside(first, Summary(check_summary(second), "other"))
    assert "Per allocation: years and days" in text
    head = text.split('data-name="beside"')[1].split("</thead>")[0]
    assert ", years<" in head
    assert ", days<" in head


def test_a_model_keeps_its_colour(demo):
    charts = read_summary(demo).charts
    audit = {series.name: series.colour for series in charts["audit"].series}
    for model in ("Cox", "AFT"):
        own = {series.name: series.colour for series in charts[f"calibration {model}"].series}
        assert own["standard"] == audit[f"{model} standard"]
        assert set(own.values()) - {own["standard"]} <= {5, 6}  # which no model has
