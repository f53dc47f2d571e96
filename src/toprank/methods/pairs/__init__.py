"""The hinge on pairs: RankSVM, and the weighted SVM that bounds it."""
