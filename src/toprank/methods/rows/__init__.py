"""Losses of single rows: logistic regression, made a ranker."""
