"""CPU seconds and memory of a fit on large tables, now and in an earlier version."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

import scale_fit
from common.data import DATA, at_hand
from common.pages import table, write_page
from common.rows import Row, values_of
from common.study import Argument
from common.tasks import Task, results_of
from pieces import commit
from remarks import SCALE
from sets import HANDBOOK, handbook, whole
from systems import TUNED, settings_of

ARGUMENTS = (
    DATA,
    Argument("--earlier", help="Python of an environment with an earlier version of toprank"),
)
FITTED = ("HeadRanker", "HeadRanker, fast", TUNED)
EARLIER = "HeadRanker, earlier version"


class Size(NamedTuple):
    """The first rows and columns of a set."""

    name: str
    rows: int
    columns: int


SIZES = (
    Size(HANDBOOK, 20_000, 15),
    Size(HANDBOOK, 200_000, 15),
    Size(HANDBOOK, 564_505, 15),
    Size("covtype", 581_012, 10),
)
QUICK_SIZES = (Size("diabetes", 300, 8),)
#: Aims for HeadRanker: CPU seconds by rows; memory, as multiples of the table and in bytes.
SECONDS = {200_000: 12.0, 581_012: 30.0}
TIMES, BYTES = 4, 600e6


def measure(args: Namespace) -> list[Row]:
    """Every system on every size, and HeadRanker of the earlier version if there is one."""
    sizes = QUICK_SIZES if args.quick else SIZES
    names = at_hand(dict.fromkeys(size.name for size in sizes), args.data)
    systems = {system: (sys.executable, settings_of(system)) for system in FITTED}
    if args.earlier:
        systems[EARLIER] = args.earlier, {"system": EARLIER, "python": args.earlier}
    tasks = [
        Task(
            f"scale {size.name} {size.rows} x {size.columns} {system}",
            partial(solve, size, system, python, args.data),
            {"scale": size, **settings},
        )
        for size in sizes
        if size.name in names
        for system, (python, settings) in systems.items()
    ]
    return results_of(tasks, args.out / "cache")


def solve(size: Size, system: str, python: str, folder: Path) -> Row:
    """One fit in a process of its own."""
    X, y = table_of(size, folder)
    with TemporaryDirectory() as temporary:
        paths = [Path(temporary) / name for name in ("X.npy", "y.npy")]
        for path, array in zip(paths, (X, y), strict=True):
            np.save(path, array)
        name = "HeadRanker" if system == EARLIER else system
        done = subprocess.run(
            [python, scale_fit.__file__, name, *map(str, paths)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    row = {"set": size.name, "rows": len(X), "columns": X.shape[1], "bytes": X.nbytes}
    figures = json.loads(done.stdout.splitlines()[-1])
    return row | {"system": system, "commit": "" if system == EARLIER else commit()} | figures


def table_of(size: Size, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The first rows and columns of a set, and the labels of the rows."""
    if size.name == HANDBOOK:
        raw = handbook(folder)
        X, y = raw["X"], raw["y"]
    else:
        X, y = whole(size.name, folder)
    return np.ascontiguousarray(X[: size.rows, : size.columns]), y[: size.rows]


def report(rows: list[Row], args: Namespace) -> None:
    """Write scale.md."""
    lines = []
    for row in rows:
        seconds = memory = ""
        if row["system"] == "HeadRanker":
            seconds = f"{SECONDS[row['rows']]:g}" if row["rows"] in SECONDS else ""
            memory = f"{(TIMES * row['bytes'] + BYTES) / 1e6:.0f}"
        lines.append(
            [
                f"{row['set']}, {row['rows']} x {row['columns']}",
                f"{row['bytes'] / 1e6:.0f}",
                row["system"],
                f"{row['seconds']:.1f}",
                seconds,
                f"{row['peak'] / 1e6:.0f}",
                memory,
            ]
        )
    head = ["table", "MB", "system", "CPU s", "aim", "peak MB", "aim"]
    commits = ", ".join(name for name in values_of(rows, "commit") if name)
    pieces = ["# CPU seconds and memory by size", SCALE, f"Measured at {commits}."]
    write_page(args.out / "scale.md", *pieces, table(head, lines))
