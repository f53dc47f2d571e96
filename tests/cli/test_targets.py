"""Nothing that exists is lost: outputs that are inputs, models, names of tables."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]

TABLES = [
    *("csv", "tsv", "tab", "parquet", "pq", "feather", "arrow", "svmlight", "svm", "libsvm"),
    *("xlsx", "json", "jsonl", "npz", "npy", "html", "md"),
]
#: Every command that writes, with OUT in place of its output.
WRITING = {
    "fit": ["fit", "old.csv", "--label", "fraud", "--model", "logistic", "--force", "-o", "OUT"],
    "fit of a set": ["fit", "train", "--model", "logistic", "--force", "-o", "OUT"],
    "score": ["score", "model.toprank", "new.csv", "-o", "OUT"],
    "top": ["top", "model.toprank", "new.csv", "-o", "OUT"],
    "export": ["export", "model.toprank", "--force", "-o", "OUT"],
    "report": ["compare", "old.csv", "--label", "fraud", "--new", "new.csv", "--report", "OUT"],
    "markdown": ["compare", "old.csv", "--label", "fraud", "--new", "new.csv", "--markdown", "OUT"],
    "convert": ["convert", "old.csv", "--label", "fraud", "-o", "OUT"],
}


@pytest.fixture(autouse=True)
def _here(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("old.csv", "new.csv", "model.toprank"):
        shutil.copy(folder / name, name)


def contents() -> dict[str, Any]:
    return {
        str(path): (path.is_symlink(), path.read_bytes())
        for path in sorted(Path().rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("kind", ["itself", "link", "hard link"])
@pytest.mark.parametrize(
    ("command", "read", "name"),
    [
        ("fit", "old.csv", "m"),
        ("score", "new.csv", "s.csv"),
        ("score", "model.toprank", "s.csv"),
        ("top", "new.csv", "s.tsv"),
        ("top", "model.toprank", "s.tsv"),
        ("export", "model.toprank", "m.onnx"),
        ("report", "old.csv", "r.html"),
        ("report", "new.csv", "r.json"),
        ("markdown", "new.csv", "r.md"),
        ("convert", "old.csv", "train"),
    ],
)
def test_an_input_is_never_written(command: str, read: str, name: str, kind: str, run: Run) -> None:
    words = [word if word != "OUT" else name for word in WRITING[command]]
    if kind == "link":
        os.symlink(read, name)
    elif kind == "hard link":
        os.link(read, name)
    else:  # the input has the name of an output
        os.rename(read, name)
        words = [word if word != read else name for word in words]
        if read != "model.toprank":
            words += ["--format", "csv"] if command != "markdown" and read == "old.csv" else []
    before = contents()
    said = run(*words, code=2).stderr
    assert said.startswith(f"toprank: {name}: ")
    assert ("it exists" if command == "convert" else "it is read here too") in said
    assert said.count("\n") == 1
    assert contents() == before


def test_the_json_of_a_report_is_written_too(run: Run) -> None:
    os.rename("old.csv", "r.json")
    before = contents()
    words = ["compare", "r.json", "--format", "csv", "--label", "fraud", "--report", "r.html"]
    assert "r.json: it is read here too" in run(*words, code=2).stderr
    assert contents() == before


def test_a_converted_table_and_the_configuration_are_inputs(run: Run) -> None:
    run("convert", "old.csv", "--label", "fraud", "--id", "order", "-o", "train")
    before = contents()
    said = run(*WRITING["fit of a set"][:-1], "train/prepare.toprank", code=2).stderr
    assert "train/prepare.toprank: it is read here too" in said
    Path("run.toml").write_text('[fit]\nlabel = "fraud"\n')
    said = run("fit", "old.csv", "-o", "run.toml", "--config", "run.toml", "--force", code=2).stderr
    assert "run.toml: it is read here too" in said
    os.unlink("run.toml")
    assert contents() == before


def test_standard_input_is_an_input() -> None:
    before = contents()
    command = [sys.executable, "-m", "toprank.cli", "fit", "-", "--label", "fraud", "--force"]
    with open("old.csv", "rb") as table:
        done = subprocess.run(
            [*command, "-o", "copy"], stdin=table, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2 or Path("copy").exists()
    os.rename("old.csv", "table")
    with open("table", "rb") as table:
        done = subprocess.run(
            [*command, "-o", "table"], stdin=table, capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert "table: it is read here too" in done.stderr
    assert Path("table").read_bytes() == before["old.csv"][1]


@pytest.mark.parametrize("end", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ending", TABLES)
def test_models_are_not_called_as_tables(ending: str, end: str, run: Run) -> None:
    before = contents()
    for command, wanted in (("fit", ".toprank"), ("export", ".onnx")):
        name = f"out.{ending}{end}"
        said = run(*(name if word == "OUT" else word for word in WRITING[command]), code=2).stderr
        assert f"{name}: " in said
        assert f"files end in {wanted}, not in .{ending}" in said
    assert contents() == before


def test_models_of_two_kinds(run: Run) -> None:
    said = run(*WRITING["fit"][:-1], "m.onnx", code=2).stderr
    assert "model files end in .toprank, not in .onnx" in said
    said = run(*WRITING["export"][:-1], "other.toprank", code=2).stderr
    assert "ONNX files end in .onnx, not in .toprank" in said


def test_a_model_is_replaced_by_force_only(run: Run) -> None:
    Path("kept").write_text("what was there")
    words = [word for word in WRITING["fit"][:-1] if word != "--force"]
    said = run(*words, "kept", code=2).stderr
    assert said == "toprank: kept exists: name another, or pass --force to replace it.\n"
    assert Path("kept").read_text() == "what was there"
    run(*words, "kept", "--force")
    assert Path("kept").read_bytes() != b"what was there"
    run(*words, "new")
    Path("m.onnx").write_text("what was there")
    assert "m.onnx exists" in run("export", "model.toprank", "-o", "m.onnx", code=2).stderr
    run("export", "model.toprank", "-o", "m.onnx", "--force")
    assert Path("m.onnx").stat().st_size > 100


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_it_is_asked(answer: str) -> None:
    Path("kept").write_text("what was there")
    words = [word for word in WRITING["fit"][:-1] if word != "--force"]
    end, terminal = pty.openpty()
    try:
        os.write(end, f"{answer}\n".encode())
        done = subprocess.run(
            [sys.executable, "-m", "toprank.cli", *words, "kept"],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            check=False,
        )
        said = os.read(end, 10_000).decode()
    finally:
        os.close(end)
        os.close(terminal)
    assert "kept exists. Replace it? [y/N]:" in said
    assert (done.returncode, Path("kept").read_bytes() == b"what was there") == (
        (0, False) if answer == "y" else (2, True)
    )


def test_the_demo_keeps_what_is_there(run: Run) -> None:
    Path("list.csv").write_text("mine")
    before = contents()
    said = run("demo", code=2).stderr
    assert (
        said == "toprank: . holds new.csv, list.csv: name another, or pass --force to replace it.\n"
    )
    assert contents() == before
