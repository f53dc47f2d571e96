"""A full disk, a read-only one: an error with the name, and the old file as it was."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

import toprank
from support.orders import orders
from toprank.cli.app import toprank as program
from toprank.files import convert
from toprank.selection import compare

ROWS = np.random.default_rng(0).standard_normal((200, 3))
LABELS = ROWS[:, 0] + ROWS[:, 1] > 1.0


def small() -> Any:
    return toprank.LogisticRank().fit(ROWS, LABELS)


def large() -> Any:
    """A model of more bytes than the disk has."""
    wide = np.random.default_rng(0).standard_normal((40, 40_000))
    return toprank.LogisticRank(max_iter=5, tol=1.0).fit(wide, wide[:, 0] > 0)


def fill(disk: Path) -> None:
    about = os.statvfs(disk)
    (disk / "ballast").write_bytes(b"0" * (about.f_bfree * about.f_bsize))


def invoke(*words: Any) -> Any:
    return CliRunner().invoke(program, [str(word) for word in words])


def test_a_model_that_does_not_fit_leaves_the_old_one(disk: Path) -> None:
    path, old = disk / "model.toprank", small()
    toprank.save(old, path)
    with pytest.raises(OSError, match=r"model\.toprank") as caught:
        toprank.save(large(), path)
    assert caught.value.errno == errno.ENOSPC
    assert (toprank.load(path).coef_ == old.coef_).all()
    assert os.listdir(disk) == [path.name]


def test_a_disk_that_cannot_be_written(disk: Path, read_only: Callable[[Path], None]) -> None:
    path, old = disk / "model.toprank", small()
    toprank.save(old, path)
    read_only(disk)
    for target in (path, disk / "new.toprank"):
        with pytest.raises(OSError, match=r"folder may not be written.*disk"):
            toprank.save(old, target)
    assert (toprank.load(path).coef_ == old.coef_).all()


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_the_command_line_says_so_and_keeps_what_was_there(
    fault: str, disk: Path, tmp_path: Path, read_only: Callable[[Path], None]
) -> None:
    table, model, scores = tmp_path / "old.csv", disk / "m.toprank", disk / "scores.csv"
    orders(4000).to_csv(table, index=False)
    words = ["fit", table, "--label", "fraud", "--id", "order", "--model", "logistic", "--force"]
    words.append("-o")
    assert invoke(*words, tmp_path / "m.toprank").exit_code == 0
    model.write_bytes(b"the old model")
    scores.write_bytes(b"the old scores")
    if fault == "full":
        fill(disk)
    else:
        read_only(disk)
    for result, name in (
        (invoke(*words, model), "m.toprank"),
        (invoke("score", tmp_path / "m.toprank", table, "-o", scores), "scores.csv"),
    ):
        assert result.exit_code != 0
        assert (name if fault == "full" else "the folder may not be written") in result.stderr
        assert "Traceback" not in result.stderr
        assert result.exception is None or isinstance(result.exception, SystemExit)
    assert model.read_bytes() == b"the old model"
    assert scores.read_bytes() == b"the old scores"
    assert not list(disk.glob(".*"))


def test_a_comparison_that_cannot_keep_its_cells_leaves_none_broken(disk: Path) -> None:
    models, kept = {"a": LogisticRegression()}, disk / "kept"
    compare(models, ROWS, LABELS, cv=2, store=kept)
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert before
    fill(disk)
    with pytest.raises(OSError, match="No space left"):
        compare(models, ROWS, ~LABELS, cv=2, store=kept)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before


def test_a_conversion_goes_on_once_there_is_room(disk: Path, tmp_path: Path) -> None:
    table, target = tmp_path / "old.csv", disk / "data.toprank"
    orders(2000).to_csv(table, index=False)
    whole = convert(table, tmp_path / "whole.toprank", label="fraud", id="order")
    fill(disk)
    (disk / "ballast").write_bytes(b"0" * (1 << 15))  # room for some of it
    with pytest.raises(OSError, match=r"make room and repeat.*data\.toprank") as caught:
        convert(table, target, label="fraud", id="order")
    assert caught.value.errno == errno.ENOSPC
    assert not target.exists()
    result = invoke("convert", table, "--label", "fraud", "-o", target)
    assert result.exit_code != 0
    assert "data.toprank" in result.stderr
    (disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
    again = convert(table, target, label="fraud", id="order")
    np.testing.assert_array_equal(again.X, whole.X)
    assert [path.name for path in disk.iterdir()] == [target.name]


def test_a_conversion_to_a_disk_that_cannot_be_written(
    disk: Path, tmp_path: Path, read_only: Callable[[Path], None]
) -> None:
    np.savez(tmp_path / "t.npz", X=ROWS, y=LABELS.astype(int))
    read_only(disk)
    with pytest.raises(OSError, match=r"other\.toprank"):
        convert(tmp_path / "t.npz", disk / "other.toprank", label="y")
