"""From scores to an allocation: policies, guarantees, adversaries, donor types and life-years gained."""

from ._adversary import adversary
from ._bounds import PlugInBound, guarantee
from ._case import Case
from ._donor_types import PAIR_COLUMNS, DonorTypeRanker
from ._examples import Figure1, figure_1, motivating_example
from ._gained import LifeModel, LifeYearsGained
from ._grouping import DonorTypes
from ._policies import CandidateTable, Greedy, Policy, PositionWeighted, RandomisedPolicy, UniformRandom
from ._tiers import Tiers
from ._tradeoff import Tradeoff, plot_tradeoff, tradeoff

SAVED_CLASSES: tuple[type, ...] = (DonorTypeRanker, DonorTypes, LifeModel, LifeYearsGained)
"""Classes of this package that a saved model may consist of (`lifeyears.save`)."""

__all__ = [
    "PAIR_COLUMNS",
    "SAVED_CLASSES",
    "CandidateTable",
    "Case",
    "DonorTypeRanker",
    "Figure1",
    "Greedy",
    "LifeYearsGained",
    "PlugInBound",
    "Policy",
    "PositionWeighted",
    "RandomisedPolicy",
    "Tiers",
    "Tradeoff",
    "UniformRandom",
    "adversary",
    "figure_1",
    "guarantee",
    "motivating_example",
    "plot_tradeoff",
    "tradeoff",
]
