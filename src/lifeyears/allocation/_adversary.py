"""The adversary: a nearly perfect C-index, and next to nothing gained, whatever the policy (Propositions 1 and 2)."""

from __future__ import annotations

import numpy as np

from ._case import Case
from ._policies import Policy

CONSTRUCTIONS = ("needle", "proposition 1", "proposition 2", "paper")
MOST_CANDIDATES = 10_000_000
ROUNDING = 1e-9


def adversary(
    policy: Policy, c: float = 0.99, rho: float = 0.01, construction: str | None = None, n: int | None = None
) -> Case:
    """Build a case against a policy: C-index of at least c, utility of at most rho times the best.

    The adversary draws up N candidates with scores N, N − 1, …, 1, asks the policy for its chances p, and only then
    settles what each candidate (of rank π) is worth:

    - "proposition 1" (appendix B), against a deterministic policy: ρ − επ for the one it chooses, 1 + ε(N − π) for all
      others. The chosen one is the worst of all, and gains less than ρ of the best. N > 2/(1 − c).
    - "proposition 2", against any policy: the same, with the likeliest candidate in place of the chosen one. The policy
      gains no more than a uniform choice, but that may be much: the ratio tends to 1 − p·(1 − ρ), near 1 for a
      policy that spreads its choice. `rho` is then not promised.
    - "needle", against any policy: 1 for the candidate whom the policy is least likely to choose (of equals the one
      with the highest score), ε(N − π)/N for the others. Nobody can give everyone more than 1/N, so the ratio is at
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
        How many candidates: for a policy that fits one list only, as `Tiers` with an array. By default as few as the
        proof needs.

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
            raise ValueError(f"{name} must lie between 0 and 1, both excluded; got {value!r}")
    if construction is not None and construction not in CONSTRUCTIONS:
        raise ValueError(f"construction must be one of {', '.join(map(repr, CONSTRUCTIONS))}; got {construction!r}")
    if construction is None:
        case = _papers(policy, _size(n, 2 / (1 - c)), rho, "paper")
        if case.utility_ratio > rho:
            case = _needle(policy, _size(n, max(2 / (1 - c), 1 / rho)), rho)
    elif construction == "needle":
        case = _needle(policy, _size(n, max(2 / (1 - c), 1 / rho)), rho)
    else:
        case = _papers(policy, _size(n, 2 / (1 - c)), rho, construction)
    promised = case.construction != "proposition 2"
    if case.c_index < c or (promised and case.utility_ratio > rho):
        raise ValueError(
            f"{case.n} candidates are too few: the case has a C-index of {case.c_index:.4f} and a utility ratio of "
            f"{case.utility_ratio:.4f}; {_size(None, max(2 / (1 - c), 1 / rho))} candidates are always enough"
        )
    return case


def _papers(policy: Policy, n: int, rho: float, construction: str) -> Case:
    """Propositions 1 and 2: the likeliest candidate is worth least, all others about the same."""
    scores, chances = _asked(policy, n)
    favourite = int(np.argmax(chances))
    deterministic = chances[favourite] > 1 - ROUNDING
    if construction == "proposition 1" and not deterministic:
        raise ValueError(
            f"proposition 1 is about deterministic policies, and the likeliest candidate of this one has a chance of "
            f'{chances[favourite]:.3g}: use "proposition 2" or "needle"'
        )
    if construction == "paper":
        construction = "proposition 1" if deterministic else "proposition 2"
    step = min(rho / (2 * n), (1 - rho) / n**2)  # ε: utilities stay above 0, and uniform is not beaten
    rank = np.arange(1, n + 1)
    utilities = 1 + step * (n - rank)
    utilities[favourite] = rho - step * rank[favourite]
    return Case(scores, utilities, chances, construction)


def _needle(policy: Policy, n: int, rho: float) -> Case:
    """One candidate is worth something, and it is the one the policy is least likely to choose."""
    scores, chances = _asked(policy, n)
    hidden = int(np.argmin(chances))
    room = rho - chances[hidden]  # above 0 if N > 1/ρ, for the smallest chance is at most 1/N
    step = 0.5 * min(1 / n, room if room > 0 else 1.0)  # ε: the ratio stays below ρ, and uniform is not beaten
    utilities = step * (n - np.arange(1, n + 1)) / n
    utilities[hidden] = 1.0
    return Case(scores, utilities, chances, "needle")


def _asked(policy: Policy, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores N, …, 1, and the policy's chances, checked."""
    if isinstance(policy, type) or not callable(getattr(policy, "probabilities", None)):
        raise TypeError(f"policy must be an object with a method probabilities(scores), as Greedy(); got {policy!r}")
    scores = np.arange(n, 0, -1, dtype=float)
    chances = np.asarray(policy.probabilities(scores.copy()), dtype=float)
    name = type(policy).__name__
    if chances.shape != (n,):
        raise ValueError(f"{name}.probabilities gave an array of shape {chances.shape} for {n} scores")
    if not np.isfinite(chances).all() or chances.min() < -ROUNDING or abs(chances.sum() - 1) > 1e-6:
        raise ValueError(
            f"{name}.probabilities must give chances from 0 on that sum to 1; they run from {chances.min():.3g} to "
            f"{chances.max():.3g} and sum to {chances.sum():.6g}"
        )
    chances = np.maximum(chances, 0.0)
    return scores, chances / chances.sum()


def _size(n: int | None, above: float) -> int:
    """How many candidates: as asked, or the first whole number above a bound (but for rounding in the bound)."""
    if n is not None:
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 2:
            raise ValueError(f"n must be a whole number from 2 on; got {n!r}")
        return int(n)
    needed = int(np.floor(above * (1 + ROUNDING))) + 1
    if needed > MOST_CANDIDATES:
        raise ValueError(f"this c and rho take {needed:,} candidates, more than {MOST_CANDIDATES:,}: ask for less")
    return needed
