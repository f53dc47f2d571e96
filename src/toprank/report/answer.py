"""The report's answer: best model, its lead, how sure, expected hits, next steps."""

from __future__ import annotations

from html import escape
from math import ceil, floor, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from ..inputs.leaks import Leak, ignore_option
from ..metrics import corrected_t_test, precision_at_k
from ..selection import Comparison
from ..selection.named_models import fit_command
from .tables import id_cell, marked, why_cell
from .words import (
    count_words,
    first_upper,
    listed,
    metric_words,
    p_words,
    reason_digits,
    share_words,
    signed,
    title_of,
)


def headline(found: dict[str, Any], words: str, *, by_hits: bool) -> str:
    """Return the answer in a sentence.

    `words` names the metric that decided; with `by_hits` it is the precision of the first k, and
    the lead is counted in rows.
    """
    lead, expect, title = found["against_reference"], found["expect"], found["title"]
    first = f"in the first {expect['k']:,}"
    if lead is None:
        if found["against_second"] is None:
            hits = count_words(round(expect["expected"]), "positive")
            return f"{first_upper(title)} finds about {hits} {first}."
        more = f"finds more {first}" if by_hits else f"has a higher {words}"
        return f"Use {title}: no other model {more}."
    other = title_of(lead["model"])
    if by_hits:
        hits = lead["hits"]
        if hits["difference"] < 0.5:
            return f"Use {title} or {other}: on average less than one hit apart {first}."
        more = count_words(round(hits["difference"]), "more hit")
        what = f"about {more} {first} than {other}"
    else:
        if lead["difference"] < 0.0005:
            return f"Use {title} or {other}: their {words} differs by less than 0.001."
        what = f"its {words} is {lead['difference']:.3f} above that of {other}"
    return f"Use {title}: {what}{_doubt(lead, by_hits=by_hits)}."


def _doubt(lead: dict[str, Any], *, by_hits: bool) -> str:
    """What is to be said of a lead that is not sure."""
    if lead["sure"]:
        return ""
    if lead["low"] >= 0.0:
        return f", not yet certain after a comparison of {lead['compared']} models"
    if not by_hits:
        return f", not yet certain ({-lead['low']:.3f} below to {lead['high']:.3f} above)"
    fewer, more = -floor(lead["hits"]["low"]), ceil(lead["hits"]["high"])
    return f", not yet certain ({fewer:,} fewer to {more:,} more)"


#: Without a capacity, what to expect is told of this share of the rows.
_SHARE = 0.01
#: Columns that give the label away which are named.
_LISTED = 4
#: A difference is called sure below this adjusted p.
SURE = 0.05


def head_of(comparison: Comparison) -> dict[str, Any]:
    """The k that the report speaks of, and of how many rows: the capacity, or 1 % of them."""
    n, capacity = len(comparison.positive), comparison.capacity
    if capacity is None:
        k = max(1, round(_SHARE * n))
        return {"k": k, "list_size": n, "share": k / n, "given": False}
    size = capacity.list_size or n
    k = capacity.count or max(1, round(capacity.share * n))
    return {"k": k, "list_size": size, "share": capacity.share, "given": True}


def answer_of(comparison: Comparison, head: dict[str, Any]) -> dict[str, Any]:
    """The winner, its lead, and what its first k rows will hold."""
    best, reference = comparison.best, comparison.reference
    found: dict[str, Any] = {
        "winner": best,
        "title": title_of(best),
        "against_reference": _lead(comparison, best, reference, head),
        "against_second": _second(comparison, best, head),
        "expect": _expect(comparison, best, head),
    }
    words = metric_words(comparison.metrics[0], comparison.capacity)[0]
    by_hits = decides_by_hits(comparison, head)
    return found | {
        "by_hits": by_hits,
        "headline": headline(found, words, by_hits=by_hits),
        "sentences": _sentences(found, words, by_hits=by_hits),
    }


def with_leaks(answer: dict[str, Any], leaks: list[Leak]) -> dict[str, Any]:
    """Return the answer with the columns that give the label away; they take the headline."""
    names = [leak.column for leak in leaks]
    if not names:
        return {**answer, "leaks": []}
    give, they = ("give", "they are") if len(names) > 1 else ("gives", "it is")
    ignore = " ".join(ignore_option(name) for name in names[:_LISTED])
    more = " ..." if len(names) > _LISTED else ""
    hold = f"The figures hold only if {they} known when the list is made."
    them = "them" if len(names) > 1 else "it"
    first, *others = answer["sentences"]
    return {
        **answer,
        "leaks": names,
        "headline": f"STOP: {listed(names, _LISTED)} {give} the answer away.",
        "sentences": [
            first,
            f"{hold} If not, leave {them} out (`{ignore}`{more}) and compare again.",
            answer["headline"],
            *others,
        ],
    }


def decides_by_hits(comparison: Comparison, head: dict[str, Any]) -> bool:
    """Return whether the first metric is the precision of the first k, with k as it was given."""
    name, _, share = comparison.metrics[0].rpartition("_")
    return name == "precision_at" and bool(head["given"]) and share == f"{head['share']:.4g}"


def _lead(
    comparison: Comparison, best: str, reference: str, head: dict[str, Any]
) -> dict[str, Any] | None:
    """The winner's test against logistic regression, adjusted for the number of models."""
    if best == reference:
        return None
    tests = comparison.tests()
    place = list(tests["model"]).index(best)
    row = {name: np.asarray(tests[name])[place] for name in ("difference", "low", "high")}
    found = {name: float(value) for name, value in row.items()}
    p = float(np.asarray(tests["p_adjusted"])[place])
    return {
        "model": reference,
        "metric": comparison.metrics[0],
        **found,
        "p": p,
        "sure": p < SURE,
        "compared": len(comparison.models),
        "hits": _hits(comparison, best, reference, head),
    }


def _hits(comparison: Comparison, best: str, other: str, head: dict[str, Any]) -> dict[str, float]:
    """How many more of the first k are positive, and its interval."""
    test = corrected_t_test(
        _precision(comparison, best, head["share"]),
        _precision(comparison, other, head["share"]),
        test_share=comparison.test_share,
        confidence=comparison.confidence,
    )
    k = head["k"]
    return {"difference": k * test.difference, "low": k * test.low, "high": k * test.high}


def _precision(comparison: Comparison, model: str, share: float) -> list[float]:
    """The precision of the first rows, a share, of what each fold holds out."""
    figures = []
    for fold, (_, test) in enumerate(comparison.folds):
        weight = None if comparison.data.weight is None else comparison.data.weight[test]
        scores = comparison.cells[model, fold].scores
        figures.append(
            precision_at_k(comparison.positive[test], scores, share, sample_weight=weight)
        )
    return figures


def _second(comparison: Comparison, best: str, head: dict[str, Any]) -> dict[str, Any] | None:
    """The winner beside the next best; the two were chosen by these figures, so no p is told."""
    others = [model for model in comparison.models if model != best]
    if not others:
        return None
    second = max(others, key=lambda model: comparison.interval(model)[0])
    i, j = comparison.models.index(best), comparison.models.index(second)
    test = corrected_t_test(
        comparison.figures[i, :, 0],
        comparison.figures[j, :, 0],
        test_share=comparison.test_share,
        confidence=comparison.confidence,
    )
    return {
        "model": second,
        "difference": test.difference,
        "low": test.low,
        "high": test.high,
        "hits": _hits(comparison, best, second, head),
    }


def _expect(comparison: Comparison, best: str, head: dict[str, Any]) -> dict[str, Any]:
    """How many of the first k of a list like these rows are positive, and in what range.

    The range has two parts: how well the precision is known from the folds, and the luck of one
    list.
    """
    k, sure = head["k"], comparison.confidence
    figures = _precision(comparison, best, head["share"])
    n, held_out = len(figures), comparison.test_share
    precision = float(np.mean(figures))
    spread = (1.0 / n + held_out / (1.0 - held_out)) * float(np.var(figures, ddof=1))
    known = float(stdtrit(n - 1, 0.5 + sure / 2)) ** 2 * spread
    luck = float(ndtri(0.5 + sure / 2)) ** 2 * precision * (1.0 - precision) / k
    reach = sqrt(known + luck)
    base = _base_rate(comparison)
    return {
        **head,
        "precision": precision,
        "expected": k * precision,
        "low": int(np.floor(k * max(precision - reach, 0.0))),
        "high": int(np.ceil(k * min(precision + reach, 1.0))),
        "confidence": sure,
        "base_rate": base,
        "by_chance": k * base,
        "positives": head["list_size"] * base,
    }


def _base_rate(comparison: Comparison) -> float:
    weight = comparison.data.weight
    return float(np.average(comparison.positive, weights=weight))


def _sentences(found: dict[str, Any], words: str, *, by_hits: bool) -> list[str]:
    expect, lead, second = found["expect"], found["against_reference"], found["against_second"]
    sure = share_words(expect["confidence"])
    said = [
        f"Of the first {expect['k']:,} of {expect['list_size']:,} rows like these, expect about "
        f"{expect['expected']:,.0f} positives: between {expect['low']:,} and {expect['high']:,} "
        f"({sure}). In random order it would be {expect['by_chance']:,.0f}."
    ]
    if not expect["given"]:
        said.append("No capacity was given, so this is told of the first 1 %.")
    if lead is not None:
        low, difference, high = in_its_unit(lead, by_hits=by_hits)
        said.append(
            f"By {words} it is {difference} above {title_of(lead['model'])} "
            f"(between {low} and {high}, {sure}; {p_words(lead['p'])})."
        )
    if second is not None and (lead is None or second["model"] != lead["model"]):
        low, difference, high = in_its_unit(second, by_hits=by_hits)
        next_best = f"the next best, {title_of(second['model'])}"
        said.append(
            f"It is {difference} above {next_best} (between {low} and {high})."
            if low != high
            else f"It is level with {next_best}."
        )
    return said


def in_its_unit(lead: dict[str, Any], *, by_hits: bool) -> tuple[str, str, str]:
    """Return the low end of a lead, the lead and its high end: in hits, or as the metric has it."""
    own, digits = (lead["hits"], 1) if by_hits else (lead, 3)
    low, difference, high = (signed(own[name], digits) for name in ("low", "difference", "high"))
    return low, f"{difference} hits" if by_hits else difference, high


def next_steps(report: dict[str, Any]) -> list[str]:
    """What to do next, the most pressing first."""
    fired = {check["code"] for check in report["checks"] if check["status"] == "fired"}
    steps = []
    if "TR006" in fired:
        named = listed([repr(name) for name in report["answer"]["leaks"]], _LISTED)
        steps.append(f"Find out whether {named} is known in time. If not, leave it out.")
    if "TR007" in fired:
        steps.append("Keep copies of a row together: pass groups, so that no fold sees both.")
    if "TR008" in fired:
        steps.append("Fit on recent rows: the new ones are unlike those that were compared.")
    if "TR004" in fired:
        steps.append("Label more positive rows: the figures rest on few.")
    winner, expect = report["answer"]["winner"], report["answer"]["expect"]
    if report["answer"]["against_reference"] and "TR009" in fired:
        steps.append(
            f"To be certain of the lead of {report['answer']['title']}, compare on more rows or "
            "with repeated folds (`--repeats 5`). Logistic regression is the simpler model until "
            "then."
        )
    if not expect["given"]:
        steps.append("Say how many rows can be looked at (capacity): it decides what is best.")
    title, command = report["answer"]["title"], fit_command(winner)
    steps.append(
        f"Fit {title} on all rows, keep some for calibration (`--calibrate 0.25`), and list the "
        f"rows to act on: `{command}` and `toprank top`."
        if command is not None
        else f"Fit {title} on all rows in Python: `toprank fit` does not fit it."
    )
    return steps


#: Rows of the list on the first screen, and reasons of each.
_ROWS = 5
_REASONS = 2


def answer(report: dict[str, Any]) -> str:
    """The headline, three figures, the checks that fired, and the first rows."""
    found = report["answer"]
    tiles = "".join(
        f'<div class="tile"><dt>{escape(first_upper(what))}</dt><dd><span class="figure">'
        f"{escape(figure)}</span><br><span class='small'>{escape(how)}</span></dd></div>"
        for what, figure, how in (_expected(report), _measured(report), *_lead_row(report))
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


def _lead_row(report: dict[str, Any]) -> list[tuple[str, str, str]]:
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


__all__ = [
    "SURE",
    "answer",
    "answer_of",
    "head_of",
    "headline",
    "in_its_unit",
    "next_steps",
    "with_leaks",
]
