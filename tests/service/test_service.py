import json
import logging
import math
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import lifeyears as ly
from lifeyears.allocation import PositionWeighted
from lifeyears.errors import DataError, FileReadError, Message, RequestError, Setting, WorkError
from lifeyears.experiments.results import write_summary
from lifeyears.service import Limits

from .conftest import running

INTERNAL = "something went wrong; the log says where"


def rank(client, rows, **more):
    candidates, donor = rows
    return client.post("/api/rank", json={"candidates": candidates, "donor": donor, **more})


def error_of(reply):
    assert 400 <= reply.status_code < 500
    return reply.json()["error"]


def test_health(client):
    assert client.get("/api/health").json() == {"status": "ok", "version": ly.__version__}


def test_the_model_has_schema_and_card(client, models):
    found = client.get("/api/model").json()
    assert [column["name"] for column in found["schema"]["columns"]] == list(models["ranker"].ranker.feature_names_in_)
    assert found["card"]["metrics"]["c_index"]["low"] < found["card"]["metrics"]["c_index"]["high"]
    assert {one["model"] for one in found["models"]} == {"ranker", "cox"}
    assert client.get("/api/model?model=cox").json()["card"]["name"] == "small Cox"


def test_ranked_years_are_the_librarys_to_the_bit(client, models, rows, pairs):
    ranker = models["ranker"].ranker
    expected = ranker.predict(pairs[list(ranker.feature_names_in_)])
    reply = rank(client, rows, k=3)
    assert reply.status_code == 200
    ranked = reply.json()["ranked"]
    assert [row["rank"] for row in ranked] == list(range(1, len(expected) + 1))
    assert sorted(row["row"] for row in ranked) == list(range(len(expected)))
    assert [row["years"] for row in ranked] == [expected[row["row"]] for row in ranked]
    assert [row["years"] for row in ranked] == sorted(expected, reverse=True)
    chances = PositionWeighted(3).probabilities(expected)
    assert [row["probability"] for row in ranked] == [chances[row["row"]] for row in ranked]
    assert all(row["low"] <= row["years"] <= row["high"] for row in ranked)


def test_reasons_are_the_librarys(client, models, rows, pairs):
    ranker = models["ranker"].ranker
    table = ranker.explain(pairs[list(ranker.feature_names_in_)]).contributions
    for row in rank(client, rows).json()["ranked"][:20]:
        expected = table.iloc[row["row"]]
        assert [one["years"] for one in row["reasons"]] == sorted(
            (expected[one["feature"]] for one in row["reasons"]), key=abs, reverse=True
        )
        assert abs(row["reasons"][0]["years"]) == expected.abs().max()


def test_explained_contributions_add_up_and_curves_have_the_years_as_their_mean(client, rows):
    candidates, donor = rows
    found = client.post("/api/explain", json={"candidates": candidates[:4], "donor": donor}).json()
    for one in found["explained"]:
        total = one["typical"] + sum(reason["years"] for reason in one["reasons"])
        assert total == pytest.approx(one["years"], abs=1e-9)
        assert np.trapezoid(one["survival"], found["times"]) == pytest.approx(one["years"], abs=0.1)
        assert all(np.diff(one["survival"]) <= 1e-12)


def test_a_second_model_answers_by_its_name(client, rows):
    first, second = rank(client, rows).json(), rank(client, rows, model="cox").json()
    assert first["model"] == "small ranker"
    assert second["model"] == "small Cox"
    assert error_of(rank(client, rows, model="../cox"))["code"] == "no_such_model"


def test_bound_is_the_cards(client, models, rows):
    assert rank(client, rows, k=4).json()["bound"] == models["ranker"].card["bounds"][3]


def test_evaluate_judges_a_labelled_list(client, data):
    some = ly.data.simulate_registry(n=300, random_state=8)
    rows = json.loads(some.X.to_json(orient="records"))
    found = client.post(
        "/api/evaluate",
        json={"candidates": rows, "time": some.y.time.tolist(), "event": some.y.event.tolist(), "waitlist": 5},
    )
    assert found.status_code == 200, found.text
    found = found.json()
    assert found["rows"] == 300
    assert 0.4 < found["c_index"] < 0.8
    assert found["value"]["low"] < found["value"]["value"]


def test_evaluate_says_if_the_rows_cannot_reach_the_horizon(client):
    some = ly.data.simulate_registry(n=300, random_state=8)
    rows = json.loads(some.X.to_json(orient="records"))
    time_, event = np.minimum(some.y.time, 3.0), some.y.event & (some.y.time <= 3.0)  # the horizon is 10
    found = client.post(
        "/api/evaluate", json={"candidates": rows, "time": time_.tolist(), "event": event.tolist(), "waitlist": 5}
    ).json()
    assert found["positivity"]["share_out_of_reach"] == 1.0, found
    assert found["positivity"]["reading"]


def test_evaluate_without_censoring_uses_what_was_seen(client, models, rows):
    candidates, donor = rows
    time_, event = np.linspace(0.1, 9, len(candidates)), [True] * len(candidates)
    found = client.post(
        "/api/evaluate", json={"candidates": candidates, "donor": donor, "time": time_.tolist(), "event": event, "k": 1}
    ).json()
    assert found["mean_outcome"] == pytest.approx(time_.mean())
    assert found["judged_by"] == "observed times"
    assert found["positivity"]["share_out_of_reach"] == 0.0


# what is wrong is told, with row and column


@pytest.mark.parametrize(
    ("column", "value", "code"),
    [
        ("age", "old", "not_a_number"),
        ("age", True, "not_a_number"),
        ("age", [61], "not_a_number"),
        ("age", 1e9, "out_of_range"),
        ("age", -1e300, "out_of_range"),
        ("age", 10**400, "out_of_range"),
        ("sex", "m", "unknown_category"),
        ("sex", {"a": 1}, "not_a_category"),
        ("sex", ["male"], "not_a_category"),
        ("sex", 0.5, "unknown_category"),
    ],
)
def test_a_bad_cell_is_named(client, rows, column, value, code):
    candidates, donor = rows
    wrong = [dict(row) for row in candidates]
    wrong[7][column] = value
    body = json.dumps({"candidates": wrong, "donor": donor})
    if isinstance(value, int) and value > 1e300:  # json's own number, as long as it is
        assert str(value) in body
    found = error_of(client.post("/api/rank", content=body, headers={"content-type": "application/json"}))
    assert (found["code"], found["row"], found["column"]) == (code, 7, column)
    assert "candidates[7]" in found["message"]


def test_a_missing_column_is_named_and_null_is_missing(client, rows):
    candidates, donor = rows
    wrong = [dict(row) for row in candidates[:5]]
    del wrong[2]["creatinine"]
    found = error_of(client.post("/api/rank", json={"candidates": wrong, "donor": donor}))
    assert (found["code"], found["row"], found["column"]) == ("missing_column", 2, "creatinine")
    wrong[2]["creatinine"] = None
    assert client.post("/api/rank", json={"candidates": wrong, "donor": donor}).status_code == 200
    assert error_of(client.post("/api/rank", json={"candidates": wrong}))["column"] in donor


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"candidates": NaN}', 400),
        (b'{"candidates": [Infinity]}', 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 5000, 400),
        (b"\xff\xfe{\x00}\x00", 400),
        ('{"candidates": "ä"}'.encode("utf-16"), 400),
        (b"[]", 422),
        (b"null", 422),
        (b'"text"', 422),
        (b"{}", 422),
        (b'{"candidates": []}', 422),
        (b'{"candidates": {}}', 422),
        (b'{"candidates": [1]}', 422),
        (b'{"candidates": [[]], "k": 5}', 422),
        (b'{"candidates": [{}], "k": 0}', 422),
        (b'{"candidates": [{}], "k": "5"}', 422),
        (b'{"candidates": [{}], "k": 1e400}', 422),
        (b'{"candidates": [{}], "donor": []}', 422),
        (b'{"candidates": [{}], "donor": {"../../etc/passwd": 1}}', 422),
        (b'{"candidates": [{}], "sql": 1}', 422),
    ],
)
def test_what_is_no_request_gets_4xx_in_one_form(client, content, status):
    for path in ("/api/rank", "/api/explain", "/api/evaluate"):
        reply = client.post(path, content=content, headers={"content-type": "application/json"})
        if reply.status_code != status:
            assert reply.status_code == 422, (path, reply.text)  # k and model mean nothing to explain
        assert set(reply.json()) == {"error"}
        assert {"code", "message"} <= set(reply.json()["error"])
        assert "Traceback" not in reply.text
        assert "/" not in reply.json()["error"]["message"].replace("../../etc/passwd", "").replace(
            "application/json", ""
        )


def test_only_json_is_taken(client):
    reply = client.post("/api/rank", content=b"{}", headers={"content-type": "text/plain"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (415, "not_json")


def test_too_many_rows_and_too_large_a_body(models, rows):
    from lifeyears.service import create_app

    app = create_app(models, hosts=None, limits=Limits(rows=10, body_bytes=2_000_000, explained_rows=2))
    with running(app) as client:
        assert error_of(rank(client, rows))["code"] == "too_many_rows"
        few = {"candidates": rows[0][:3], "donor": rows[1]}
        assert error_of(client.post("/api/explain", json=few))["code"] == "too_many_rows"
        million = b'{"candidates":[' + b"{}," * 999_999 + b"{}]}"
        reply = client.post("/api/rank", content=million, headers={"content-type": "application/json"})
        assert (reply.status_code, error_of(reply)["code"]) == (413, "too_large")

        def chunks():
            for _ in range(100):
                yield b" " * 50_000

        reply = client.post("/api/rank", content=chunks(), headers={"content-type": "application/json"})
        assert (reply.status_code, error_of(reply)["code"]) == (413, "too_large")


def test_requests_that_are_still_arriving_count(models):
    from lifeyears.service import create_app

    app, half = create_app(models, hosts=None, limits=Limits(waiting_bytes=100_000)), b" " * 60_000
    with running(app) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port)) as slow:
            slow.sendall(b"POST /api/rank HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
            slow.sendall(b"Content-Length: 90000\r\n\r\n" + half)
            until = time.monotonic() + 10
            while app.state.service.waiting_bytes < len(half) and time.monotonic() < until:
                time.sleep(0.01)
            reply = client.post("/api/rank", content=half, headers={"content-type": "application/json"})
            assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
        while app.state.service.waiting and time.monotonic() < until:
            time.sleep(0.01)
        reply = client.post("/api/rank", content=half, headers={"content-type": "application/json"})
        assert error_of(reply)["code"] == "bad_json"
        large = {"policies": ["x" * 200_000]}
        assert error_of(client.post("/api/simulations", json=large))["code"] == "too_large"
        assert (app.state.service.waiting, app.state.service.waiting_bytes) == (0, 0)


def test_an_error_of_ours_says_nothing_of_itself_and_logs_no_row(models, rows, caplog):
    from lifeyears.service import create_app

    app, secret = create_app(models), "a patient's name"

    def broken(*given):
        raise RuntimeError(f"{secret} in /some/path")

    app.state.service.answers.model = broken
    with caplog.at_level(logging.DEBUG), running(app) as client:
        reply = rank(client, rows)
    assert reply.status_code == 500
    assert reply.json()["error"] == {"code": "internal", "message": "something went wrong; the log says where"}
    assert reply.headers["x-frame-options"] == "DENY"
    assert "RuntimeError at test_service.py" in caplog.text
    assert secret not in caplog.text


@pytest.mark.parametrize(
    ("error", "status", "expected"),
    [
        (
            RequestError("k must be at least 1; got 0", hint=Message("Send ", Setting("k", 1), "."), k=0),
            422,
            {"code": "invalid_request", "message": "k must be at least 1; got 0", "hint": 'Send "k": 1.'},
        ),
        (
            DataError("age is missing", code="no_age", row=2, column="age"),
            422,
            {"code": "no_age", "message": "age is missing", "row": 2, "column": "age"},
        ),
        (WorkError("it did not converge"), 500, {"code": "work_failed", "message": "it did not converge"}),
        (FileReadError("/some/path: permission denied"), 500, {"code": "internal", "message": INTERNAL}),
        (ValueError("operands could not be broadcast"), 500, {"code": "internal", "message": INTERNAL}),
    ],
)
def test_errors_of_the_library_are_sent_in_jsons_terms_and_bugs_say_nothing(models, rows, error, status, expected):
    from lifeyears.service import create_app

    app = create_app(models)

    def broken(*given):
        raise error

    app.state.service.answers.model = broken
    with running(app) as client:
        reply = rank(client, rows)
    assert (reply.status_code, reply.json()["error"]) == (status, expected)


def test_the_log_holds_neither_rows_nor_paths_as_sent(client, rows, caplog):
    candidates, donor = rows
    wrong = [candidates[0] | {"age": "Jane Doe, 61"}]
    with caplog.at_level(logging.INFO, logger="lifeyears.service"):
        client.post("/api/rank", json={"candidates": wrong, "donor": donor})
        client.get("/api/model?model=Jane-Doe")
        client.get("/Jane/Doe")
    assert "POST /api/rank 422" in caplog.text
    assert "Jane" not in caplog.text


# who may ask


def test_other_hosts_and_other_sites_are_refused(client):
    assert client.get("/api/health", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/api/health", headers={"origin": "http://evil.example"}).status_code == 403
    own = str(client.base_url)
    assert client.get("/api/health", headers={"origin": own}).status_code == 200


def test_a_host_is_named_in_any_case(models):
    from lifeyears.service import create_app

    with running(create_app(models, hosts=("Hearts.Example",))) as client:
        assert client.get("/api/health", headers={"host": "hearts.example:80"}).status_code == 200
        assert client.get("/api/health").status_code == 421


@pytest.mark.parametrize(
    ("host", "names", "expected"),
    [
        ("10.1.2.3", (), None),
        ("10.1.2.3", ("hearts.example",), {"10.1.2.3", "hearts.example"}),
        ("127.0.0.1", (), {"127.0.0.1"}),
    ],
)
def test_it_answers_to_the_address_it_says_it_listens_on(models, monkeypatch, host, names, expected):
    from lifeyears.service import _server

    class Told(Exception):
        pass

    def create_app(*given, hosts, token, **more):
        assert (token is None) == (host == "127.0.0.1")
        raise Told(hosts)

    monkeypatch.setattr(_server, "create_app", create_app)
    with pytest.raises(Told) as told:
        _server.serve(models, host=host, names=names, say=lambda message: None)
    hosts = told.value.args[0]
    assert hosts is None if expected is None else expected <= set(hosts)


def test_a_token_is_needed_where_there_is_one(models):
    from lifeyears.service import create_app

    with running(create_app(models, token="0123456789abcdef", hosts=None)) as client:
        assert client.get("/api/health").status_code == 200
        assert client.get("/").status_code == 200
        for path in ("/api/model", "/openapi.json", "/api/run", "/api/sample"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers={"authorization": "Bearer 0123456789abcdeg"}).status_code == 401
            assert client.get(path, headers={"authorization": "Basic 0123456789abcdef"}).status_code == 401
        right = {"authorization": "Bearer 0123456789abcdef"}
        assert client.get("/api/model", headers=right).status_code == 200


def test_every_answer_has_strict_headers(client):
    for path in ("/", "/style.css", "/api/health", "/api/none", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers
    assert client.get("/api/health").headers["cache-control"] == "no-store"


def test_the_page_names_no_other_host(client):
    import re
    from pathlib import Path

    import lifeyears.service

    for file in (Path(lifeyears.service.__file__).parent / "static").iterdir():
        found = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", file.read_text()))
        assert found <= {"http://www.w3.org"}, file.name  # the name of SVG, which nobody calls


@pytest.mark.parametrize(
    "path",
    ["/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/static/../_service.py", "/%00"],
)
def test_no_file_outside_the_page_is_served(client, path):
    with socket.create_connection((client.base_url.host, client.base_url.port)) as plain:  # as written, dots and all
        plain.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        reply = b"".join(iter(lambda: plain.recv(65536), b""))
    assert b" 404 " in reply.splitlines()[0]
    assert b"not_found" in reply


def test_docs_need_no_other_host_because_there_are_none(client):
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert client.get("/openapi.json").json()["openapi"].startswith("3.1")


# sample, run, simulations


def test_the_sample_can_be_ranked_and_its_donor_changed(client):
    sample = client.get("/api/sample").json()
    reply = client.post("/api/rank", json={"candidates": sample["candidates"], "donor": sample["donor"]})
    assert reply.status_code == 200
    changed = client.post("/api/sample", json={"donor": 2, "changes": {"donor_age": 61}}).json()
    assert changed["donor"]["donor_age"] == 61
    first = changed["candidates"][0]
    assert first["age_difference"] == 61 - first["age"]
    wrong = client.post("/api/sample", json={"donor": 2, "changes": {"donor_age": "x"}})
    assert error_of(wrong)["column"] == "donor_age"
    assert error_of(client.post("/api/sample", json={"donor": 99}))["code"] == "bad_donor"


def test_a_model_of_another_table_has_a_sample_of_its_own(patients):
    from lifeyears.scoring import fit_model
    from lifeyears.service import create_app

    table = patients.assign(sex=patients["sex"].map({0: "F", 1: "M"}))
    model = fit_model(ly.data.read_table(table, time="time", event="event", unit="years"), method="none")
    with running(create_app({"own": model}, hosts=None)) as client:
        sample = client.get("/api/sample").json()
        assert sample["donors"] == []
        assert client.post("/api/rank", json={"candidates": sample["candidates"]}).status_code == 200
        assert error_of(client.get("/api/run"))["code"] == "no_run"


def test_models_of_one_title_have_samples_of_their_own(models, patients):
    from lifeyears.scoring import fit_model
    from lifeyears.service import create_app

    other = fit_model(
        ly.data.read_table(patients, time="time", event="event", unit="years"), method="none", name=models["cox"].name
    )
    service = create_app({"cox": models["cox"], "other": other}).state.service
    assert service.sample("other").model is other
    assert service.sample("cox").model is models["cox"]
    assert service.sample("cox") is service.sample("cox")


def test_the_sample_names_what_changes_with_the_donor(client):
    sample = client.get("/api/sample").json()
    other = client.post("/api/sample", json={"donor": 1, "changes": sample["donors"][0] | {"donor_age": 12}}).json()
    changed = {name for name, value in other["candidates"][0].items() if value != sample["candidates"][0][name]}
    assert {"age_difference", "blood_match", "hla_mismatches"} <= set(sample["pair"])
    assert changed <= set(sample["pair"])
    assert "age" not in sample["pair"]


def test_pairing_the_sample_keeps_nobody_waiting(client, monkeypatch):
    from lifeyears.service._sample import Sample

    begun, go_on = threading.Event(), threading.Event()
    slow = {"kind": "slow", "donor": {}, "candidates": []}
    monkeypatch.setattr(Sample, "content", lambda self: (begun.set(), go_on.wait(20), slow)[2])
    found = []
    asking = threading.Thread(target=lambda: found.append(client.get("/api/sample")))
    asking.start()
    assert begun.wait(20)
    try:
        assert client.get("/api/health", timeout=5).status_code == 200
    finally:
        go_on.set()
        asking.join()
    assert found[0].json() == slow


def test_the_document_says_what_model_and_bound_are(client, rows):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert schemas["RankRequest"]["properties"]["model"]["description"].startswith("Key of the model")
    assert schemas["RankReply"]["properties"]["model"]["description"].startswith("Title of the model")
    bound = schemas["RankReply"]["properties"]["bound"]["description"]
    assert "metrics.waitlist" in bound
    assert "Null for k above 20" in bound
    candidates, donor = rows
    assert client.post("/api/rank", json={"candidates": candidates, "donor": donor, "k": 21}).json()["bound"] is None


def test_the_document_states_the_limits_that_hold(models, rows, data):
    from lifeyears.service import create_app

    limits, candidates = Limits(rows=120, k=3, reasons=2), {"candidates": rows[0][:5], "donor": rows[1]}
    with running(create_app(models, limits=limits)) as client:
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
        for name, most in (("k", 3), ("reasons", 2)):
            assert schemas["RankRequest"]["properties"][name]["maximum"] == most
            assert client.post("/api/rank", json={**candidates, name: most}).status_code == 200
            refused = error_of(client.post("/api/rank", json={**candidates, name: most + 1}))
            assert refused == {"code": f"bad_{name}", "message": f"{name} must be at most {most}; got {most + 1}"}
        assert schemas["RankRequest"]["properties"]["candidates"]["maxItems"] == limits.rows
        # as long a list as rows may be sent
        waitlist = schemas["EvaluateRequest"]["properties"]["waitlist"]["anyOf"][0]
        assert waitlist["maximum"] == limits.rows
        many = json.loads(data.X.iloc[: limits.rows].to_json(orient="records", double_precision=15))
        labelled = {"candidates": many, "time": data.y.time[:120].tolist(), "event": data.y.event[:120].tolist()}
        found = client.post("/api/evaluate", json={**labelled, "waitlist": 120, "k": 120}).json()
        assert found["waitlist"] == 120
        refused = error_of(client.post("/api/evaluate", json={**labelled, "waitlist": 121}))
        assert refused["message"] == "waitlist must be at most 120; got 121"
        refused = error_of(client.post("/api/evaluate", json={**labelled, "waitlist": 5, "k": 6}))
        assert refused["message"] == "k must be at most 5; got 6"


def described(schema, schemas):
    """Whether a property has a description, of its own or of the model that it refers to."""
    reference = schema.get("$ref", "").rpartition("/")[2]
    return bool(schema.get("description") or schemas.get(reference, {}).get("description"))


def test_every_field_of_every_answer_and_request_is_described(client):
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    missing = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, part in schema["properties"].items()
        if not described(part, schemas)
    ]
    assert missing == []
    for path, operations in document["paths"].items():
        for operation in operations.values():
            success = next(reply for status, reply in operation["responses"].items() if status.startswith("2"))
            assert "$ref" in success["content"]["application/json"]["schema"], path
            assert {"4XX", "5XX"} <= set(operation["responses"]), path
            assert operation["summary"]


def test_a_row_in_the_document_has_the_models_own_columns(client, models):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    schema = models["ranker"].schema
    assert list(schemas["Row"]["properties"]) == schema.names
    assert set(schemas["Row"]["required"]) == set(schema.names) - set(schema.donor_names)
    age = next(column for column in schema.columns if column.name == "age")
    assert (schemas["Row"]["properties"]["age"]["minimum"], schemas["Row"]["properties"]["age"]["maximum"]) == (
        age.low,
        age.high,
    )
    assert schemas["Row"]["properties"]["sex"]["enum"] == ["female", "male", None]


def test_the_document_is_of_a_service_with_a_token_only_where_there_is_one(models):
    from lifeyears.service import create_app

    assert "securitySchemes" not in create_app(models).openapi()["components"]
    document = create_app(models, token="0123456789abcdef").openapi()
    assert document["components"]["securitySchemes"] == {"HTTPBearer": {"type": "http", "scheme": "bearer"}}
    assert "security" not in document["paths"]["/api/health"]["get"]
    assert document["paths"]["/api/rank"]["post"]["security"] == [{"HTTPBearer": []}]


def test_policies_are_the_catalogues(client):
    found = client.get("/api/policies").json()
    assert {each["policy"]: each["label"] for each in found["policies"]} == {
        key: spec.label for key, spec in ly.catalogue.policies.items()
    }
    assert {each["policy"] for each in found["policies"] if each["oracle"]} == {"oracle", "oracle_lyg"}


def test_a_path_that_is_sent_is_never_imported(client, tmp_path, monkeypatch):
    (tmp_path / "taken.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("taken:Policy", f"{tmp_path / 'taken.py'}:Policy"):
        refused = error_of(client.post("/api/simulations", json={"policies": [name]}))
        assert refused["code"] == "bad_policies"
        assert error_of(client.get("/api/model", params={"model": name}))["code"] == "no_such_model"


@pytest.fixture
def runs(monkeypatch, summary):
    """Runs that take no time; the folders in which they were made."""
    made = []

    def run(protocol, data, path, **settings):
        path.mkdir(parents=True, exist_ok=True)
        (path / "summary.json").write_bytes(write_summary(summary))
        made.append(path)

    monkeypatch.setattr("lifeyears.experiments.run", run)
    return made


def test_the_sample_run_is_made_once_and_again_if_it_is_damaged(tmp_path, monkeypatch, runs, summary):
    from lifeyears.service import sample_run

    monkeypatch.setenv("LIFEYEARS_CACHE", str(tmp_path))
    said = []
    assert sample_run(said.append) == sample_run(said.append)
    assert len(runs) == len(said) == 1
    for damage in ("{", "[]", write_summary(replace(summary, schema=1)).decode()):
        (runs[0] / "summary.json").write_text(damage)
        assert sample_run(said.append).schema == 3
        assert "again" in said[-1]
    assert runs == runs[:1] * 4


def test_the_sample_run_needs_no_folder_that_can_be_written(tmp_path, monkeypatch, runs):
    from lifeyears.service import sample_run

    (tmp_path / "cache").write_text("a file, not a folder")
    monkeypatch.setenv("LIFEYEARS_CACHE", str(tmp_path / "cache"))
    said = []
    assert sample_run(said.append).schema == 3
    assert "temporary" in said[-1]
    assert not runs[-1].exists()


def test_a_run_that_the_report_refuses_is_not_served(tmp_path, monkeypatch, capsys, models, summary):
    from lifeyears.cli import run as command

    monkeypatch.setattr("lifeyears.service._server.serve", lambda *settings: None)
    models["cox"].save(tmp_path / "cox")
    (tmp_path / "summary.json").write_bytes(write_summary(replace(summary, schema=1)))
    assert command(["serve", "--model", str(tmp_path / "cox"), "--run", str(tmp_path)]) == 2
    assert (
        "has schema 1; this version of lifeyears reads 3. Run its command again with another folder, --out."
        in capsys.readouterr().err
    )


def test_the_run_is_sent(client, summary):
    found = client.get("/api/run").json()
    assert found["best"] == {"model": "Cox", "method": "stacked", "label": "Cox + stacked ranker", "oracle": False}
    assert [row["arm"]["label"] for row in found["leaderboard"]] == ["Cox + stacked ranker", "Cox", "Kaplan–Meier"]
    assert [row["value"]["value"] for row in found["leaderboard"]] == [9.4, 9.0, 7.0]
    (difference,) = found["differences"]
    assert (difference["arm"]["method"], difference["other"]["method"], difference["value"]) == (
        "none",
        "stacked",
        -0.4,
    )
    assert {finding["severity"] for finding in found["findings"]} == {"answer", "serious"}


def settled(client, name, seconds=90):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = client.get(f"/api/simulations/{name}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.2)
    raise AssertionError(f"still {found['state']}")


SMALL = {"policies": ["us_status", "oracle"], "years": 0.5, "replicates": 2, "scale": 0.01}


def test_a_simulation_runs_with_progress_and_is_the_librarys(client):
    reply = client.post("/api/simulations", json=SMALL)
    assert reply.status_code == 202
    found = settled(client, reply.json()["id"])
    assert found["state"] == "done", found["progress"]
    assert found["progress"]["done"] == 2
    same = ly.simulation.simulate(
        ["us_status", "oracle"], years=0.5, replicates=2, n_jobs=1, config={"world": {"scale": 0.01}}
    ).summary()
    assert found["result"]["policies"] == json.loads(json.dumps(same["policies"]))


def test_a_simulation_can_be_cancelled_and_is_then_gone(client):
    name = client.post("/api/simulations", json=SMALL | {"years": 20, "replicates": 50, "scale": 0.2}).json()["id"]
    assert client.get(f"/api/simulations/{name}").json()["state"] in ("waiting", "running")
    assert client.delete(f"/api/simulations/{name}").json()["state"] == "cancelled"
    assert client.get(f"/api/simulations/{name}").status_code == 404
    assert client.delete(f"/api/simulations/{name}").status_code == 404


def test_simulations_are_bounded_in_number(client):
    long = SMALL | {"years": 20, "replicates": 50, "scale": 0.2}
    names = [client.post("/api/simulations", json=long) for _ in range(6)]
    assert [reply.status_code for reply in names] == [202] * 5 + [429]
    for reply in names[:5]:
        client.delete(f"/api/simulations/{reply.json()['id']}")


def test_a_simulation_that_tells_what_cannot_be_read_has_failed(monkeypatch):
    import asyncio

    from lifeyears.service import _simulations
    from lifeyears.service._models import SimulationRequest

    async def garbled(self, job):
        job.state = "running"
        json.loads("a library's greeting on stdout")

    async def told():
        monkeypatch.setattr(_simulations.Simulations, "_in_child", garbled)
        jobs = _simulations.Simulations(Limits())
        job = jobs.start(SimulationRequest(**SMALL))
        await job.task
        return job.state

    with ThreadPoolExecutor(1) as apart:  # a browser of other tests may have a loop in this thread
        assert apart.submit(asyncio.run, told()).result() == "failed"


@pytest.mark.parametrize(
    "wrong",
    [
        {"policies": []},
        {"policies": "us_status"},
        {"policies": ["/etc/passwd"]},
        {"policies": [{"name": "x", "order": "model", "model": "/etc"}]},
        {"policies": ["oracle", "oracle"]},
        {"years": 1e9},
        {"years": -1},
        {"replicates": 1.5},
        {"scale": None},
        {"seed": True},
        {"world": {}},
        {"years": 20, "replicates": 50, "scale": 1},
    ],
)
def test_wrong_simulations_are_refused(client, wrong):
    assert error_of(client.post("/api/simulations", json=wrong))["message"]


def test_no_number_is_lost_on_the_way(client, rows):
    text = rank(client, rows).text
    assert "NaN" not in text
    assert "Infinity" not in text
    assert all(math.isfinite(row["years"]) for row in json.loads(text)["ranked"])
