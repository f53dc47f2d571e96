"""`toprank demo`: every command, shown and run on bundled data."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Any

import click

from .checks import confirm
from .output import print_line

#: Mails that can be looked at, of every list.
CAPACITY = 100
#: What it writes.
_FILES = (
    *("mails.csv", "new.csv", "answers.csv", "spam.toprank"),
    *("list.csv", "report.html", "report.json"),
)
#: One mail in three is new: not learnt from, and without its label.
_NEW = 3


def write_tables(folder: Path) -> tuple[int, int]:
    """mails.csv to learn from, new.csv to rank, answers.csv to see how it went; their lengths."""
    import numpy as np

    from ..datasets import load_spambase

    mails = load_spambase(as_frame=True)
    table = mails.data.copy()
    table.columns = [name.replace("_freq_", " ") for name in table.columns]
    table.insert(0, "mail", [f"mail-{k:04d}" for k in range(len(table))])
    table["spam"] = np.where(mails.target == 1, "yes", "no")
    order = np.random.default_rng(0).permutation(len(table))
    new, old = np.sort(order[: len(table) // _NEW]), np.sort(order[len(table) // _NEW :])
    table.iloc[old].to_csv(folder / "mails.csv", index=False)
    table.iloc[new].drop(columns="spam").to_csv(folder / "new.csv", index=False)
    table.iloc[new].to_csv(folder / "answers.csv", index=False)
    return len(old), len(new)


def demonstrate(output: str, *, force: bool = False) -> dict[str, Any]:
    """Fit, list, look at what came of it, compare and report."""
    folder = Path(output)
    there = [name for name in _FILES if (folder / name).exists()]
    if there:
        confirm(f"{folder} holds {', '.join(there)}", force=force)
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    old, new = write_tables(folder)
    print_line(f"{old:,} mails that people marked as spam or not: {folder / 'mails.csv'}")
    print_line(
        f"{new:,} new ones: {folder / 'new.csv'}. There is time to look at {CAPACITY} of them."
    )
    files = {name: str(folder / name) for name in ("mails.csv", "new.csv", "answers.csv")}
    model, listed = str(folder / "spam.toprank"), str(folder / "list.csv")
    report = str(folder / "report.html")
    learn = [files["mails.csv"], "--label", "spam", "--positive", "yes", "--id", "mail"]
    learn += ["--capacity", str(CAPACITY), "--list-size", str(new)]
    # Without a budget the race would take half a minute.
    _run("fit", *learn, "--budget", "10", "--calibrate", "0.4", "-o", model, "--force")
    _run("top", model, files["new.csv"], "-o", listed)
    for line in Path(listed).read_text(encoding="utf-8").splitlines()[:6]:
        print_line(f"  {line}")
    print_line("  ...")
    _run("evaluate", model, files["answers.csv"], "-k", str(CAPACITY))
    _run("compare", *learn, "--models", "head,rectpushapp", "--cv", "5", "--report", report)
    seconds = time.perf_counter() - start
    print_line(
        f"\n{seconds:.0f} seconds. Open {report} in a browser; {listed} is the list to act on."
    )
    return {"report": report, "list": listed, "model": model, "seconds": seconds}


def _run(*words: str) -> None:
    """A command, shown as it would be typed."""
    from .app import toprank

    print_line(f"\n$ toprank {shlex.join(words)}")
    context = click.get_current_context(silent=True)
    toprank.main(list(words), prog_name="toprank", standalone_mode=False, parent=context)


__all__ = ["CAPACITY", "demonstrate", "write_tables"]
