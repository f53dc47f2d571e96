"""`toprank compare`: from a table to a report, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from sklearn.datasets import dump_svmlight_file

from support.orders import orders
from toprank.report import Report
from toprank.selection import compare

Run = Callable[..., Result]
WORDS = ("--label", "fraud", "--id", "order", "--cv", 2, "--models", "bbr")


def test_the_report_is_written_in_every_form(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ["compare", folder / "old.csv", *WORDS, "--capacity", "5%", "--new", folder / "new.csv"]
    words += ["--report", tmp_path / "r.html", "--markdown", tmp_path / "r.md"]
    result = run(*words)
    assert "BBR" in result.stdout
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["r.html", "r.json", "r.md"]
    report = Report(json.loads((tmp_path / "r.json").read_text()))
    assert (tmp_path / "r.html").read_text() == report.html()
    assert (tmp_path / "r.md").read_text() == report.markdown()
    assert report.data["command"].startswith(f"toprank compare {folder / 'old.csv'} --label fraud")
    assert "--capacity 5%" in report.data["command"]
    assert report.data["new"] == {"name": "new.csv", "rows": 300}
    assert report.data["top"]["rows"][0]["id"].startswith("1")
    assert report.data["data"]["columns"] == 5
    table = orders()
    X = table.drop(columns=["order", "fraud"]).astype({"placed": "datetime64[ns]", "member": str})
    found = compare(["bbr"], X, table["fraud"], cv=2, capacity=0.05)
    best = report.data["models"][0]
    value = best["metrics"]["precision_at_0.05"]["mean"]
    assert value == pytest.approx(found.interval(best["name"])[0])


def test_json_groups_time_and_resuming(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ["compare", folder / "old.csv", "--label", "fraud", "--models", "bbr", "--json"]
    words += ["--resume", tmp_path / "cells", "--ignore", "TR009", "--ignore", "order"]
    found = json.loads(run(*words, "--cv", 2, "--group", "placed").stdout)
    assert [one["status"] for one in found["checks"] if one["code"] == "TR009"] == ["ignored"]
    assert found["data"]["columns"] == 4
    assert found["folds"]["count"] == 2
    assert len(list((tmp_path / "cells").iterdir())) == 4
    again = json.loads(run(*words, "--cv", 2, "--group", "placed").stdout)
    assert again["models"] == found["models"]  # seconds too: nothing was fitted again
    timed = json.loads(run(*words, "--cv", 3, "--time", "placed").stdout)
    assert timed["folds"]["count"] == 3
    assert timed["folds"]["test_share"] < 0.5


def test_sparse_rows(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(120) < 0.4).astype(int)
    X = (rng.random((120, 6)) < 0.3) * (1.0 + y[:, None])
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"))
    words = ["compare", tmp_path / "rows.svm", "--models", "bbr", "--cv", 2, "--json"]
    found = json.loads(run(*words, "--new", tmp_path / "rows.svm").stdout)
    assert found["top"]["of"] == "new rows"
    assert found["data"]["label"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--report", "r.pdf"], "must end in .html or .htm or .json"),
        (["--markdown", "r.txt"], "must end in .md"),
        (["--report", "nowhere/r.html"], "there is no such folder"),
        (["--report", "beside.html"], "it is a folder, not a file"),
        (["--models", "nosuch"], "no model 'nosuch'"),
        (["--metric", "nosuch"], "no scorer 'nosuch'"),
        (["--capacity", "400"], "not below the number of training rows"),
        (["--label", "frod"], "has no column 'frod'"),
        (["--ignore", "TR999"], "no check TR999"),
        (["--ignore", "nosuch"], "no column 'nosuch', which --ignore names"),
        (["--group", "country"], "the group is missing"),
        (["--group", "member", "--time", "placed"], "pass one of them"),
        (["--repeats", 2, "--time", "placed"], "--repeats makes folds at random"),
        (["--new", "other.csv"], "4 of 5 columns are missing: 'amount'"),
    ],
)
def test_refusals(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    orders().to_csv("old.csv", index=False)
    pd.DataFrame({"order": ["1"], "items": [2]}).to_csv("other.csv", index=False)
    Path("beside.json").mkdir()
    before = sorted(tmp_path.iterdir())
    result = run("compare", "old.csv", *WORDS, *words, code=2)
    assert said in result.stderr
    lines = result.stderr.splitlines()
    assert len([line for line in lines if " is ranked first" not in line]) == 1
    assert sorted(tmp_path.iterdir()) == before
