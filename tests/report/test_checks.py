"""Every check: it fires where it should, not where it should not, and can be silenced."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from support.compared import compared
from toprank.inputs.leaks import find_leaks
from toprank.report.answer import answer_of, head_of
from toprank.report.checks import CHECKS, Evidence, moved_columns, run_checks
from toprank.report.head_rows import _cell
from toprank.report.sections import EXPLAINED
from toprank.selection import Comparison


def status(code: str, comparison: Comparison, new: Any = None, ignore: Any = ()) -> dict[str, Any]:
    head = head_of(comparison)
    evidence = Evidence(comparison, head, answer_of(comparison, head), new)
    (found,) = [one for one in run_checks(evidence, ignore) if one["code"] == code]
    return found


def test_nothing_fires_on_good_data() -> None:
    found = compared(lead=2.0)
    for check in CHECKS:
        assert status(check.code, found)["status"] in ("passed", "not applicable"), check.code


def test_codes_are_numbered_and_can_be_silenced() -> None:
    assert [check.code for check in CHECKS] == [f"TR{k:03d}" for k in range(1, 11)]
    found = compared()
    for check in CHECKS:
        assert status(check.code, found, ignore=[check.code.lower()])["status"] == "ignored"
    with pytest.raises(ValueError, match="no check TR999"):
        status("TR001", found, ignore=["TR999"])


def test_every_check_has_a_section_and_an_explanation() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "checks.md"
    sections = re.findall(r"^## (TR\d{3})\n\n\*\*(.+?)\.\*\*", page.read_text(), re.MULTILINE)
    assert sections == [(check.code, check.title) for check in CHECKS]
    assert list(EXPLAINED) == [check.code for check in CHECKS]


def test_tr001_trivial() -> None:
    assert status("TR001", compared(facts={"trivial": True}))["status"] == "fired"
    assert "4 of 4 folds" in status("TR001", compared(facts={"trivial": True}))["message"]
    assert status("TR001", compared(facts={"trivial": False}))["status"] == "passed"
    assert status("TR001", compared())["status"] == "not applicable"


def test_tr002_gap() -> None:
    short = {"certified": False, "relative_gap": 0.25, "tol": 1e-4}
    assert "widest gap 0.2" in status("TR002", compared(facts=short))["message"]
    assert status("TR002", compared(facts={"certified": True}))["status"] == "passed"
    assert status("TR002", compared())["status"] == "not applicable"
    warned = compared(notes=[["ConvergenceWarning", "stopped"]])
    assert "a ConvergenceWarning" in status("TR002", warned)["message"]


def test_tr003_edge() -> None:
    assert status("TR003", compared(facts={"edge": True}))["status"] == "fired"
    assert status("TR003", compared(facts={"edge": False}))["status"] == "passed"
    assert status("TR003", compared())["status"] == "not applicable"


def test_tr004_few_positives() -> None:
    assert status("TR004", compared(n_positive=12))["status"] == "fired"
    assert status("TR004", compared(n_positive=60))["status"] == "passed"


def test_tr005_ties() -> None:
    assert status("TR005", compared(tied=True))["status"] == "fired"
    assert status("TR005", compared())["status"] == "passed"
    assert status("TR005", compared(capacity=None))["status"] == "not applicable"


def test_tr006_leak() -> None:
    found = compared()
    X, y = np.array(found.data.X), found.data.y
    X[:, 2] = -5.0 * y + X[:, 2] * 0.01
    leaking = status("TR006", compared(X=X))
    assert leaking["status"] == "fired"
    assert "'x2' (AUC 1.0000)" in leaking["message"]
    assert status("TR006", found)["status"] == "passed"


@pytest.mark.parametrize("kind", ["array", "frame", "sparse", "objects"])
def test_tr007_copies(kind: str) -> None:
    def made(X: Any) -> Any:
        if kind == "frame":
            return pd.DataFrame(X).astype({0: str})
        if kind == "objects":
            return X.astype(object)
        return sparse.csr_array(X) if kind == "sparse" else X

    X = np.array(compared().data.X)
    assert status("TR007", compared(X=made(X)))["status"] == "passed"
    X[1::2] = X[::2]
    found = status("TR007", compared(X=made(X)))
    assert found["status"] == "fired"
    # Neighbours are in the same fold, but for a pair at each border.
    assert status("TR007", compared(X=made(np.repeat(X[:1], len(X), axis=0))))[
        "message"
    ].startswith("100\u00a0% of the rows")


def test_tr008_drift() -> None:
    found = compared()
    X = np.array(found.data.X)
    assert status("TR008", found)["status"] == "not applicable"
    assert status("TR008", found, new=X[::2])["status"] == "passed"
    moved = X[::2].copy()
    moved[:, 1] += 1.0
    assert "'x1'" in status("TR008", found, new=moved)["message"]


def test_tr008_by_kind() -> None:
    rng = np.random.default_rng(0)

    def table(words: list[str], gaps: float) -> pd.DataFrame:
        numbers = rng.normal(size=500)
        numbers[rng.random(500) < gaps] = np.nan
        names = [f"{rng.integers(10**9)}" for _ in range(500)]
        return pd.DataFrame({"word": rng.choice(words, 500), "number": numbers, "name": names})

    old = table(["a", "b"], 0.0)
    assert moved_columns(old, table(["a", "b"], 0.0)) == []
    assert [words[:7] for words in moved_columns(old, table(["a", "c"], 0.0))] == ["'word' "]
    assert moved_columns(old, table(["a", "b"], 0.5))[0].startswith("'number' (")
    with pytest.raises(ValueError, match="same columns"):
        moved_columns(old, old.drop(columns="word"))
    X = sparse.csr_array((rng.random((300, 3)) < 0.2).astype(float))
    Z = sparse.csr_array((rng.random((300, 3)) < [0.2, 0.9, 0.2]).astype(float))
    assert moved_columns(X, X) == []
    assert [words[:4] for words in moved_columns(X, Z)] == ["'x1'"]


def test_missing_cells_as_pandas_keeps_them() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.3
    words = pd.Series(np.where(positive, "yes", "no"), dtype="string")
    numbers = pd.Series(np.arange(400) % 7, dtype="Int64")
    words[::50], numbers[::60] = pd.NA, pd.NA
    old = pd.DataFrame({"word": words, "number": numbers})
    assert [one.column for one in find_leaks(old.drop(columns="number"), positive)] == ["word"]
    assert find_leaks(old[["number"]], positive) == []
    assert moved_columns(old, old) == []
    new = old.assign(number=old["number"] + 5)
    assert [told[:8] for told in moved_columns(old, new)] == ["'number'"]
    assert [_cell(old, 0, name) for name in old] == ["(missing)", "(missing)"]
    assert [_cell(old, 1, name) for name in old] == ["yes" if positive[1] else "no", "1"]


def test_tr009_reference() -> None:
    assert status("TR009", compared(lead=2.0))["status"] == "passed"
    assert "do not tell them apart" in status("TR009", compared(lead=0.05))["message"]
    assert "the best figure of all" in status("TR009", compared(lead=-2.0))["message"]
    assert status("TR009", compared(models=("logistic",)))["status"] == "not applicable"


def test_tr010_capacity() -> None:
    assert status("TR010", compared(capacity=0.5))["status"] == "fired"
    assert status("TR010", compared(capacity=0.05))["status"] == "passed"
    assert status("TR010", compared(capacity=None))["status"] == "not applicable"
