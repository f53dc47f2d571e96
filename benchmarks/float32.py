"""float32 input beside float64: seconds, certified gaps and memory."""

from __future__ import annotations

import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import tables
from data import DataSet, choose
from memory import PeakMemory, in_fresh_process
from options import Options
from timing import race
from toprank import TopPush

ALPHA = 1e-3
TOLERANCES = (1e-4, 1e-6)
SETS = ["covtype", "gaussian-60k", "news20-forsale", "text-20k"]
QUICK_SETS = ["gaussian-5k", "text-5k"]
CELL_BUDGET = 20.0

INTRODUCTION = """\
The same set in both types, alpha 1e-3, taking turns; medians. The gap is certified for the matrix
as given, so for float32 of the rounded one. "X MB" counts values and indices (int32). "fit MB" is
the peak of resident memory beyond what was there before the fit, in a process of its own after a
small fit has loaded everything: figures of a few MB are within what an allocator keeps."""


def as_type(X: Any, dtype: type) -> Any:
    """X in this dtype, sharing the indices if it is sparse."""
    if sp.issparse(X):
        return sp.csr_matrix((X.data.astype(dtype), X.indices, X.indptr), shape=X.shape)
    return X.astype(dtype)


def size(X: Any) -> int:
    """The bytes of a matrix."""
    if sp.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def parts_of(X: Any) -> dict[str, np.ndarray]:
    """The arrays a matrix is made of."""
    if sp.issparse(X):
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        return {**parts, "shape": np.array(X.shape)}
    return {"X": X}


def peak_of_fit(folder: str) -> float:
    """Fit the saved matrix in this process; the peak of memory beyond it, in bytes."""
    arrays = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
    y = arrays.pop("y")
    if "X" in arrays:
        X = arrays["X"]
    else:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        X = sp.csr_matrix(parts, shape=tuple(arrays["shape"]))
    few = np.concatenate([np.flatnonzero(y == label)[:20] for label in (0, 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TopPush(ALPHA, n_threads=1, random_state=0).fit(X[few], y[few])
        with PeakMemory() as peak:
            TopPush(ALPHA, n_threads=1, random_state=0).fit(X, y)
    return peak.beyond


def measure_peak(X: Any, y: np.ndarray) -> float:
    """The peak of memory of a fit beyond X, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in {**parts_of(X), "y": y}.items():
            np.save(Path(folder) / f"{name}.npy", array)
        return float(in_fresh_process(peak_of_fit, folder))


def enter(X: Any, y: np.ndarray, tol: float, repeat: int) -> tuple[Any, Any, Any]:
    """An estimator for this repeat, and the data."""
    return TopPush(ALPHA, tol=tol, n_threads=1, random_state=repeat), X, y


def rows_of(data: DataSet, options: Options) -> list[list[str]]:
    """Two rows a tolerance: float64 and float32."""
    matrices = {"float64": data.X, "float32": as_type(data.X, np.float32)}
    peaks = {name: measure_peak(X, data.y) for name, X in matrices.items()}
    rows = []
    for tol in TOLERANCES:
        contenders = {name: partial(enter, X, data.y, tol) for name, X in matrices.items()}
        timed = race(contenders, options.repeats, CELL_BUDGET)
        options.tell(f"float32: {data.name} tol {tol:g}")
        for name, result in timed.items():
            gap = max(ranker.certificate_.relative_gap for ranker in result.fitted)
            rows.append(
                [
                    data.name,
                    name,
                    tables.exponent(tol),
                    tables.gap(gap),
                    tables.verdict(gap <= tol),
                    tables.seconds(result.median),
                    tables.ratio(result.median / timed["float64"].median),
                    tables.megabytes(size(matrices[name])),
                    tables.megabytes(peaks[name]) if tol == TOLERANCES[0] else "",
                ]
            )
    return rows


def report(options: Options) -> str:
    """Measure every set and write the section."""
    names = options.names or (QUICK_SETS if options.quick else SETS)
    rows = []
    for source in choose(names, quick=False):
        data = source.load(options.folder)
        if data is not None:
            rows += rows_of(data, options)
    heads = ["data", "type", "tol", "gap", "", "seconds", "over float64", "X MB", "fit MB"]
    return "\n\n".join(["## float32 and float64", INTRODUCTION, tables.table(heads, rows)])
