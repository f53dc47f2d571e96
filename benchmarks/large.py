"""Fits of a file that is larger than memory, and of rows as wide as the url data's.

    python benchmarks/large.py make FOLDER [--rows N]    a Parquet file of 84 bytes a row
    python benchmarks/large.py convert FOLDER            to arrays, with `toprank convert`'s code
    python benchmarks/large.py fits FOLDER               each method in a process of its own
    python benchmarks/large.py part FOLDER               a part in memory and mapped: certificates
    python benchmarks/large.py wide FOLDER               2.4 million rows of 3.2 million columns
    python benchmarks/large.py page FOLDER               writes LARGE.md of what was found

What each step finds is kept in FOLDER/found.json. The memory that is told is anonymous memory
(RssAnon), sampled every 20 ms: pages of the file that the system keeps are not among it.
"""

from __future__ import annotations

import argparse
import json
import resource
import threading
import time
import warnings
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np

from machine import describe
from memory import in_fresh_process

#: Rows of the file: 26 GB, where memory is 24 GB and the disk has room for two of it.
ROWS = 310_000_000
#: Columns, and rows in a row group.
COLUMNS, GROUP = 20, 1_000_000
#: The rows of the part that is fitted in memory as well.
PART = 20_000_000
#: The shape of the url data, and entries of a row.
WIDE = (2_396_130, 3_231_961, 115)
#: CPU seconds that scikit-learn's fits of wide rows may take.
CAP = 900
FITS = ("BBR", "LogisticRank", "RectPushApp", "TopPush")


class Anonymous:
    """The peak of anonymous memory while it is watched, in bytes."""

    def __enter__(self) -> Anonymous:
        self.before = self.peak = _anonymous()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, _anonymous())

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def _anonymous() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    return 0


def block(k: int, n: int) -> tuple[list[Any], Any]:
    """Columns and labels of a row group: uniform, one in a hundred positive and moved."""
    rng = np.random.Generator(np.random.SFC64([7, k]))
    y = rng.random(n, dtype=np.float32) < 0.01
    columns = []
    for j in range(COLUMNS):
        x = rng.random(n, dtype=np.float32)
        x *= 2
        x -= 1
        x[y] += np.float32(1.3 if j < 2 else 0.2 if j < 7 else 0.0)
        columns.append(x)
    return columns, y


def make(folder: Path, rows: int) -> dict[str, Any]:
    """The Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([(name, pa.float32()) for name in names] + [("fraud", pa.int8())])
    file = folder / "big.parquet"
    options = {"compression": "none", "use_dictionary": False}
    with parquet.ParquetWriter(file, schema, **options) as out:
        for begin in range(0, rows, GROUP):
            columns, y = block(begin // GROUP, min(GROUP, rows - begin))
            arrays = [pa.array(x) for x in columns] + [pa.array(y.astype(np.int8))]
            out.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=GROUP)
    return {"rows": rows, "bytes": file.stat().st_size}


def _convert(folder: str) -> dict[str, Any]:
    from toprank.files import convert

    file, target = Path(folder) / "big.parquet", Path(folder) / "big.toprank"
    with Anonymous() as memory:
        began = time.perf_counter()
        data = convert(file, target, label="fraud", scale=False)
        seconds = time.perf_counter() - began
    size = sum(one.stat().st_size for one in target.iterdir())
    return {
        "rows": len(data),
        "from": file.stat().st_size,
        "bytes": size,
        "seconds": seconds,
        "peak": memory.peak,
    }


def read_speed(file: Path) -> float:
    """Bytes a second of one plain reading of a file that is larger than the page cache."""
    buffer, began = bytearray(1 << 24), time.perf_counter()
    with file.open("rb", buffering=0) as stream:
        while stream.readinto(buffer):
            pass
    return file.stat().st_size / (time.perf_counter() - began)


def _fit(folder: str, name: str) -> dict[str, Any]:
    import toprank

    data = toprank.open_dataset(Path(folder) / "big.toprank")
    model = getattr(toprank, name)()
    with Anonymous() as memory, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        began = time.perf_counter()
        model.fit(data.X, data.y)
        seconds = time.perf_counter() - began
    return {
        "rows": len(data),
        "seconds": seconds,
        "passes": float(model.history_["passes"][-1]),
        "before": memory.before,
        "peak": memory.peak,
        "solver": model.solver_,
        "steps": int(model.n_iter_),
        "gap": model.certificate_.relative_gap,
        "primal": model.certificate_.primal,
        "trivial": bool(model.trivial_),
        "told": [str(one.message) for one in told],
    }


def fits(folder: Path) -> dict[str, Any]:
    """Every fit, after a plain reading that tells what the disk can do."""
    found: dict[str, Any] = {"disk": read_speed(folder / "big.toprank" / "X.npy")}
    for name in FITS:
        found[name] = in_fresh_process(_fit, str(folder), name)
        print(name, json.dumps(found[name]), flush=True)
    return found


def _part(folder: str, name: str, mapped: bool) -> dict[str, Any]:
    import toprank
    from toprank.designs import streamed

    data = toprank.open_dataset(Path(folder) / "big.toprank")
    X, y = data.X[:PART], np.asarray(data.y[:PART])
    if not mapped:
        X = np.array(X)
    assert streamed.is_streamed(X) == mapped
    model = getattr(toprank, name)()
    with Anonymous() as memory:
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "beyond": memory.peak - memory.before,
        "primal": model.certificate_.primal,
        "dual": model.certificate_.dual,
        "gap": model.certificate_.relative_gap,
    }


def part(folder: Path) -> dict[str, Any]:
    """The first rows, as an array in memory and as a mapped file."""
    found: dict[str, Any] = {"rows": PART}
    for name in FITS:
        found[name] = [in_fresh_process(_part, str(folder), name, mapped) for mapped in (0, 1)]
        print(name, json.dumps(found[name]), flush=True)
    return found


def wide_rows(n: int) -> tuple[Any, Any]:
    """Rows with a few columns that all share and many that few have, unit rows, as url's are."""
    from scipy import sparse

    _, d, each = WIDE
    rng = np.random.default_rng(5)
    columns = np.empty((n, each), dtype=np.int32)
    values = np.empty((n, each), dtype=np.float32)
    y = rng.random(n) < 0.33
    for begin in range(0, n, 100_000):
        rows = slice(begin, min(begin + 100_000, n))
        m = rows.stop - rows.start
        own = np.minimum(d * rng.random((m, each), dtype=np.float32) ** 6, d - 1).astype(np.int32)
        own[:, :8] += (y[rows, np.newaxis] * 17).astype(np.int32)  # what tells the classes apart
        columns[rows] = np.minimum(own, d - 1)
        values[rows] = rng.random((m, each), dtype=np.float32)
    values /= np.sqrt(np.einsum("ij,ij->i", values, values))[:, np.newaxis]
    pointers = np.arange(0, n * each + 1, each, dtype=np.int32)
    X = sparse.csr_array((n, d), dtype=np.float32)
    X.data, X.indices, X.indptr = values.ravel(), columns.ravel(), pointers
    X.sum_duplicates()
    return X, y.astype(np.int8)


def _wide(name: str, n: int, alpha: float) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression

    import toprank

    X, y = wide_rows(n)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    if name in ("liblinear", "lbfgs"):
        spent = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (spent + CAP, spent + CAP + 5))
        model: Any = LogisticRegression(
            C=1.0 / (alpha * n), solver=name, tol=1e-4, max_iter=1000, dual=False
        )
    else:
        model = getattr(toprank, name)(alpha=alpha)
    with Anonymous() as memory, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        began, cpu = time.perf_counter(), time.process_time()
        model.fit(X, y)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    w = np.asarray(model.coef_, dtype=np.float64)[0]
    s = X @ w + float(np.ravel(model.intercept_)[0])
    value = float(np.logaddexp(0.0, np.where(y == 1, -s, s)).mean()) + alpha / 2 * float(w @ w)
    gap = getattr(getattr(model, "certificate_", None), "relative_gap", None)
    return {
        "rows": n,
        "entries": int(X.nnz),
        "matrix": size,
        "alpha": alpha,
        "seconds": seconds,
        "cpu": cpu,
        "beyond": memory.peak - memory.before,
        "logistic": value,
        "gap": gap,
        "solver": getattr(model, "solver_", name),
        "told": [str(one.message)[:200] for one in told],
    }


def wide(n: int, only: str | None, alpha: float) -> dict[str, Any]:
    """TopPush and logistic regression, ours and scikit-learn's, each in a process of its own."""
    found = {}
    for name in ("LogisticRank", "TopPush", "lbfgs", "liblinear") if only is None else (only,):
        try:
            found[name] = in_fresh_process(_wide, name, n, alpha)
        except BrokenProcessPool:
            found[name] = {"missed": f"not ended after {CAP // 60} minutes of CPU", "alpha": alpha}
        print(name, json.dumps(found[name]), flush=True)
    return found


def main() -> None:
    """One step, and what it found beside that of the others."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["make", "convert", "fits", "part", "wide", "page"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--only", help="one of the fits of wide rows, beside those known")
    parser.add_argument("--alpha", type=float, default=1e-6, help="of the fits of wide rows")
    options = parser.parse_args()
    folder, kept = options.folder, options.folder / "found.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    if options.step == "page":
        from large_page import page

        Path(__file__).with_name("LARGE.md").write_text(page(found))
        return
    steps = {
        "make": lambda: make(folder, options.rows or ROWS),
        "convert": lambda: in_fresh_process(_convert, str(folder)),
        "fits": lambda: fits(folder),
        "part": lambda: part(folder),
        "wide": lambda: wide(options.rows or WIDE[0], options.only, options.alpha),
    }
    before = found.get(options.step, {}) if options.only else {}
    found[options.step] = before | steps[options.step]() | {"machine": describe()}
    print(json.dumps(found[options.step]), flush=True)
    kept.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
