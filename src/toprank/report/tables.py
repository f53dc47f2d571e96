"""Tables of the page, which sort by any column, and their cells."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from .words import reason_words

#: Ids and code of more characters than this may be broken.
_LONG = 28


@dataclass(frozen=True)
class Column:
    """A column: its heading, and how it sorts."""

    title: str
    number: bool = False
    #: Whether its cells are the headings of their rows.
    scope: bool = False
    #: Whether the first press of the heading puts the smallest first.
    small_first: bool = False
    sorts: bool = True


def sorted_table(
    name: str,
    caption: str,
    note: str,
    columns: list[Column],
    rows: list[list[tuple[str, Any]]],
    *,
    sorted_by: int,
    ascending: bool = False,
    marked: int | None = None,
) -> str:
    """A table; cells are what is shown, escaped already, and what they sort by."""
    heads = "".join(
        _head(column, ("ascending" if ascending else "descending") if j == sorted_by else None)
        for j, column in enumerate(columns)
    )
    body = "".join(
        f"<tr{' class=best' if place == marked else ''}>"
        + "".join(_cell(column, *cell) for column, cell in zip(columns, row, strict=True))
        + "</tr>\n"
        for place, row in enumerate(rows)
    )
    return (
        f'<div><p class="quiet small" id="{name}-note">{escape(note)}</p>'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f'<table class="sorts" id="{name}" aria-describedby="{name}-note">'
        f'<caption class="aloud">{escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>"
        f'<p class="aloud" aria-live="polite"></p></div>'
    )


def _head(column: Column, sort: str | None) -> str:
    kind = ' class="number"' if column.number else ""
    if not column.sorts:
        return f'<th scope="col"{kind}>{escape(column.title)}</th>'
    first = "descending" if column.number and not column.small_first else "ascending"
    sorted_now = f' aria-sort="{sort}"' if sort else ""
    return (
        f'<th scope="col"{kind} data-first="{first}"{sorted_now}>'
        f'<button type="button">{escape(column.title)}</button></th>'
    )


def _cell(column: Column, shown: str, value: Any) -> str:
    kind = ' class="number"' if column.number else ""
    tag, scope = ("th", ' scope="row"') if column.scope else ("td", "")
    return f'<{tag}{scope}{kind} data-value="{escape(str(value))}">{shown}</{tag}>'


def marked(text: str) -> str:
    """Text, escaped, with what is between backticks as code."""
    parts = [escape(part) for part in text.split("`")]
    whole = [" class='whole'" if len(part) <= _LONG else "" for part in parts]
    return "".join(
        f"<code{whole[j]}>{part}</code>" if j % 2 else part for j, part in enumerate(parts)
    )


def id_cell(called: str) -> str:
    """An id, in one piece unless it is long."""
    kind = "id long" if len(called) > _LONG else "id"
    return f'<span class="{kind}">{escape(called)}</span>'


def why_cell(why: list[dict[str, Any]], digits: int) -> str:
    """What the columns add to a score, as a list."""
    items = "".join(
        f"<li>{escape(text)} <span class='{'up' if value > 0 else 'down'}'>{number}</span></li>"
        for text, number, value in reason_words(why, digits)
    )
    return f'<ul class="why">{items}</ul>'


__all__ = ["Column", "id_cell", "marked", "sorted_table", "why_cell"]
