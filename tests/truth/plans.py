"""Sums over rows and columns of a table with caps, by linear programs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from toprank.inputs.class_split import Split

Array = NDArray[np.float64]


def _sums(m: int, n: int) -> sparse.csr_matrix:
    """What adds up the rows, then the columns, of a table of m by n entries."""
    rows = sparse.kron(sparse.eye(m), np.ones((1, n)))
    columns = sparse.kron(np.ones((1, m)), sparse.eye(n))
    return sparse.vstack([rows, columns]).tocsr()


def undelivered(split: Split, v: Array) -> float:
    """What of these sums no duals of the pairs, each at most p_i q_j, can have; a share of it."""
    m, n = len(split.pos), len(split.neg)
    total = float(v[split.neg].sum())
    solution = linprog(  # in units of the whole, for the program's own tolerances are absolute
        -np.ones(m * n),
        A_ub=_sums(m, n),
        b_ub=np.concatenate([-v[split.pos], v[split.neg]]) / total,
        bounds=np.column_stack([np.zeros(m * n), np.outer(split.p, split.q).ravel() / total]),
    )
    return 1.0 + float(solution.fun)


def least_move(caps: Array, sums: Array) -> float:
    """How far the sums of a table of mass one, its entries within their caps, are from these.

    The sums over rows come first, then those over columns; the distance is that of the 1-norm.
    """
    m, n = caps.shape
    apart = sparse.eye(m + n)
    solution = linprog(  # what is added, what is taken off, and the table
        np.r_[np.ones(2 * (m + n)), np.zeros(m * n)],
        A_eq=sparse.vstack(
            [
                sparse.hstack([apart, -apart, -_sums(m, n)]),
                np.r_[np.zeros(2 * (m + n)), np.ones(m * n)][np.newaxis],
            ]
        ),
        b_eq=np.r_[-sums, 1.0],
        bounds=[(0.0, None)] * (2 * (m + n)) + [(0.0, cap) for cap in caps.ravel()],
    )
    return float(solution.fun)
