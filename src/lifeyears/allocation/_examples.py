"""The paper's motivating example and its Figure 1, in one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray
from ..checks import check_whole
from ._case import Case
from ._policies import Greedy, RandomisedPolicy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


def motivating_example(n: int = 100, policy: RandomisedPolicy | None = None) -> Case:
    """Build the example of section 3.1: all are ranked correctly but the worst, who is ranked first. C-index 1 − 2/N.

    Parameters
    ----------
    n : int, default 100
        Number of candidates; the utility of the i-th is i.
    policy : object with ``probabilities(scores)``, optional
        By default `Greedy`.

    Returns
    -------
    Case

    Examples
    --------
    >>> case = motivating_example()
    >>> case.c_index, case.ndcg(1), case.utility_ratio
    (0.98, 0.01, 0.01)
    """
    check_whole("n", n, low=2)
    utilities = np.arange(1.0, n + 1)
    scores = utilities.copy()
    scores[0] = n + 1
    return _make_case(scores, utilities, policy, "motivating example")


@dataclass(frozen=True, eq=False)
class Figure1:
    """The paper's Figure 1: ten patients, and two predictors.

    Attributes
    ----------
    green : Case
        The predictor with NDCG@1 = 0.9.
    red : Case
        The predictor with C-index 0.8, which puts the worst patient first.
    """

    green: Case
    red: Case

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw both cases side by side; return the two axes."""
        import matplotlib.pyplot as plt

        if axes is None:
            axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharey=True)[1]
        for ax, case, name in zip(axes, (self.green, self.red), ("green", "red"), strict=True):
            case.plot(ax)
            ax.set_title(f"{name}: C-index {case.c_index:.2f}, NDCG@1 {case.ndcg():.1f}")
        return axes


def figure_1(policy: RandomisedPolicy | None = None) -> Figure1:
    """Build the paper's Figure 1: the predictor with the better C-index, and the one that finds the right patient.

    The figure shows P1, P2, P9 and P10; those in between, which it leaves out, are predicted correctly here.

    Examples
    --------
    >>> figure = figure_1()
    >>> figure.green.ndcg(1), figure.red.c_index, figure.red.ndcg(1)
    (0.9, 0.8, 0.1)
    """
    years = np.arange(1.0, 11.0)
    green, red = years.copy(), years.copy()
    green[[0, 1, 8, 9]] = 1, 3, 10, 8
    red[[0, 1, 8, 9]] = 11, 2, 9, 10
    return Figure1(_make_case(green, years, policy, "figure 1, green"), _make_case(red, years, policy, "figure 1, red"))


def _make_case(scores: FloatArray, utilities: FloatArray, policy: RandomisedPolicy | None, name: str) -> Case:
    policy = Greedy() if policy is None else policy
    return Case(scores, utilities, np.asarray(policy.probabilities(scores), dtype=float), name)
