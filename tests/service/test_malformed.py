"""Whatever is sent: no 5xx, no crash, no hang, no path in an answer."""

import json
import time

import numpy as np
import pytest

from lifeyears.service import Limits

from .conftest import running

SEED = 20_260
TEXTS = [
    "",
    "old",
    "NaN",
    "../../etc/passwd",
    "\u0000",
    "é" * 50,
    "'; DROP TABLE",
    "1e5",
    "<script>",
    "\ud83d\ude00",
    "missing",
]
NUMBERS = [0, -1, 1e308, -1e308, 1e-320, 10**30, 10**400, 2**63, True, False, 1.5, 61]
PATHS = ["/api/rank", "/api/explain", "/api/evaluate", "/api/simulations", "/api/sample"]


def strange(rng, depth=0):
    """Any JSON value."""
    kind = rng.integers(0, 7 if depth < 3 else 4)
    if kind == 0:
        return None
    if kind in (1, 2):
        return NUMBERS[rng.integers(len(NUMBERS))]
    if kind == 3:
        return TEXTS[rng.integers(len(TEXTS))]
    if kind == 4:
        return [strange(rng, depth + 1) for _ in range(rng.integers(0, 4))]
    return {TEXTS[rng.integers(len(TEXTS))]: strange(rng, depth + 1) for _ in range(rng.integers(0, 4))}


def spoilt(rng, rows, donor):
    """A request as it should be, with something wrong in it."""
    candidates = [dict(row) for row in rows[: rng.integers(1, 4)]]
    content = {"candidates": candidates, "donor": dict(donor), "k": 2}
    kind = rng.integers(0, 8)
    row = candidates[rng.integers(len(candidates))]
    names = list(row)
    if kind == 0:
        row[names[rng.integers(len(names))]] = strange(rng)
    elif kind == 1:
        del row[names[rng.integers(len(names))]]
    elif kind == 2:
        content[["candidates", "donor", "k", "model", "time", "event", "x"][rng.integers(7)]] = strange(rng)
    elif kind == 3:
        content["donor"][list(donor)[rng.integers(len(donor))]] = strange(rng)
    elif kind == 4:
        candidates[0] = strange(rng)
    elif kind == 5:
        content |= {"time": [strange(rng)] * len(candidates), "event": [strange(rng)] * len(candidates)}
    elif kind == 6:
        content = {"policies": strange(rng), "years": strange(rng), "scale": strange(rng), "replicates": strange(rng)}
    else:
        content = strange(rng)
    return content


def encoded(rng, content):
    """The bytes of a request, some of them damaged."""
    text = json.dumps(content)
    kind = rng.integers(0, 12)
    if kind == 0:
        return text.encode("utf-16")
    if kind == 1:
        return text.encode("utf-8")[: rng.integers(0, len(text) + 1)]
    if kind == 2:
        data = bytearray(text.encode())
        for place in rng.integers(0, max(len(data), 1), 3):
            if data:
                data[place] = rng.integers(0, 256)
        return bytes(data)
    if kind == 3:
        return text.replace("1", "NaN", 1).replace("2", "Infinity", 1).encode()
    if kind == 4:
        return b"[" * int(rng.integers(1, 3000))
    if kind == 5:
        return b"\xef\xbb\xbf" + text.encode()
    if kind == 6:
        return rng.bytes(int(rng.integers(0, 500)))
    return text.encode()


def bombard(client, rows, donor, many, seed):
    rng = np.random.default_rng(seed)
    slowest, seen = 0.0, {}
    for number in range(many):
        path = PATHS[rng.integers(len(PATHS))]
        kind = "application/json" if rng.random() < 0.95 else TEXTS[0] + "text/plain"
        body = encoded(rng, spoilt(rng, rows, donor))
        start = time.perf_counter()
        if rng.random() < 0.05:
            name = TEXTS[rng.integers(len(TEXTS))].replace("\u0000", "%00").encode("utf-8", "replace").decode()
            where = ["/api/simulations/", "/api/model?model=", "/", "/api/"][rng.integers(4)]
            reply = client.request(["GET", "DELETE", "PUT"][rng.integers(3)], where + name)
        else:
            reply = client.post(path, content=body, headers={"content-type": kind})
        slowest = max(slowest, time.perf_counter() - start)
        seen[reply.status_code] = seen.get(reply.status_code, 0) + 1
        where = f"request {number} of seed {seed}: {reply.status_code} {reply.text[:300]}"
        assert reply.status_code < 500, where
        assert "Traceback" not in reply.text, where
        assert "site-packages" not in reply.text, where
        assert "/lifeyears/" not in reply.text, where
        if reply.status_code == 202:
            client.delete(f"/api/simulations/{reply.json()['id']}")
        elif reply.status_code >= 400:
            assert set(reply.json()["error"]) <= {"code", "message", "row", "column", "hint"}, where
    return seen, slowest


def test_malformed_requests_are_refused(client, rows):
    seen, slowest = bombard(client, *rows, many=300, seed=SEED)
    assert slowest < 20
    assert seen[422] > 100
    assert client.get("/api/health").status_code == 200


@pytest.mark.slow
def test_ten_thousand_malformed_requests_and_a_million_rows(models, rows):
    from lifeyears.service import create_app

    with running(create_app(models)) as client:
        seen, slowest = bombard(client, *rows, many=10_000, seed=SEED + 1)
        print(seen, f"slowest {slowest:.2f} s")
        assert slowest < 20
        for row in (b"{}", b"1", b'{"age":61}'):
            body = b'{"candidates":[' + (row + b",") * 999_999 + row + b"]}"
            reply = client.post("/api/rank", content=body, headers={"content-type": "application/json"})
            assert reply.status_code == 413
        assert client.get("/api/health").status_code == 200


def test_a_slow_sender_is_let_go(models):
    import socket

    from lifeyears.service import create_app

    with running(create_app(models, limits=Limits(body_seconds=0.3))) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port), timeout=10) as plain:
            plain.sendall(
                b"POST /api/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
            assert b" 408 " in plain.recv(65536)
        assert client.get("/api/health").status_code == 200


def test_who_comes_when_too_many_wait_is_told_to_come_back(models, rows):
    from lifeyears.service import create_app

    candidates, donor = rows
    with running(create_app(models, limits=Limits(waiting_requests=0))) as client:
        reply = client.post("/api/rank", json={"candidates": candidates, "donor": donor})
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
    with running(create_app(models, limits=Limits(waiting_bytes=1000))) as client:
        reply = client.post("/api/rank", json={"candidates": candidates, "donor": donor})
        assert reply.status_code == 429


@pytest.mark.parametrize("many", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_the_schema_describes_what_comes(client, many):
    """Schemathesis makes requests from the schema, right and wrong: no 5xx, and answers are as described."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed (extra `dev`)")
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    schema.config.update(base_url=str(client.base_url))
    checks = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
    tried = []
    for result in schema.get_all_operations():
        operation = result.ok()
        right = operation.as_strategy()
        wrong = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
        has_body = operation.method.upper() == "POST"

        @given(case=st.one_of(right, wrong) if has_body else right)
        @settings(
            max_examples=many,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def holds(case):
            reply = case.call()
            tried.append(reply.status_code)
            case.validate_response(reply, checks=checks)
            if reply.status_code == 202:
                client.delete(f"/api/simulations/{reply.json()['id']}")

        holds()
    assert 200 in tried
    assert 422 in tried
