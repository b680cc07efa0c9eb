from itertools import chain
from math import log2

import numpy as np
import pytest

from lifeyears.allocation import (
    Greedy,
    PositionWeighted,
    UniformRandom,
    adversary,
    guarantee,
    plot_tradeoff,
    tradeoff,
)
from lifeyears.metrics import compare, dcg_score, ndcg_score, policy_value


def cases(rng, count):
    """Utilities (some positive) and scores: heavy tails, ties, zeros, one needle, scores against the truth."""
    while count:
        n = int(rng.integers(2, 60))
        utilities = [
            lambda n=n: rng.exponential(5, n),
            lambda n=n: rng.pareto(0.7, n),
            lambda n=n: rng.integers(0, 4, n).astype(float),
            lambda n=n: np.eye(n)[rng.integers(n)],  # the case that makes Theorem 1 tight
            lambda n=n: np.where(rng.random(n) < 0.8, 0.0, rng.random(n)),
            lambda n=n: np.full(n, rng.random()),
        ][rng.integers(6)]()
        if not utilities.any():
            continue
        noise = rng.normal(size=n) * rng.choice([0.1, 1, 10])
        scores = [
            lambda u=utilities, e=noise: u + e,
            lambda u=utilities, e=noise: -u + 0.1 * e,  # against the truth
            lambda e=noise: np.round(e),  # ties
            lambda n=n: np.zeros(n),
            lambda u=utilities: u,
            lambda u=utilities: np.where(u == u.max(), -1.0, u),  # the best comes last
        ][rng.integers(6)]()
        count -= 1
        yield utilities, scores


def adversarial_cases(rng, count):
    """What the adversary builds against position-weighted, greedy and uniform allocation."""
    for _ in range(count):
        policy = [Greedy(), UniformRandom(), PositionWeighted(int(rng.integers(1, 60)))][rng.integers(3)]
        case = adversary(policy, rng.uniform(0.1, 0.98), rng.uniform(0.03, 0.9), rng.choice(["needle", "paper"]))
        yield case.utilities, case.scores


def test_theorem_1_and_corollary_1_hold_over_10000_random_and_adversarial_cases():
    rng = np.random.default_rng(0)
    tight = tested = 0
    for utilities, scores in chain(cases(rng, 9000), adversarial_cases(rng, 1000)):
        best, k = max(utilities), int(rng.integers(1, len(scores) + 1))
        w = [1 / log2(i + 2) for i in range(k)]
        expected = float(PositionWeighted(k).probabilities(scores) @ utilities)
        bound = guarantee(ndcg_score(utilities, scores, k), k)
        assert expected >= bound * best - 1e-9 * best  # Theorem 1
        assert expected * sum(w) == pytest.approx(dcg_score(utilities, scores, k), abs=1e-9 * best)
        greedy = float(Greedy().probabilities(scores) @ utilities)
        assert greedy >= guarantee(ndcg_score(utilities, scores, 1), 1) * best - 1e-9 * best  # Corollary 1
        tight += abs(expected - bound * best) < 1e-9 * best and k > 1 and expected > 0
        tested += 1
    assert tested == 10_000
    assert tight > 100  # the bound cannot be improved: some cases reach it


def test_the_bound_with_the_sum_written_out():
    # independent of metrics: ranks, discounts and the ideal in plain Python
    rng = np.random.default_rng(2)
    for _ in range(300):
        n = int(rng.integers(2, 30))
        utilities, scores, k = rng.pareto(1, n).tolist(), rng.permutation(n).tolist(), int(rng.integers(1, n + 1))
        ranked = [u for _, u in sorted(zip(scores, utilities, strict=True), reverse=True)]
        w = [1 / log2(i + 2) for i in range(k)]
        gain = sum(a * b for a, b in zip(w, ranked, strict=False))
        ideal = sum(a * b for a, b in zip(w, sorted(utilities, reverse=True), strict=False))
        expected = float(PositionWeighted(k).probabilities(scores) @ np.array(utilities))
        assert expected == pytest.approx(gain / sum(w))
        assert expected >= guarantee(gain / ideal, k) * max(utilities) - 1e-12


def test_theorem_1_holds_over_waitlists_as_a_ratio_of_expectations():
    rng = np.random.default_rng(1)
    for utilities, scores in cases(rng, 1000):
        waitlist = int(rng.integers(1, len(scores) + 1))
        k = int(rng.integers(1, waitlist + 1))
        bound = guarantee(min(1.0, ndcg_score(utilities, scores, k, waitlist)), k)
        best = policy_value(utilities, utilities, 1, waitlist)  # E of the best on the list
        assert policy_value(utilities, scores, k, waitlist) >= bound * best - 1e-9 * best


def test_the_guarantee_is_ndcg_over_the_sum_of_discounts():
    for k in (1, 5, 50):
        assert guarantee(0.8, k) == pytest.approx(0.8 / sum(1 / log2(i + 1) for i in range(1, k + 1)))
    assert guarantee([0.2, 0.4], k=1) == pytest.approx([0.2, 0.4])
    assert guarantee(0.9, k=5) == pytest.approx(0.9 / 3, rel=0.03)  # the paper: "roughly α/3"


@pytest.mark.parametrize(("ndcg", "k", "words"), [(1.2, 1, "between 0 and 1"), (-0.1, 1, "between"), (np.nan, 1, "b")])
def test_ndcg_out_of_range_is_refused(ndcg, k, words):
    with pytest.raises(ValueError, match=words):
        guarantee(ndcg, k)


def test_k_is_needed_and_checked():
    with pytest.raises(ValueError, match="needs k"):
        guarantee(0.5)
    with pytest.raises(ValueError, match="at least 1"):
        guarantee(0.5, 0)


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(0)
    years = rng.exponential(5, 1000)
    return years, {"good": years + rng.normal(0, 2, 1000), "poor": years + rng.normal(0, 20, 1000)}


def test_a_comparison_gives_the_plug_in_bound_with_its_interval(cohort):
    years, scores = cohort
    found = compare(years, scores, k=5, waitlist=20, n_resamples=200)
    bound = guarantee(found)
    w5 = sum(1 / log2(i + 1) for i in range(1, 6))
    for model, given in scores.items():
        row = bound.values.loc[model]
        assert row["bound"] == pytest.approx(ndcg_score(years, given, 5, 20) / w5)
        assert row["low"] < row["bound"] < row["high"]
        assert row["low"] == pytest.approx(found.values.loc[model, "ndcg_low"] / w5)
    assert guarantee(found, k=5).values.equals(bound.values)
    assert (bound.k, bound.waitlist, bound.n) == (5, 20, 1000)
    assert str(bound).startswith("Plug-in bound")
    assert "<table" in bound._repr_html_()


def test_a_comparison_at_another_k_or_without_ndcg_is_refused(cohort):
    years, scores = cohort
    with pytest.raises(ValueError, match="Call compare with k=3"):
        guarantee(compare(years, scores, k=1, waitlist=20, n_resamples=50), k=3)
    with pytest.raises(ValueError, match="no NDCG"):
        guarantee(compare(years - 3, scores, k=1, waitlist=20, n_resamples=50))


def test_the_trade_off_is_bound_against_variance(cohort):
    years, scores = cohort
    found = tradeoff(years, scores, ks=(1, 2, 5, 10), waitlist=20, n_resamples=200)
    good = found.values.loc["good"]
    assert good["bound"].is_monotonic_decreasing  # a larger k has the weaker bound
    assert good.loc[10, "estimate"] < good.loc[1, "estimate"]  # and is known better
    rng, draws = np.random.default_rng(5), []
    for _ in range(4000):  # the outcome's spread by simulation: a list, then Algorithm 1
        listed = rng.choice(1000, 20, replace=False)
        draws.append(years[listed[PositionWeighted(5).choose(scores["good"][listed], rng)]])
    assert np.mean(draws) == pytest.approx(good.loc[5, "worth"], abs=4 * np.std(draws) / np.sqrt(4000))
    assert np.std(draws) == pytest.approx(good.loc[5, "outcome"], rel=0.08)
    assert "list of 20" in str(found)


def test_the_trade_off_is_drawn(cohort):
    import matplotlib.pyplot as plt

    years, scores = cohort
    for spread, word in (("estimate", "standard error"), ("outcome", "standard deviation")):
        ax = plot_tradeoff(years, scores, ks=(1, 5), waitlist=20, n_resamples=50, spread=spread)
        assert word in ax.get_xlabel()
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["good", "poor"]
        assert [text.get_text() for text in ax.texts] == ["k=1", "k=5"] * 2
        plt.close(ax.figure)
    with pytest.raises(ValueError, match="spread"):
        plot_tradeoff(years, scores, ks=(1,), waitlist=20, n_resamples=50, spread="both")
    with pytest.raises(ValueError, match="ks is empty"):
        tradeoff(years, scores, ks=())
