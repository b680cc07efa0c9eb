"""The cohort of a job: which rows it uses, what models may see of their outcomes, and the seeds of what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...data import Dataset
from ...outcome import Outcome
from .._plan import Plan

if TYPE_CHECKING:
    from ..._typing import FloatArray, IntArray


def derive_seed(plan: Plan, *parts: int) -> int:
    """Derive a seed for one thing that is drawn; it is the same in whatever order the jobs run."""
    return int(np.random.SeedSequence([plan.seed, *parts]).generate_state(1)[0] % 2**31)


def select_rows(data: Dataset, plan: Plan) -> IntArray:
    """Select the rows that the protocol uses: all, or those with an observed event."""
    return np.flatnonzero(data.y.event) if plan.protocol == "artificial" else np.arange(len(data))


def censor_outcome(y: Outcome, plan: Plan, iteration: int) -> Outcome:
    """Censor the outcome as the protocol does in this iteration: what the models may see."""
    if plan.protocol == "full":
        return y
    rng = np.random.default_rng(derive_seed(plan, iteration, 1))
    life = y.time
    if plan.censoring == "paper":
        censored = rng.permutation(len(life)) < round(plan.censored_share * len(life))
        end = np.where(censored, rng.uniform(0, life), np.inf)
    else:  # exponential, with the mean that censors the requested share
        waits = rng.standard_exponential(len(life))
        end = waits * np.quantile(life / waits, 1 - plan.censored_share)
    time = np.minimum(life, end)
    return Outcome(np.maximum(time, np.finfo(float).tiny), life <= end)


def assign_decades(data: Dataset, plan: Plan, rows: IntArray) -> FloatArray | None:
    """Assign each row its decade of entry, where waitlists are drawn within decades; else None."""
    if plan.era != "within" or data.entry is None:
        return None
    decades: FloatArray = np.asarray(data.entry)[rows] // 10
    return decades
