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

from common.data import DATA, at_hand
from common.pages import table, write_page
from common.rows import Row, values_of
from common.study import Argument
from common.tasks import Task, results_of
from pieces import code_of_toprank, commit
from remarks import SCALE
from sets import HANDBOOK, handbook, whole

EARLIER = "earlier version"
ARGUMENTS = (
    DATA,
    Argument("--earlier", help="Python of an environment with an earlier version of toprank"),
)
#: What a child process runs: it loads the rows, fits them, and prints what that took.
FITS = {
    "HeadRanker": "from toprank import HeadRanker; HeadRanker(random_state=0).fit(X, y)",
    "HeadRanker, fast": (
        "from toprank import HeadRanker; HeadRanker(effort='fast', random_state=0).fit(X, y)"
    ),
    "LightGBM, tuned": """
from common.rows import Row
from sets import Parts
from systems import tuned_trees
tuned_trees(Parts(X, y, X[:1000], y[:1000]), 0)""",
}
CHILD = """
import json, resource, sys, time
import numpy as np
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
began = time.process_time()
{fit}
spent = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({{"seconds": spent, "peak": peak}}))
"""


class Size(NamedTuple):
    """A table: its set, numbers of rows and of columns."""

    name: str
    rows: int
    columns: int


SIZES = (
    Size(HANDBOOK, 20_000, 15),
    Size(HANDBOOK, 200_000, 15),
    Size(HANDBOOK, 564_505, 15),
    Size("covtype", 581_012, 10),
)
QUICK_SIZES = (Size("abalone7", 4177, 8),)
#: Limits on CPU seconds of HeadRanker, and on memory: times the table, and bytes.
SECONDS = {200_000: 12.0, 581_012: 30.0}
TIMES, BYTES = 4, 600e6


def measure(args: Namespace) -> list[Row]:
    """Every system on every size, and HeadRanker of the earlier version if there is one."""
    sizes = QUICK_SIZES if args.quick else SIZES
    names = at_hand(dict.fromkeys(size.name for size in sizes), args.data)
    systems = dict.fromkeys(FITS, sys.executable)
    if args.earlier:
        systems[EARLIER] = args.earlier
    tasks = [
        Task(
            f"{size.name} {size.rows} x {size.columns} {system}",
            partial(solve, size, system, python, args.data),
            {"scale": size, "system": system, "code": python and code_of_toprank()},
        )
        for size in sizes
        if size.name in names
        for system, python in systems.items()
    ]
    return results_of(tasks, args.out / "cache")


def solve(size: Size, system: str, python: str, folder: Path) -> Row:
    """One fit in a process of its own."""
    if size.name == HANDBOOK:
        found = handbook(folder)
        X, y = found["X"], found["y"]
    else:
        X, y = whole(size.name, folder)
    X = np.ascontiguousarray(X[: size.rows, : size.columns])
    with TemporaryDirectory() as temporary:
        paths = [Path(temporary) / name for name in ("X.npy", "y.npy")]
        for path, array in zip(paths, (X, y[: size.rows]), strict=True):
            np.save(path, array)
        fit = FITS["HeadRanker" if system == EARLIER else system]
        here = Path(__file__).resolve().parent
        found = subprocess.run(
            [python, "-c", CHILD.format(fit=fit), *map(str, paths)],
            env={"PYTHONPATH": f"{here}:{here.parent}", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
    figures = json.loads(found.stdout.splitlines()[-1])
    row = {**size._asdict(), "system": system, "bytes": X.nbytes, "positives": int(y.sum())}
    return row | figures | {"commit": "" if system == EARLIER else commit()}


def report(rows: list[Row], args: Namespace) -> None:
    """Write scale.md."""
    head = ["table", "MB", "system", "CPU s", "aim", "peak MB", "aim"]
    lines = []
    for row in rows:
        aims = row["system"] == "HeadRanker"
        seconds = SECONDS.get(row["rows"]) if aims else None
        memory = (TIMES * row["bytes"] + BYTES) / 1e6
        lines.append(
            [
                f"{row['name']}, {row['rows']} x {row['columns']}",
                f"{row['bytes'] / 1e6:.0f}",
                row["system"],
                f"{row['seconds']:.1f}",
                "" if seconds is None else f"{seconds:g}",
                f"{row['peak'] / 1e6:.0f}",
                f"{memory:.0f}" if aims else "",
            ]
        )
    commits = ", ".join(name for name in values_of(rows, "commit") if name)
    write_page(
        args.out / "scale.md",
        "# CPU seconds and memory by size",
        SCALE,
        f"Measured at {commits}.",
        table(head, lines),
    )
