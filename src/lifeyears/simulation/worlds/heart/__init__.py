"""The US heart list: candidates with statuses and courses, donors, compatibility, and life with and without a heart."""

from ._arrivals import Arrivals, draw_arrivals
from ._donor_types import N_DONOR_TYPES, classify_donors, make_typical_pairs
from ._measures import GROUP_MEASURES, MAIN_MEASURES, MEASURES, Measurements, measure_run
from ._pair_law import HeartLaw, expect_lives
from ._paths import N_STATES, compute_frailty, expect_life_without
from ._published import PUBLISHED, TOLERANCE, PublishedFigure
from ._scenario import make_scenario
from ._world import INACTIVE, STATUSES, World, check_world_setting

__all__ = [
    "GROUP_MEASURES",
    "INACTIVE",
    "MAIN_MEASURES",
    "MEASURES",
    "N_DONOR_TYPES",
    "N_STATES",
    "PUBLISHED",
    "STATUSES",
    "TOLERANCE",
    "Arrivals",
    "HeartLaw",
    "Measurements",
    "PublishedFigure",
    "World",
    "check_world_setting",
    "classify_donors",
    "compute_frailty",
    "draw_arrivals",
    "expect_life_without",
    "expect_lives",
    "make_scenario",
    "make_typical_pairs",
    "measure_run",
]
