"""The table of what was tried and what was found."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from .judge import Verdict

#: The kinds of findings, and what the column of each is called.
KINDS = {
    "false": "false",
    "unmet": "unmet in silence",
    "trivial": "false trivial_",
    "error": "errors",
    "slow": "slow",
    "harness": "of the harness",
}
#: A bound that is off by more than this share of the objective is wrong beyond rounding.
ROUNDING = 1e-12
#: Findings of one kind and estimator that are printed, and what is worse than all before; the
#: others are counted.
SHOWN = 10


@dataclass
class Row:
    """The counts of one estimator."""

    problems: int = 0
    fits: int = 0
    claims: int = 0
    warned: int = 0
    refused: int = 0
    found: Counter[str] = field(default_factory=Counter)
    #: The false bounds that are no matter of rounding, and by how much the worst is off.
    gross: int = 0
    worst: float = 0.0

    def add(self, verdict: Verdict) -> None:
        """Count a problem."""
        self.problems += 1
        self.fits += verdict.fits
        self.claims += verdict.claims
        self.warned += verdict.warned
        self.refused += len(verdict.refused)
        for one in verdict.findings:
            self.found[one.kind] += 1
            if one.kind == "false":
                self.gross += one.excess > ROUNDING
                self.worst = max(self.worst, one.excess)


class Table:
    """Counts by estimator."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.refusals: Counter[str] = Counter()

    @property
    def failed(self) -> bool:
        """Whether anything was found that must be mended."""
        return bool(self._total().found)

    def add(self, verdict: Verdict) -> list[str]:
        """Count a problem; what to print of it."""
        row = self.rows.setdefault(verdict.estimator, Row())
        before, worst = row.found.copy(), row.worst
        row.add(verdict)
        self.refusals.update(text[:110] for text in verdict.refused)
        again = f"python -m fuzz --repeat {verdict.seed}:{verdict.index}"
        return [
            f"{one}\n    {verdict.problem}\n    cd tests && {again}"
            for one in verdict.findings
            if before[one.kind] < SHOWN or (one.kind == "false" and one.excess > worst)
        ]

    def _total(self) -> Row:
        total = Row()
        for row in self.rows.values():
            for name in ("problems", "fits", "claims", "warned", "refused", "gross"):
                setattr(total, name, getattr(total, name) + getattr(row, name))
            total.found += row.found
            total.worst = max(total.worst, row.worst)
        return total

    def progress(self, left: float) -> str:
        """One line."""
        total = self._total()
        found = ", ".join(f"{total.found[kind]} {name}" for kind, name in KINDS.items())
        line = f"{total.problems} problems, {total.fits} fits: {found}"
        return f"{line}; {max(left, 0):.0f} s left" if math.isfinite(left) else line

    def summary(self, seconds: float) -> str:
        """What a release may quote."""
        total = self._total()
        found = ", ".join(f"{total.found[kind]} {name}" for kind, name in KINDS.items())
        return (
            f"{total.problems} problems, {total.fits} fits and {total.claims} certificates judged "
            f"in {seconds:.0f} s: {found}"
        )

    def __str__(self) -> str:
        head = ["", "problems", "fits", "certificates", *KINDS.values(), "warned", "refused"]
        head[5:5] = ["> 1e-12", "worst"]
        lines = [head]
        for name, row in [*sorted(self.rows.items()), ("all", self._total())]:
            counts = [row.problems, row.fits, row.claims, *(row.found[kind] for kind in KINDS)]
            cells = [name, *map(str, [*counts, row.warned, row.refused])]
            cells[5:5] = [str(row.gross), f"{row.worst:.1e}" if row.worst else "-"]
            lines.append(cells)
        first, *widths = (max(len(line[k]) for line in lines) for k in range(len(head)))
        text = []
        for line in lines:
            cells = (f"{cell:>{width}}" for cell, width in zip(line[1:], widths, strict=True))
            text.append("  ".join([line[0].ljust(first), *cells]))
        text += [f"refused {count} times: {what}" for what, count in self.refusals.most_common(10)]
        return "\n".join(text)
