"""Table 4: topics of Reuters, a ranker a word."""

from __future__ import annotations

from argparse import Namespace

from contenders import REDUCTION, Boosted, SoftBoosted, SoftMargins
from pages import Row, at, beside, best, chosen, digits, table, write
from printed import TABLE_4, figure
from remarks import REUTERS, REUTERS_HOLD
from sets import REUTERS as FILE
from sets import at_hand, load_topics
from two_aucs import cross_validated

FOLDS = 2
OF_WORDS = (0.1, 0.3)


def measure(args: Namespace) -> list[Row]:
    """A row for a topic, a method and a setting."""
    at_hand(args.data, [FILE])
    words, topics = load_topics(args.data)
    rows = []
    for topic in TABLE_4:
        methods = [
            Boosted((20,) if args.quick else (100, 1000), "precomputed"),
            SoftBoosted("precomputed", OF_WORDS, max_iter=20 if args.quick else 250),
            SoftMargins(REDUCTION, OF_WORDS, {"tol": 1e-2}),
        ]
        y = topics[topic]
        found = cross_validated(methods, words, y, folds=min(args.folds, FOLDS), seed=args.seed)
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
                beside(
                    figure(line, "RankBoost few"), at(own, "half", "RankBoost", "1000")
                ),
                beside(figure(line, "SoftRankBoost"), best(own, "half", "SoftRankBoost")),
                beside(figure(line, "ours"), best(own, "half", REDUCTION)),
            ]
        )
    header = ["topic", "positives", "RankBoost 100", "RankBoost 1000", "SoftRankBoost", REDUCTION]
    write(
        args.out / "reuters.md",
        "# Table 4: topics of Reuters",
        REUTERS,
        table(header, lines),
        "## What holds",
        REUTERS_HOLD,
    )
