"""The engine: events in time, a match run for every item, and what came of them. It knows no organ.

What the engine needs to know arrives as arrays, codes and tables: a `Scenario` from a world and an `Order` from a
policy.
"""

from ._arrays import (
    CHANGED,
    DEAD,
    GONE,
    ITEM,
    LISTED,
    MATCHED,
    NO_FIT,
    NOT_LISTED,
    REMOVED,
    WAITING,
    CandidateArrays,
    Events,
    ItemArrays,
    ListRules,
    ListState,
    Order,
    Scenario,
    make_order,
    sort_events,
)
from ._called import CalledPolicy, MatchRun, run_called_policy
from ._match_run import CLASS_STEP, LARGEST_SCORE
from ._measures import Tally, mean_or_nan, median_or_nan, rate_per_100, tally_run, time_in_states
from ._pairs import order_at_random, pair_uniform, score_pairs
from ._run import run_policy, warm_up

__all__ = [
    "CHANGED",
    "CLASS_STEP",
    "DEAD",
    "GONE",
    "ITEM",
    "LARGEST_SCORE",
    "LISTED",
    "MATCHED",
    "NOT_LISTED",
    "NO_FIT",
    "REMOVED",
    "WAITING",
    "CalledPolicy",
    "CandidateArrays",
    "Events",
    "ItemArrays",
    "ListRules",
    "ListState",
    "MatchRun",
    "Order",
    "Scenario",
    "Tally",
    "make_order",
    "mean_or_nan",
    "median_or_nan",
    "order_at_random",
    "pair_uniform",
    "rate_per_100",
    "run_called_policy",
    "run_policy",
    "score_pairs",
    "sort_events",
    "tally_run",
    "time_in_states",
    "warm_up",
]
