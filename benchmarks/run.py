"""Run the benchmarks: toprank beside LIBLINEAR and the paper's algorithm, in one run.

python benchmarks/run.py            everything, into benchmarks/RESULTS.md
python benchmarks/run.py --only choice --out benchmarks/CHOICE.md    Newton or dual descent
python benchmarks/run.py --only pairs --out benchmarks/PAIRS.md    RankSVM beside LinearSVC
python benchmarks/run.py --only points --out benchmarks/POINTS.md    WSVM beside LinearSVC
python benchmarks/run.py --only squared --out benchmarks/SQUARED.md    BBR beside Ridge and LDA
python benchmarks/run.py --only online --out benchmarks/ONLINE.md    the online methods beside BBR
python benchmarks/run.py --only boost --out benchmarks/BOOST.md    RankBoost beside other boosters
python benchmarks/run.py --only softmargin --out benchmarks/SOFTMARGIN.md    LPPair beside HiGHS
python benchmarks/run.py --only nonlinear --out benchmarks/NONLINEAR.md    kernel features
python benchmarks/run.py --only structural --out benchmarks/STRUCTURAL.md    SVMpAUC, SVMMAP
python benchmarks/run.py --only guarantees --out benchmarks/GUARANTEES.md    promises kept
python benchmarks/run.py --quick    bundled and small made data only, printed, in about a minute
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

# Before anything loads a BLAS: one thread for everybody.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

HERE = Path(__file__).resolve().parent
SECTIONS = ("speed", "path", "head", "paper", "sampling", "float32", "scale")
#: Run by --only, into files of their own.
APART = (
    "choice",
    "pairs",
    "points",
    "squared",
    "online",
    "boost",
    "softmargin",
    "nonlinear",
    "structural",
    "guarantees",
)

CAVEATS = """\
* The two libraries solve different problems with different stopping rules: toprank pushes positives
  above the highest negative (TopPush) and negatives below it (RectPush), to a certified relative
  duality gap of 1e-4; LIBLINEAR fits a logistic regression (or a squared-hinge SVM) to a gradient
  norm relative to the first, `tol=1e-4`. A ratio is a yardstick for users of linear models, not a
  race to the same point.
* LIBLINEAR is given what it likes: float64, C-ordered or CSR with sorted int32 indices, rows of
  length 1. Its times contain scikit-learn's checks and the copy into its own format; ours contain
  our checks, every gap check and the final certificate.
* LR has its (regularised) intercept; TopPush needs none, RectPush has its own. All see the same C:
  2 / (alpha N).
* The machine is shared and noisy: compare within a row, never seconds of one run with another's."""

#: Tables that are made by runs of their own.
ELSEWHERE = """\
Tables of their own: [PAIRS.md](PAIRS.md), RankSVM on all pairs beside LinearSVC, and its finisher;
[POINTS.md](POINTS.md), WSVM beside LinearSVC; [SQUARED.md](SQUARED.md), BBR beside Ridge, LDA,
BLAS and the loop over pairs; [CHOICE.md](CHOICE.md), Newton or dual descent;
[ONLINE.md](ONLINE.md), the online methods beside what they tend to;
[BOOST.md](BOOST.md), RankBoost beside other boosters of stumps;
[SOFTMARGIN.md](SOFTMARGIN.md), LPPair and SoftMarginRank beside HiGHS;
[NONLINEAR.md](NONLINEAR.md), kernel features before the rankers;
[STRUCTURAL.md](STRUCTURAL.md), SVMpAUC and SVMMAP to a certified gap;
[GUARANTEES.md](GUARANTEES.md), how often promises about a new list are kept."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="bundled and small made data only")
    parser.add_argument("--only", choices=SECTIONS + APART, help="one section")
    parser.add_argument("--sets", help="data sets, separated by commas")
    parser.add_argument("--repeats", type=int, default=5, help="repeats of a timing (default 5)")
    parser.add_argument(
        "--out", type=Path, help="the file to write; RESULTS.md by default if everything is run"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=HERE.parents[1] / "shared" / "data",
        help="folder of the data sets that are not bundled (default: ../shared/data)",
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def command(asked: argparse.Namespace) -> str:
    """The command that makes this result again, without paths."""
    words = ["python benchmarks/run.py"]
    words += ["--quick"] if asked.quick else []
    words += [f"--only {asked.only}"] if asked.only else []
    words += [f"--sets {asked.sets}"] if asked.sets else []
    words += [f"--repeats {asked.repeats}"] if asked.repeats != 5 else []
    return " ".join(words)


def main() -> None:
    """Run the sections asked for; print them and write them as they come."""
    asked = parse(sys.argv[1:])
    machine, options_module = import_module("machine"), import_module("options")
    names = asked.sets.split(",") if asked.sets else None
    options = options_module.Options(asked.quick, names, asked.repeats, asked.data)
    complete = not (asked.quick or asked.only or asked.sets)
    out = asked.out or (HERE / "RESULTS.md" if complete else None)

    sections = [asked.only] if asked.only else SECTIONS
    if (asked.quick or asked.sets) and not asked.only:
        sections = [name for name in sections if name != "scale"]
    caveats = getattr(import_module(asked.only), "CAVEATS", CAVEATS) if asked.only else CAVEATS
    parts = [f"# Benchmarks\n\n    {command(asked)}\n\n{machine.describe()}", caveats]
    parts += [ELSEWHERE] if complete else []
    print("\n\n".join(parts), flush=True)
    for name in sections:
        parts.append(import_module(name).report(options))
        print("\n" + parts[-1], flush=True)
        if out is not None:
            out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
