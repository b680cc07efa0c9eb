"""
Survival curves of three patients
=================================

Every model gives curves S(t|x); expected years within the horizon are the area under them. Any model that has
curves can be judged, and retrained, by life-years.
"""

import matplotlib.pyplot as plt

import lifeyears as ly

d = ly.data.simulate_registry(n=4000, random_state=0)
X = ly.data.TablePreprocessor().fit_transform(d.X)
model = ly.models.Cox(tau=20).fit(X, d.y)
years = model.predict(X)
some = years.argsort()[[40, 2000, 3960]]  # low, middling, high

ax = model.predict_curves(X[some]).plot(ax=plt.subplots(figsize=(7, 3.8), layout="constrained")[1])
for line, row in zip(ax.lines, some, strict=True):
    line.set_label(f"{years[row]:.1f} years within 20")
ax.set(xlim=(0, 20), xlabel="years after the transplant")
ax.legend(frameon=False)
plt.show()
