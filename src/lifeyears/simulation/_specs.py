"""The named policies of Lifeyears, for the catalogue."""

from functools import partial

from ..catalogue import MethodSpec
from .policies import NAMED_POLICIES, get_named_policy

LABELS = {
    "us_status": "US status policy",
    "first_come": "first come, first served",
    "uniform": "at random",
    "greedy": "expected life by Cox",
    "position_weighted": "position-weighted by the ranker",
    "lyg": "life-years gained by Cox",
    "oracle": "true expected life",
    "greedy_ranker": "expected life by the ranker",
    "oracle_lyg": "true life-years gained",
}
SPECS = (
    *(MethodSpec(key, LABELS[key], partial(get_named_policy, key)) for key in NAMED_POLICIES),
    MethodSpec("composite", "weighted sum of terms", "lifeyears.simulation:Composite"),
)
