"""Rankers by their keys."""

import pytest

import lifeyears as ly
from lifeyears.errors import RequestError
from lifeyears.ranking import build_ranker


def test_the_margin_is_a_year_in_the_unit_of_the_data():
    assert build_ranker("bootstrapped", tau=10.0, unit="years").margin == 1.0
    assert build_ranker("bootstrapped", tau=3650.0, unit="days").margin == 365.25
    assert build_ranker("bootstrapped", tau=40.0, unit="time units").margin == 2.0  # a twentieth of the horizon


def test_what_a_ranker_takes_is_passed():
    base = ly.models.KaplanMeier()
    ranker = build_ranker("stacked", base, tau=10.0, unit="days", random_state=3, n_jobs=2)
    assert isinstance(ranker, ly.StackedRanker)
    assert (ranker.base, ranker.tau, ranker.random_state, ranker.n_jobs) == (base, 10.0, 3, 2)


def test_a_registered_ranker_takes_what_it_can(monkeypatch):
    class Plain:
        def __init__(self, base=None, tau=None):
            self.base, self.tau = base, tau

    monkeypatch.setattr(ly.catalogue.rankers, "_specs", dict(ly.catalogue.rankers._all()))
    ly.catalogue.rankers.register("plain", Plain)
    assert build_ranker("plain", tau=5.0, unit="years").tau == 5.0
    with pytest.raises(RequestError, match="ranking method 'plane'"):
        build_ranker("plane", tau=5.0, unit="years")
