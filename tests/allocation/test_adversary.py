import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeyears.allocation import (
    Greedy,
    PositionWeighted,
    Tiers,
    UniformRandom,
    adversary,
    figure_1,
    motivating_example,
)


class Softmax:
    """A randomised policy from elsewhere."""

    def __init__(self, temperature):
        self.temperature = temperature

    def probabilities(self, scores):
        weight = np.exp((scores - np.max(scores)) / self.temperature)
        return weight / weight.sum()


class SecondBest:
    """A user's deterministic policy: whoever comes second."""

    def probabilities(self, scores):
        chances = np.zeros(len(scores))
        chances[np.argsort(scores)[-2]] = 1
        return chances


class MostlyTop:
    """A user's policy: ninety percent to the top, the rest spread evenly, as a list."""

    def probabilities(self, scores):
        return [0.9 * (s == max(scores)) + 0.1 / len(scores) for s in scores]


class BottomHeavy:
    """Prefers the lowest scores: the adversary need not assume a sensible policy."""

    def probabilities(self, scores):
        rank = np.argsort(np.argsort(scores))
        return (len(scores) - rank) / (len(scores) * (len(scores) + 1) / 2)


POLICIES = [
    Greedy(),
    PositionWeighted(1),
    PositionWeighted(5),
    PositionWeighted(50),
    UniformRandom(),
    Softmax(1.0),
    Softmax(50.0),
    Softmax(1e9),
    SecondBest(),
    MostlyTop(),
    BottomHeavy(),
]


def pairwise_concordance(utilities, scores):
    """C-index by counting pairs in a plain loop."""
    right = pairs = 0.0
    for i in range(len(scores)):
        for j in range(i):
            if utilities[i] != utilities[j]:
                pairs += 1
                if scores[i] == scores[j]:
                    right += 0.5
                else:
                    right += (utilities[i] > utilities[j]) == (scores[i] > scores[j])
    return right / pairs


def ratio(chances, utilities):
    return sum(p * u for p, u in zip(chances, utilities, strict=True)) / max(utilities)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{type(p).__name__}{getattr(p, 'k', '')}")
def test_the_adversary_defeats_every_policy_at_c_99_and_rho_01(policy):
    lifelines = pytest.importorskip("lifelines.utils")
    case = adversary(policy, c=0.99, rho=0.01)
    assert min(case.utilities) >= 0
    assert pairwise_concordance(case.utilities, case.scores) >= 0.99
    assert lifelines.concordance_index(case.utilities, case.scores) >= 0.99
    gained = ratio(policy.probabilities(case.scores), case.utilities)  # the policy is asked anew
    assert gained <= 0.01
    assert gained <= ratio([1 / case.n] * case.n, case.utilities) + 1e-12  # never above uniform
    assert case.c_index == pytest.approx(pairwise_concordance(case.utilities, case.scores))
    assert case.utility_ratio == pytest.approx(gained)
    assert case.uniform_ratio == pytest.approx(np.mean(case.utilities) / max(case.utilities))


@pytest.mark.parametrize("construction", ["needle", "proposition 2", "paper"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{type(p).__name__}{getattr(p, 'k', '')}")
def test_every_construction_reaches_c_and_never_lets_a_policy_above_uniform(policy, construction):
    case = adversary(policy, c=0.97, rho=0.05, construction=construction)
    assert pairwise_concordance(case.utilities, case.scores) >= 0.97
    gained = ratio(policy.probabilities(case.scores), case.utilities)
    assert gained <= np.mean(case.utilities) / max(case.utilities) + 1e-12
    if construction == "needle":
        assert gained <= 0.05


@given(st.integers(0, 10_000), st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.sampled_from([1e-13, 1e-6, 0.1, 1, 30]))
@settings(max_examples=150, deadline=None)
def test_random_policies_are_defeated_at_any_c_and_rho(seed, c, rho, spread):
    class Drawn:
        def probabilities(self, scores):
            weight = np.exp(spread * np.random.default_rng(seed).normal(size=len(scores)))
            return weight / weight.sum()

    for construction in (None, "needle", "proposition 2"):
        case = adversary(Drawn(), c, rho, construction)
        assert case.c_index >= c
        assert case.utility_ratio <= case.uniform_ratio + 1e-12
        if construction != "proposition 2":
            assert case.utility_ratio <= rho


def test_proposition_1_is_the_papers_construction():
    case = adversary(Greedy(), c=0.99, rho=0.01, construction="proposition 1")
    assert case.n == 201  # the first N above 2/(1 − c)
    assert case.chosen == 0
    assert case.utilities[0] < 0.01
    assert case.utilities.argmin() == 0  # the worst patient is chosen
    assert (np.diff(case.utilities[1:]) < 0).all()  # all others are ranked rightly
    assert (case.utilities[1:] >= 1).all()
    assert case.c_index == pytest.approx(1 - 2 / 201)
    assert case.ndcg(1) == pytest.approx(case.utility_ratio)  # NDCG@1 sees it


def test_proposition_1_needs_a_deterministic_policy_and_paper_picks_by_policy():
    with pytest.raises(ValueError, match="deterministic"):
        adversary(PositionWeighted(5), construction="proposition 1")
    assert adversary(SecondBest(), construction="paper").construction == "proposition 1"
    assert adversary(PositionWeighted(5), construction="paper").construction == "proposition 2"


def test_against_uniform_the_papers_construction_leaves_a_ratio_near_1_and_the_needle_does_not():
    assert adversary(UniformRandom(), construction="paper").utility_ratio > 0.99
    assert adversary(UniformRandom()).utility_ratio < 0.01
    assert adversary(UniformRandom()).construction == "needle"


def test_proposition_2_tends_to_its_limit():
    policy = PositionWeighted(5)
    largest = policy.probabilities(np.arange(300.0)).max()
    case = adversary(policy, rho=0.2, construction="proposition 2")
    assert case.utility_ratio == pytest.approx(1 - largest * (1 - 0.2), abs=0.01)


def test_a_policy_of_one_list_is_met_at_its_length():
    tiers = Tiers(np.arange(300) % 6)
    case = adversary(tiers, n=300)
    assert case.n == 300
    assert case.c_index >= 0.99
    assert case.utility_ratio <= 0.01
    with pytest.raises(ValueError, match="201 candidates are always enough"):
        adversary(UniformRandom(), n=20)


def test_a_hundred_thousand_candidates_are_no_trouble():
    case = adversary(PositionWeighted(5), c=0.9999, rho=1e-5)
    assert case.n == 100_001
    assert case.c_index >= 0.9999
    assert case.utility_ratio <= 1e-5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"c": 1.0}, "c must lie"),
        ({"rho": 0.0}, "rho must lie"),
        ({"c": float("nan")}, "c must lie"),
        ({"construction": "haystack"}, "construction must be one of"),
        ({"n": 1}, "at least 2"),
        ({"c": 1 - 1e-9}, "smaller c"),
    ],
)
def test_bad_requests_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        adversary(Greedy(), **options)


class Broken:
    def __init__(self, answer):
        self.answer = answer

    def probabilities(self, scores):
        return self.answer(len(scores))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda n: np.ones(n), "sum to"),
        (lambda n: np.ones(3) / 3, "shape"),
        (lambda n: np.full(n, np.nan), "non-negative"),
        (lambda n: np.append([2.0, -1.0], np.zeros(n - 2)), "non-negative"),
    ],
)
def test_a_policy_that_gives_no_chances_is_refused(answer, words):
    with pytest.raises(ValueError, match=words):
        adversary(Broken(answer))


@pytest.mark.parametrize("policy", [Greedy, "greedy", lambda scores: scores])
def test_what_is_no_policy_is_refused(policy):
    with pytest.raises(TypeError, match="probabilities"):
        adversary(policy)


def test_the_motivating_example():
    case = motivating_example()
    assert case.c_index == pytest.approx(0.98)
    assert pairwise_concordance(case.utilities, case.scores) == pytest.approx(0.98)
    assert case.ndcg(1) == pytest.approx(0.01)
    assert case.utility == 1.0
    for n in (2, 10, 400):
        assert motivating_example(n).c_index == pytest.approx(1 - 2 / n)
    assert motivating_example(policy=UniformRandom()).utility_ratio == pytest.approx(0.505)
    with pytest.raises(ValueError, match="at least 2"):
        motivating_example(1)


def test_figure_1():
    figure = figure_1()
    assert figure.green.ndcg(1) == pytest.approx(0.9)
    assert figure.red.c_index == pytest.approx(0.8)
    assert pairwise_concordance(figure.red.utilities, figure.red.scores) == pytest.approx(0.8)
    assert figure.green.utility == 9.0  # P9 gets the heart
    assert figure.red.utility == 1.0  # P1 does


def test_cases_are_drawn():
    import matplotlib.pyplot as plt

    for policy in (Greedy(), PositionWeighted(5), UniformRandom()):
        case = adversary(policy)
        assert f"C-index {case.c_index:.2f}" in case.plot().get_title()
        assert case.construction in str(case)
    left, right = figure_1().plot()
    assert "NDCG@1 0.9" in left.get_title()
    assert "C-index 0.80" in right.get_title()
    plt.close("all")
