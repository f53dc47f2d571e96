"""Table 4: topics of Reuters, a ranker a word."""

from __future__ import annotations

from argparse import Namespace

from cells import at, beside, best
from common.data import DATA, at_hand
from common.pages import digits, table, write_page
from common.rows import Row, chosen
from common.tasks import watched
from contenders import REDUCTION, Boosted, SoftBoosted, SoftMargins
from printed import TABLE_4, figure
from remarks import REUTERS, REUTERS_HOLD
from sets import REUTERS as FILE
from sets import load_topics
from two_aucs import cross_validated, folds_of

ARGUMENTS = (DATA,)
OF_WORDS = (0.05, 0.1, 0.2, 0.3)
#: A word is a stump: it is in the article, or it is not.
WORDS = {"rankers": "stumps", "tol": 1e-2}


def measure(args: Namespace) -> list[Row]:
    """A row for a topic, a method and a setting."""
    at_hand([FILE], args.data)
    words, topics = load_topics(args.data)
    rows = []
    for topic in watched(TABLE_4):
        methods = [
            Boosted((20,) if args.quick else (100, 1000), "precomputed"),
            SoftBoosted("precomputed", OF_WORDS, max_iter=20 if args.quick else 250),
            SoftMargins("LP-Pair", OF_WORDS, WORDS),
            SoftMargins(REDUCTION, OF_WORDS, WORDS),
        ]
        y = topics[topic]
        found = cross_validated(methods, words, y, folds=folds_of(args), seed=args.seed)
        rows += [{"topic": topic, "positives": int(y.sum()), **row} for row in found]
    return rows


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
                digits(best(own, "half", "LP-Pair")),
            ]
        )
    header = ["topic", "positives", "RankBoost 100", "RankBoost 1000"]
    write_page(
        args.out / "reuters.md",
        "# Table 4: topics of Reuters",
        REUTERS,
        table([*header, "SoftRankBoost: half / one", REDUCTION, "LP-Pair"], lines),
        "## What holds",
        REUTERS_HOLD,
    )
