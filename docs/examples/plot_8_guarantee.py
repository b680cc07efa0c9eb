"""
What NDCG guarantees, and what k trades
=======================================

Allocating among the first k with the weights of NDCG keeps at least NDCG@k / W_k of the best utility (Theorem
1). A small k has the better bound; a large k rests on more patients, so that its number is known better.
"""

import matplotlib.pyplot as plt
import numpy as np

import lifeyears as ly
from lifeyears.allocation import plot_tradeoff

rng = np.random.default_rng(0)
frailty = rng.normal(size=4000)
years = np.minimum(20, 12 * rng.weibull(1.2, 4000) * np.exp(-0.8 * frailty))
scores = {"knows half": -frailty + rng.normal(size=4000), "knows little": -frailty + 3 * rng.normal(size=4000)}
print(ly.allocation.guarantee(ly.metrics.compare(years, scores, k=1, waitlist=64)))

plot_tradeoff(years, scores, waitlist=64)
plt.show()
