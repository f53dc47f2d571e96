"""What the studies of papers share: their command line, tables, figures, and going on after a stop.

README.md says how a study is built on it.
"""
