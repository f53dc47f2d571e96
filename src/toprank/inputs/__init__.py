"""Inputs: labels, cells, folds, single arguments, and the kind of their rows."""
