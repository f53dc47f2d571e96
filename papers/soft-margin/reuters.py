"""Table 4: topics of Reuters, a ranker a word."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from pathlib import Path

from cells import at, beside, best, stopped_short
from common.data import DATA, at_hand
from common.pages import digits, table, write_page
from common.rows import Row, chosen
from contenders import COROLLARY, OF_PAPER, REDUCTION, Boosted, SoftBoosted, SoftMargins
from printed import TABLE_4, figure
from remarks import REUTERS, REUTERS_HOLD, SHORT
from sets import REUTERS as FILE
from sets import load_topics
from two_aucs import cross_validated, folds_of, rows_by_task

ARGUMENTS = (DATA,)
OF_WORDS = (0.05, 0.1, 0.2, 0.3)
#: A word is a stump: it is in the article, or it is not.
WORDS = {"weak_learners": "stumps", "tol": 1e-2}


def measure(args: Namespace) -> list[Row]:
    """A row for a topic, a method and a setting; every topic is kept once it is done."""
    at_hand([FILE], args.data)
    folds, quick = folds_of(args), bool(args.quick)
    return rows_by_task(
        args,
        {topic: partial(_topic, args.data, topic, args.seed, folds, quick) for topic in TABLE_4},
    )


def _topic(data: Path, topic: str, seed: int, folds: int, quick: bool) -> list[Row]:
    words, topics = load_topics(data)
    methods = [
        Boosted((20,) if quick else (100, 1000), "precomputed"),
        SoftBoosted("precomputed", OF_WORDS, max_iter=20 if quick else 2000),
        SoftMargins("LP-Pair", OF_WORDS, WORDS),
        SoftMargins(REDUCTION, OF_WORDS, WORDS | OF_PAPER),
        SoftMargins(COROLLARY, OF_WORDS, WORDS),
    ]
    y = topics[topic]
    found = cross_validated(methods, words, y, folds=folds, seed=seed)
    return [{"topic": topic, "positives": int(y.sum()), **row} for row in found]


def report(rows: list[Row], args: Namespace) -> None:
    """The table."""
    lines = []
    for topic, (positives, line) in TABLE_4.items():
        own = chosen(rows, topic=topic)
        lines.append(
            [
                topic,
                f"*{positives or '?'}* {own[0]['positives']}",
                digits(at(own, "half", "RankBoost", "100")),
                beside(figure(line, "RankBoost few"), at(own, "half", "RankBoost", "1000")),
                beside(
                    figure(line, "SoftRankBoost"),
                    *(best(own, rule, "SoftRankBoost") for rule in ("half", "one")),
                ),
                beside(figure(line, "ours"), best(own, "half", REDUCTION)),
                digits(best(own, "half", COROLLARY)),
                digits(best(own, "half", "LP-Pair")),
            ]
        )
    header = ["topic", "positives", "RankBoost 100", "RankBoost 1000"]
    write_page(
        args.out / "reuters.md",
        "# Table 4: topics of Reuters",
        REUTERS,
        table([*header, "SoftRankBoost: half / one", REDUCTION, COROLLARY, "LP-Pair"], lines),
        "## Fits that stopped short",
        SHORT,
        stopped_short(rows),
        "## What holds",
        REUTERS_HOLD,
    )
