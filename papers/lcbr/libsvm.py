"""Figure 2: test AUC on three LIBSVM sets against the share of the training rows used."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import minmax_scale, normalize

import toprank
from common.data import DATA, at_hand, digest, matrix_of, read_set
from common.pages import digits, table, write_page
from common.rows import Row, chosen, mean, spread, values_of
from common.tasks import Task, results_of
from contenders import ONLINE, SHARES, Contender, Part, contenders
from figures import draw_sets
from remarks import SETS as SETS_SAY
from remarks import SETS_DIFFER, SETS_HOLD
from repetitions import REPETITIONS, repetitions_of
from toprank.metrics import auc

SETS = ("a9a", "german", "svmguide3")
#: Raised whenever what a stored result means has changed.
VERSION = 1
ARGUMENTS = (DATA, REPETITIONS)


def measure(args: Namespace) -> list[Row]:
    """A row a method, a set, a share and a repetition; every repetition of a set is kept."""
    tasks = [
        Task(
            f"{name} repetition {repetition}",
            partial(_repetition, args.data, name, args.seed + repetition),
            {
                "set": name,
                "seed": args.seed + repetition,
                "data": digest(args.data / f"{name}.npz"),
                "version": VERSION,
                "toprank": toprank.__version__,
            },
        )
        for name in at_hand(SETS, args.data)
        for repetition in range(repetitions_of(args))
    ]
    found = results_of(tasks, args.out / "cache")
    return [row for one in found for row in one["rows"]]


def _repetition(data: Path, name: str, seed: int) -> Row:
    part = _part(data, name, seed)
    rows = [
        {"set": name, "method": contender.name, "share": share, "auc": round(found, 6)}
        for contender in contenders()
        for share, found in zip(SHARES, _tuned(contender, part, seed), strict=True)
    ]
    return {"rows": rows}


def _part(folder: Path, name: str, seed: int) -> Part:
    """Rows in random order; the last fifth to test on, where the set has no test set."""
    rng = np.random.default_rng(seed)
    X, y = _load(folder / f"{name}.npz")
    order = rng.permutation(len(y))
    X, y = X[order], y[order]
    if name == "a9a":
        return Part(X, y, *_load(folder / "a9a_t.npz"))
    return _cut(X, y)


def _load(path: Path) -> tuple[Any, Any]:
    """Unit rows; dense columns are first brought to -1 ... 1, as LIBSVM's files have them."""
    raw = read_set(path)
    X, y = matrix_of(raw), raw["y"].astype(np.int64)
    return normalize(minmax_scale(X, (-1.0, 1.0)) if "X" in raw else X), y


def _cut(X: Any, y: Any) -> Part:
    """The first four fifths to learn from, the others to test on."""
    n = len(y) * 4 // 5
    return Part(X[:n], y[:n], X[n:], y[n:])


def _tuned(contender: Contender, part: Part, seed: int) -> Iterator[float]:
    """The test AUC after each share, with the setting that is best there on a fifth kept back."""
    inner = _cut(part.X, part.y)
    tried = [_aucs(contender, inner, setting, seed) for setting in contender.grid]
    best = np.argmax(tried, axis=0)
    curves = {k: _aucs(contender, part, contender.grid[k], seed) for k in set(best.tolist())}
    for place, k in enumerate(best.tolist()):
        yield curves[k][place]


def _aucs(contender: Contender, part: Part, setting: dict[str, Any], seed: int) -> list[float]:
    found = contender.weights(part, setting, seed)
    return [float(auc(part.y_test, part.X_test @ w)) for w in found]


def report(rows: list[Row], args: Namespace) -> None:
    """The page and the figure."""
    draw_sets(rows, args.out / "figure2")
    sets, methods = values_of(rows, "set"), values_of(rows, "method")
    lines = []
    for method in methods:
        line = [method]
        for name in sets:
            aucs = [mean(rows, "auc", set=name, method=method, share=s) for s in (0.1, 0.4, 1.0)]
            apart = spread(rows, "auc", set=name, method=method, share=1.0)
            line.append(f"{' / '.join(digits(a, 3) for a in aucs)} ({digits(apart, 3)})")
        lines.append(line)
    missing = [method.name for method in ONLINE if method.name not in methods]
    write_page(
        args.out / "libsvm.md",
        "# Figure 2",
        SETS_SAY,
        table(["", *(f"{name} ({_times(rows, name)})" for name in sets)], lines),
        f"Not there, and left out: {', '.join(missing)}." if missing else "",
        "![Figure 2](figure2.svg)",
        "## What holds",
        SETS_HOLD,
        *(_verdict(rows, name, methods) for name in sets),
        SETS_DIFFER,
    )


def _times(rows: list[Row], name: str) -> int:
    return len(chosen(rows, set=name, method="BBR", share=1.0))


def _verdict(rows: list[Row], name: str, methods: list[str]) -> str:
    """Whether LCBR is ahead of the methods that step, at S = N, by more than the spread."""
    own = {m: mean(rows, "auc", set=name, method=m, share=1.0) for m in methods}
    apart = spread(rows, "auc", set=name, method="LCBR", share=1.0)
    steps = [m for m in methods if m not in ("LCBR", "LCBR matched", "BBR", "ridge")]
    behind = [m for m in steps if own["LCBR"] - own[m] > max(apart, 0.005)]
    level = [m for m in steps if abs(own["LCBR"] - own[m]) <= max(apart, 0.005)]
    ahead = [m for m in steps if own[m] - own["LCBR"] > max(apart, 0.005)]
    words = [
        f"**{name}**, all rows: LCBR {digits(own['LCBR'], 3)}, BBR {digits(own['BBR'], 3)}, "
        f"ridge {digits(own['ridge'], 3)}."
    ]
    for what, names in (("Behind LCBR", behind), ("Level with it", level), ("Ahead", ahead)):
        if names:
            words.append(f"{what}: {', '.join(f'{m} {digits(own[m], 3)}' for m in names)}.")
    tenth = {m: mean(rows, "auc", set=name, method=m, share=0.1) for m in ("LCBR", "BBR")}
    words.append(
        f"From a tenth: LCBR {digits(tenth['LCBR'], 3)}, all pairs of a tenth of the rows "
        f"{digits(tenth['BBR'], 3)}."
    )
    return " ".join(words)
