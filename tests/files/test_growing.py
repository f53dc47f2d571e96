"""Arrays that grow in a folder: what was noted is taken up again, what was not is cut off."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from toprank.files import mapped_writing
from toprank.files.mapped_writing import HEADER, Folder, Growing

NOTE = "progress.json"


@pytest.mark.parametrize("width", [None, 3])
def test_an_array_is_the_rows_that_were_added(width: int | None, tmp_path: Path) -> None:
    file = tmp_path / "X.npy"
    rows = np.arange(12.0).reshape(-1, width or 1).squeeze()
    for kind in ("<f4", "<f8"):
        array = Growing(file, kind, width, 0)
        array.add(rows[:1])
        array.add(rows[1:])
        assert array.shape == rows.shape
        array.close()
        assert_array_equal(np.load(file), rows)
        assert np.load(file).dtype == kind
        # NumPy wants the numbers of a file to begin at a multiple of 64.
        assert HEADER % 64 == 0
        assert file.read_bytes()[HEADER:] == rows.astype(kind).tobytes()


@pytest.mark.parametrize("width", [None, 3])
def test_an_array_is_cut_back_to_what_was_noted(width: int | None, tmp_path: Path) -> None:
    file = tmp_path / "X.npy"
    rows = np.arange(24.0).reshape(-1, width or 1).squeeze()
    array = Growing(file, "<f8", width, 0)
    array.add(rows[:4])
    array.abandon()
    with file.open("ab") as more:
        more.write(b"half a row")
    array = Growing(file, "<f8", width, 2)
    assert array.shape == rows[:2].shape
    array.add(rows[2:])
    array.close()
    assert_array_equal(np.load(file), rows)


def test_every_so_many_bytes_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped_writing, "_OFTEN", 10)
    folder = Folder(str(tmp_path / "t"), {"a": 1})
    assert folder.path == tmp_path / ".t.part"
    y = folder.array("y", "|i1")
    assert folder.array("y", "|i1") is y

    def noted() -> Any:
        file = folder.path / NOTE
        return json.loads(file.read_text()) if file.exists() else None

    y.add(np.zeros(5))
    folder.note(9, {"step": 1})
    assert noted() is None
    folder.note(1, {"step": 2})
    assert noted() == {"same": {"a": 1}, "state": {"step": 2}, "lengths": {"y": 5}}
    y.add(np.zeros(1))
    folder.note(9, {"step": 3})
    assert noted()["state"] == {"step": 2}
    folder.note(1, {"step": 4})
    assert (noted()["state"], noted()["lengths"]) == ({"step": 4}, {"y": 6})
    folder.note(1, {"step": 5}, now=True)
    assert noted()["state"] == {"step": 5}
    folder.forget_note()
    folder.forget_note()
    assert noted() is None
    folder.discard()


def left(target: Path) -> Path:
    """A folder as a kill leaves it: two labels are noted, and one more was written."""
    folder = Folder(str(target), {"a": 1})
    y, ends = folder.array("y", "|i1"), folder.array("ids.ends", "<i8")
    y.add(np.array([1, 0]))
    folder.note(1, {"step": 1}, now=True)
    y.add(np.array([1]))
    ends.add(np.array([7]))
    folder.abandon()
    return folder.path


def test_what_was_left_is_taken_up(tmp_path: Path) -> None:
    left(tmp_path / "t")
    folder = Folder(str(tmp_path / "t"), {"a": 1})
    assert folder.state == {"step": 1}
    y = folder.array("y", "|i1")
    assert y.rows == 2
    y.add(np.array([0, 0, 1]))
    folder.array("ids.ends", "<i8")
    folder.finish({"label": "ä"})
    assert_array_equal(np.load(tmp_path / "t" / "y.npy"), [1, 0, 0, 0, 1])
    assert np.load(tmp_path / "t" / "ids.ends.npy").shape == (0,)
    assert {path.name for path in tmp_path.iterdir()} == {"t"}
    names = {path.name for path in (tmp_path / "t").iterdir()}
    assert names == {"y.npy", "ids.ends.npy", "meta.json"}
    text = (tmp_path / "t" / "meta.json").read_text(encoding="utf-8")
    assert '"ä"' in text
    assert json.loads(text) == {
        "format": "toprank data",
        "version": 1,
        "label": "ä",
        "files": {
            "y": {"dtype": "|i1", "shape": [5]},
            "ids.ends": {"dtype": "<i8", "shape": [0]},
        },
    }


@pytest.mark.parametrize(
    "change",
    [
        {"same": {"a": 2}},
        {"lengths": {"y": -1}},
        {"lengths": {"y": 2, "../y": 2}},
        {"lengths": {"y": 2, "weight": 2}},
    ],
)
def test_what_is_not_of_the_same_work_is_begun_anew(change: dict[str, Any], tmp_path: Path) -> None:
    path = left(tmp_path / "t")
    (tmp_path / "y.npy").touch()  # where the second name leads
    note = json.loads((path / NOTE).read_text())
    (path / NOTE).write_text(json.dumps(note | change))
    folder = Folder(str(tmp_path / "t"), {"a": 1})
    assert folder.state == {}
    assert list(path.iterdir()) == []
    assert folder.array("y", "|i1").rows == 0
    folder.abandon()


@pytest.mark.parametrize("text", ["[]", "3", "", "{"])
def test_a_note_that_is_none(text: str, tmp_path: Path) -> None:
    path = left(tmp_path / "t")
    (path / NOTE).write_text(text)
    assert Folder(str(tmp_path / "t"), {"a": 1}).state == {}
    assert list(path.iterdir()) == []


def test_places_that_will_not_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such folder") as lacking:
        Folder(str(tmp_path / "none" / "t"), {})
    assert lacking.value.errno == errno.ENOENT
    assert lacking.value.filename == str(tmp_path / "none")
    (tmp_path / "t").touch()
    with pytest.raises(FileExistsError, match="it exists: remove it, or name another"):
        Folder(str(tmp_path / "t"), {})
    folder = Folder(str(tmp_path / "u"), {})
    folder.array("y", "|i1")
    folder.discard()
    folder.discard()  # what is gone is no error
    assert {path.name for path in tmp_path.iterdir()} == {"t"}
