"""Bad input: one sentence that names it, exit code 2, nothing half-written."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import toprank
from toprank.files import batches
from toprank.files.model import load_with_metadata

Run = Callable[..., Result]


def refused(result: Result, *pieces: str) -> None:
    lines = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    lines = [line for line in lines if " is ranked first" not in line]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("toprank: ")
    assert lines[0].endswith(".")
    for piece in pieces:
        assert piece in lines[0]
    assert result.stdout == ""


def changed(folder: Path, target: Path, change: Callable[[pd.DataFrame], Any]) -> Path:
    table = pd.read_csv(folder / "old.csv", dtype={"order": str})
    change(table).to_csv(target, index=False)
    return target


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        (b"", ["data.csv", "is empty"]),
        (b"a,fraud\n", ["data.csv", "has no rows"]),
        (b"fraud\n1\n0\n", ["no column to learn from"]),
        (b"a,b\n1,2\n", ["no column 'fraud'", "'a', 'b'"]),
        (b"a,fraud\n1,0\n2,1\n3,2\n", ["two labels", "there are 3", "'2' (1 row)"]),
        (b"a,fraud\n1,0\n2,0\n", ["two labels", "there is one: '0' (2 rows)"]),
        (b"a,fraud\n1,no\n2,Yes\n3,yes\n", ["there are 3", "capitals or blanks only"]),
        (b"a,fraud\n1,0\n2,\n3,1\n", ["row 2", "column 'fraud'", "missing"]),
        (b"a,fraud\n1,0\n2,1,7,8\n", ["data.csv", "line 3"]),
        ("a,fraud\n1,0\n2,1\n".encode("utf-16"), ["data.csv", "UTF-16"]),
        (b"a,fraud\n\xe9,0\n2,1\n", ["data.csv", "not UTF-8"]),
        (b"a,fraud\ninf,0\n2,1\n", ["row 1", "column 'a'", "no finite number"]),
    ],
)
def test_tables_to_learn_from(content: bytes, pieces: list[str], run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_bytes(content)
    words = ("fit", data, "--label", "fraud", "--model", "logistic", "-o", tmp_path / "model")
    refused(run(*words, code=2), *pieces)
    assert list(tmp_path.iterdir()) == [data]


def test_what_cannot_be_written_is_refused_before_the_table_is_read(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data.csv"  # which is not there
    words = ("fit", data, "--label", "fraud", "-o")
    refused(run(*words, tmp_path / "nowhere" / "model", code=2), "no such folder", "nowhere")
    refused(run(*words, tmp_path, code=2), "is a folder, not a file")
    words = ("top", folder / "model.toprank", data, "-o")
    refused(run(*words, tmp_path / "nowhere" / "list.csv", code=2), "no such folder", "nowhere")


def test_a_sparse_row_without_a_label(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data.svm"
    data.write_text("1 1:2\n-1 1:1\nnan 1:3\n")
    words = ("fit", data, "--model", "logistic", "-o", tmp_path / "model")
    refused(run(*words, code=2), "data.svm, row 3", "the label is missing")


def test_tables_to_score(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "CHUNK", 50)
    data, scores = tmp_path / "data.csv", tmp_path / "scores.csv"
    scores.write_text("what was there\n")

    def spoil(table: pd.DataFrame, column: str, cell: str) -> pd.DataFrame:
        return table.assign(
            **{column: table[column].astype(object).where(table.index != 123, cell)}
        )

    for change, pieces in (
        (lambda t: t.drop(columns=["items"]), ["no column 'items'", "trained on"]),
        (lambda t: t.rename(columns={"items": "n"}), ["'items'", "it has 'n', which the model"]),
        (
            lambda t: t.drop(columns=["items", "placed"]),
            ["has none of the columns 'items', 'placed', which the model was trained on."],
        ),
        (  # another table: its lack of an id does not matter
            lambda t: t[["items"]].assign(a=1, b=2),
            ["4 of 5 columns are missing: 'amount', 'country', 'placed', 'member'; it has"],
        ),
        (lambda t: t.drop(columns=["order"]), ["no column 'order'", "--id"]),
        (lambda t: spoil(t, "items", "many"), ["row 124", "column 'items'", "'many'", "no number"]),
        (lambda t: spoil(t, "placed", "soon"), ["row 124", "column 'placed'", "'soon'", "no date"]),
        (lambda t: t[:0], ["no rows"]),
    ):
        changed(folder, data, change)
        refused(run("score", folder / "model.toprank", data, "-o", scores, code=2), *pieces)
        assert scores.read_text() == "what was there\n"
        assert sorted(tmp_path.iterdir()) == [data, scores]
    # A column more is no harm.
    changed(folder, data, lambda t: t.assign(more=1))
    run("score", folder / "model.toprank", data, "-o", scores)


def test_labels_to_evaluate(run: Run, folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    words = ("evaluate", folder / "model.toprank", data)
    for change, pieces in (
        (lambda t: t[["order", "items"]], ["is not such a table as the model was trained on"]),
        (lambda t: t.drop(columns=["fraud"]), ["no column 'fraud'"]),
        (lambda t: t.assign(fraud=0), ["one label only"]),
        (lambda t: t.assign(fraud=t["fraud"].where(t.index != 7, 3)), ["row 8", "'3'", "neither"]),
        (lambda t: t[:15], ["15 rows", "-k 20"]),
    ):
        changed(folder, data, change)
        refused(run(*words, code=2), *pieces)


def test_files_that_are_none(run: Run, folder: Path, tmp_path: Path) -> None:
    model, new = folder / "model.toprank", folder / "new.csv"
    table = pd.read_csv(new)
    for name, write in (("cut.parquet", table.to_parquet), ("cut.feather", table.to_feather)):
        stream = io.BytesIO()
        write(stream)
        (tmp_path / name).write_bytes(stream.getvalue()[:3000])
        refused(run("score", model, tmp_path / name, code=2), name, "truncated")
    for name in ("x.npz", "x.csv.gz"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 nothing")
        refused(run("score", model, tmp_path / name, code=2), name)
    (tmp_path / "folder.csv").mkdir()
    refused(run("score", model, tmp_path / "folder.csv", code=2), "is a folder")
    refused(run("score", model, tmp_path / "none.csv", code=2), "none.csv", "No such file")
    refused(run("score", model, tmp_path / "none.xls", code=2), "none.xls", "--format")
    refused(run("score", new, new, code=2), "new.csv", "no model file")
    refused(run("score", model, new, "-o", tmp_path / "a" / "b.csv", code=2), "no such folder")
    refused(run("score", model, new, "-o", tmp_path / "b.xls", code=2), ".parquet")
    loaded, metadata = load_with_metadata(model)
    for odd in ({}, {"kinds": {"amount": "code"}}, {"kinds": 3}, {"more": 1}):
        kept = {"toprank fit": metadata["toprank fit"] | odd} if odd else {}
        toprank.save(loaded, tmp_path / "odd.toprank", metadata=kept)
        refused(run("score", tmp_path / "odd.toprank", new, code=2), "load it in Python")


def test_options_that_do_not_go_together(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("fit", folder / "old.csv", "-o", tmp_path / "model")
    label = ("--label", "fraud")
    for options, pieces in (
        ((), ["--label COLUMN is missing"]),
        ((*label, "--model", "nothing"), ["no model 'nothing'", "toppush", "lightgbm"]),
        ((*label, "--alpha", 1), ["--alpha", "head"]),
        ((*label, "--model", "logistic", "--alpha", 1, "--cv", 3), ["--alpha", "--cv"]),
        ((*label, "--model", "rankboost", "--alpha", 1), ["RankBoost has no alpha"]),
        ((*label, "--model", "rankboost", "--cv", 3), ["--cv", "RankBoost"]),
        ((*label, "--model", "logistic", "--budget", 3), ["--budget", "head"]),
        ((*label, "--capacity", "many"), ["'many'"]),
        ((*label, "--capacity", "0%"), ["'0%'"]),
        ((*label, "--model", "toppush", "--capacity", 500), ["--list-size"]),
        ((*label, "--id", "nobody"), ["no column 'nobody'", "--id"]),
        ((*label, "--positive", "2"), ["--positive 2", "'0'", "'1'"]),
    ):
        refused(run(*words, *options, code=2), *pieces)
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_capacity_asks_for_k(run: Run, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.toprank"
    run("fit", folder / "old.csv", "--label", "fraud", "--model", "logistic", "-o", path)
    refused(run("top", path, folder / "new.csv", code=2), "-k is missing")
    found = run("top", path, folder / "new.csv", "-k", 3)
    # No calibration rows, no promise.
    assert found.stderr == "'1' is ranked first: 106 of 400 rows learnt from, 26.5 %.\n"
    assert [line.split(",")[0].isdigit() for line in found.stdout.splitlines()[1:]] == [True] * 3


def test_sparse_rows_of_another_width(run: Run, tmp_path: Path) -> None:
    data, path = tmp_path / "rows.svmlight", tmp_path / "model.toprank"
    data.write_text("1 1:1 2:3\n-1 1:2\n1 2:4\n-1 2:1\n")
    run("fit", data, "--model", "logistic", "-o", path)
    data.write_text("1 1:1 7:3\n")
    refused(run("score", path, data, code=2), "line 1", "'7:3'")
    data.write_text("1 a:b\n")
    refused(run("score", path, data, code=2), "rows.svmlight, line 1: 'a:b'")
    refused(run("fit", data, "--label", "y", "-o", path, "--force", code=2), "leave --label")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    refused(run("score", path, tmp_path / "rows.csv", code=2), "other rows")


@pytest.mark.parametrize("command", ["fit", "score", "top"])
def test_a_small_disk(command: str, run: Run, folder: Path, tmp_path: Path) -> None:
    """A disk of 64 kB, and files that are larger: the old one stays, and nothing beside it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("a disk can be mounted by root alone")
    try:
        many = pd.concat([pd.read_csv(folder / "new.csv", dtype={"order": str})] * 40)
        many.to_csv(tmp_path / "many.csv", index=False)
        path = disk / ("model.toprank" if command == "fit" else "list.csv")
        path.write_text("what was there")
        options = {
            "fit": ["--label", "fraud", "--id", "order", "--calibrate", 0.5, "--force"],
            "score": [],
            "top": ["-k", 9000],
        }[command]
        model = [] if command == "fit" else [folder / "model.toprank"]
        found = run(command, *model, tmp_path / "many.csv", *options, "-o", path, code=2)
        refused(found, path.name, "No space left")
        assert path.read_text() == "what was there"
        assert list(disk.iterdir()) == [path]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_no_permission(run: Run, folder: Path) -> None:
    """Root may read everything: there a fork of this process becomes nobody, and is refused."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        model, data = Path(name) / "model.toprank", Path(name) / "data.csv"
        for path, own in ((model, "model.toprank"), (data, "new.csv")):
            path.write_bytes((folder / own).read_bytes())
        run("score", model, data)  # imports all that is needed
        model.chmod(0o644)
        data.chmod(0)
        child = os.fork()
        if not child:
            wrong = True
            try:
                if os.geteuid() == 0:
                    os.setuid(65534)
                found = run("score", model, data, code=2)
                wrong = found.stderr != f"toprank: {data}: Permission denied.\n"
            finally:
                os._exit(int(wrong))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_words_among_numbers(run: Run, folder: Path, tmp_path: Path) -> None:
    data, path = tmp_path / "data.csv", tmp_path / "model"
    words = ["fit", data, "--label", "fraud", "--id", "order", "--model", "logistic", "-o", path]
    words.append("--force")
    changed(
        folder,
        data,
        lambda t: t.assign(amount=t["amount"].astype(object).where(t.index != 41, "12 EUR")),
    )
    found = run(*words, code=2)
    refused(found, "row 42", "column 'amount'", "'12 EUR' is no number", "--category amount")
    assert not path.exists()
    run(*words, "--category", "amount")
    assert load_with_metadata(path)[1]["toprank fit"]["kinds"]["amount"] == "category"
    run(*words, "--ignore", "amount")
    refused(run(*words, "--ignore", "amuont", code=2), "no column 'amuont'", "--ignore names")


def test_names_of_columns(run: Run, folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,a,fraud\n1,2,0\n3,4,1\n")
    words = ("fit", data, "--label", "fraud", "-o", tmp_path / "m")
    refused(run(*words, code=2), "two columns 'a'")
    data.write_bytes(b"a,fraud\n1,0\n2\n")
    refused(run(*words, code=2), "line 3", "1 cells", "header has 2")
    pd.DataFrame({"a": [[1], [2]], "fraud": [0, 1]}).to_parquet(tmp_path / "data.parquet")
    words = ("fit", tmp_path / "data.parquet", "--label", "fraud", "-o", tmp_path / "m")
    refused(run(*words, code=2), "column 'a' holds list", "--ignore")


def test_a_full_disk(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "scores.csv"
    words = ("score", folder / "model.toprank", folder / "new.csv", "-o", path)
    refused(run(*words, code=2), "scores.csv", "No space left")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_extra_is_one_sentence(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("score", folder / "model.toprank", folder / "new.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(run(*words, code=2), "needs pyarrow; install toprank[cli]")
    program = "import sys\nsys.modules['click'] = None\nfrom toprank.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "toprank: the command line needs click; install toprank[cli].\n"


def test_arrays_of_objects_are_not_unpickled(run: Run, folder: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", X=np.array([[object()]], dtype=object), allow_pickle=True)
    refused(run("score", folder / "model.toprank", tmp_path / "rows.npz", code=2), "rows.npz")


def test_the_place_of_a_model_is_looked_at_before_the_table(run: Run, tmp_path: Path) -> None:
    words = ("fit", tmp_path / "none.csv", "--label", "fraud", "-o")
    refused(run(*words, tmp_path / "none" / "model", code=2), "none: there is no such folder")
    refused(run(*words, tmp_path, code=2), "it is a folder, not a file")


def test_a_folder_is_no_table(run: Run, tmp_path: Path) -> None:
    words = ("fit", tmp_path, "--label", "fraud", "-o", tmp_path / "model")
    refused(run(*words, code=2), "is a folder", "`toprank convert`")


def test_ctrl_c_ends_with_the_code_of_shells(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    target = tmp_path / "model"
    target.write_text("what was there")
    monkeypatch.setattr(toprank.LogisticRank, "fit", interrupted)
    words = ("fit", folder / "old.csv", "--label", "fraud", "--model", "logistic", "-o", target)
    refused(run(*words, "--force", code=130), "stopped")
    assert target.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [target]
