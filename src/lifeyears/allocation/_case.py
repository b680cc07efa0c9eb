"""A case: candidates with predicted scores and true utilities, and the probabilities that a policy gives them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray
from ..metrics import count_concordant_pairs, ndcg_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, RED = "#0072B2", "#D55E00"  # a palette for colour-blind readers


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """One organ, N candidates, and a policy that chooses by a predictor's scores. Nothing is censored.

    Attributes
    ----------
    scores : array, shape (N,)
        Predicted scores.
    utilities : array, shape (N,)
        True utility of allocating to each candidate.
    probabilities : array, shape (N,)
        Probability with which the policy chooses each, given the scores.
    construction : str
        Name of the construction.
    """

    scores: FloatArray
    utilities: FloatArray
    probabilities: FloatArray
    construction: str

    @property
    def n(self) -> int:
        """Number of candidates."""
        return len(self.scores)

    @cached_property
    def c_index(self) -> float:
        """The predictor's C-index; unlike `concordance_index`, without a warning where it is below 0.5."""
        concordant, tied, comparable = count_concordant_pairs(self.utilities, np.ones(self.n, dtype=bool), self.scores)
        return (concordant + 0.5 * tied) / comparable if comparable else float("nan")

    @property
    def utility(self) -> float:
        """The policy's expected utility."""
        return float(self.probabilities @ self.utilities)

    @property
    def utility_ratio(self) -> float:
        """The policy's expected utility as a share of the best candidate's."""
        return self.utility / float(self.utilities.max())

    @property
    def uniform_ratio(self) -> float:
        """The expected utility of a uniform random choice, as a share of the best candidate's."""
        return float(self.utilities.mean() / self.utilities.max())

    @property
    def chosen(self) -> int:
        """The candidate whom the policy is most likely to choose (among ties the one with the highest score)."""
        return int(np.lexsort((-self.scores, -self.probabilities))[0])

    def ndcg(self, k: int = 1) -> float:
        """Return the predictor's NDCG@k, which detects a poor predictor; the policy may be poor all the same."""
        return ndcg_score(self.utilities, self.scores, k=k)

    def __str__(self) -> str:
        return (
            f"{self.construction}: {self.n} candidates, C-index {self.c_index:.4f}, NDCG@1 {self.ndcg():.4f}; the "
            f"policy gains {self.utility_ratio:.4f} of the best utility, a uniform choice {self.uniform_ratio:.4f}"
        )

    __repr__ = __str__

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the utility of each candidate by rank on the predicted list; return the axes.

        Candidates who may be chosen are marked, the larger the more probable.
        """
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots(figsize=(7, 3.4), layout="constrained")[1]
        place = np.empty(self.n)
        place[np.argsort(-self.scores, kind="stable")] = np.arange(1, self.n + 1)
        eligible = self.probabilities > 0
        word = "gets the organ" if eligible.sum() == 1 else "may get the organ"
        ax.scatter(place[~eligible], self.utilities[~eligible], s=14, color=BLUE, label="never gets the organ")
        sizes = 14 + 80 * self.probabilities[eligible]
        ax.scatter(place[eligible], self.utilities[eligible], s=sizes, color=RED, marker="X", linewidths=0, label=word)
        ax.set(
            xlabel="place on the predicted list",
            ylabel="true worth",
            ylim=(-0.04 * self.utilities.max(), 1.08 * self.utilities.max()),
            title=f"C-index {self.c_index:.2f}, and {self.utility_ratio:.1%} of the best utility",
        )
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return ax
