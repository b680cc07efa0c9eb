"""Runs to report on: a demo, and three that are hard to report well."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears.cli import run as command
from lifeyears.experiments import read_summary
from lifeyears.report import write_report

SMALL = {"iterations": 1, "folds": 2, "stacked_over": (), "waitlist": 8}


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The folder of a small demo run, made by the command."""
    out = tmp_path_factory.mktemp("demo") / "run"
    assert command(["demo", "--rows", "400", "--out", str(out), "--jobs", "1"]) == 0
    return out


def noise(n, follow_up, seed=0):
    """Lifetimes that nothing foretells, each followed for at most `follow_up` years."""
    rng = np.random.default_rng(seed)
    life, end = rng.exponential(5, n), rng.uniform(0.2, 1, n) * follow_up
    X = pd.DataFrame({"age": rng.normal(50, 10, n), "ward": pd.Categorical(rng.choice(["A", "B"], n))})
    return ly.data.Dataset(X, ly.Outcome(np.minimum(life, end), life <= end), "noise", horizon=10.0)


def reported(data, out, **options):
    run = ly.experiments.run("full", data, out, n_jobs=1, **{**SMALL, **options})
    return SimpleNamespace(run=run, folder=out, summary=read_summary(out), text=write_report(out).read_text())


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """So few that nothing can be told apart."""
    return reported(noise(120, 40), tmp_path_factory.mktemp("tiny") / "run", models=("KM", "Cox"), tau=10.0)


@pytest.fixture(scope="session")
def one_model(tmp_path_factory):
    return reported(noise(300, 40), tmp_path_factory.mktemp("one") / "run", models=("Cox",), tau=10.0)


@pytest.fixture(scope="session")
def unsupported(tmp_path_factory):
    """Nobody was followed for as long as the horizon."""
    return reported(noise(300, 4), tmp_path_factory.mktemp("unsupported") / "run", models=("KM", "Cox"), tau=10.0)
