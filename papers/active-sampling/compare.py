"""Tables 2, 3 and 4: AUC of all methods, who beats whom, CPU seconds."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from common.pages import table, write_page
from common.rows import Row
from contenders import HARD, OPTIONS, TWICE, measure_all, names_in, per_pool, sets_of
from printed import METHODS, SAMPLED, TABLE_1, TABLE_2, TABLE_3, TABLE_4, TIMED
from remarks import COMPARE, DISTANCES, HEAD, TIMES, VERDICTS
from sets import FOLDS, SOURCES
from significance import tally, verdict, verdict_of_moments

#: Pools of the paper; also ours, where SOURCES has no fewer.
POOLS = 10
ARGUMENTS = OPTIONS


def measure(args: Namespace) -> list[Row]:
    """Every method on every part of every set, with the stated total weight and with twice that."""
    jobs = [
        ({"method": method, "times": times}, method, {"times": times}, POOLS)
        for method in METHODS
        for times in (1, TWICE)
    ]
    jobs += [({"method": method, "times": TWICE}, method, {"times": TWICE}, 1) for method in HARD]
    return measure_all(args, jobs, sets_of(args))


def report(rows: Sequence[Row], args: Namespace) -> None:
    """Write compare.md."""
    write_page(
        args.out / "compare.md",
        "# Tables 2, 3 and 4 made again",
        HEAD,
        _sets(rows),
        "## Table 2: AUC",
        _aucs(rows),
        "### How near the paper's figures",
        DISTANCES,
        _distances(rows),
        "## Table 3: soft-correct against the others",
        VERDICTS,
        _verdicts(rows),
        "## Table 4: CPU seconds",
        TIMES,
        _seconds(rows),
        *([] if args.quick else ["## What differs, and why", COMPARE]),
    )


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
    lines = []
    for name in names_in(rows):
        printed = TABLE_2[name]
        best = max(auc for auc, _ in printed.values())
        cells = []
        for method in METHODS:
            auc, deviation = printed[method]
            cells.append(_cell(auc, deviation if method in SAMPLED else None, best))
        lines.append([f"*{name}, paper*", *cells, "", ""])
        for times in (1, TWICE):
            found = {m: per_pool(rows, set=name, method=m, times=times) for m in METHODS}
            best = max(one.mean() for one in found.values())
            cells = [_cell(one.mean(), _deviation(one), best) for one in found.values()]
            hard = [per_pool(rows, set=name, method=m, times=times) for m in HARD]
            cells += [f"{one.mean():.4f}" if len(one) else "" for one in hard]
            lines.append([f"total {800 * times}", *cells])
    return table(["", *METHODS, *HARD], lines)


def _distances(rows: Sequence[Row]) -> str:
    """Mean distance to the printed AUC, in ten thousandths, over the sets that are the paper's."""
    names = [name for name in names_in(rows) if SOURCES[name].same]

    def cell(methods: Sequence[str], times: int) -> str:
        ours = [
            [per_pool(rows, set=n, method=m, times=times).mean() for n in names] for m in methods
        ]
        printed = [[TABLE_2[n][m][0] for n in names] for m in methods]
        difference = np.subtract(ours, printed)
        return f"{1e4 * np.abs(difference).mean():.0f} ({1e4 * difference.mean():+.0f})"

    groups = [*((m,) for m in METHODS), METHODS[:3], METHODS[3:]]
    lines = [[f"total {800 * t}", *(cell(group, t) for group in groups)] for t in (1, TWICE)]
    header = ["", *METHODS, "all exact", "all sampled"]
    return table(header, lines) + f"\n\nOver {', '.join(names)}."


def _deviation(found: np.ndarray) -> float | None:
    return float(found.std(ddof=1)) if len(found) > 1 else None


def _cell(mean: float, deviation: float | None, best: float) -> str:
    text = f"{mean:.4f}"
    text = f"**{text}**" if text == f"{best:.4f}" else text
    return text if deviation is None else f"{text} ± {deviation:.4f}"


def _verdicts(rows: Sequence[Row]) -> str:
    others, names = tuple(TABLE_3), names_in(rows)
    paper: dict[str, list[str]] = {}
    ours: dict[tuple[int, str], list[str]] = {}
    for other in others:
        sure = other not in SAMPLED
        paper[other] = [
            verdict_of_moments(TABLE_2[name]["Soft-Correct"], TABLE_2[name][other], POOLS, sure)
            for name in names
        ]
        for times in (1, TWICE):
            ours[times, other] = [
                verdict(
                    per_pool(rows, set=name, method="Soft-Correct", times=times),
                    per_pool(rows, set=name, method=other, times=1 if sure else times),
                )
                for name in names
            ]
    lines = [
        [name, *(f"{ours[1, o][k]}, {ours[2, o][k]}, *{paper[o][k]}*" for o in others)]
        for k, name in enumerate(names)
    ]
    lines.append(["ours, all with 800", *(tally(ours[1, o]) for o in others)])
    lines.append(["ours, sampled with 1600", *(tally(ours[TWICE, o]) for o in others)])
    lines.append(["*paper, these sets*", *(f"*{tally(paper[o])}*" for o in others)])
    printed = ["/".join(map(str, TABLE_3[other])) for other in others]
    lines.append(["*paper, its 14 sets*", *(f"*{cell}*" for cell in printed)])
    return table(["", *others], lines)


def _seconds(rows: Sequence[Row]) -> str:
    lines = []
    for name in names_in(rows):
        lines.append([f"*{name}, paper*", *(f"{seconds:g}" for seconds in TABLE_4[name])])
        times = {m: TWICE if m in (*SAMPLED, *HARD) else 1 for m in TIMED}
        means = [
            per_pool(rows, "seconds", set=name, method=m, times=times[m]).mean() for m in TIMED
        ]
        lines.append(["ours", *(f"{mean:.3f}" for mean in means)])
    short = sum(row["short"] for row in rows)
    total = sum(row["seconds"] for row in rows)
    note = (
        f"{len(rows)} fits in all, {total / 60:.1f} minutes of CPU; {short} of them stopped short "
        "of a relative gap of 1e-3."
    )
    return table(["", *TIMED], lines) + "\n\n" + note
