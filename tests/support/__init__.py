"""Rows, examples and files that tests share."""
