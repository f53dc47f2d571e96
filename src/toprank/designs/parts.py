"""What a part of the rows answers: blocks of a matrix, ranges of a file, parts on workers.

`reduce_part` is the one kernel of all of them. Given the rows of a part, their weights and an
`Ask`, it returns `Sums`; sums of parts add up, in the order of the rows, to those of all. So the
answer is the same to the bit whoever took which part, and depends on where the parts begin only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Matrix, row_losses_along, row_sums, row_terms, thin_rows
from ..surrogates import CompiledRows
from .reduction import Ask, Floats, Highest, RowBounds, Sums

Array = NDArray[np.float64]


def reduce_part(
    matrix: Matrix,
    tilt: Array,
    ask: Ask,
    n_threads: int,
    first: int = 0,
    longest: float | None = None,
) -> Sums:
    """The sums over the rows of a part.

    Parameters
    ----------
    matrix : Matrix
        The rows of the part.
    tilt : ndarray
        Their weights, below zero for negatives; zero for rows of no class.
    ask : Ask
        What is asked; of its loss only the scalar losses are looked at, so that
        `CompiledRows.alone` will do.
    n_threads : int
        Threads to use; the result does not depend on it.
    first : int
        The number that the first row of the part has among all rows.
    longest : float or None
        The length of the longest row, if it is known: it saves a pass over the rows where the
        highest are asked for.
    """
    if ask.only_top:
        sums = Sums.none(ask)
    else:
        terms = ask.loss.compiled
        assert terms is not None
        sums = _sums(matrix, tilt, terms, ask, n_threads, first)
    if ask.highest:
        sums.highest, sums.top = _highest(matrix, tilt, ask, n_threads, first, longest)
    return sums


def _sums(
    matrix: Matrix, tilt: Array, terms: CompiledRows, ask: Ask, n_threads: int, first: int
) -> Sums:
    """Return the sums of one compiled pass."""
    kernel = tilt, terms.positives, terms.negatives
    more = ask.thin is not None or ask.along is not None
    numbers, pull, shifted, scores, squares = row_sums(
        matrix,
        *kernel,
        ask.w,
        float(ask.b),
        ask.shift,
        ask.scores or more,
        ask.squares or ask.thin is not None,
        ask.single,
        ask.per_length,
        n_threads,
    )
    value, slope, curvature, shift, bound, *rest, square_sum, depth = numbers
    sums = Sums(value, pull, slope, curvature)
    sums.shifted_pull, sums.shift, sums.bound = shifted, shift, bound
    sums.scores = scores if ask.scores else None
    sums.squares, sums.square_sum = squares if ask.squares else None, square_sum
    sums.depth = int(depth)
    sums.bounds = None if ask.per_length is None else RowBounds(*rest)
    if not more:
        return sums
    assert scores is not None
    if ask.thin is not None:
        assert squares is not None
        _thin(sums, matrix, kernel, ask, (scores, squares), n_threads, first)
    if ask.along is not None:
        by = matrix.scores(ask.along.w, None, n_threads) + ask.along.b
        by = by.astype(scores.dtype, copy=False)
        steps = ask.along.steps.tolist()
        found = [row_losses_along(scores, by, step, *kernel, n_threads) for step in steps]
        sums.line = np.array(found)
    return sums


def _thin(
    sums: Sums,
    matrix: Matrix,
    kernel: tuple[Array, Any, Any],
    ask: Ask,
    known: tuple[Floats, Floats],
    n_threads: int,
    first: int,
) -> None:
    """The Gram matrix of the rows that are kept of this part."""
    (scores, squares), thin = known, ask.thin
    assert thin is not None
    _, _, bends = row_terms(scores, *kernel, n_threads)
    rows: NDArray[np.int64] | None = None
    curvature = np.asarray(bends, dtype=np.float64)
    if not np.isfinite(thin.rate) and 2 * np.count_nonzero(curvature) < len(curvature):
        rows = np.flatnonzero(curvature)  # of a class that is rare, or rows that lose
        curvature = curvature[rows]
    if np.isfinite(thin.rate):
        measure = float((curvature * (0.5 + (0.5 / thin.typical) * squares)).sum())
        seed = (thin.seed * 1_000_003 + first) % 2**63  # parts draw numbers of their own
        wanted = thin.rate * measure
        rows, curvature = thin_rows(scores, squares, thin.typical, *kernel, wanted, seed, n_threads)
    d = len(ask.w)
    sums.thinned = np.empty((d + 1, d + 1))
    sums.thinned[:d, :d] = matrix.gram(curvature, rows, n_threads)
    sums.thinned[d, :d] = sums.thinned[:d, d] = matrix.pull_back(curvature, rows, n_threads)
    sums.thinned[d, d] = curvature.sum()
    sums.kept = len(curvature)


def _highest(
    matrix: Matrix, tilt: Array, ask: Ask, n_threads: int, first: int, longest: float | None
) -> tuple[Highest, float]:
    """The negatives with the highest scores, and what none of them can be above."""
    own = np.flatnonzero(tilt < 0)
    scores = matrix.scores(ask.w, None, n_threads)
    s, top = scores[own], -np.inf
    if ask.per_length is not None and len(own):
        rows, near = own, s
        if longest is not None:  # no other can be above the highest, whatever its length
            some = np.flatnonzero(s >= s.max() - ask.per_length * longest)
            rows, near = own[some], s[some]
        lengths = np.sqrt(matrix.squared_norms(rows, n_threads))
        top = float((near + ask.per_length * lengths).max())
    if len(s) > ask.highest:
        least = np.partition(s, len(s) - ask.highest)[len(s) - ask.highest]
        some = np.flatnonzero(s >= least)  # ties among them: the earlier rows are taken
        own, s = own[some], s[some]
    order = np.lexsort((own, -s))[: ask.highest]
    return Highest(s[order], own[order] + first, ask.highest), top


__all__ = ["reduce_part"]
