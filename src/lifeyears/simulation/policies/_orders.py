"""Policies as the engine reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..engine import AT_RANDOM, BY_LAW, BY_TABLE, BY_WAITING, Order, make_order
from ..worlds.heart import N_STATES, expect_life_without
from ._us_status import US_STATUS_ORDER

if TYPE_CHECKING:
    from ..worlds.heart import Arrivals, World
    from ._offer_rule import OfferRule
    from ._scores import Scores


def make_policy_order(policy: OfferRule, arrivals: Arrivals, tables: Mapping[int, Scores], world: World) -> Order:
    """Translate a policy for the engine; `tables` holds the scores of models, by the identity of the model.

    For life-years gained, the oracle knows each candidate's frailty; a model knows the rates of the status.
    """
    if policy.order == "status":
        return US_STATUS_ORDER._replace(k=policy.k)
    if policy.order != "model":
        kind = {"waiting": BY_WAITING, "random": AT_RANDOM}[policy.order]
        return make_order(kind, policy.k, n_states=N_STATES)
    without = None
    if policy.target == "gain":
        without = arrivals.without if policy.is_oracle else expect_life_without(np.ones(1), world)
    if policy.is_oracle:
        return make_order(BY_LAW, policy.k, baseline=without, n_states=N_STATES)
    scores = tables[id(policy.model)]
    return make_order(BY_TABLE, policy.k, scores.years, scores.donor_type, without, n_states=N_STATES)
