"""
Models compared by what they gain
=================================

``compare`` puts models side by side on the same patients: years of the top pick, and paired differences with
intervals. Any scores will do; here our models, and a forest of scikit-survival's.
"""

import matplotlib.pyplot as plt
from sksurv.ensemble import RandomSurvivalForest

import lifeyears as ly

d = ly.data.simulate_registry(n=6000, world="interactions", random_state=0)
X = ly.data.TablePreprocessor().fit_transform(d.X)
train, test = slice(0, 2000), slice(2000, None)
models = {
    "Kaplan–Meier": ly.models.KaplanMeier(tau=20),
    "Cox": ly.models.Cox(alpha=10, tau=20),
    "Weibull": ly.models.WeibullAFT(tau=20),
    "forest": ly.models.wrap(RandomSurvivalForest(30, min_samples_leaf=20, random_state=0), tau=20),
}
scores = {name: model.fit(X[train], d.y[train]).predict(X[test]) for name, model in models.items()}

truth = d.truth.expected(20)[test]  # with real patients: ly.relevance.cross_fit(...)
comparison = ly.metrics.compare(truth, scores, k=1, waitlist=64)
print(comparison)
comparison.plot(plt.subplots(figsize=(8, 3.2), layout="constrained")[1])
plt.show()
