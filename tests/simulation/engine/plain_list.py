"""The waiting list in plain Python: the twin of lifeyears.simulation.engine, slow and easy to read."""

from __future__ import annotations

import math

import numpy as np

from lifeyears.data import Population
from lifeyears.data.registry import hash_pairs
from lifeyears.simulation import Composite
from lifeyears.simulation.worlds.heart import classify_donors, compute_frailty

# classes of US policy 6 in order: status, zone, blood match (reference/heart_policy6_table6_7_adult_donor.csv)
CLASSES = """
1 500|2 500|3 250|1 1000|2 1000|4 250|3 500|5 250|3 1000|6 250|1 1500|2 1500|3 1500|4 500|5 500|6 500|
1 2500|2 2500|3 2500|4 1000|5 1000|6 1000|1 0|2 0|3 0|4 1500|5 1500|6 1500|4 2500|5 2500|6 2500|4 0|5 0|6 0
""".replace("\n", "")
CLASSES = [tuple(int(part) for part in each.split()) for each in CLASSES.split("|")]


def us_class(status: int, distance: float, blood: str) -> int:
    for number, (its, zone) in enumerate(CLASSES):
        if its == status and (zone == 0 or distance <= zone):
            return 2 * number + 1 + (blood == "secondary")
    raise AssertionError


def run_plainly(arrivals, world, policy, start=0.0, years_of=None, without=None, burn_in=None):
    """Everything from the first event on: the US policy until `start`, then the policy; who got which heart."""
    status, waiting, recipient, offers, away = {}, set(), {}, {}, {}
    stays = {}  # of each candidate: (status, from when, until when)
    events = arrivals.events
    for time, kind, who, state in zip(events.time, events.kind, events.who, events.state, strict=True):
        if kind == 0:
            waiting.add(who)
            status[who] = state
            stays[who] = [(state, time)]
        elif kind == 3:
            rule = policy if time >= start else burn_in
            asked = _match_run(arrivals, world, rule, who, waiting, status, years_of, without, stays, time)
            offers[who] = len(asked)
            if asked and asked[-1][1]:
                recipient[who] = asked[-1][0]
                waiting.remove(asked[-1][0])
        elif who in waiting:
            if kind == 1:
                status[who] = state
                stays[who].append((state, time))
            else:
                waiting.remove(who)
                away[who] = "died" if state == 7 else "left"
    return recipient, offers, waiting, away


def _match_run(arrivals, world, policy, heart, waiting, status, years_of, without, stays, now):
    """Who is asked, in order, and whether each takes the heart."""
    here = np.array(sorted(who for who in waiting if status[who] != 6), dtype=int)  # 6: inactive, offered nothing
    if not len(here):
        return []
    donor_key = arrivals.donors["donor_key"].to_numpy()[heart]
    luck = hash_pairs(arrivals.candidates["candidate_key"].to_numpy()[here], np.array([donor_key]), 5)
    heart_group, groups = (
        arrivals.donors["donor_blood_group"].iloc[heart],
        arrivals.candidates["blood_group"].iloc[here],
    )
    blood = Population.compatible(heart_group, groups)
    years = _years(arrivals, world, policy, here, heart, years_of)
    frailty = compute_frailty(arrivals.candidates, world.frailty)
    ranked = []
    for i, who in enumerate(here):
        distance = arrivals.distances[heart, arrivals.centre[who]]
        ratio = arrivals.donor_law.mass[heart] / arrivals.candidate_law.mass[who]
        if blood[i] == "incompatible" or distance > world.reach_nm or luck[2, i] >= arrivals.open_to[who]:
            continue
        if ratio < world.size_match[0] or ratio > world.size_match[1]:  # an unknown size passes
            continue
        zone = sum(distance > limit for limit in world.zones_nm)
        if isinstance(policy, Composite):
            values = {
                "life": years[i],
                "without": without[who if len(without) > 1 else 0, status[who]],
                "hazard": world.death_rates[status[who]] * (frailty[who] if policy.is_oracle else 1.0),
                "waiting": now - arrivals.listed[who],
                "waiting_at_status": _time_in(stays[who], status[who], now),
                "primary_blood_group": blood[i] == "primary",
                "distance": distance,
                "sensitised": _known(arrivals.candidates["antibodies_class_1"].iloc[who], 0.0) / 100,
                "size": _known(abs(ratio - 1), 0.0),
                "age": arrivals.candidates["age"].iloc[who],
                "random": luck[4, i],
            }
            score = sum(weight * values[name] for name, weight in policy.weights.items() if name != "status")
            score += policy.weights["status"][status[who]] if "status" in policy.weights else 0.0
            rank = (sum(distance > limit for limit in policy.zones.limits), -score)
        elif policy.order == "status":
            rank = (us_class(status[who] + 1, distance, blood[i]), arrivals.listed[who])
        elif policy.order == "waiting":
            rank = (zone, arrivals.listed[who])
        elif policy.order == "random":
            rank = (zone, -luck[4, i])
        else:
            gain = policy.target == "gain"
            rank = (zone, (without[who if len(without) > 1 else 0, status[who]] if gain else 0) - years[i])
        ranked.append((rank, who, luck[3, i]))
    ranked.sort()
    asked = []
    while ranked and len(asked) < world.most_offers:
        position = 0
        if policy.k > 1:
            weights = [1 / math.log2(i + 1) for i in range(1, min(policy.k, len(ranked)) + 1)]
            drawn = hash_pairs(np.array([len(asked)]), np.array([donor_key]), 6)[5, 0] * sum(weights)
            position = int(np.searchsorted(np.cumsum(weights), drawn, side="right"))
        _, who, its_luck = ranked.pop(position)
        odds = world.acceptance[status[who]] + arrivals.quality[heart]
        takes = its_luck < 1 / (1 + math.exp(-odds))
        asked.append((who, takes))
        if takes:
            break
    return asked


def _time_in(stays, status, now):
    """Time in a status, over all stays in it, the current one included."""
    ends = [begin for _, begin in stays[1:]] + [now]
    return sum(end - begin for (each, begin), end in zip(stays, ends, strict=True) if each == status)


def _known(value, otherwise):
    return otherwise if math.isnan(value) else value


def _years(arrivals, world, policy, here, heart, years_of):
    if not isinstance(policy, Composite) and policy.order != "model":
        return None
    if not policy.is_oracle:
        return years_of[here, classify_donors(arrivals.donors)[heart]]
    population = Population(world.year, world.law)
    pairs = population.pairs(arrivals.candidates, arrivals.donors, candidate=here, donor=heart, incompatible="keep")
    return population.lifetimes(pairs).expected(world.tau)
