"""The positives, and the highest negatives, of rows that are elsewhere.

Solves, by, returns   as `highest_rows`
Given    a Problem with a loss of the highest negative alone, of a matrix on a cluster whose
         positives are few enough to be here.

The positives and the first negatives come in one round, and every further round brings the
highest negatives at the new w: what is solved in between is small, and costs no round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..designs import MemoryDesign, as_design
from ..losses import ThresholdLoss
from ..problems import Problem, Solution
from .cost import rows_a_round
from .highest_rows import LONGEST, HighestRows
from .watch import Watch

Rows = NDArray[np.int64]

#: Bytes of positives that the driver holds.
MOST_BYTES = 1 << 28
#: Negatives of the first list, from all over the rows.
_FIRST = 10_000
#: Those that a round adds, at the most and at the least: every part sends as many.
_ADDED, _LEAST_ADDED = 250, 50

#: The least gap that a round is asked for: below it rounding may keep a solver here at work for
#: long, and sums over all rows go on from there.
_FINEST = 1e-9


def far_highest_rows(
    problem: Problem,
    *,
    inner: Callable[..., Solution],
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 10_000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve by rounds of few rows; `inner` solves those here."""
    watch = watch or Watch(problem.design)
    return _FarHighestRows(problem, inner, tol, max_iter, watch, seed).run(start)


def fits_in_driver(problem: Problem) -> bool:
    """Whether the positives are few enough to be here."""
    n_pos, _ = cast(ThresholdLoss, problem.loss).split.counts
    n, d = problem.design.shape
    a_row = min(8.0 * d, 12.0 * problem.design.n_entries / max(n, 1))
    return n_pos * (a_row + 32.0) <= MOST_BYTES


class _FarHighestRows(HighestRows):
    finest = _FINEST

    def __init__(
        self,
        problem: Problem,
        inner: Callable[..., Solution],
        tol: float,
        max_iter: int,
        watch: Watch,
        seed: int,
    ) -> None:
        self.problem, self.inner, self.tol, self.seed = problem, inner, tol, seed
        self.max_iter, self.watch = max_iter, watch
        self.design, self.loss = problem.design, cast(ThresholdLoss, problem.loss)
        self.added = min(_ADDED, max(_LEAST_ADDED, rows_a_round(self.design)))
        self.m, there = self.loss.split.counts
        self.listed = min(there, _FIRST)
        rng = np.random.default_rng(seed)
        places = (np.arange(self.listed) + rng.random(self.listed)) * (there / self.listed)
        drawn, tilt = self.design.drawn(
            self.loss.rows, np.arange(self.m), np.minimum(places.astype(np.int64), there - 1)
        )
        X, positive = cast(MemoryDesign, drawn).X, tilt > 0.0
        self.positives: Any = X[positive]
        self.negatives: Any = X[~positive]
        self.p = tilt[positive] / tilt[positive].sum()
        self.rows = np.full(LONGEST + _ADDED, -1, dtype=np.int64)

    def _few(self) -> MemoryDesign:
        return as_design(_stacked([self.positives, self.negatives]), self.design.n_threads)

    def _strike(self, kept: Rows) -> None:
        self.negatives = self.negatives[kept]

    def _append(self, rows: Rows) -> None:
        if not len(rows):
            return
        if sparse.issparse(self.negatives):
            more = cast(MemoryDesign, self.design.subset(rows)).X
        else:
            more = self.design.take(rows).astype(self.negatives.dtype, copy=False)
        self.negatives = _stacked([self.negatives, more])


def _stacked(blocks: list[Any]) -> Any:
    if any(sparse.issparse(one) for one in blocks):
        return sparse.vstack(blocks, format="csr")
    return np.concatenate(blocks)


__all__ = ["far_highest_rows", "fits_in_driver"]
