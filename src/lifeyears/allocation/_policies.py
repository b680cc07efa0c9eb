"""Policies: from the candidates for one organ, or their scores, to the probability that each gets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray, RandomState
from ..checks import check_random_state, check_values, check_whole
from ..errors import DataError
from ..metrics import average_ties, discounts

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

_Compiled_co = TypeVar("_Compiled_co", covariant=True)
DEFAULT_MODEL = "cox"  # what predicts life in a simulation, where a policy names no model


class CandidateTable(Protocol):
    """The candidates for one organ, one row each: a DataFrame, or what `lifeyears.simulation.simulate` passes."""

    def __len__(self) -> int: ...

    def __contains__(self, column: object, /) -> bool: ...

    def __getitem__(self, column: str, /) -> AnyArray | pd.Series: ...


@runtime_checkable
class Policy(Protocol):
    """An allocation policy: any object with this method can be simulated.

    A policy may have more, all of it optional:

    - ``probabilities(scores)``: for a randomised policy, the probability that each of the candidates who have not been
      asked is the next, given their scores (as `RandomisedPolicy`). Without it, or where an attribute ``randomised`` is
      False, candidates are asked in the order of their scores.
    - ``model``: the name of a survival model ("cox", "ranker", …), a fitted one, or the path of a saved one. It
      predicts the column ``life`` of the candidates.
    - ``compiled(world)``: the same policy for the compiled kernel, usually ``world.order(weights, zones, k)``. Without
      it, `scores` is called for every organ (docs/simulation.md states the slowdown).

    Examples
    --------
    >>> class Youngest:
    ...     def scores(self, candidates, donor, now):
    ...         return -candidates["age"]
    >>> isinstance(Youngest(), Policy)
    True
    """

    def scores(self, candidates: CandidateTable, donor: Mapping[str, object], now: float, /) -> ArrayLike:
        """Score the candidates for one organ.

        Parameters
        ----------
        candidates : CandidateTable
            Those whom the organ fits, with their features and their state on the list.
        donor : mapping
            The donor's features.
        now : float
            Years from the start.

        Returns
        -------
        array, shape (candidates,)
            The highest is offered the organ first. Classes that come before all others, such as zones, are part of
            the score.
        """


class RandomisedPolicy(Protocol):
    """What turns scores into probabilities: any object with this method."""

    def probabilities(self, scores: FloatArray, /) -> ArrayLike:
        """Return the probability of each candidate, given all scores; they sum to 1."""


class OrderMaker(Protocol[_Compiled_co]):
    """What `compiled` is passed: a world that makes orders for its kernel."""

    def order(self, weights: Mapping[str, float], /, *, k: int = 1) -> _Compiled_co: ...


class RankingPolicy:
    """A policy that ranks the candidates and gives every rank a probability; tied candidates share theirs.

    A subclass defines by what it ranks (`_keys`, higher first) and the probability of each rank (`_places`).
    """

    model: object = None
    randomised: bool = False
    """Whether the next offer is drawn; else candidates are asked in the order of their scores."""

    def scores(
        self, candidates: CandidateTable, donor: Mapping[str, object] | None = None, now: float = 0.0
    ) -> FloatArray:
        """Score the candidates for one organ by their expected life (`Policy`).

        Parameters
        ----------
        candidates : CandidateTable
            With a column ``life``, as in a simulation, or with the features of `model`.
        donor : mapping, optional
        now : float

        Returns
        -------
        array, shape (candidates,)
        """
        return self._keys(self._expected_life(candidates), cast("pd.DataFrame", candidates))

    def _expected_life(self, candidates: CandidateTable) -> FloatArray:
        if "life" in candidates:
            return np.asarray(candidates["life"], dtype=float)
        predict = getattr(self.model, "predict", None)
        if predict is None:
            raise DataError(
                "the candidates have no column 'life', and the policy has no fitted model that predicts it",
                hint="Add the column, or pass a fitted model to the policy.",
            )
        return np.asarray(predict(candidates), dtype=float)

    def probabilities(self, scores: ArrayLike, candidates: pd.DataFrame | None = None) -> FloatArray:
        """Return the probability that each candidate is chosen.

        Parameters
        ----------
        scores : array, shape (n,)
            Higher is better.
        candidates : DataFrame, optional
            Only for policies that use more than scores (`Tiers`).

        Returns
        -------
        array, shape (n,)
            They sum to 1. Equal scores have equal probabilities.
        """
        keys = self._keys(check_values("scores", scores), candidates)
        order = np.argsort(-keys, kind="stable")
        probabilities = np.empty(len(keys))
        probabilities[order] = average_ties(self._places(len(keys)), keys[order])
        return probabilities

    def choose(
        self, scores: ArrayLike, random_state: RandomState = None, candidates: pd.DataFrame | None = None
    ) -> int:
        """Choose one candidate.

        Parameters
        ----------
        scores, candidates
            As for `probabilities`.
        random_state : int, Generator or None
            The same seed gives the same choice; a deterministic policy does not depend on it.

        Returns
        -------
        int
            The candidate's position in `scores`.
        """
        return draw_position(self.probabilities(scores, candidates), check_random_state(random_state))

    def offers(
        self, scores: ArrayLike, random_state: RandomState = None, candidates: pd.DataFrame | None = None
    ) -> IntArray:
        """Return the order of offers: after each refusal the policy chooses among the remaining candidates.

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
        keys = self._keys(check_values("scores", scores), candidates)
        shuffled = rng.permutation(len(keys))  # ties in random order
        return self._order_offers(shuffled[np.argsort(-keys[shuffled], kind="stable")], rng)

    def _keys(self, scores: FloatArray, candidates: pd.DataFrame | None) -> FloatArray:
        return scores

    def _places(self, n: int) -> FloatArray:
        places = np.zeros(n)
        places[0] = 1.0
        return places

    def _order_offers(self, ranked: IntArray, rng: np.random.Generator) -> IntArray:
        return ranked


@dataclass(frozen=True)
class Greedy(RankingPolicy):
    """The candidate with the highest score; at random among ties.

    Corollary 1: with a predictor whose NDCG@1 is α, the utility is at least α times that of the best choice.

    Parameters
    ----------
    model : str or fitted model, default "cox"
        Predicts the life that candidates are ranked by in `lifeyears.simulation.simulate` (and by `scores`).

    Examples
    --------
    >>> Greedy().probabilities([3.0, 8.0, 8.0])
    array([0. , 0.5, 0.5])
    >>> Greedy().choose([3.0, 8.0, 5.0])
    1
    """

    model: object = field(default=DEFAULT_MODEL, repr=False, compare=False, kw_only=True)

    def compiled(self, world: OrderMaker[_Compiled_co]) -> _Compiled_co:
        """Return the order for the simulation's kernel."""
        return world.order({"life": 1.0})


@dataclass(frozen=True)
class PositionWeighted(RankingPolicy):
    """One of the k highest scores, with probabilities proportional to the discounts of DCG@k (the paper's Algorithm 1).

    The candidate of rank i ≤ k is chosen with probability w_i / W_k, w_i = 1/log2(i + 1), W_k = Σ_{i≤k} w_i. The
    expected utility is then DCG@k / W_k, at least NDCG@k / W_k of the best (Theorem 1). With fewer than k candidates,
    the weights are renormalised over those there are. ``k=1`` is `Greedy`.

    Parameters
    ----------
    k : int, default 5
        Number of candidates among whom the organ is allocated.
    model : str or fitted model, default "cox"
        As for `Greedy`.

    Examples
    --------
    >>> PositionWeighted(k=2).probabilities([0.1, 0.9, 0.5]).round(3)
    array([0.   , 0.613, 0.387])
    """

    k: int = 5
    model: object = field(default=DEFAULT_MODEL, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        check_k(self.k)

    @property
    def randomised(self) -> bool:  # type: ignore[override] # an attribute of other policies
        """Whether the next offer is drawn."""
        return self.k > 1

    def compiled(self, world: OrderMaker[_Compiled_co]) -> _Compiled_co:
        """Return the order for the simulation's kernel."""
        return world.order({"life": 1.0}, k=self.k)

    def _places(self, n: int) -> FloatArray:
        places = np.zeros(n)
        most = min(self.k, n)
        places[:most] = discounts(most) / total_discount(most)  # w_i / W_k, Algorithm 1
        return places

    def _order_offers(self, ranked: IntArray, rng: np.random.Generator) -> IntArray:
        remaining, draws = ranked.tolist(), rng.random(len(ranked))
        cumulative = [np.cumsum(self._places(n)[: self.k]) for n in range(1, min(self.k, len(remaining)) + 1)]
        order = []
        for draw in draws:
            reached = cumulative[min(self.k, len(remaining)) - 1]
            order.append(remaining.pop(min(int(np.searchsorted(reached, draw, side="right")), len(reached) - 1)))
        return np.array(order, dtype=ranked.dtype)


@dataclass(frozen=True)
class UniformRandom(RankingPolicy):
    """Any candidate, with equal probabilities, whatever the scores.

    Examples
    --------
    >>> UniformRandom().probabilities([3.0, 1.0, 8.0, 9.0])
    array([0.25, 0.25, 0.25, 0.25])
    """

    randomised = True

    def scores(
        self, candidates: CandidateTable, donor: Mapping[str, object] | None = None, now: float = 0.0
    ) -> FloatArray:
        """Score all candidates alike: `probabilities` decides."""
        return np.zeros(len(candidates))

    def compiled(self, world: OrderMaker[_Compiled_co]) -> _Compiled_co:
        """Return the order for the simulation's kernel: it draws the order of all candidates at once."""
        return world.order({"random": 1.0})

    def _keys(self, scores: FloatArray, candidates: pd.DataFrame | None) -> FloatArray:
        return np.zeros(len(scores))

    def _places(self, n: int) -> FloatArray:
        return np.full(n, 1.0 / n)


@lru_cache(maxsize=256)
def total_discount(k: int) -> float:
    """Return W_k = Σ_{i≤k} 1/log2(i + 1)."""
    return float(discounts(k).sum())


def check_k(k: int) -> int:
    """Check that k is a whole number, at least 1."""
    return check_whole("k", k, low=1)


def draw_position(probabilities: FloatArray, rng: np.random.Generator) -> int:
    """Draw one position at random, with the given probabilities."""
    possible = np.flatnonzero(probabilities > 0)
    reached = np.cumsum(probabilities[possible])
    place = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
    return int(possible[min(place, len(possible) - 1)])
