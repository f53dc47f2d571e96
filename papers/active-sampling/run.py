"""Experiments of the active sampling paper: python papers/active-sampling/run.py COMMAND."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import compare
import curves
import findings
import gammas
from common.study import Study

STUDY = Study(
    "active sampling",
    Path(__file__).resolve().parent,
    {"compare": compare, "curves": curves, "gamma": gammas, "findings": findings},
    quick="two sets, two pools, one fold: seconds",
    kind="csv",
)
main = STUDY.main

if __name__ == "__main__":
    main()
