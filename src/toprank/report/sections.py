"""Sections of the HTML page: models, curves, top rows, checks, next steps."""

from __future__ import annotations

from html import escape
from importlib.metadata import metadata
from typing import Any

from ..plots.base import COLOURS, DASHES
from .pictures import ahead_picture, folds_picture, gains_picture, precision_picture
from .tables import Column, id_cell, marked, sorted_table, why_cell
from .words import first_upper, p_words, reason_digits, share_words, signed

EXPLAINED = {
    "TR001": "Some methods have data on which the best score is zero for every row. Their figures "
    "are then those of a random order, and say nothing of how the method does elsewhere.",
    "TR002": "A fit ends with a certificate, two numbers that bracket the optimum. Where they are "
    "further apart than the tolerance, a better score of the same form may exist.",
    "TR003": "The strength of regularisation is chosen from a grid, by folds inside the training "
    "rows. At an end of the grid where the measure still rises, a better one may lie beyond.",
    "TR004": "Figures of the head rest on the positives alone. With fewer than 20 of them, or five "
    "in a fold, intervals are too narrow or too wide, and tests find what is not there.",
    "TR005": "Where many rows share the score at the cut, the score does not say which of them to "
    "take. Metrics count what is expected over all their orders.",
    "TR006": "One column that orders the rows by itself, with an AUC of .99 or more, is more often "
    "a trace of the outcome than a discovery: a code that is set, or a gap that is filled, later. "
    "So is a column that is filled in for positives and hardly for others.",
    "TR007": "A row that is in the training part and, again, among the rows held out is no test of "
    "a model. All columns are compared, the label not.",
    "TR008": "Every column of the new rows is compared with that of the rows compared: numbers by "
    "the test of Kolmogorov and Smirnov, categories and gaps by the chi-squared test. It fires "
    "where the difference is sure and more than a tenth of the rows.",
    "TR009": "Logistic regression, tuned, runs on the same folds as every other model. One that "
    "is not surely better costs more than it gives.",
    "TR010": "If there is room for more rows than are positive, precision cannot reach one, and "
    "recall says more.",
}


def link_of(check: dict[str, Any]) -> str:
    """A link to the section of the documentation, where its address is known."""
    found = docs_address()
    if found is None:
        return f"More: docs/checks.md, section {escape(check['code'])}."
    return f'<a href="{escape(found)}/{escape(check["link"])}">More on {escape(check["code"])}</a>'


def docs_address() -> str | None:
    """The address of the documentation that the package was built with."""
    for entry in metadata("toprank").get_all("Project-URL") or []:
        name, _, address = entry.partition(",")
        if name.strip().lower() == "documentation":
            return str(address.strip().rstrip("/"))
    return None


#: Lengths of dashes in the legend, as the pictures have them.
_DASHED = {"-": "", "--": "6 3", "-.": "7 2 1 2"}


def models(report: dict[str, Any]) -> str:
    """Models and metrics, and the tests against logistic regression."""
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
        f"{_what_stands_for(report)}"
    )
    shown = sorted_table(
        "models-table", "Models and metrics", note, columns, rows, sorted_by=1, marked=0
    )
    return (
        '<h2 id="models-title">Models</h2>'
        f'{shown}<p class="small quiet">{first_upper(meanings)}.</p>{_settings(report)}'
        f"{_tests(report)}"
    )


def _what_stands_for(report: dict[str, Any]) -> str:
    """What a fold holds out in place of the first k of a list."""
    expect = report["answer"]["expect"]
    if not expect["given"]:
        return ""
    return (
        f" Of what a fold holds out, the first {share_words(expect['share'])} stand for the first "
        f"{expect['k']:,} of {expect['list_size']:,}."
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
            (signed(test["difference"], 4), test["difference"]),
            (f"{signed(test['low'], 4)} to {signed(test['high'], 4)}", test["low"]),
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
    """The curves and the folds, with one legend for the lines."""
    drawn, expect = report["curves"]["models"], report["answer"]["expect"]
    found = {model: _at_k(report, own["precision"]) for model, own in drawn.items()}
    legend = "".join(
        f'<li><svg viewBox="0 0 36 10" aria-hidden="true"><path d="M0 5H36" fill="none" '
        f'style="stroke: var(--c{number % len(COLOURS)})" stroke-width="3" '
        f'stroke-dasharray="{_dash(number)}"/></svg>{escape(_title(report, model))}: '
        f"{found[model]:,.1f} of the first {expect['k']:,}</li>"
        for number, model in enumerate(drawn)
    )
    left_out = len(report["models"]) - len(drawn)
    more = f" The other {left_out} models are left out." if left_out else ""
    figures = [_precision(report), _gains(report)]
    if len(drawn) > 1:
        figures.append(_ahead(report))
    figures.append(_folds(report))
    return (
        '<h2 id="curves-title">Curves</h2>'
        "<p>Of rows that were held out, each fold in proportion."
        f"{more} The dotted upright line is the first {expect['k']:,} of "
        f"{expect['list_size']:,}.</p>"
        f'<ul class="legend" aria-label="Lines of the pictures">{legend}</ul>'
        f'<div class="pictures">{"".join(figures)}</div>'
    )


def _precision(report: dict[str, Any]) -> str:
    k = report["answer"]["expect"]["k"]
    told = " ".join(
        f"{_title(report, model)}: {_at_k(report, own['precision']) / k:.3f}."
        for model, own in report["curves"]["models"].items()
    )
    return _figure(
        precision_picture(report),
        "precision",
        "How many of the first k are positive",
        "Precision of the first k rows; the dotted level line is the share among all rows.",
        f"Precision of the first {k:,} rows. {told}",
    )


def _gains(report: dict[str, Any]) -> str:
    expect = report["answer"]["expect"]
    told = " ".join(
        f"{_title(report, model)}: "
        f"{_at(report['curves']['share'], own['gains'], expect['share']):.3f}."
        for model, own in report["curves"]["models"].items()
    )
    return _figure(
        gains_picture(report),
        "gains",
        "How far to read to find them",
        "Share of all positives found; dashed: a perfect order, dotted: a random one.",
        f"Share of the positives in the first {expect['k']:,}. {told}",
    )


def _ahead(report: dict[str, Any]) -> str:
    k, drawn = report["answer"]["expect"]["k"], report["curves"]["models"]
    least = _at_k(report, drawn[_reference(report)]["precision"])
    told = " ".join(
        f"{_title(report, model)}: {signed(_at_k(report, own['precision']) - least, 1)}."
        for model, own in drawn.items()
        if model != _reference(report)
    )
    return _figure(
        ahead_picture(report, _reference(report)),
        "ahead",
        "How many more hits than logistic regression",
        "Positives among the first k, less those that logistic regression finds there.",
        f"More positives in the first {k:,} than logistic regression. {told}",
    )


def _folds(report: dict[str, Any]) -> str:
    metric = report["metrics"][0]
    told = " ".join(
        "{}: {mean:.3f}, from {low:.3f} to {high:.3f}.".format(
            model["title"], **model["metrics"][metric["name"]]
        )
        for model in report["models"]
    )
    return _figure(
        folds_picture(report),
        "folds",
        f"{first_upper(metric['title'])}, fold by fold",
        "A diamond is the mean over the folds, a line its interval, a dot a fold.",
        told,
    )


def _reference(report: dict[str, Any]) -> str:
    return str(next(one["name"] for one in report["models"] if one["reference"]))


def _at_k(report: dict[str, Any], precision: list[float]) -> float:
    """Positives among the first k, by a curve."""
    k = report["answer"]["expect"]["k"]
    return float(k * _at(report["curves"]["k"], precision, k))


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
    rows, digits = [], reason_digits(rows_of)
    for row in rows_of:
        called = str(row["row"]) if row["id"] is None else row["id"]
        told = f"{100 * row['score']:.2f}\u00a0%" if held_out else f"{row['score']:.4f}"
        cells: list[tuple[str, Any]] = [
            (str(row["place"]), row["place"]),
            (id_cell(called), called),
            (told, row["score"]),
        ]
        if held_out:
            cells.append(("yes" if row["positive"] else "no", int(row["positive"])))
        cells.append((why_cell(row["why"], digits), ""))
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
        items.append(
            f'<li class="{_kind(check)}" id="{code.lower()}"><h3>{code} '
            f'{escape(check["title"])} <span class="status">{status}</span></h3>'
            f"<div><p>{escape(check['message'])}</p>{advice}{silence}"
            '<details class="small"><summary>What this check is</summary>'
            f"<p>{escape(EXPLAINED[code])} {link_of(check)}</p></details></div></li>"
        )
    return f'<h2 id="checks-title">Checks</h2><ul class="checks">{"".join(items)}</ul>'


def _kind(check: dict[str, Any]) -> str:
    """The class of a check: that of a leak which fired is the worst."""
    kind = str(check["status"]).split()[0]
    return f"{kind} stop" if kind == "fired" and check["code"] == "TR006" else kind


def next_steps(report: dict[str, Any]) -> str:
    """What to do next."""
    items = "".join(f"<li>{marked(step)}</li>" for step in report["next"])
    return f'<h2 id="next-title">What next</h2><ol>{items}</ol>'


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


__all__ = [
    "EXPLAINED",
    "checks",
    "curves",
    "docs_address",
    "link_of",
    "made",
    "models",
    "next_steps",
    "top",
]
