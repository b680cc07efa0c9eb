"""A simulated heart-transplant registry with known truth, and the population it is drawn from."""

from ._pairs import Population
from ._simulate import simulate_registry

__all__ = ["Population", "simulate_registry"]
