"""
Why is this patient first?
==========================

``explain`` says what each feature adds to a patient's expected years. The parts and the base sum to the
prediction.
"""

import matplotlib.pyplot as plt

import lifeyears as ly

d = ly.data.simulate_registry(n=2000, world="interactions", random_state=0)
ranker = ly.BootstrappedRanker(ly.models.Cox(), tau=20, random_state=0).fit(d.X[:1500], d.y[:1500])
candidates = d.X[1500:]
first = int(ranker.predict(candidates).argmax())
explanation = ranker.explain(candidates[first : first + 1])
explanation.plot(0, ax=plt.subplots(figsize=(8, 3.8), layout="constrained")[1])
plt.show()
