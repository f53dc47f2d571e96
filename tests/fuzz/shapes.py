"""Small training sets of nasty shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .extremes import extreme_columns, extreme_form, extreme_weights, strength

Array = NDArray[np.float64]
Rng = np.random.Generator

#: One problem in so many is larger, long or wide: exact sums over its pairs take seconds.
LARGE_ONE_IN = 80
LONG, WIDE = (300, 40), (24, 80)
#: What a float32 holds without overflow in the squares that NumPy makes of it.
LARGEST_FLOAT32 = 1e18


@dataclass
class Problem:
    """A training set and how it was made."""

    X: Any
    y: NDArray[np.int64]
    weight: Array | None
    story: list[str] = field(default_factory=list)
    #: A factor of every alpha that is drawn, and of radii one over its root.
    strength: float = 1.0

    def rows(self, some: slice) -> Any:
        """Some of the rows; formats that cannot be sliced become CSR."""
        return (self.X.tocsr() if sparse.issparse(self.X) else self.X)[some]

    @property
    def dense(self) -> Array:
        """The rows in float64, which holds every entry exactly."""
        rows = self.X.toarray() if sparse.issparse(self.X) else self.X
        return np.asarray(rows, dtype=np.float64)

    def __str__(self) -> str:
        n, d = self.X.shape
        return f"{n} x {d}, {int(self.y.sum())} positive: " + ", ".join(self.story)


def draw_problem(rng: Rng, *, extremes: bool = True) -> Problem:
    """A base, one to three things that make it nasty, weights, and a form in memory.

    Extremes are drawn by a generator of their own: without them a seed gives the problem that it
    gave before there were any.
    """
    n, d = int(rng.integers(4, 61)), int(rng.integers(1, 16))
    if rng.integers(LARGE_ONE_IN) == 0:
        n, d = LONG if n % 2 else WIDE
    y = _labels(rng, n)
    X, story = _base(rng, n, d)
    for part in (_signal(rng, X, y), *_nastiness(rng, X, y)):
        story += [part] if part else []
    if not extremes:
        weight = _weights(rng, y, story)
        return Problem(_form(rng, X, story), y, weight, story)
    other = rng.spawn(1)[0]
    story += extreme_columns(other, X, y)
    weight = extreme_weights(other, y, story)
    weight = _weights(rng, y, story) if weight is None else weight
    given = extreme_form(other, X, story)
    given = _form(rng, X, story) if given is None else given
    return Problem(given, y, weight, story, strength(other, X))


def _labels(rng: Rng, n: int) -> NDArray[np.int64]:
    positives = {0: 1, 1: n - 1, 2: n // 2}.get(
        int(rng.integers(6)), int(rng.integers(1, max(2, n // 2)))
    )
    return rng.permutation((np.arange(n) < positives).astype(np.int64))


def _base(rng: Rng, n: int, d: int) -> tuple[Array, list[str]]:
    kind = str(rng.choice(["normal", "normal", "uniform", "whole", "binary", "heavy", "mostly 0"]))
    X = {
        "normal": lambda: rng.normal(size=(n, d)),
        "uniform": lambda: rng.uniform(size=(n, d)),
        "whole": lambda: rng.integers(-2, 3, size=(n, d)).astype(np.float64),
        "binary": lambda: rng.integers(0, 2, size=(n, d)).astype(np.float64),
        "heavy": lambda: rng.standard_t(1.5, size=(n, d)),
        "mostly 0": lambda: rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2),
    }[kind]()
    return X, [kind]


def _signal(rng: Rng, X: Array, y: NDArray[np.int64]) -> str:
    """What the labels have to do with the rows."""
    kind = str(
        rng.choice(["none", "shift", "shift", "shift", "separable", "reversed", "inside", "same"])
    )
    if kind == "shift":
        X[y == 1] += rng.uniform(0.1, 2.0)
    elif kind == "separable":
        X[:, 0] = np.abs(X[:, 0]) * (2 * y - 1) + rng.choice([0.0, 0.1, 5.0]) * y
    elif kind == "reversed":
        X[:, 0] = -np.abs(X[:, 0]) * (2 * y - 1)
    elif kind == "inside":
        X[y == 1] = 0.01 * X[y == 1] + X[y == 0].mean(axis=0)
    elif kind == "same":
        rows = np.flatnonzero(y == 0)[: int(y.sum())]
        X[np.flatnonzero(y == 1)[: len(rows)]] = X[rows]
    return kind


def _power(rng: Rng, low: float, high: float) -> float:
    """Ten to a power between two."""
    return float(10.0 ** rng.uniform(low, high))


def _column_scales(rng: Rng, X: Array, y: Any) -> str:
    X *= 10.0 ** rng.uniform(-8, 8, X.shape[1])
    return "mixed scales"


def _wide_column(rng: Rng, X: Array, y: Any) -> str:
    wide = _power(rng, 3, 9)
    X[:, rng.integers(X.shape[1])] *= wide
    return f"a column {wide:.1e} times wider"


def _offset(rng: Rng, X: Array, y: Any) -> str:
    away = _power(rng, 2, 8)
    X += away
    return f"offset {away:.1e}"


def _some_offsets(rng: Rng, X: Array, y: Any) -> str:
    X += (rng.random(X.shape[1]) < 0.5) * 10.0 ** rng.uniform(2, 8, X.shape[1])
    return "some columns offset"


def _outlier(rng: Rng, X: Array, y: Any) -> str:
    big = _power(rng, 3, 7)
    X[rng.integers(len(X))] *= big
    return f"a row {big:.1e} times larger"


def _times(rng: Rng, X: Array, y: Any) -> str:
    X[:, rng.integers(X.shape[1])] = 1.6e9 + _power(rng, 3, 9) * rng.uniform(size=len(X))
    return "a column of Unix times"


def _ties(rng: Rng, X: Array, y: Any) -> str:
    X[:] = np.round(X, int(rng.integers(0, 2)))
    return "ties"


def _equal_rows(rng: Rng, X: Array, y: Any) -> str:
    X[:] = X[rng.integers(max(1, len(X) // 3), size=len(X))]
    return "equal rows"


def _equal_columns(rng: Rng, X: Array, y: Any) -> str:
    X[:] = X[:, rng.integers(max(1, X.shape[1] // 2), size=X.shape[1])]
    return "equal columns"


def _low_rank(rng: Rng, X: Array, y: Any) -> str:
    rank = int(rng.integers(1, max(2, X.shape[1])))
    X[:] = X[:, :rank] @ rng.normal(size=(rank, X.shape[1]))
    return f"rank {rank}"


def _nearly_collinear(rng: Rng, X: Array, y: Any) -> str:
    apart = _power(rng, -12, -3)
    X[:, -1] = X[:, 0] + apart * X[:, -1]
    return f"two columns {apart:.1e} apart"


def _zero_rows(rng: Rng, X: Array, y: Any) -> str:
    X[rng.random(len(X)) < 0.4] = 0.0
    return "zero rows"


def _zero_columns(rng: Rng, X: Array, y: Any) -> str:
    X[:, rng.random(X.shape[1]) < 0.4] = 0.0
    return "zero columns"


def _constant_column(rng: Rng, X: Array, y: Any) -> str:
    X[:, rng.integers(X.shape[1])] = rng.choice([1.0, 0.1, 1e8])
    return "a constant column"


def _overall(rng: Rng, X: Array, y: Any) -> str:
    size = _power(rng, *((-12, 12) if rng.random() < 0.7 else (-60, 60)))
    X *= size
    return f"all times {size:.1e}"


def _nothing(rng: Rng, X: Array, y: Any) -> str:
    return ""


MAKERS: list[Callable[[Rng, Array, Any], str]] = [
    _column_scales,
    _wide_column,
    _offset,
    _some_offsets,
    _outlier,
    _times,
    _ties,
    _equal_rows,
    _equal_columns,
    _low_rank,
    _nearly_collinear,
    _zero_rows,
    _zero_columns,
    _constant_column,
    _overall,
    _nothing,
]


def _nastiness(rng: Rng, X: Array, y: NDArray[np.int64]) -> list[str]:
    chosen = rng.choice(len(MAKERS), size=int(rng.integers(1, 4)), replace=False)
    return [MAKERS[k](rng, X, y) for k in chosen]


def _weights(rng: Rng, y: NDArray[np.int64], story: list[str]) -> Array | None:
    kind = str(rng.choice(["", "", "", "", "mild", "whole", "zeros", "extreme", "vanishing"]))
    n = len(y)
    if not kind:
        return None
    weight = {
        "mild": lambda: rng.uniform(0.5, 2.0, n),
        "whole": lambda: rng.integers(1, 5, n).astype(np.float64),
        "zeros": lambda: rng.uniform(0.5, 2.0, n) * (rng.random(n) < 0.6),
        "extreme": lambda: 10.0 ** rng.uniform(-12, 12, n),
        "vanishing": lambda: np.where(rng.random(n) < 0.3, 1e-300, rng.uniform(0.5, 2.0, n)),
    }[kind]()
    for label in (0, 1):  # a class without a weight is refused
        if not weight[y == label].any():
            weight[y == label] = 1.0
    if rng.random() < 0.2:  # every other entry of a longer vector
        kind, weight = f"strided {kind}", np.repeat(weight, 2)[::2]
    story.append(f"{kind} weights")
    return np.asarray(weight)


def _form(rng: Rng, X: Array, story: list[str]) -> Any:
    kind = str(rng.choice(["C", "C", "C", "F", "csr"]))
    single = rng.random() < 0.2 and np.abs(X).max(initial=0.0) < LARGEST_FLOAT32
    given = X.astype(np.float32) if single else X
    story.append(f"{kind} {given.dtype}")
    if kind == "csr":
        return sparse.csr_array(given)
    return np.asarray(given, order=kind)  # type: ignore[call-overload]
