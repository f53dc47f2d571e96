"""Tables 2, 3 and 4: AUC of all methods, who beats whom, CPU seconds."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from contenders import BY_CHANCE, HARD, measure_all, names_in, per_pool
from pages import Row, page, table
from printed import METHODS, SAMPLED, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TIMED
from remarks import COMPARE, HEAD, TIMES
from sets import FOLDS, SOURCES
from significance import tally, verdict, verdict_of_moments

#: Pools of the paper; also ours, where SOURCES has no fewer.
POOLS = 10


def measure(args: Namespace) -> list[Row]:
    """Every method on every part of every set."""
    jobs = [
        ({"method": method}, method, {}, 1 if method in HARD else POOLS)
        for method in (*METHODS, *HARD)
    ]
    return measure_all(args, jobs)


def report(rows: Sequence[Row], args: Namespace) -> None:
    """Write compare.md."""
    text = page(
        "# Tables 2, 3 and 4 made again",
        HEAD,
        _sets(rows),
        "## Table 2: AUC",
        _aucs(rows),
        "## Table 3: soft-correct against the others",
        _verdicts(rows),
        "## Table 4: CPU seconds",
        TIMES,
        _seconds(rows),
        *([] if args.quick else ["## What differs, and why", COMPARE]),
    )
    (args.out / "compare.md").write_text(text, encoding="utf-8")


def _sets(rows: Sequence[Row]) -> str:
    lines = []
    for name in names_in(rows):
        source, (positive, negative, columns, how) = SOURCES[name], TABLE_1[name]
        own = [row for row in rows if row["set"] == name]
        folds, pools = len({r["fold"] for r in own}), len({r["pool"] for r in own})
        ours = "test set" if source.test else f"{folds} of {FOLDS} folds"
        lines.append(
            [
                name,
                f"{positive} + {negative}, {columns} columns, {how}",
                ours,
                str(pools),
                "as they are" if source.columns is None else "{:g} to {:g}".format(*source.columns),
                source.note,
            ]
        )
    return table(["set", "the paper's", "here", "pools", "columns", ""], lines)


def _aucs(rows: Sequence[Row]) -> str:
    methods, lines = (*METHODS, *HARD), []
    for name in names_in(rows):
        found = {method: per_pool(rows, set=name, method=method) for method in methods}
        best = max(round(found[method].mean(), 4) for method in METHODS)
        cells = []
        for method in methods:
            mean = f"{found[method].mean():.4f}"
            mean = f"**{mean}**" if method in METHODS and float(mean) == best else mean
            many = len(found[method]) > 1
            cells.append(f"{mean} ± {found[method].std(ddof=1):.4f}" if many else mean)
        lines.append([name, *cells])
        printed = TABLE_2[name]
        best = max(auc for auc, _ in printed.values())
        paper = []
        for method in METHODS:
            auc, deviation = printed[method]
            mean = f"**{auc:.4f}**" if auc == best else f"{auc:.4f}"
            paper.append(f"{mean} ± {deviation:.4f}" if method in SAMPLED else mean)
        lines.append(["*paper*", *paper, "", ""])
    return table(["", *methods], lines)


def _verdicts(rows: Sequence[Row]) -> str:
    others, lines = tuple(TABLE_3), []
    ours: dict[str, list[str]] = {other: [] for other in others}
    paper: dict[str, list[str]] = {other: [] for other in others}
    for name in names_in(rows):
        soft = per_pool(rows, set=name, method="Soft-Correct")
        for other in others:
            ours[other].append(verdict(soft, per_pool(rows, set=name, method=other)))
            one, two = TABLE_2[name]["Soft-Correct"], TABLE_2[name][other]
            paper[other].append(verdict_of_moments(one, two, POOLS, sure=other not in SAMPLED))
        lines.append([name, *(f"{ours[other][-1]} (*{paper[other][-1]}*)" for other in others)])
    lines.append(["ours, all of these", *(tally(ours[other]) for other in others)])
    lines.append(["*paper, of these*", *(f"*{tally(paper[other])}*" for other in others)])
    printed = ["/".join(map(str, TABLE_3[other])) for other in others]
    lines.append(["*paper, of its 14*", *(f"*{cell}*" for cell in printed)])
    note = (
        "Win, loss or tie of soft-correct by one-sided t-tests at 95 % over the pools; in brackets "
        "what the same test says of the paper's printed means and deviations. Summed over its 14 "
        "sets that gives just the paper's Table 3. Ours takes CRR's draws for pools too."
    )
    return table(["", *others], lines) + "\n\n" + note


def _seconds(rows: Sequence[Row]) -> str:
    lines = []
    for name in names_in(rows):
        means = [per_pool(rows, "seconds", set=name, method=m).mean() for m in TIMED]
        lines.append([name, *(f"{mean:.3f}" for mean in means)])
        lines.append(["*paper*", *(f"{seconds:g}" for seconds in TABLE_4[name])])
    short = sum(row["short"] for row in rows)
    total = sum(row["seconds"] for row in rows)
    chance = np.mean([row["method"] in BY_CHANCE for row in rows])
    note = (
        f"{len(rows)} fits, {total / 60:.1f} minutes of CPU, {chance:.0%} of them by chance; "
        f"{short} stopped short of a relative gap of 1e-3."
    )
    return table(["", *TIMED], lines) + "\n\n" + note
