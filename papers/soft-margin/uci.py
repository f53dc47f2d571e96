"""Table 3: the UCI sets, by features and by stumps."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

from cells import at, beside, best, constant, stopped_short
from common.data import DATA, at_hand
from common.pages import digits, table, write_page
from common.rows import Row, chosen, values_of
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
from printed import TABLE_3, figure
from remarks import SHORT, UCI, UCI_HOLD, UCI_TIES
from sets import load
from two_aucs import cross_validated, folds_of, rows_by_task

ARGUMENTS = (DATA,)
ROUNDS = (1000, 5000, 10000)
#: The columns of the paper that are shown by both rules, and what they are compared with.
COUNTED = (
    ("LP-Pair", "LP-Pair"),
    ("LP-Pair", "LP-Pair, stumps"),
    ("ours", REDUCTION),
    ("ours", "Corollary 4, stumps"),
)
#: Fewer epsilons, to be quick.
OF_ROUNDS = (0.05, 0.1, 0.2, 0.3)
OF_STUMPS = (0.05, 0.1, 0.3)
STUMPS = {"weak_learners": "stumps", "tol": 1e-3}


def measure(args: Namespace) -> list[Row]:
    """A row for a set, a method and a setting; every set is kept once it is done."""
    folds, quick = folds_of(args), bool(args.quick)
    return rows_by_task(
        args,
        {
            name: partial(_set, args.data, name, args.seed, folds, quick)
            for name in at_hand(TABLE_3, args.data)
        },
    )


def _set(data: Path, name: str, seed: int, folds: int, quick: bool) -> list[Row]:
    X, y = load(data, name)
    methods = [
        Boosted((20,) if quick else ROUNDS, "linear"),
        SoftBoosted("linear", max_iter=20 if quick else 2000),
        SoftMargins("LP-Pair", (*EPSILONS, LARGER)),
        SoftMargins(REDUCTION, OF_ROUNDS, OF_PAPER),
        SoftMargins(COROLLARY, OF_ROUNDS),
        Boosted((20,) if quick else ROUNDS[:1], "stumps", "RankBoost, stumps"),
        SoftMargins("LP-Pair, stumps", OF_STUMPS, STUMPS),
        SoftMargins("Corollary 4, stumps", OF_STUMPS, STUMPS),
    ]
    found = cross_validated(methods, X, y, folds=folds, seed=seed)
    return [{"set": name, **row} for row in found]


def report(rows: list[Row], args: Namespace) -> None:
    """The table by the honest rule, and by the other."""
    names = values_of(rows, "set")
    write_page(
        args.out / "uci.md",
        "# Table 3: UCI sets",
        UCI,
        _honest(rows, names),
        "## Both rules for ties",
        UCI_TIES,
        _both(rows, names),
        "## Fits that stopped short",
        SHORT,
        stopped_short(rows),
        "## What holds",
        UCI_HOLD,
    )


def _honest(rows: list[Row], names: list[str]) -> str:
    lines = []
    for name in names:
        own, line = chosen(rows, set=name), TABLE_3[name]
        boost = [at(own, "half", "RankBoost", str(rounds)) for rounds in (ROUNDS[0], ROUNDS[-1])]
        lines.append(
            [
                name,
                beside(figure(line, "RankBoost few"), *boost),
                beside(figure(line, "SoftRankBoost"), best(own, "half", "SoftRankBoost")),
                beside(figure(line, "LP-Pair"), best(own, "half", "LP-Pair")),
                beside(figure(line, "ours"), best(own, "half", REDUCTION)),
                digits(best(own, "half", COROLLARY)),
                digits(best(own, "half", "RankBoost, stumps")),
                digits(best(own, "half", "LP-Pair, stumps")),
                digits(best(own, "half", "Corollary 4, stumps")),
            ]
        )
    header = ["set", "RankBoost 1000 / 10000", "SoftRankBoost", "LP-Pair", REDUCTION, COROLLARY]
    return table([*header, "RankBoost, stumps", "LP-Pair, stumps", "Corollary 4, stumps"], lines)


def _both(rows: list[Row], names: list[str]) -> str:
    lines = []
    for name in names:
        own, line = chosen(rows, set=name), TABLE_3[name]
        for theirs, method in COUNTED:
            rules = [best(own, rule, method) for rule in ("half", "one")]
            cell = beside(figure(line, theirs), *rules)
            lines.append([name, method, cell, constant(own, method)])
    return table(["set", "method", "half / one", "folds with a constant score"], lines)
