"""Every verb of a design, on every storage, against NumPy on the plain matrix.

Entries, vectors and scales are small multiples of powers of two, so that float32 holds them and
products are exact; only what divides or takes roots is rounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import toprank
from support.design_verbs import (
    COLUMNS,
    FIRST,
    KINDS,
    LOW,
    MOVABLE,
    SCALE,
    SECOND,
    VERBS,
    VERBS_IN_MEMORY,
    N,
    V,
    X,
    dense,
)
from support.storages import STORAGES, arrays_of
from toprank._core import PairDescent
from toprank.designs import (
    Design,
    MemoryDesign,
    PairDesign,
    as_design,
    streamed,
)
from toprank.losses import RowLoss
from toprank.problems import Problem
from toprank.solvers import solve
from toprank.surrogates import SURROGATES

storages = pytest.mark.parametrize("storage", STORAGES)

#: Sums that cannot be taken about another place lose the digits of the far column's squares.
FROM_AFAR = N * np.finfo(np.float64).eps * (4.0 * 1000.0) ** 2


def assert_same(results: list[Any], truths: list[Any], atol: float = 0.0) -> None:
    """Equal but for some roundings of the largest entry: most are exact."""
    for result, truth in zip(results, truths, strict=True):
        rounding = 1e-14 * np.abs(truth).max(initial=0.0)
        assert_allclose(result, truth, rtol=1e-14, atol=max(rounding, atol))


@storages
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_of_every_design(storage: str, kind: str, verb: str, tmp_path: Path) -> None:
    stored = STORAGES[storage](X, tmp_path)
    (make, of), (ask, truth) = KINDS[kind], VERBS[verb]
    atol = FROM_AFAR if (kind, verb) == ("scaled", "group_moments") else 0.0
    assert_same(ask(make(as_design(stored, 1))), truth(of(X)), atol)
    assert_array_equal(as_dense(stored), X)


@storages
@pytest.mark.parametrize("verb", VERBS_IN_MEMORY)
def test_verbs_of_a_matrix_in_memory(storage: str, verb: str, tmp_path: Path) -> None:
    stored = STORAGES[storage](X, tmp_path)
    ask, truth = VERBS_IN_MEMORY[verb]
    assert_same(ask(as_design(stored, 1)), truth(X))
    assert_array_equal(as_dense(stored), X)


MAPPED = [name for name in STORAGES if "mapped" in name and "columns" not in name]


@pytest.fixture(params=[1, 200, 1 << 20], ids=["by rows", "by blocks", "at once"])
def streaming(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files however small are read block by block, of so many bytes."""
    monkeypatch.setattr(streamed, "STREAMED_BYTES", 0)
    monkeypatch.setattr(streamed, "BLOCK_BYTES", request.param)


@pytest.mark.usefixtures("streaming")
@pytest.mark.parametrize("storage", MAPPED)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_of_files_read_in_blocks(storage: str, kind: str, verb: str, tmp_path: Path) -> None:
    design = as_design(STORAGES[storage](X, tmp_path), 1)
    assert not design.stores_scores
    (make, of), (ask, truth) = KINDS[kind], VERBS[verb]
    atol = FROM_AFAR if (kind, verb) == ("scaled", "group_moments") else 0.0
    assert_same(ask(make(design)), truth(of(X)), atol)


@pytest.mark.usefixtures("streaming")
@pytest.mark.parametrize("storage", MAPPED)
@pytest.mark.parametrize("verb", VERBS_IN_MEMORY)
def test_verbs_of_a_file_as_of_a_matrix_in_memory(storage: str, verb: str, tmp_path: Path) -> None:
    ask, truth = VERBS_IN_MEMORY[verb]
    assert_same(ask(as_design(STORAGES[storage](X, tmp_path), 1)), truth(X))


class Bare(Design):
    """The least that a design can be: the abstract verbs, of an array."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape, self.n_entries = X, X.shape, X.size

    def take(self, rows: Any) -> Any:
        return self.X[slice(None) if rows is None else rows].copy()

    def scores(self, w: Any, rows: Any = None) -> Any:
        return self.take(rows) @ w

    def pull_back(self, v: Any, rows: Any = None) -> Any:
        return self.take(rows).T @ v

    def gram(self, c: Any, rows: Any = None) -> Any:
        return (c * self.take(rows).T) @ self.take(rows)

    def gram_diagonal(self, c: Any, rows: Any = None) -> Any:
        return np.diag(self.gram(c, rows))

    def squared_norms(self, rows: Any = None) -> Any:
        return (self.take(rows) ** 2).sum(axis=1)

    def subset(self, rows: Any) -> Bare:
        return Bare(self.take(rows))


#: Designs with a storage of their own, which is not in memory as an array or a CSR matrix.
OTHERS: dict[str, Callable[[Any], Design]] = {"bare": Bare}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("verb", VERBS)
def test_any_design_has_the_verbs_by_its_products(kind: str, verb: str) -> None:
    ask, truth = VERBS[verb]
    atol = FROM_AFAR if verb == "group_moments" else 0.0
    assert_same(ask(OTHERS[kind](X)), truth(X), atol)


@pytest.mark.parametrize("kind", OTHERS)
def test_any_design_is_good_for_a_solver(kind: str) -> None:
    loss = RowLoss(np.full(N, 1.0 / N), SURROGATES["logistic"], np.where(V > 0, 1.0, -1.0))
    problem = Problem(OTHERS[kind](X), loss, 0.1)
    solution = solve(problem, tol=1e-6)
    assert problem.certify(solution).holds(1e-6)


def as_dense(stored: Any) -> Any:
    return stored.toarray() if hasattr(stored, "toarray") else stored


@storages
def test_nothing_is_copied(storage: str, tmp_path: Path) -> None:
    stored = STORAGES[storage](X, tmp_path)
    kept = as_design(stored, 1).X
    for mine, given in zip(arrays_of(kept), arrays_of(stored), strict=True):
        assert np.shares_memory(mine, given)
        assert mine.dtype == given.dtype


@storages
def test_what_only_storage_knows(storage: str, tmp_path: Path) -> None:
    design = as_design(STORAGES[storage](X, tmp_path), 1)
    entries = np.count_nonzero(X, axis=1) if "CSR" in storage else np.full(N, 6)
    assert design.shape == X.shape
    assert design.reads_rows
    assert design.n_entries == entries.sum()
    assert_array_equal(design.movable_columns(), MOVABLE if "CSR" in storage else np.ones(6))
    cost = (entries**2).sum() / entries.sum() / (2 if "CSR" in storage else 20)
    assert design.gram_passes == pytest.approx(cost, rel=1e-14)
    rescaled = design.rescaled(COLUMNS, LOW, SCALE).take(np.arange(N))
    low = np.where(MOVABLE[COLUMNS], LOW, 0.0) if "CSR" in storage else LOW
    assert_array_equal(rescaled, (X[:, COLUMNS] - low) * SCALE)


@storages
def test_entries_of_a_column_are_given_where_they_are_stored(storage: str, tmp_path: Path) -> None:
    reader = as_design(STORAGES[storage](X, tmp_path), 1).by_columns()
    for k, column in enumerate(X.T):
        places, entries = reader.stored(k)
        assert_array_equal(
            np.arange(N)[places], np.flatnonzero(column) if "CSR" in storage else np.arange(N)
        )
        assert_array_equal(entries, column[places])


@storages
@pytest.mark.parametrize("missing", [False, True])
def test_an_entry_that_is_no_number_is_found(storage: str, missing: bool, tmp_path: Path) -> None:
    wrong = X.copy()
    wrong[2, 3], wrong[5, 3], wrong[5, 4] = np.nan, -np.inf, np.nan
    design = as_design(STORAGES[storage](wrong, tmp_path), 1)
    assert design.first_unusable(1e4, missing=missing) == ((5, 3) if missing else (2, 3))
    wrong[5, 3] = 1.0
    design = as_design(STORAGES[storage](wrong, tmp_path), 1)
    assert design.first_unusable(1e4, missing=missing) == (None if missing else (2, 3))


@pytest.mark.parametrize("kind", ["pairs", "scaled", "bare"])
def test_what_is_not_in_memory_is_not_for_sequential_kernels(kind: str) -> None:
    design = Bare(X) if kind == "bare" else KINDS[kind][0](as_design(X))
    with pytest.raises(TypeError, match="read in random order here: the matrix must be in memory"):
        PairDescent(design.by_rows(), 0)
    with pytest.raises(TypeError, match="cannot be moved"):
        design.shifted(np.zeros(design.shape[1]))
    assert design.reads_rows is (kind == "pairs")  # the rows that they are differences of
    assert design.centred() is design
    assert not design.movable_columns().any()


@storages
def test_pairs_of_dense_rows_are_written_out(storage: str, tmp_path: Path) -> None:
    pairs = PairDesign(as_design(STORAGES[storage](X, tmp_path), 1), FIRST, SECOND)
    written_out = pairs.written_out()
    assert (written_out is pairs) == ("CSR" in storage)
    assert_array_equal(dense(written_out), KINDS["pairs"][1](X))


def test_only_designs_ask_how_a_matrix_is_stored() -> None:
    source = Path(toprank.__file__).parent
    asks = re.compile(r"isinstance\([^\n]*(Dense|Sparse|Memory)Design|\bissparse\(design")
    for file in source.rglob("*.py"):
        if file.parent.name != "designs":
            assert not asks.search(file.read_text()), f"{file}: make it a verb of Design"


def test_no_verb_is_left_out() -> None:
    def verbs(kind: type[Design]) -> set[str]:
        return {name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))}

    decided = {
        "movable_columns",
        "affords_copy",
        "require_rows",
        "squares_are_usable",
    }  # by storage
    assert verbs(Design) <= {*VERBS, *VERBS_IN_MEMORY, *decided}
    assert verbs(MemoryDesign) <= {*VERBS, *VERBS_IN_MEMORY, *decided}
