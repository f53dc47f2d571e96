"""
A million rows in seconds, with a certificate
=============================================

Logistic regression on a million rows of twenty columns, a few passes over the data, and a proof of
how near the optimum it came.
"""

# %%
# The rows
# --------

import time

import numpy as np

from toprank import LogisticRank, PNormPush
from toprank.plots import ConvergenceDisplay

rng = np.random.default_rng(0)
X = rng.standard_normal((1_000_000, 20), dtype=np.float32)
w = rng.standard_normal(20) / np.sqrt(20)
y = (X @ w + rng.logistic(size=len(X)) > 4).astype(int)
print(f"{X.nbytes / 1e6:.0f} MB, {y.mean():.1%} positive")

# %%
# The fit
# -------
#
# ``certificate_`` is computed after the solver has stopped, which has no part in it: ``primal`` is
# the objective reached, and below ``dual`` it cannot go.

rankers = {"LogisticRank": LogisticRank(alpha=1e-4), "PNormPush": PNormPush(alpha=1e-4, p=4)}
for name, ranker in rankers.items():
    began = time.perf_counter()
    ranker.fit(X, y)
    seconds = time.perf_counter() - began
    passes = ranker.history_["passes"][-1]
    print(f"{name}: {seconds:.1f} s, {passes:.1f} passes, {ranker.certificate_}")

# %%
# Is it true? The gap computed again, in NumPy
# --------------------------------------------
#
# The objective of logistic regression at the weights found, over all rows in float64: the value
# that the certificate names.

ranker = rankers["LogisticRank"]
scores = X.astype(np.float64) @ ranker.coef_[0] + ranker.intercept_[0]
loss = np.logaddexp(0, np.where(y, -scores, scores)).mean()
objective = 1e-4 / 2 * ranker.coef_[0] @ ranker.coef_[0] + loss
print(f"{objective:.9f} by hand, {ranker.certificate_.primal:.9f} by the certificate")

# %%
# Pass by pass
# ------------

ConvergenceDisplay.from_estimator(rankers)
