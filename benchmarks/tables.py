"""Markdown tables and the numbers in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is aligned to the left, the others to the right."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, rule, *rows))


def geometric_mean(values: Iterable[float]) -> float:
    """exp(mean(log values))."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def seconds(value: float) -> str:
    """Seconds to three significant digits."""
    return f"{value:.3g}" if value < 1 else f"{value:.2f}"


def ratio(value: float) -> str:
    """A ratio to two decimals, none where they say nothing."""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def exponent(value: float) -> str:
    """A power of ten such as an alpha, or a gap."""
    return f"{value:.0e}" if value else "0"


def gap(value: float) -> str:
    """A relative gap to two digits."""
    return f"{value:.1e}"


def megabytes(value: float) -> str:
    """Bytes as MB of 10^6."""
    return f"{value / 1e6:.1f}" if value < 1e8 else f"{value / 1e6:.0f}"


def verdict(reached: bool) -> str:
    """Whether an aim was reached."""
    return "reached" if reached else "missed"
