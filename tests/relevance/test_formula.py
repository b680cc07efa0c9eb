"""EY, IPCW and DR against the definition, by enumeration and by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import ndcg_score as sklearn_ndcg
from sklearn.pipeline import make_pipeline

import lifeyears as ly
from conftest import cohort
from lifeyears.curves import product_limit
from lifeyears.models import AdministrativeCensoring, Cox, KaplanMeier, WeibullAFT
from lifeyears.relevance import IPCW, DoublyRobust, ExpectedYears

TIMES = np.array([1.0, 2.0, 4.0, 7.0])
LIFE = np.array([0.2, 0.25, 0.3, 0.25])  # P(T* = t), discrete
END = np.array([0.15, 0.25, 0.2])  # P(C = 1), P(C = 2), P(C = 4); else never censored


def curves_of(mass, times):
    """One subject's right-continuous curve with these jumps."""
    return ly.SurvivalCurves(times, np.clip(1 - np.cumsum(mass), 0, 1)[None])


def expectation(estimate, tau):
    """E[Y] over every (T*, C), ties between events and censorings included; an event at a tie comes first."""
    total = 0.0
    ends = [*zip(TIMES[:3], END, strict=True), (np.inf, 1 - END.sum())]
    for (life, p), (end, q) in product(zip(TIMES, LIFE, strict=True), ends):
        y = ly.Outcome([min(life, end)], [life <= end])
        total += p * q * estimate(tau).estimate([[0.0]], y).values[0]
    return total


S, G = curves_of(LIFE, TIMES), curves_of(END, TIMES[:3])
WRONG_S = ly.SurvivalCurves(TIMES, [[0.9, 0.5, 0.4, 0.1]])
WRONG_G = ly.SurvivalCurves(TIMES[:3], [[0.8, 0.7, 0.3]])


@pytest.mark.parametrize("tau", [1.5, 2.0, 4.0, 5.0, 7.0, 9.0])
@pytest.mark.parametrize(
    "estimate",
    [
        lambda tau: ExpectedYears(S, tau=tau),
        lambda tau: IPCW(G, tau=tau),
        lambda tau: DoublyRobust(S, G, tau=tau),
        lambda tau: DoublyRobust(WRONG_S, G, tau=tau),
        lambda tau: DoublyRobust(S, WRONG_G, tau=tau),
    ],
    ids=["EY", "IPCW", "DR", "DR with S wrong", "DR with G wrong"],
)
def test_unbiased_by_enumeration(estimate, tau):
    assert expectation(estimate, tau) == pytest.approx(LIFE @ np.minimum(TIMES, tau), abs=1e-10)


def test_wrong_models_are_biased_where_nothing_protects():
    truth = LIFE @ np.minimum(TIMES, 5.0)
    for estimate in (
        lambda tau: ExpectedYears(WRONG_S, tau=tau),
        lambda tau: IPCW(WRONG_G, tau=tau),
        lambda tau: DoublyRobust(WRONG_S, WRONG_G, tau=tau),
    ):
        assert abs(expectation(estimate, 5.0) - truth) > 0.02


def test_unrestricted_is_unbiased_too():
    for estimate in (
        lambda tau: ExpectedYears(S),
        lambda tau: DoublyRobust(S, G),
        lambda tau: DoublyRobust(WRONG_S, G, tail="drop"),
    ):
        # IPCW and DR take the largest time of each outcome as horizon; with T* ≤ 7 and S known that is the whole life
        total = 0.0
        for (life, p), (end, q) in product(
            zip(TIMES, LIFE, strict=True), [*zip(TIMES[:3], END, strict=True), (np.inf, 1 - END.sum())]
        ):
            y = ly.Outcome([min(life, end)], [life <= end])
            total += p * q * estimate(None).estimate([[0.0]], y).values[0]
        assert total == pytest.approx(LIFE @ TIMES, abs=1e-10)


def test_unrestricted_ipcw_needs_a_tail_rule_too():
    X = np.zeros((4, 1))
    y = ly.Outcome([1.0, 2.0, 3.0, 10.0], [True, False, True, False])
    with pytest.raises(ValueError, match="some are left at the end"):
        IPCW().fit(X, y).estimate(X, y)
    with pytest.raises(ValueError, match="tail must be one of None, 'drop'"):
        IPCW(tail="drp").fit(X, y).estimate(X, y)
    assert IPCW(tail="drop").fit(X, y).estimate(X, y).values == pytest.approx([1, 0, 4.5, 15])


def test_unrestricted_targets_need_a_tail_rule():
    open_ended = ly.SurvivalCurves([1.0, 3.0], [[0.5, 0.2]])
    y = ly.Outcome([2.0], [False])
    with pytest.raises(ValueError, match="state a tail rule"):
        ExpectedYears(open_ended).estimate([[0]], y)
    # alive at 2: S(3)/S(2) = 0.4 are left at 3 and die there, so all live to 3
    assert ExpectedYears(open_ended, tail="drop").estimate([[0]], y).values == pytest.approx([3.0])


def test_special_cases_of_the_one_formula():
    X, y = cohort(300, ties=True)
    survival = Cox().fit(X, y).predict_curves(X)
    censoring = KaplanMeier().fit(X, y.censoring()).predict_curves(X)
    one = ly.SurvivalCurves([0.5], np.ones((1, 1)))
    EY, DR = ExpectedYears(survival, tau=8).estimate(X, y), DoublyRobust(survival, one, tau=8).estimate(X, y)
    assert DR.values == pytest.approx(EY.values)
    nobody = ly.SurvivalCurves([1e-9], np.zeros((1, 1)))  # Q ≡ 0 but for the fallback, itself 1e-9
    assert DoublyRobust(nobody, censoring, tau=8).estimate(X, y).values == pytest.approx(
        IPCW(censoring, tau=8).estimate(X, y).values, abs=1e-6
    )


def plain_worth(y, tau, S, G):
    """The formula, written out row by row and jump by jump."""
    values = []
    for i in range(len(y)):
        T, delta = min(y.time[i], tau), bool(y.event[i] or y.time[i] >= tau)
        Q = lambda u, i=i: S[i].mean_life_after(u, tau)[0]  # noqa: E731
        total = (T if delta else Q(T)) / G[i].at(T, left=True)[0]
        for u in G.times:
            if u < T:
                total -= Q(u) * (1 / G[i].at(u)[0] - 1 / G[i].at(u, left=True)[0])
        values.append(total)
    return np.array(values)


@pytest.mark.parametrize("model", [Cox(), WeibullAFT()], ids=["steps", "smooth"])
def test_vectorised_formula_equals_the_loop(monkeypatch, model):
    X, y = cohort(60, ties=True)
    survival = model.fit(X, y).predict_curves(X)
    censoring = Cox().fit(X, y.censoring()).predict_curves(X)
    loop = plain_worth(y, 6.0, survival, censoring)
    assert DoublyRobust(survival, censoring, tau=6.0).estimate(X, y).values == pytest.approx(loop, rel=1e-9)
    monkeypatch.setattr("lifeyears.curves.BLOCK_BYTES", 5000)
    assert DoublyRobust(survival, censoring, tau=6.0).estimate(X, y).values == pytest.approx(loop, rel=1e-9)


@pytest.mark.parametrize("cells", [1, 4, 20])
@pytest.mark.parametrize("kind", ["step", "linear"])
def test_dr_is_unbiased_with_coarse_linear_censoring_curves(cells, kind):
    """C ~ U[0, 20] is a straight line whatever the grid: E[Y] over C by quadrature, over T* by its steps or lines."""
    tau = 15.0
    censoring = ly.SurvivalCurves(np.linspace(20 / cells, 20, cells), [1 - np.arange(1, cells + 1) / cells], "linear")
    if kind == "step":  # yearly deaths, none left after 18
        lives = np.arange(1.0, 19.0)
        survival = ly.SurvivalCurves(lives, [1 - lives / 18])
        ends = (np.arange(2000) + 0.5) / 100
    else:  # T* ~ U[0, 18]
        lives = (np.arange(900) + 0.5) / 50
        survival = ly.SurvivalCurves([18.0], [[0.0]], "linear")
        ends = (np.arange(100) + 0.5) / 5
    life, end = (grid.ravel() for grid in np.meshgrid(lives, ends, indexing="ij"))
    y = ly.Outcome(np.minimum(life, end), life <= end)
    found = DoublyRobust(survival, censoring, tau=tau, on_violation="clip", floor=1e-6).estimate(
        np.zeros((len(y), 1)), y
    )
    assert found.values.mean() == pytest.approx(np.minimum(life, tau).mean(), abs=0.02)


def test_continuous_censoring_is_the_limit_of_fine_steps():
    X, y = cohort(80)
    survival = WeibullAFT().fit(X, y).predict_curves(X)
    fine, coarse = np.linspace(0, 14, 20_001), np.linspace(0, 14, 201)
    smooth = np.exp(-0.05 * coarse) * np.ones((80, 1))
    steps = np.exp(-0.05 * fine) * np.ones((80, 1))
    as_line = DoublyRobust(survival, ly.SurvivalCurves(coarse, smooth, "linear"), tau=10).estimate(X, y)
    as_steps = DoublyRobust(survival, ly.SurvivalCurves(fine, steps), tau=10).estimate(X, y)
    assert as_line.values == pytest.approx(as_steps.values, abs=2e-3)


def test_without_censoring_all_three_are_the_times():
    X, y = cohort(100)
    y = ly.Outcome(y.time, np.ones(100))
    scores = X[:, 0]
    for estimator in (ExpectedYears(tau=6), IPCW(tau=6), IPCW(Cox(), tau=6), DoublyRobust(tau=6)):
        relevance = estimator.fit(X, y).estimate(X, y)
        assert relevance.values == pytest.approx(np.minimum(y.time, 6))
        ours = ly.metrics.ndcg_score(relevance, scores, k=10)
        assert ours == pytest.approx(sklearn_ndcg([np.minimum(y.time, 6)], [scores], k=10))


# Ten patients, worked by hand: deaths (d) and censorings (c), a tie of both at 3, the last one censored.
#   time    1d  2c  3d  3d  3c  5d  6c  8d  9c  10c
HAND = ly.Outcome([1, 2, 3, 3, 3, 5, 6, 8, 9, 10], [1, 0, 1, 1, 0, 1, 0, 1, 0, 0])
# S: 1: 9/10; 3: 9/10·6/8 = 27/40; 5: 27/40·4/5 = 27/50; 8: 27/50·2/3 = 9/25
# G (deaths leave first): 2: 8/9; 3: at risk 6, 8/9·5/6 = 20/27; 6: at risk 4, 20/27·3/4 = 5/9; 9: 5/18; 10: 0


def test_the_hand_worked_curves():
    X = np.zeros((10, 1))
    survival = KaplanMeier().fit(X, HAND).predict_curves(X[:1], [1, 3, 5, 8]).survival[0]
    assert survival == pytest.approx([9 / 10, 27 / 40, 27 / 50, 9 / 25])
    G = product_limit(HAND.censoring()).curves()
    assert G.at([2, 3, 6, 9, 10])[0] == pytest.approx([8 / 9, 20 / 27, 5 / 9, 5 / 18, 0])


@pytest.mark.parametrize(
    ("tau", "at_2", "at_3", "at_6", "at_9"),
    [
        # before the last time: ∫₂⁷ S/S(2) = 1 + 2·(3/4) + 2·(3/5); ∫₃⁷ S/S(3) = 2 + 2·(4/5); ∫₆⁷ = 1
        (7.0, 2 + 1 + 1.5 + 1.2, 3 + 2 + 1.6, 7.0, 7.0),
        # after it S stays at 9/25: ∫₂¹² = 1 + 2·(3/4) + 3·(3/5) + 4·(2/5); ∫₃¹² = 2 + 3·(4/5) + 4·(8/15);
        # ∫₆¹² = 2 + 4·(2/3); ∫₉¹² = 3
        (12.0, 2 + 1 + 1.5 + 1.8 + 1.6, 3 + 2 + 2.4 + 32 / 15, 6 + 2 + 8 / 3, 12.0),
    ],
)
def test_expected_years_by_hand(tau, at_2, at_3, at_6, at_9):
    X = np.zeros((10, 1))
    if tau > 10:
        with pytest.warns(UserWarning, match="beyond the longest follow-up, 10"):
            values = ExpectedYears(KaplanMeier(), tau=tau).fit(X, HAND).estimate(X, HAND).values
    else:
        values = ExpectedYears(KaplanMeier(), tau=tau).fit(X, HAND).estimate(X, HAND).values
    last = min(12.0, tau)
    assert values == pytest.approx([1, at_2, 3, 3, at_3, 5, at_6, min(8, tau), at_9, last])


@pytest.mark.filterwarnings("ignore:.*of the rows have less than a chance")
def test_ipcw_by_hand():
    X = np.zeros((10, 1))
    values = IPCW(tau=7).fit(X, HAND).estimate(X, HAND).values
    # δ·T/G(T⁻): at 3 G(3⁻) = 8/9 (the censoring at 3 comes after); at 5 20/27; from 7 on G(7⁻) = 5/9
    assert values == pytest.approx([1, 0, 27 / 8, 27 / 8, 0, 27 / 4, 0, 63 / 5, 63 / 5, 63 / 5])
    # Σ T/G over the cohort reproduces the restricted mean of Kaplan–Meier, an identity
    assert values.mean() == pytest.approx(KaplanMeier(tau=7).fit(X, HAND).predict(X[:1])[0])
    with pytest.warns(UserWarning, match="beyond the longest follow-up"):
        after = IPCW(tau=12).fit(X, HAND)
    after = after.estimate(X, HAND).values
    assert after == pytest.approx([1, 0, 27 / 8, 27 / 8, 0, 27 / 4, 0, 72 / 5, 0, 0])


def test_ipcw_weights_use_the_left_limit():
    X = np.zeros((4, 1))
    y = ly.Outcome([1.0, 2.0, 2.0, 3.0], [True, True, False, True])
    # G jumps at 2, after the death there: that death has weight 1, the one at 3 has 2
    values = IPCW(tau=2.9).fit(X, y).estimate(X, y).values
    assert values == pytest.approx([1, 2, 0, 2.9 * 2])


@pytest.mark.parametrize("model", [KaplanMeier(), Cox()])
def test_ipcw_weights_are_not_those_of_a_grid(model):
    """With thousands of censoring times, by the model's curve at every one of them."""
    X, y = cohort(4000)
    tau = float(np.quantile(y.time, 0.95))
    fitted, seen = model.fit(X, y.censoring()), y.restrict(tau)
    whole = fitted.predict_curves(X, np.unique(y.time)).at_own(seen.time, left=True)
    found = IPCW(fitted, tau=tau, on_violation="clip", floor=1e-6).estimate(X, y).values
    assert found == pytest.approx(np.where(seen.event, seen.time / whole, 0.0), rel=1e-12)


@pytest.mark.parametrize("right", ["survival", "censoring"])
def test_dr_is_unbiased_where_some_are_lost_at_once(right):
    """A fifth are censored at 0 and the rest at a constant rate; one death time, so that the expectation is a sum."""
    grid = np.linspace(0, 5, 4001)
    G = ly.SurvivalCurves(grid, 0.8 * np.exp(-0.2 * grid)[None], "linear")
    wrong_G = ly.SurvivalCurves(grid, 0.6 * np.exp(-0.1 * grid)[None], "linear")
    S = ly.SurvivalCurves(np.array([2.0, 4.0]), np.array([[0.5, 0.0]]))  # dies at 2 or at 4
    wrong_S = ly.SurvivalCurves(np.array([1.0, 4.0]), np.array([[0.7, 0.0]]))
    survival, censoring = (S, wrong_G) if right == "survival" else (wrong_S, G)
    total = 0.0
    for death in (2.0, 4.0):
        cuts = np.linspace(0, death, 2001)
        middle = (cuts[1:] + cuts[:-1]) / 2
        chance = -0.8 * np.diff(np.exp(-0.2 * cuts))
        time = np.concatenate([[0.0], middle, [death]])
        weight = np.concatenate([[0.2], chance, [0.8 * np.exp(-0.2 * death)]])
        y = ly.Outcome(time, np.append(np.zeros(len(time) - 1, bool), True))
        values = (
            DoublyRobust(survival, censoring, tau=5.0, on_violation="warn").estimate(np.zeros((len(y), 1)), y).values
        )
        total += 0.5 * float(weight @ values)
    assert total == pytest.approx(3.0, abs=2e-3)


def test_mean_of_dr_with_km_is_the_mean_of_km():
    # with marginal curves of the same sample all three agree on the mean
    X, y = cohort(200, ties=True)
    for estimator in (ExpectedYears(KaplanMeier(), tau=6), IPCW(tau=6), DoublyRobust(KaplanMeier(), tau=6)):
        mean = estimator.fit(X, y).estimate(X, y).values.mean()
        assert mean == pytest.approx(KaplanMeier(tau=6).fit(X, y).predict(X[:1])[0], abs=2e-3)


def test_expected_years_ask_the_model_for_the_censored_only():
    X, y = cohort(60)
    model = Cox(tau=3.0).fit(X, y)
    asked = []

    class Watched(Cox):
        def predict_curves(self, X, times=None):
            asked.append(len(X))
            return super().predict_curves(X, times)

    watched = Watched(tau=3.0).fit(X, y)
    found = ExpectedYears(watched, tau=3.0).estimate(X, y)
    everybody = ExpectedYears(model.predict_curves(X), tau=3.0).estimate(X, y)
    np.testing.assert_array_equal(found.values, everybody.values)
    assert found.diagnostics == everybody.diagnostics
    assert asked == [found.diagnostics.n_censored]
    known = model.predict_curves(X)
    np.testing.assert_array_equal(
        ExpectedYears(ly.models.wrap(lambda X: known), tau=3.0).estimate(X, y).values, found.values
    )
    seen = ly.Outcome(y.time, np.ones(60, dtype=bool))
    assert ExpectedYears(watched, tau=3.0).estimate(X, seen).values == pytest.approx(np.minimum(y.time, 3.0))


@pytest.mark.parametrize(
    "censoring",
    [KaplanMeier(), Cox(), WeibullAFT(), AdministrativeCensoring(Cox(), entry=0), ly.models.wrap(Cox(), tau=2.0)],
)
@pytest.mark.parametrize("as_table", [False, True])
def test_rows_are_estimated_block_by_block(monkeypatch, censoring, as_table):
    X, y = cohort(200)
    X = pd.DataFrame(X, index=np.arange(200)[::-1], columns=["a", "b", "c"]) if as_table else X
    estimators = [
        ExpectedYears(Cox(), tau=3.0),
        IPCW(censoring, tau=3.0, on_violation="clip"),
        DoublyRobust(Cox(), censoring, tau=3.0, on_violation="clip"),
    ]
    whole = [each.fit(X, y).estimate(X, y) for each in estimators]
    monkeypatch.setattr("lifeyears.curves.BLOCK_BYTES", 8 * 4 * 512 * 7)  # seven rows
    for each, before in zip(estimators, whole, strict=True):
        now = each.estimate(X, y)
        np.testing.assert_array_equal(now.values, before.values)
        assert now.diagnostics.n_clipped == before.diagnostics.n_clipped
        assert now.diagnostics.smallest_chance == before.diagnostics.smallest_chance
        assert now.diagnostics.effective_sample_size == pytest.approx(
            before.diagnostics.effective_sample_size, nan_ok=True
        )
        assert now.diagnostics.share_out_of_reach == pytest.approx(before.diagnostics.share_out_of_reach)
    known = DoublyRobust(estimators[2].survival_model_.predict_curves(X), KaplanMeier(), tau=3.0, on_violation="clip")
    np.testing.assert_array_equal(
        known.fit(X, y).estimate(X, y).values,
        DoublyRobust(Cox(), KaplanMeier(), tau=3.0, on_violation="clip").fit(X, y).estimate(X, y).values,
    )
    with pytest.warns(UserWarning, match="of the rows have less than a chance") as told:
        IPCW(KaplanMeier(), tau=3.0, floor=0.99).fit(X, y).estimate(X, y)
    assert len(told) == 1


def test_a_model_around_another_is_asked_row_by_row_if_that_one_can_be(monkeypatch):
    def function(X):
        return np.array([1.0]), np.full((len(X), 1), 0.5)

    wrap = ly.models.wrap
    assert all(model.by_row for model in (Cox(), wrap(Cox(), tau=2.0), AdministrativeCensoring()))
    assert AdministrativeCensoring(wrap(Cox(), tau=2.0)).by_row
    for model in (function, make_pipeline(ly.data.TablePreprocessor(), Cox())):
        assert not wrap(model).by_row
        assert not wrap(wrap(model), tau=2.0).by_row
        assert not AdministrativeCensoring(model).by_row
    monkeypatch.setattr("lifeyears.curves.BLOCK_BYTES", 8 * 4 * 512 * 7)  # seven rows
    X, y = cohort(60)
    asked, ask = [], AdministrativeCensoring.predict_curves
    monkeypatch.setattr(
        AdministrativeCensoring, "predict_curves", lambda self, X, *times: asked.append(len(X)) or ask(self, X, *times)
    )
    for dropout, expected in ((None, [7] * 8 + [4]), (function, [60])):
        asked.clear()
        IPCW(AdministrativeCensoring(dropout, entry=0), tau=3.0, on_violation="clip").fit(X, y).estimate(X, y)
        assert asked == expected


def test_a_wrong_table_is_refused_though_nobody_is_censored():
    X, y = cohort(60)
    dead = ly.Outcome(y.time, np.ones(60, dtype=bool))
    with pytest.raises(ValueError, match="expecting 3 features"):
        ExpectedYears(Cox(), tau=3.0).fit(X, y).estimate(X[:, :2], dead)
    with pytest.raises(NotFittedError):
        ExpectedYears(Cox(), tau=3.0).estimate(X, dead)


def test_functions_and_pipelines_are_asked_for_all_rows_at_once(monkeypatch):
    monkeypatch.setattr("lifeyears.curves.BLOCK_BYTES", 8 * 4 * 512 * 7)
    X, y = cohort(60)
    known = Cox().fit(X, y.censoring()).predict_curves(X)
    expected = IPCW(known, tau=3.0, on_violation="clip").estimate(X, y).values
    wrap = ly.models.wrap
    nested = wrap(wrap(lambda X: known), tau=3.0)
    pipeline = make_pipeline(ly.data.TablePreprocessor(), wrap(lambda X: known))
    for model in (nested, pipeline):
        found = IPCW(model, tau=3.0, on_violation="clip").fit(X, y).estimate(X, y).values
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.warns(UserWarning, match="feature names") as told:
        IPCW(Cox(), tau=3.0, on_violation="clip").fit(table, y).estimate(X, y)
    assert len(told) == 1


@pytest.mark.parametrize(("tau", "cells"), [(5.0, 200_000), (150.0, 400_000)])
def test_few_knots_far_apart_are_integrated_finely(tau, cells):
    S = ly.SurvivalCurves([1.0, 2.0, 4.0, 200.0], [[0.7, 0.5, 0.3, 0.0]], "linear")
    G = ly.SurvivalCurves([2.0, 200.0], [[0.1, 0.001]], "linear")
    end = 1.9
    estimator = DoublyRobust(S, G, tau=tau, on_violation="clip", floor=1e-6)
    grid = np.linspace(0, end, cells + 1)
    Q = S.mean_life_after_each(grid, tau)[0]
    inverse = 1 / G.at(grid)[0]
    integral = (0.5 * (Q[1:] + Q[:-1]) * np.diff(inverse)).sum()
    expected = Q[-1] * inverse[-1] - integral
    assert estimator.estimate(np.zeros((1, 1)), ([0], [end])).values[0] == pytest.approx(expected, rel=2e-4)


def test_rows_beyond_the_curve_of_censoring_are_refused_without_noise():
    X, y = cohort(60)
    model = Cox(tau=3.0).fit(X, y)
    for kind in ("step", "linear"):  # warnings are errors here
        estimator = DoublyRobust(model, ly.SurvivalCurves([0.5], [[0.0]], kind), tau=3.0)
        with pytest.raises(ly.relevance.PositivityError, match="gives a chance of 0"):
            estimator.estimate(X, y)


def test_nobody_is_worth_less_than_the_time_lived_where_a_hazard_underflows():
    # S(5|x) = exp(−H₀(5)·e^η) is below 1e-308 for such an x: alive at 5 all the same, and dead soon after
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    times = np.exp(-2 * x + 0.3 * rng.gumbel(size=300))
    model = ly.models.Cox().fit(x[:, None], (np.ones(300), times))
    assert model.predict_curves([[2.0]]).at(5.0)[0] == 0
    censored = ly.Outcome([5.0], [False])
    exact = 5.0 + integral_in_logs(model, 2.0, 5.0, 20.0)
    none = ly.SurvivalCurves([1.0], [[1.0]])  # nobody is censored
    falling = ly.SurvivalCurves([1.0, 3.0, 4.5], [[0.9, 0.8, 0.7]])
    for estimator in (ly.relevance.ExpectedYears(model, tau=20), ly.relevance.DoublyRobust(model, none, tau=20)):
        found = estimator.estimate([[2.0]], censored)
        assert found.diagnostics.n_fallback == 1
        assert 5.0 <= found.values[0] <= exact
        assert found.values[0] == pytest.approx(exact, abs=np.diff(np.sort(times[times > 4]))[0] + 1)
    # Q(u) = u at the jumps: 5/0.7 − 1·(1/0.9 − 1) − 3·(1/0.8 − 1/0.9) − 4.5·(1/0.7 − 1/0.8)
    dead = ly.SurvivalCurves([0.5], [[0.0]])
    by_hand = 5 / 0.7 - 1 * (1 / 0.9 - 1) - 3 * (1 / 0.8 - 1 / 0.9) - 4.5 * (1 / 0.7 - 1 / 0.8)
    found = ly.relevance.DoublyRobust(dead, falling, tau=20).estimate([[0.0]], censored)
    assert found.values == pytest.approx([by_hand])


def integral_in_logs(model, x, a, tau):
    """∫ₐ^τ exp(−(H(u) − H(a))·e^η) du, which does not underflow."""
    hazard = np.append(0.0, model.baseline_hazard_)
    H = lambda u: hazard[np.searchsorted(model.baseline_times_, u, side="right")]  # noqa: E731
    knots = np.concatenate(
        [[a], model.baseline_times_[(model.baseline_times_ > a) & (model.baseline_times_ < tau)], [tau]]
    )
    risk = np.exp(x * model.coef_[0])
    return float(np.sum(np.diff(knots) * np.exp(-(H(knots[:-1]) - H(a)) * risk)))
