"""The report as one page: everything is in it, nothing is fetched, everything is escaped."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from . import sections
from .first_screen import answer
from .script import SCRIPT
from .style import STYLE
from .words import count_words

#: The sections, by their anchors, and what they are called in the navigation.
_SECTIONS = (
    ("answer", "Answer", answer),
    ("models", "Models", sections.models),
    ("curves", "Curves", sections.curves),
    ("top", "Top rows", sections.top),
    ("checks", "Checks", sections.checks),
    ("next", "What next", sections.next_steps),
    ("made", "How it was made", sections.made),
)


def page(report: dict[str, Any]) -> str:
    """The page of a report."""
    data = report["data"]
    name = escape(data["name"])
    # No other script runs, whatever a column may be called, and nothing is fetched.
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    links = "".join(f'<a href="#{anchor}">{title}</a>' for anchor, title, _ in _SECTIONS)
    parts = "".join(
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">{make(report)}</section>\n'
        for anchor, _, make in _SECTIONS
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="toprank {escape(report["with"]["toprank"])}">
<title>{name}: {escape(report["answer"]["headline"])}</title>
<style>{STYLE}</style>
</head>
<body>
<a class="skip" href="#answer">To the answer</a>
<header>
<h1>{_question(report)}</h1>
<p class="quiet small">{_compared(report)}{count_words(data["rows"], "row")},
{count_words(data["columns"], "column")}, {count_words(data["positives"], "row")}
{_positive(data)} · {count_words(len(report["models"]), "model")} on
{count_words(report["folds"]["count"], "fold")} · {escape(report["made"][:10])}</p>
<nav aria-label="Sections">{links}</nav>
</header>
<main>
{parts}</main>
<footer>Made by toprank {escape(report["with"]["toprank"])}, {escape(report["made"])}.
The same as data: the JSON form of this report.</footer>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _question(report: dict[str, Any]) -> str:
    """What the page answers: of which rows, and by which model."""
    new = report["new"]
    if new is None:
        return f"Which rows of {escape(report['data']['name'])} to look at first, by which model"
    rows = count_words(new["rows"], "row")
    return f"Which of the {rows} of {escape(new['name'])} to look at first, by which model"


def _compared(report: dict[str, Any]) -> str:
    """The table that was compared, where the first line names another."""
    return "" if report["new"] is None else f"Compared on {escape(report['data']['name'])}: "


def _positive(data: dict[str, Any]) -> str:
    if data["label"] is None:
        return "positive"
    return f"with {escape(data['label'])} = {escape(str(data['positive']))}"


__all__ = ["page"]
