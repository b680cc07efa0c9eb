import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from conftest import cohort
from lifeyears.experiments.bench import GOOD, STUDY, draw_patients, true_policy_value
from lifeyears.metrics import policy_value
from lifeyears.models import AdministrativeCensoring, Cox, KaplanMeier, WeibullAFT
from lifeyears.relevance import IPCW, DoublyRobust, PositivityError, check_positivity
from lifeyears.relevance._positivity import _runs


@pytest.fixture(scope="module")
def admin():
    patients = draw_patients(6000, "administrative", np.random.default_rng(0))
    X = pd.DataFrame(patients.X, columns=["a", "b", "c"]).assign(entry=patients.entry)
    return patients, X


MODEL = AdministrativeCensoring(end=STUDY)


def test_the_check_fires_on_administrative_censoring_and_names_the_eras(admin):
    patients, X = admin
    era = pd.Series((patients.entry // 5 * 5).astype(int), name="era")
    report = check_positivity(MODEL, X, patients.y, tau=20, by=era)
    assert report.violated
    # entered after 10 of 30 years: no 20 years of follow-up
    assert report.share_out_of_reach == pytest.approx(2 / 3, abs=0.03)
    assert report.groups.index[report.groups["out_of_reach"] > 0.5].tolist() == [10, 15, 20, 25]
    assert "Without support (era): 10, 15, 20, 25" in str(report)
    # by eras of five years: 10 years are supported up to the era 15–20, 20 years up to 5–10
    frontier = report.frontier.set_index("tau")["latest"]
    assert frontier[10.0] == 15
    assert frontier[20.0] == 5
    with pytest.raises(PositivityError, match="Horizon 20 is not supported"):
        report.raise_if_violated()
    assert report.plot().get_ylabel().startswith("chance")
    assert "<table" in report._repr_html_()


def test_a_model_that_does_not_know_the_entry_is_caught_by_the_groups(admin):
    patients, X = admin
    blind = check_positivity(KaplanMeier(), X, patients.y, tau=20)
    assert not blind.violated  # Kaplan–Meier sees one cohort with long follow-up
    assert check_positivity(KaplanMeier(), X, patients.y, tau=20, by="entry").violated


def test_the_supported_cohort_passes_and_is_unbiased(admin):
    patients, X = admin
    early = patients.entry <= STUDY - 20
    report = check_positivity(MODEL, X[early], patients.y[early], tau=20)
    assert not report.violated
    report.raise_if_violated()
    assert " is supported: " in str(report)
    assert report.smallest_reach == pytest.approx(np.exp(-0.01 * 20), abs=0.05)


@pytest.mark.parametrize("kind", ["IPCW", "DR"])
def test_bias_within_and_beyond_support(kind):
    """On those who entered at least τ before the cut |bias| < 0.02·τ; on all, IPCW is far off."""
    tau, waitlist = 20.0, 64
    truth = true_policy_value(GOOD, tau, waitlist)
    supported, everybody = [], []
    for seed in range(60):
        patients = draw_patients(9000, "administrative", np.random.default_rng(seed))
        X = pd.DataFrame(patients.X, columns=["a", "b", "c"]).assign(entry=patients.entry)
        censoring = MODEL
        estimator = (
            IPCW(censoring, tau=tau, on_violation="clip")
            if kind == "IPCW"
            else DoublyRobust(KaplanMeier(), censoring, tau=tau, on_violation="clip")  # a wrong S: G must carry it
        )
        for rows, found in ((patients.entry <= STUDY - tau, supported), (slice(None), everybody)):
            relevance = estimator.fit(X[rows], patients.y[rows]).estimate(X[rows], patients.y[rows])
            found.append(policy_value(relevance, patients.X[rows] @ GOOD, waitlist=waitlist))
    assert np.std(supported) / np.sqrt(60) < 0.17  # so that 0.02·τ = 0.4 years is told from noise
    assert abs(np.mean(supported) - truth) < 0.02 * tau
    if kind == "IPCW":
        assert np.mean(everybody) < truth - 3


def test_administrative_censoring_is_the_cut_times_the_dropout(admin):
    patients, X = admin
    fitted = MODEL.fit(X, patients.y.censoring())
    times = np.array([1.0, 5.0, 15.0, 25.0])
    G = fitted.predict_curves(X, times).survival
    cut = STUDY - patients.entry
    assert (G[times >= cut[:, None] + MODEL.tolerance] == 0).all()
    within = times < cut[:, None]
    truth = np.broadcast_to(np.exp(-0.01 * times), G.shape)
    soon = within & (times < 20)
    assert G[soon] == pytest.approx(truth[soon], abs=0.03)
    assert G[within] == pytest.approx(truth[within], abs=0.1)  # few are followed for 25 years
    own = fitted.predict_curves(X[:20])
    assert len(own.times) <= 512
    assert (fitted.predict(X[:20]) <= cut[:20] + 0.2).all()


def test_administrative_censoring_without_dropout_and_with_its_own_end():
    entry = np.array([0.0, 2.0, 5.0])
    X = pd.DataFrame({"entry": entry, "x": 0.0})
    y = ly.Outcome([10.0, 8.0, 1.0], [False, False, True])
    fitted = AdministrativeCensoring().fit(X, y.censoring())
    assert fitted.end_ == 10
    assert fitted.dropout_ is None
    assert fitted.predict_curves(X, [4.0, 7.9, 9.0]).survival.tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 0]]
    by_place = AdministrativeCensoring(entry=0).fit(X.to_numpy(), y.censoring())
    assert by_place.end_ == 10


def test_administrative_censoring_says_what_is_wrong():
    X = pd.DataFrame({"year": [0.0, 2.0], "x": [0.0, 1.0]})
    y = ly.Outcome([10.0, 8.0], [False, True])
    with pytest.raises(ValueError, match="column 'entry' of X, which has year, x"):
        AdministrativeCensoring().fit(X, y.censoring())
    with pytest.raises(ValueError, match="row 0 was followed for 10"):
        AdministrativeCensoring(entry="year", end=5.0).fit(X, y.censoring())
    with pytest.raises(ValueError, match="entry is missing in row 1"):
        AdministrativeCensoring(entry="year").fit(X.assign(year=[0.0, np.nan]), y.censoring())


def test_the_dropout_model_sees_the_other_columns(admin):
    patients, X = admin
    with_cox = AdministrativeCensoring(Cox(), end=STUDY).fit(X, patients.y.censoring())
    assert list(with_cox.dropout_.feature_names_in_) == ["a", "b", "c"]
    keeping = AdministrativeCensoring(Cox(), end=STUDY, keep_entry=True).fit(X, patients.y.censoring())
    assert "entry" in keeping.dropout_.feature_names_in_


@pytest.mark.parametrize(("places", "tolerance"), [(None, 0.01), (365.25, 0.01), (12, 0.09)])
def test_rounded_entry_dates_do_not_break_the_weights(admin, places, tolerance):
    patients, X = admin
    entry = patients.entry if places is None else np.round(patients.entry * places) / places
    table = X.assign(entry=entry)
    model = AdministrativeCensoring(end=STUDY, tolerance=tolerance)
    estimator = DoublyRobust(KaplanMeier(), model, tau=8, on_violation="clip")
    diagnostics = estimator.fit(table, patients.y).estimate(table, patients.y).diagnostics
    assert diagnostics.n_clipped == 0
    assert diagnostics.effective_sample_size > 0.95 * len(X)


def test_deaths_before_the_horizon_are_no_lack_of_follow_up():
    X, y = cohort(2000)
    never_lost = ly.Outcome(np.minimum(y.time, 7.0), np.ones(2000))
    table = pd.DataFrame({"age": X[:, 0], "centre": np.arange(2000) % 400, "ward": ["a", None] * 1000})
    for by in ("age", "centre", "ward"):
        assert not check_positivity(KaplanMeier(), X, never_lost, tau=8, by=table[by]).violated, by
    assert check_positivity(KaplanMeier(), X, never_lost, tau=8, by=table["ward"]).frontier is None
    assert list(check_positivity(KaplanMeier(), X, y, tau=8, by=table["ward"]).groups.index) == ["a", "missing"]


def test_groups_without_support_are_named_in_runs():
    marked = np.array([1, 0, 1, 1, 0, 1, 1, 1, 1, 1], dtype=bool)
    assert _runs(list(range(10)), marked) == "0, 2, 3, 5 to 9"


def test_one_curve_for_all_and_bad_settings():
    X, y = cohort(50)
    one = ly.SurvivalCurves([2.0, 6.0], [[0.8, 0.3]])
    assert check_positivity(one, X, y, 5.0).smallest_reach == 0.8
    with pytest.raises(ValueError, match="2 censoring curves for 50 rows"):
        check_positivity(one[[0, 0]], X, y, 5.0)
    with pytest.raises(ValueError, match="floor"):
        check_positivity(one, X, y, 5.0, floor=7)


def test_entry_may_come_in_many_forms():
    pl = pytest.importorskip("polars")
    y = ly.Outcome([10.0, 8.0, 1.0, 3.0], [False, False, True, False])
    frame = pd.DataFrame({"entry": [0.0, 2.0, 5.0, 1.0]})
    for table in (frame, frame.assign(x=1.0), pl.DataFrame({"entry": [0.0, 2.0, 5.0, 1.0], "x": [1.0] * 4})):
        assert AdministrativeCensoring().fit(table, y.censoring()).end_ == 10
    with pytest.raises(ValueError, match="not a date"):
        AdministrativeCensoring().fit(pd.DataFrame({"entry": pd.date_range("2000-01-01", periods=4)}), y.censoring())


@pytest.mark.parametrize("model", [KaplanMeier(), Cox(), WeibullAFT()])
def test_a_horizon_beyond_all_follow_up_is_out_of_reach_whatever_the_model_says(model):
    X, y = cohort(400)
    cut = ly.Outcome(np.minimum(y.time, 3.0), y.event & (y.time <= 3.0))  # the study ends at 3
    report = check_positivity(model, X, cut, tau=5.0, by=np.arange(400) % 40)
    assert (report.smallest_reach, report.share_out_of_reach, report.longest_followup) == (0, 1, 3)
    assert "nobody was followed that long, the longest follow-up is 3" in str(report)
    assert (report.groups["out_of_reach"] == 1).all()
    died = ly.Outcome(cut.time, cut.event | (cut.time == 3.0))  # all who were left die at 3: nothing is hidden
    assert check_positivity(model, X, died, tau=5.0).smallest_reach > 0


@pytest.mark.parametrize("model", [Cox(), KaplanMeier(), WeibullAFT()])
@pytest.mark.filterwarnings("ignore:the horizon 50 lies beyond")
def test_estimators_do_not_trust_a_model_beyond_all_follow_up(model):
    X, y = cohort(400)
    y = ly.Outcome(np.minimum(y.time, 3.0), y.event & (y.time < 3.0))
    for estimator in (IPCW, DoublyRobust):
        kwargs = {"censoring": model, "tau": 50.0, "on_violation": "raise"}
        with pytest.raises(PositivityError, match=r"100.0% of the rows|nobody can be"):
            estimator(**kwargs).fit(X, y).estimate(X, y)


def test_a_tie_at_the_end_is_read_the_same_in_any_order():
    X, y = cohort(300)
    time, event = y.time.copy(), y.event.copy()
    last, before = np.argsort(time)[[-1, -2]]
    time[before] = time[last]
    for first in (True, False):
        event[[last, before]] = first, not first
        with pytest.warns(UserWarning, match="lies beyond the longest follow-up"):
            fitted = IPCW(Cox(alpha=1e3), tau=float(time[last] + 1), on_violation="clip").fit(X, (event, time))
        assert fitted.estimate(X, (event, time)).diagnostics.share_out_of_reach == 1


def test_weights_are_described_by_hand():
    # deaths at 1 and 3, a censoring at 2: weights 1 and 2 (G(3⁻) = 1/2) and those followed to τ
    y = ly.Outcome([1.0, 2.0, 3.0], [True, False, True])
    report = check_positivity(KaplanMeier(), np.zeros((3, 1)), y, tau=3.0)
    assert report.effective_sample_size == pytest.approx((1 + 2) ** 2 / (1 + 4))
    assert report.largest_weight_share == pytest.approx(2 / 3)
    assert report.smallest_reach == pytest.approx(0.5)


def test_fitted_models_and_curves_are_used_as_they_are():
    X, y = cohort(100)
    fitted = KaplanMeier().fit(X, y.censoring())
    first, second = check_positivity(fitted, X, y, 5.0), check_positivity(KaplanMeier(), X, y, 5.0)
    assert first.smallest_reach == second.smallest_reach
    curves = fitted.predict_curves(X)
    assert check_positivity(curves, X, y, 5.0).smallest_reach == pytest.approx(first.smallest_reach, abs=0.02)
    all_events = ly.Outcome(y.time, np.ones(100))
    assert check_positivity(Cox(), X, all_events, 5.0).smallest_reach == 1
    with pytest.raises(ValueError, match="no column 'year'"):
        check_positivity(KaplanMeier(), X, y, 5.0, by="year")
    with pytest.raises(ValueError, match="one value for each"):
        check_positivity(KaplanMeier(), X, y, 5.0, by=[1, 2])
    with pytest.raises(ValueError, match="tau"):
        check_positivity(KaplanMeier(), X, y, -1.0)


@pytest.mark.parametrize("seed", range(5))
def test_one_group_among_others_may_lack_the_longest_follow_up_by_chance(seed):
    rng = np.random.default_rng(seed)
    entered = rng.integers(2005, 2015, 600)
    life, lost = rng.exponential(9, 600), rng.uniform(0, 12, 600)  # lost whenever they entered: no end of a study
    y = ly.Outcome(np.minimum(life, lost), life <= lost)
    found = check_positivity(KaplanMeier(), np.zeros((600, 1)), y, 10.0, by=entered)
    assert found.groups["out_of_reach"].iloc[:-1].max() == 0


def test_a_group_that_cannot_have_come_so_short_by_chance_is_out_of_reach_wherever_it_stands():
    rng = np.random.default_rng(0)
    centre = rng.integers(1, 6, 3000)
    lost = np.where(centre == 3, rng.uniform(0, 4, 3000), rng.uniform(0, 12, 3000))
    life = rng.exponential(9, 3000)
    y = ly.Outcome(np.minimum(life, lost), life <= lost)
    found = check_positivity(KaplanMeier(), np.zeros((3000, 1)), y, 10.0, by=centre)
    assert found.groups["out_of_reach"].tolist() == [0, 0, 1, 0, 0]
