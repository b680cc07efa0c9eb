import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lifeyears as ly
from lifeyears.data import TablePreprocessor


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(40) < 0.2, np.nan, rng.normal(50, 10, 40)),
            "blood": rng.choice(["A", "B", "O"], 40),
            "status": pd.Categorical(rng.choice([1, 2, 6], 40)),
            "weight": rng.normal(80, 15, 40),
        }
    )


def test_equals_scikit_learns_own_steps(table):
    numeric, words = ["age", "weight"], ["blood", "status"]
    theirs = ColumnTransformer(
        [
            ("numeric", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
            ("words", OneHotEncoder(sparse_output=False), words),
        ]
    ).fit_transform(table)
    ours = TablePreprocessor().fit(table)
    assert ours.transform(table) == pytest.approx(theirs)
    assert list(ours.get_feature_names_out()) == [
        "age",
        "weight",
        "blood_A",
        "blood_B",
        "blood_O",
        "status_1",
        "status_2",
        "status_6",
    ]
    framed = ours.set_output(transform="pandas").transform(table)
    assert list(framed.columns) == list(ours.get_feature_names_out())


def test_unseen_categories_are_zeros_and_missing_ones_are_a_category():
    train = pd.DataFrame({"blood": ["A", "B", None], "sex": ["F", "M", "F"]})
    fitted = TablePreprocessor().fit(train)
    assert list(fitted.get_feature_names_out()) == ["blood_A", "blood_B", "blood_missing", "sex_F", "sex_M"]
    new = pd.DataFrame({"blood": ["O", None, "A"], "sex": ["F", None, "X"]})
    assert fitted.transform(new).tolist() == [[0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]]


def test_codes_can_be_named_as_categories_and_compare_as_words():
    train = pd.DataFrame({"code": [1, 2, 2], "x": [0.0, 1.0, 2.0]})
    fitted = TablePreprocessor(categorical=["code"]).fit(train)
    assert fitted.transform(pd.DataFrame({"code": [2.0, np.nan], "x": [1.0, 1.0]}))[:, 1:].tolist() == [[0, 1], [0, 0]]
    with pytest.raises(ValueError, match=r"not in the table: \['cod'\]"):
        TablePreprocessor(categorical=["cod"]).fit(train)


def test_polars_and_nullable_frames_give_the_same_matrix(table):
    plain = TablePreprocessor().fit_transform(table.drop(columns="status"))
    polars = pl.DataFrame(
        {name: [None if pd.isna(v) else v for v in table[name].tolist()] for name in ("age", "blood", "weight")}
    )
    assert TablePreprocessor().fit_transform(polars) == pytest.approx(plain)
    nullable = table.drop(columns="status").convert_dtypes()
    assert TablePreprocessor().fit_transform(nullable) == pytest.approx(plain)


def test_empty_and_constant_columns_become_zero():
    frame = pd.DataFrame({"empty": [np.nan, np.nan], "constant": [3.0, 3.0], "x": [0.0, 2.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = TablePreprocessor().fit(frame)
    assert fitted.transform(frame).tolist() == [[0, 0, -1], [0, 0, 1]]
    assert fitted.empty_ == ["empty"]


def test_booleans_are_categories():
    frame = pd.DataFrame({"smoker": [True, False]})
    assert list(TablePreprocessor().fit(frame).get_feature_names_out()) == ["smoker_0", "smoker_1"]


def test_booleans_and_their_codes_are_one():
    fitted = TablePreprocessor().fit(pd.DataFrame({"smoker": [True, False]}))
    for other in ([1, 0], [1.0, 0.0], ["1", "0"]):
        assert fitted.transform(pd.DataFrame({"smoker": other})).tolist() == [[0, 1], [1, 0]]


def test_numbers_held_as_objects_are_numbers():
    frame = pd.DataFrame({"x": pd.Series([1.0, 3.0, None], dtype=object)})
    assert TablePreprocessor(scale=False).fit_transform(frame).tolist() == [[1], [3], [2]]


def test_dates_and_identifiers_are_refused_with_advice():
    with pytest.raises(ValueError, match="'when' holds dates"):
        TablePreprocessor().fit(pd.DataFrame({"when": pd.date_range("2020-01-01", periods=5)}))
    with pytest.raises(ValueError, match="'id' has 300 categories in 300 rows"):
        TablePreprocessor().fit(pd.DataFrame({"id": [f"p{i}" for i in range(300)]}))


def test_a_column_coded_in_another_way_warns():
    fitted = TablePreprocessor().fit(pd.DataFrame({"sex": ["male", "female"] * 20}))
    with pytest.warns(UserWarning, match="no value of column 'sex' was seen in training"):
        fitted.transform(pd.DataFrame({"sex": ["M", "F"] * 20}))


def test_names_of_columns_stay_apart():
    frame = pd.DataFrame({"s_F": [1.0, 2.0], "s": ["F", "M"]})
    assert len(set(TablePreprocessor().fit(frame).get_feature_names_out())) == 3


def test_bad_tables_are_refused(table):
    fitted = TablePreprocessor().fit(table)
    with pytest.raises(ValueError, match="column 'age' was numeric in training; here it holds text such as 'old'"):
        fitted.transform(table.assign(age="old"))
    with pytest.raises(ValueError, match="contains infinity in row 0"):
        fitted.transform(table.assign(age=np.inf))
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(table.drop(columns="age"))
    with pytest.raises(ValueError, match="no rows"):
        TablePreprocessor().fit(table[:0])


def test_what_is_learnt_is_plain_data(table):
    fitted = TablePreprocessor().fit(table)
    assert json.loads(json.dumps(fitted.categories_))["blood"] == ["A", "B", "O"]


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_medians_are_numpys(n):  # and what comes out is not the caller's own
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.integers(0, 2, (n, 9)), rng.integers(0, 3, (n, 5)), rng.normal(size=(n, 3)), np.ones(n)])
    found = TablePreprocessor(scale=False).fit(X.astype(float)).median_
    np.testing.assert_array_equal(found, np.median(X, axis=0))
    assert not np.shares_memory(TablePreprocessor(scale=False).fit_transform(X), X)


def test_without_the_first_category_coefficients_are_against_it():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": rng.choice(["F", "M"], 1500), "dx": rng.choice(list("ABCDEFGHIJKLMN"), 1500)})
    table["age"] = 50 + 10 * rng.normal(size=1500)
    effect = 0.8 * (table["sex"] == "M") + 0.5 * (table["dx"] == "B")
    y = ly.Outcome(rng.exponential(np.exp(-effect)), np.ones(1500, dtype=bool))
    whole, coded = TablePreprocessor(), TablePreprocessor(drop_first=True)
    X = coded.set_output(transform="pandas").fit_transform(table)
    assert list(X.columns) == ["age", "sex_M", *(f"dx_{letter}" for letter in "BCDEFGHIJKLMN")]
    model = ly.models.Cox().fit(X, y)
    truth = np.array([0, 0.8, 0.5, *(12 * [0])])
    assert np.abs((model.coef_ - truth) / model.standard_error_).max() < 3.5
    summary = model.summary()
    assert summary.loc["sex_M", "p"] < 1e-20
    # one indicator for every category: the data cannot tell them apart, and there is no p to read
    every = ly.models.Cox().fit(whole.fit_transform(table), y)
    assert np.isnan(every.standard_error_).tolist() == [False] + 16 * [True]
    # the same ranking, but for the penalty
    scores = model.predict(coded.transform(table)), every.predict(whole.transform(table))
    assert scores[0] == pytest.approx(scores[1], rel=1e-3)
    assert model.standard_error_[1] == pytest.approx(2 / np.sqrt(1500), rel=0.1)  # of two equal groups, all events
