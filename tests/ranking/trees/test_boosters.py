"""The partial likelihood as an objective."""

import numpy as np
import pytest

import lifeyears as ly
from lifeyears.ranking.trees import PartialLikelihoodObjective


def test_partial_likelihood_equals_finite_differences():
    rng = np.random.default_rng(2)
    y = ly.Outcome(np.round(rng.exponential(2, 30), 1) + 0.1, rng.random(30) < 0.6)  # ties
    f = rng.normal(size=30)

    def loss(f):
        total = 0.0
        for i in np.flatnonzero(y.event):
            total += np.log(np.exp(f[y.time >= y.time[i]]).sum()) - f[i]
        return total

    gradient, hessian = PartialLikelihoodObjective(y)(f)
    for i in range(30):
        step = np.zeros(30)
        step[i] = 1e-4
        assert gradient[i] == pytest.approx((loss(f + step) - loss(f - step)) / 2e-4, abs=1e-6)
        assert hessian[i] == pytest.approx((loss(f + step) - 2 * loss(f) + loss(f - step)) / 1e-8, abs=1e-4)
