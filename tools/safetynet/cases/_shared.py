"""Small inputs that several cases share, made once in a process; and the command line."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from ..names import command_words, ly
from ..record import Record


@cache
def registry(n: int = 400, seed: int = 3, world: str = "registry") -> Any:
    """A simulated registry."""
    return ly.data.simulate_registry(n=n, world=world, random_state=seed)


@cache
def matrix(n: int = 400, seed: int = 3) -> np.ndarray:
    """The matrix of a simulated registry."""
    found = ly.data.TablePreprocessor().fit_transform(registry(n, seed).X)
    found.setflags(write=False)
    return found


@cache
def plain(n: int = 300, columns: int = 4, seed: int = 11) -> tuple[np.ndarray, Any]:
    """Numbers and outcomes with ties, made here: they depend on nothing of the package but `as_outcome`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    life = rng.exponential(6.0, n) * np.exp(0.5 * X[:, 0] - 0.3 * X[:, 1])
    lost = rng.uniform(0.5, 15.0, n)
    time = np.maximum(np.ceil(4 * np.minimum(life, lost)) / 4, 0.25)
    return X, ly.as_outcome((life <= lost, time))


def patients(n: int = 320, seed: int = 5) -> pd.DataFrame:
    """A made-up table of candidates with donors, as somebody might have it in a file."""
    rng = np.random.default_rng(seed)
    age, creatinine = rng.integers(18, 75, n), rng.gamma(4, 0.35, n).round(2)
    donor_age = rng.integers(15, 65, n)
    device = rng.choice(["none", "left", "both"], n, p=[0.6, 0.3, 0.1])
    risk = 0.02 * (age - 50) + 0.4 * (creatinine - 1.4) + 0.01 * (donor_age - 35) + 0.5 * (device == "both")
    life, lost = rng.exponential(3500 * np.exp(-risk)), rng.uniform(300, 6000, n)
    table = pd.DataFrame(
        {
            "days": np.ceil(np.minimum(life, lost)).astype(int),
            "died": np.where(life <= lost, "yes", "no"),
            "age": age,
            "creatinine": creatinine,
            "device": device,
            "blood_group": rng.choice(["O", "A", "B", "AB"], n),
            "donor_age": donor_age,
            "donor_sex": rng.choice(["F", "M"], n),
            "hospital": rng.choice(["north", "south", "east", "west"], n),
            "listed": pd.Timestamp("2009-01-01") + pd.to_timedelta(rng.integers(0, 4000, n), unit="D"),
        }
    )
    table.loc[rng.random(n) < 0.1, "creatinine"] = np.nan
    return table


def base_file(name: str) -> Path:
    """A file of the base's tests, which `safety_net.py` has put aside for both sides."""
    return Path(os.environ["SAFETY_NET_FILES"]) / name


def star_release() -> Any:
    """The module of the base's tests that makes a STAR release up."""
    spec = importlib.util.spec_from_file_location("star_release", base_file("star_release.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["star_release"] = module
    spec.loader.exec_module(module)
    return module


def lifeyears(*words: str) -> tuple[int, str]:
    """Run a command in this process; its exit code and what it printed."""
    known = typer.main.get_command(ly.cli.app).commands[words[0]]  # type: ignore[attr-defined]
    options = [option for parameter in known.params for option in parameter.opts]
    before, told = sys.argv, io.StringIO()
    sys.argv = ["lifeyears", words[0], *command_words(words[0], words[1:], options)]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(io.StringIO()):
            ly.cli.main()
    except SystemExit as leave:
        code = leave.code or 0
    finally:
        sys.argv = before
    return int(code), told.getvalue()


def done(record: Record, key: str, *words: str) -> None:
    """Run a command that must succeed, and record what it printed."""
    code, text = lifeyears(*words)
    if code:
        raise RuntimeError(f"lifeyears {' '.join(words)} ended with {code}: {text}")
    record.add(f"{key}/stdout", text.replace(os.getcwd(), "."))
