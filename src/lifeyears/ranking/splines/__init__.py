"""Hazards along linear splines, piecewise in time, with empirical-Bayes prior variances."""
