"""Faults that change nothing that may be asked for, each with the reason."""

from __future__ import annotations

from pathlib import Path

from .faults import Fault

#: A line for each: module, function, the change, the reason; between them this.
BAR = " | "
FILE = Path(__file__).with_name("equivalent.txt")


def key(module: str, fault: Fault) -> tuple[str, str, str]:
    """How a fault is named: by its words, for lines move."""
    words = f"{fault.before} -> {fault.after}"
    return module, fault.inside or "-", " ".join(words.split())


def explained() -> dict[tuple[str, str, str], str]:
    """The reasons."""
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            module, inside, rest = line.split(BAR, 2)
            change, reason = rest.rsplit(BAR, 1)
            found[module, inside, change] = reason
    return found


__all__ = ["BAR", "explained", "key"]
