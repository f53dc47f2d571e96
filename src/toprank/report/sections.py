"""The sections of the page."""

from __future__ import annotations

from html import escape
from typing import Any

from ..plots.base import COLOURS, DASHES
from .explained import EXPLAINED, link_of
from .pictures import folds_picture, gains_picture, precision_picture
from .tables import Column, sorted_table
from .words import first_upper, p_words, share_words

#: Lengths of dashes in the legend, as the pictures have them.
_DASHED = {"-": "", "--": "6 3", "-.": "7 2 1 2"}


def answer(report: dict[str, Any]) -> str:
    """The first screen."""
    found = report["answer"]
    expect, lead = found["expect"], found["against_reference"]
    sure = share_words(expect["confidence"])
    tiles = [
        (
            f"Positives to expect in the first {expect['k']:,} of {expect['list_size']:,}",
            f"about {expect['expected']:,.0f}",
            f"between {expect['low']:,} and {expect['high']:,} ({sure}); "
            f"{expect['by_chance']:,.0f} in random order",
        )
    ]
    metric = report["metrics"][0]
    best = report["models"][0]["metrics"][metric["name"]]
    tiles.append(
        (
            f"{metric['title']} of {found['title']}",
            f"{best['mean']:.3f}",
            f"between {best['low']:.3f} and {best['high']:.3f} ({sure})",
        )
    )
    if lead is not None:
        tiles.append(
            (
                "Above logistic regression by",
                f"{lead['difference']:+.3f}",
                f"between {lead['low']:+.3f} and {lead['high']:+.3f}; {p_words(lead['p'])}"
                f"{'' if lead['sure'] else ': not sure'}",
            )
        )
    elif found["against_second"] is not None:
        second = found["against_second"]
        tiles.append(
            (
                f"Above the next best, {_title(report, second['model'])}, by",
                f"{second['difference']:+.3f}",
                f"between {second['low']:+.3f} and {second['high']:+.3f}",
            )
        )
    made = "".join(
        f'<div class="tile"><dt>{escape(first_upper(what))}</dt><dd><span class="figure">'
        f"{escape(figure)}</span><br><span class='small'>{escape(how)}</span></dd></div>"
        for what, figure, how in tiles
    )
    said = " ".join(escape(sentence) for sentence in found["sentences"][1:])
    return (
        f'<h2 class="headline" id="answer-title">{escape(found["headline"])}</h2>'
        f'<dl class="tiles">{made}</dl>{f"<p>{said}</p>" if said else ""}{_verdict(report)}'
    )


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


def models(report: dict[str, Any]) -> str:
    """Models and metrics, and the tests against logistic regression."""
    first = report["metrics"][0]["name"]
    columns = [Column("Model", scope=True)]
    columns += [Column(first_upper(one["title"]), number=True) for one in report["metrics"]]
    columns.append(Column("Seconds", number=True, small_first=True))
    rows = []
    for model in report["models"]:
        cells: list[tuple[str, Any]] = [(escape(model["title"]), model["title"])]
        for metric in report["metrics"]:
            own = model["metrics"][metric["name"]]
            span = f"{own['low']:.3f} to {own['high']:.3f}"
            cells.append((f"{own['mean']:.3f}<span class='range'>{span}</span>", own["mean"]))
        cells.append((f"{model['seconds']:.1f}", model["seconds"]))
        rows.append(cells)
    meanings = "; ".join(
        f"{escape(one['title'])}: {escape(one['meaning'])}"
        for one in report["metrics"]
        if one["meaning"]
    )
    note = (
        f"Means over {report['folds']['count']} folds, with {share_words(report['confidence'])} "
        "intervals that allow for rows the folds share. The first metric decides."
    )
    shown = sorted_table(
        "models-table", "Models and metrics", note, columns, rows, sorted_by=1, marked=0
    )
    picture = _figure(
        folds_picture(report),
        "folds",
        f"{first_upper(report['metrics'][0]['title'])} fold by fold",
        "A diamond is the mean over the folds, a line its interval, a dot a fold.",
        " ".join(
            f"{model['title']}: {model['metrics'][first]['mean']:.3f}, from "
            f"{model['metrics'][first]['low']:.3f} to {model['metrics'][first]['high']:.3f}."
            for model in report["models"]
        ),
    )
    return (
        '<h2 id="models-title">Models</h2>'
        f'{shown}<p class="small quiet">{first_upper(meanings)}.</p>{_settings(report)}'
        f"{picture}{_tests(report)}"
    )


def _settings(report: dict[str, Any]) -> str:
    """What the models chose in the folds."""
    items = "".join(
        f"<li>{escape(model['title'])}: {escape('; '.join(model['settings']))}</li>"
        for model in report["models"]
        if model["settings"]
    )
    if not items:
        return ""
    return (
        "<details class='small'><summary>What the models chose in the folds</summary>"
        f"<ul>{items}</ul></details>"
    )


def _tests(report: dict[str, Any]) -> str:
    first = report["metrics"][0]
    tests = [test for test in report["tests"] if test["metric"] == first["name"]]
    if not tests:
        return ""
    columns = [
        Column("Model", scope=True),
        Column("Difference", number=True),
        Column("Interval", number=True),
        Column("p, adjusted", number=True, small_first=True),
    ]
    rows = [
        [
            (escape(_title(report, test["model"])), test["model"]),
            (f"{test['difference']:+.4f}", test["difference"]),
            (f"{test['low']:+.4f} to {test['high']:+.4f}", test["low"]),
            (
                p_words(test["p_adjusted"]).lstrip("p\u00a0="),
                test["p_adjusted"],
            ),
        ]
        for test in sorted(tests, key=lambda test: -test["difference"])
    ]
    note = (
        f"Each model less logistic regression, by {first['title']}: paired t test, corrected for "
        "shared rows (Nadeau and Bengio), p adjusted for the number of models (Holm)."
    )
    return "<h3>Against logistic regression</h3>" + sorted_table(
        "tests-table", "Models against logistic regression", note, columns, rows, sorted_by=1
    )


def curves(report: dict[str, Any]) -> str:
    """The two curves, with one legend."""
    drawn = report["curves"]["models"]
    legend = "".join(
        f'<li><svg viewBox="0 0 36 10" aria-hidden="true"><path d="M0 5H36" fill="none" '
        f'style="stroke: var(--c{number % len(COLOURS)})" stroke-width="3" '
        f'stroke-dasharray="{_dash(number)}"/></svg>{escape(_title(report, model))}</li>'
        for number, model in enumerate(drawn)
    )
    expect = report["answer"]["expect"]
    at_k = " ".join(
        f"{_title(report, model)}: {_at(report['curves']['k'], own['precision'], expect['k']):.3f}."
        for model, own in drawn.items()
    )
    gains = " ".join(
        f"{_title(report, model)}: "
        f"{_at(report['curves']['share'], own['gains'], expect['share']):.3f}."
        for model, own in drawn.items()
    )
    left_out = len(report["models"]) - len(drawn)
    more = f" The other {left_out} models are left out." if left_out else ""
    return (
        '<h2 id="curves-title">Curves</h2>'
        "<p>Of rows that were held out, each fold in proportion."
        f"{more} The dotted upright line is the first {expect['k']:,}, "
        f"{share_words(expect['share'])} of a list.</p>"
        f'<ul class="legend" aria-label="Lines of the pictures">{legend}</ul>'
        '<div class="pictures">'
        + _figure(
            precision_picture(report),
            "precision",
            "How many of the first k are positive",
            "Precision of the first k rows; the dotted level line is the share among all rows.",
            f"Precision of the first {expect['k']:,} rows. {at_k}",
        )
        + _figure(
            gains_picture(report),
            "gains",
            "How far to read to find them",
            "Share of all positives found; dashed: a perfect order, dotted: a random one.",
            f"Share of the positives in the first {share_words(expect['share'])}. {gains}",
        )
        + "</div>"
    )


def _at(places: list[float], values: list[float], wanted: float) -> float:
    return values[min(range(len(places)), key=lambda j: abs(places[j] - wanted))]


def _dash(number: int) -> str:
    dash = DASHES[number % len(DASHES)]
    return _DASHED[dash] if isinstance(dash, str) else " ".join(str(3 * one) for one in dash[1])


def _figure(svg: str, name: str, title: str, caption: str, alt: str) -> str:
    """A picture with its caption, and what it shows for those who do not see it."""
    named = svg.replace(
        "<svg ", f'<svg role="img" aria-labelledby="{name}-name {name}-alt" ', 1
    ).replace(
        ">",
        f'><title id="{name}-name">{escape(title)}</title>'
        f'<desc id="{name}-alt">{escape(alt)}</desc>',
        1,
    )
    return (
        f'<figure id="picture-{name}"><figcaption><strong>{escape(title)}.</strong> '
        f'<span class="quiet">{escape(caption)}</span></figcaption>{named}</figure>'
    )


def top(report: dict[str, Any]) -> str:
    """The rows at the top, with what puts them there."""
    found = report["top"]
    rows_of = found["rows"]
    held_out = found["of"] == "rows held out"
    columns = [Column("Place", number=True, small_first=True, scope=True)]
    columns.append(Column("Id" if rows_of and rows_of[0]["id"] is not None else "Row"))
    columns.append(Column("Ahead of" if held_out else "Score", number=True))
    if held_out:
        columns.append(Column("Positive"))
    columns.append(Column("What puts it there", sorts=False))
    rows = []
    for row in rows_of:
        called = str(row["row"]) if row["id"] is None else row["id"]
        told = share_words(row["score"]) if held_out else f"{row['score']:.4f}"
        cells: list[tuple[str, Any]] = [
            (str(row["place"]), row["place"]),
            (f"<span class='id'>{escape(called)}</span>", called),
            (told, row["score"]),
        ]
        if held_out:
            cells.append(("yes" if row["positive"] else "no", int(row["positive"])))
        cells.append((_why(row["why"]), ""))
        rows.append(cells)
    source = (
        "rows held out, each ranked by the fold that had not seen it"
        if held_out
        else f"{report['new']['name']}, by the best model fitted on all rows"
    )
    note = (
        f"The first {found['listed']:,} of {source}. What columns add to the score is told by the "
        f"model fitted on all rows, beside {found['compared_with']}."
    )
    hits = sum(bool(row["positive"]) for row in rows_of)
    said = f"<p>{hits} of these {found['listed']} are positive.</p>" if held_out else ""
    return f'<h2 id="top-title">The top of the list, and why</h2>{said}' + sorted_table(
        "top-table", "The first rows", note, columns, rows, sorted_by=0, ascending=True
    )


def _why(reasons: list[dict[str, Any]]) -> str:
    items = []
    for one in reasons:
        told = f" = {escape(one['value'])}" if one["value"] else ""
        way = "up" if one["adds"] > 0 else "down"
        items.append(
            f"<li>{escape(one['column'])}{told} <span class='{way}'>{one['adds']:+.2f}</span></li>"
        )
    return f'<ul class="why">{"".join(items)}</ul>'


def checks(report: dict[str, Any]) -> str:
    """The checks: those that fired first, each with what it means and how to silence it."""
    order = {"fired": 0, "passed": 1, "not applicable": 2, "ignored": 3}
    items = []
    for check in sorted(report["checks"], key=lambda one: (order[one["status"]], one["code"])):
        code, status = check["code"], check["status"]
        advice = (
            f"<p><strong>What to do:</strong> {escape(check['advice'])}</p>"
            if check["advice"]
            else ""
        )
        silence = (
            f'<p class="small quiet">To silence it: <code>--ignore {code}</code>, or '
            f'<code>ignore=["{code}"]</code>.</p>'
            if status == "fired"
            else ""
        )
        words = "not applicable" if status == "not applicable" else status
        items.append(
            f'<li class="{status.split()[0]}" id="{code.lower()}"><h3>{code} '
            f'{escape(check["title"])} <span class="status">{words}</span></h3>'
            f"<p>{escape(check['message'])}</p>{advice}{silence}"
            f'<details class="small"><summary>What this check is</summary>'
            f"<p>{escape(EXPLAINED[code])} {link_of(check)}</p></details></li>"
        )
    return f'<h2 id="checks-title">Checks</h2><ul class="checks">{"".join(items)}</ul>'


def next_steps(report: dict[str, Any]) -> str:
    """What to do next."""
    items = "".join(f"<li>{_code(step)}</li>" for step in report["next"])
    return f'<h2 id="next-title">What next</h2><ol>{items}</ol>'


def _code(text: str) -> str:
    """Text with what is between backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if j % 2 else part for j, part in enumerate(parts))


def made(report: dict[str, Any]) -> str:
    """What made the report, and with what."""
    command = report["command"]
    shown = f"<pre><code>{escape(command)}</code></pre>" if command else "<p>Made in Python.</p>"
    versions = ", ".join(f"{name} {number}" for name, number in report["with"].items())
    notes = "".join(
        f"<li>{escape(one['model'])}, {escape(one['kind'])}: {escape(one['message'])}</li>"
        for one in report["warnings"]
    )
    warned = (
        f"<details><summary>Warnings of the fits ({len(report['warnings'])})</summary>"
        f"<ul class='small'>{notes}</ul></details>"
        if notes
        else ""
    )
    return (
        f'<h2 id="made-title">How it was made</h2>{shown}'
        f'<p class="small quiet">With {escape(versions)}.</p>{warned}'
    )


def _title(report: dict[str, Any], model: str) -> str:
    return str(next(one["title"] for one in report["models"] if one["name"] == model))


__all__ = ["answer", "checks", "curves", "made", "models", "next_steps", "top"]
