"""The page in a real browser: Debian's chromium, headless, through Playwright."""

import csv
import io
import os

import pytest

from .conftest import running

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (extra `dev`)")
KEPT = os.environ.get("LIFEYEARS_SCREENSHOTS")  # a folder to keep pictures in; docs/images has those of the sample


@pytest.fixture
def page(browser, client):
    """A page that must not complain and must not call anybody else."""
    context = browser.new_context(base_url=str(client.base_url), viewport={"width": 1320, "height": 900})
    made = context.new_page()
    complaints, called = [], set()
    expected = "status of 422"  # the browser notes a refused request itself
    made.on("console", lambda said: said.type == "error" and expected not in said.text and complaints.append(said.text))
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on(
        "request", lambda request: called.add(request.url.split("/")[2] if "//" in request.url else request.url[:5])
    )
    made.set_default_timeout(30_000)
    made.goto("/")
    yield made
    assert complaints == []
    assert called <= {f"{client.base_url.host}:{client.base_url.port}", "blob:"}
    context.close()


def picture(page, name):
    if KEPT:
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=os.path.join(KEPT, f"app-{name}.png"), full_page=True)


def load_sample(page):
    page.get_by_role("button", name="Load the sample").click()
    page.wait_for_selector("#ranked tbody tr")
    page.wait_for_selector("#curve svg")


def saved(page, button):
    with page.expect_download() as waiting:
        button.click()
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        return waiting.value.suggested_filename, list(csv.DictReader(file))


def test_the_sample_is_ranked_and_k_moves_the_chances(page, client):
    load_sample(page)
    sample = client.get("/api/sample").json()
    request = {"candidates": sample["candidates"], "donor": sample["donor"]}
    for k in (5, 1, 3):
        page.locator("#k").fill(str(k))
        assert page.locator("#k-shown").inner_text() == str(k)
        expected = client.post("/api/rank", json=request | {"k": k}).json()
        _, rows = saved(page, page.locator("#save-ranked"))
        assert [float(row["probability"]) for row in rows] == pytest.approx(
            [row["probability"] for row in expected["ranked"]], abs=1e-12
        )
        assert [float(row["years"]) for row in rows] == [row["years"] for row in expected["ranked"]]
        bound = expected["bound"]
        assert f"{100 * bound['bound']:.0f}% ({100 * bound['low']:.0f}% to" in page.locator("#k-words").inner_text()
    assert "Research use only" in page.locator("#match .use").inner_text()


def test_rows_are_walked_with_the_keyboard_and_show_curve_and_reasons(page):
    load_sample(page)
    page.locator("#ranked tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    second = page.locator("#ranked tbody tr").nth(1)
    name = second.locator("td").nth(1).inner_text().splitlines()[0]
    playwright.expect(page.locator("#person-title")).to_have_text(name, timeout=30_000)
    assert second.get_attribute("aria-selected") == "true"
    assert page.locator("#curve path.line").count() == 1
    assert page.locator("#reasons rect").count() >= 5


def test_two_models_side_by_side_show_who_moves(page):
    load_sample(page)
    page.locator("#other").select_option("cox")
    page.wait_for_selector("#movers-card:not([hidden])")
    assert page.locator("#movers tbody tr").count() == 10
    name, rows = saved(page, page.locator("#save-movers"))
    assert name == "movers.csv"
    assert sorted(int(row["rank"]) for row in rows) == sorted(int(row["other_rank"]) for row in rows)
    for k in (3, 5):
        page.locator("#k").fill(str(k))
        out = sum(int(row["rank"]) <= k < int(row["other_rank"]) for row in rows)
        said = page.locator("#movers-words").inner_text()
        assert said.startswith(f"Of the first {k} by ")
        assert f", {out} are not among the first {k} " in said
    ends = page.locator("#movers-chart text").count() - 2  # but for the two headings
    assert ends == 2 * page.locator("#movers-chart line.thin").count()  # no line ends without a name
    playwright.expect(page.locator("#curve path.line")).to_have_count(2, timeout=30_000)
    picture(page, "match")


def test_the_donor_can_be_filled_in_by_hand(page):
    load_sample(page)
    page.locator("#donor-card summary").click()
    page.locator("#donor-donor_age").fill("68")
    with page.expect_request("**/api/rank") as asked:
        page.get_by_role("button", name="Use these values").click()
    sent = asked.value.post_data_json
    assert sent["donor"]["donor_age"] == 68
    assert all(row["age_difference"] == 68 - row["age"] for row in sent["candidates"])
    page.locator("#donor-donor_age").fill("old")
    page.get_by_role("button", name="Use these values").click()
    page.wait_for_selector("#match-error:not([hidden])")
    assert "donor_age" in page.locator("#match-error").inner_text()


def as_csv(rows, **changed):
    text = io.StringIO()
    writer = csv.DictWriter(text, ["patient_id", *rows[0]], lineterminator="\r\n")
    writer.writeheader()
    for i, row in enumerate(rows):
        writer.writerow({"patient_id": f"Patient {i}"} | row | changed.get(f"row{i}", {}))
    return {"name": "waitlist.csv", "mimeType": "text/csv", "buffer": text.getvalue().encode()}


def test_a_csv_with_a_bad_row_is_refused_by_row_and_column_and_a_good_one_is_ranked(page, client):
    sample = client.get("/api/sample").json()
    rows = [row | sample["donor"] for row in sample["candidates"][:12]]
    page.locator("#upload").set_input_files(as_csv(rows, row4={"age": "sixty"}))
    page.wait_for_selector("#match-error:not([hidden])")
    said = page.locator("#match-error").inner_text()
    assert said == "Row 5 (line 6 of the file), column age: 'sixty' is not a number"
    page.locator("#upload").set_input_files(as_csv(rows))
    page.wait_for_selector("#ranked tbody tr")
    assert not page.locator("#match-error").is_visible()
    name, ranked = saved(page, page.locator("#save-ranked"))
    assert name == "ranked.csv"
    expected = client.post("/api/rank", json={"candidates": rows}).json()["ranked"]
    assert [row["candidate"] for row in ranked] == [f"Patient {row['row']}" for row in expected]
    assert [float(row["years"]) for row in ranked] == [row["years"] for row in expected]
    page.locator("#upload").set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": b'a,b\n"1,2\n'})
    page.wait_for_selector("#match-error:not([hidden])")
    assert "quotation mark" in page.locator("#match-error").inner_text()
    page.locator("#upload").set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": b"age,age\n1,2\n"})
    playwright.expect(page.locator("#match-error")).to_contain_text("The column age is there twice")


def test_decimal_commas_are_read_as_the_command_reads_them(page, client):
    sample = client.get("/api/sample").json()
    rows = [row | sample["donor"] for row in sample["candidates"][:6]]
    page.locator("#upload").set_input_files(as_csv(rows))
    page.locator("#ranked tbody tr").nth(5).wait_for()
    first = page.locator("#ranked tbody").inner_text()
    commas = [row | {"age": str(float(row["age"])).replace(".", ",")} for row in rows]
    page.locator("#upload").set_input_files(as_csv(commas))
    page.locator("#ranked tbody tr").nth(5).wait_for()
    assert page.locator("#ranked tbody").inner_text() == first
    page.locator("#upload").set_input_files(as_csv(rows, row2={"age": "61,5"}, row3={"age": "62.5"}))
    page.get_by_text("is not a number").wait_for()


def test_another_donor_for_an_uploaded_list_is_warned_of(page, client):
    load_sample(page)
    rows = client.get("/api/sample").json()["candidates"][:8]
    page.locator("#upload").set_input_files(as_csv(rows))
    note = page.locator("#donor-note")
    playwright.expect(note).to_contain_text("age difference")
    page.locator("#donor").select_option("2")
    playwright.expect(note).to_contain_text("not worked out anew for this donor")
    page.locator("#join").uncheck()
    page.wait_for_selector("#match-error:not([hidden])")  # the file has no donor of its own
    page.locator("#join").check()
    playwright.expect(page.locator("#match-results")).to_be_visible()
    load_sample(page)
    playwright.expect(note).to_be_hidden()


def held(page, pattern, methods=("POST",)):
    """Requests that wait until the test lets them go, as on a slow line."""
    waiting = []
    page.route(pattern, lambda route: waiting.append(route) if route.request.method in methods else route.continue_())
    return waiting


def let_go(page, waiting, many):
    """Let the held requests go once there are so many of them, the last one first."""
    for _ in range(300):
        if len(waiting) >= many:
            break
        page.wait_for_timeout(100)
    assert len(waiting) == many
    while waiting:
        route = waiting.pop()
        with page.expect_response(route.request.url):
            route.continue_()


def test_an_answer_that_comes_late_does_not_undo_what_was_chosen_meanwhile(page, client):
    load_sample(page)
    rows = client.get("/api/sample").json()["candidates"][:8]
    page.locator("#upload").set_input_files(as_csv(rows))
    playwright.expect(page.locator("#donor-note")).to_be_visible()
    waiting = held(page, "**/api/sample")
    page.locator("#donor").select_option("2")
    page.locator("#join").uncheck()
    page.wait_for_selector("#match-error:not([hidden])")
    with page.expect_response("**/api/rank"):  # once more, with the donor that has come
        let_go(page, waiting, 1)
    page.wait_for_selector("#match-error:not([hidden])")
    assert not page.locator("#join").is_checked()

    page.unroute("**/api/sample")
    page.locator("#join").check()
    playwright.expect(page.locator("#match-results")).to_be_visible()
    waiting = held(page, "**/api/sample")
    page.locator("#donor").select_option("3")
    page.locator("#donor").select_option("1")
    wanted = client.post("/api/sample", json={"donor": 1}).json()["donor"]["donor_age"]
    let_go(page, waiting, 2)
    page.wait_for_timeout(300)
    assert float(page.locator("#donor-donor_age").input_value()) == wanted


def test_what_is_clicked_before_the_model_is_known_is_done_then(page):
    waiting = held(page, "**/api/model", methods=("GET",))
    page.reload()
    page.get_by_role("button", name="Load the sample").click()
    let_go(page, waiting, 1)
    page.wait_for_selector("#ranked tbody tr")


def test_the_page_can_be_used_while_another_model_ranks(page):
    load_sample(page)
    waiting = held(page, "**/api/rank")
    first, second = page.locator("#model option").evaluate_all("all => all.slice(0, 2).map((one) => one.value)")
    page.locator("#model").select_option(second)
    page.locator("#k").fill("3")
    page.locator("#ranked tbody tr").nth(4).hover()
    page.locator('#ranked tbody tr[aria-selected="true"] td').nth(0).get_by_text("5").wait_for()
    row = page.locator("#ranked tbody tr").nth(4).get_attribute("data-row")
    page.wait_for_timeout(1000)  # its explanation is asked for and comes
    with page.expect_response("**/api/rank"):
        let_go(page, waiting, 1)
    page.unroute("**/api/rank")
    hovered = page.locator(f'#ranked tbody tr[data-row="{row}"]')
    page.locator("#ranked tbody tr").nth(11).hover()
    hovered.hover()  # explained by the model before, while this one ranked
    playwright.expect(page.locator("#person-hint")).to_contain_text("Survival curve")
    playwright.expect(page.locator("#person-title")).to_have_text(f"Candidate {int(row) + 1}")
    page.locator("#model").select_option(first)
    playwright.expect(page.locator("#match-error")).to_be_hidden()


def test_a_second_model_of_other_columns_is_told_of_and_the_list_stays(browser, models, patients):
    import lifeyears as ly
    from lifeyears.scoring import fit_model
    from lifeyears.service import create_app

    table = patients.drop(columns="sex").rename(columns={"x": "walk"})
    walking = fit_model(ly.data.read_table(table, time="time", event="event", unit="years"), method="none", name="Walk")
    with running(create_app({"cox": models["cox"], "walk": walking})) as client:
        context = browser.new_context(base_url=str(client.base_url))
        page = context.new_page()
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto("/")
        load_sample(page)
        many = page.locator("#ranked tbody tr").count()
        page.locator("#other").select_option("walk")
        note = page.locator("#other-note")
        playwright.expect(note).to_contain_text("Walk cannot rank these candidates. It was trained with a column")
        playwright.expect(page.locator("#match-error")).to_be_hidden()
        assert page.locator("#ranked tbody tr").count() == many
        sample = client.get("/api/sample?model=cox").json()
        others = client.get("/api/sample?model=walk").json()["candidates"]
        rows = [other | row | sample["donor"] for row, other in zip(sample["candidates"][:9], others, strict=False)]
        page.locator("#upload").set_input_files(as_csv(rows))  # the columns of both
        page.wait_for_selector("#movers-card:not([hidden])")
        playwright.expect(note).to_be_hidden()
        page.locator("#other").select_option("")
        page.locator("#model").select_option("walk")
        playwright.expect(page.locator("#match-estimates")).to_contain_text("expected years")
        assert complaints == []
        context.close()


def test_compare_shows_the_run(page):
    page.get_by_role("link", name="Compare").click()
    page.wait_for_selector("#compare-content table")
    assert "Research use only" in page.locator("#compare .use").inner_text()
    name, rows = saved(page, page.locator("#compare-content button", has_text="Download CSV").first)
    assert name == "leaderboard.csv"
    assert [(row["model"], row["method"]) for row in rows] == [("Cox", "stacked"), ("Cox", "none"), ("KM", "none")]
    assert [row["arm"] for row in rows] == ["Cox + stacked ranker", "Cox", "Kaplan–Meier"]
    assert page.locator("#compare-content svg.chart").count() >= 2
    chart = page.locator("#compare-content .card", has_text="C-index against").last
    assert chart.locator(".legend li").all_inner_texts() == ["Cox + stacked ranker", "Cox"]  # the catalogue's labels
    assert "Kaplan–Meier (C-index 0.5, 7.00 years)" in chart.inner_text()  # it would squeeze the rest
    parts = page.locator("#compare-content > *")
    assert parts.nth(0).inner_text().startswith("Warning: No support")
    assert "In a few sentences" in parts.nth(1).inner_text()


def test_a_refused_file_is_not_said_to_be_taken(page, client):
    sample = client.get("/api/sample").json()
    rows = [row | sample["donor"] for row in sample["candidates"][:3]]
    page.locator("#upload").set_input_files(as_csv(rows, row1={"age": "9999999"}))
    page.wait_for_selector("#match-error:not([hidden])")
    assert page.locator("#source").inner_text() == "3 candidates. From waitlist.csv. Not ranked: see the message."
    assert not page.locator("#match-empty").is_visible()
    page.locator("#upload").set_input_files({"name": "x.csv", "mimeType": "text/csv", "buffer": b""})
    playwright.expect(page.locator("#match-error")).to_contain_text("no rows")
    assert page.locator("#source").inner_text() == ""
    assert page.locator("#match-empty").is_visible()


def test_a_small_simulation_runs_with_progress_and_can_be_downloaded(page):
    page.get_by_role("link", name="Policy lab").click()
    for name in ("first_come", "greedy", "position_weighted", "lyg"):
        page.locator(f"input[value={name}]").uncheck()
    for name, value in (("scale", "0.01"), ("years", "0.5"), ("replicates", "2")):
        page.locator(f"#rate-{name}").fill(value)
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("#policy-progress:not([hidden])")
    page.wait_for_selector("#policy-results svg", timeout=120_000)
    name, rows = saved(page, page.locator("#policy-results button", has_text="Download CSV").first)
    assert name == "policies.csv"
    assert [row["policy"] for row in rows] == ["us_status", "oracle"]
    assert float(rows[0]["life_years_per_transplant"]) > 3
    assert "not a forecast" in page.locator("#policy .use").inner_text()


def test_it_fits_a_phone_and_the_dark(browser, client):
    context = browser.new_context(
        base_url=str(client.base_url), viewport={"width": 390, "height": 800}, color_scheme="dark"
    )
    page = context.new_page()
    page.goto("/")
    load_sample(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    interval = page.locator("#ranked tbody tr").first.locator("td:visible", has_text=" to ")
    assert interval.count() == 1  # in numbers, on a phone too
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert sum(int(part) for part in background[4:-1].split(",")) < 150
    context.close()


def test_a_token_is_asked_for_where_one_is_needed(browser, models):
    from lifeyears.service import create_app

    with running(create_app(models, token="0123456789abcdef")) as client:
        context = browser.new_context(base_url=str(client.base_url))
        page = context.new_page()
        page.goto("/")
        page.locator("#token-value").fill("0123456789abcdef")
        page.get_by_role("button", name="Continue").click()
        load_sample(page)
        page.get_by_role("link", name="Policy lab").click()
        page.evaluate("sessionStorage.setItem('token', 'of a service that was started again')")
        page.get_by_role("button", name="Run").click()
        page.locator("#token-value").fill("0123456789abcdef")
        asked = []
        page.on("request", lambda request: asked.append((request.method, request.url.partition("/api")[2])))
        page.get_by_role("button", name="Continue").click()
        for name, value in (("scale", "0.01"), ("years", "0.5"), ("replicates", "1")):
            page.locator(f"#rate-{name}").fill(value)
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("link", name="Match run").click()
        load_sample(page)
        page.wait_for_timeout(300)
        assert asked.count(("POST", "/simulations")) == 1
        assert asked.count(("GET", "/sample?model=ranker")) == 1
        assert page.locator("#model option").count() == 2
        context.close()
