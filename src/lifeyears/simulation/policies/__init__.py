"""Policies: the named ones, composite ones, those of others, and the scores of models."""

from ._composite import Composite
from ._models import attach_models, fit_models
from ._named import NAMED_POLICIES, NamedPolicy, Simulated, as_policies, as_policy, get_named_policy
from ._offer_rule import OfferRule
from ._policy_world import DonorRecord, ListedCandidates, PolicyWorld
from ._running import run_simulated, view_world
from ._scores import Scores, score_for_policies
from ._terms import TERMS
from ._us_status import US_STATUS_ORDER
from ._zones import US_CLASSES, Zones

__all__ = [
    "NAMED_POLICIES",
    "TERMS",
    "US_CLASSES",
    "US_STATUS_ORDER",
    "Composite",
    "DonorRecord",
    "ListedCandidates",
    "NamedPolicy",
    "OfferRule",
    "PolicyWorld",
    "Scores",
    "Simulated",
    "Zones",
    "as_policies",
    "as_policy",
    "attach_models",
    "fit_models",
    "get_named_policy",
    "run_simulated",
    "score_for_policies",
    "view_world",
]
