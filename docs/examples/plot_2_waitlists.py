"""
One list is one draw; all lists are an average
==============================================

NDCG@1 of a test fold rests on one patient. Over every waitlist of W patients out of the fold it has a closed
form, costs the same time, and hundreds of patients carry it. Forty folds, one ranking of fixed quality:
"""

import matplotlib.pyplot as plt
import numpy as np

import lifeyears as ly

n, lengths = 6000, [6000, 1024, 256, 64, 16]
rng = np.random.default_rng(0)
found = np.empty((40, len(lengths)))
for fold in range(40):
    frailty = rng.normal(size=n)
    years = np.minimum(20, 12 * rng.weibull(1.2, n) * np.exp(-0.5 * frailty))
    score = -frailty + rng.normal(size=n)
    found[fold] = [ly.metrics.ndcg_score(years, score, k=1, waitlist=length) for length in lengths]

ax = plt.subplots(figsize=(7, 3.6), layout="constrained")[1]
for column in range(len(lengths)):
    spread = column + np.linspace(-0.15, 0.15, 40)
    ax.scatter(spread, found[:, column], s=12, color="#0072B2", alpha=0.7)
    ax.text(column, 1.02, f"sd {found[:, column].std():.3f}", ha="center")
ax.set_xticks(range(len(lengths)), ["the fold as one list", *(f"lists of {length}" for length in lengths[1:])])
ax.set(ylabel="NDCG@1, one point a fold", ylim=(0, 1.1))
plt.show()

# %%
# The shorter the list, the easier the task and the steadier the number. Compare models at one length.
