"""The net: every estimator on many data sets, before and after a change.

    python benchmarks/net.py run OUT.jsonl
    python benchmarks/net.py compare BEFORE.jsonl AFTER.jsonl --write PAGE.md
    python benchmarks/net.py race OLD_PYTHON NEW_PYTHON PREFIX --only 'TopPush|RankSVM'

`race` takes two interpreters, each with its own toprank, and fits every cell with both in turns, so
that noise hits both alike. Results are appended to PREFIX.before.jsonl and PREFIX.after.jsonl; an
interrupted run resumes. `compare` ends with 1 if an objective is worse beyond its certified gap, a
fit raises a new error, a family takes more than 1.10 of its CPU time, or a memory cell grows by
more than 10 %.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
START_SECONDS = 60.0  # limit of imports and of loading the data of a cell
PATIENCE = 10.0  # wall seconds per second of CPU time that a limit allows, on a busy machine
REPEATED_SECONDS = 0.3  # a cell that has taken this much CPU time is not repeated
DOUBTFUL = 1.3  # a race repeats cells above this ratio
MORE_REPEATS = 3


class Worker:
    """A process of one interpreter, restarted when a fit exceeds the time limit."""

    def __init__(self, python: str, folder: Path, scratch: Path, seconds: float) -> None:
        scratch.mkdir(exist_ok=True)
        self.command = [python, str(HERE / "net_worker.py"), str(folder), str(scratch)]
        self.seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def fit(self, request: dict[str, Any]) -> dict[str, Any]:
        """Have a cell fitted once; an error is part of the result."""
        if self._process is None:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **ONE_THREAD},
            )
            self._unread = b""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        answer = self._answer(START_SECONDS)
        return self._answer(self.seconds) if answer.get("loaded") else answer

    def _answer(self, seconds: float) -> dict[str, Any]:
        """Wait for a line. The pipe is read directly, because select misses buffered lines."""
        assert self._process is not None
        assert self._process.stdout is not None
        pipe, began, spent = self._process.stdout.fileno(), time.monotonic(), self._cpu()
        while b"\n" not in self._unread:
            if not select.select([pipe], [], [], 0.5)[0]:
                waited = time.monotonic() - began
                if max(self._cpu() - spent, waited / PATIENCE) > seconds:
                    self.close()
                    return {"error": f"took more than {seconds:g} s"}
                continue
            more = os.read(pipe, 1 << 16)
            if not more:
                return self._ended()
            self._unread += more
        line, self._unread = self._unread.split(b"\n", 1)
        return dict(json.loads(line))

    def _cpu(self) -> float:
        """CPU seconds of the process so far, 0 where the system does not show them."""
        assert self._process is not None
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _ended(self) -> dict[str, Any]:
        """Return the error of a process that ended by itself."""
        assert self._process is not None
        code = self._process.wait()
        self.close()
        return {"error": f"the process ended with {code}"}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None


def measure(request: dict[str, Any], workers: list[Worker], repeats: int) -> list[dict[str, Any]]:
    """Fit a cell with every worker in turns; the shortest time of each counts."""
    if request["memory"]:
        for worker in workers:
            worker.close()  # memory is measured in a fresh process
    best = [worker.fit(request) for worker in workers]
    turns, spent = 1, 0.0
    while not request["memory"] and not any("error" in one for one in best):
        spent = max(spent, sum(one["seconds"] for one in best) / len(best) * turns)
        ratio = best[-1]["seconds"] / best[0]["seconds"]
        doubtful = turns > 1 and ratio > DOUBTFUL
        if turns >= repeats * (MORE_REPEATS if doubtful else 1):
            break
        if spent > REPEATED_SECONDS * (MORE_REPEATS**2 if ratio > DOUBTFUL else 1):
            break
        for k in range(len(workers))[:: -1 if turns % 2 else 1]:
            again = workers[k].fit(request)
            if "error" in again:
                best[k] = again
            else:
                best[k]["seconds"] = min(best[k]["seconds"], again["seconds"])
        turns += 1
    return best


def fill(pythons: list[str], paths: list[Path], options: argparse.Namespace) -> None:
    """Measure every cell that is not in the files yet."""
    import net_cells
    import net_compare

    done = set.intersection(*(set(net_compare.read(path)) for path in paths))
    cells = [cell for cell in net_cells.cells() if wanted(cell, options) and cell.key not in done]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="net-") as name:
        folder = Path(name)
        workers = [
            Worker(python, folder, folder / f"worker-{k}", options.seconds)
            for k, python in enumerate(pythons)
        ]
        files = [appending(path) for path in paths]
        try:
            for k, cell in enumerate(cells):
                if not net_cells.prepare(cell.data, options.data, folder):
                    continue
                request = vars(cell) | {
                    "always": net_cells.ALWAYS | net_cells.SETTINGS.get(cell.estimator, {}),
                    "parameters": ({} if cell.alpha is None else {"alpha": cell.alpha})
                    | cell.parameters,
                }
                results = measure(request, workers, options.repeats)
                for file, result in zip(files, results, strict=True):
                    line = json.dumps({"key": cell.key, **vars(cell), **result})
                    print(line, file=file, flush=True)
                clock = time.monotonic() - began
                shown = [one.get("error") or f"{1e3 * one['seconds']:.3g} ms" for one in results]
                print(
                    f"{clock:5.0f} s {k + 1}/{len(cells)} {cell.key}: {', '.join(shown)}",
                    flush=True,
                )
        finally:
            for worker in workers:
                worker.close()
            for file in files:
                file.close()


def appending(path: Path) -> Any:
    """Open a file of results, and end a line that an interruption cut short."""
    cut = path.exists() and not path.read_bytes().endswith(b"\n")
    file = path.open("a")
    if cut:
        file.write("\n")
    return file


def wanted(cell: Any, options: argparse.Namespace) -> bool:
    """Return True if the filters of the command line admit a cell."""
    named = not options.families or cell.family in options.families
    return named and bool(re.search(options.only, f"{cell.family} {cell.key}"))


def judge(before: Path, after: Path, write: Path | None, only: str = "") -> int:
    """Compare two files, print the page, and return the exit code."""
    import net_compare

    def some(path: Path) -> dict[str, Any]:
        results = net_compare.read(path)
        if not results:
            raise SystemExit(f"{path} has no results.")
        return {key: one for key, one in results.items() if re.search(only, key)}

    found = net_compare.compare(some(before), some(after))
    text = net_compare.page(found)
    print(text)
    if write is not None:
        import machine

        write.write_text(f"# The net\n\n{machine.describe()}\n\n{text}\n")
    return int(found.failed)


def parse() -> argparse.Namespace:
    """Read the command line."""
    shared = Path(os.environ.get("TOPRANK_SHARED", HERE.parents[1] / "shared"))
    filters = argparse.ArgumentParser(add_help=False)
    filters.add_argument("--only", default="", help="cells whose name matches this expression")
    filters.add_argument("--families", nargs="*", help="families, such as 'top pushes' pairs")
    filters.add_argument("--repeats", type=int, default=3, help="timings of a short fit")
    filters.add_argument("--seconds", type=float, default=20.0, help="limit of a fit's CPU time")
    filters.add_argument(
        "--data", type=Path, default=shared / "data", help="folder of data that are not bundled"
    )
    page = argparse.ArgumentParser(add_help=False)
    page.add_argument("--write", type=Path, help="write the comparison to this page")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", parents=[filters], help="fit every cell")
    run.add_argument("out", type=Path)
    compare = commands.add_parser("compare", parents=[page], help="compare two files")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    compare.add_argument("--only", default="", help="cells whose name matches this expression")
    race = commands.add_parser("race", parents=[filters, page], help="fit with two interpreters")
    race.add_argument("old", help="interpreter before the change")
    race.add_argument("new", help="interpreter after the change")
    race.add_argument("prefix", help="beginning of the names of both files of results")
    commands.add_parser("list", parents=[filters], help="print the cells")
    return parser.parse_args()


def main() -> int:
    options = parse()
    if options.command == "run":
        fill([sys.executable], [options.out], options)
        return 0
    if options.command == "compare":
        return judge(options.before, options.after, options.write, options.only)
    if options.command == "list":
        import net_cells

        print("\n".join(cell.key for cell in net_cells.cells() if wanted(cell, options)))
        return 0
    before, after = (Path(f"{options.prefix}.{side}.jsonl") for side in ("before", "after"))
    fill([options.old, options.new], [before, after], options)
    return judge(before, after, options.write, options.only)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that processes and files are removed
    sys.exit(main())
