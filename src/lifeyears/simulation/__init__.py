"""A waiting list in time: donors and candidates arriving, dying, being matched; policies compared."""

from ._config import Config
from ._config_file import read_config
from ._output import write_run
from ._policies import Policy
from ._result import Simulation
from ._simulate import simulate
from ._steady_state import SteadyState, steady_state
from ._world import World

__all__ = [
    "Config",
    "Policy",
    "Simulation",
    "SteadyState",
    "World",
    "read_config",
    "simulate",
    "steady_state",
    "write_run",
]
