"""Columns at the ends of float64, rows almost equal across classes, and every form in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Rng = np.random.Generator

#: The smallest float64 above zero; subnormal entries are whole multiples of it.
SMALLEST = 5e-324
#: Below it entries lose digits.
SMALLEST_NORMAL = 2.0**-1022
#: Entries that estimators take are at most this large.
LARGEST = 1e99
#: Shares of problems that get an extreme column, weight, form or alpha.
COLUMN_SHARE, WEIGHT_SHARE, FORM_SHARE, ALPHA_SHARE = 0.5, 0.1, 0.4, 0.4
#: Alphas and radii stay within this and one over it.
LARGEST_ALPHA = 1e300


def extreme_columns(rng: Rng, X: Array, y: Labels) -> list[str]:
    """Change X in place by one or two makers, in some problems; describe what was done."""
    if rng.random() >= COLUMN_SHARE:
        return []
    chosen = rng.choice(len(COLUMNS), size=int(rng.integers(1, 3)), replace=False)
    story = [COLUMNS[k](rng, X, y) for k in chosen]
    np.clip(X, -LARGEST, LARGEST, out=X)
    return story


def _shrunk(x: Array, width: float) -> Array:
    """The same values with a largest entry of about `width`."""
    largest = float(np.abs(x).max()) or 1.0
    return x / largest * width


def _subnormal_column(rng: Rng, X: Array, y: Labels) -> str:
    k, width = int(rng.integers(X.shape[1])), float(10.0 ** rng.uniform(-322, -308))
    X[:, k] = _shrunk(X[:, k], width)
    return f"a subnormal column of {width:.1e}"


def _tiny_column(rng: Rng, X: Array, y: Labels) -> str:
    k, width = int(rng.integers(X.shape[1])), float(10.0 ** rng.uniform(-308, -150))
    X[:, k] = _shrunk(X[:, k], width)
    return f"a column of {width:.1e}"


def _column_at_the_boundary(rng: Rng, X: Array, y: Labels) -> str:
    k, steps = int(rng.integers(X.shape[1])), rng.uniform(-4, 4, len(X))
    X[:, k] = SMALLEST_NORMAL * steps
    return "a column on both sides of the smallest normal number"


def _one_subnormal_step(rng: Rng, X: Array, y: Labels) -> str:
    X[:, rng.integers(X.shape[1])] = SMALLEST * rng.integers(-2, 3, len(X))
    return "a column of subnormal steps"


def _tiny_rows(rng: Rng, X: Array, y: Labels) -> str:
    width = float(10.0 ** rng.uniform(-320, -60))
    X[:] = _shrunk(X, width)
    return f"all within {width:.1e}"


def _huge_rows(rng: Rng, X: Array, y: Labels) -> str:
    width = float(10.0 ** rng.uniform(50, 99))
    X[:] = _shrunk(X, width)
    return f"all within {width:.1e}"


def _label_column(rng: Rng, X: Array, y: Labels) -> str:
    scale, offset = 10.0 ** rng.uniform(-6, 6), rng.choice([0.0, 1.0, -1e3])
    X[:, rng.integers(X.shape[1])] = scale * rng.choice([-1.0, 1.0]) * y + offset
    return "a column equal to the label"


def _nearly_label_column(rng: Rng, X: Array, y: Labels) -> str:
    wrong = np.arange(len(y)) == rng.integers(len(y))
    X[:, rng.integers(X.shape[1])] = np.where(wrong, 1 - y, y)
    return "a column equal to the label but for one row"


def _powers_of_two(rng: Rng, X: Array, y: Labels) -> str:
    reach = int(rng.choice([3, 30, 200]))
    X[:] = np.sign(X) * 2.0 ** rng.integers(-reach, reach + 1, X.shape)
    return f"powers of two to 2^{reach}"


def _lattice(rng: Rng, X: Array, y: Labels) -> str:
    step = float(2.0 ** rng.integers(-3, 3))
    X[:] = np.round(np.clip(X, -1e6, 1e6) / step) * step
    return f"a lattice of steps {step:g}"


def _near_equal_rows(rng: Rng, X: Array, y: Labels) -> str:
    apart = float(rng.choice([2.0**-52, 1e-14, 1e-10]))
    negatives = np.flatnonzero(y == 0)[: int(y.sum())]
    positives = np.flatnonzero(y == 1)[: len(negatives)]
    X[positives] = X[negatives] * (1.0 + apart * rng.integers(-1, 2, X[negatives].shape))
    return f"rows of both classes {apart:.1e} apart"


COLUMNS: list[Callable[[Rng, Array, Labels], str]] = [
    _subnormal_column,
    _tiny_column,
    _one_subnormal_step,
    _tiny_rows,
    _huge_rows,
    _label_column,
    _nearly_label_column,
    _powers_of_two,
    _lattice,
    _near_equal_rows,
    _column_at_the_boundary,
]


def extreme_weights(rng: Rng, y: Labels, story: list[str]) -> Array | None:
    """Weights over twenty decades, in some problems: of rows, or of the classes too."""
    if rng.random() >= WEIGHT_SHARE:
        return None
    story.append("weights over 20 decades")
    weight = 10.0 ** rng.uniform(-10, 10, len(y))
    return weight if rng.random() < 0.5 else weight * 10.0 ** (40.0 * y - 20.0)


def strength(rng: Rng, X: Array) -> float:
    """Return a factor of alpha: one, the squared size of the rows, or something far from both."""
    if rng.random() >= ALPHA_SHARE:
        return 1.0
    size = float(np.abs(X - X.mean(axis=0)).max(initial=0.0)) or 1.0
    away = rng.choice([0.0, 0.0, rng.uniform(-30, 30), rng.uniform(-280, 280)])
    decades = 2.0 * np.log10(size) + away
    return float(10.0 ** np.clip(decades, -280, 280))


def extreme_form(rng: Rng, X: Array, story: list[str]) -> Any:
    """X in another type, memory layout or sparse format, in some problems; else None."""
    if rng.random() >= FORM_SHARE:
        return None
    kind = str(rng.choice(list(FORMS)))
    story.append(kind)
    return FORMS[kind](rng, X)


def _whole(rng: Rng, X: Array, dtype: type[np.integer[Any]]) -> Any:
    """X rounded to a type of whole numbers, stretched to its range or clipped to it."""
    info = np.iinfo(dtype)
    stretched = _shrunk(X, info.max) if rng.random() < 0.5 else X
    return np.clip(np.round(stretched), info.min, info.max).astype(dtype)


def _strided(rng: Rng, X: Array) -> Any:
    return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]


def _reversed(rng: Rng, X: Array) -> Any:
    return X[::-1, ::-1].copy()[::-1, ::-1]


def _read_only(rng: Rng, X: Array) -> Any:
    given = X.copy()
    given.flags.writeable = False
    return given


def _field(rng: Rng, X: Array) -> Any:
    """The field of a record array, which begins at any byte."""
    records = np.zeros(len(X), dtype=[("id", "i1"), ("x", "f8", (X.shape[1],))])
    records["x"] = X
    return records["x"]


def _repeated_coo(rng: Rng, X: Array) -> Any:
    """Entries x as the pair 2 x and -x, whose sum is exact, in a random order."""
    rows, columns = np.nonzero(X)
    order = rng.permutation(2 * len(rows))
    values = np.concatenate([2.0 * X[rows, columns], -X[rows, columns]])
    places = np.tile(rows, 2)[order], np.tile(columns, 2)[order]
    return sparse.coo_array((values[order], places), shape=X.shape)


def _repeated_csr(rng: Rng, X: Array) -> Any:
    """The same in CSR, where indices repeat and need not increase."""
    entries = _repeated_coo(rng, X)
    order = np.argsort(entries.row, kind="stable")
    ends = np.cumsum(np.bincount(entries.row, minlength=X.shape[0]))
    parts = entries.data[order], entries.col[order], np.concatenate([[0], ends])
    return sparse.csr_array(parts, shape=X.shape)


def _stored_zeros(rng: Rng, X: Array) -> Any:
    """CSR with every zero stored."""
    n, d = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d), X.shape)


def _long_csr(rng: Rng, X: Array) -> Any:
    given = sparse.csr_array(X)
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    return given


FORMS: dict[str, Callable[[Rng, Array], Any]] = {
    "float16": lambda rng, X: np.clip(X, -6e4, 6e4).astype(np.float16),
    "int8": lambda rng, X: _whole(rng, X, np.int8),
    "uint8": lambda rng, X: _whole(rng, X, np.uint8),
    "int32": lambda rng, X: _whole(rng, X, np.int32),
    "bool": lambda rng, X: np.median(X) < X,
    "read-only": _read_only,
    "big-endian": lambda rng, X: X.astype(">f8"),
    "strided": _strided,
    "reversed": _reversed,
    "field": _field,
    "csc": lambda rng, X: sparse.csc_array(X),
    "coo": lambda rng, X: sparse.coo_array(X),
    "coo with duplicates": _repeated_coo,
    "csr with duplicates": _repeated_csr,
    "csr with stored zeros": _stored_zeros,
    "csr with 64-bit indices": _long_csr,
}


__all__ = ["FORMS", "extreme_columns", "extreme_form", "extreme_weights", "strength"]
