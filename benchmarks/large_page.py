"""LARGE.md, from what `large.py` found."""

from __future__ import annotations

import re
from typing import Any

HEAD = """# Files larger than memory

Written by `python benchmarks/large.py page FOLDER` from what the other steps of that script found.
A file of 20 float32 columns, uniform, one row in a hundred positive and moved. Memory is anonymous
memory (RssAnon, sampled every 20 ms): pages of the file that the system keeps are not among it.
Other work ran on the machine at the same time, a load of 8 to 15 on its two cores: seconds are
upper bounds, and what counts is passes, bytes and certificates. The file is as large as the disk
had room for, twice; memory is 24 GB."""


def page(found: dict[str, Any]) -> str:
    """The page."""
    parts = [HEAD, _machine(found["fits"]["machine"])]
    parts += [_converted(found), _fitted(found)]
    if "part" in found:
        parts.append(_in_memory(found["part"]))
    if "wide" in found:
        parts.append(_wide(found["wide"]))
    return "\n\n".join(parts) + "\n"


def _machine(told: str) -> str:
    """Processor, threads and versions; the load is that after the fits."""
    return re.sub(r", load [\d.]+ at the start", "", told)


def _gb(number: float) -> str:
    return f"{number / 1e9:.2f} GB"


def _converted(found: dict[str, Any]) -> str:
    lines = ["## Convert", ""]
    if "convert" in found:
        own = found["convert"]
        rows, first = own["rows"], own.get("first", 0)
        each = own["from"] / rows
        speed = each * (rows - first) / own["seconds"] / 1e6
        lines += [
            f"Parquet of {_gb(own['from'])}, {rows:,} rows, to {_gb(own['bytes'])} of arrays: "
            f"{own['seconds']:.0f} s for {rows - first:,} rows, {speed:.0f} MB of Parquet a "
            f"second, peak memory {_gb(own['peak'])}.",
        ]
        if first:
            lines += [
                "",
                f"The first {first:,} rows were written by a run that the system ended for want of "
                "memory: row groups that had been read stayed there, which they do no longer. The "
                "same command went on from there. A whole run in one was not measured.",
            ]
    return "\n".join(lines)


def _fitted(found: dict[str, Any]) -> str:
    own = found["fits"]
    rows = next(fit["rows"] for fit in own.values() if isinstance(fit, dict) and "rows" in fit)
    size = 80.0 * rows
    lines = [
        f"## Fits of {rows:,} rows, {_gb(size)}",
        "",
        f"A plain reading of the file, before the fits: {own['disk'] / 1e6:.0f} MB/s, so "
        f"{size / own['disk']:.0f} s a pass. The aim: less than 4 GB of memory.",
        "",
        "| method | passes | seconds | seconds a pass | of a plain reading | peak memory | gap "
        "| solver |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in ("TopPush", "RectPushApp", "BBR", "LogisticRank"):
        if name not in own:
            lines.append(f"| {name} | not measured | | | | | | |")
            continue
        fit = own[name]
        each = fit["seconds"] / fit["passes"]
        met = "" if fit["peak"] < 4e9 else " (missed)"
        lines.append(
            f"| {name} | {fit['passes']:.2f} | {fit['seconds']:.0f} | {each:.0f} | "
            f"{each * own['disk'] / size:.2f} | {_gb(fit['peak'])}{met} | {fit['gap']:.1e} | "
            f"{fit['solver']} |"
        )
    return "\n".join(lines)


def _in_memory(part: dict[str, Any]) -> str:
    lines = [
        f"## The first {part['rows']:,} rows, in memory and from the file",
        "",
        "Two certificates agree where their brackets overlap: each dual value is below the other's "
        "primal value.",
        "",
        "| method | primal in memory | from the file | dual in memory | from the file | brackets | "
        "seconds in memory | from the file | memory beyond the array | from the file |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ("TopPush", "RectPushApp", "BBR", "LogisticRank"):
        if name not in part:
            continue
        a, b = part[name]
        overlap = a["dual"] <= b["primal"] and b["dual"] <= a["primal"]
        lines.append(
            f"| {name} | {a['primal']:.10g} | {b['primal']:.10g} | {a['dual']:.10g} | "
            f"{b['dual']:.10g} | {'overlap' if overlap else 'DISAGREE'} | {a['seconds']:.1f} | "
            f"{b['seconds']:.1f} | {_gb(a['beyond'])} | {_gb(b['beyond'])} |"
        )
    return "\n".join(lines)


def _wide(found: dict[str, Any]) -> str:
    any_of = found["LogisticRank"]
    lines = [
        f"## Rows as wide as the url data's: {any_of['rows']:,} x 3,231,961",
        "",
        f"{any_of['entries'] / any_of['rows']:.0f} entries a row, {_gb(any_of['matrix'])} as CSR "
        f"in float32; alpha {any_of.get('alpha', 1e-6):g}, one thread. The logistic value is that "
        "of logistic regression at the weights found, ridge included. scikit-learn's solvers run "
        "with tol 1e-4; liblinear penalises the intercept.",
        "",
        "| fit | seconds | CPU seconds | memory beyond the matrix | of the matrix | "
        "logistic value | gap |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, fit in found.items():
        if name == "machine":
            continue
        if "seconds" not in fit:
            label = name if name[0].isupper() else f"scikit-learn, {name}"
            lines.append(f"| {label} | {fit['missed']} | | | | | |")
            continue
        label = name if name[0].isupper() else f"scikit-learn, {name}"
        value = "" if name == "TopPush" else f"{fit['logistic']:.8f}"
        gap = "" if fit["gap"] is None else f"{fit['gap']:.1e}"
        share = fit["beyond"] / fit["matrix"]
        lines.append(
            f"| {label} | {fit['seconds']:.1f} | {fit['cpu']:.1f} | {_gb(fit['beyond'])} | "
            f"{share:.2f} | {value} | {gap} |"
        )
    return "\n".join(lines)
