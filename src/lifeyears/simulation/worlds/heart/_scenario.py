"""The heart world as the engine reads it: arrays, codes and rules."""

from __future__ import annotations

import numpy as np

from ....data.registry import COMPATIBILITY_CODES
from ...engine import CandidateArrays, ItemArrays, ListRules, Scenario
from ._arrivals import Arrivals
from ._pair_law import HeartLaw, tabulate_expected_life
from ._paths import DIED
from ._world import INACTIVE, World


def make_scenario(arrivals: Arrivals, world: World) -> Scenario:
    """Translate one replicate for the engine: blood groups are kinds, heart masses sizes, centres sites."""
    low, high = world.size_match or (0.0, np.inf)
    return Scenario(
        events=arrivals.events,
        candidates=CandidateArrays(
            key=arrivals.candidate_law.key,
            listed=arrivals.listed,
            kind=arrivals.group,
            site=arrivals.centre,
            size=arrivals.candidate_law.mass,
            openness=arrivals.open_to,
        ),
        items=ItemArrays(
            key=arrivals.donor_law.key,
            kind=arrivals.donor_group,
            size=arrivals.donor_law.mass,
            quality=arrivals.quality,
            distances=arrivals.distances,
        ),
        rules=ListRules(
            acceptance=np.array(world.acceptance),
            n_active=INACTIVE,
            death=DIED,
            fits=COMPATIBILITY_CODES,  # primary, secondary, incompatible
            most_offers=world.most_offers,
            reach=world.reach_nm,
            size_low=float(low),
            size_high=float(high),
        ),
        law=HeartLaw(
            arrivals.candidate_law, arrivals.donor_law, tabulate_expected_life(world.law, world.year, world.tau)
        ),
    )
