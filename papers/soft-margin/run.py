"""Experiments of the soft margin paper: python papers/soft-margin/run.py COMMAND."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import artificial
import heuristic
import reuters
import times
import uci
from common.study import Study

STUDY = Study(
    "soft margin",
    Path(__file__).resolve().parent,
    {
        "heuristic": heuristic,
        "artificial": artificial,
        "uci": uci,
        "reuters": reuters,
        "times": times,
    },
    quick="one fold, few rounds: to see it run",
)
main = STUDY.main

if __name__ == "__main__":
    main()
