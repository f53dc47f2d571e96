"""The report as Markdown: for pull requests and chats."""

from __future__ import annotations

import re
from typing import Any

from .words import count_words, p_words, reason_digits, reason_words, share_words, signed


def markdown(report: dict[str, Any]) -> str:
    """The report, without pictures."""
    data, found = report["data"], report["answer"]
    parts = [
        f"# {_plain(found['headline'])}",
        f"{_plain(data['name'])}: {count_words(data['rows'], 'row')}, {data['positives']:,} "
        f"{_positive(data)}; {count_words(len(report['models']), 'model')} on "
        f"{count_words(report['folds']['count'], 'fold')}.",
        " ".join(_plain(sentence) for sentence in found["sentences"]),
        "## Models",
        _models(report),
    ]
    tests = [test for test in report["tests"] if test["metric"] == report["metrics"][0]["name"]]
    if tests:
        parts += ["## Against logistic regression", _tests(report, tests)]
    parts += ["## Checks", *_checks(report)]
    parts += ["## The top of the list", _top(report)]
    steps = [f"{number}. {step}" for number, step in enumerate(report["next"], 1)]
    parts += ["## What next", "\n".join(steps)]
    if report["command"]:
        parts += ["## How it was made", f"```text\n{report['command']}\n```"]
    return "\n\n".join(parts) + "\n"


def _positive(data: dict[str, Any]) -> str:
    """Which label is ranked first."""
    if data["label"] is None:
        return "positive"
    return f"with {_plain(data['label'])} = {_plain(data['positive'])}"


def _models(report: dict[str, Any]) -> str:
    metrics = report["metrics"]
    rows = [["model", *(metric["title"] for metric in metrics), "seconds"]]
    for model in report["models"]:
        cells = [model["title"]]
        for metric in metrics:
            own = model["metrics"][metric["name"]]
            cells.append(f"{own['mean']:.3f} ({own['low']:.3f} to {own['high']:.3f})")
        rows.append([*cells, f"{model['seconds']:.1f}"])
    sure = share_words(report["confidence"])
    return f"{_table(rows)}\n\nMeans over the folds, with {sure} intervals."


def _tests(report: dict[str, Any], tests: list[dict[str, Any]]) -> str:
    titles = {model["name"]: model["title"] for model in report["models"]}
    rows = [["model", "difference", "interval", "p, adjusted"]]
    rows += [
        [
            titles[test["model"]],
            signed(test["difference"], 4),
            f"{signed(test['low'], 4)} to {signed(test['high'], 4)}",
            p_words(test["p_adjusted"]),
        ]
        for test in tests
    ]
    return _table(rows)


def _checks(report: dict[str, Any]) -> list[str]:
    fired = [check for check in report["checks"] if check["status"] == "fired"]
    lines = [
        f"- **{check['code']} {check['title']}**: {_plain(check['message'])} "
        f"{_plain(check['advice'])}"
        for check in fired
    ]
    others: dict[str, list[str]] = {}
    for check in report["checks"]:
        if check["status"] != "fired":
            others.setdefault(check["status"], []).append(check["code"])
    lines += [f"- {status}: {', '.join(codes)}" for status, codes in others.items()]
    return ["\n".join(lines)]


def _top(report: dict[str, Any]) -> str:
    found = report["top"]
    rows = [["place", "id", "positive", "why"]]
    digits = reason_digits(found["rows"])
    for row in found["rows"]:
        why = ", ".join(f"{text} {number}" for text, number, _ in reason_words(row["why"], digits))
        known = {None: "", True: "yes", False: "no"}[row["positive"]]
        rows.append([str(row["place"]), str(row["id"] or row["row"]), known, why])
    return _table(rows)


def _table(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(map(_plain, row))} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def _plain(text: str) -> str:
    """Text that Markdown takes for text: nothing in it starts a tag, a link or a cell."""
    flat = " ".join(str(text).split())
    return re.sub(r"([\\|<>\[\]*_])", r"\\\1", flat)


__all__ = ["markdown"]
