"""The stacked ranker and its members, each of which can be used alone."""

from ._boosted import BoostedHazards, BoostedYears, NetworkYears
from ._effort import make_members
from ._members import Member
from ._ranker import StackedRanker
from ._splines import SplineHazards, SplineInteractionHazards

__all__ = [
    "BoostedHazards",
    "BoostedYears",
    "Member",
    "NetworkYears",
    "SplineHazards",
    "SplineInteractionHazards",
    "StackedRanker",
    "make_members",
]
