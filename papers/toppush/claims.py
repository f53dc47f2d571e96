"""The paper's claims in figures: what its text says, and what the trials say of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from common.pages import table
from common.rows import Row, chosen, mean
from printed import TABLE_2
from significance import mark, tally
from systems import EXACT, PUSHES, SYSTEMS

#: Those that the paper's TopPush is to beat at the top, and those that it is to equal.
BEATEN = ("LR", "cs-SVM", "SVM-rank", "SVM-MAP", "SVM-pAUC")
EQUALLED = ("InfinitePush", "AATP")
#: Those whose programs the paper's TopPush is as fast as, and those it is faster than.
CLASSIFIERS = ("LR", "cs-SVM")
SLOWER = ("SVM-rank", "SVM-MAP", "SVM-pAUC", "InfinitePush", "AATP")


def comparisons(rows: Sequence[Row], names: Sequence[str]) -> str:
    """A line a claim and measure, a column a form of TopPush."""
    lines = []
    for others, measures in (
        (BEATEN, ("Pos@Top",)),
        (EQUALLED, ("Pos@Top",)),
        (tuple(SYSTEMS)[len(PUSHES) :], ("AP", "NDCG", "AUC")),
    ):
        for measure in measures:
            cells = [_cell(rows, push, others, names, measure) for push in PUSHES]
            lines.append([f"{measure}, against {', '.join(others)}", *cells])
    return table(["", *PUSHES], lines)


def _cell(
    rows: Sequence[Row], push: str, others: Sequence[str], names: Sequence[str], measure: str
) -> str:
    """Higher means of how many; significantly better / neither / worse; the same, corrected."""
    higher, marks, fair = [], [], []
    for name in names:
        for other in others:
            means = [mean(rows, measure, set=name, system=one) for one in (push, other)]
            if not np.isnan(means).any():
                higher.append(means[0] > means[1])
                marks.append(mark(rows, push, other, name, measure))
                fair.append(mark(rows, push, other, name, measure, corrected=True))
    return f"{sum(higher)} of {len(higher)}; {tally(marks)}; {tally(fair)}"


def speeds(times: Sequence[Row], names: Sequence[str]) -> str:
    """How many times TopPush's seconds the others take: least, median, most over the sets."""
    lines = []
    for what, others in (("classifiers", CLASSIFIERS), ("rankers", SLOWER)):
        for other in others:
            ours = [
                mean(times, "seconds", set=name, system=other)
                / mean(times, "seconds", set=name, system=EXACT)
                for name in names
                if _same_rows(times, name, other)
            ]
            lines_of = [TABLE_2[name] for name in names if other in TABLE_2.get(name, {})]
            paper = [line[other].seconds / line[EXACT].seconds for line in lines_of]
            lines.append([f"{other} ({what})", _three(ours), f"*{_three(paper)}*"])
    return table(["", "here", "*paper, these sets*"], lines)


def _same_rows(times: Sequence[Row], name: str, other: str) -> bool:
    rows = [row["rows"] for row in chosen(times, set=name) if row["system"] in (EXACT, other)]
    return len(rows) == 2 and rows[0] == rows[1]


def _three(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    return f"{min(ratios):.2g}, {np.median(ratios):.2g}, {max(ratios):.2g}"
