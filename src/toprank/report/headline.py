"""The headline: what to do, and what it brings, in rows of the list."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from .words import count_words, first_upper, title_of


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


__all__ = ["headline"]
