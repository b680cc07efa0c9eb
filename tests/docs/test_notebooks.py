"""What a notebook shows by itself, and what `.plot()` draws."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import lifeyears as ly
from conftest import cohort

X, Y = cohort(400)
MODEL = ly.models.Cox(tau=8).fit(X, Y)


def relevance():
    return ly.relevance.ExpectedYears(ly.models.Cox(), tau=8).fit(X, Y).estimate(X, Y)


def simulation():
    small = {"world": {"scale": 0.01, "burn_in_years": 0.5}}
    return ly.simulation.simulate(["us_status", "uniform"], years=1, replicates=2, n_jobs=1, config=small)


SHOWN = {
    "a fitted model": lambda: MODEL,
    "a ranker": lambda: ly.BootstrappedRanker(ly.models.Cox(), tau=8),
    "a wrapped model": lambda: ly.models.wrap(ly.models.Cox()),
    "curves": lambda: MODEL.predict_curves(X[:3]),
    "a comparison": lambda: ly.metrics.compare(Y.time, {"Cox": MODEL.predict(X), "random": np.arange(400)}, waitlist=8),
    "relevance": relevance,
    "a simulation": simulation,
}


@pytest.mark.parametrize("what", SHOWN)
def test_it_shows_itself_and_draws_in_one_call(what):
    thing = SHOWN[what]()
    shown = thing._repr_html_()
    assert shown.startswith("<")
    if isinstance(thing, ly.models.SurvivalModel | ly.BootstrappedRanker):
        assert type(thing).__name__ in shown  # scikit-learn's diagram
        return
    assert "<table" in shown
    assert thing.plot() is not None
    plt.close("all")
