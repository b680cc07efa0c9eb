"""
Years a transplant, or years in all?
====================================

A policy that gives each heart to the longest life gains years *a transplant*. It also passes over the urgent,
who die waiting. Which of the two a policy gains only a simulation can say. A list a tenth of the US one, four
years:
"""

import matplotlib.pyplot as plt

import lifeyears as ly

small = {"world": {"scale": 0.1}}
result = ly.simulation.simulate(
    ["us_status", "first_come", "uniform", "oracle"], config=small, years=4, replicates=4, random_state=0, n_jobs=1
)
result.plot()
plt.show()

# %%
print(result.reading())

# %%
# :doc:`/simulation` has the whole list, ten years and twenty replicates, and what the model assumes.
