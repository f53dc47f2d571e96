"""What study.md says in words."""

HEAD = """
Made by `python papers/rectpush/run.py study`. Means over random splits 2:1, stratified by class
(the paper does not say), with standard errors; lambda from {powers}, by the mean average precision
of {folds} stratified folds of the training part, the largest of the best; seed {seed}. Columns have
unit deviation, then all rows are divided by the length of the longest, both over the whole set: the
paper says only "normalised so that |x| <= 1", and of nine ways tried this one gives its logistic
regression. RectPushApp has p = {p}; the paper does not give its p. DCG is divided by the number of
positives. Tied rows count by the mean over their orders.

Three rows are not the paper's methods as it defines them. The early stopped ones are its TopPush
and its RectPush as they were computed: accelerated gradient steps on the dual, ended by a change of
its objective below 1e-4, here after {steps} steps at the latest. They start cold, and choose from
powers of two {coarse} apart, up to {coarse}, because they take longer than all the others together.
"Logistic, longer grid" may choose a lambda down to 2^-35. None of the three takes part in the
ranks, except where the table says so.
"""

REMARKS = """
To be written.
"""
