"""Files that are written on the way: names nobody can guess, and no planted link followed."""

from __future__ import annotations

import ast
import os
import secrets
from pathlib import Path

import numpy as np
import pytest

import toprank
from toprank.files import convert, mapped_writing
from toprank.selection.comparison.cells import Cell, Store

SOURCE = Path(toprank.__file__).parent
#: Gives a name without making the file: another may be there first.
UNSAFE = {"mktemp"}


def test_no_name_is_asked_for_without_its_file() -> None:
    for path in SOURCE.rglob("*.py"):
        names = {
            getattr(node, "attr", getattr(node, "id", None))
            for node in ast.walk(ast.parse(path.read_text()))
        }
        assert not names & UNSAFE, path
        assert "/tmp" not in path.read_text(), path


def test_names_differ_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    plain = os.replace

    def noting(beside: Path, target: Path) -> None:
        seen.append(Path(beside).name)
        plain(beside, target)

    monkeypatch.setattr(os, "replace", noting)
    for _ in range(20):
        toprank.save(toprank.TopPush(), tmp_path / "model.toprank")
        Store(tmp_path).put("key", Cell(np.zeros(3), {}))
    assert len(set(seen)) == 40


def test_a_planted_link_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even somebody who knew the name could only make the write fail."""
    monkeypatch.setattr(secrets, "token_hex", lambda _: "known")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in (".model.toprank.known.part", ".key.npz.known.part"):
        (tmp_path / name).symlink_to(victim)
    with pytest.raises(FileExistsError):
        toprank.save(toprank.TopPush(), tmp_path / "model.toprank")
    with pytest.raises(FileExistsError):
        Store(tmp_path).put("key", Cell(np.zeros(3), {}))
    assert victim.read_text() == "precious"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no user numbers")
@pytest.mark.parametrize("how", ["link", "another's"])
def test_a_planted_conversion_is_not_taken_up(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is known, so that a killed conversion can go on: it must be the user's own."""
    np.savez(tmp_path / "t.npz", X=np.eye(40), y=np.arange(40) % 2)
    place = tmp_path / ".t.toprank.part"
    if how == "link":
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.mkdir()
        plain = mapped_writing._is_own_folder
        assert plain(place)
        monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
        assert not plain(place)
        monkeypatch.setattr(mapped_writing.shutil, "rmtree", lambda *_, **__: None)  # not ours
    with pytest.raises(FileExistsError, match=r"\.t\.toprank\.part"):
        convert(tmp_path / "t.npz", tmp_path / "t.toprank", label="y")
    assert not (tmp_path / "t.toprank").exists()
