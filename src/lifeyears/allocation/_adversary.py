"""The adversary: a nearly perfect C-index and almost no utility, whatever the policy (Propositions 1 and 2)."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..checks import check_choice, check_whole
from ..errors import DataError, RequestError, UnsupportedModelError
from ._case import Case
from ._policies import RandomisedPolicy

CONSTRUCTIONS = ("needle", "proposition 1", "proposition 2", "paper")
MOST_CANDIDATES = 10_000_000
ROUNDING = 1e-9


def adversary(
    policy: RandomisedPolicy, c: float = 0.99, rho: float = 0.01, construction: str | None = None, n: int | None = None
) -> Case:
    """Build a case against a policy: C-index of at least c, utility of at most rho times the best.

    The adversary presents N candidates with scores N, N − 1, …, 1, obtains the policy's probabilities p, and only then
    sets the utility of each candidate (of rank π):

    - "proposition 1" (appendix B), against a deterministic policy: ρ − επ for the one it chooses, 1 + ε(N − π) for all
      others. The chosen one is the worst of all, with a utility below ρ times the best. N > 2/(1 − c).
    - "proposition 2", against any policy: the same, with the likeliest candidate instead of the chosen one. The policy
      gains no more than a uniform choice, but that may be much: the ratio tends to 1 − p·(1 − ρ), near 1 for a
      policy that spreads its choice. `rho` is then not guaranteed.
    - "needle", against any policy: 1 for the candidate whom the policy is least likely to choose (among ties the one
      with the highest score), ε(N − π)/N for the others. The smallest probability is at most 1/N, so the ratio is at
      most 1/N + ε. N > max(2/(1 − c), 1/ρ).

    In each, one candidate alone is out of order, at most N − 1 of N(N − 1)/2 pairs are discordant, and the C-index is
    at least 1 − 2/N. With ε ≤ (1 − ρ)/N² in the first two and ε ≤ 1/N in the last, the policy never gains more than a
    uniform choice does (docs/allocation.md has the two lines of proof).

    Parameters
    ----------
    policy : object with a method ``probabilities(scores)``
        Deterministic or randomised; of this package or your own.
    c : float, default 0.99
        The C-index to reach, within (0, 1).
    rho : float, default 0.01
        The share of the best utility not to exceed, within (0, 1).
    construction : {"needle", "proposition 1", "proposition 2", "paper"}, optional
        "paper" is proposition 1 for a deterministic policy, else proposition 2. By default the paper's, if that meets
        `rho`, else the needle.
    n : int, optional
        Number of candidates, for a policy of one list only, such as `Tiers` with an array. By default the fewest that
        the proof needs.

    Returns
    -------
    Case

    Examples
    --------
    >>> from lifeyears.allocation import Greedy, UniformRandom
    >>> adversary(Greedy())
    proposition 1: 201 candidates, C-index 0.9900, NDCG@1 0.0099; the policy gains 0.0099 of the best utility, a uniform
    choice 0.9927
    >>> case = adversary(UniformRandom(), c=0.9, rho=0.05)
    >>> case.construction, case.c_index >= 0.9, case.utility_ratio <= 0.05
    ('needle', True, True)
    """
    for name, value in (("c", c), ("rho", rho)):
        if not 0 < value < 1:
            raise RequestError(f"{name} must lie between 0 and 1, both excluded; got {value!r}")
    if construction is not None:
        check_choice("construction", construction, CONSTRUCTIONS)
    if construction is None:
        case = _build_from_paper(policy, _choose_size(n, 2 / (1 - c)), rho, "paper")
        if case.utility_ratio > rho:
            case = _build_needle(policy, _choose_size(n, max(2 / (1 - c), 1 / rho)), rho)
    elif construction == "needle":
        case = _build_needle(policy, _choose_size(n, max(2 / (1 - c), 1 / rho)), rho)
    else:
        case = _build_from_paper(policy, _choose_size(n, 2 / (1 - c)), rho, construction)
    guaranteed = case.construction != "proposition 2"
    if case.c_index < c or (guaranteed and case.utility_ratio > rho):
        raise RequestError(
            f"{case.n} candidates are too few: the case has a C-index of {case.c_index:.4f} and a utility ratio of "
            f"{case.utility_ratio:.4f}; {_choose_size(None, max(2 / (1 - c), 1 / rho))} candidates are always enough"
        )
    return case


def _build_from_paper(policy: RandomisedPolicy, n: int, rho: float, construction: str) -> Case:
    """Build the case of propositions 1 and 2: the likeliest candidate has the least utility, others about the same."""
    scores, probabilities = _evaluate(policy, n)
    favourite = int(np.argmax(probabilities))
    deterministic = probabilities[favourite] > 1 - ROUNDING
    if construction == "proposition 1" and not deterministic:
        raise RequestError(
            "proposition 1 is about deterministic policies, and the likeliest candidate of this one has a probability "
            f"of {probabilities[favourite]:.3g}",
            hint='Use the construction "proposition 2" or "needle".',
        )
    if construction == "paper":
        construction = "proposition 1" if deterministic else "proposition 2"
    step = min(rho / (2 * n), (1 - rho) / n**2)  # ε: utilities stay above 0, and a uniform choice is not beaten
    rank = np.arange(1, n + 1)
    utilities = np.asarray(1 + step * (n - rank), dtype=float)
    utilities[favourite] = rho - step * rank[favourite]
    return Case(scores, utilities, probabilities, construction)


def _build_needle(policy: RandomisedPolicy, n: int, rho: float) -> Case:
    """Build the case in which only the candidate whom the policy is least likely to choose has a high utility."""
    scores, probabilities = _evaluate(policy, n)
    hidden = int(np.argmin(probabilities))
    slack = rho - probabilities[hidden]  # above 0 if N > 1/ρ: the smallest probability is at most 1/N
    step = 0.5 * min(1 / n, slack if slack > 0 else 1.0)  # ε: the ratio stays below ρ, a uniform choice is not beaten
    utilities = step * (n - np.arange(1, n + 1)) / n
    utilities[hidden] = 1.0
    return Case(scores, utilities, probabilities, "needle")


def _evaluate(policy: RandomisedPolicy, n: int) -> tuple[FloatArray, FloatArray]:
    """Return scores N, …, 1, and the policy's probabilities, checked."""
    if isinstance(policy, type) or not callable(getattr(policy, "probabilities", None)):
        raise UnsupportedModelError(
            f"policy must be an object with a method probabilities(scores), such as Greedy(); got {policy!r}"
        )
    scores = np.arange(n, 0, -1, dtype=float)
    probabilities = np.asarray(policy.probabilities(scores.copy()), dtype=float)
    name = type(policy).__name__
    if probabilities.shape != (n,):
        raise DataError(f"{name}.probabilities returned an array of shape {probabilities.shape} for {n} scores")
    if not np.isfinite(probabilities).all() or probabilities.min() < -ROUNDING or abs(probabilities.sum() - 1) > 1e-6:
        raise DataError(
            f"{name}.probabilities must return non-negative numbers that sum to 1; they range from "
            f"{probabilities.min():.3g} to {probabilities.max():.3g} and sum to {probabilities.sum():.6g}"
        )
    probabilities = np.maximum(probabilities, 0.0)
    return scores, probabilities / probabilities.sum()


def _choose_size(n: int | None, above: float) -> int:
    """Return the number of candidates: n, or the first whole number above a bound (but for rounding in the bound)."""
    if n is not None:
        return check_whole("n", n, low=2)
    needed = int(np.floor(above * (1 + ROUNDING))) + 1
    if needed > MOST_CANDIDATES:
        raise RequestError(
            f"this c and rho need {needed:,} candidates, more than {MOST_CANDIDATES:,}",
            hint="Choose a smaller c or a larger rho.",
        )
    return needed
