"""Weighted sums of weak learners, found one a round."""
