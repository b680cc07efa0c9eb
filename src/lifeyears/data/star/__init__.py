"""UNOS/OPTN STAR releases to a `Dataset`."""

from ._read_star import read_star

__all__ = ["read_star"]
