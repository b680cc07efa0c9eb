"""Policies: the named ones, the US status order, and the scores of models."""

from ._models import attach_models, fit_models
from ._offer_rule import NAMED_POLICIES, OfferRule, as_policies, as_policy
from ._orders import make_policy_order
from ._scores import Scores, score_for_policies
from ._us_status import US_STATUS_ORDER

__all__ = [
    "NAMED_POLICIES",
    "US_STATUS_ORDER",
    "OfferRule",
    "Scores",
    "as_policies",
    "as_policy",
    "attach_models",
    "fit_models",
    "make_policy_order",
    "score_for_policies",
]
