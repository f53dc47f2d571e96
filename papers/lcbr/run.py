"""Experiments of the LCBR paper: python papers/lcbr/run.py COMMAND."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import features
import libsvm
import panels
import skew
from common.study import Study

STUDY = Study(
    "LCBR",
    Path(__file__).resolve().parent,
    {"panels": panels, "skew": skew, "libsvm": libsvm, "features": features},
    quick="two repetitions: to see it run",
)
main = STUDY.main

if __name__ == "__main__":
    main()
