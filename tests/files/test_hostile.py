"""Files that are broken, foreign or made to do harm are refused, and nothing in them is run."""

from __future__ import annotations

import io
import json
import pickle
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toprank
from toprank.files import ModelFileError

Entries = dict[str, bytes]


class Bomb:
    def __reduce__(self) -> Any:
        return (pytest.fail, ("the file was unpickled",))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    model = toprank.LogisticRank().fit(X, X[:, 0] > 0.5)
    path = tmp_path_factory.mktemp("model") / "model.toprank"
    toprank.save(model, path)
    return path


def entries(path: Path) -> Entries:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, content: Entries, **options: Any) -> Path:
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def refused(path: Path, why: str) -> None:
    with pytest.raises(ModelFileError, match=why) as caught:
        toprank.load(path)
    assert path.name in str(caught.value)
    assert isinstance(caught.value, ValueError)


def npy(array: Any, **changes: Any) -> bytes:
    """An .npy, with what its header declares changed."""
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape} | changes
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()


def test_every_truncation_is_refused(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    for length in [*range(0, len(content), 97), len(content) - 1]:
        path = tmp_path / "cut.toprank"
        path.write_bytes(content[:length])
        refused(path, "truncated|no model file")


def test_a_flipped_byte_is_refused_or_harmless(whole: Path, tmp_path: Path) -> None:
    content = bytearray(whole.read_bytes())
    path = tmp_path / "flipped.toprank"
    refusals = 0
    for place in range(0, len(content), 61):
        content[place] ^= 0xFF
        path.write_bytes(content)
        content[place] ^= 0xFF
        try:
            toprank.load(path)
        except ModelFileError:
            refusals += 1
    assert refusals > 0.8 * len(range(0, len(content), 61))  # fields that nobody reads are left


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"id,label\n1,0\n", pickle.dumps(Bomb()), b"\x00" * 5000]
)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "foreign.toprank"
    path.write_bytes(content)
    refused(path, "no model file")


def test_zips_of_others(whole: Path, tmp_path: Path) -> None:
    path, own = tmp_path / "other.toprank", entries(whole)
    refused(write(path, {}), "without 'model.json'")
    refused(write(path, {"arrays/0.npy": own["arrays/0.npy"]}), "without 'model.json'")
    for name in ("../model.json", "/etc/passwd", "arrays/../0.npy", "arrays/00.npy", "a.pkl"):
        refused(write(path, own | {name: b""}), "which no model file has")
    for text in (b"", b"[]", b"3", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": NaN}'):
        refused(write(path, {"model.json": text}), "toprank wrote")
    for text in ({}, {"format": "toprank model"}, {"format": "another", "version": 1}):
        refused(write(path, {"model.json": json.dumps(text).encode()}), "no model file of toprank")


def test_duplicate_names(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "twice.toprank"
    write(path, entries(whole))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.json", b"{}")
    refused(path, "two entries")


def test_bombs(whole: Path, tmp_path: Path) -> None:
    path, own = tmp_path / "bomb.toprank", entries(whole)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # A compressed gigabyte in a megabyte: nothing compressed is read.
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("model.json", "w") as entry,
    ):
        for _ in range(64):
            entry.write(b" " * (1 << 20))
    refused(path, "compressed")
    # Entries that share their bytes: together they declare more than the file has.
    content = {"model.json": own["model.json"], "arrays/0.npy": b"0" * 100_000}
    write(path, content)
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    end = data.index(b"PK\x05\x06")
    central = bytes(data[start:end])
    copies = b"".join(central.replace(b"arrays/0", f"arrays/{k}".encode()) for k in range(1, 10))
    tail = bytearray(data[end:])
    for offset, step in ((8, 9), (10, 9)):
        number = int.from_bytes(tail[offset : offset + 2], "little") + step
        tail[offset : offset + 2] = number.to_bytes(2, "little")
    size = int.from_bytes(tail[12:16], "little") + len(copies)
    tail[12:16] = size.to_bytes(4, "little")
    path.write_bytes(bytes(data[:end]) + copies + bytes(tail))
    refused(path, "larger than the file")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # kB


def test_arrays_that_are_none(whole: Path, tmp_path: Path) -> None:
    path, own = tmp_path / "array.toprank", entries(whole)
    floats = np.zeros(4)
    stream = io.BytesIO()
    np.save(stream, np.array([Bomb()], dtype=object), allow_pickle=True)
    name = next(name for name in own if name.startswith("arrays/"))
    for content, why in (
        (stream.getvalue(), "Python objects"),
        (npy(floats, shape=(10**15,)), "declares shape"),
        (npy(floats, shape=(10**9, 10**9, 10**9)), "declares shape"),
        (npy(floats, shape=(3,)), "declares shape"),
        (npy(floats, descr="|V0", shape=(10**12,)), "no shape that can be"),
        (npy(floats, shape=(-2, -2)), "no shape that can be"),
        (npy(floats[:0], shape=(0, 10**30)), "no shape that can be"),
        (npy(floats[:1], shape=(1,) * 100), "no shape that can be"),
        (npy(floats, descr=("<f8", (2,)), shape=(2,)), "no shape that can be"),
        (npy(floats, descr="<U-5"), "no header|declares shape|no shape"),
        (npy(floats, descr="<U99999999999999999999"), "no header"),
        (npy(floats, descr="<M8[-3s]"), "no header"),
        (npy(floats, descr="<f8" * 10_000), "no header"),
        (npy(floats, descr="no type"), "no header"),
        (npy(floats)[:20], "no header"),
        (npy(floats).replace(b"(4,)", b"(4, "), "no header"),
        (npy(floats).replace(b"(4,)", b"4L,)"), "no header"),
        (b"", "no header"),
    ):
        refused(write(path, own | {name: content}), why)
    refused(write(path, {key: data for key, data in own.items() if key != name}), "missing")


CHANGES: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda text: text.update(version=2, toprank="9.0"), "toprank 9.0 .*newer.*update"),
    (lambda text: text.update(version="1"), "no model file"),
    (lambda text: text.pop("model"), "no model"),
    (lambda text: text.update(model=3), "no estimator"),
    (lambda text: text.update(metadata=[]), "does not know"),
    (lambda text: text["model"].update({"class": "os.system"}), "does not know"),
    (lambda text: text["model"].update({"class": "toprank.Ranker"}), "does not know"),
    (lambda text: text["model"].update({"class": ["toprank.TopPush"]}), "does not know"),
    (lambda text: text["model"].update({"class": "toprank.Certificate"}), "does not know"),
    (lambda text: text["model"].update({"$": "record"}), "does not know"),
    (lambda text: text["model"].update({"$": "pickle"}), "does not know"),
    (lambda text: text["model"].pop("class"), "not as toprank writes"),
    (lambda text: text["model"].update(parameters=[]), "not as toprank writes"),
    (lambda text: text["model"]["parameters"].update(gamma=1), "no parameter 'gamma'"),
    (lambda text: text["model"]["attributes"].update({"__class__": 1}), "none is called"),
    (lambda text: text["model"]["attributes"].update({"a b": 1}), "none is called"),
    (lambda text: text["model"]["attributes"].update({"fit": 1}), "would replace"),
    (
        lambda text: text["model"]["attributes"].update(
            coef_={"$": "objects", "shape": [10**12], "items": []}
        ),
        "declares shape",
    ),
    (
        lambda text: text["model"]["attributes"].update(
            coef_={"$": "function", "name": "builtins.eval"}
        ),
        "does not know",
    ),
    (
        lambda text: text["model"]["attributes"].update(coef_={"$": "array", "array": "../x"}),
        "missing",
    ),
    (
        lambda text: text["model"]["attributes"].update(
            coef_={
                "$": "csr_array",
                "shape": [10**12, 3],
                **dict.fromkeys(("data", "indices", "indptr"), "arrays/0.npy"),
            }
        ),
        "sparse matrix|not as toprank writes",
    ),
    (
        lambda text: text["model"]["attributes"].update(coef_={"$": "dtype", "name": "(9,)f8"}),
        "lacks",
    ),
    (
        lambda text: text["model"]["attributes"].update(
            coef_={"$": "objects", "shape": [0, 10**30], "items": []}
        ),
        "not as toprank writes",
    ),
    (
        lambda text: text["model"]["attributes"].update(
            coef_={"$": "objects", "shape": [1] * 100, "items": [1]}
        ),
        "not as toprank writes",
    ),
    (lambda text: text["metadata"].update(items=[["a"]]), "not as toprank writes"),
    (lambda text: text["metadata"].update(items=[["a", 1, 2]]), "not as toprank writes"),
    (lambda text: text["metadata"].update(items=["abc"]), "not as toprank writes"),
    (
        lambda text: text["metadata"].update(items=[["a", {"$": "slice", "items": [1, 2, 3, 4]}]]),
        "not as toprank writes",
    ),
    (
        lambda text: text["metadata"].update(
            items=[["a", {"$": "dtype", "name": "<U" + "9" * 50}]]
        ),
        "lacks",
    ),
    (
        lambda text: text["model"]["attributes"].update(n_features_in_=4),
        "shape .1, 3., but it has 4",
    ),
    (lambda text: text["model"]["attributes"].update(n_features_in_="3"), "no array of weights"),
    (lambda text: text["model"]["attributes"].pop("n_features_in_"), "no array of weights"),
    (lambda text: text["model"]["attributes"].update(coef_=3), "no array of weights"),
]


@pytest.mark.parametrize("k", range(len(CHANGES)))
def test_texts_that_are_changed(k: int, whole: Path, tmp_path: Path) -> None:
    change, why = CHANGES[k]
    own = entries(whole)
    text = json.loads(own["model.json"])
    change(text)
    path = write(tmp_path / "changed.toprank", own | {"model.json": json.dumps(text).encode()})
    refused(path, why)


@pytest.mark.parametrize("kind", ["<M8[ns]", "<m8[s]", ">f8", "<f4", "V8"])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (1,), ()])
def test_weights_of_another_type_or_shape(
    kind: str, shape: tuple[int, ...], whole: Path, tmp_path: Path
) -> None:
    own = entries(whole)
    text = json.loads(own["model.json"])
    name = text["model"]["attributes"]["coef_"]["array"]
    array = npy(np.zeros(shape, kind))
    path = write(tmp_path / "weights.toprank", own | {name: array})
    refused(path, r"LogisticRank.coef_ is of type|no array of weights|coef_ has shape")


def test_an_array_with_named_columns_is_no_number(whole: Path, tmp_path: Path) -> None:
    own = entries(whole)
    text = json.loads(own["model.json"])
    name = text["model"]["attributes"]["intercept_"]["array"]
    array = np.zeros(1, [("a", float)])
    changed = npy(array, descr=np.lib.format.dtype_to_descr(array.dtype))
    refused(write(tmp_path / "named.toprank", own | {name: changed}), "intercept_ is of type")


def test_deep_nesting(whole: Path, tmp_path: Path) -> None:
    own = entries(whole)
    text = json.loads(own["model.json"])
    node: Any = 1
    for _ in range(200):
        node = {"$": "list", "items": [node]}
    text["metadata"] = {"$": "dict", "items": [["deep", node]]}
    path = write(tmp_path / "deep.toprank", own | {"model.json": json.dumps(text).encode()})
    refused(path, "nested too deeply")


def test_a_pipeline_with_a_cache_is_refused(whole: Path, tmp_path: Path) -> None:
    own = entries(whole)
    text = json.loads(own["model.json"])
    steps = {"$": "list", "items": [{"$": "tuple", "items": ["ranker", text["model"]]}]}
    text["model"] = {
        "$": "estimator",
        "class": "sklearn.Pipeline",
        "parameters": {"steps": steps, "memory": str(tmp_path)},
        "attributes": {},
    }
    path = write(tmp_path / "cache.toprank", own | {"model.json": json.dumps(text).encode()})
    refused(path, "read with pickle")


def test_another_scikit_learn_is_told(whole: Path, tmp_path: Path) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    path = tmp_path / "old.toprank"
    toprank.save(make_pipeline(StandardScaler(), toprank.TopPush()), path)
    for source, told in ((path, True), (whole, False)):
        own = entries(source)
        text = json.loads(own["model.json"])
        text["written_with"]["scikit-learn"] = "1.0.2"
        old = write(tmp_path / "older", own | {"model.json": json.dumps(text).encode()})
        if told:
            with pytest.warns(UserWarning, match=r"scikit-learn 1\.0\.2"):
                toprank.load(old)
        else:
            toprank.load(old)  # a ranker alone is all toprank's
