"""The zip of a model, byte by byte: what is in it, and what a changed one is refused for."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank
from toprank.files import ModelFileError, archive
from toprank.files.archive import TEXT, Reader, Writer
from toprank.files.model import load_with_metadata, read_summary, summary_of
from toprank.selection import RankerCV

LONG = "x" * 300


def written(path: Path, text: dict[str, Any], *arrays: Any) -> Path:
    with path.open("wb") as file, Writer(file) as writer:
        for array in arrays:
            writer.add(array)
        writer.tell(text)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "model.toprank", {"a": "ä"}, np.arange(3.0))


def refused(path: Path, why: str) -> None:
    with pytest.raises(ModelFileError, match=why), Reader(path) as reader:
        reader.array("arrays/0.npy")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(3),
        np.array([True, False]),
        np.array([1, -1], dtype=np.int8),
        np.array(["ä", "bc"]),
        np.zeros((0, 3)),
        np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8")]),
    ],
)
def test_an_array_comes_back_as_it_was(array: Any, tmp_path: Path) -> None:
    with Reader(written(tmp_path / "m", {}, array)) as reader:
        back = reader.array("arrays/0.npy")
        assert reader.array("arrays/0.npy") is back
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()
    assert back.flags.f_contiguous == array.flags.f_contiguous


def test_what_is_in_the_zip(path: Path) -> None:
    with zipfile.ZipFile(path) as file:
        assert file.namelist() == ["arrays/0.npy", TEXT]
        # The first day that a zip knows, so that equal models are equal files.
        assert {one.date_time for one in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert json.loads(file.read(TEXT)) == {"a": "ä"}
        assert "ä".encode() in file.read(TEXT)


def test_an_array_is_written_once() -> None:
    stream, array = io.BytesIO(), np.arange(3.0)
    with Writer(stream) as writer:
        assert [writer.add(one) for one in (array, array.copy(), array)] == [
            *("arrays/0.npy", "arrays/1.npy", "arrays/0.npy")
        ]
        with pytest.raises(ValueError, match=r"[Oo]bject"):
            writer.add(np.array([object()]))
        with pytest.raises(ValueError, match=r"[Nn]a[Nn]|float"):
            writer.tell({"a": float("nan")})


class Full(io.BytesIO):
    """A disk without room."""

    full = False

    def write(self, data: Any) -> int:
        if self.full:
            raise OSError("no room")
        return super().write(data)


def test_a_full_disk_does_not_hide_what_failed_before() -> None:
    def write(failing: bool) -> None:
        disk = Full()
        with Writer(disk) as writer:
            writer.add(np.zeros(3))
            disk.full = True
            if failing:
                raise KeyError("first")

    with pytest.raises(KeyError, match="first"):
        write(failing=True)
    with pytest.raises(OSError, match="no room"):
        write(failing=False)


def test_a_text_as_long_as_may_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(path) as file:
        size = file.getinfo(TEXT).file_size
    monkeypatch.setattr(archive, "_LONGEST_TEXT", size)
    written(path, {"a": "ä"})
    with Reader(path) as reader:
        assert reader.text == {"a": "ä"}
    monkeypatch.setattr(archive, "_LONGEST_TEXT", size - 1)
    refused(path, "its text is longer than 0 MB")
    monkeypatch.setattr(archive, "_LONGEST_TEXT", 3 << 20)
    with pytest.raises(ModelFileError, match="are 4 MB of text, above the 3 MB"):
        written(path, {"a": "x" * (4 << 20)})
    monkeypatch.undo()
    written(path, {"a": "x" * (4 << 20)})
    monkeypatch.setattr(archive, "_LONGEST_TEXT", 3 << 20)
    refused(path, "its text is longer than 3 MB")


def in_the_directory(data: bytes, change: Callable[[bytearray], None]) -> bytes:
    """The zip with the first entry of its directory changed."""
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry = bytearray(data[start:end])
    change(entry)
    return data[:start] + bytes(entry) + data[end:]


def test_entries_that_declare_what_none_has(path: Path) -> None:
    content = path.read_bytes()

    def encrypted(entry: bytearray) -> None:
        entry[8] |= 1

    def two_sizes(entry: bytearray) -> None:
        entry[24] -= 1

    def shorter(entry: bytearray) -> None:
        entry[20] -= 1
        entry[24] -= 1

    for change, why in (
        (encrypted, "its entry 'arrays/0.npy' is compressed or encrypted"),
        (two_sizes, "its entry 'arrays/0.npy' declares two sizes"),
        (shorter, "its array 'arrays/0.npy' is (damaged|truncated)"),
    ):
        path.write_bytes(in_the_directory(content, change))
        refused(path, why)


def zipped(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return path


def test_what_a_file_is_called_by_is_told_shortened(path: Path) -> None:
    refused(zipped(path, {TEXT: b"{}", LONG: b""}), "it has an entry 'x{80}', which no model")
    with Reader(zipped(path, {TEXT: b"{}"})) as reader:
        for name, told in ((LONG, "'x{80}'"), (TEXT, "'model.json'"), (3, "'3'"), ([1], r"'\[1\]")):
            with pytest.raises(ModelFileError, match=f"its array {told}.* is missing"):
                reader.array(name)
    head = io.BytesIO()
    declared = {"descr": "<f8", "fortran_order": False, "shape": (10**300,)}
    np.lib.format.write_array_header_1_0(head, declared)
    entries = {TEXT: b"{}", "arrays/0.npy": head.getvalue() + bytes(8)}
    refused(zipped(path, entries), r"declares shape \(10{78} of 8 bytes each, and holds 8 bytes")


def test_headers_of_the_second_kind_are_read(path: Path) -> None:
    head = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (2,)}
    np.lib.format.write_array_header_2_0(head, about)
    data = head.getvalue() + np.array([1.0, 2.0]).tobytes()
    with Reader(zipped(path, {TEXT: b"{}", "arrays/0.npy": data})) as reader:
        assert reader.array("arrays/0.npy").tolist() == [1.0, 2.0]


def test_columns_with_names_are_refused_where_they_could_not_be_read_again(path: Path) -> None:
    """NumPy reads no header beyond 10,000 letters; of these columns each takes 24 of them."""

    def columns(longer: int) -> Any:
        return [(f"column_{k:04d}" + "x" * longer * (k == 0), "<f8") for k in range(333)]

    for shape in ((2,), (1,) * 30):
        array = np.zeros(shape, dtype=columns(8))
        toprank.save(toprank.TopPush(), path, metadata={"a": array})
        assert load_with_metadata(path)[1]["a"].dtype == array.dtype
    told = r"metadata\['a'\] is an array of columns with names, more of them than NumPy reads again"
    with pytest.raises(ModelFileError, match=told):
        toprank.save(toprank.TopPush(), path, metadata={"a": np.zeros(2, dtype=columns(9))})


def changed(path: Path, **changes: Any) -> Path:
    """A model file with another text."""
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    entries[TEXT] = json.dumps(json.loads(entries[TEXT]) | changes).encode()
    return zipped(path, entries)


def test_a_version_of_scikit_learn_is_told_of_by_its_first_two_numbers(tmp_path: Path) -> None:
    path = tmp_path / "model.toprank"
    toprank.save(make_pipeline(StandardScaler(), toprank.TopPush()), path)
    first, second = version("scikit-learn").split(".")[:2]
    assert read_summary(path)["written_with"]["scikit-learn"] == version("scikit-learn")
    for same in (f"{first}.{second}.99", f"{first}.{second}"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            toprank.load(changed(path, written_with={"scikit-learn": same}))
    for written_with, told in (
        ({"scikit-learn": f"{first}.{int(second) + 1}.0"}, "scikit-learn 1"),
        ({"scikit-learn": LONG}, "scikit-learn x{40}, and"),
        (LONG, "scikit-learn , and"),
    ):
        with pytest.warns(UserWarning, match=told):
            toprank.load(changed(path, written_with=written_with))


def test_texts_that_hold_no_model(tmp_path: Path) -> None:
    path = tmp_path / "model.toprank"
    toprank.save(toprank.TopPush(), path, metadata={"a": 1})
    assert repr(toprank.load(path)) == repr(toprank.TopPush())
    assert load_with_metadata(path)[1] == {"a": 1}
    nothing = {"$": "list", "items": []}
    record = {"$": "record", "class": "sklearn.KFold", "attributes": {}}
    for changes, why in (
        ({"version": 2, "toprank": LONG}, "toprank x{40} wrote it, in a form that is newer"),
        ({"format": "another"}, "it is no model file of toprank"),
        ({"version": 1.0}, "it is no model file of toprank"),
        ({"metadata": nothing}, "it holds no estimator"),
        ({"model": record}, "it holds no estimator"),
    ):
        toprank.save(toprank.TopPush(), path)
        with pytest.raises(ModelFileError, match=why):
            toprank.load(changed(path, **changes))
    for name in ("model", "metadata"):
        toprank.save(toprank.TopPush(), path)
        with zipfile.ZipFile(path) as file:
            text = json.loads(file.read(TEXT))
        del text[name]
        with pytest.raises(ModelFileError, match="it holds no model"):
            toprank.load(zipped(path, {TEXT: json.dumps(text).encode()}))
    for value in (3, [1], {"a": 1}, np.zeros(3)):
        with pytest.raises(ModelFileError, match="cannot be saved: it is no estimator"):
            toprank.save(value, path)


def test_a_model_in_plain_words() -> None:
    X = np.random.default_rng(0).standard_normal((60, 2))
    ranker = toprank.LogisticRank(0.5, pos_label="yes").fit(X, np.where(X[:, 0] > 0.5, "yes", "no"))
    found = summary_of(ranker)
    assert found["class"] == "LogisticRank"
    assert found["steps"] == []
    assert found["parameters"]["alpha"] == 0.5
    assert None not in found["parameters"].values()
    assert found["classes"] == ["no", "yes"]
    assert (found["n_features"], found["feature_names"]) == (2, None)
    assert found["certificate"]["primal"] == repr(float(ranker.certificate_.primal))
    found = summary_of(make_pipeline(StandardScaler(), toprank.TopPush(float("inf"))))
    assert found["class"] == "TopPush"
    assert found["steps"] == ["StandardScaler", "TopPush"]
    assert "alpha" not in found["parameters"]
    assert (found["classes"], found["n_features"], found["certificate"]) == (None, None, None)
    assert found["preprocessing"] is None
    alphas = [0.1 + k for k in range(200)]
    found = summary_of(RankerCV(toprank.TopPush(0.5), alphas=alphas))["parameters"]
    assert found["alphas"] == repr(alphas)[:200]
    assert "estimator__alpha" not in found
