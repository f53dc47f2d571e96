"""Data sets made to do harm: opening reads nothing large, no fit follows their numbers out."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import toprank
from toprank.designs import streamed
from toprank.files import DataFileError, convert

RNG = np.random.default_rng(0)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A sparse data set."""
    X = sparse.csr_array(np.where(RNG.random((200, 30)) < 0.2, RNG.random((200, 30)), 0.0))
    dump_svmlight_file(X, np.arange(200) % 2, str(tmp_path / "t.svm"))
    convert(tmp_path / "t.svm", tmp_path / "t.toprank")
    return tmp_path / "t.toprank"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A dense data set."""
    np.savez(tmp_path / "d.npz", X=RNG.random((200, 5)), y=np.arange(200) % 2)
    convert(tmp_path / "d.npz", tmp_path / "d.toprank", label="y")
    return tmp_path / "d.toprank"


def write(file: Path, place: int, value: Any) -> None:
    array = np.load(file, mmap_mode="r+")
    array[place] = value
    array.flush()


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("X.indices", 17, 10**6),
        ("X.indices", 17, -1),
        ("X.indptr", 50, 10**6),
        ("X.indptr", 50, -3),
        ("X.indptr", 50, 0),
    ],
)
def test_numbers_that_lead_out_of_the_file(
    rows: Path,
    name: str,
    place: int,
    value: int,
    in_blocks: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if in_blocks:
        monkeypatch.setattr(streamed, "STREAMED_BYTES", 0)
    write(rows / f"{name}.npy", place, value)
    data = toprank.open_dataset(rows)
    for ranker in (toprank.LogisticRank(), toprank.TopPush()):
        with pytest.raises(ValueError, match="corrupt CSR matrix"):
            ranker.fit(data.X, data.y)


@pytest.mark.parametrize("place", [0, -1])
def test_pointers_that_do_not_go_with_the_entries(rows: Path, place: int) -> None:
    write(rows / "X.indptr.npy", place, 5)
    with pytest.raises(DataFileError, match="pointers do not go with"):
        toprank.open_dataset(rows)


def test_a_file_of_holes_is_not_read(table: Path) -> None:
    """400 GB that take no room on the disk are opened in no room of memory."""
    n, d = 10**6, 10**5
    meta = json.loads((table / "meta.json").read_text())
    shapes = {"X": [n, d], "y": [n]}
    for name, shape in shapes.items():
        said = meta["files"][name] | {"shape": shape}
        meta["files"][name] = said
        with (table / f"{name}.npy").open("wb") as file:
            header = {"descr": said["dtype"], "fortran_order": False, "shape": tuple(shape)}
            np.lib.format.write_array_header_1_0(file, header)
            size = file.tell() + int(np.prod(shape)) * np.dtype(said["dtype"]).itemsize
        try:
            os.truncate(table / f"{name}.npy", size)
        except OSError as error:
            pytest.skip(f"this disk takes no file of {size:,} bytes: {error}")
    meta |= {"rows": n, "columns": d, "names": None}
    (table / "meta.json").write_text(json.dumps(meta))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert toprank.open_dataset(table).X.shape == (n, d)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_file_that_is_not_as_finite_as_it_claims(
    table: Path, value: float, in_blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_blocks:
        monkeypatch.setattr(streamed, "STREAMED_BYTES", 0)
    assert json.loads((table / "meta.json").read_text())["finite"] is True
    write(table / "X.npy", 77, value)
    data = toprank.open_dataset(table)
    for ranker in (toprank.LogisticRank(), toprank.TopPush(), toprank.RectPush()):
        with pytest.raises(ValueError, match=r"row 77"):
            ranker.fit(data.X, data.y)
