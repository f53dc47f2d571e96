"""
Comparing, and the report
=========================

Is another method better than logistic regression here, and how sure is that? The same folds for
all, paired tests that know that folds share rows, and a report that says it in words.
"""

# %%
# The comparison
# --------------
#
# Logistic regression is always among the models.

from toprank.datasets import load_mammography
from toprank.report import make
from toprank.selection import compare

X, y = load_mammography(return_X_y=True)
comparison = compare(["rectpushapp", "bbr"], X, y, capacity=0.02, cv=5)
print(comparison)

# %%
# The report
# ----------
#
# First the answer, then what should be looked at, by number: each check has a page that says what
# it found and how to silence it.

report = make(comparison, name="mammography", ignore=["TR007"])
print(report.data["answer"]["headline"])
print(report.fired)
