"""Tables 1 and 2: r-of-k threshold functions with noise, and what ties do to them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from cells import at, beside, best, constant, stopped_short
from common.pages import digits, table, write_page
from common.rows import Row, chosen
from contenders import (
    COROLLARY,
    EPSILONS,
    LARGER,
    OF_PAPER,
    REDUCTION,
    Boosted,
    SoftBoosted,
    SoftMargins,
)
from figures import draw_ties
from printed import TABLE_1, TABLE_2, Line, figure
from remarks import ARTIFICIAL, ARTIFICIAL_HOLDS, CLEAN, RULES, SHORT, TRIVIAL
from threshold_data import Threshold
from two_aucs import cross_validated, folds_of, rows_by_task, two_aucs

N_ROWS = 1000
RATIOS = {"5:5": 0.5, "7:3": 0.7, "9:1": 0.9}
NOISES = (0.05, 0.10, 0.15)
ROUNDS = (50, 500, 5000, 10000)
#: Folds where it is not known that the paper has such data: unequal classes and more noise.
FEW = 3
#: The paper's rankers are the variables and a constant, with weights that are not negative.
HOW = {"weak_learners": "precomputed", "nonnegative": True}


#: A figure so many deviations above what is possible in the mean is marked.
SURE = 3.0
#: Rules for ties.
RULED = ("half", "one")


class Cell(NamedTuple):
    """A data set: its setting, the line that the paper has for it, and our rows."""

    ratio: str
    noise: float
    r: int
    line: Line
    rows: list[Row]

    @property
    def head(self) -> list[str]:
        """The first cells of a line."""
        return [self.ratio, f"{self.noise:.0%}", str(self.r)]

    @property
    def ceiling(self) -> tuple[float, float]:
        """The best AUC that any score can have in the mean, and how much it varies."""
        return Threshold(self.r, share=RATIOS[self.ratio], noise=self.noise).ceiling(N_ROWS)

    def beside(self, method: str, *ours: float) -> str:
        """The paper's figure and ours; marked where the paper's is not to be had."""
        printed, (mean, deviation) = figure(self.line, method), self.ceiling
        mark = " **!**" if printed > mean + SURE * deviation else ""
        return beside(printed, *ours) + mark


def measure(args: Namespace) -> list[Row]:
    """A row for a data set, a method and a setting; every data set is kept once it is done."""
    # Table 1 first, then what Table 2 most likely is.
    settings = sorted(
        ((ratio, noise, r) for ratio in RATIOS for noise in NOISES for r in (1, 8, 15)),
        key=lambda one: (one[0] != "5:5", one[1] != NOISES[0]),
    )
    some = settings[7::14] if args.quick else settings
    folds, quick = folds_of(args), bool(args.quick)
    return rows_by_task(
        args,
        {
            f"{ratio} {noise:.0%} r={r}": partial(_cell, ratio, noise, r, args.seed, folds, quick)
            for ratio, noise, r in some
        },
    )


def _cell(ratio: str, noise: float, r: int, seed: int, folds: int, quick: bool) -> list[Row]:
    data = Threshold(r, share=RATIOS[ratio], noise=noise)
    X, y, clean = data.draw(N_ROWS, seed=1000 * r + round(1000 * noise) + seed)
    cell = {"ratio": ratio, "noise": noise, "r": r}
    ceiling = {"method": "label", "setting": "", "half": two_aucs(clean.astype(float), y)[0]}
    methods = [
        Boosted((50,) if quick else ROUNDS, "precomputed"),
        SoftBoosted("precomputed", EPSILONS, max_iter=20 if quick else 2000),
        SoftMargins("LP-Pair", (*EPSILONS, LARGER), how=HOW),
        SoftMargins(REDUCTION, EPSILONS, how=HOW | OF_PAPER),
        SoftMargins(COROLLARY, EPSILONS, how=HOW),
    ]
    if ratio != "5:5" and noise != NOISES[0]:
        folds = min(folds, FEW)
    found = cross_validated(methods, X, y, clean=clean, folds=folds, seed=seed)
    return [{**cell, **row} for row in (ceiling, *found)]


def report(rows: list[Row], args: Namespace) -> None:
    """The two tables by the honest rule, then by the other, then where optima are trivial."""
    first = list(_cells(rows, [("5:5", noise, r, line) for (noise, r), line in TABLE_1.items()]))
    lines = [(ratio, noise, r, line) for (ratio, r), line in TABLE_2.items() for noise in NOISES]
    second = list(_cells(rows, lines))
    draw_ties(first, args.out / "ties")
    write_page(
        args.out / "artificial.md",
        "# Tables 1 and 2: r-of-k threshold functions",
        ARTIFICIAL.format(folds=folds_of(args)),
        "## Table 1, ties counted one half",
        _honest(first),
        "## Table 2, ties counted one half",
        _honest(second),
        "## Both rules for ties",
        RULES,
        "![AUC against epsilon by both rules](ties.svg)",
        _both([*first, *(cell for cell in second if cell.noise == NOISES[0])]),
        "## Where the optimum is trivial",
        TRIVIAL,
        _trivial([*first, *second]),
        "## Against labels without noise",
        CLEAN,
        _clean(first),
        "## Fits that stopped short",
        SHORT,
        stopped_short(rows),
        "## What holds",
        ARTIFICIAL_HOLDS,
    )


def _cells(rows: list[Row], settings: Iterable[tuple[str, float, int, Line]]) -> Iterable[Cell]:
    for ratio, noise, r, line in settings:
        own = chosen(rows, ratio=ratio, noise=noise, r=r)
        if own:
            yield Cell(ratio, noise, r, line, own)


def _honest(cells: Iterable[Cell]) -> str:
    lines = []
    for cell in cells:
        own = cell.rows
        boost = [at(own, "half", "RankBoost", str(rounds)) for rounds in (500, 10000)]
        lines.append(
            [
                *cell.head,
                digits(cell.ceiling[0]),
                digits(at(own, "half", "label", "")),
                cell.beside("RankBoost few", *boost),
                cell.beside("SoftRankBoost", best(own, "half", "SoftRankBoost")),
                cell.beside("LP-Pair", best(own, "half", "LP-Pair")),
                digits(at(own, "half", "LP-Pair", f"{LARGER:g}")),
                cell.beside("ours", best(own, "half", REDUCTION)),
                digits(best(own, "half", COROLLARY)),
            ]
        )
    header = [
        "p:n",
        "noise",
        "r",
        "best",
        "label",
        "RankBoost 500 / 10000",
        "SoftRankBoost",
        "LP-Pair",
    ]
    return table([*header, f"LP-Pair at {LARGER:g}", REDUCTION, COROLLARY], lines)


def _both(cells: Iterable[Cell]) -> str:
    """The paper's figure beside ours by either rule, for its two linear programs."""
    lines = [
        [
            *cell.head,
            *(
                cell.beside(
                    theirs,
                    *(best(cell.rows, rule, own) for rule in RULED),
                    best(cell.rows, "one", own, moving=True),
                )
                for theirs, own in (("LP-Pair", "LP-Pair"), ("ours", REDUCTION))
            ),
        ]
        for cell in cells
    ]
    rules = "half / one / one, none constant"
    return table(["p:n", "noise", "r", f"LP-Pair: {rules}", f"{REDUCTION}: {rules}"], lines)


def _trivial(cells: Iterable[Cell]) -> str:
    """In how many folds every test row has the same score."""
    methods = ("LP-Pair", REDUCTION, COROLLARY)
    lines = [[*cell.head, *(constant(cell.rows, method) for method in methods)] for cell in cells]
    return table(["p:n", "noise", "r", *methods], lines)


def _clean(cells: Iterable[Cell]) -> str:
    methods = ("RankBoost", "SoftRankBoost", "LP-Pair", REDUCTION, COROLLARY)
    lines = [
        [*cell.head, *(digits(best(cell.rows, "clean", m, larger=True)) for m in methods)]
        for cell in cells
    ]
    return table(["p:n", "noise", "r", *methods], lines)
