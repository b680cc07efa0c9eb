"""Configurations: read from files, checked, with errors that name the line."""

import json

import pytest

from lifeyears.errors import FileReadError, MissingFileError
from lifeyears.simulation import Config, OfferRule, World, as_config, read_config
from lifeyears.simulation.policies import as_policies

GOOD = """\
years: 3
replicates: 4
random_state: 7
reference: uniform
policies:
  - us_status
  - uniform
  - name: mine
    order: model
    model: cox
    k: 5
world:
  scale: 0.1
  donors_per_year: 5000
  death_rates: [1, 0.5, 0.2, 0.1, 0.1, 0.1, 0.1]
  size_match: null
"""


def test_a_yaml_file_is_read(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text(GOOD)
    config = read_config(path)
    assert (config.years, config.replicates, config.random_state, config.reference) == (3.0, 4, 7, "uniform")
    assert [policy.name for policy in config.policies] == ["us_status", "uniform", "mine"]
    assert config.policies[2].k == 5
    assert config.world.donors_per_year == 500
    assert config.world.size_match is None


def test_json_and_toml_say_the_same(tmp_path):
    (tmp_path / "a.json").write_text('{"years": 2, "policies": ["uniform"], "world": {"tau": 10}}')
    (tmp_path / "a.toml").write_text('years = 2\npolicies = ["uniform"]\n[world]\ntau = 10\n')
    first, second = (read_config(tmp_path / name).to_dict() for name in ("a.json", "a.toml"))
    assert first == second
    assert first["world"]["tau"] == 10


def test_what_was_used_can_be_read_again(tmp_path):
    config = Config(world=World(tau=12), policies=["uniform", "lyg"], years=2)
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()))
    assert read_config(tmp_path / "config.json").to_dict() == config.to_dict()


def test_an_empty_file_is_the_default(tmp_path):
    (tmp_path / "empty.yaml").write_text("# nothing yet\n")
    assert read_config(tmp_path / "empty.yaml").to_dict() == Config().to_dict()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("years: 3", "yaers: 3", r"my.yaml, line 1: there is no setting 'yaers' \(did you mean 'years'\?\); there are"),
        ("years: 3", "years: three", r"line 1: years must be a number; got 'three'"),
        ("replicates: 4", "replicates: 0", r"line 2: replicates must be at least 1; got 0"),
        ("replicates: 4", "replicates: " + "9" * 400, r"line 2: replicates must be at most 100000; got 999"),
        ("replicates: 4", "replicates: 4.5", r"line 2: replicates must be a whole number; got 4.5"),
        ("replicates: 4", "years: 4", r"line 2: years is already set in line 1"),
        ("reference: uniform", "reference: lyg", r"line 4: reference must be one of the policies"),
        (
            "  - uniform",
            "  - unifrom",
            r"line 7: there is no policy 'unifrom' \(did you mean 'uniform'\?\)",
        ),
        ("  - uniform", "  - us_status", r"line 5: policies must have names of their own; us_status is there twice"),
        ("    order: model", "    order: modle", r"line 8: the order of policy mine must be one of"),
        ("    k: 5", "    k: 0", r"line 8: k of policy mine must be at least 1; got 0"),
        ("    k: 5", "    kk: 5", r"line 8: a policy has no 'kk'; it has name, order, model, target, k, zones"),
        ("  scale: 0.1", "  scale: 0", r"line 13: scale must be at least 0.0001; got 0"),
        ("donors_per_year: 5000", "donors_per_year: -1", r"line 14: donors_per_year must be at least 0; got -1"),
        (
            "donors_per_year",
            "donors_per_yaer",
            r"line 14: there is no setting 'donors_per_yaer' \(did you mean 'donors_",
        ),
        ("[1, 0.5, 0.2, 0.1, 0.1, 0.1, 0.1]", "[1, 0.5]", r"line 15: death_rates must have 7 entries; got 2"),
        ("[1, 0.5,", "[-1, 0.5,", r"line 15: death_rates must be at least 0; got -1"),
        ("[1, 0.5,", "[.inf, 0.5,", r"line 15: death_rates must be .*got inf"),
        ("size_match: null", "size_match: [2, 1]", r"line 16: size_match must be a smaller and a larger ratio"),
        ("size_match: null", "zones_nm: [900, 5000]", r"line 16: zones_nm must rise and stay below reach_nm"),
        ("size_match: null", "reach_nm: 700", r"line 16: zones_nm must rise and stay below reach_nm \(700\)"),
        ("size_match: null", "law: mars", r"line 16: law must be one of 'registry', .*; got 'mars'"),
        ("size_match: null", "size_match: [1", r"line 17: this is not YAML"),
    ],
)
def test_errors_name_the_line(tmp_path, old, new, message):
    path = tmp_path / "my.yaml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        read_config(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"years": 2,\n"world": {"tau": -1}}', "a.json, line 2: tau must be at least 0.01; got -1"),
        ("a.json", '{"years": 2,\n', "a.json, line 2: this is not JSON"),
        ("a.toml", "years = 2\n[world]\ntua = 1\n", "a.toml, line 3: there is no setting 'tua'"),
        ("a.toml", "years = \n", "a.toml, line 1: this is not TOML"),
        ("a.yaml", "- 1\n- 2\n", "a.yaml: a configuration holds settings"),
        ("a.yaml", "? [a, b]\n: 1\n", "a.yaml, line 1: a setting has a plain name"),
        ("a.yaml", "policies: &all [uniform, *all]\n", "a.yaml, line 1: a policy is a name"),
        ("a.txt", "years: 2", "a.txt: a configuration is a .yaml"),
    ],
)
def test_other_files_name_the_line_too(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_config(tmp_path / name)


def test_files_that_cannot_be_opened_are_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"nowhere\.yaml"):
        read_config(tmp_path / "nowhere.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(FileReadError, match=r"folder\.yaml cannot be read"):
        read_config(tmp_path / "folder.yaml")


def test_listing_shares_must_sum_to_one():
    rows = [[1, 0, 0, 0, 0, 0]] * 5 + [[0.5, 0, 0, 0, 0, 0]]
    with pytest.raises(ValueError, match=r"row 6 of listed_in must sum to 1; it sums to 0\.5"):
        World(listed_in=rows)


def test_policies_are_checked():
    with pytest.raises(ValueError, match="policies must be a list"):
        as_policies("us_status")
    with pytest.raises(ValueError, match="has no use for a model"):
        OfferRule("a", "waiting", model="cox")
    with pytest.raises(ValueError, match="a policy needs order"):
        as_policies([{"name": "a"}])
    with pytest.raises(ValueError, match="policies names none"):
        as_policies([])


def test_what_is_given_goes_before_the_configuration():
    config = as_config({"years": 3, "reference": "uniform", "policies": ["us_status", "uniform"]})
    changed = config.changed(years=5, policies=["first_come", "lyg"])
    assert (changed.years, changed.reference) == (5.0, "first_come")
    assert config.changed(years=None).years == 3.0
