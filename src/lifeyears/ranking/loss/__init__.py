"""The hybrid loss of the paper (section 5): mean squared error plus a pairwise ranking loss weighted by |ΔNDCG|."""

from ._objective import HybridLoss, HybridObjective

__all__ = ["HybridLoss", "HybridObjective"]
