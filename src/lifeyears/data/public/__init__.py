"""Public survival data sets, each checked for leaks, through the optional package SurvSet."""

from ._catalogue import datasets, load

__all__ = ["datasets", "load"]
