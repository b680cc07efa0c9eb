"""The report in a real browser: what a reader sees, sorts, saves and prints."""

import csv
import io
from contextlib import contextmanager
from dataclasses import replace

import pytest

from lifeyears.experiments import read_summary
from lifeyears.experiments.types import Arm, Finding
from lifeyears.report import as_html, write_report

SECTIONS = ["answer", "audit", "values", "headroom", "paper", "support", "calibration", "subgroups", "cohort"]
SECTIONS += ["methods", "limits", "rerun", "tripod"]
VALUE = "years per allocation"


@contextmanager
def opened(browser, path, width=1400, **options):
    """The page, and what it said and asked for; neither is allowed but for the file itself."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(180_000)  # a busy machine is no failure
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'true'")
    yield page
    assert said == []
    assert [url for url in asked if not url.startswith("blob:")] == [path.as_uri()]
    context.close()


def shown(page, name):
    """A table as its headings and rows of cells."""
    table = page.locator(f'table[data-name="{name}"]')
    heads = table.locator("thead th").all_text_contents()
    return [dict(zip(heads, row, strict=True)) for row in table.evaluate(
        "t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))"
    )]  # fmt: skip


def raw(page, name, column):
    """What the cells of a column hold, unrounded."""
    return page.evaluate(
        """([name, column]) => {
            const table = document.querySelector(`table[data-name="${name}"]`);
            const place = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === column);
            return [...table.tBodies[0].rows].map((row) => JSON.parse(row.cells[place].dataset.v ?? "null"));
        }""",
        [name, column],
    )


def cells(summary, name, key):
    """A column of a table of the summary."""
    return [row[key] for row in summary.tables[name].records()]


def test_every_section_and_number_is_there(browser, demo):
    summary = read_summary(demo)
    with opened(browser, demo / "report.html") as page:
        assert page.locator("main section").evaluate_all("all => all.map(s => s.id)") == SECTIONS
        links = page.locator("a[href^='#']").evaluate_all("all => all.map(a => a.getAttribute('href').slice(1))")
        assert not [link for link in links if page.locator(f"[id='{link}']").count() != 1]
        for name, key in (
            ("allocation", "value"),
            ("allocation", "c_index"),
            ("audit", "bound"),
            ("headroom", "closed"),
        ):
            heading = next(column.heading for column in summary.tables[name].columns if column.key == key)
            assert raw(page, name, heading) == cells(summary, name, key)
        best = next(row for row in shown(page, "audit") if row["place by years"] == "1")
        answer = summary.answer
        assert best["model"] == answer.best.label
        value = f"{answer.value.value:.2f} ({answer.value.low:.2f} to {answer.value.high:.2f})"
        assert best[VALUE] == value
        assert answer.best.label in page.locator("#answer .tiles").inner_text()
        assert page.locator(".command").inner_text() == "lifeyears demo --rows 400 --seed 0"


def test_every_chart_has_marks_and_words(browser, demo):
    with opened(browser, demo / "report.html") as page:
        charts = page.locator(".chart").evaluate_all(
            """all => all.map(box => ({
                name: box.dataset.chart, words: box.getAttribute("aria-label"), drawn: box.clientHeight,
                marks: box.querySelectorAll(".point path, .point, path.js-line").length,
                caption: box.closest("figure").querySelector("figcaption").textContent}))"""
        )
    assert {"allocation", "audit", "differences", "headroom", "positivity", "survival", "figure_3a", "figure_3b"} <= {
        chart["name"] for chart in charts
    }
    for chart in charts:
        assert chart["marks"] > 0, chart["name"]
        assert chart["drawn"] > 100
        assert len(chart["words"]) > 40
        assert len(chart["caption"]) > 10


def test_tables_sort_by_mouse_and_keyboard(browser, demo):
    with opened(browser, demo / "report.html") as page:
        heads = page.locator('table[data-name="allocation"] th')
        place = [text.strip() for text in heads.all_text_contents()].index(VALUE)
        heads.nth(place).locator("button").click()
        assert heads.nth(place).get_attribute("aria-sort") == "descending"
        found = raw(page, "allocation", VALUE)
        assert found == sorted(found, reverse=True)
        heads.nth(place).locator("button").focus()
        page.keyboard.press("Enter")
        assert heads.nth(place).get_attribute("aria-sort") == "ascending"
        assert raw(page, "allocation", VALUE) == found[::-1]
        heads.nth(0).locator("button").click()
        names = [row["model"] for row in shown(page, "allocation")]
        assert names == sorted(names, key=str.lower)
        gain = "gain over the base model (years)"
        gains = [text.strip() for text in heads.all_text_contents()].index(gain)
        heads.nth(gains).locator("button").click()
        found = raw(page, "allocation", gain)
        assert None not in found[: sum(value is not None for value in found)]  # what is missing comes last


def test_tables_are_saved_whole(browser, demo):
    table = read_summary(demo).tables["allocation"]
    with opened(browser, demo / "report.html", accept_downloads=True) as page:
        with page.expect_download() as waiting:
            page.locator("#table-allocation button.save").click()
        assert waiting.value.suggested_filename == "allocation.csv"
        text = waiting.value.path().read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    numbers = [column for column in table.columns if column.key not in ("model", "method")]
    assert set(rows[0]) == {"model", *(column.heading for column in numbers)}
    for row, record in zip(rows, table.records(), strict=True):
        assert row["model"] == Arm(record["model"], record["method"]).label
        for column in numbers:
            value = record[column.key]
            assert (float(row[column.heading]) if row[column.heading] else None) == value


@pytest.mark.parametrize("width", [360, 1400])
def test_nothing_overflows_on_a_screen(browser, demo, width):
    with opened(browser, demo / "report.html", width) as page:
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        beyond = page.evaluate(
            """() => [...document.querySelectorAll("main *, header *")].filter((part) => !part.closest(".scroll, svg")
                && part.getBoundingClientRect().right > window.innerWidth + 1).map((part) => part.outerHTML)"""
        )
        assert beyond == []
        cut = page.locator(".chart").evaluate_all(
            """all => all.filter((box) => {
                const edge = box.getBoundingClientRect();
                return [...box.querySelectorAll(".xtitle, .ytitle, .annotation-text, .gtitle")].some((text) =>
                    text.getBoundingClientRect().right > edge.right + 2
                    || text.getBoundingClientRect().left < edge.left - 2);
            }).map((box) => box.dataset.chart)"""
        )
        assert cut == []


def test_nothing_overflows_on_paper(browser, demo, tmp_path):
    with opened(browser, demo / "report.html", color_scheme="dark") as page:
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 688, "height": 970})  # A4 less its margins
        beyond = page.evaluate(
            """() => [...document.querySelectorAll("main table, main figure, .chart .main-svg, .tiles, pre")].filter(
                (part) => part.getBoundingClientRect().right > 689).map((part) => part.outerHTML.slice(0, 90))"""
        )
        assert beyond == []
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
        assert page.pdf(path=tmp_path / "report.pdf", format="A4").startswith(b"%PDF")


def test_dark_when_the_reader_is(browser, demo):
    def lightness(scheme):
        with opened(browser, demo / "report.html", color_scheme=scheme) as page:
            colours = page.evaluate(
                """() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
                    getComputedStyle(document.querySelector(".chart .ytick text")).fill]"""
            )
        return [sum(map(int, colour[4:-1].split(","))) for colour in colours]

    (ground, ink, ticks), (dark_ground, dark_ink, dark_ticks) = lightness("light"), lightness("dark")
    assert ground > ticks > ink
    assert dark_ground < dark_ticks < dark_ink


def test_legend_hides_and_shows(browser, demo):
    with opened(browser, demo / "report.html") as page:
        figure = page.locator("figure:has(#chart-audit)")
        before = figure.locator(".point").count()
        first = figure.locator(".legend button").first
        first.click()
        assert first.get_attribute("aria-pressed") == "false"
        page.wait_for_function(f"document.querySelectorAll('#chart-audit .point').length < {before}")
        first.click()
        page.wait_for_function(f"document.querySelectorAll('#chart-audit .point').length === {before}")


def test_a_data_set_with_a_wicked_name_is_harmless(browser, demo, tmp_path):
    wicked = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'&"
    summary = read_summary(demo)
    data = replace(summary.data, name=wicked, source=wicked)
    findings = (*summary.findings, Finding("wicked", "serious", wicked, wicked))
    tables = dict(summary.tables)
    for name, keys in (("subgroups", ("group", "by")), ("predictors", ("predictor",))):
        rows = [
            tuple(f"{value}{wicked}" if key in keys else value for key, value in row.items())
            for row in tables[name].records()
        ]
        tables[name] = replace(tables[name], title=wicked, rows=tuple(rows))
    path = tmp_path / "wicked.html"
    path.write_text(as_html(replace(summary, data=data, command=wicked, findings=findings, tables=tables)))
    with opened(browser, path) as page:
        assert page.locator("h1").inner_text().startswith(wicked)
        assert page.locator("main img, main script:not(.chart-data), h1 *").count() == 0
        assert page.locator("svg image, svg a").count() == 0


def test_two_runs_side_by_side(browser, demo, one_model, tmp_path):
    path = write_report(demo, one_model.folder, tmp_path / "both.html")
    with opened(browser, path, 360) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.locator("#chart-beside .point").count() > 3
        changed = {row["what"]: row for row in shown(page, "changes")}
        assert {"data: name", "plan: models", "plan: tau", "judged by"} <= set(changed)
        assert "plan: seed" not in changed


def test_the_key_column_of_the_audit_is_seen_at_1280(browser, demo):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((demo / "report.html").resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    box = page.locator("#table-audit .scroll").bounding_box()
    cell = page.locator("#table-audit th", has_text="short of the best").bounding_box()
    assert cell["x"] + cell["width"] <= box["x"] + box["width"]
    overflows = page.evaluate("""[...document.querySelectorAll('.table')].filter((table) => table.clientWidth).map(
        (table) => [table.querySelector('.scroll'), table.querySelector('.bar .hint')]).filter(([, hint]) => hint)
        .every(([scroll, hint]) => hint.hidden === (scroll.scrollWidth <= scroll.clientWidth + 1))""")
    assert overflows
    settings = page.locator("#table-settings .scroll")
    assert settings.evaluate("(box) => box.scrollHeight <= box.clientHeight + 1")  # no row is hidden by half
    page.close()
