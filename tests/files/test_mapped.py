"""Data sets in files: what is converted is what would be in memory; what is damaged is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import toprank
from toprank.features import table_pipeline
from toprank.files import DataFileError, convert, converting, mapped_writing, preparing
from toprank.files.errors import TableError

RNG = np.random.default_rng(0)
N = 400
TABLE = pd.DataFrame(
    {
        "case": [f"c{k:04d}" for k in range(N)],
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.integers(18, 90, N).astype(float)),
        "job": RNG.choice(["clerk", "nurse", "smith", "ä"], N),
        "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, N), unit="D"),
        "amount": RNG.gamma(2.0, 50.0, N),
        "weigh": RNG.integers(0, 3, N).astype(float),
        "fraud": np.where(RNG.random(N) < 0.2, "yes", "no"),
    }
)
LEARNT = ["age", "job", "since", "amount"]


def written(table: pd.DataFrame, folder: Path, format: str) -> Path:
    """The table in a file of this format."""
    file = folder / f"table.{format}"
    if format in ("csv", "tsv"):
        table.to_csv(file, index=False, sep="," if format == "csv" else "\t")
    elif format == "parquet":
        table.to_parquet(file, row_group_size=150)
    else:
        table.to_feather(file)
    return file


def converted(table: pd.DataFrame, folder: Path, format: str = "csv", **options: Any) -> Any:
    """The table in a file, converted."""
    options = {"label": "fraud", "dtype": "float64"} | options
    return convert(written(table, folder, format), folder / "train.toprank", **options)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet", "feather"])
@pytest.mark.parametrize("scale", [True, False])
def test_convert_is_the_route_in_memory(tmp_path: Path, format: str, scale: bool) -> None:
    data = converted(TABLE, tmp_path, format, id="case", weight="weigh", scale=scale)
    route = make_pipeline(*(step for _, step in table_pipeline().steps))
    if scale:
        route = make_pipeline(*(step for _, step in route.steps), StandardScaler())
    truth = route.fit_transform(TABLE[LEARNT])
    assert_allclose(data.X, truth, rtol=1e-12, atol=1e-12)
    assert isinstance(data.X, np.memmap)
    assert not data.X.flags.writeable
    assert_array_equal(data.y, TABLE["fraud"] == "yes")
    assert data.classes == ("no", "yes")
    assert_array_equal(data.ids, TABLE["case"])
    assert_array_equal(data.sample_weight, TABLE["weigh"])
    assert data.feature_names == [str(name) for name in route.get_feature_names_out()]
    assert len(data) == N
    model = toprank.LogisticRank(1e-2).fit(data.X, data.y, data.sample_weight)
    again = toprank.LogisticRank(1e-2).fit(
        np.array(data.X), TABLE["fraud"] == "yes", TABLE["weigh"]
    )
    assert_array_equal(model.coef_, again.coef_)


def test_a_large_table_is_told_by_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "CELLS", 100)
    data = converted(TABLE, tmp_path, "csv", id="case", weight="weigh", scale=False)
    names = data.feature_names
    assert "missingindicator_age" in names  # though hardly any row is looked at
    there = TABLE["age"].notna()
    assert_allclose(data.X[there, names.index("age")], TABLE["age"][there])
    assert_allclose(data.X[:, names.index("amount")], TABLE["amount"], rtol=1e-12)


@pytest.mark.parametrize("cells", [preparing.CELLS, 10])
def test_a_missing_number_that_parquet_does_not_tell_of(
    tmp_path: Path, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.setattr(preparing, "CELLS", cells)  # of few, the first look meets none
    x = RNG.random(600)
    x[577] = np.nan  # stored as a number, and so not counted as missing
    rows = pa.table({"x": pa.array(x, from_pandas=False), "fraud": np.arange(600) % 2})
    parquet.write_table(rows, tmp_path / "t.parquet", row_group_size=100)
    data = convert(tmp_path / "t.parquet", tmp_path / "t.toprank", label="fraud", scale=False)
    assert data.feature_names == ["x", "missingindicator_x"]
    assert_array_equal(np.flatnonzero(data.X[:, 1]), [577])


@pytest.mark.parametrize("word", ["NAN", "+nan", "Nan"])
def test_a_missing_number_in_words_that_only_arrow_knows(
    tmp_path: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "CELLS", 10)
    lines = [f"{word if k == 57 else k / 10},{k % 2}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]))
    data = convert(tmp_path / "t.csv", tmp_path / "t.toprank", label="y", scale=False)
    assert data.feature_names == ["x", "missingindicator_x"]
    assert_array_equal(np.flatnonzero(data.X[:, 1]), [57])


@pytest.mark.parametrize("from_zero", [True, False])
def test_sparse_rows(tmp_path: Path, from_zero: bool) -> None:
    written_out = np.where(RNG.random((300, 40)) < 0.1, RNG.random((300, 40)), 0.0)
    written_out[0, 0] = 1.0
    X = sparse.csr_array(written_out)
    y = RNG.choice([-1, 1], 300)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=from_zero)
    data = convert(tmp_path / "t.svm", tmp_path / "t.toprank", dtype="float64")
    assert sparse.issparse(data.X)
    assert_allclose(data.X.toarray(), X.toarray()[:, : data.X.shape[1]], rtol=1e-12)
    assert_array_equal(data.y, y == 1)
    assert data.classes == ("-1", "1")
    assert toprank.RectPushApp(1e-2).fit(data.X, data.y).certificate_.holds(1e-4)


def test_arrays(tmp_path: Path) -> None:
    X, y = RNG.normal(size=(120, 3)), np.arange(120) % 3 == 0
    for order in ("C", "F"):
        np.savez_compressed(
            tmp_path / f"{order}.npz", X=np.asarray(X, order=order), y=y.astype(int)
        )
        file, target = tmp_path / f"{order}.npz", tmp_path / f"{order}.toprank"
        data = convert(file, target, label="y", scale=False, dtype="float64")
        assert_array_equal(data.X, X)
        assert_array_equal(data.y, y)


KILLED = """
    import os, signal, sys
    from toprank.files import batches, converting, mapped_writing
    mapped_writing._OFTEN = 1
    batches.CHUNK, batches.BLOCK = 40, 2000
    def tell(rows, what):
        if what == "converting" and rows >= int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
    options = {"label": "fraud", "id": "case", "weight": "weigh"}
    converting.convert(sys.argv[1], sys.argv[2], tell=tell, **options)
"""


@pytest.mark.parametrize("format", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("rows", [1, 200, 399])
def test_a_killed_conversion_goes_on(tmp_path: Path, format: str, rows: int) -> None:
    file, target = written(TABLE, tmp_path, format), tmp_path / "train.toprank"
    script = textwrap.dedent(KILLED)
    command = [sys.executable, "-c", script, str(file), str(target), str(rows)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert not target.exists()
    seen: list[int] = []
    options: dict[str, Any] = {"label": "fraud", "id": "case", "weight": "weigh"}
    tell = lambda rows, what: seen.append(rows) if what == "converting" else None  # noqa: E731
    data = convert(file, target, tell=tell, **options)
    assert not seen or seen[0] > rows
    whole = convert(file, tmp_path / "whole.toprank", **options)
    assert_array_equal(data.X, whole.X)
    assert_array_equal(data.y, whole.y)
    assert_array_equal(data.ids, whole.ids)
    assert_array_equal(data.sample_weight, whole.sample_weight)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {file.name, "train.toprank", "whole.toprank"}


@pytest.mark.parametrize("where", ["_count_from_zero", "finish"])
def test_a_conversion_stopped_in_its_last_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """What was changed in its place is not changed again: numbers of columns, and labels."""
    file, target = tmp_path / "t.svm", tmp_path / "t.toprank"
    file.write_text("1 1:5 3:7\n-1 2:6\n-1 3:8\n")
    owner = converting._Conversion if where == "_count_from_zero" else mapped_writing.Folder
    whole = getattr(owner, where)

    def stopped(self: Any, *args: Any) -> None:
        if where == "_count_from_zero":
            whole(self, *args)
        raise KeyboardInterrupt

    monkeypatch.setattr(mapped_writing, "_OFTEN", 1)
    with monkeypatch.context() as patch:
        patch.setattr(owner, where, stopped)
        with pytest.raises(KeyboardInterrupt):
            convert(file, target)
    data = convert(file, target)
    assert_array_equal(data.X.toarray(), [[5, 0, 7], [0, 6, 0], [0, 0, 8]])
    assert_array_equal(data.y, [1, 0, 0])
    assert data.classes == ("-1", "1")


def test_labels_that_are_numbers_are_compared_as_numbers(tmp_path: Path) -> None:
    table = TABLE.assign(fraud=np.where(TABLE["fraud"] == "yes", 10, 9))
    data = converted(table, tmp_path)
    assert data.classes == ("9", "10")
    assert_array_equal(data.y, TABLE["fraud"] == "yes")


@pytest.mark.parametrize("option", ["label", "id", "weight", "ignore", "category"])
def test_sparse_rows_have_no_names(tmp_path: Path, option: str) -> None:
    (tmp_path / "t.svm").write_text("1 1:5\n-1 2:6\n")
    named = {option: ["x"] if option in ("ignore", "category") else "x"}
    with pytest.raises(TableError, match=f"no names: leave --{option} out"):
        convert(tmp_path / "t.svm", tmp_path / "t.toprank", **named)


def test_a_sparse_row_without_a_label(tmp_path: Path) -> None:
    (tmp_path / "t.svm").write_text("1 1:5\n-1 2:6\nnan 2:1\n")
    with pytest.raises(TableError, match=r"t\.svm, row 3: the label is missing"):
        convert(tmp_path / "t.svm", tmp_path / "t.toprank")


def test_a_table_that_changed_is_begun_anew(tmp_path: Path) -> None:
    file, target = written(TABLE, tmp_path, "csv"), tmp_path / "train.toprank"
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(file), str(target), "200"]
    subprocess.run(command, check=False)
    other = TABLE.assign(amount=1.0 + TABLE["amount"])
    data = converted(other, tmp_path, id="case", weight="weigh", scale=False)
    place = data.feature_names.index("amount")
    assert_allclose(data.X[:, place], other["amount"], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"fraud": "yes"}, "there must be two labels, and all rows have 'yes'"),
        ({"fraud": RNG.choice(["a", "b", "c"], N)}, "is a third label"),
        (
            {"fraud": [None, *["yes", "no"] * 199, "no"]},
            "row 1, column 'fraud': the label is missing",
        ),
        (
            {"amount": [*[1.0] * 7, np.inf, *[2.0] * 392]},
            "row 8, column 'amount': 'inf' is no finite",
        ),
        ({"amount": [*[1.0] * 7, 1e39, *[2.0] * 392]}, "row 8, column 'amount': 1e\\+39 is beyond"),
        ({"weigh": [*[1.0] * 7, -1.0, *[2.0] * 392]}, "row 8, column 'weigh': -1 is no weight"),
        ({"weigh": [*[1.0] * 7, np.nan, *[2.0] * 392]}, "row 8, column 'weigh': nan is no weight"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    options = {"weight": "weigh", "scale": False, "dtype": "float32"}
    with pytest.raises(TableError, match=told):
        converted(TABLE.assign(**change), tmp_path, **options)
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv"}


def test_what_is_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="has no column 'age2'"):
        converted(TABLE, tmp_path, id="age2")
    with pytest.raises(TableError, match="--positive maybe is no label"):
        converted(TABLE, tmp_path, positive="maybe")
    with pytest.raises(TableError, match="--label COLUMN is missing"):
        converted(TABLE, tmp_path, label=None)
    with pytest.raises(TableError, match="has no rows"):
        converted(TABLE[:0], tmp_path)
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        converted(TABLE, tmp_path, dtype="float16")
    with pytest.raises(TableError, match="standard input can be read once"):
        convert("-", tmp_path / "x.toprank", label="fraud")
    data = converted(TABLE, tmp_path, positive="no")
    assert data.classes == ("yes", "no")
    assert_array_equal(data.y, TABLE["fraud"] == "no")
    with pytest.raises(FileExistsError, match="it exists"):
        converted(TABLE, tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set."""
    return Path(converted(TABLE, tmp_path, id="case", weight="weigh").path)


@pytest.mark.parametrize("name", ["X", "y", "weight", "ids.text", "ids.ends"])
@pytest.mark.parametrize("by", [-1, 1, -4000])
def test_files_of_a_wrong_length_are_refused(folder: Path, name: str, by: int) -> None:
    file = folder / f"{name}.npy"
    content = file.read_bytes()
    file.write_bytes(
        content + b"\0" * by if by > 0 else content[:by] if len(content) > -by else b""
    )
    with pytest.raises(DataFileError, match=rf"{name}.npy is (truncated|longer|no .npy)"):
        len(toprank.open_dataset(folder).ids)  # which are not looked at before


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": "1"},
        {"version": True},
        {"format": "toprank model"},
        {"rows": -1},
        {"rows": 401},
        {"rows": 4.0},
        {"rows": 10**30},
        {"columns": None},
        {"kind": "csr"},
        {"kind": "../../etc"},
        {"names": "abc"},
        {"names": ["x"]},
        {"classes": ["a"]},
        {"classes": [["a"], 1]},
        {"files": {}},
        {"files": {"../../etc/passwd": {"dtype": "<f8", "shape": [1]}}},
        {"files": {"X": {"dtype": "|O", "shape": [400, 4]}}},
        {
            "files": {
                "X": {"dtype": "<f8", "shape": [400, -4]},
                "y": {"dtype": "|i1", "shape": [400]},
            }
        },
        {"files": {"X": [1, 2], "y": 3}},
    ],
)
def test_hostile_metadata_are_refused(folder: Path, change: dict[str, Any]) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | change))
    with pytest.raises(DataFileError, match="cannot be opened"):
        toprank.open_dataset(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\xff", '{"format": 1}'])
def test_metadata_that_are_none(folder: Path, text: str) -> None:
    (folder / "meta.json").write_bytes(text.encode("latin1"))
    with pytest.raises(DataFileError, match="cannot be opened"):
        toprank.open_dataset(folder)


def test_what_is_no_data_set(folder: Path) -> None:
    for path in (folder / "meta.json", folder / "nowhere", folder.parent):
        with pytest.raises(DataFileError, match="cannot be opened"):
            toprank.open_dataset(path)
    np.save(folder / "X.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataFileError, match=r"X.npy holds another array"):
        toprank.open_dataset(folder)
    (folder / "y.npy").unlink()
    (folder / "y.npy").symlink_to("/dev/zero")
    with pytest.raises(DataFileError, match=r"y.npy is no regular file"):
        toprank.open_dataset(folder)
