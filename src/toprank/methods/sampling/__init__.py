"""Active sampling: rankers that draw the pairs they learn from."""
