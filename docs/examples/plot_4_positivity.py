"""
Who could have been followed for twenty years?
==============================================

A patient transplanted in 2015 cannot be seen for twenty years in a registry that ends in 2023. Where the chance
of still being followed is zero, weighting (IPCW) has nothing to weight. ``check_positivity`` says for whom.
"""

import matplotlib.pyplot as plt

import lifeyears as ly

d = ly.data.simulate_registry(n=6000, random_state=0)
censoring = ly.models.AdministrativeCensoring(entry="transplant_year", end=2024)  # the cut, times loss to follow-up
decade = (d.X["transplant_year"] // 10 * 10).astype(int).rename("decade")
report = ly.relevance.check_positivity(censoring, d.X[["transplant_year", "age"]], d.y, tau=20, by=decade)
print(report)

ax = report.plot(plt.subplots(figsize=(7, 3.8), layout="constrained")[1])
ax.set(xlabel="years after the transplant")
plt.show()

# %%
# Curves are means of G(t|x) within a decade; the dashed line is the horizon, the dotted one the floor.
