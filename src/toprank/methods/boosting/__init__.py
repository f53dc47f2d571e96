"""Weighted sums of weak learners, one found in each round."""
