"""Policies: from the scores of the candidates for one organ to the chance that each gets it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from ..checks import check_random_state
from ..metrics._checks import checked_values
from ..metrics._gain import discounts, tie_averaged


class Policy(Protocol):
    """What the rest of the package asks of a policy; any object with this method is one."""

    def probabilities(self, scores: Any) -> np.ndarray:
        """The chance of each candidate, given their scores; they sum to 1."""


class RankingPolicy:
    """A policy that ranks the candidates and gives every place a chance; equal candidates share their places.

    A policy of this kind says by what it ranks (`_keys`, higher first) and what each place is worth (`_places`).
    """

    def probabilities(self, scores: Any, candidates: Any = None) -> np.ndarray:
        """The chance that each candidate is chosen.

        Parameters
        ----------
        scores : array, shape (n,)
            Higher is better.
        candidates : DataFrame, optional
            Only for policies that look at more than scores (`Tiers`).

        Returns
        -------
        array, shape (n,)
            They sum to 1. Equal scores have equal chances.
        """
        keys = self._keys(checked_values(scores, "scores"), candidates)
        order = np.argsort(-keys, kind="stable")
        chances = np.empty(len(keys))
        chances[order] = tie_averaged(self._places(len(keys)), keys[order])
        return chances

    def choose(self, scores: Any, random_state: Any = None, candidates: Any = None) -> int:
        """Choose one candidate.

        Parameters
        ----------
        scores, candidates
            As for `probabilities`.
        random_state : int, Generator or None
            The same seed gives the same choice; a policy that leaves nothing to chance does not depend on it.

        Returns
        -------
        int
            The candidate's position in `scores`.
        """
        return drawn(self.probabilities(scores, candidates), check_random_state(random_state))

    def offers(self, scores: Any, random_state: Any = None, candidates: Any = None) -> np.ndarray:
        """The order in which the organ is offered: after each refusal the policy chooses among those who are left.

        Parameters
        ----------
        scores, random_state, candidates
            As for `choose`.

        Returns
        -------
        array of int, shape (n,)
            Positions of all candidates. The first is distributed as `probabilities` says.
        """
        rng = check_random_state(random_state)
        keys = self._keys(checked_values(scores, "scores"), candidates)
        shuffled = rng.permutation(len(keys))  # a fair order of equals
        return self._offered(shuffled[np.argsort(-keys[shuffled], kind="stable")], rng)

    def _keys(self, scores: np.ndarray, candidates: Any) -> np.ndarray:
        return scores

    def _places(self, n: int) -> np.ndarray:
        places = np.zeros(n)
        places[0] = 1.0
        return places

    def _offered(self, ranked: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return ranked


@dataclass(frozen=True)
class Greedy(RankingPolicy):
    """The candidate with the highest score; by lot among equals.

    Corollary 1: a predictor with NDCG@1 of α gains at least α times what the best choice would.

    Examples
    --------
    >>> Greedy().probabilities([3.0, 8.0, 8.0])
    array([0. , 0.5, 0.5])
    >>> Greedy().choose([3.0, 8.0, 5.0])
    1
    """


@dataclass(frozen=True)
class PositionWeighted(RankingPolicy):
    """One of the k highest scores, with chances proportional to the discounts of DCG@k (the paper's Algorithm 1).

    The candidate of rank i ≤ k is chosen with probability w_i / W_k, w_i = 1/log2(i + 1), W_k = Σ_{i≤k} w_i. The
    expected utility is then DCG@k / W_k, at least NDCG@k / W_k of the best (Theorem 1). With fewer than k candidates,
    the weights are renormalised over those there are. ``k=1`` is `Greedy`.

    Parameters
    ----------
    k : int, default 5

    Examples
    --------
    >>> PositionWeighted(k=2).probabilities([0.1, 0.9, 0.5]).round(3)
    array([0.   , 0.613, 0.387])
    """

    k: int = 5

    def __post_init__(self) -> None:
        checked_k(self.k)

    def _places(self, n: int) -> np.ndarray:
        places = np.zeros(n)
        most = min(self.k, n)
        places[:most] = discounts(most) / total_discount(most)  # w_i / W_k, Algorithm 1
        return places

    def _offered(self, ranked: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        left, luck = ranked.tolist(), rng.random(len(ranked))
        shares = [np.cumsum(self._places(n)[: self.k]) for n in range(1, min(self.k, len(left)) + 1)]
        picks = []
        for chance in luck:
            among = shares[min(self.k, len(left)) - 1]
            picks.append(left.pop(min(int(np.searchsorted(among, chance, side="right")), len(among) - 1)))
        return np.array(picks, dtype=ranked.dtype)


@dataclass(frozen=True)
class UniformRandom(RankingPolicy):
    """Any candidate, with equal chances, whatever the scores say.

    Examples
    --------
    >>> UniformRandom().probabilities([3.0, 1.0, 8.0, 9.0])
    array([0.25, 0.25, 0.25, 0.25])
    """

    def _keys(self, scores: np.ndarray, candidates: Any) -> np.ndarray:
        return np.zeros(len(scores))

    def _places(self, n: int) -> np.ndarray:
        return np.full(n, 1.0 / n)


@lru_cache(maxsize=256)
def total_discount(k: int) -> float:
    """W_k = Σ_{i≤k} 1/log2(i + 1)."""
    return float(discounts(k).sum())


def checked_k(k: Any) -> int:
    """Refuse a k that is no whole number from 1 on."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"k must be a whole number from 1 on; got {k!r}")
    return int(k)


def drawn(chances: np.ndarray, rng: np.random.Generator) -> int:
    """One position, by the given chances."""
    possible = np.flatnonzero(chances > 0)
    reached = np.cumsum(chances[possible])
    place = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
    return int(possible[min(place, len(possible) - 1)])
