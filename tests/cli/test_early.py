"""Mistakes in options and paths are answered before any package is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result

import toprank
from toprank import methods
from toprank.files.model import load_with_metadata

Run = Callable[..., Result]

PROGRAM = """
import sys
from toprank.cli.app import toprank
try:
    toprank(sys.argv[1:], prog_name="toprank")
finally:
    slow = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "rich"} & set(sys.modules)
    print(*sorted(slow))
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("fit none.csv --label y -o m", "none.csv: No such file"),
        ("fit old.csv --label fraud -o nowhere/m", "nowhere: there is no such folder"),
        ("fit old.csv --label fraud -o old.csv", "model files end in .toprank"),
        ("fit old.csv -o m", "--label COLUMN is missing"),
        ("fit old.csv --label fraud --model hed -o m", "There is no model 'hed'. Is it 'head'?"),
        ("fit old.csv --label fraud --capacity 2x -o m", "not '2x'"),
        ("fit old.csv --label fraud --alpha 1 -o m", "--alpha is for one linear model"),
        ("fit old.csv --label fraud --time a --group b -o m", "pass one of them"),
        ("fit old.txt --label fraud -o m", "cannot tell the format"),
        ("fit . --label fraud -o m", "is a folder, neither a file nor made by"),
        ("fit old.csv --labl fraud", "No such option"),
        ("convert none.csv --label y -o d", "none.csv: No such file"),
        ("score none.toprank old.csv", "none.toprank: No such file"),
        ("score old.csv model.toprank", "it is no model file of toprank"),
        ("top model.toprank none.csv", "none.csv: No such file"),
        ("top model.toprank old.csv -o list.xls", "lists are written as .csv"),
        ("top model.toprank old.csv -k 0", "not '0'"),
        ("evaluate model.toprank none.csv", "none.csv: No such file"),
        ("fit old.csv --label fraud --model trees --no-trees -o m", "--no-trees leaves trees out"),
        ("compare old.csv --label fraud --models bbr,hed", "no model 'hed'. Is it 'head'?"),
        ("compare none.csv --label y", "none.csv: No such file"),
        ("compare old.csv --label fraud --new none.csv", "none.csv: No such file"),
        ("compare old.csv --label fraud --models head,tres", "Is it 'trees'"),
        ("compare old.csv --label fraud --report r.pdf", "must end in .html"),
        ("inspect none.toprank", "none.toprank: No such file"),
        ("export none.toprank -o m.onnx", "none.toprank: No such file"),
    ],
)
def test_nothing_slow_is_imported_for_a_mistake(
    words: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    command = [sys.executable, "-c", PROGRAM, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == "\n"
    assert sorted(folder.iterdir()) == before


def test_columns_are_separated_by_commas(run: Run, folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "old.csv").rename(columns={"items": "items, of all"})
    table.to_csv(tmp_path / "old.csv", index=False)
    words = ["fit", tmp_path / "old.csv", "--label", "fraud", "--model", "logistic"]
    words += ["-o", tmp_path / "m", "--force", "--category", '"items, of all",amount']

    def kinds(*more: Any) -> dict[str, str]:
        run(*words, *more)
        return dict(load_with_metadata(tmp_path / "m")[1]["toprank fit"]["kinds"])

    found = kinds("--ignore", "order,placed", "--ignore", "member")
    assert found == dict.fromkeys(["amount", "items, of all", "country"], "category")
    assert "items, of all" not in kinds("--ignore", 'order,"items, of all"', "--category", "member")
    said = run(*words, "--ignore", "order,nosuch", code=2).stderr
    assert "no column 'nosuch', which --ignore names" in said
    run(
        *("convert", tmp_path / "old.csv", "--label", "fraud", "-o", tmp_path / "set"),
        *("--ignore", "order,placed,member", "--category", '"items, of all"'),
    )
    assert toprank.open_dataset(tmp_path / "set").meta["kinds"] == {
        "amount": "number",
        "items, of all": "category",
        "country": "category",
    }
    compared = run(
        *("compare", folder / "old.csv", "--label", "fraud", "--models", "bbr", "--cv", 2),
        *("--ignore", "TR009,order,placed", "--json"),
    )
    report = json.loads(compared.stdout)
    assert [one["code"] for one in report["checks"] if one["status"] == "ignored"] == ["TR009"]
    assert report["data"]["columns"] == 4


def test_the_package_lists_its_public_names() -> None:
    assert set(dir(toprank)) - set(toprank.__all__) == {*toprank._MODULES, "__version__"} - set(
        toprank.__all__
    )
    assert all(hasattr(toprank, name) for name in methods.__all__)
    assert set(dir(toprank.files)) == set(toprank.files.__all__)
    assert all(hasattr(toprank.files, name) for name in toprank.files.__all__)
    assert not hasattr(toprank.files, "nosuch")
