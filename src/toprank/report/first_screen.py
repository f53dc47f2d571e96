"""The first screen of the page: the answer, how sure it is, and the first rows."""

from __future__ import annotations

from html import escape
from typing import Any

from .answer import in_its_unit
from .tables import id_cell, marked, why_cell
from .words import first_upper, p_words, reason_digits, share_words

#: Rows of the list on the first screen, and reasons of each.
_ROWS = 5
_REASONS = 2


def answer(report: dict[str, Any]) -> str:
    """The headline, three figures, the checks that fired, and the first rows."""
    found = report["answer"]
    tiles = "".join(
        f'<div class="tile"><dt>{escape(first_upper(what))}</dt><dd><span class="figure">'
        f"{escape(figure)}</span><br><span class='small'>{escape(how)}</span></dd></div>"
        for what, figure, how in (_expected(report), _measured(report), *_lead(report))
    )
    _, *said = found["sentences"]
    stop, why = "", ""
    if found["leaks"]:
        first, *said = said
        stop, why = " stop", f'<p class="verdict stop">{marked(first)}</p>'
    more = " ".join(marked(sentence) for sentence in said)
    return (
        f'<h2 class="headline{stop}" id="answer-title">{escape(found["headline"])}</h2>{why}'
        f'<dl class="tiles">{tiles}</dl><div class="answer"><div>{_verdict(report)}'
        f"{f'<p>{more}</p>' if more else ''}</div>{_first_rows(report)}</div>"
    )


def _expected(report: dict[str, Any]) -> tuple[str, str, str]:
    expect = report["answer"]["expect"]
    return (
        f"Positives to expect in the first {expect['k']:,} of {expect['list_size']:,}",
        f"about {expect['expected']:,.0f}",
        f"between {expect['low']:,} and {expect['high']:,} ({share_words(expect['confidence'])}); "
        f"{expect['by_chance']:,.0f} in random order",
    )


def _measured(report: dict[str, Any]) -> tuple[str, str, str]:
    metric = report["metrics"][0]
    best = report["models"][0]["metrics"][metric["name"]]
    return (
        f"{metric['title']} of {report['answer']['title']}",
        f"{best['mean']:.3f}",
        f"between {best['low']:.3f} and {best['high']:.3f} ({share_words(report['confidence'])})",
    )


def _lead(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The lead over logistic regression, or over the next best model if that is the winner."""
    lead, second = report["answer"]["against_reference"], report["answer"]["against_second"]
    if lead is not None:
        what, more = "Above logistic regression by", f"; {p_words(lead['p'])}"
        more += "" if lead["sure"] else ": not sure"
    elif second is not None:
        title = next(one["title"] for one in report["models"] if one["name"] == second["model"])
        lead, what, more = second, f"Above the next best, {title}, by", ""
    else:
        return []
    low, difference, high = in_its_unit(lead, by_hits=report["answer"]["by_hits"])
    return [(what, difference, f"between {low} and {high}{more}")]


def _verdict(report: dict[str, Any]) -> str:
    """How the checks came out, in a line."""
    fired = [check for check in report["checks"] if check["status"] == "fired"]
    if not fired:
        return '<p class="verdict">No check fired. <a href="#checks">All checks</a></p>'
    named = ", ".join(
        f'<a href="#{check["code"].lower()}">{escape(check["title"].lower())}</a>'
        for check in fired
    )
    count = "One check asks" if len(fired) == 1 else f"{len(fired)} checks ask"
    return f'<p class="verdict fired"><strong>{count} for a look:</strong> {named}.</p>'


def _first_rows(report: dict[str, Any]) -> str:
    """The first rows of the list, with a link to the others."""
    found = report["top"]
    rows, digits = found["rows"][:_ROWS], reason_digits(found["rows"])
    held_out = found["of"] == "rows held out"
    named = rows[0]["id"] is not None
    heads = ["Place", "Id" if named else "Row", *(["Positive"] if held_out else [])]
    head = "".join(f'<th scope="col">{title}</th>' for title in (*heads, "What puts it there"))
    body = ""
    for row in rows:
        called = row["id"] if named else str(row["row"])
        known = f"<td>{'yes' if row['positive'] else 'no'}</td>" if held_out else ""
        body += (
            f'<tr><th scope="row">{row["place"]}</th><td>{id_cell(called)}</td>{known}'
            f"<td>{why_cell(row['why'][:_REASONS], digits)}</td></tr>"
        )
    of = "rows held out" if held_out else escape(report["new"]["name"])
    title = f"The first {len(rows)} of {of}"
    more = f' <a href="#top">All {found["listed"]}</a>' if found["listed"] > len(rows) else ""
    return (
        f'<div class="first"><h3>{title}{more}</h3>'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}">'
        f'<table id="first-table"><caption class="aloud">{title}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


__all__ = ["answer"]
