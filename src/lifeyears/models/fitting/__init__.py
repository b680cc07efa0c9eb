"""Fitting: Newton's method, Cox's partial likelihood, baseline hazards and what they are computed with."""

from ._baseline import Baseline, LifeTable, relative_risk
from ._exponential import exp_minus_outer
from ._newton import Maximum, NotConvergedWarning, Smooth, maximise, standard_errors, warn_not_converged
from ._objective import PartialLikelihoodObjective
from ._partial_likelihood import PartialLikelihood, RiskSets
from ._scaling import column_scales

__all__ = [
    "Baseline",
    "LifeTable",
    "Maximum",
    "NotConvergedWarning",
    "PartialLikelihood",
    "PartialLikelihoodObjective",
    "RiskSets",
    "Smooth",
    "column_scales",
    "exp_minus_outer",
    "maximise",
    "relative_risk",
    "standard_errors",
    "warn_not_converged",
]
