"""What the pages say in words."""

HEAD = """
Made by `python papers/toppush/run.py table2`.
"""
HOLDS = ""
BESIDE = ""
VERDICTS = ""
NEAR = ""
SECONDS = ""
WORK = ""
FIGURE = ""
FIGURE_HOLDS = ""
