"""What lifts the head of a list: python papers/head/run.py COMMAND."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import capacity
import growth
import tables
from common.study import Study

STUDY = Study(
    "head of the list",
    Path(__file__).resolve().parent,
    {"tables": tables, "capacity": capacity, "growth": growth},
    quick="two small sets, two splits, few rows: a minute or two",
)
main = STUDY.main

if __name__ == "__main__":
    main()
