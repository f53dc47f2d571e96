"""Two million sparse rows beside two hundred thousand: memory, and cost per row."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from statistics import median

import numpy as np

import tables
from float32 import size
from memory import PeakMemory, in_fresh_process
from options import Options
from toprank import TopPush
from toprank.datasets import make_sparse_text_like

ALPHA = 1e-3
COLUMNS, WORDS = 1_000_000, 100
#: Rows, and how often they are fitted.
SIZES = ((200_000, 3), (2_000_000, 1))
MEMORY_AIM, COST_AIM = 8e9, 1.3

INTRODUCTION = """\
`make_sparse_text_like`, {columns} columns, {words} nonzeros a row, float32 values, int32 indices;
alpha 1e-3, gap 1e-4, one thread, each size in a process of its own. The smaller is fitted three
times (median), the larger once. "fit GB" is the peak of resident memory during the first fit
beyond what was there before it: the matrix is not in it."""


@dataclass(frozen=True)
class Scaled:
    """What fitting one size took."""

    rows: int
    matrix_bytes: int
    seconds: float
    passes: float
    gap: float
    peak: float

    @property
    def per_row(self) -> float:
        """Seconds a row."""
        return self.seconds / self.rows

    @property
    def per_row_and_pass(self) -> float:
        """Seconds a row and pass."""
        return self.per_row / self.passes

    def row(self) -> list[str]:
        """The size as a row of the table."""
        return [
            str(self.rows),
            f"{self.matrix_bytes / 1e9:.2f}",
            f"{self.peak / 1e9:.2f}",
            f"{self.passes:.1f}",
            tables.seconds(self.seconds),
            tables.gap(self.gap),
            f"{self.per_row * 1e6:.2f}",
            f"{self.per_row_and_pass * 1e9:.0f}",
        ]


def fit_size(rows: int, fits: int) -> Scaled:
    """Make and fit one size in this process."""
    X, y = make_sparse_text_like(
        rows, COLUMNS, words_per_row=WORDS, dtype=np.float32, random_state=0
    )
    few = np.concatenate([np.flatnonzero(y == label)[:20] for label in (0, 1)])
    seconds, peaks = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TopPush(ALPHA, n_threads=1, random_state=0).fit(X[few], y[few])
        for _ in range(fits):
            with PeakMemory() as peak:
                began = time.perf_counter()
                ranker = TopPush(ALPHA, n_threads=1, random_state=0).fit(X, y)
                seconds.append(time.perf_counter() - began)
            peaks.append(peak.beyond)
    return Scaled(
        rows,
        size(X),
        median(seconds),
        float(ranker.history_["passes"][-1]),
        ranker.certificate_.relative_gap,
        peaks[0],
    )


def report(options: Options) -> str:
    """Fit both sizes and write the section."""
    results = []
    for rows, fits in SIZES:
        results.append(in_fresh_process(fit_size, rows, fits))
        options.tell(f"scale: {rows} rows took {results[-1].seconds:.1f} s")
    small, large = results
    cost = large.per_row / small.per_row
    cost_per_pass = large.per_row_and_pass / small.per_row_and_pass
    aims = [
        [
            f"{large.rows} rows: GB beyond the matrix",
            f"{MEMORY_AIM / 1e9:g}",
            f"{large.peak / 1e9:.2f}",
            tables.verdict(large.peak < MEMORY_AIM),
        ],
        [
            "cost per row, larger over smaller",
            f"{COST_AIM:g}",
            tables.ratio(cost),
            tables.verdict(cost <= COST_AIM),
        ],
        ["cost per row and pass, larger over smaller", "", tables.ratio(cost_per_pass), ""],
    ]
    heads = ["rows", "X GB", "fit GB", "passes", "seconds", "gap", "us a row", "ns a row and pass"]
    return "\n\n".join(
        [
            "## Scale",
            INTRODUCTION.format(columns=COLUMNS, words=WORDS),
            tables.table(["aim", "at most", "measured", ""], aims),
            tables.table(heads, [result.row() for result in results]),
        ]
    )
