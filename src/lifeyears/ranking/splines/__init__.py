"""Hazards along linear splines, piecewise in time, with empirical-Bayes prior variances."""

from ._hazards import FittedSplines, SplineSearch, fit_spline_hazards, fit_spline_interactions
from ._terms import InteractionTerms, SplineTerms

__all__ = [
    "FittedSplines",
    "InteractionTerms",
    "SplineSearch",
    "SplineTerms",
    "fit_spline_hazards",
    "fit_spline_interactions",
]
