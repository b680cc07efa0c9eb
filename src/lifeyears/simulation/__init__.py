"""A waiting list in time: donors and candidates arriving, dying, being matched; policies compared."""

from ._config import Config
from ._config_file import read_config
from ._output import write_run
from ._result import Simulation
from ._simulate import as_config, simulate
from ._steady_state import SteadyState, steady_state
from .policies import (
    NAMED_POLICIES,
    TERMS,
    US_CLASSES,
    Composite,
    DonorRecord,
    ListedCandidates,
    OfferRule,
    PolicyWorld,
    Zones,
    as_policy,
)
from .worlds.heart import World

__all__ = [
    "NAMED_POLICIES",
    "TERMS",
    "US_CLASSES",
    "Composite",
    "Config",
    "DonorRecord",
    "ListedCandidates",
    "OfferRule",
    "PolicyWorld",
    "Simulation",
    "SteadyState",
    "World",
    "Zones",
    "as_config",
    "as_policy",
    "read_config",
    "simulate",
    "steady_state",
    "write_run",
]
