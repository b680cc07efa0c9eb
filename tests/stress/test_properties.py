"""What must not change when it makes no difference, and how it changes when it does.

Each property holds for cohorts of any size; `make stress` (stress/properties.py) tries the same ones many more times,
and on cohorts of up to 1,000,000.
"""

import os
import re
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lifeyears as ly
from lifeyears.curves import product_limit

EXAMPLES = int(os.environ.get("LIFEYEARS_EXAMPLES", "12"))
small = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    derandomize="LIFEYEARS_EXAMPLES" not in os.environ,  # the same examples in every run of the suite
)
MODELS = {
    "km": lambda tau: ly.models.KaplanMeier(tau=tau),
    "cox": lambda tau: ly.models.Cox(alpha=1.0, tau=tau),
    "aft": lambda tau: ly.models.WeibullAFT(tau=tau),
}


class Cohort:
    """Features, outcome with ties and censoring, scores with ties, relevance; all from one seed."""

    def __init__(self, n, seed, ties):
        rng = np.random.default_rng(seed)
        self.rng, self.n = rng, n
        self.X = rng.normal(size=(n, 3))
        life = 8 * rng.weibull(1.3, n) * np.exp(-self.X @ [0.5, -0.3, 0.0]) + 0.01
        end = rng.uniform(0.5, 14, n)
        time = np.minimum(life, end)
        if ties:
            time = np.ceil(time * 2) / 2
        event = life <= end
        event[rng.integers(n)] = True
        self.y = ly.Outcome(time, event)
        self.scores = np.round(rng.normal(size=n) - self.X[:, 0], 1 if ties else 12)
        self.relevance = np.minimum(life, 10.0)

    def __repr__(self):
        return f"Cohort({self.n})"


def cohorts(low=2, high=400):
    sizes = st.one_of(st.integers(low, max(low, 30)), st.integers(low, high))
    return st.builds(Cohort, sizes, st.integers(0, 2**32 - 1), st.booleans())


def quietly(work, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(*args, **kwargs)


def metrics(y, scores, relevance):
    """Every ranking metric at once."""
    n, W = len(y), min(len(y), 20)
    times = float(np.quantile(y.time, 0.6))
    found = {
        "c": ly.metrics.concordance_index(y, scores),
        "auc": ly.metrics.auc_at(y, scores, times),
        "ndcg": ly.metrics.ndcg_score(relevance, scores, k=min(3, n)),
        "ndcg waitlist": ly.metrics.ndcg_score(relevance, scores, k=1, waitlist=W),
        "value": ly.metrics.policy_value(relevance, scores, k=min(2, W), waitlist=W),
    }
    return np.array(list(found.values()), dtype=float)


@dataclass(frozen=True)
class Refusal:
    """What was refused, and in which words; numbers (a time in another unit, a row in another place) may differ."""

    kind: type
    words: str


TRIED = Counter()  # by whether it was refused, in the test that runs


def answered(work, *args):
    """The answer, or the refusal: either must be the same for the same cohort."""
    try:
        found = quietly(work, *args)
    except ValueError as error:
        found = Refusal(type(error), re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", str(error)))
    TRIED[isinstance(found, Refusal)] += 1
    return found


def same(first, second, rtol=1e-9, atol=1e-9):
    if isinstance(first, Refusal) or isinstance(second, Refusal):
        assert first == second
    else:
        np.testing.assert_allclose(first, second, rtol=rtol, atol=atol)


@pytest.fixture(autouse=True)
def _most_are_answered():
    """A property that holds because everything is refused says nothing."""
    TRIED.clear()
    yield
    assert TRIED[True] <= TRIED.total() / 4


# outcomes


@small
@given(cohorts())
def test_an_outcome_reads_the_same_in_every_form(cohort):
    import pandas as pd

    y = cohort.y
    forms = [(y.event, y.time), (y.event.astype(int), y.time), y.to_structured()]
    forms.append(pd.DataFrame({"time": y.time, "event": y.event}))
    for form in forms:
        read = ly.as_outcome(form)
        assert np.array_equal(read.time, y.time)
        assert np.array_equal(read.event, y.event)


@small
@given(cohorts(), st.floats(0.3, 20))
def test_restriction_goes_as_far_as_it_is_told_and_no_further(cohort, tau):
    once = cohort.y.restrict(tau)
    twice = once.restrict(tau)
    assert np.array_equal(once.time, twice.time)
    assert np.array_equal(once.event, twice.event)
    assert once.time.max() <= tau
    assert once.event[cohort.y.time >= tau].all()
    earlier = cohort.y.time < tau
    assert np.array_equal(once.event[earlier], cohort.y.event[earlier])


@small
@given(cohorts())
def test_events_and_censorings_swapped_twice_are_themselves(cohort):
    y = cohort.y
    again = y.censoring().censoring()
    assert np.array_equal(again.event, y.event)
    np.testing.assert_allclose(again.time, y.time, rtol=1e-12)


@small
@given(cohorts())
def test_survival_times_censoring_is_the_share_still_there(cohort):
    """S(t−)·G(t−) = #{T ≥ t}/n: the two product limits share out the risk set between them."""
    y = cohort.y
    at = np.unique(y.time)
    S, G = product_limit(y).curves(), product_limit(y.censoring()).curves()
    there = (y.time[:, None] >= at).mean(axis=0)
    found = S.at(at, left=True)[0] * G.at(at * (1 - 1e-13), left=True)[0]
    np.testing.assert_allclose(found, there, atol=1e-9)


# curves


@small
@given(cohorts(), st.floats(0.5, 20), st.floats(0.0, 10))
def test_means_of_curves_are_bounded_and_add_up(cohort, tau, a):
    """∫₀^τ S = ∫₀^a S + S(a)·(E[min(T, τ) | T > a] − a)."""
    curves = quietly(MODELS["cox"](None).fit, cohort.X, cohort.y).predict_curves(cohort.X)
    if a >= tau:
        return
    mean = curves.restricted_mean(tau)
    assert ((mean >= 0) & (mean <= tau + 1e-9)).all()
    after = curves.mean_life_after(a, tau)
    assert (after >= a - 1e-9)[curves.at(a) > 0].all()
    head = curves.restricted_mean(a) if a > 0 else 0.0
    alive = curves.at(a)
    there = alive > 0
    np.testing.assert_allclose((head + alive * (after - a))[there], mean[there], atol=1e-7)


# rows in another order, times in another unit, the cohort twice, a column that says nothing


@small
@given(cohorts())
def test_metrics_do_not_see_the_order_of_rows(cohort):
    order = cohort.rng.permutation(cohort.n)
    same(
        answered(metrics, cohort.y, cohort.scores, cohort.relevance),
        answered(metrics, cohort.y[order], cohort.scores[order], cohort.relevance[order]),
    )


@small
@given(cohorts(), st.sampled_from([2.0**-10, 0.25, 12.0, 365.25]))
def test_metrics_do_not_see_the_unit_of_time(cohort, unit):
    moved = ly.Outcome(cohort.y.time * unit, cohort.y.event)
    plain = answered(metrics, cohort.y, cohort.scores, cohort.relevance)
    scaled = answered(metrics, moved, cohort.scores, cohort.relevance * unit)
    if isinstance(scaled, np.ndarray):
        scaled[-1] /= unit  # policy value is in the unit of the relevance
    same(plain, scaled)


@small
@given(cohorts(), st.sampled_from(["shift", "scale", "exp", "rank", "cube"]))
def test_metrics_see_the_order_of_scores_only(cohort, how):
    turn = {
        "shift": lambda s: s + 1024.0,
        "scale": lambda s: s * 0.125,
        "exp": np.exp,
        "rank": lambda s: np.unique(s, return_inverse=True)[1].astype(float),
        "cube": lambda s: s**3,
    }[how]
    moved = turn(cohort.scores)
    if len(np.unique(moved)) < len(np.unique(cohort.scores)):  # far out, floats may run together
        return
    same(
        answered(metrics, cohort.y, cohort.scores, cohort.relevance),
        answered(metrics, cohort.y, moved, cohort.relevance),
    )


@small
@given(cohorts())
def test_concordance_turns_with_the_scores(cohort):
    scores = cohort.rng.permutation(cohort.n).astype(float)  # without ties
    there, back = (answered(ly.metrics.concordance_index, cohort.y, sign * scores) for sign in (1, -1))
    same(there, back if isinstance(back, Refusal) else 1 - back)


@small
@given(cohorts(2, 120), st.sampled_from(list(MODELS)))
def test_models_do_not_see_the_order_of_rows(cohort, name):
    order = cohort.rng.permutation(cohort.n)
    fit = answered(lambda: MODELS[name](10.0).fit(cohort.X, cohort.y).predict(cohort.X))
    moved = answered(lambda: MODELS[name](10.0).fit(cohort.X[order], cohort.y[order]).predict(cohort.X))
    same(fit, moved, rtol=1e-5, atol=1e-5)


@small
@given(cohorts(20, 150), st.sampled_from(list(MODELS)), st.sampled_from([0.25, 12.0, 365.25]))
def test_models_speak_in_the_unit_of_the_times(cohort, name, unit):
    moved = ly.Outcome(cohort.y.time * unit, cohort.y.event)
    fit = answered(lambda: MODELS[name](10.0).fit(cohort.X, cohort.y).predict(cohort.X))
    other = answered(lambda: MODELS[name](10.0 * unit).fit(cohort.X, moved).predict(cohort.X) / unit)
    same(fit, other, rtol=1e-4, atol=1e-4)


@small
@given(cohorts(3, 120), st.sampled_from(list(MODELS)))
def test_a_weight_of_two_is_the_cohort_twice(cohort, name):
    twice = np.tile(np.arange(cohort.n), 2)
    weighted = answered(
        lambda: MODELS[name](10.0).fit(cohort.X, cohort.y, sample_weight=np.full(cohort.n, 2.0)).predict(cohort.X)
    )
    doubled = answered(lambda: MODELS[name](10.0).fit(cohort.X[twice], cohort.y[twice]).predict(cohort.X))
    same(weighted, doubled, rtol=1e-4, atol=1e-4)


@small
@given(cohorts())
def test_pairs_of_the_cohort_twice_are_the_same_pairs_four_times(cohort):
    """Concordance: a pair of one subject with its own copy adds nothing, as their times are tied."""
    y, scores = cohort.y, cohort.scores
    twice = np.tile(np.arange(cohort.n), 2)
    same(
        answered(ly.metrics.concordance_index, y, scores),
        answered(ly.metrics.concordance_index, y[twice], scores[twice]),
    )
    np.testing.assert_allclose(product_limit(y).survival, product_limit(y[twice]).survival, atol=1e-12)


@small
@given(cohorts(3, 120), st.sampled_from(list(MODELS)), st.sampled_from([0.0, 1.0, -7.5, 1e6]))
def test_a_constant_column_changes_nothing(cohort, name, value):
    wider = np.column_stack([cohort.X, np.full(cohort.n, value)])
    fit = answered(lambda: MODELS[name](10.0).fit(cohort.X, cohort.y).predict(cohort.X))
    other = answered(lambda: MODELS[name](10.0).fit(wider, cohort.y).predict(wider))
    same(fit, other, rtol=1e-5, atol=1e-5)


# relevance


@small
@given(cohorts(20, 200), st.sampled_from(["ey", "ipcw", "dr"]))
def test_relevance_follows_the_rows_and_the_unit(cohort, kind):
    tau, unit = 6.0, 12.0

    def estimate(X, y, tau):
        S, G = ly.models.Cox(alpha=1.0), ly.models.KaplanMeier()
        made = {
            "ey": lambda: ly.relevance.ExpectedYears(S, tau=tau),
            "ipcw": lambda: ly.relevance.IPCW(G, tau=tau, on_violation="clip"),
            "dr": lambda: ly.relevance.DoublyRobust(S, G, tau=tau, on_violation="clip"),
        }[kind]()
        return made.fit(X, y).estimate(X, y).values

    plain = answered(estimate, cohort.X, cohort.y, tau)
    order = cohort.rng.permutation(cohort.n)
    moved = answered(estimate, cohort.X[order], cohort.y[order], tau)
    same(plain if isinstance(plain, Refusal) else plain[order], moved, rtol=1e-5, atol=1e-5)
    scaled = answered(estimate, cohort.X, ly.Outcome(cohort.y.time * unit, cohort.y.event), tau * unit)
    same(plain if isinstance(plain, Refusal) else plain * unit, scaled, rtol=1e-4, atol=1e-3)


@small
@given(cohorts(2, 200))
def test_without_censoring_every_relevance_is_the_life_itself(cohort):
    y, tau = ly.Outcome(cohort.y.time, np.ones(cohort.n, dtype=bool)), 6.0
    S, G = ly.models.KaplanMeier(), ly.models.KaplanMeier()
    for estimator in (
        ly.relevance.ExpectedYears(S, tau=tau),
        ly.relevance.IPCW(G, tau=tau),
        ly.relevance.DoublyRobust(S, G, tau=tau),
    ):
        values = quietly(lambda estimator=estimator: estimator.fit(cohort.X, y).estimate(cohort.X, y).values)
        np.testing.assert_allclose(values, np.minimum(y.time, tau), atol=1e-9)


# waitlists


@small
@given(cohorts(2, 60), st.data())
def test_a_constant_score_is_worth_a_random_pick(cohort, data):
    W = data.draw(st.integers(1, cohort.n))
    k = data.draw(st.integers(1, W))
    value = ly.metrics.policy_value(cohort.relevance, np.zeros(cohort.n), k=k, waitlist=W)
    assert value == pytest.approx(cohort.relevance.mean())
    assert ly.metrics.ndcg_score(cohort.relevance, cohort.relevance, k=k, waitlist=W) == pytest.approx(1.0)


# the ranker


@settings(small, max_examples=max(4, EXAMPLES // 20))
@given(cohorts(2, 300), st.sampled_from(["paper", "stacked"]))
def test_a_ranker_says_years_within_the_horizon_whatever_the_size(cohort, method):
    if method == "paper":
        ranker = ly.BootstrappedRanker(tau=6.0, n_estimators=5, random_state=0, n_jobs=1)
    else:
        ranker = ly.StackedRanker(tau=6.0, members=ly.ranking.make_members(n_estimators=5), random_state=0, n_jobs=1)
    said = answered(lambda: ranker.fit(cohort.X, cohort.y).predict(cohort.X))
    again = answered(lambda: ranker.fit(cohort.X, cohort.y).predict(cohort.X))
    same(said, again, rtol=0, atol=0)
    if not isinstance(said, Refusal):
        assert ((said >= 0) & (said <= 6.0)).all()
