"""Comparison of two files of results of the net."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tables

LEAST_SECONDS = 3e-3  # cells that were faster before are not timed
SLOW = 1.5  # a cell above this ratio is named
MOST_MEAN = 1.10  # a family's geometric mean may not exceed this
MOST_MEMORY = 1.10
LEAST_BYTES = 1e6  # growth below this is noise
ROUNDING = 1e-9  # of the objective
SHOWN = 30

Result = dict[str, Any]


@dataclass
class Comparison:
    """Findings, each a list of lines or of rows of a table."""

    cells: int = 0
    worse: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same_bits: int = 0
    ratios: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    times: dict[str, tuple[float, float]] = field(default_factory=dict)
    memory: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def slow(self) -> dict[str, float]:
        """Cells above the largest ratio that needs no explanation, slowest first."""
        every = {key: value for of in self.ratios.values() for key, value in of.items()}
        ordered = sorted(every.items(), key=lambda item: -item[1])
        return {key: value for key, value in ordered if value > SLOW}

    @property
    def slow_families(self) -> list[str]:
        """Families whose geometric mean is too large."""
        means = {name: tables.geometric_mean(of.values()) for name, of in self.ratios.items()}
        return [name for name, mean in means.items() if mean > MOST_MEAN]

    @property
    def larger(self) -> list[str]:
        """Cells whose peak memory grew too much."""
        return [
            key
            for key, (before, after) in self.memory.items()
            if after > MOST_MEMORY * before and after - before > LEAST_BYTES
        ]

    @property
    def failed(self) -> bool:
        """True if anything found must stop a change, or if there was nothing to compare."""
        return bool(
            not self.cells or self.worse or self.errors or self.slow_families or self.larger
        )


def read(path: Path) -> dict[str, Result]:
    """Read results by cell; a later line replaces an earlier one of the same cell."""
    if not path.exists():
        return {}
    results = {}
    for line in path.read_text().splitlines():
        try:
            result = json.loads(line)
        except json.JSONDecodeError:
            continue  # a line that an interruption cut short
        results[result["key"]] = result
    return results


def compare(before: dict[str, Result], after: dict[str, Result]) -> Comparison:
    """Compare the cells that both have."""
    found = Comparison()
    found.missing = [key for key in before if key not in after]
    for key, old in before.items():
        if key in after:
            found.cells += 1
            _compare_cell(found, key, old, after[key])
    return found


def _compare_cell(found: Comparison, key: str, old: Result, new: Result) -> None:
    if old.get("error") or new.get("error"):
        if new.get("error") and not old.get("error"):
            found.errors.append(f"{key}: {new['error']}")
        elif old.get("error") != new.get("error"):
            found.notes.append(f"{key}: {old['error']} -> {new.get('error') or 'no error'}")
        return
    added = sorted(set(new["warnings"]) - set(old["warnings"]))
    if added:
        found.notes.append(f"{key}: new {', '.join(added)}")
    if old["solver"] != new["solver"]:
        found.notes.append(f"{key}: solver {old['solver']} -> {new['solver']}")
    _compare_objectives(found, key, old, new)
    if old["hash"] == new["hash"]:
        found.same_bits += 1
    elif old["dual"] is None or not _converged(old):  # no gap, or one too wide to be a check
        found.changed.append(f"{key}: coefficients by {difference(old, new):.1e}")
    if "peak" in old:
        found.memory[key] = old["peak"], new["peak"]
    elif old["seconds"] >= LEAST_SECONDS:
        found.times[key] = old["seconds"], new["seconds"]
        found.ratios[old["family"]][key] = new["seconds"] / old["seconds"]


def _compare_objectives(found: Comparison, key: str, old: Result, new: Result) -> None:
    p, q = old["primal"], new["primal"]
    if p is None or q is None or old["dual"] is None:
        return
    size = max(abs(p), abs(q))
    allowed = max(_gap(old), _gap(new)) + ROUNDING * size
    line = f"{key}: {p:.10g} -> {q:.10g}, gaps {_gap(old):.1e} and {_gap(new):.1e}"
    if not math.isfinite(q) and math.isfinite(p):
        found.worse.append(line)
    elif abs(q - p) > allowed:
        within = abs(q - p) <= (old["tol"] or 0.0) * size and _converged(old) and _converged(new)
        (found.apart if within or q < p else found.worse).append(line)
    elif _converged(old) and not _converged(new):
        found.worse.append(f"{line}; tolerance {new['tol']:g} no longer reached")


def _gap(result: Result) -> float:
    return abs(result["primal"] - result["dual"]) if result["dual"] is not None else 0.0


def _converged(result: Result) -> bool:
    tol, gap = result["tol"], result["gap"]
    return tol is not None and gap is not None and gap <= 1.05 * tol


def difference(old: Result, new: Result) -> float:
    """Distance of two coefficient vectors, or of their projections, relative to their length."""
    pairs = list(zip(old["coef"], new["coef"], strict=False))
    if len(old["coef"]) != len(new["coef"]):
        return math.inf
    distance = math.sqrt(sum((a - b) ** 2 for a, b in pairs))
    length = math.sqrt(sum(a * a for a in old["coef"]))
    return distance / length if length else distance


def page(found: Comparison) -> str:
    """Return the comparison as Markdown."""
    parts = [
        f"{found.cells} cells; {found.same_bits} with the same bits in their coefficients. "
        f"Ratios are CPU time after / before, of cells that took {1e3 * LEAST_SECONDS:g} ms "
        "or more before.",
        _families(found),
        _slowest(found),
        _memory(found),
        _list(f"Cells above {SLOW}", [f"{key}: {value:.2f}" for key, value in found.slow.items()]),
        _list("Objectives worse beyond the certified gaps", found.worse),
        _list(
            "Objectives that contradict a certificate, within the tolerance or better", found.apart
        ),
        _list("New errors", found.errors),
        _list("Families above the largest mean", found.slow_families),
        _list("Memory cells that grew", found.larger),
        _list("New warnings, other solvers, other errors", found.notes),
        _list("Fits without a certificate, or beyond the tolerance, that changed", found.changed),
        _list("Cells that are missing after the change", found.missing),
        _verdict(found),
    ]
    return "\n\n".join(part for part in parts if part)


def _verdict(found: Comparison) -> str:
    missing = f", but {len(found.missing)} cells are missing" if found.missing else ""
    return f"Verdict: {'stop' if found.failed else 'go on'}{missing}."


def _families(found: Comparison) -> str:
    rows = [
        [name, str(len(of)), f"{tables.geometric_mean(of.values()):.3f}", f"{max(of.values()):.2f}"]
        for name, of in sorted(found.ratios.items())
    ]
    every = [value for of in found.ratios.values() for value in of.values()]
    if every:
        mean = f"{tables.geometric_mean(every):.3f}"
        rows.append(["all", str(len(every)), mean, f"{max(every):.2f}"])
    return tables.table(["family", "cells", "geometric mean", "largest"], rows)


def _slowest(found: Comparison) -> str:
    every = {key: value for of in found.ratios.values() for key, value in of.items()}
    worst = sorted(every, key=lambda key: -every[key])[:10]
    rows = [
        [key, *(f"{1e3 * seconds:.3g}" for seconds in found.times[key]), f"{every[key]:.2f}"]
        for key in worst
    ]
    return tables.table(["slowest cells", "before ms", "after ms", "ratio"], rows)


def _memory(found: Comparison) -> str:
    rows = [
        [key, tables.megabytes(before), tables.megabytes(after), f"{after / max(before, 1):.2f}"]
        for key, (before, after) in found.memory.items()
    ]
    return tables.table(["peak memory", "before MB", "after MB", "ratio"], rows) if rows else ""


def _list(title: str, lines: list[str]) -> str:
    if not lines:
        return f"{title}: none."
    shown = [f"* {line}" for line in lines[:SHOWN]]
    more = [f"* and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n".join([f"{title}: {len(lines)}.", "", *shown, *more])
