"""What the report contains, without a browser."""

import ast
import base64
import hashlib
import re
from dataclasses import fields, is_dataclass, replace
from html import unescape
from pathlib import Path

import pytest

import lifeyears.report
from lifeyears.cli import run as command
from lifeyears.experiments import read_summary
from lifeyears.experiments.types import Arm, Difference, Estimate, Finding
from lifeyears.report import as_html, as_html_beside, static_text, write_report
from lifeyears.report._checklist import CHECKLIST
from lifeyears.report._run import RunView
from lifeyears.report._sections import SECTIONS

PACKAGE = Path(lifeyears.report.__file__).parent


def without_bundle(text):
    return text.replace(static_text("plotly-basic.min.js"), "")


def words(text):
    main = re.sub(r"<script.*?</script>", " ", text.split("<main>")[1].split("</main>")[0], flags=re.DOTALL)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main)))


def section(text, key):
    return text.split(f'<section id="{key}"')[1].split("</section>")[0]


def edit_table(summary, name, edit):
    """The summary with every row of a table, as a dictionary, changed in place by `edit`."""
    table = summary.tables[name]
    rows = table.records()
    for row in rows:
        edit(row)
    rows = tuple(tuple(row[key] for key in table.keys) for row in rows)
    return replace(summary, tables={**summary.tables, name: replace(table, rows=rows)})


def test_every_command_that_runs_writes_it(demo):
    text = (demo / "report.html").read_text()
    assert text == as_html(read_summary(demo))  # from summary.json alone, and the same each time
    assert len(text.encode()) < 3_000_000


def test_it_loads_nothing_and_lets_nothing_in(demo):
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
        contents = re.findall(rf"<{kind}>(.*?)</{kind}>", text, flags=re.DOTALL)
        assert contents
        for content in contents:
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in allowed
            assert "unsafe-inline" not in allowed


def test_the_bundle_is_the_one_that_was_published():
    digest = hashlib.sha256(static_text("plotly-basic.min.js").encode()).hexdigest()
    assert digest == "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"  # npm, 4.1.1
    assert "MIT License" in static_text("plotly-basic.LICENSE.txt")


def test_markup_is_in_templates_only():
    for path in PACKAGE.glob("*.py"):
        strings = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        markup = [text for text in strings if isinstance(text, str) and re.search(r"</?[a-z]+[ >]", text)]
        assert [text for text in markup if "<extra>" not in text] == [], path  # plotly's template of its labels
    for path in (PACKAGE / "templates").rglob("*.j2"):
        safe = re.findall(r"\|\s*safe|autoescape", path.read_text())
        assert safe == (["|safe"] if path.name == "page.html.j2" else []), path  # the policy, made of constants


def test_every_section_has_a_template_and_every_template_a_section():
    from lifeyears.report._side_by_side import SECTIONS as PAIR
    from lifeyears.report._simulation import SECTIONS as SIMULATION

    used = [section.template for section in (*SECTIONS, *PAIR, *SIMULATION)]
    there = [path.relative_to(PACKAGE / "templates").as_posix() for path in (PACKAGE / "templates").glob("*/*.j2")]
    assert sorted(used) == sorted(there)


def test_view_data_are_frozen():
    from lifeyears.report import _figures, _page, _run, _side_by_side, _simulation, _tables

    for module in (_figures, _page, _run, _side_by_side, _simulation, _tables):
        classes = [value for value in vars(module).values() if isinstance(value, type) and is_dataclass(value)]
        assert classes
        for one in classes:
            assert one.__dataclass_params__.frozen, one
            assert fields(one)


def test_findings_are_shown_in_place_and_word_for_word(demo):
    """Serious ones before the answer, the C-index in the audit, the rest after the answer; no other conclusion."""
    findings = (
        Finding("leaks", "serious", "Read this first", "The outcome leaks."),
        Finding("best_model", "answer", "Use this model", "It is the best one."),
        Finding("some_code", "warning", "Something odd", "A warning text."),
        Finding("other_code", "note", "Something small", "A note text."),
    )
    summary = replace(read_summary(demo), findings=findings)
    text = words(as_html(summary))
    places = [
        text.index(part)
        for part in (
            *("The answer", "Warning: Read this first. The outcome leaks.", "Use this model", "It is the best one."),
            *("Caution: Something odd. A warning text.", "Note: Something small. A note text.", "The decision audit"),
        )
    ]
    assert places == sorted(places)
    assert all(text.count(finding.text) == 1 for finding in findings)


def test_a_finding_of_a_section_is_shown_there(demo):
    summary = read_summary(demo)
    for one in SECTIONS:
        for code in one.findings:
            shown = as_html(replace(summary, findings=(Finding(code, "note", "Its title", "Its own text."),)))
            assert "Its own text." in section(shown, one.key)
            serious = as_html(replace(summary, findings=(Finding(code, "serious", "Its title", "Its own text."),)))
            assert "Its own text." in section(serious, "answer")
            assert "Its own text." not in section(serious, one.key)


def test_every_finding_of_a_run_is_in_its_report(demo, tiny, one_model, unsupported):
    for summary in (read_summary(demo), tiny.summary, one_model.summary, unsupported.summary):
        text = words(as_html(summary))
        assert summary.findings
        for finding in summary.findings:
            assert re.sub(r"\s+", " ", finding.text) in text


def test_lack_of_support_comes_first(unsupported):
    assert unsupported.summary.support.violated
    text = words(unsupported.text)
    serious = unsupported.summary.of_severity("serious")[0]
    answer = unsupported.summary.of_severity("answer")[0]
    assert text.index("The answer") < text.index(serious.text) < text.index(answer.text)
    assert text.index(answer.text) < text.index("The decision audit")


def test_a_run_with_one_arm(one_model):
    summary = one_model.summary
    cox = Arm("Cox")
    tables = {
        name: table.select(model="Cox", method="none") if {"model", "method"} <= set(table.keys) else table
        for name, table in summary.tables.items()
    }
    tables["comparison"] = replace(tables["comparison"], rows=())
    answer = replace(summary.answer, best=cox, next=None, base=None, alike=())
    audit = replace(summary.audit, by_c_index=cox, same=True, cost=None, spearman=None)
    text = words(as_html(replace(summary, tables=tables, answer=answer, audit=audit, findings=())))
    assert "over the next best" not in text
    assert "choice by C-index Same" in text


def test_the_numbers_under_the_answer(demo):
    """The value, the gain, how many arms are clearly worse, and the cost of the C-index with one sign."""
    summary = read_summary(demo)
    others = [Arm(row["model"], row["method"]) for row in summary.tables["audit"].records()]
    best, *others = others
    gain = Difference(others[0], Estimate(1.25, 0.5, 2.0, 0.01), True)
    cost = Difference(others[1], Estimate(0.69, -0.72, 2.1, 0.3), False)
    answer = replace(summary.answer, best=best, value=Estimate(12.5, 11.0, 14.0), next=gain, alike=tuple(others[1:3]))
    audit = replace(summary.audit, by_c_index=others[1], same=False, cost=cost)
    view = RunView(replace(summary, answer=answer, audit=audit))
    tiles = [(tile.name, tile.value, tile.detail, tile.arm) for tile in view.tiles]
    count = len(others)
    assert tiles == [
        ("years per allocation", "12.50", "95% interval 11.00 to 14.00", best.label),
        ("years over the next best", "+1.25", "95% interval 0.50 to 2.00", others[0].label),
        ("clearly better than", f"{count - 2} of {count}", "other models, corrected for multiple comparisons", ""),
        ("choice by C-index", "0.69", "years lost, 95% interval −0.72 to 2.10", others[1].label),
    ]


def test_headings_carry_the_unit_of_the_data(tmp_path):
    from lifeyears import Outcome
    from lifeyears.data import Dataset

    from .conftest import noise, reported

    years = noise(300, 40)
    days = Dataset(
        years.X, Outcome(years.y.time * 365.25, years.y.event), "days", horizon=years.horizon * 365.25, unit="days"
    )
    text = reported(days, tmp_path / "run", models=("KM", "Cox"), tau=3652.5).text
    assert "3,652 days" in text or "3,653 days" in text
    for heading in re.findall(r"<th [^>]*>(.*?)</th>", text):
        assert "year" not in heading, heading
    assert "days per allocation" in words(section(text, "values").join(["<main>", "</main>"]))


def test_what_is_not_known_is_left_open(demo):
    """Jobs of an older version may lack NDCG over waitlists: the page shows a dash."""
    summary = edit_table(
        read_summary(demo), "audit", lambda row: row.update(bound=None, bound_low=None, bound_high=None, p=None)
    )
    summary = edit_table(summary, "allocation", lambda row: row.update(ndcg=None, ndcg_low=None, ndcg_high=None))
    text = words(as_html(summary))
    assert not {"nan", "None"} & set(text.split())


def test_checklist_has_every_item_of_tripod_ai(demo):
    numbers = {int(number) for item in CHECKLIST for number in re.findall(r"\d+", item.number)}
    assert numbers == set(range(1, 28))
    assert {item.section for item in CHECKLIST} <= {"", "top", *(one.key for one in SECTIONS)}
    table = section((demo / "report.html").read_text(), "tripod")
    assert '<a href="#values">Years per allocation and NDCG</a>' in table


def test_summaries_of_other_schemas_are_refused_with_advice(demo, tmp_path, capsys):
    import json

    content = json.loads((demo / "summary.json").read_text())
    for schema in (1, 99):
        (tmp_path / "summary.json").write_text(json.dumps({**content, "schema": schema}))
        assert command(["report", str(tmp_path)]) == 2
        assert f"schema {schema}" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


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


def test_two_equal_runs_have_no_differences(demo):
    summary = read_summary(demo)
    text = as_html_beside(summary, summary)
    assert "Settings and data are the same." in text
    assert "Levels are not comparable" not in text


def test_runs_in_other_units_are_not_subtracted(demo):
    first = read_summary(demo)
    second = replace(first, data=replace(first.data, unit="days"))
    text = as_html_beside(first, second)
    assert "horizon: 20 years and 20 days" in text
    assert 'data-chart="beside"' not in text
    assert "Per allocation: years and days" in text
    table = text.split('data-name="beside"')[1].split("</table>")[0]
    assert "A, years<" in table
    assert "B, days<" in table
    assert '<td class="number">–</td>' in table


def test_settings_are_shown_as_they_were(demo):
    text, plan = words((demo / "report.html").read_text()), read_summary(demo).plan
    for name in ("epochs", "waitlist", "seed", "tau"):
        assert f"{name} {plan[name]}" in text


def test_settings_of_the_other_protocol_are_left_out(tiny):
    table = tiny.text.split('data-name="settings"')[1].split("</table>")[0]
    for name in ("censored_share", "censoring"):
        assert f">{name}<" not in table
    assert ">folds<" in table


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
    options = {"iterations": 1, "folds": 2, "models": ("Cox",), "stacked_over": (), "tau": 10.0}
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
