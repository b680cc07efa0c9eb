import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears.errors import DataError, ModelFileError, RequestError
from lifeyears.scoring import (
    Column,
    MatchModel,
    RowError,
    Schema,
    build_ranker,
    evaluate_model,
    fit_model,
    group_by_prediction,
    summarise_support,
)
from lifeyears.scoring._card import _subgroups


@pytest.fixture(scope="module")
def data():
    return replace(ly.data.simulate_registry(n=500, random_state=2), horizon=10.0)


@pytest.fixture(scope="module")
def model(data):
    return fit_model(data, method="none", name="small", n_jobs=1)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    return model.save(tmp_path_factory.mktemp("models") / "model")


def test_the_card_says_what_a_reader_asks(model, data):
    card = model.card
    assert card["data"]["rows"] == 500
    assert card["data"]["events"] == data.y.n_events
    assert card["horizon"]["tau"] == 10.0
    metrics = card["metrics"]
    for name in ("c_index", "value", "at_random"):
        assert metrics[name]["low"] < metrics[name]["value"] < metrics[name]["high"]
    assert [bound["k"] for bound in card["bounds"]] == list(range(1, len(card["bounds"]) + 1))
    first = card["bounds"][0]
    assert first["bound"] == first["ndcg"]  # W_1 = 1
    assert sum(group["patients"] for group in card["calibration"]) == 500
    assert {row["by"] for row in card["subgroups"]} >= {"age", "sex"}
    assert min(row["patients"] for row in card["subgroups"]) >= 30
    assert len(card["limits"]) >= 4
    json.dumps(card, allow_nan=False)


def test_neither_card_nor_model_holds_a_row(model, data, folder):
    """No list in the card is as long as the cohort, and the model's per-row arrays are gone."""

    def longest(value):
        if isinstance(value, dict):
            return max([longest(one) for one in value.values()] or [0])
        if isinstance(value, list):
            return max([len(value), *(longest(one) for one in value)])
        return 0

    assert longest(model.card) <= 92  # the columns
    assert len(model.ranker.pseudo_labels_) == 0
    assert model.ranker.held_out_ is None
    with np.load(folder / "arrays.npz") as arrays:
        sizes = [arrays[name].shape[0] for name in arrays.files if arrays[name].ndim]
    assert 500 not in sizes


def test_the_card_says_calibrated_only_of_what_is(model):
    told = "; not calibrated" not in model.card["estimates"]
    assert told == model.card["model"]["calibrated"]


def test_a_horizon_that_nobody_was_followed_to_is_out_of_reach():
    x, years = np.linspace(-1, 1, 80)[:, None], np.linspace(0.1, 6.0, 80)
    y = ly.Outcome(np.minimum(years, 3.0), years < 3.0)  # all others censored at 3
    assert summarise_support(x, y, 5.0).share_out_of_reach == 1.0
    assert "longest follow-up is 3" in summarise_support(x, y, 5.0).reading
    assert summarise_support(x, y, 3.0).share_out_of_reach == 0.0


def test_small_cells_are_not_told():
    table = pd.DataFrame({"kind": ["a"] * 95 + ["b"] * 5, "x": np.arange(100.0)})
    schema = Schema.of(table, ly.data.TablePreprocessor().fit(table))
    kind, x = schema.columns
    assert kind.categories == ("a", "b")
    assert kind.shares == (None, None)  # 0.95 would tell that there are five of the other
    assert (x.low, x.high) == (9.9, 89.1)  # ten patients lie beyond each


def test_a_hidden_share_cannot_be_had_by_subtraction():
    table = pd.DataFrame(
        {"kind": list("a" * 60 + "b" * 25 + "c" * 9) + [None] * 6, "x": [np.nan] * 20 + [1.0, 2.0] * 40}
    )
    kind, x = Schema.of(table, ly.data.TablePreprocessor().fit(table)).columns
    assert kind.shares == (round(60 / 94, 4), None, None)
    assert kind.missing is None  # six patients
    assert x.missing == 0.2
    assert Column.from_dict(kind.as_dict()) == kind


def test_a_subgroup_that_is_too_small_cannot_be_had_by_subtraction():
    def groups(**patients):
        table = pd.DataFrame({"by": "sex", "group": list(patients), "patients": list(patients.values())})
        numbers = ("share_of_patients", "share_of_allocations", "low", "high")
        gaps = ("gap", "gap_low", "gap_high")
        told = _subgroups(table.assign(**dict.fromkeys([*numbers, *gaps], 0.5)), 200)
        return [row["group"] for row in told]

    assert groups(F=80, M=120) == ["F", "M"]
    assert groups(F=80, M=100) == ["M"]  # twenty more are missing: with F left out it is a hundred
    assert groups(F=190) == []
    assert groups(F=70, M=90) == ["F", "M"]  # forty in several small groups


def test_a_saved_model_predicts_the_same_to_the_bit_and_lifeyears_load_reads_it(model, folder, data):
    again = MatchModel.load(folder)
    expected = model.ranker.predict(data.X)
    np.testing.assert_array_equal(again.ranker.predict(data.X), expected)
    np.testing.assert_array_equal(ly.load(folder).predict(data.X), expected)
    np.testing.assert_array_equal(again.rank(again.schema.frame(data.X)).years, expected)
    assert again.card == model.card


def test_a_changed_card_is_found(model, tmp_path):
    path = model.save(tmp_path / "m")
    card = path / "card.json"
    card.write_text(card.read_text().replace("small", "large"))
    with pytest.raises(ModelFileError, match=r"card\.json was changed"):
        MatchModel.load(path)


def test_a_model_without_a_card_is_refused_with_advice(model, tmp_path):
    path = ly.save(model.ranker, tmp_path / "m")
    with pytest.raises(ModelFileError, match="lifeyears fit"):
        MatchModel.load(path)


def test_rows_and_frames_of_the_same_values_make_the_same_table(model, data):
    rows = json.loads(data.X.to_json(orient="records", double_precision=15))
    expected = model.schema.frame(data.X).frame()
    pd.testing.assert_frame_equal(model.schema.table(rows).frame(), expected)
    shuffled = [dict(sorted(row.items(), reverse=i % 2 == 1)) for i, row in enumerate(rows)]
    pd.testing.assert_frame_equal(model.schema.table(shuffled).frame(), expected)


def test_the_matrix_is_the_preprocessors_to_the_bit(model, data):
    preprocessor = model.ranker.preprocessor_
    found = model.schema.frame(data.X).matrix(preprocessor)
    np.testing.assert_array_equal(found, preprocessor.transform(data.X))
    assert found.flags.c_contiguous  # as the base model's products need it, to be the same to the bit


def test_a_donor_is_joined_to_every_row(model, data):
    rows = json.loads(data.X.head(5).to_json(orient="records"))
    table = model.schema.table(rows, {"donor_age": 33})
    assert table.values["donor_age"].tolist() == [33.0] * 5
    with pytest.raises(RowError, match="of the donor: 'x' is not a number") as caught:
        model.schema.table(rows, {"donor_age": "x"})
    assert (caught.value.row, caught.value.column) == (None, "donor_age")


def test_text_of_files_becomes_numbers_and_a_bad_cell_is_named():
    schema = Schema((Column("age", "number", low=18.0, high=75.0), Column("sex", "category", categories=("F", "M"))))
    table = schema.frame(pd.DataFrame({"age": ["61,5", "NA", "40"], "sex": ["F", "", "M"]})).frame()
    assert table["age"].tolist()[::2] == [61.5, 40.0]
    assert table["age"].isna().tolist() == table["sex"].isna().tolist() == [False, True, False]
    with pytest.raises(RowError, match="row 2, column age: 'old' is not a number"):
        schema.frame(pd.DataFrame({"age": ["61.5", "old"], "sex": ["F", "F"]}))
    with pytest.raises(RowError, match="column sex: the column is missing"):
        schema.frame(pd.DataFrame({"age": [1.0]}))
    with pytest.raises(RowError, match=r"'X' was not seen in training .*; a blank cell where it is not known"):
        schema.frame(pd.DataFrame({"age": [20.0], "sex": ["X"]}))
    with pytest.raises(RowError, match=r"'X' was not seen in training .*; null where it is not known"):
        schema.table([{"age": 20.0, "sex": "X"}])


def test_booleans_and_ones_are_one_category():
    table = pd.DataFrame({"flag": [True, False] * 20, "x": np.arange(40.0)})
    preprocessor = ly.data.TablePreprocessor().fit(table)
    schema = Schema.of(table, preprocessor)
    rows = [{"flag": value, "x": 1} for value in (True, 1, "1", 1.0, False, None)]
    made = schema.table(rows).matrix(preprocessor)
    np.testing.assert_array_equal(made[:, 1:], [[0, 1]] * 4 + [[1, 0], [0, 0]])


def test_calibration_groups_are_means_of_like_predictions():
    scores = np.repeat([1.0, 2.0], 100)
    outcomes = np.concatenate([np.tile([0.0, 2.0], 50), np.tile([1.0, 5.0], 50)])
    first, second = group_by_prediction(scores, outcomes)
    assert (first.predicted, first.observed, first.patients) == (1.0, 1.0, 100)
    assert (second.predicted, second.observed) == (2.0, 3.0)
    half = 1.96 * np.std(np.tile([1.0, 5.0], 50), ddof=1) / 10
    assert second.high - second.observed == pytest.approx(half, abs=1e-6)


def test_intervals_take_in_the_prediction_and_stay_within_the_horizon(model, data):
    ranking = model.rank(model.schema.frame(data.X))
    assert (ranking.low <= ranking.years).all()
    assert (ranking.years <= ranking.high).all()
    assert ranking.low.min() >= 0
    assert ranking.high.max() <= 10


def test_wrong_requests_say_what_there_is(data):
    with pytest.raises(RequestError, match=r"there is no survival model 'Coxx' \(did you mean 'Cox'\?\)"):
        fit_model(data, model="Coxx")
    with pytest.raises(RequestError, match=r"there is no ranking method 'best'\. Known are bootstrapped, stacked"):
        fit_model(data, method="best")
    with pytest.raises(RequestError, match="there is no column 'heart' to be the donor's"):
        Schema.of(data.X, ly.data.TablePreprocessor().fit(data.X), donor=["heart"])


def test_a_row_error_survives_a_process_and_knows_its_place():
    error = RowError("'old' is not a number", code="not_a_number", row=1, column="age")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "row 2, column age: 'old' is not a number"
    assert (again.code, again.row, again.column, again.problem) == ("not_a_number", 1, "age", "'old' is not a number")
    assert again.placed("line 3") == "line 3, column age: 'old' is not a number"


def test_only_transplants_are_called_transplants(model):
    """The simulated registry is of people who got an organ; a table of anything else is not."""
    assert any("organ" in limit for limit in model.card["limits"])
    assert "after the transplant" in model.card["estimates"]
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"load": rng.normal(size=200), "hours": rng.exponential(5, 200), "failed": rng.integers(0, 2, 200)}
    )
    card = fit_model(ly.data.read_table(table, "hours", "failed"), method="none", n_jobs=1).card
    told = json.dumps(card)
    for word in ("organ", "transplant", "donor", "recipient", "of life"):
        assert word not in told.replace('"role": "candidate"', "")
    assert "add up to 1" in card["model"]["weights_are"]


@pytest.mark.parametrize(("unit", "year"), [("years", 1.0), ("days", 365.25), ("months", 12.0), ("time units", None)])
def test_fit_saves_the_ranker_that_compare_judges_in_every_unit(unit, year, monkeypatch):
    """The settings of the rankers that a run of `compare` fits, and of those that `fit_model` builds."""
    from lifeyears import experiments
    from lifeyears.experiments.jobs import _fitting, run_job

    horizon = 5.0 * (year or 1.0)
    cohort = ly.data.simulate_registry(n=300, random_state=1)
    cohort = replace(cohort, y=ly.Outcome(cohort.y.time * (year or 1.0), cohort.y.event), truth=None, unit=unit)
    judged = []

    class CapturedError(Exception):
        pass

    def capture(rankers, *_):
        judged.extend(rankers)
        raise CapturedError

    monkeypatch.setattr(_fitting, "fit_together", capture)
    plan = experiments.Plan("full", iterations=1, folds=2, models=("Cox", "AFT"), tau=horizon, waitlist=4)
    with pytest.raises(CapturedError):
        run_job(cohort, plan, 0, 0)
    arms = [("Cox", "bootstrapped"), ("Cox", "stacked"), ("AFT", "bootstrapped")]
    left_to_the_caller = {"random_state", "n_jobs"}
    for (model, method), ranker in zip(arms, judged, strict=True):
        built = build_ranker(model, method, tau=horizon, unit=unit, random_state=0)
        settings, expected = built.get_params(), ranker.get_params()
        assert type(built) is type(ranker)
        assert type(built.base) is type(ranker.base)
        for name in set(expected) - left_to_the_caller - {"base", "base__random_state"}:
            assert repr(settings[name]) == repr(expected[name]), name
    margin = build_ranker("Cox", "bootstrapped", tau=horizon, unit=unit, random_state=0).margin
    assert margin == (horizon / 20 if year is None else pytest.approx(year))


def test_evaluation_of_observed_times_is_what_can_be_worked_out_by_hand(model, data):
    """Without censoring: means by hand, and an allocation at random is worth the mean."""
    rows, rng = model.schema.frame(data.X.head(200)), np.random.default_rng(0)
    times = rng.uniform(0.5, 9.5, 200)
    found = evaluate_model(model, rows, ly.Outcome(times, np.ones(200, dtype=bool)), waitlist=5)
    predicted = model.ranker.predict(data.X.head(200))
    assert found.judged_by == "observed times"
    assert found.mean_outcome == pytest.approx(times.mean())
    assert found.mean_predicted == pytest.approx(predicted.mean())
    assert found.at_random.value == pytest.approx(times.mean())
    assert found.gain.value == pytest.approx(found.value.value - found.at_random.value)
    assert found.support.share_out_of_reach == 0.0
    pairs = [(i, j) for i in range(200) for j in range(200) if times[i] < times[j]]
    agree = [np.sign(predicted[j] - predicted[i]) for i, j in pairs]
    assert found.c_index == pytest.approx((np.mean(agree) + 1) / 2)


def test_too_few_rows_are_not_evaluated(model, data):
    few = model.schema.frame(data.X.head(49))
    with pytest.raises(DataError, match="49 rows with 49 events are too few") as caught:
        evaluate_model(model, few, ly.Outcome(np.arange(1.0, 50.0), np.ones(49, dtype=bool)))
    assert caught.value.code == "too_few_rows"
