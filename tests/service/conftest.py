import json
import socket
import threading
import time
from contextlib import contextmanager

import pytest

import lifeyears as ly
from lifeyears.scoring import fit_model

try:
    import fastapi  # noqa: F401
    import httpx
    import uvicorn
except ModuleNotFoundError:  # the service is the extra `app`, and httpx, with which it is asked, of `dev`
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def data():
    return ly.data.simulate_registry(n=700, random_state=3)


@pytest.fixture(scope="session")
def models(data):
    """A ranker over Cox with fewer trees than the sample's, and Cox alone."""
    from dataclasses import replace

    from lifeyears.scoring import MatchModel, forget_rows, make_card

    data = replace(data, horizon=10.0)
    members = ly.ranking.make_members(n_estimators=60)
    ranker = ly.StackedRanker(tau=10.0, members=members, folds=2, random_state=0, n_jobs=1).fit(data.X, data.y)
    card = make_card(data, ranker, "small ranker", settings={"base": "Cox", "preset": "default", "seed": 0})
    return {
        "ranker": MatchModel(forget_rows(ranker), card),
        "cox": fit_model(data, preset="none", name="small Cox", n_jobs=1),
    }


@pytest.fixture(scope="session")
def pairs():
    """A match run of the registry's population: a table of all columns, one donor."""
    people = ly.data.Population()
    return people.pairs(people.candidates(300, 1), people.donors(3, 2), donor=1, incompatible="keep")


@pytest.fixture(scope="session")
def rows(models, pairs):
    """The same as JSON: candidates without the donor's columns, and the donor."""
    schema = models["ranker"].schema
    whole = json.loads(pairs[schema.names].to_json(orient="records", double_precision=15))
    donor = {name: whole[0][name] for name in schema.donor_names}
    return [{name: value for name, value in row.items() if name not in donor} for row in whole], donor


@pytest.fixture(scope="session")
def summary():
    """A run's summary, as small as Compare can show."""
    years = {
        "columns": ["model", "framework", "years", "low", "high", "gain", "gain low", "gain high", "p", "C-index"],
        "index": [0, 1, 2],
        "data": [
            ["Cox", "standard", 9.0, 8.5, 9.5, None, None, None, None, 0.61],
            ["Cox", "default", 9.4, 9.0, 9.8, 0.4, 0.1, 0.7, 0.01, 0.6],
            ["KM", "standard", 7.0, 6.9, 7.1, None, None, None, None, 0.5],
        ],
    }
    comparison = {
        "columns": ["model", "other", "value", "low", "high", "p"],
        "index": [0],
        "data": [["Cox standard", "Cox default", -0.4, -0.7, -0.1, 0.01]],
    }
    return {
        "schema": 2,
        "best": "Cox default",
        "reading": "Most years per allocation: Cox default.",
        "intervals": "by hand",
        "data": {"name": "by hand", "rows": 100, "events": 50, "unit": "years", "simulated": True},
        "waitlist": {"asked": 10, "used": 10, "k": 1},
        "counts": {},
        "warnings": [{"serious": True, "title": "No support at 10 years", "text": "Nobody was seen for so long."}],
        "tables": {"years": years, "comparison": comparison},
    }


@contextmanager
def running(app):
    """The service on a port of its own, as uvicorn runs it; a client for it."""
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, server_header=False, ws="none"))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        port = listening.getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            while not server.started:
                time.sleep(0.01)
            yield client
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


@pytest.fixture(scope="session")
def service(models, summary):
    from lifeyears.service import create_app

    return create_app(models, summary)


@pytest.fixture(scope="session")
def client(service):
    with running(service) as made:
        yield made
