"""The service, and what is refused."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..names import ROUTES, fit_model, ly, read
from ..record import Record
from . import case
from ._shared import lifeyears, patients, plain, registry


@case
def service(record: Record, folder: Path) -> None:
    """REST: model, rank, explain, evaluate, sample, simulation and run, for a ranker and a plain model."""
    from starlette.testclient import TestClient

    data = replace(registry(500, 5), horizon=10.0)
    models = {
        "ranker": fit_model(data, base="Cox", preset="paper", name="small ranker", n_jobs=1),
        "aft": fit_model(data, base="AFT", preset="none", name="small AFT", n_jobs=1),
    }
    people = ly.data.Population()
    pairs = people.pairs(people.candidates(160, 1), people.donors(3, 2), donor=1, incompatible="keep")
    names = list(read(models["ranker"].schema, "names"))
    rows = json.loads(pairs[names].to_json(orient="records", double_precision=15))
    donor = {name: rows[0][name] for name in read(models["ranker"].schema, "donor_names")}
    candidates = [{name: value for name, value in row.items() if name not in donor} for row in rows]
    rng = np.random.default_rng(1)
    outcome = {"time": rng.exponential(6, len(rows)).round(2).tolist(), "event": (rng.random(len(rows)) < 0.7).tolist()}

    with TestClient(ly.app.create_app(models, {"schema": 2, "best": "Cox"}), base_url="http://localhost") as client:
        for name in models:
            ask = {"model": name, "donor": donor}
            answer(record, client, f"{name}/model", "/api/model", {"model": name})
            answer(record, client, f"{name}/rank", "/api/rank", body={**ask, "candidates": candidates[:40], "k": 3})
            answer(record, client, f"{name}/explain", "/api/explain", body={**ask, "candidates": candidates[:4]})
            answer(
                record, client, f"{name}/evaluate", "/api/evaluate", body={**ask, "candidates": candidates, **outcome}
            )
            answer(record, client, f"{name}/sample", "/api/sample", {"model": name})
        answer(record, client, "donor", "/api/sample", body={"donor": 2, "changes": {"donor_age": 50}})
        answer(record, client, "run", "/api/run")
        small = {"policies": ["us_status", "oracle"], "years": 0.5, "replicates": 2, "scale": 0.01, "seed": 2}
        begun = client.post(route(client, "/api/simulations"), json={**small, "training_rows": 1000}).json()
        for _ in range(600):
            found = client.get(f"{route(client, '/api/simulations')}/{begun['id']}").json()
            if found["state"] not in ("waiting", "running"):
                break
            time.sleep(0.2)
        del found["id"]
        record.json("simulation", found)
        refused(record, client, candidates, donor)
    table = ly.data.read_table(patients(200).drop(columns="listed"), time="days", event="died", horizon=3000.0)
    own = {"own": fit_model(table, base="Cox", preset="none", name="own table", n_jobs=1)}
    with TestClient(ly.app.create_app(own), base_url="http://localhost") as client:
        answer(record, client, "own/model", "/api/model")
        answer(record, client, "own/sample", "/api/sample")
        sample = client.get(route(client, "/api/sample")).json()
        answer(record, client, "own/rank", "/api/rank", body={name: sample[name] for name in ("candidates", "donor")})


def route(client: Any, path: str) -> str:
    """A URL under its newest known name."""
    known = {each.path for each in client.app.routes}
    return next((new for new in ROUTES.get(path, ()) if new in known), path)


def answer(record: Record, client: Any, key: str, path: str, query: Any = None, body: Any = None) -> None:
    """Ask, and record the answer."""
    where = route(client, path)
    reply = client.get(where, params=query) if body is None else client.post(where, json=body)
    if reply.status_code >= 400:
        raise RuntimeError(f"{where} answered {reply.status_code}: {reply.text[:500]}")
    record.add(f"{key}/status", reply.status_code)
    record.json(key, reply.content)


def refused(record: Record, client: Any, candidates: Any, donor: Any) -> None:
    """Record the status of requests that are wrong."""
    wrong: dict[str, tuple[str, Any]] = {
        "no candidates": ("/api/rank", {"candidates": [], "donor": donor}),
        "no donor": ("/api/rank", {"candidates": candidates[:3]}),
        "unknown field": ("/api/rank", {"candidates": candidates[:3], "donor": donor, "kk": 3}),
        "unknown model": ("/api/rank", {"candidates": candidates[:3], "donor": donor, "model": "none"}),
        "k too small": ("/api/rank", {"candidates": candidates[:3], "donor": donor, "k": 0}),
        "text for a number": ("/api/explain", {"candidates": [{**candidates[0], "age": "old"}], "donor": donor}),
        "too few": (
            "/api/evaluate",
            {"candidates": candidates[:3], "donor": donor, "time": [1, 2, 3], "event": [1, 0, 1]},
        ),
        "unknown policy": ("/api/simulations", {"policies": ["mine"]}),
        "bad donor": ("/api/sample", {"donor": 99}),
    }
    for name, (path, body) in wrong.items():
        record.add(f"refused/{name}", client.post(route(client, path), json=body).status_code)


@case
def refusals(record: Record, folder: Path) -> None:
    """Wrong input is still refused: whether a ValueError is raised in Python, and the exit codes of commands."""
    X, y = plain()
    frame = pd.DataFrame({"time": [1.0, 2.0, 3.0], "event": [1, 0, 1], "x": [1.0, 2.0, 3.0]})
    bad = {
        "negative time": lambda: ly.as_outcome(([1, 0], [1.0, -2.0])),
        "missing time": lambda: ly.as_outcome(([1, 0], [1.0, np.nan])),
        "codes of events": lambda: ly.as_outcome(([1, 2], [1.0, 2.0])),
        "swapped": lambda: ly.as_outcome(([1.5, 2.5], [1, 0])),
        "no events": lambda: ly.models.Cox().fit(X, (np.zeros(len(X)), y.time)),
        "rows differ": lambda: ly.models.Cox().fit(X[:10], y),
        "tau": lambda: ly.models.KaplanMeier(tau=-1).fit(X, y),
        "rising curve": lambda: ly.SurvivalCurves([1.0, 2.0], [[0.5, 0.9]]),
        "k": lambda: ly.allocation.PositionWeighted(k=0),
        "negative ndcg": lambda: ly.metrics.ndcg_score(-y.time, X[:, 0]),
        "waitlist": lambda: ly.metrics.policy_value(y.time, X[:, 0], k=5, waitlist=3),
        "measure": lambda: ly.metrics.make_scorer("accuracy"),
        "whole life": lambda: ly.relevance.ExpectedYears(ly.models.KaplanMeier()).fit(X, y).estimate(X, y),
        "no such set": lambda: ly.data.load("no such set"),
        "no such column": lambda: ly.data.read_table(frame, time="years", event="event"),
        "infinite": lambda: ly.data.TablePreprocessor().fit([[1.0], [np.inf]]),
        "world": lambda: ly.data.simulate_registry(n=10, world="moon"),
        "policy": lambda: ly.simulation.simulate(["mine"]),
        "no model there": lambda: ly.load(folder / "nothing"),
        "members": lambda: ly.BootstrappedRanker(members=("wheels",)).fit(X, y),
        "protocol": lambda: ly.experiments.run("half", registry(), folder / "run"),
        "folds": lambda: ly.experiments.run("full", registry(), folder / "run", folds=1),
    }
    for name, call in bad.items():
        try:
            call()
            record.add(f"python/{name}", "accepted")
        except ValueError:
            record.add(f"python/{name}", "ValueError")
        except (TypeError, OSError) as error:
            record.add(f"python/{name}", type(error).__name__)
    frame.to_csv(folder / "few.csv", index=False)
    commands = {
        "no such data": ("compare", "no-such-data"),
        "no such file": ("fit", "none.csv", "--out", "m"),
        "no outcome": ("fit", str(folder / "few.csv"), "--out", "m"),
        "bad base": ("fit", "veteran", "--base", "Lasso", "--out", "m"),
        "bad option": ("compare", "veteran", "--wheels", "4"),
        "bad horizon": ("compare", "veteran", "--horizon", "-1"),
        "no model": ("rank", "nowhere", str(folder / "few.csv"), "--out", "r"),
        "bad config": ("simulate", str(folder / "few.csv")),
        "dry run": ("compare", "veteran", "--dry-run", "--models", "KM"),
        "no run": ("status", str(folder)),
        "version": ("version",),
        "sets": ("datasets",),
    }
    for name, words in commands.items():
        record.add(f"command/{name}", lifeyears(*words)[0])
