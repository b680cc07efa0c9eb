"""DCG, NDCG and policy value: what the top of a ranking is worth, over one list or over every waitlist."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_choice, check_random_state
from ..errors import PredictionWarning
from ._checks import check_list, check_pair

if TYPE_CHECKING:
    from .._typing import FloatArray, RandomState

Ties = Literal["average", "random"]


def dcg_score(
    relevance: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    waitlist: int | None = None,
    ties: Ties = "average",
    random_state: RandomState = None,
) -> float:
    """Discounted cumulative gain, DCG@k = Σ_{i≤k} relevance of the i-th ranked / log2(i + 1).

    Parameters
    ----------
    relevance : array, shape (n,), or Relevance
        What each candidate is worth (years of life); linear gain; may be negative.
    scores : array, shape (n,)
        The ranking: a higher score comes first.
    k : int, optional
        Places that count; all of them by default.
    waitlist : int, optional
        Instead of the one list of all n, the expected DCG@k over *every* list of this many candidates drawn from
        the n, exactly. The best pick among all n hangs on one patient; this averages over many match runs. It is
        the expected worth of the top of a list of past recipients, not a forecast of one match run.
    ties : {"average", "random"}
        Equal scores: average over their orders (scikit-learn's rule), or draw one order.
    random_state : int, Generator or None
        For ``ties="random"``.

    Returns
    -------
    float

    See Also
    --------
    ndcg_score : divided by the best possible.
    policy_value : in years of one allocation.

    Examples
    --------
    >>> dcg_score([3.0, 2.0, 1.0], [0.9, 0.5, 0.1], k=2)      # 3/log2(2) + 2/log2(3)
    4.2618595071429155
    """
    relevance, scores = check_pair(relevance, scores)
    k, waitlist = check_list(len(relevance), k, waitlist)
    return _ranked_gain(relevance, scores, rank_weights(len(relevance), k, waitlist), ties, random_state)


def ndcg_score(
    relevance: ArrayLike,
    scores: ArrayLike,
    k: int | None = None,
    waitlist: int | None = None,
    ties: Ties = "average",
    random_state: RandomState = None,
) -> float:
    """Normalised DCG: the DCG@k of a ranking divided by that of the best ranking.

    Parameters
    ----------
    relevance, scores, k, waitlist, ties, random_state
        As for `dcg_score`; with `waitlist` it is the ratio of the two expected DCGs.

    Returns
    -------
    float
        1 is the best ranking. Estimated relevance can be negative: the ratio then need not lie within [0, 1], and it is
        NaN where the ideal DCG is not positive; use `policy_value` there.

    Warns
    -----
    PredictionWarning
        If some relevance is negative.

    Examples
    --------
    >>> ndcg_score([1.0, 2.0, 10.0], [11.0, 3.0, 8.0], k=1)
    0.1
    """
    relevance, scores = check_pair(relevance, scores)
    k, waitlist = check_list(len(relevance), k, waitlist)
    weights = rank_weights(len(relevance), k, waitlist)
    if relevance.min() < 0:
        warnings.warn(
            "some relevances are negative, so NDCG is not confined to [0, 1]; policy_value does not have this problem",
            PredictionWarning,
            stacklevel=2,
        )
    ideal = float(np.sort(relevance)[::-1] @ weights)
    if not ideal > 0:
        return float("nan")
    return _ranked_gain(relevance, scores, weights, ties, random_state) / ideal


def policy_value(relevance: ArrayLike, scores: ArrayLike, k: int = 1, waitlist: int | None = None) -> float:
    """Expected relevance of the one candidate that position-weighted allocation picks: DCG@k / W_k (Theorem 1).

    Parameters
    ----------
    relevance : array, shape (n,), or Relevance
        What each candidate is worth (years of life); may be negative.
    scores : array, shape (n,)
        The ranking: a higher score comes first; equal scores are averaged over their orders.
    k : int, default 1
        Places among which the candidate is picked; 1 is greedy allocation, the relevance of the top-ranked.
    waitlist : int, optional
        An average over every list of that length, as in `dcg_score`: what the top pick among that many past
        recipients, each with their own donor, was worth.

    Returns
    -------
    float
        In the unit of the relevance: years per allocation, if it is in years.

    Examples
    --------
    >>> policy_value([1.0, 2.0, 10.0], [1.0, 2.0, 3.0])
    10.0
    """
    relevance, scores = check_pair(relevance, scores)
    k, waitlist = check_list(len(relevance), k, waitlist)
    gain = _ranked_gain(relevance, scores, rank_weights(len(relevance), k, waitlist), "average", None)
    return gain / float(discounts(k).sum())


def discounts(k: int) -> FloatArray:
    """Return d(i) = 1/log2(i + 1) for i = 1 … k; their sum is the paper's W_k.

    Examples
    --------
    >>> discounts(3)
    array([1.        , 0.63092975, 0.5       ])
    """
    weights: FloatArray = 1.0 / np.log2(np.arange(2, k + 2))
    return weights


@lru_cache(maxsize=8)
def rank_weights(n: int, k: int, waitlist: int) -> FloatArray:
    """Return the weight of each rank among n in the expected DCG@k over every waitlist of a given length.

    The candidate of rank r is the j-th best of a list of W if j − 1 of the list come from the r − 1 above and
    W − j from the n − r below: w_r = Σ_{j≤k} d(j)·C(r−1, j−1)·C(n−r, W−j)/C(n, W). The probabilities are followed
    in logarithms from j to j + 1, so that nothing overflows at n = 1,000,000. For W = n this is d(r), r ≤ k.

    Parameters
    ----------
    n, k, waitlist : int
        Number of candidates, places that count, and length W of a list: 1 ≤ k ≤ W ≤ n.

    Returns
    -------
    array, shape (n,)
        Read-only; best rank first.

    Examples
    --------
    >>> rank_weights(3, 1, 2).round(6)                      # the best of 2 out of 3: first 2/3, second 1/3
    array([0.666667, 0.333333, 0.      ])
    """
    if waitlist == n:
        weights = np.zeros(n)
        weights[:k] = discounts(k)
    else:
        W = waitlist
        above = np.arange(n - W + 1, dtype=float)  # candidates ranked above; j = 1 needs W − 1 below
        # C(n−r, W−1)/C(n, W) for r = 1, 2, …: it starts at W/n and shrinks by (n−r−W+1)/(n−r)
        shrink = np.log1p(-(W - 1) / (n - 1 - above[:-1]))
        log_chance = np.log(W / n) + np.append(0.0, np.cumsum(shrink))
        weights = np.zeros(n)
        for j, discount in enumerate(discounts(k), start=1):
            # log_chance[i] is the chance that rank r = j + i is the j-th of the list; all such r are feasible
            weights[j - 1 : j + n - W] += discount * np.exp(log_chance)
            if j < k:
                # to (r + 1, j + 1): C(r, j)·C(n−r−1, W−j−1) over C(r−1, j−1)·C(n−r, W−j) = r/j · (W−j)/(n−r)
                r = j + above
                log_chance += np.log(r * (W - j) / (j * (n - r)))
    weights.setflags(write=False)
    return weights


def average_ties(weights: FloatArray, ranked_scores: FloatArray) -> FloatArray:
    """Average the weights of places over the places that equal scores share.

    Parameters
    ----------
    weights : array, shape (n,)
        Of the places, first to last.
    ranked_scores : array, shape (n,)
        The scores in falling order.

    Examples
    --------
    >>> average_ties(np.array([1.0, 0.5, 0.0]), np.array([9.0, 7.0, 7.0]))
    array([1.  , 0.25, 0.25])
    """
    first = np.flatnonzero(np.append(True, ranked_scores[1:] != ranked_scores[:-1]))
    if len(first) == len(weights):
        return weights
    length = np.diff(np.append(first, len(weights)))
    return np.repeat(np.add.reduceat(weights, first) / length, length)


def _ranked_gain(
    relevance: FloatArray, scores: FloatArray, weights: FloatArray, ties: Ties, random_state: RandomState
) -> float:
    if check_choice("ties", ties, ("average", "random")) == "average":
        order = np.argsort(-scores, kind="stable")
        return float(relevance[order] @ average_ties(weights, scores[order]))
    shuffled = check_random_state(random_state).permutation(len(scores))
    order = shuffled[np.argsort(-scores[shuffled], kind="stable")]
    return float(relevance[order] @ weights)
