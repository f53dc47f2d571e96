"""Good arguments of every function of the core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from toprank import _core
from toprank._core import (
    ActiveSet,
    BufferedDescent,
    CombinedDescent,
    DualDescent,
    ExponentialPairs,
    Matrix,
    MomentDescent,
    PairDescent,
    PairRanks,
    PairSampler,
    PairScan,
    PairSteps,
    ProximalDescent,
    StumpTable,
    Trees,
    WideDescent,
)

N, D = 6, 3
ROWS, POSITIVES, NEGATIVES = np.arange(N), np.array([0, 1]), np.array([2, 3, 4, 5])
ONES, W, X = np.ones(N), np.full(D, 0.1), np.random.default_rng(0).normal(size=(N, D))
TILT = np.where(ROWS < 2, 0.5, -0.25)
SIGNS = np.where(ROWS < 2, 1.0, -1.0)
SIDE = ("logistic", 1.0, 1.0, 0.0, 0.0)
P, Q = np.full(2, 0.5), np.full(4, 0.25)
INIT = "__init__"
#: A tree of one split on a number, one on a category, and a leaf.
TREES: list[Any] = [
    np.array([0, 1, -1, -1, -1], np.int32),
    np.zeros(5),
    np.array([1, 2, 0, 0, 0], np.int32),
    np.array([4, 3, 0, 0, 0], np.int32),
    np.zeros(5, bool),
    np.zeros(5, bool),
    np.array([-1, 0, -1, -1, -1], np.int32),
    np.zeros(5),
    np.ones(5),
    np.array([0, 5]),
    np.array([0, 0, 2, 2]),
    np.array([0.0, 1.0]),
    np.array([0, 1]),
    np.array([1], np.uint32),
    *(D, 0.5, False, False, False),
]


def matrix() -> Matrix:
    return Matrix.dense(X)


def csr() -> Matrix:
    return Matrix.csr(*csr_arguments())


def csr_arguments() -> list[Any]:
    stored = sparse.csr_array(X)
    return [stored.data, stored.indices.astype(np.int64), stored.indptr.astype(np.int64), D]


def ranks() -> PairRanks:
    made = PairRanks(N, POSITIVES, None, NEGATIVES, None)
    made.slope(np.zeros(N))
    return made


def scan() -> PairScan:
    made = PairScan(N, POSITIVES, None, NEGATIVES, None)
    made.sort(np.arange(N) / N)
    made.slope(1.0)
    return made


def wide() -> WideDescent:
    made = WideDescent(csr(), TILT, SIDE, SIDE, True, False, 1)
    made.begin(None, 0.0)
    made.thin(1e-3, 2.0, 0)
    return made


def pairs() -> PairDescent:
    made = PairDescent(matrix(), 0)
    made.add(np.array([0, 1]), np.array([2, 3]), np.ones(2), np.zeros(2))
    return made


#: An object of each class, and good arguments of its methods.
OBJECTS: dict[str, tuple[Callable[[], Any], dict[str, list[Any]]]] = {
    "Matrix": (
        matrix,
        {
            "dense": [X],
            "csr": csr_arguments(),
            "scores": [W, ROWS, 1],
            "pull_back": [ONES, ROWS, 1],
            "gram": [ONES, ROWS, 1],
            "take": [ROWS],
            "squared_norms": [ROWS, 1],
            "first_unusable": [1e100, 1],
        },
    ),
    "Matrix of CSR": (
        csr,
        {
            "window_cross": [
                np.array([0, 1]),
                np.array([0, 0]),
                np.array([2, 4]),
                np.ones(2),
                NEGATIVES,
                np.ones(4),
            ],
            "inspect": [N * D, 1e100, 1],
        },
    ),
    "ActiveSet": (
        lambda: ActiveSet(np.ones(D)),
        {
            INIT: [np.ones(D)],
            "append": [X, ONES],
            "warm": [np.empty(0, np.int64)],
            "solve": [1e-6, 9],
        },
    ),
    "CombinedDescent": (
        lambda: CombinedDescent(W, 0, 1.0, "hinge", False),
        {
            INIT: [W, 0, 1.0, "hinge", False],
            "run": [matrix(), POSITIVES, NEGATIVES[:2], False],
        },
    ),
    "ProximalDescent": (
        lambda: ProximalDescent(W, 0, 1.0, 1.0, 1.0, 0.5),
        {
            INIT: [W, 0, 1.0, 1.0, 1.0, 0.5],
            "run": [matrix(), ROWS, SIGNS, ONES, 0.0, 0.0, ONES, ONES],
        },
    ),
    "MomentDescent": (
        lambda: MomentDescent(
            1.0, 1.0, True, W, W, np.ones(2), np.ones(2), np.zeros(2 * D), np.zeros(D * (D + 1))
        ),
        {
            INIT: [
                *(1.0, 1.0, True, W, W, np.ones(2), np.ones(2), np.zeros(2 * D)),
                np.zeros(D * (D + 1)),
            ],
            "run": [matrix(), ROWS, SIGNS, ONES],
        },
    ),
    "BufferedDescent": (
        lambda: BufferedDescent(
            1.0,
            2,
            False,
            0,
            W,
            np.zeros(2, np.int64),
            np.zeros(2),
            np.empty(0),
            np.empty(0),
            np.empty(0, np.int64),
            np.zeros(1, np.int64),
        ),
        {
            INIT: [
                *(1.0, 2, False, 0, W, np.ones(2, np.int64), np.ones(2), np.ones(2), np.ones(2)),
                *(np.array([0, 1]), np.array([0, 1, 2])),
            ],
            "run": [matrix(), ROWS, SIGNS, ONES],
        },
    ),
    "DualDescent": (
        lambda: DualDescent(matrix(), POSITIVES, NEGATIVES, P, Q, 1.0, "squared_hinge", False, 0),
        {
            INIT: [matrix(), POSITIVES, NEGATIVES, P, Q, 1.0, "squared_hinge", False, 0, 0.0],
            "restart": [np.zeros(N), 0.0],
            "epoch": [0.5],
            "sweep_hard": [1],
            "update_bias": [1.0],
            "check": [1],
            "rebuild": [1.0],
        },
    ),
    "PairDescent": (
        pairs,
        {
            INIT: [matrix(), 0],
            "add": [np.array([0, 1]), np.array([2, 3]), np.ones(2), np.zeros(2)],
            "set_bounds": [np.ones(2)],
            "scale": [0.5],
            "solve": [1e-6, 9, 9],
        },
    ),
    "PairSampler": (
        lambda: PairSampler(matrix(), POSITIVES, NEGATIVES, 0.5, 0),
        {
            INIT: [matrix(), POSITIVES, NEGATIVES, 0.5, 0],
            "draw": [W, 2, "random", "auto", 1],
            "envelope_rows": [W, "soft-close", 1],
        },
    ),
    "WideDescent": (
        wide,
        {
            INIT: [csr(), TILT, SIDE, SIDE, True, False, 1],
            "begin": [W, 0.0],
            "place": [ONES, 0.0],
            "sweep": [1.0, 0.0, 1, 0.1, 0],
            "thin": [1e-3, 2.0, 0],
            "step": [np.ones(D + 1), 1.0, 0.5, 0.1, 5],
            "advance": [np.ones(D + 1), 0.0, 1.0, -1.0, 0.5],
        },
    ),
    "PairRanks": (
        ranks,
        {
            INIT: [N, POSITIVES, np.ones(2), NEGATIVES, np.ones(4)],
            "slope": [ONES],
            "curvature": [ONES],
            "search": [ONES, ONES, -1.0, 0.0, 1.0, 0.5, 1.0],
            "thinned": [2.0],
        },
    ),
    "PairSteps": (
        lambda: PairSteps(csr(), False, 1),
        {
            INIT: [csr(), False, 1],
            "step": [ranks(), W, 1.0, 0.0, 0.5, 0.1, 5],
            "sweep": [TILT, 1.0, 1, 0.1, 0],
        },
    ),
    "PairScan": (
        scan,
        {
            INIT: [N, POSITIVES, np.ones(2), NEGATIVES, np.ones(4)],
            "sort": [ONES],
            "value": [1.0],
            "slope": [1.0],
            "balance": [1.0, 1.0],
            "quantile": [0.5, False],
            "marginals": [0.0],
            "list": [0.0, 1.0, 9],
            "windows": [True],
            "curvature": [ONES],
            "positives": [1],
            "negatives": [1],
        },
    ),
    "StumpTable": (
        lambda: StumpTable(matrix(), ROWS, 1),
        {
            INIT: [matrix(), ROWS, 1],
            "edges": [ONES, 1],
            "best_edge": [ONES, 0],
            "decreases": [ONES, 2, 1.0, 1],
            "best_decrease": [ONES, 2, 1.0, 0],
            "column": [0, 1, False],
            "levels": [0],
        },
    ),
    "Trees": (
        lambda: Trees(*TREES),
        {
            INIT: TREES,
            "scores": [matrix(), np.array([1]), 1],
            "contributions": [matrix(), 1],
        },
    ),
    "ExponentialPairs": (
        lambda: ExponentialPairs(ONES, 2, 1.0),
        {INIT: [ONES, 2, 1.0], "move": [ONES, 0.5], "exact_step": [ONES, 1.0]},
    ),
}
#: Methods and functions without arguments.
BARE = {
    *("DualDescent.settle", "DualDescent.subspace_step", "DualDescent.verify", "PairDescent.epoch"),
    *("WideDescent.pull", "PairScan.bent_rows", "ExponentialPairs.edge_weights"),
}
FUNCTIONS: dict[str, list[Any]] = {
    "project_balanced": [ONES, ONES],
    "row_sums": [matrix(), TILT, SIDE, SIDE, W, 0.0, False, True, True, False, 0.0, 1],
    "row_terms": [ONES, TILT, SIDE, SIDE, 1],
    "span_minimum": [
        *([ONES], np.ones((1, 1)), np.ones(1), 0.0, TILT, SIDE, SIDE, False, 0.1, 1),
        *(np.ones(1), 1),
    ],
    "highest_rows": [ONES, TILT, 2],
    "row_losses_along": [ONES, ONES, 0.5, TILT, SIDE, SIDE, 1],
    "thin_rows": [ONES, ONES, 1.0, TILT, SIDE, SIDE, 2.0, 0, 1],
    "row_sides": [TILT],
    "rows_of_places": [TILT, np.array([0]), np.array([1])],
    "group_moments": [matrix(), np.zeros(N, np.int32), 1, ONES, 1],
    "pair_moments": [matrix(), POSITIVES, NEGATIVES[:2], np.ones(2), 1],
    "moment_depth": [N, D, 1],
    "svmlight_rows": [np.frombuffer(b"1 1:0.5\n", np.uint8), 1, 9, 1],
    "urn_quantiles": [5, 4, np.array([1, 2]), 0.9, True],
    "urn_crossing": [3, 4, np.array([0, 1]), np.array([0, 1]), np.array([2, 3])],
}


def _same(kind: Any) -> Any:
    return kind


def _method(make: Callable[[], Any], name: str) -> Any:
    return getattr(make(), name)


def calls(name: str) -> Iterator[tuple[str, Callable[[], Any], list[Any]]]:
    """The functions of a class, or the function of this name: its label, a getter, arguments."""
    if name in FUNCTIONS:
        yield name, partial(getattr, _core, name), FUNCTIONS[name]
        return
    make, methods = OBJECTS[name]
    kind = type(make())
    for method, arguments in methods.items():
        if method == INIT:
            yield f"{name}.{method}", partial(_same, kind), arguments
        else:
            yield f"{name}.{method}", partial(_method, make, method), arguments
