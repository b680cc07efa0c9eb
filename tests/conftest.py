"""What the tests share: the small cohort of the reference values, and a random one."""

import json
import os
import shutil
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly

REFERENCE = Path(__file__).parent / "reference"


@pytest.fixture(scope="session")
def patients():
    """The cohort that R saw (tests/reference/make_patients.py)."""
    return pd.read_csv(REFERENCE / "patients.csv")


@pytest.fixture(scope="session")
def from_r():
    """What R's survival package says of `patients` (tests/reference/make_reference.R)."""
    return json.loads((REFERENCE / "r_survival.json").read_text())


@pytest.fixture
def X(patients):
    return patients[["age", "sex", "x"]].astype(float)


@pytest.fixture
def y(patients):
    return ly.as_outcome((patients["event"], patients["time"]))


def cohort(n, p=3, seed=0, ties=False):
    """A random cohort with proportional hazards: features, outcome."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, p))
    life = 8 * rng.weibull(1.3, n) * np.exp(-features @ np.linspace(0.6, -0.3, p) / 1.3)
    end = rng.uniform(0.5, 14, n)
    time = np.minimum(life, end)
    return features, ly.Outcome(np.ceil(time * 4) / 4 if ties else time, life <= end)


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, headless: one for report and page, as a process can run Playwright only once at a time."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (the dev extra has it)")
    names = (os.environ.get("LIFEYEARS_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield chromium
        chromium.close()
