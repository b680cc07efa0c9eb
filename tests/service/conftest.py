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


SETTINGS = {"model": "Cox", "method": "stacked", "label": "Cox + stacked ranker", "seed": 0}


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
    card = make_card(data, ranker, "small ranker", settings=SETTINGS)
    return {
        "ranker": MatchModel(forget_rows(ranker), card),
        "cox": fit_model(data, method="none", name="small Cox", n_jobs=1),
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
    from lifeyears.experiments.types import (
        Answer,
        Arm,
        Audit,
        DataNote,
        Estimate,
        Finding,
        MethodNote,
        Summary,
        Support,
        Waitlist,
    )

    best, cox, km = Arm("Cox", "stacked"), Arm("Cox"), Arm("KM")
    unknown = (None,) * 4
    allocation = table(
        ("model", "method", "value", "low", "high", "gain", "gain_low", "gain_high", "p", "c_index"),
        ("Cox", "none", 9.0, 8.5, 9.5, *unknown, 0.61),
        ("Cox", "stacked", 9.4, 9.0, 9.8, 0.4, 0.1, 0.7, 0.01, 0.6),
        ("KM", "none", 7.0, 6.9, 7.1, *unknown, 0.5),
    )
    comparison = table(
        ("model", "method", "other_model", "other_method", "difference", "low", "high", "p"),
        ("Cox", "none", "Cox", "stacked", -0.4, -0.7, -0.1, 0.01),
    )
    return Summary(
        schema=3,
        version=ly.__version__,
        protocol="full",
        plan={},
        command="lifeyears compare hand.csv",
        data=DataNote("by hand", 100, 100, 2, 50, "years", "", True, False),
        models=(MethodNote("Cox", "Cox", {}), MethodNote("KM", "Kaplan–Meier", {})),
        rankers=(MethodNote("stacked", "stacked ranker", {}),),
        estimators=(),
        metrics=(),
        relevance="DR",
        ndcg_relevance="EY",
        intervals="folds",
        waitlist=Waitlist(10, 10, 1),
        counts={},
        findings=(
            Finding("support", "serious", "No support at 10 years", "No comparable patient was followed that long."),
            Finding("best_model", "answer", "Cox + stacked ranker", "Most years per allocation: Cox + stacked ranker."),
        ),
        answer=Answer(best, Estimate(9.4, 9.0, 9.8), None, None, ()),
        audit=Audit(cox, False, None, None, "EY"),
        support=Support(True, {km.model: "Nobody was followed to the horizon."}),
        tables={"allocation": allocation, "comparison": comparison},
    )


def table(keys, *rows):
    from lifeyears.experiments.types import ColumnNote, Table

    return Table("By hand", tuple(ColumnNote(key, key) for key in keys), rows)


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
