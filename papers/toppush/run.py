"""Experiments of the TopPush paper: python papers/toppush/run.py COMMAND."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import figure1
import table2
from common.study import Study

STUDY = Study(
    "TopPush",
    Path(__file__).resolve().parent,
    {"table2": table2, "figure1": figure1},
    quick="two small sets, two trials, few lambdas and sizes: seconds",
    kind="csv",
)
main = STUDY.main

if __name__ == "__main__":
    main()
