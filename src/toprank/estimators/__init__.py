"""The frame of every estimator: checks, `fit`, fitted attributes, scores."""
