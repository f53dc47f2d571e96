"""What is said of a data set that cannot be opened, and what is known of one that can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toprank
from toprank import files
from toprank.designs.streamed import is_checked
from toprank.files import DataFileError, convert, mapped

RNG = np.random.default_rng(0)
ROWS = RNG.random((40, 3))


@pytest.fixture
def dense(tmp_path: Path) -> Path:
    np.savez(tmp_path / "d.npz", X=ROWS, y=np.arange(40) % 2)
    convert(tmp_path / "d.npz", tmp_path / "d.toprank", label="y", scale=False, dtype="float64")
    return tmp_path / "d.toprank"


@pytest.fixture
def csr(tmp_path: Path) -> Path:
    (tmp_path / "s.svm").write_text("1 1:5 3:7\n-1 2:6\n-1\n")
    convert(tmp_path / "s.svm", tmp_path / "s.toprank")
    return tmp_path / "s.toprank"


def test_the_deprecated_name_works_and_warns(dense: Path) -> None:
    for old in (toprank.open, files.open):
        with pytest.warns(FutureWarning, match=r"ends in version 0\.5: use toprank\.open_dataset"):
            assert len(old(dense)) == 40
    names: dict[str, Any] = {}
    exec("from toprank import *\nfrom toprank.files import *", names)
    assert "open" not in names
    assert names["open_dataset"] is toprank.open_dataset


def change(folder: Path, **changes: Any) -> Path:
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | changes))
    return folder


def refused(folder: Path, why: str) -> None:
    with pytest.raises(DataFileError, match=why):
        toprank.open_dataset(folder)


def said(dtype: str, *shape: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape)}


Y, X = said("|i1", 40), said("<f8", 40, 3)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"version": 2}, "newer than this version knows: update"),
        ({"version": 0}, "does not say its version"),
        ({"version": "1"}, "does not say its version"),
        ({"version": True}, "does not say its version"),
        ({"format": "toprank model"}, "no data set of toprank"),
        ({"rows": -1}, "how many rows"),
        ({"rows": 4.0}, "how many rows"),
        ({"rows": 1 << 48}, "how many rows"),
        ({"rows": 41}, "array (X|y) is of another shape than its rows"),
        ({"columns": None}, "how many columns"),
        ({"columns": 4}, "array X is of another shape than its rows"),
        ({"kind": "csr"}, "how many entries"),
        ({"kind": "csr", "entries": 5}, "it has no array X.data"),
        ({"kind": "rows"}, "neither dense nor sparse"),
        ({"names": "abc"}, "names are not one for each column"),
        ({"names": ["x"]}, "names are not one for each column"),
        ({"names": ["x", "y", 3]}, "names are not one for each column"),
        ({"classes": ["a"]}, "does not name its two classes"),
        ({"classes": "ab"}, "does not name its two classes"),
        ({"classes": None}, "does not name its two classes"),
        ({"files": {"X": X}}, "it has no array y"),
        ({"files": [X, Y]}, "names arrays that nobody knows"),
        ({"files": {"X": X, "y": Y, "z": Y}}, "names arrays that nobody knows"),
        ({"files": {"X": said("|O", 40, 3), "y": Y}}, "array X is of a type that it cannot be of"),
        ({"files": {"X": 3, "y": Y}}, "array X is of a type that it cannot be of"),
        ({"files": {"X": said("<f8", 40, -3), "y": Y}}, "array X has no shape"),
        ({"files": {"X": said("<f8", 120), "y": Y}}, "array X has no shape"),
        ({"files": {"X": said("<f8", 1 << 48, 3), "y": Y}}, "array X has no shape"),
        ({"version": 2, "toprank": "x" * 300}, r"toprank x{40} wrote it, in a form that is newer"),
        ({"files": {"X": X, "y": said("|i1", 40, 1)}}, "array y has no shape"),
        ({"files": {"X": X | {"shape": 3}, "y": Y}}, "array X has no shape"),
        ({"files": {"X": said("<f4", 40, 3), "y": Y}}, "X.npy holds another array"),
    ],
)
def test_what_is_wrong_is_named(dense: Path, changes: dict[str, Any], why: str) -> None:
    refused(change(dense, **changes), why)


def test_arrays_that_are_not_as_they_are_said_to_be(dense: Path) -> None:
    np.save(dense / "X.npy", np.asfortranarray(ROWS))
    refused(dense, r"X\.npy holds another array than meta\.json says")
    np.save(dense / "X.npy", ROWS[:20])
    refused(dense, r"X\.npy holds another array than meta\.json says")
    np.save(dense / "X.npy", ROWS)
    assert np.array_equal(toprank.open_dataset(dense).X, ROWS)
    content = (dense / "X.npy").read_bytes()
    (dense / "X.npy").write_bytes(content + b"\0")
    refused(dense, r"X\.npy is longer than it should be: 1,089 bytes, not 1,088")
    (dense / "X.npy").write_bytes(content[:-1])
    refused(dense, r"X\.npy is truncated: 1,087 bytes, not 1,088")
    (dense / "X.npy").unlink()
    refused(dense, r"X\.npy is not there")


def test_places_where_there_is_none(dense: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(dense / "meta.json", "it is no folder")
    refused(dense / "nowhere", "it is not there")
    refused(dense.parent, "there is no meta.json in it")
    size = (dense / "meta.json").stat().st_size
    monkeypatch.setattr(mapped, "_MOST_META", size)
    assert len(toprank.open_dataset(dense)) == 40
    monkeypatch.setattr(mapped, "_MOST_META", size - 1)
    refused(dense, "longer than any that toprank writes")


def test_only_checked_entries_are_marked_as_checked(dense: Path, csr: Path) -> None:
    assert is_checked(toprank.open_dataset(dense).X)
    assert not is_checked(toprank.open_dataset(change(dense, finite=False)).X)
    assert not is_checked(toprank.open_dataset(csr).X.data)


def test_how_data_sets_show_themselves(dense: Path, csr: Path) -> None:
    assert (toprank.open_dataset(dense).classes, toprank.open_dataset(csr).classes) == (
        ("0", "1"),
        ("-1", "1"),
    )
    assert repr(toprank.open_dataset(dense)) == f"<{dense}: 40 rows, 3 columns, dense float64>"
    assert repr(toprank.open_dataset(csr)) == f"<{csr}: 3 rows, 3 columns, sparse float32>"


def test_rows_without_an_entry(tmp_path: Path) -> None:
    (tmp_path / "e.svm").write_text("1\n-1\n1\n")
    data = convert(tmp_path / "e.svm", tmp_path / "e.toprank")
    assert data.X.shape[0] == 3
    assert data.X.nnz == 0
    assert data.y.tolist() == [1, 0, 1]


def test_pointers_of_another_type(csr: Path) -> None:
    meta = json.loads((csr / "meta.json").read_text())
    np.save(csr / "X.indptr.npy", np.load(csr / "X.indptr.npy").astype("<i8"))
    files = meta["files"] | {"X.indptr": said("<i8", 4)}
    refused(change(csr, files=files), "indices and pointers are of different types")


def test_the_last_pointer_is_that_of_the_last_entry(tmp_path: Path) -> None:
    (tmp_path / "s.svm").write_text("1 1:5 3:7\n-1 2:6\n")
    folder = tmp_path / "s.toprank"
    convert(tmp_path / "s.svm", folder)
    assert toprank.open_dataset(folder).X.toarray().tolist() == [[5, 0, 7], [0, 6, 0]]
    for pointers in ([0, 3, 2], [0, 2, 4], [1, 2, 3], [1, 1, 3]):
        np.save(folder / "X.indptr.npy", np.array(pointers, dtype="<i4"))
        refused(folder, "its pointers do not go with its entries")


def test_a_folder_is_known_by_its_metadata(dense: Path) -> None:
    assert mapped.is_data_set(str(dense))
    assert not mapped.is_data_set(str(dense.parent))
    assert not mapped.is_data_set(str(dense / "X.npy"))


def test_names_of_rows(dense: Path) -> None:
    assert toprank.open_dataset(dense).ids is None
    meta = json.loads((dense / "meta.json").read_text())
    np.save(dense / "ids.npy", np.arange(40) * 3)
    change(dense, files=meta["files"] | {"ids": said("<i8", 40)})
    assert toprank.open_dataset(dense).ids.tolist() == list(range(0, 120, 3))
    letters = ["ä"] * 20 + ["b"] * 20
    joined = np.frombuffer("".join(letters).encode(), dtype=np.uint8)
    np.save(dense / "ids.text.npy", joined)
    np.save(dense / "ids.ends.npy", np.cumsum([len(one.encode()) for one in letters]))
    files = meta["files"] | {"ids.text": said("|u1", 60), "ids.ends": said("<i8", 40)}
    change(dense, files=files)
    assert toprank.open_dataset(dense).ids.tolist() == letters
    np.save(dense / "ids.ends.npy", np.arange(1, 41))  # between the two bytes of a letter
    with pytest.raises(DataFileError, match="its ids are no UTF-8"):
        len(toprank.open_dataset(dense).ids)
