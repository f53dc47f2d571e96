"""A process that fits cells of the net: requests on standard input, answers on standard output.

It uses the public API only, so that one script serves old and new commits. Every request is a line
of JSON. The answers are a line when the data are loaded, and a line with the result of one fit.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from memory import PeakMemory

LEAST_SECONDS = 0.02  # shorter fits are repeated within one timing
MOST_FITS = 10
WHOLE = 64  # longer vectors are stored as a projection
PROJECTED = 16
SCORED = 500
PARTS = 3  # of a Dask collection
SPARSE = ("data", "indices", "indptr")


def estimator(name: str, parameters: dict[str, Any], always: dict[str, Any]) -> Any:
    """Make an unfitted estimator; `always` sets only parameters that it has."""
    import toprank

    found = getattr(toprank, name, None)
    if found is None:
        import toprank.methods

        found = getattr(toprank.methods, name)
    known = found().get_params()
    return found(**{key: value for key, value in always.items() if key in known} | parameters)


def load(name: str, storage: str, folder: Path, scratch: Path) -> tuple[Any, Any]:
    """Read a data set and give it the storage."""
    y = np.load(folder / f"{name}.y.npy")
    if storage == "opened":
        return _opened(name, folder, scratch)
    mode = "r" if storage == "mapped" else None
    if (folder / f"{name}.X.npy").exists():
        X = np.load(folder / f"{name}.X.npy", mmap_mode=mode)
        changed = {
            "fortran": np.asfortranarray,
            "float32": lambda X: X.astype(np.float32),
            "csr": sp.csr_array,
        }
        if storage == "dask":
            return _collection(X, y, scratch)
    else:
        parts = [np.load(folder / f"{name}.{part}.npy", mmap_mode=mode) for part in SPARSE]
        X = sp.csr_array(tuple(parts), shape=tuple(np.load(folder / f"{name}.shape.npy")))
        changed = {"float32": lambda X: X.astype(np.float32), "csc": sp.csc_array, "csr64": _wide}
    return changed.get(storage, lambda X: X)(X), y


def _wide(X: Any) -> Any:
    """Return the matrix with 64-bit indices."""
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _opened(name: str, folder: Path, scratch: Path) -> tuple[Any, Any]:
    """Convert a data set to a folder and open it."""
    from sklearn.datasets import dump_svmlight_file

    import toprank
    from toprank.files import convert

    made = scratch / f"{name}.toprank"
    if not made.exists():
        X, y = load(name, "natural", folder, scratch)
        if sp.issparse(X):
            table = scratch / f"{name}.svm"
            dump_svmlight_file(X, y, str(table))
            convert(table, made, dtype="float64", scale=False)
        else:
            table = scratch / f"{name}.npz"
            np.savez(table, X=X, y=y)
            convert(table, made, label="y", dtype="float64", scale=False)
    opening = getattr(toprank, "open", None) or toprank.open_dataset
    data = opening(made)
    return data.X, data.y


_CLIENT: list[Any] = []


def _collection(X: Any, y: Any, scratch: Path) -> tuple[Any, Any]:
    """Cut the rows into a Dask array on a cluster inside this process."""
    import dask.array as da
    from distributed import Client

    import dask

    if not _CLIENT:
        dask.config.set({"temporary-directory": str(scratch)})
        alone = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
        _CLIENT.append(Client(**alone, dashboard_address=None, silence_logs=50))
    rows = -(-len(y) // PARTS)
    return da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)


def projected(vector: np.ndarray) -> list[float]:
    """Return a short vector unchanged, and a fixed random projection of a long one."""
    if vector.size <= WHOLE:
        return vector.tolist()
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (PROJECTED, vector.size))
    return (signs @ vector).tolist()


def fit(request: dict[str, Any], X: Any, y: Any) -> dict[str, Any]:
    """Fit a cell and return its time, or its peak memory, and its solution."""
    fits, spent = 0, 0.0
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        while spent < LEAST_SECONDS and fits < MOST_FITS:
            model = estimator(request["estimator"], request["parameters"], request["always"])
            peak = PeakMemory()
            began = time.process_time()
            if request["memory"]:
                with peak:
                    model.fit(X, y)
            else:
                model.fit(X, y)
            spent += time.process_time() - began
            fits += 1
            if request["memory"]:
                break
    silent = (FutureWarning, DeprecationWarning, ResourceWarning)
    kinds = {one.category.__name__ for one in seen if not issubclass(one.category, silent)}
    result = {"seconds": spent / fits, "warnings": sorted(kinds), **solution(model, X)}
    return result | ({"peak": peak.beyond} if request["memory"] else {})


def solution(model: Any, X: Any) -> dict[str, Any]:
    """Return the objective, its certificate, and the coefficients of a fitted estimator."""
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        primal, dual = float(certificate.primal), float(certificate.dual)
        relative = float(certificate.relative_gap)
    else:
        found = [getattr(model, name, None) for name in ("objective_", "criterion_")]
        primal = next((float(one) for one in found if np.isscalar(one)), None)
        dual = relative = None
    vector = getattr(model, "coef_", None)
    if vector is None:
        vector = model.decision_function(X[:SCORED])
    vector = np.ascontiguousarray(np.ravel(vector), dtype=np.float64)
    n_iter = getattr(model, "n_iter_", None)
    return {
        "solver": getattr(model, "solver_", None),
        "primal": primal,
        "dual": dual,
        "gap": relative,
        "tol": getattr(model, "tol", None),
        "n_iter": None if n_iter is None else int(n_iter),
        "intercept": float(np.ravel(getattr(model, "intercept_", 0.0))[0]),
        "coef": projected(vector),
        "norm": float(np.linalg.norm(vector)),
        "hash": hashlib.sha256(vector.tobytes()).hexdigest()[:12],
    }


def serve(folder: Path, scratch: Path) -> None:
    """Answer every line of the input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever is printed must not end up among the answers

    def answer(line: dict[str, Any]) -> None:
        print(json.dumps(line), file=answers, flush=True)

    loaded, X, y = None, None, None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            wanted = request["data"], request["storage"]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if wanted != loaded:
                    X = y = loaded = None
                    X, y = load(*wanted, folder, scratch)
                    loaded = wanted
                estimator(request["estimator"], request["parameters"], request["always"])
            answer({"loaded": True})
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})
            continue
        try:
            answer(fit(request, X, y))
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})
    for client in _CLIENT:
        client.close()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]))
