"""
Text: sparse rows, and a threshold that no negative crosses
===========================================================

Twenty thousand documents of fifty thousand words. Rows stay sparse all the way; a fit takes a
moment, and says how far it is from the best there is.
"""

# %%
# The documents
# -------------

from toprank import LogisticRank, RankSVM, TopPush
from toprank.datasets import make_sparse_text_like
from toprank.metrics import average_precision, positives_at_top, precision_at_k
from toprank.plots import ConvergenceDisplay, GainsDisplay

X, y = make_sparse_text_like(20_000, 50_000, random_state=0)
old, new, y_old, y_new = X[::2], X[1::2], y[::2], y[1::2]
words = X.nnz / X.shape[0]
print(f"{X.shape[0]} rows, {words:.0f} of {X.shape[1]} words in each, {y.mean():.0%} positive")

# %%
# Three rankers
# -------------
#
# ``positives_at_top`` is the share of the positives above every negative: TopPush is made for it.

rankers = {
    "TopPush": TopPush(alpha=1e-4),
    "RankSVM": RankSVM(alpha=1e-4),
    "LogisticRank": LogisticRank(alpha=1e-5),
}
for name, ranker in rankers.items():
    scores = ranker.fit(old, y_old).decision_function(new)
    print(
        f"{name:13} at the top {positives_at_top(y_new, scores):.3f}"
        f"  precision of the first 200 {precision_at_k(y_new, scores, k=200):.3f}"
        f"  average precision {average_precision(y_new, scores):.3f}"
        f"  gap {ranker.certificate_.relative_gap:.0e}"
    )

# %%
# How much of the list must be read
# ---------------------------------

first = None
for name, ranker in rankers.items():
    shown = GainsDisplay.from_estimator(ranker, new, y_new, name=name, ax=first)
    first = shown.ax_

# %%
# How the gaps closed
# -------------------
#
# A pass is the work of one product with the whole matrix.

ConvergenceDisplay.from_estimator(rankers, xscale="log")
