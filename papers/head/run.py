"""What lifts the head of a list: python papers/head/run.py COMMAND."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import capacity
import growth
import handbook
import scale
import tables
from common.study import Study

STUDY = Study(
    "head of the list",
    Path(__file__).resolve().parent,
    {
        "tables": tables,
        "handbook": handbook,
        "capacity": capacity,
        "growth": growth,
        "scale": scale,
    },
    quick="two small sets, two splits, few rows: a minute or two",
)
main = STUDY.main

if __name__ == "__main__":
    main()
