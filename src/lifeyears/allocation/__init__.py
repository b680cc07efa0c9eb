"""From scores to an allocation: policies, what they guarantee, what C-index does not, and donor types."""

from ._adversary import adversary
from ._bounds import PlugInBound, guarantee
from ._case import Case
from ._donor_types import PAIR_COLUMNS, DonorTypeRanker
from ._examples import Figure1, figure_1, motivating_example
from ._gained import LifeYearsGained
from ._policies import Greedy, Policy, PositionWeighted, UniformRandom
from ._tiers import Tiers
from ._tradeoff import Tradeoff, plot_tradeoff, tradeoff

__all__ = [
    "PAIR_COLUMNS",
    "Case",
    "DonorTypeRanker",
    "Figure1",
    "Greedy",
    "LifeYearsGained",
    "PlugInBound",
    "Policy",
    "PositionWeighted",
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
