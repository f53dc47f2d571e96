"""The verbs of a design, with the truth of each in NumPy, and designs over others."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from toprank.designs import Ask, Design, PairDesign, ScaledDesign, Windows
from toprank.inputs.class_split import RowWeights
from toprank.losses import RowLoss
from toprank.surrogates import SURROGATES

N = 23
RNG = np.random.default_rng(0)
#: Three columns with zeros, one without, one constant, one far from zero.
X = np.column_stack(
    [
        RNG.integers(-3, 4, size=(N, 3)) * (RNG.random((N, 3)) < 0.5) / 4.0,
        RNG.integers(1, 5, N) / 4.0,
        np.full(N, 2.0),
        1000.0 + RNG.integers(-2, 3, N) / 4.0,
    ]
)
W = np.array([1.0, -2.0, 0.5, 0.0, -1.0, 0.25])
V = (np.arange(N) - 9.0) / 4.0
C = (np.arange(N) % 5 / 2.0) ** 2
ROWS = np.array([7, 0, 7, 22])
#: The first and the third row with a weight above zero, the second below twice, and the fifth.
DRAWN = np.sort([*np.flatnonzero(V > 0)[[0, 2]], *np.flatnonzero(V < 0)[[1, 1, 4]]])
GROUP = (np.arange(N) % 3 - 1).astype(np.int32)
#: Pairs, some of which have one point only: -1 is the last row of X and a row of zeros.
FIRST = RNG.integers(-1, N, N)
SECOND = np.where(FIRST == -1, 4, RNG.integers(-1, N, N))
COLUMNS, SCALE = np.array([0, 2, 3, 5]), np.array([0.5, 2.0, -1.0, 4.0])
LOW, OFFSET = np.array([0.25, 0.0, -0.5, 999.0]), np.array([0.0, 0.0, 0.0, 0.25, 2.0, 1000.0])
MOVABLE = (X != 0).all(axis=0)
WINDOWS = Windows(
    rows=np.array([0, 3, 4, 8]),
    weights=np.array([1.0, 0.5, 2.0, 1.0]),
    first=np.array([0, 0, 2, 4]),
    last=np.array([0, 3, 4, 4]),
    others=np.array([1, 2, 5, 6, 7]),
    other_weights=np.array([1.0, 2.0, 0.25, 1.0, 4.0]),
)

TERMS = RowLoss(C, SURROGATES["squared_hinge"])

Verb = tuple[Callable[[Any], Any], Callable[[Any], Any]]


def window_gram(X: Any) -> Any:
    """The sum over the pairs of the windows, one by one."""
    w, total = WINDOWS, np.zeros((X.shape[1], X.shape[1]))
    for a, x in enumerate(X[w.rows]):
        for b in range(w.first[a], w.last[a]):
            z = x - X[w.others[b]]
            total += w.weights[a] * w.other_weights[b] * np.outer(z, z)
    return total


def moments(X: Any, v: Any) -> list[Any]:
    """The weight, the mean and the scatter of rows with weights v."""
    mean = v @ X / v.sum()
    return [v.sum(), mean, (v * (X - mean).T) @ (X - mean)]


def found(moments: Any) -> list[Any]:
    """The same of what a design has found."""
    assert all((one.square >= np.diag(one.scatter)).all() and one.depth > 0 for one in moments)
    return [
        part
        for one in moments
        for part in (one.weight, one.mean + (0 if one.shift is None else one.shift), one.scatter)
    ]


def drawn(design: Any) -> Any:
    """The rows of DRAWN, by their places among those of their side."""
    return design.drawn(RowWeights(V), np.array([0, 2]), np.array([1, 1, 4]))


def sums_of(sums: Any) -> list[Any]:
    """What came back, one by one."""
    return [sums.value, sums.pull, sums.slope]


def hinge_sums(s: Any, X: Any) -> list[Any]:
    """The same of the squared hinge, sum of C [1 - s]_+^2, written out."""
    below = np.maximum(1.0 - s, 0.0)
    v = -2.0 * C * below
    return [C @ below**2, X.T @ v, v.sum()]


def written_out(differences: tuple[Design, Any, Any]) -> Any:
    """The differences of rows, one by one."""
    base, first, second = differences
    with_none = np.vstack([base.take(np.arange(base.shape[0])), np.zeros(base.shape[1])])
    return with_none[first] - with_none[second]


#: What any design can do: the verb, and what it should give of the matrix that it stands for.
VERBS: dict[str, Verb] = {
    "differences": (lambda design: [written_out(design.differences())], lambda X: [X]),
    "scores": (
        lambda design: [design.scores(w_of(design)), design.scores(w_of(design), ROWS)],
        lambda X: [X @ w_of(X), X[ROWS] @ w_of(X)],
    ),
    "pull_back": (
        lambda design: [design.pull_back(V), design.pull_back(V[:4], ROWS)],
        lambda X: [X.T @ V, X[ROWS].T @ V[:4]],
    ),
    "gram": (
        lambda design: [design.gram(C), design.gram(C[:4], ROWS)],
        lambda X: [(C * X.T) @ X, (C[:4] * X[ROWS].T) @ X[ROWS]],
    ),
    "gram_diagonal": (
        lambda design: [design.gram_diagonal(C), design.gram_diagonal(C[:4], ROWS)],
        lambda X: [C @ X**2, C[:4] @ X[ROWS] ** 2],
    ),
    "window_gram": (
        lambda design: [design.window_gram(WINDOWS)],
        lambda X: [window_gram(X)],
    ),
    "group_moments": (
        lambda design: found(design.group_moments(GROUP, 2, C) + design.group_moments(GROUP, 2)),
        lambda X: [
            part
            for v in (C, np.ones(N))
            for group in (0, 1)
            for part in moments(X[group == GROUP], v[group == GROUP])
        ],
    ),
    "parts": (
        lambda design: [np.vstack([dense(part) for _, _, part in design.parts()])],
        lambda X: [X],
    ),
    "drawn": (
        lambda design: [dense(drawn(design)[0]), drawn(design)[1]],
        lambda X: [X[DRAWN], V[DRAWN]],
    ),
    "subset": (
        lambda design: [design.subset(ROWS).take(np.arange(4))],
        lambda X: [X[ROWS]],
    ),
    "squared_norms": (
        lambda design: [design.squared_norms(), design.squared_norms(ROWS)],
        lambda X: [(X**2).sum(axis=1), (X[ROWS] ** 2).sum(axis=1)],
    ),
    "weighted_norms": (
        lambda design: [
            design.weighted_norms(w_of(design) ** 2),
            design.weighted_norms(w_of(design) ** 2, ROWS),
        ],
        lambda X: [X**2 @ w_of(X) ** 2, X[ROWS] ** 2 @ w_of(X) ** 2],
    ),
    "absolute_scores": (
        lambda design: [design.absolute_scores(w_of(design))],
        lambda X: [np.abs(X) @ np.abs(w_of(X))],
    ),
    "absolute_pull_back": (
        lambda design: [design.absolute_pull_back(V)],
        lambda X: [np.abs(V) @ np.abs(X)],
    ),
    "take": (
        lambda design: [design.take(ROWS), design.take(ROWS[:0])],
        lambda X: [X[ROWS], X[:0]],
    ),
    "by_columns": (
        lambda design: [
            reader.dense(k)
            for reader in (design.by_columns(), design.by_columns(ROWS))
            for k in range(design.shape[1])
        ],
        lambda X: [*X.T, *X[ROWS].T],
    ),
    "reduce": (
        lambda design: sums_of(design.reduce(Ask(TERMS, w_of(design)))),
        lambda X: hinge_sums(X @ w_of(X), X),
    ),
    "column_ranges": (
        lambda design: [*design.column_ranges(), *design.column_ranges(ROWS)],
        lambda X: [X.min(axis=0), X.max(axis=0), X[ROWS].min(axis=0), X[ROWS].max(axis=0)],
    ),
}

#: What a matrix in memory can do besides.
VERBS_IN_MEMORY: dict[str, Verb] = {
    "norms": (
        lambda design: [design.norms],
        lambda X: [np.sqrt((X**2).sum(axis=1))],
    ),
    "stored_columns": (
        lambda design: [design.stored_columns()[0].scores(W, ROWS, 1)],
        lambda X: [X[ROWS] @ W],
    ),
    "by_rows": (
        lambda design: [design.by_rows().scores(W, ROWS, 1)],
        lambda X: [X[ROWS] @ W],
    ),
    "on_threads": (
        lambda design: [design.on_threads(2).scores(W), pickle.loads(pickle.dumps(design)).X @ W],
        lambda X: [X @ W, X @ W],
    ),
    "pair_moments": (
        lambda design: found(design.pair_moments(np.arange(9), np.arange(9, 18))),
        lambda X: moments(X[:9] - X[9:18], np.ones(9)),
    ),
    "shifted": (
        lambda design: [dense(design.shifted(OFFSET)), design.shifted(OFFSET).offset],
        lambda X: [X - OFFSET, OFFSET],
    ),
    "rescaled": (
        lambda design: [dense(design.rescaled(COLUMNS, np.where(MOVABLE[COLUMNS], LOW, 0), SCALE))],
        lambda X: [(X[:, COLUMNS] - np.where(MOVABLE[COLUMNS], LOW, 0)) * SCALE],
    ),
    "centred": (
        lambda design: [dense(design.centred()), dense(design.centred(np.array([3, 5])))],
        lambda X: [without_offset(X, np.arange(N)), without_offset(X, np.array([3, 5]))],
    ),
    "first_unusable": (
        lambda design: [design.first_unusable(limit) or (-1, -1) for limit in (1e4, 1000.0)],
        lambda X: [(-1, -1), (np.argmax(X[:, 5] > 1000.0), 5)],
    ),
}


def w_of(matrix: Any) -> Any:
    """A weight for each column."""
    return W[: matrix.shape[1]]


def dense(design: Design) -> Any:
    """The matrix that a design stands for."""
    return design.take(np.arange(design.shape[0]))


def without_offset(X: Any, rows: Any) -> Any:
    """X less the median of these rows in its far column."""
    return X - np.array([0, 0, 0, 0, 0, np.sort(X[rows, 5])[len(rows) // 2]])


#: Designs over another, and the matrix that each stands for.
KINDS: dict[str, Verb] = {
    "plain": (lambda design: design, lambda X: X),
    "centred": (lambda design: design.centred(), lambda X: without_offset(X, np.arange(N))),
    "pairs": (
        lambda design: PairDesign(design, FIRST, SECOND),
        lambda X: np.vstack([X, 0 * X[:1]])[FIRST] - np.vstack([X, 0 * X[:1]])[SECOND],
    ),
    "scaled": (
        lambda design: ScaledDesign(design, COLUMNS, SCALE),
        lambda X: X[:, COLUMNS] * SCALE,
    ),
}
