"""The tables of table2.md, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from claims import comparisons, speeds
from common.pages import digits, table
from common.rows import Row, chosen, mean, spread, values_of
from printed import MEASURES, SIZES, TABLE_2, Printed
from remarks import (
    BESIDE,
    CLAIMS,
    HEAD,
    HOLDS,
    MEANT,
    NEAR,
    REDUCED,
    SECONDS,
    SPEEDS,
    VERDICTS,
    WORK,
)
from sets import ABSENT, SOURCES, THEIRS
from significance import BETTER, WORSE, mark, tally
from systems import EXACT, PUSHES, SYSTEMS
from trial import SHOWN

#: The printed table's marks in the pages' signs.
SIGNS = {"+": BETTER, "-": WORSE, ".": ""}
#: The sets whose rows are the paper's.
SAME = ("diabetes", "nsl-kdd", "spambase", "w8a")


def pieces(rows: Sequence[Row], quick: bool = False) -> list[str]:
    """The whole of table2.md, piece by piece."""
    trials = [row for row in rows if row["trial"] != "time"]
    times = chosen(rows, trial="time")
    names = [name for name in SOURCES if chosen(trials, set=name)]
    minutes = sum(row["seconds"] for row in trials) / 60
    return [
        "# Table 2 made again" + (": the quick form" if quick else ""),
        HEAD.format(minutes=f"{minutes:.0f}", fits=f"{sum(row['fits'] for row in trials):,}"),
        _sets(trials, names),
        table(["system", "is here"], [list(one) for one in MEANT.items()]),
        "## What is reduced",
        REDUCED,
        "## What holds, and what does not",
        *([] if quick else [HOLDS]),
        CLAIMS,
        comparisons(trials, names),
        SPEEDS,
        speeds(times, names),
        "## Figures",
        BESIDE,
        *(f"### {name}\n\n{_figures(trials, name)}" for name in names),
        "## Who beats whom",
        VERDICTS,
        _verdicts(trials, names),
        "## How near the paper's figures",
        NEAR,
        _distances(trials, [name for name in names if name in SAME]),
        "## Seconds",
        SECONDS,
        _seconds(times, names),
        "## Lambdas, trivial fits, work",
        WORK,
        _work(trials, names),
    ]


def _sets(rows: Sequence[Row], names: Sequence[str]) -> str:
    lines = []
    for name in [*names, *ABSENT]:
        m, n, d = SIZES["spambase" if name == THEIRS else name]
        own = [len(chosen(rows, set=name, system=system)) for system in SYSTEMS]
        ours = ("not to be had", "") if name in ABSENT else (SOURCES[name].note, _range(own))
        sizes = f"{_grouped(m)} + {_grouped(n)}, {_grouped(d)} columns"
        lines.append([name, sizes, *ours])
    return table(["set", "the paper's rows", "ours", "trials"], lines)


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(most) if least == most else f"{least} to {most}"


def _printed(name: str, system: str) -> Printed | None:
    """The paper's line, to which every account of its TopPush belongs."""
    lines = TABLE_2["spambase" if name == THEIRS else name]
    return lines.get(EXACT if system in PUSHES else system)


def _figures(rows: Sequence[Row], name: str) -> str:
    lines = []
    for system in SYSTEMS:
        own = chosen(rows, set=name, system=system)
        printed = _printed(name, system)
        cells = []
        for k, measure in enumerate(SHOWN):
            sign = "" if system == EXACT else mark(rows, EXACT, system, name, measure) or ""
            deviation = f" ± {digits(spread(own, measure), 3)}" if len(own) > 1 else ""
            cells.append(f"{digits(mean(own, measure), 3)}{deviation}{sign}")
            if measure in MEASURES:
                cells.append(f"*{_printed_cell(printed, k)}*" if printed else "")
        lines.append([system, str(len(own)), *cells])
    header = [cell for one in MEASURES for cell in (one, "*paper*")]
    return table(["", "trials", *header, "AUC"], lines)


def _printed_cell(printed: Printed, k: int) -> str:
    deviation = digits(printed.deviations[k], 3)
    return f"{digits(printed.means[k], 3)} ± {deviation}{SIGNS[printed.marks[k]]}"


def _verdicts(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Sets on which each TopPush is better / even / worse, and so in the paper."""
    lines = []
    for push in PUSHES:
        for measure in SHOWN:
            cells = []
            for system in SYSTEMS:
                found = [mark(rows, push, system, name, measure) for name in names]
                cells.append("" if system == push else tally(found))
            lines.append([push, measure, *cells])
    for k, measure in enumerate(MEASURES):
        cells = []
        for system in SYSTEMS:
            printed = [TABLE_2[name].get(system) for name in names if name in TABLE_2]
            marks = [SIGNS[one.marks[k]] for one in printed if one]
            cells.append("" if system in PUSHES else f"*{tally(marks)}*")
        lines.append(["*paper, these sets*", f"*{measure}*", *cells])
    return table(["", "", *SYSTEMS], lines)


def _distances(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Mean distance to the printed means, and mean difference, over sets that are the paper's."""
    lines = []
    for system in SYSTEMS:
        there = [name for name in names if chosen(rows, set=name, system=system)]
        own = [name for name in there if _printed(name, system)]
        cells = []
        for k, measure in enumerate(MEASURES):
            gaps = [
                mean(rows, measure, set=name, system=system) - _printed(name, system).means[k]
                for name in own
            ]
            cells.append(f"{np.abs(gaps).mean():.3f} ({np.mean(gaps):+.3f})" if gaps else "")
        lines.append([system, *cells, ", ".join(own)])
    return table(["", *MEASURES, "over"], lines)


def _seconds(rows: Sequence[Row], names: Sequence[str]) -> str:
    lines = []
    for name in names:
        base = next(iter(chosen(rows, set=name, system=EXACT)), None)
        ours, paper = [], []
        for system in SYSTEMS:
            own = chosen(rows, set=name, system=system)
            ours.append(_timed(own[0], base) if own else "")
            printed = _printed(name, system)
            paper.append(_ratio(printed, TABLE_2.get(name)) if name in TABLE_2 else "")
        lines.append([name, *ours])
        if any(paper):
            lines.append(["*paper*", *paper])
    return table(["", *SYSTEMS], lines)


def _timed(row: Row, base: Row) -> str:
    star = "*" if row["rows"] < base["rows"] else ""
    return f"{row['seconds']:.2g}{star} ({row['seconds'] / base['seconds']:.2g})".replace(
        "*", r"\*"
    )


def _ratio(printed: Printed | None, lines: dict[str, Printed] | None) -> str:
    if printed is None or lines is None:
        return ""
    return f"*{printed.seconds:.2g} ({printed.seconds / lines[EXACT].seconds:.2g})*"


def _work(rows: Sequence[Row], names: Sequence[str]) -> str:
    lines = []
    for name in names:
        for system in (one for one in SYSTEMS if chosen(rows, set=name, system=one)):
            own = chosen(rows, set=name, system=system)
            alphas = sorted(row["alpha"] for row in own)
            ratios = values_of(own, "ratio")
            lines.append(
                [
                    name,
                    system,
                    f"{alphas[len(alphas) // 2]:g} ({alphas[0]:g} to {alphas[-1]:g})",
                    ", ".join(f"{one:g}" for one in sorted(ratios)) if len(ratios) > 1 else "",
                    _range([row["rows"] for row in own]),
                    f"{sum(row['trivial'] for row in own)} of {len(own)}",
                    f"{sum(row['short'] for row in own)} of {sum(row['fits'] for row in own)}",
                    f"{sum(row['seconds'] for row in own):.0f}",
                ]
            )
    header = ["set", "system", "lambda", "cost ratios", "rows to train", "trivial", "short"]
    return table([*header, "CPU s"], lines)
