"""The readers: what good files look like, how one is read, and how a bad one may be refused."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from click.testing import CliRunner

import toprank
from toprank.cli.app import toprank as program
from toprank.files import DataFileError, ModelFileError, convert
from toprank.files.columns import as_kinds, frame_of, kinds_of
from toprank.files.errors import TableError
from toprank.files.tables import Table

from .matrices import matrices, read_matrix
from .table_models import read_table_model, table_models
from .tree_models import read_trees, tree_models

#: Rows of a good table: quotes, gaps, dates, words, numbers, a label.
_CSV = (
    b"id,amount,city,when,fraud\n"
    b'a1,12.5,"Rome, IT",2024-01-05,0\n'
    b"a2,,Paris,2024-02-29 12:30:00,1\n"
    b'a3,-3e2,"O""Hare",,0\n'
    b"a4,7,N/A,2023-12-31T23:59:59Z,1\n"
)
_SVMLIGHT = b"# made\n1 1:0.5 3:-2e-3 # first\n-1 qid:7 2:1\r\n+1\n0 1:1 2:2 3:3\n"
_TOML = b'capacity = "2%"\nquiet = true\n[fit]\nmodel = "toppush"\nalpha = 0.5\n[top]\nk = "10"\n'


@dataclass(frozen=True)
class Subject:
    """A reader of files with this ending."""

    ending: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], None]
    refusals: tuple[type[Exception], ...] = (TableError,)


def _read_table(path: Path) -> None:
    table = Table(str(path))
    rows = table.whole()
    kinds = kinds_of(rows, table.name, texts=table.texts, categories=())
    frame_of(as_kinds(rows, kinds, table.name, 0))


def _read_svmlight(path: Path) -> None:
    table = Table(str(path))
    X, labels, from_zero = table.matrix()
    assert X.shape[0] == len(labels)
    if X.shape[1] < 10**6:
        X.sum(axis=0)  # every column is where it says
    for part, own in table.matrices(3, from_zero=from_zero):
        assert part.shape == (len(own), 3)


def _read_config(path: Path) -> None:
    done = CliRunner().invoke(program, ["models", "--config", str(path)])
    if done.exit_code not in (0, 2) or not isinstance(done.exception, SystemExit | type(None)):
        raise AssertionError(f"exit code {done.exit_code}") from done.exception


def _arrow_table() -> pa.Table:
    columns = {
        "amount": [12.5, None, -300.0],
        "city": ["Rome", "Paris", None],
        "when": pa.array([0, 1, None], pa.timestamp("s")),
        "fraud": [0, 1, 0],
    }
    return pa.table(columns)


def _parquets() -> list[bytes]:
    files = []
    for compression in ("none", "snappy"):
        file = io.BytesIO()
        pa.parquet.write_table(_arrow_table(), file, compression=compression)
        files.append(file.getvalue())
    return files


def _feathers() -> list[bytes]:
    file = io.BytesIO()
    pa.feather.write_feather(_arrow_table(), file, compression="uncompressed")
    return [file.getvalue()]


def _npzs() -> list[bytes]:
    files = []
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, X=np.eye(3), y=np.array([0, 1, 0]))
        files.append(file.getvalue())
    return files


def _models() -> list[bytes]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = X[:, 0] > 0.3
    file = Path("good.toprank")
    files = []
    for model in (toprank.LogisticRank(), toprank.RankBoost(n_estimators=3), toprank.BBR()):
        toprank.save(model.fit(X, y), file, metadata={"note": "fuzz"})
        files.append(file.read_bytes())
    with zipfile.ZipFile(io.BytesIO(files[0])) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:  # stored, so that harms reach JSON and arrays
        for name, data in entries.items():
            archive.writestr(name, data)
    return [*files, plain.getvalue()]


def _read_model(path: Path) -> None:
    toprank.load(path)


#: Between the files of a data set, in the one that is harmed, in this order.
_NEXT = b"\n== next ==\n"
_DENSE = ("meta.json", "y.npy", "X.npy", "weight.npy", "ids.text.npy", "ids.ends.npy")
_SPARSE = ("meta.json", "y.npy", "X.data.npy", "X.indices.npy", "X.indptr.npy")


def _data_sets() -> list[bytes]:
    text = b"case,x,z,weigh,label\n" + b"".join(
        b"c%d,%d.5,%d,1,%d\n" % (k, k % 7, k % 3, k % 2) for k in range(20)
    )
    Path("good.csv").write_bytes(text)
    Path("good.svmlight").write_bytes(b"1 1:0.5 3:2\n-1 2:1\n1 1:1 2:2 3:3\n-1 1:4\n" * 4)
    shutil.rmtree("dense", ignore_errors=True)
    shutil.rmtree("sparse", ignore_errors=True)
    convert("good.csv", "dense", label="label", id="case", weight="weigh")
    convert("good.svmlight", "sparse")
    return [
        _NEXT.join((Path(folder) / name).read_bytes() for name in names)
        for folder, names in (("dense", _DENSE), ("sparse", _SPARSE))
    ]


def _read_data_set(path: Path) -> None:
    """Open the folder and, if it can be, fit: no number in it may lead out of its files."""
    parts = path.read_bytes().split(_NEXT)
    for names in (_DENSE, _SPARSE):
        folder = Path("harmed")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, part in zip(names, parts, strict=False):
            (folder / name).write_bytes(part)
        with contextlib.suppress(DataFileError):
            data = toprank.open_dataset(folder)
            len(data.ids if data.ids is not None else ())
            # Labels of one class, NaN, numbers that lead out; more columns than there is room for.
            with contextlib.suppress(ValueError, MemoryError):
                toprank.LogisticRank(max_iter=20).fit(data.X, data.y, data.sample_weight)
            with contextlib.suppress(ValueError, MemoryError):
                toprank.BBR().fit(np.eye(3), [0, 1, 0]).decision_function(data.X)


SUBJECTS = {
    "csv": Subject(".csv", lambda: [_CSV, _CSV.replace(b"\n", b"\r\n")], _read_table),
    "tsv": Subject(".tsv", lambda: [_CSV.replace(b",", b"\t")], _read_table),
    "svmlight": Subject(".svmlight", lambda: [_SVMLIGHT], _read_svmlight),
    "parquet": Subject(".parquet", _parquets, _read_table),
    "feather": Subject(".feather", _feathers, _read_table),
    "npz": Subject(".npz", _npzs, _read_table),
    "model": Subject(".toprank", _models, _read_model, (ModelFileError,)),
    "data": Subject(".folder", _data_sets, _read_data_set),
    "matrix": Subject(".csr", matrices, read_matrix),
    "trees": Subject(".trees", tree_models, read_trees, (ModelFileError,)),
    "table": Subject(".parts", table_models, read_table_model, (ModelFileError,)),
    "config": Subject(".toml", lambda: [_TOML, json.dumps({"k": 1}).encode()], _read_config, ()),
}

__all__ = ["SUBJECTS", "Subject"]
