"""The catalogue of public sets: every one loads, has the counts of its source, and holds no leak."""

from __future__ import annotations

import sys
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from lifeyears.data.public import _catalogue
from lifeyears.data.public._catalogue import EXCLUDED, SETS, datasets, load
from lifeyears.outcome import suggest_horizon

pytest.importorskip("SurvSet")

# name: (rows, events, distinct column names) in SurvSet's own files, before anything of ours touches them.
# Made by unpickling each file of SurvSet 0.2.11 directly, without SurvLoader and without Lifeyears:
#     frame = pickle.load(open("SurvSet/resources/pickles/<name>.pickle", "rb"))
#     len(frame), (frame.event > 0).sum(), len({c[4:] for c in frame if c[:4] in ("num_", "fac_")})
SOURCE_COUNTS = {
    "actg": (1151, 96, 11),
    "Aids2": (2839, 1761, 4),
    "AML_Bull": (116, 67, 6283),
    "breast": (100, 26, 4),
    "burn": (154, 48, 11),
    "cancer": (228, 165, 8),
    "cgd": (128, 44, 10),
    "chop": (414, 165, 3833),
    "colon": (929, 452, 9),
    "cost": (518, 404, 13),
    "d.oropha.rec": (192, 139, 9),
    "dataDIVAT2": (1837, 582, 4),
    "dataDIVAT3": (4267, 241, 6),
    "dataOvarian1": (912, 544, 160),
    "DBCD": (295, 79, 4919),
    "Dialysis": (6805, 1603, 4),
    "divorce": (3371, 1032, 3),
    "DLBCL": (240, 138, 7399),
    "e1684": (284, 196, 3),
    "flchain": (7874, 2169, 9),
    "follic": (541, 348, 5),
    "Framingham": (4699, 1473, 7),
    "GBSG2": (686, 299, 8),
    "grace": (1000, 324, 5),
    "gse1992": (124, 35, 15533),
    "gse3143": (158, 50, 8660),
    "gse4335": (115, 38, 12800),
    "hdfail": (52422, 2885, 6),
    "hepatoCellular": (227, 97, 43),
    "LeukSurv": (1043, 879, 7),
    "Melanoma": (205, 57, 5),
    "mgus": (241, 225, 9),
    "micro.censure": (117, 26, 40),
    "nki70": (144, 48, 75),
    "nwtco": (4028, 571, 6),
    "ova": (358, 266, 3),
    "pbc": (312, 125, 6),
    "Pbc3": (349, 61, 12),
    "pharmacoSmoking": (125, 89, 11),
    "phpl04K8a": (442, 236, 21),
    "prostate": (502, 354, 15),
    "prostateSurvival": (14294, 799, 3),
    "rdata": (1040, 547, 4),
    "rhc": (5735, 3722, 53),
    "rott2": (2982, 1272, 11),
    "scania": (1931, 1086, 5),
    "smarto": (3873, 460, 26),
    "stagec": (146, 54, 6),
    "support2": (9105, 6201, 34),
    "TRACE": (1878, 958, 6),
    "uis": (628, 508, 8),
    "UnempDur": (3241, 1986, 6),
    "Unemployment": (452, 256, 5),
    "veteran": (137, 128, 6),
    "whas500": (461, 176, 16),
    "wpbc": (198, 47, 32),
    "zinc": (431, 81, 13),
}

# What we take away, counted in the same files: 26 drives beyond 2,922 days, one of them failed ...
ROWS_TAKEN = {"hdfail": (26, 1)}
# ... and the columns that must not be there.
LEFT_OUT = {
    "flchain": {"chapter"},
    "follic": {"rt"},  # one value only
    "grace": {"los", "revasc"},
    "hdfail": {"rsc", "rer", "psc"},
    "mgus": {"pctime", "pcdx"},
    "nwtco": {"in_subcohort"},
    "rhc": {"surv2md1", "dnr1"},
    "support2": {"sfdm2", "surv2m", "surv6m", "sps", "dnr"},
    "UnempDur": {"ui"},
    "Unemployment": {"search", "pubemp"},
    "whas500": {"los"},
    "zinc": {"zincset", "stdagepill"},
}


@pytest.fixture(scope="module")
def loaded():
    return {name: load(name) for name in SETS}


def test_the_table_covers_the_catalogue():
    assert set(SOURCE_COUNTS) == set(SETS)


@pytest.mark.parametrize("name", SOURCE_COUNTS)
def test_counts_match_the_source(name, loaded):
    rows, events, columns = SOURCE_COUNTS[name]
    rows_taken, events_taken = ROWS_TAKEN.get(name, (0, 0))
    dataset = loaded[name]
    assert len(dataset) == len(dataset.X) == rows - rows_taken
    assert dataset.y.n_events == events - events_taken
    assert dataset.X.shape[1] == columns - len(LEFT_OUT.get(name, ()))


@pytest.mark.parametrize("name", SOURCE_COUNTS)
def test_catalogue_states_the_counts_and_the_horizon_of_the_set(name, loaded):
    row, dataset = datasets().set_index("name").loc[name], loaded[name]
    assert (row.subjects, row.events, row.features) == (len(dataset), dataset.y.n_events, dataset.X.shape[1])
    assert (row.unit, row.horizon) == (dataset.unit, dataset.horizon)
    assert row.source in dataset.source
    assert row.licence in dataset.source
    assert not any("where the catalogue" in warning for warning in dataset.report.warnings)


@pytest.mark.parametrize("name", SOURCE_COUNTS)
def test_columns_are_floats_or_categories_under_unique_plain_names(name, loaded):
    features = loaded[name].X
    assert features.columns.is_unique
    assert not any(column.startswith(("num_", "fac_")) for column in set(features.columns) - {"num_co"})
    kinds = set(features.dtypes.map(lambda dtype: dtype.kind if dtype.kind == "f" else dtype.name))
    assert kinds <= {"f", "category"}
    for column in features.select_dtypes("category"):
        levels = features[column].cat.categories
        assert all(isinstance(level, str) for level in levels)
        assert not {"missing", "na", ""} & set(levels)
    assert features.index.equals(pd.RangeIndex(len(features)))


@pytest.mark.parametrize("name", SOURCE_COUNTS)
def test_horizon_is_the_rule_or_documented_and_within_the_data(name, loaded):
    dataset = loaded[name]
    assert 0 < dataset.horizon <= dataset.y.time.max()
    if "horizon_why" in SETS[name]:
        assert any("horizon" in warning for warning in dataset.report.warnings)
    else:
        assert dataset.horizon == pytest.approx(suggest_horizon(dataset.y), rel=1e-3)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_known_leaks_are_gone_and_reported(name, loaded):
    dataset = loaded[name]
    assert not LEFT_OUT[name] & set(dataset.X.columns)
    assert LEFT_OUT[name] <= set(dataset.report.dropped_columns)


@pytest.mark.parametrize("name", SOURCE_COUNTS)
def test_no_column_alone_ranks_the_outcome(name, loaded):
    """A leak ranks nearly perfectly by itself (a cause of death: 0.93), or is known for events only."""
    dataset = loaded[name]
    rows = np.arange(0, len(dataset), max(1, len(dataset) // 500))
    y, features = dataset.y[rows], dataset.X.iloc[rows, :150]
    assert max(_concordance_alone(features[column], y.time, y.event) for column in features) < 0.85
    known = features.notna()
    assert (known[y.event].mean() - known[~y.event].mean()).abs().max() < 0.5


def test_the_leak_check_finds_a_leak():
    raw = _catalogue._read("flchain", SETS["flchain"])
    rows = np.arange(0, len(raw), 15)
    chapter = raw["fac_chapter"].iloc[rows]
    time, event = raw["time"].to_numpy(float)[rows], raw["event"].to_numpy()[rows] == 1
    assert _concordance_alone(chapter, time, event) > 0.85


def _concordance_alone(column: pd.Series, time: np.ndarray, event: np.ndarray) -> float:
    """Harrell's C of one column, in the better direction, by counting every pair."""
    if isinstance(column.dtype, pd.CategoricalDtype):  # a category scores its own event rate
        codes = column.cat.codes.to_numpy()
        rate = {code: event[codes == code].sum() / max(time[codes == code].sum(), 1e-9) for code in set(codes)}
        risk = np.array([rate[code] for code in codes])
    else:
        risk = column.fillna(column.median()).fillna(0.0).to_numpy()
    first = (time[:, None] < time[None, :]) & event[:, None]
    higher, tied = risk[:, None] > risk[None, :], risk[:, None] == risk[None, :]
    c = (first & higher).sum() + 0.5 * (first & tied).sum()
    share = c / first.sum()
    return max(share, 1 - share)


def test_events_of_follic_are_relapse_or_death(loaded):
    # randomForestSRC's follic has 272 relapses and 76 deaths without relapse
    assert loaded["follic"].y.n_events == 272 + 76


def test_drives_older_than_the_firm_are_dropped_and_reported(loaded):
    report = loaded["hdfail"].report
    assert (report.rows_read, report.rows_kept) == (52_422, 52_396)
    assert list(report.dropped_rows.values()) == [26]
    assert loaded["hdfail"].y.time.max() <= 8 * 365.25


def test_a_value_kept_as_number_is_not_also_a_category(loaded):
    dataset = loaded["dataDIVAT3"]
    assert dataset.X["year_tx"].dtype == float
    assert "year_tx (as a category)" in dataset.report.dropped_columns


def test_missing_categories_are_missing_unless_they_mean_none(loaded):
    assert loaded["support2"].X["income"].isna().sum() == 2982
    assert (loaded["rhc"].X["cat2"] == "none").sum() == 4535


def test_catalogue_has_transplants_and_a_large_set():
    table = datasets()
    assert list(table.columns) == _catalogue.COLUMNS
    assert (table["field"] == "organ transplant").sum() >= 2
    assert table["subjects"].max() >= 50_000
    assert (table["subjects"] >= 100).all()
    assert (table["events"] >= 20).all()
    assert not table.isna().any(axis=None)
    assert table["subjects"].is_monotonic_decreasing


def test_every_set_of_survset_is_in_or_out_with_a_reason():
    folder = resources.files("SurvSet").joinpath("resources", "pickles")
    shipped = {path.name.removesuffix(".pickle") for path in folder.iterdir() if path.name.endswith(".pickle")}
    assert shipped == set(SETS) | set(EXCLUDED)
    assert not set(SETS) & set(EXCLUDED)
    assert all(len(reason) > 10 for reason in EXCLUDED.values())


def test_loading_twice_gives_the_same(loaded):
    again = load("support2")
    pd.testing.assert_frame_equal(again.X, loaded["support2"].X)
    np.testing.assert_array_equal(again.y.time, loaded["support2"].y.time)


def test_an_unknown_name_lists_close_ones():
    with pytest.raises(ValueError, match=r"no data set 'datadivat'.*'dataDIVAT3' or 'dataDIVAT2'"):
        load("datadivat")
    with pytest.raises(ValueError, match=r"no data set 'qqqq'.*datasets\(\) lists all 57"):
        load("qqqq")


def test_an_excluded_name_says_why():
    with pytest.raises(ValueError, match="'dataDIVAT1' is left out of the catalogue: its follow-up is wrong"):
        load("dataDIVAT1")


def test_without_survset_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "SurvSet", None)
    with pytest.raises(ImportError, match=r'pip install "lifeyears\[data\]"'):
        load("flchain")
    assert len(datasets()) == len(SETS)  # the list itself needs no SurvSet


def test_a_leak_column_under_a_new_name_is_refused():
    entry = dict(SETS["flchain"], left_out={"cause": "the cause of death"})
    with pytest.raises(ValueError, match=r"has no column cause.*SurvSet==0\.2\.11"):
        _catalogue._read("flchain", entry)
