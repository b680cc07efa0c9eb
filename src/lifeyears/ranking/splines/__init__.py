"""Hazards along linear splines, piecewise in time, with empirical-Bayes prior variances."""

from ._hazards import SplineHazards, fit_spline_hazards
from ._terms import InteractionTerms, SplineTerms

__all__ = ["InteractionTerms", "SplineHazards", "SplineTerms", "fit_spline_hazards"]
