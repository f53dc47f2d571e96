"""Experiments of the RectPush paper: python papers/rectpush/run.py COMMAND."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import growth
import study
import synthetic
from common.study import Study

STUDY = Study(
    "RectPush",
    Path(__file__).resolve().parent,
    {"synthetic": synthetic, "study": study, "growth": growth},
    quick="few draws and sizes, or small sets and three splits: a minute",
)
main = STUDY.main

if __name__ == "__main__":
    main()
