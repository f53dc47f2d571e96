"""Two versions of toprank side by side: what a change costs in whole fits of every estimator.

    python benchmarks/two_versions.py BEFORE AFTER > benchmarks/TWO_VERSIONS.md

BEFORE and AFTER are Python interpreters, each with a toprank of its own installed. Each lives in a
process of its own; they take turns, fit by fit, several pairs of processes one after the other, and
the least processor time of each version counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

# Before anything loads a BLAS: one thread for everybody. The processes inherit it.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import numpy as np

import tables

MOST_SECONDS = 2.0  # of one version, after which a fit is not repeated in these processes
LEAST_SECONDS = 0.02  # a fit that takes less is repeated within one timing
MOST_RATIO = 1.15  # no fit may become slower than this
SCORED = 500  # rows whose scores are compared

DENSE = ("spambase", "letter")
ONE_HOT = (*DENSE, "a9a")
TEXT = (*ONE_HOT, "sms-spam")
#: The estimators by family, each with the data sets that it fits in a second or two.
FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {
    "push": dict.fromkeys(
        ("TopPush", "InfinitePush", "PNormPush", "RectPush", "ReverseRectPush", "RectPushApp"), TEXT
    ),
    "pairs": {"RankSVM": TEXT, "WSVM": TEXT},
    "sampling": {"ASRankSVM": TEXT, "ASCRC": TEXT},
    "squared": {"BBR": TEXT, "BBRCV": (*ONE_HOT, "rcv1-small"), "LCBR": ONE_HOT},
    "online": {
        "CRR": TEXT, "OAM": TEXT, "OPAUC": DENSE, "AdaOAM": DENSE, "SPAM": TEXT
    },
    "soft margin": {"LPPair": ONE_HOT, "SoftMarginRank": ONE_HOT},
    "boosting": {"RankBoost": TEXT, "SoftRankBoost": TEXT},
}  # fmt: skip
#: Fits with other parameters than the defaults: other losses, other solvers, other alphas.
VARIANTS: dict[str, list[tuple[dict[str, Any], tuple[str, ...]]]] = {
    "TopPush": [
        ({"loss": "logistic"}, ("spambase", "sms-spam")),
        ({"alpha": 1e-5}, ("spambase", "sms-spam")),
    ],
    "RectPush": [({"loss": "logistic"}, ("spambase", "sms-spam"))],
    "RankSVM": [({"loss": "squared_hinge"}, ("spambase", "sms-spam"))],
    "LPPair": [({"weak_learners": "stumps"}, ("spambase",))],
    "SoftMarginRank": [({"weak_learners": "stumps"}, ("german",))],
}

INTRODUCTION = """\
Whole fits, one thread. Ratios of processor time, after / before: below 1 the new version is faster.
"differ" is the largest difference of the scores of some rows, relative to the largest score.
Differences of a few percent are noise, and more in fits of a few milliseconds."""


@dataclass(frozen=True)
class Cell:
    """An estimator with its parameters on a data set."""

    family: str
    estimator: str
    data: str
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """The estimator as it is called."""
        shown = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.estimator}({shown})"


@dataclass
class Timings:
    """What one version needed for a cell, and the scores it came to."""

    seconds: list[float] = field(default_factory=list)
    scores: np.ndarray | None = None


def cells() -> Iterator[Cell]:
    """Every fit that is timed."""
    for family, estimators in FAMILIES.items():
        for estimator, sets in estimators.items():
            for parameters, names in [({}, sets), *VARIANTS.get(estimator, [])]:
                yield from (Cell(family, estimator, name, parameters) for name in names)


@cache
def load(name: str, folder: str) -> Any:
    """The data set; None where it is not here."""
    from data import choose

    return choose([name], quick=False)[0].load(Path(folder))


def timed(cell: Cell, folder: str) -> dict[str, Any]:
    """Seconds of processor time of one fit, and its scores; {} where the data are not here."""
    import toprank

    data = load(cell.data, folder)
    if data is None:
        return {}
    known = getattr(toprank, cell.estimator)().get_params()
    asked = {"random_state": 0, "n_threads": 1, **cell.parameters}
    asked = {name: value for name, value in asked.items() if name in known}
    fits, spent = 0, 0.0
    while spent < LEAST_SECONDS:
        ranker = getattr(toprank, cell.estimator)(**asked)
        began = time.process_time()
        ranker.fit(data.X, data.y)
        spent += time.process_time() - began
        fits += 1
    scores = ranker.decision_function(data.X[:SCORED]).tolist()
    return {"seconds": spent / fits, "scores": scores}


def serve(folder: str) -> None:
    """Fit what the lines of the input name, and answer with a line each."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(timed(Cell(**json.loads(line)), folder)), flush=True)


class Version:
    """A process of one of the two interpreters."""

    def __init__(self, python: str, folder: Path) -> None:
        self._process = subprocess.Popen(
            [python, __file__, "--serve", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def fit(self, cell: Cell) -> dict[str, Any]:
        """Have it fit a cell."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(vars(cell)), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self._process.args[0]} failed at {cell.name} on {cell.data}.")
        return dict(json.loads(answer))

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def time_cell(cell: Cell, versions: list[Version], both: list[Timings], repeats: int) -> None:
    """Fit a cell in both versions by turns; the first fit of each only warms it up."""
    if not all(version.fit(cell) for version in versions):
        return
    spent = 0.0
    for repeat in range(repeats):
        for k in (0, 1) if repeat % 2 == 0 else (1, 0):
            answer = versions[k].fit(cell)
            both[k].seconds.append(answer["seconds"])
            both[k].scores = np.array(answer["scores"])
        spent += both[0].seconds[-1]
        if spent > MOST_SECONDS:
            break


def difference(both: list[Timings]) -> str:
    """How far the scores of the two versions are apart."""
    before, after = (one.scores for one in both)
    assert before is not None
    assert after is not None
    apart, size = np.abs(after - before).max(), np.abs(before).max()
    return tables.exponent(apart / size if size else apart)


def report(seen: dict[str, tuple[Cell, list[Timings]]]) -> str:
    """The table of fits, those of the families, and the verdict."""
    rows, ratios, by_family = [], {}, {}
    for key, (cell, both) in seen.items():
        if not both[0].seconds:
            continue
        before, after = (min(one.seconds) for one in both)
        ratios[key] = after / before
        by_family.setdefault(cell.family, []).append(ratios[key])
        times = [f"{1e3 * before:.3g}", f"{1e3 * after:.3g}", tables.ratio(ratios[key])]
        rows.append([cell.family, cell.name, cell.data, *times, difference(both)])
    heads = ["family", "estimator", "data", "before ms", "after ms", "after / before", "differ"]
    means = [
        [family, str(len(of)), f"{tables.geometric_mean(of):.3f}", tables.ratio(max(of))]
        for family, of in by_family.items()
    ]
    mean, most = tables.geometric_mean(ratios.values()), max(ratios.values())
    means.append(["all", str(len(ratios)), f"{mean:.3f}", tables.ratio(most)])
    above = [f"{key} ({value:.2f})" for key, value in ratios.items() if value > MOST_RATIO]
    return "\n\n".join(
        [
            tables.table(["family", "fits", "geometric mean", "largest"], means),
            f"Above {MOST_RATIO}: {', '.join(above) or 'none'}.",
            tables.table(heads, rows),
        ]
    )


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("before", help="the interpreter of one version")
    parser.add_argument("after", help="that of the other")
    parser.add_argument("--repeats", type=int, default=7, help="timings of a fit in one process")
    parser.add_argument(
        "--processes", type=int, default=3, help="pairs of processes, one after the other"
    )
    parser.add_argument("--only", default="", help="fits with this in family, name and data")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).resolve().parents[2] / "shared" / "data",
        help="folder of the data sets that are not bundled (default: ../shared/data)",
    )
    return parser.parse_args()


def main() -> None:
    """Time every fit in both versions and print the page."""
    import machine

    options = parse()
    words = ["python benchmarks/two_versions.py BEFORE AFTER", f"--repeats {options.repeats}"]
    words += [f"--processes {options.processes}"]
    words += [f"--only {options.only!r}"] if options.only else []
    print(f"# Two versions, fit by fit\n\n    {' '.join(words)}\n", flush=True)
    print(machine.describe(), end=f"\n\n{INTRODUCTION}\n\n", flush=True)
    seen: dict[str, tuple[Cell, list[Timings]]] = {}
    for process in range(options.processes):
        versions = [Version(python, options.data) for python in (options.before, options.after)]
        for cell in cells():
            key = f"{cell.name} on {cell.data}"
            if options.only not in f"{cell.family} {key}":
                continue
            _, both = seen.setdefault(key, (cell, [Timings(), Timings()]))
            time_cell(cell, versions, both, options.repeats)
            if both[0].seconds:
                ratio = min(both[1].seconds) / min(both[0].seconds)
                print(f"{process + 1}/{options.processes} {key}: {ratio:.2f}", file=sys.stderr)
        for version in versions:
            version.close()
    print(report(seen))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
