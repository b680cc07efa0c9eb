"""
Three estimates of the same years, beside the truth
===================================================

The patients are simulated, so their expected years are known. Each estimator says what the top pick of a list
of 64 by a Cox model is worth; the line is what it is worth in truth. Cox prefers recent transplants, as
survival has improved, and these are the ones who were followed least: there IPCW has nothing to weight.
"""

import matplotlib.pyplot as plt

import lifeyears as ly

d = ly.data.simulate_registry(n=6000, random_state=1)
X = ly.data.TablePreprocessor().fit_transform(d.X)
train, test = slice(0, 3000), slice(3000, None)
survival, censoring = ly.models.Cox(alpha=10), ly.models.Cox(alpha=10)

figure, axes = plt.subplots(1, 2, figsize=(9, 2.8), sharey=True, layout="constrained")
for ax, tau in zip(axes, (5, 20), strict=True):
    score = ly.models.Cox(tau=tau).fit(X[train], d.y[train]).predict(X[test])
    truth = ly.metrics.policy_value(d.truth.expected(tau)[test], score, waitlist=64)
    estimators = {
        "EY": ly.relevance.ExpectedYears(survival, tau=tau),
        "IPCW": ly.relevance.IPCW(censoring, tau=tau, on_violation="clip"),
        "DR": ly.relevance.DoublyRobust(survival, censoring, tau=tau, on_violation="clip"),
    }
    found = {}
    for name, estimator in estimators.items():
        relevance = ly.relevance.cross_fit(estimator, X[test], d.y[test], cv=5, random_state=0)
        found[name] = ly.metrics.compare(relevance, {"Cox": score}, waitlist=64).values.loc["Cox"]
    rows = list(found)[::-1]
    value, low, high = ([found[name][column] for name in rows] for column in ("value", "low", "high"))
    error = [[v - a for v, a in zip(value, low, strict=True)], [b - v for v, b in zip(value, high, strict=True)]]
    ax.errorbar(value, range(3), xerr=error, fmt="o", capsize=3, color="#0072B2")
    ax.axvline(truth, color="#D55E00", linestyle="--")
    ax.set(title=f"horizon {tau} years (truth {truth:.2f})", xlabel="years of the top pick")
axes[0].set_yticks(range(3), rows)
plt.show()

# %%
# :doc:`/estimators` has the measured bias of all three in five worlds, and a table that says which to use.
