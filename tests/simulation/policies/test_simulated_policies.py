"""One protocol for all policies: called in Python or compiled, they allocate the same hearts to the same candidates."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lifeyears as ly
from lifeyears import catalogue, cli
from lifeyears.allocation import Greedy, PositionWeighted, Tiers, UniformRandom
from lifeyears.errors import DataError, RequestError
from lifeyears.simulation import (
    NAMED_POLICIES,
    US_CLASSES,
    Composite,
    Config,
    OfferRule,
    World,
    Zones,
    as_policy,
    read_config,
    simulate,
)
from lifeyears.simulation.engine import warm_up
from lifeyears.simulation.policies import US_STATUS_ORDER, Scores, run_simulated, view_world
from lifeyears.simulation.worlds.heart import classify_donors, draw_arrivals, make_scenario

SMALL = replace(World().scaled(1 / 15), suitable=0.8, burn_in_years=1.0)
YEARS = 2.0


class Replicate:
    """One replicate, and the years that a made-up model predicts for each candidate and type of donor."""

    def __init__(self, world=SMALL, seed=11):
        self.world = world
        self.arrivals = draw_arrivals(world, YEARS, np.random.SeedSequence(seed))
        self.scenario = make_scenario(self.arrivals, world)
        self.start = warm_up(self.scenario, US_STATUS_ORDER)
        years = np.random.default_rng(0).normal(12, 2, (len(self.arrivals.candidates), 4))
        self.scores = Scores(years, classify_donors(self.arrivals.donors))

    def run(self, policy, compiled=True):
        policy = as_policy(policy)
        tables = {} if policy.model is None else {id(policy.model): self.scores}
        if policy.is_oracle:
            tables = {}
        seen = view_world(policy, self.arrivals, self.scenario, tables, self.world)
        return run_simulated(policy, seen, self.start, compiled=compiled)


@pytest.fixture(scope="module")
def replicate():
    return Replicate()


def assert_same_allocations(one, other):
    np.testing.assert_array_equal(one.recipient, other.recipient)
    np.testing.assert_array_equal(one.offers, other.offers)
    np.testing.assert_array_equal(one.place, other.place)
    assert (one.recipient >= 0).sum() > 200


ALL_TERMS = {
    "life": 1.0,
    "without": -0.5,
    "hazard": 3.0,
    "status": [4, 3, 2, 1, 0.5, 0],
    "waiting": 0.3,
    "waiting_at_status": 0.7,
    "primary_blood_group": 1.5,
    "distance": -0.004,
    "sensitised": 2.0,
    "size": -3.0,
    "age": -0.05,
    "random": 0.8,
}


@pytest.mark.parametrize(
    "policy",
    [
        *NAMED_POLICIES.values(),
        Greedy(),
        PositionWeighted(k=5),
        Composite(ALL_TERMS, zones=(300, 900)),
        Composite(ALL_TERMS, zones=US_CLASSES, k=3),
        Composite({"hazard": 1.0, "without": -1.0}, model="truth"),
        Composite({"life": 1.0}, zones=Zones((500,), primary_first=True)),
    ],
    ids=lambda policy: getattr(policy, "name", type(policy).__name__),
)
def test_python_and_kernel_allocate_the_same_hearts_to_the_same_candidates(replicate, policy):
    assert_same_allocations(replicate.run(policy), replicate.run(policy, compiled=False))


@pytest.mark.parametrize(
    ("name", "composite"),
    [
        ("us_status", Composite({"waiting": 1}, zones=US_CLASSES)),
        ("first_come", Composite({"waiting": 1}, zones=(500, 1000))),
        ("lyg", Composite({"life": 1, "without": -1}, zones=(500, 1000), model="cox")),
        ("uniform", Composite({"random": 1}, zones=(500, 1000))),
        ("oracle_lyg", Composite({"life": 1, "without": -1}, zones=(500, 1000), model="truth")),
        ("position_weighted", Composite({"life": 1}, zones=(500, 1000), model="ranker", k=5)),
    ],
)
def test_composite_is_the_named_policy_to_the_last_allocation(replicate, name, composite):
    assert_same_allocations(replicate.run(NAMED_POLICIES[name]), replicate.run(composite))


def test_us_policy_is_a_sum_of_bonuses_where_nobody_is_far():
    """Within 250 nautical miles the classes go by status and blood group alone: bonuses large enough do the same."""
    replicate = Replicate(replace(SMALL, reach_nm=250.0, zones_nm=()))
    status = [-100 * each for each in range(6)]
    weights = {"status": status, "primary_blood_group": 50, "waiting": 1}
    assert_same_allocations(replicate.run(NAMED_POLICIES["us_status"]), replicate.run(Composite(weights)))


def test_first_come_is_first_come_within_the_zones_of_the_policy_not_of_the_world(replicate):
    within_world, own, none = (
        replicate.run(OfferRule("a", "waiting", zones=zones)) for zones in (None, (500, 1000), ())
    )
    assert_same_allocations(within_world, own)
    assert (own.recipient != none.recipient).any()
    assert_same_allocations(none, replicate.run(Composite({"waiting": 1})))


def test_scores_may_be_written_for_any_table():
    listed = pd.DataFrame({"status": [2, 1, 1], "waiting": [3.0, 1.0, 2.0], "distance": [100.0, 700.0, 100.0]}).assign(
        primary_blood_group=[True, True, False]
    )
    scores = Composite({"waiting": 1}, zones=US_CLASSES).scores(listed, {}, 0.0)
    assert np.argsort(-scores).tolist() == [2, 0, 1]  # classes 2, 3 and 7


class Youngest:
    """A policy in plain Python."""

    def scores(self, candidates, donor, now):
        assert set(donor) >= {"donor_age", "donor_blood_group"}
        assert len(candidates["age"]) == len(candidates) == len(candidates.to_frame())
        return -candidates["age"]


def test_a_policy_in_plain_python_is_called_with_the_candidates_of_the_moment(replicate):
    seen = []

    class Watching:
        def scores(self, candidates, donor, now):
            frame = candidates.to_frame()
            seen.append((now, frame))
            assert list(frame) == candidates.columns
            for name in ("status", "waiting", "distance", "blood_group", "age"):
                np.testing.assert_array_equal(frame[name].to_numpy(), candidates[name])
            assert "life" not in candidates
            assert "candidate_key" not in candidates
            return -candidates["waiting"]

    end = replicate.run(Watching())
    assert [now for now, _ in seen] == sorted(now for now, _ in seen)
    whole = pd.concat([frame for _, frame in seen])
    assert set(whole["status"]) <= {1, 2, 3, 4, 5, 6}
    assert (whole["waiting"] >= whole["waiting_at_status"] - 1e-9).all()
    assert (whole["distance"] <= SMALL.reach_nm).all()
    assert whole["size_ratio"].dropna().between(*SMALL.size_match).all()
    # the waiting time of a recipient is that of the list
    heart = np.flatnonzero((end.recipient >= 0) & (replicate.arrivals.arrived >= 0))[0]
    now, frame = next(each for each in seen if each[0] == replicate.arrivals.arrived[heart])
    who = end.recipient[heart]
    row = frame[frame["candidate"] == who].iloc[0]
    assert row["waiting"] == now - replicate.arrivals.listed[who]


def test_any_object_with_scores_runs_in_simulate():
    config = Config(world=SMALL, years=1, replicates=2, training_rows=500)
    policies = [Youngest(), Greedy(), PositionWeighted(k=3), UniformRandom(), Tiers("status", waiting="waiting")]
    result = simulate([*policies, {"name": "tiers by life", "policy": Tiers("status")}], config=config, n_jobs=1)
    names = [policy.name for policy in result.config.policies]
    assert names == ["Youngest", "Greedy", "PositionWeighted", "UniformRandom", "Tiers", "tiers by life"]
    rate = result.by_group.xs("transplants_per_100_patient_years", level="measure")["value"]
    assert rate["Youngest", "age", "18–39"] > 2 * rate["Youngest", "age", "65 and over"]
    deaths = result.table.xs("waitlist_deaths_per_100_patient_years", level="measure")["value"]
    assert deaths["Tiers"] < deaths["UniformRandom"]
    json.dumps(result.summary(), allow_nan=False)


def test_a_configuration_shows_the_settings_of_a_policy():
    described = Config(policies=[PositionWeighted(k=3), Youngest()]).to_dict()["policies"]
    assert described[0] == {"k": 3, "model": "cox", "name": "PositionWeighted", "policy": "PositionWeighted"}
    assert described[1] == {"name": "Youngest", "policy": "Youngest"}


def test_tiers_by_status_and_waiting_are_a_composite_of_classes(replicate):
    classes = tuple((number,) for number in range(6))
    composite = Composite({"waiting": 1}, zones=Zones((), classes))
    assert_same_allocations(replicate.run(Tiers("status", waiting="waiting")), replicate.run(composite))


def test_uniform_chances_are_the_same_called_and_compiled():
    """In Python each offer is drawn, in the kernel the whole order: equally likely orders in both."""
    policy, offered = UniformRandom(), {True: [], False: []}
    for seed in range(6):
        replicate = Replicate(seed=seed)
        for compiled, found in offered.items():
            end = replicate.run(policy, compiled=compiled)
            later = replicate.arrivals.arrived >= 0
            found.append([(end.recipient[later] >= 0).sum(), end.offers[later].mean()])
    gap = np.array(offered[True]) - np.array(offered[False])
    assert (np.abs(gap.mean(axis=0)) < 4 * gap.std(axis=0, ddof=1) / np.sqrt(6) + 1e-9).all()


@pytest.fixture(autouse=True)
def _own_catalogue(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(catalogue.policies, "_specs", dict(catalogue.policies))


def test_a_registered_policy_is_named_in_python_and_in_files(tmp_path, capsys):
    catalogue.policies.register("mine", Youngest, "the youngest first")
    by_object = simulate([Youngest(), "us_status"], 1, 2, n_jobs=1, config=SMALL)
    by_name = simulate(["us_status", "mine"], 1, 2, n_jobs=2, config=SMALL)
    pd.testing.assert_frame_equal(by_object.table.loc["Youngest"], by_name.table.loc["mine"], check_exact=True)
    path = tmp_path / "my.yaml"
    path.write_text(
        "years: 0.5\nreplicates: 1\npolicies:\n  - us_status\n  - mine\n  - name: other\n    policy: mine\n"
        "  - name: sum\n    policy: composite\n    weights: {waiting: 1, status: [5, 4, 3, 2, 1, 0]}\n"
        "    zones: [500]\nworld:\n  scale: 0.02\n  burn_in_years: 0.5\n"
    )
    config = read_config(path)
    assert [policy.name for policy in config.policies] == ["us_status", "mine", "other", "sum"]
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()))
    assert read_config(tmp_path / "config.json").to_dict() == config.to_dict()
    assert cli.run(["simulate", str(path), "--jobs", "1"]) == 0
    assert "mine" in capsys.readouterr().out


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_policy_of_a_file_is_taken_by_its_place(tmp_path, n_jobs):
    path = tmp_path / f"own{n_jobs}.py"
    path.write_text(
        f"class First{n_jobs}:\n    def scores(self, candidates, donor, now):\n        return candidates['waiting']\n"
    )
    result = simulate([f"{path}:First{n_jobs}", Composite({"waiting": 1})], 1, 2, n_jobs=n_jobs, config=SMALL)
    table = result.table["value"]
    pd.testing.assert_series_equal(table[f"First{n_jobs}"], table["composite"], check_names=False)
    config = tmp_path / "my.yaml"
    config.write_text(f"policies: ['{path}:First{n_jobs}']\n")
    with pytest.raises(RequestError, match="there is no policy"):  # a file is looked up by key
        read_config(config)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Composite({}), "weights must name terms"),
        (lambda: Composite({"waitng": 1}), r"there is no term 'waitng' \(did you mean 'waiting'\?\)"),
        (lambda: Composite({"status": [1, 2]}), "the weight of status must be six numbers"),
        (lambda: Composite({"life": "much"}), "the weight of life must be a number"),
        (lambda: Composite({"life": 1}, model=None), "weighs life, but no model is named"),
        (lambda: Composite({"waiting": 1}, zones=(1000, 500)), "the limits of zones must rise"),
        (lambda: Composite({"waiting": 1}, zones=500), "zones must be limits of distance"),
        (lambda: Zones((500,), classes=((1, 2),)), "must have 6 rows, one per status, of 2 numbers"),
        (lambda: OfferRule("a", "status", zones=(500,)), "the US policy has its own zones"),
        (lambda: OfferRule("a", "waiting").scores({}, {}, 0.0), "are those of the world"),
        (lambda: as_policy(Youngest), "a policy is a name, a mapping .*, or an object with a method scores"),
        (lambda: as_policy({"policy": "composite", "weigths": {}}), "the policy composite cannot be made"),
        (lambda: as_policy("first"), "there is no policy 'first'"),
    ],
)
def test_wrong_policies_are_refused(make, message):
    with pytest.raises(RequestError, match=message):
        make()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda candidates: np.full(len(candidates), np.nan), "scores of policy Odd must return finite numbers"),
        (lambda candidates: np.zeros(len(candidates) + 1), "scores of policy Odd must return one number for each of"),
        (lambda candidates: candidates["life"], "the policy has no model"),
        (lambda candidates: candidates["agee"], r"candidates have no column 'agee' \(did you mean 'age'\?\)"),
    ],
)
def test_what_a_policy_returns_is_checked(replicate, returned, message):
    class Odd:
        def scores(self, candidates, donor, now):
            return returned(candidates)

    with pytest.raises((DataError, RequestError), match=message):
        replicate.run(Odd())


def test_weights_that_would_outweigh_zones_are_refused(replicate):
    with pytest.raises(RequestError, match="with zones, scores must stay below 500,000"):
        replicate.run(Composite({"waiting": 1e6}, zones=(500,)))
    replicate.run(Composite({"waiting": 1e6}))  # without zones only ratios matter


def test_every_policy_of_the_catalogue_is_one():
    for key, spec in catalogue.policies.items():
        policy = spec.build()
        assert isinstance(policy, ly.allocation.Policy), key
        assert policy.name == key
