"""
Same C-index, five years apart
==============================

Two predictors of the same patients. One does not know the order among the 60% who die first, the other among
the 60% who live longest; all else they order rightly. Each errs in the same number of pairs, so C-index cannot
tell them apart. The patient at the top of the list can.
"""

import matplotlib.pyplot as plt
import numpy as np

import lifeyears as ly

n, rng = 4000, np.random.default_rng(0)
years = np.sort(20 * rng.beta(1.2, 1.0, n))  # true years, within 20
shuffled = {"errs at the bottom": slice(0, 2400), "errs at the top": slice(1600, n)}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, (name, rows) in zip(axes, shuffled.items(), strict=True):
    score = np.arange(n, dtype=float)
    score[rows] = rng.permutation(score[rows])
    concordance = ly.metrics.concordance_index((np.ones(n), years), score)
    value = ly.metrics.policy_value(years, score, k=1, waitlist=256)
    rank = n - score
    ax.scatter(rank, years, s=2, color="0.7")
    ax.scatter(rank[rank <= 16], years[rank <= 16], s=14, color="#D55E00")
    ax.set(title=f"{name}\nC-index {concordance:.2f}, top pick lives {value:.1f} years", xlabel="place on the list")
axes[0].set_ylabel("years lived (red: the first 16)")
plt.show()

# %%
# ``policy_value`` is the mean over every waitlist of 256 out of the 4,000: see :doc:`/waitlists`.
