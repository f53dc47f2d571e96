"""Files: scoring of tables larger than memory, reading of svmlight texts, and the usual way.

    python benchmarks/files.py --folder FOLDER            # 5 GB each: takes half an hour and 8 GB
    python benchmarks/files.py --folder FOLDER --gb 0.2   # a minute

Writes benchmarks/FILES.md. Scores are compared too. What is made in the folder is deleted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import toprank
from toprank.files.svmlight import read_all

HERE = Path(__file__).resolve().parent
#: Rows that are written at a time; so many of these blocks both ways are compared on.
ROWS, BLOCKS = 400_000, 5
CITIES = ["Rome", "Paris", "Vienna", "Lisbon", "Oslo", "Athens", "Madrid", "Prague", "Riga", "Bern"]


def rows_of(seed: int) -> pa.Table:
    """Payments: an id, six numbers with gaps, two categories, a date."""
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(4, 1, ROWS).round(2)
    columns: dict[str, Any] = {
        "payment": pa.array([f"P{seed:04d}{k:07d}" for k in range(ROWS)]),
        "amount": pa.array(amount, mask=rng.random(ROWS) < 0.05),
    }
    for name in ("balance", "speed", "distance", "age"):
        columns[name] = pa.array(rng.standard_normal(ROWS))
    columns["items"] = pa.array(rng.integers(1, 20, ROWS))
    columns["city"] = pa.array(rng.choice(CITIES, ROWS), mask=rng.random(ROWS) < 0.02)
    columns["device"] = pa.array(rng.choice(["phone", "tablet", "desktop"], ROWS))
    days = np.datetime64("2025-01-01") + rng.integers(0, 300, ROWS)
    columns["day"] = pa.array(days)
    return pa.table(columns)


def write(path: Path, gigabytes: float, blocks: float = np.inf) -> int:
    """A file of so many gigabytes or blocks, of the same rows again and again; how many rows."""
    rows, written = rows_of(0), 0
    limit = gigabytes * 1e9
    if path.suffix == ".parquet":
        with parquet.ParquetWriter(path, rows.schema) as writer:
            while path.stat().st_size < limit and written < blocks * ROWS:
                writer.write_table(rows)
                written += ROWS
        return written
    with path.open("wb") as file:
        first = pa.BufferOutputStream()
        csv.write_csv(rows, first, csv.WriteOptions(quoting_style="needed"))
        text = first.getvalue().to_pybytes()
        body = text[text.index(b"\n") + 1 :]
        file.write(text[: text.index(b"\n") + 1].replace(b'"', b""))
        while file.tell() < limit and written < blocks * ROWS:
            file.write(body)
            written += ROWS
    return written


def run(*words: Any) -> tuple[float, float, float]:
    """Seconds, seconds of the processor and megabytes at the most, of a command."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *map(str, words)])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} ended with {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


PANDAS = """
import sys
import pandas as pd
import toprank
model, data, out = sys.argv[1:]
read = pd.read_parquet if data.endswith(".parquet") else pd.read_csv
table = read(data)
table["day"] = pd.to_datetime(table["day"])
ranker = toprank.load(model)
table["score"] = ranker.decision_function(table[list(ranker.feature_names_in_)])
table[["payment", "score"]].to_csv(out, index=False)
"""


def scoring(folder: Path, gigabytes: float, ending: str) -> list[str]:
    """A line of the table for a format: the large file by us, one of two million rows by both."""
    small, large = folder / f"small{ending}", folder / f"large{ending}"
    model, scores, others = folder / "model", folder / "scores.csv", folder / "others.csv"
    write(small, gigabytes, BLOCKS)
    ours = [run("-m", "toprank.cli", "score", model, small, "-o", scores) for _ in range(3)]
    theirs = [run("-c", PANDAS, model, small, others) for _ in range(3)]
    one, other = (pd.read_csv(path)["score"].to_numpy() for path in (scores, others))
    same = "the same" if np.array_equal(one, other) else f"to {np.abs(one - other).max():.1g}"
    n = write(large, gigabytes)
    size = large.stat().st_size / 1e9
    seconds, processor, megabytes = run("-m", "toprank.cli", "score", model, large, "-o", scores)
    for path in (small, large, scores, others):
        path.unlink()
    us, them = (min(cost[1] for cost in costs) for costs in (ours, theirs))
    memory = f"{megabytes:.0f} MB{'' if megabytes < 1000 else ' (missed: 1000)'}"
    return [
        f"| {ending[1:]} | {size:.1f} GB, {n:,} rows "
        f"| {seconds:.0f} s ({processor:.0f} s of the processor) "
        f"| {n / seconds:,.0f} | {memory} | {us:.1f} s | {them:.1f} s | {them / us:.1f} | {same} |"
    ]


def reading(folder: Path) -> list[str]:
    """Lines of the table of svmlight texts."""
    lines = []
    rng = np.random.default_rng(0)
    for name, density, columns, digits in (
        ("text, 4 digits", 0.002, 50_000, 4),
        ("counts", 0.002, 50_000, 0),
        ("numbers, 17 digits", 0.5, 100, 17),
    ):
        entries = int(density * columns)
        n = 2_000_000 // entries
        step = columns // entries  # one entry in every stretch of columns, so that they rise
        places = np.arange(entries) * step + rng.integers(0, step, (n, entries))
        values = rng.random(n * entries)
        if digits < 17:
            values = np.round(values, 4) if digits else np.ceil(5 * values)
        pointers = np.arange(n + 1, dtype=np.int32) * entries
        X = sparse.csr_array(
            (values, places.ravel().astype(np.int32), pointers), shape=(n, columns)
        )
        path = folder / "rows.svmlight"
        dump_svmlight_file(X, rng.integers(0, 2, n), str(path), zero_based=False)
        size = path.stat().st_size / 1e6
        ours, found = _best(lambda own=path: read_all(own.open("rb"))[0])
        theirs, expected = _best(lambda own=path: load_svmlight_file(str(own))[0])
        same = all(
            np.array_equal(getattr(found, part), getattr(expected, part))
            for part in ("data", "indices", "indptr")
        )
        path.unlink()
        lines.append(
            f"| {name} | {size:.0f} MB | {size / ours:.0f} MB/s | {size / theirs:.0f} MB/s "
            f"| {theirs / ours:.1f} | {'the same' if same else 'ANOTHER'} |"
        )
    return lines


def _best(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least seconds of the processor of three runs, and the result."""
    least = np.inf
    for _ in range(3):
        start = time.process_time()
        found = work()
        least = min(least, time.process_time() - start)
    return least, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--gb", type=float, default=5.0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    table = rows_of(1).to_pandas()
    table["day"] = pd.to_datetime(table["day"])
    table["bad"] = (
        table["amount"].fillna(0) + 20 * table["items"] + 200 * (table["city"] == "Rome")
    ) > 400
    head = table[:20_000].assign(bad=table["bad"].astype(int)[:20_000])
    head.to_csv(options.folder / "train.csv", index=False)
    words = ("fit", options.folder / "train.csv", "--label", "bad", "--id", "payment")
    run("-m", "toprank.cli", *words, "--model", "logistic", "-o", options.folder / "model")
    lines = [
        "# Files: larger than memory, and svmlight",
        "",
        f"`python benchmarks/files.py`, toprank {toprank.__version__}, {os.cpu_count()} cores.",
        "Where runs are compared it is the least of three, in seconds of the processor: the",
        "machine did other things too.",
        "",
        "## `toprank score`",
        "",
        "Ten columns (an id, six numbers with gaps, two categories, a date), logistic regression.",
        f"The large file by us; {BLOCKS * ROWS:,} of its rows by us and by `pandas.read_*`,",
        "`decision_function` and `to_csv`, both programs started from nothing.",
        "",
        "| | large file | whole run | rows a second | memory | ours | pandas | ratio | scores |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for ending in (".csv", ".parquet"):
        lines += scoring(options.folder, options.gb, ending)
        print(lines[-1], flush=True)
    lines += [
        "",
        "## svmlight",
        "",
        "| | size | ours | scikit-learn | ratio | matrix |",
        "|---|---|---|---|---|---|",
        *reading(options.folder),
    ]
    for name in ("train.csv", "model"):
        (options.folder / name).unlink()
    (HERE / "FILES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
