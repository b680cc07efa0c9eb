"""A metric of relevance."""

import numpy as np


def top_relevance(relevance, scores):
    """Return the mean relevance of those with the highest score.

    Examples
    --------
    >>> top_relevance([1.0, 2.0, 6.0], [3.0, 7.0, 7.0])
    4.0
    """
    scores = np.asarray(scores, dtype=float)
    return float(np.asarray(relevance, dtype=float)[scores == scores.max()].mean())
