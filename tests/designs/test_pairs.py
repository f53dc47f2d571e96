"""PairDesign: products with differences against the differences themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from toprank.designs import PairDesign, as_design

RNG = np.random.default_rng(4)
X = RNG.integers(-3, 4, size=(8, 5)) * (RNG.random((8, 5)) < 0.6) / 4.0
FIRST = np.array([0, 3, 3, -1, 5, 0, 2, 2])
SECOND = np.array([1, 1, -1, 4, 5, 1, 7, -1])
WITH_ZERO = np.vstack([X, np.zeros(5)])
Z = WITH_ZERO[FIRST] - WITH_ZERO[SECOND]
W = np.arange(5.0) - 1
V = np.arange(8.0) - 3

FORMS = {
    "dense": lambda: X.copy(),
    "columns": lambda: np.asfortranarray(X),
    "float32": lambda: X.astype(np.float32),
    "csr": lambda: sparse.csr_array(X),
}
forms = pytest.mark.parametrize("form", FORMS)


def pairs_of(form: str, first: Any = FIRST, second: Any = SECOND) -> PairDesign:
    return PairDesign(as_design(FORMS[form](), 1), first, second)


@forms
@pytest.mark.parametrize("rows", [None, np.array([6, 0, 6, 3]), np.array([], dtype=np.int64)])
def test_products_are_those_of_the_differences(form: str, rows: Any) -> None:
    design = pairs_of(form)
    z = Z if rows is None else Z[rows]
    v = V[: len(z)]
    assert design.shape == Z.shape
    # Entries are quarters: every sum is exact.
    assert design.scores(W, rows).tolist() == (z @ W).tolist()
    assert design.pull_back(v, rows).tolist() == (z.T @ v).tolist()
    assert design.gram(v**2, rows).tolist() == (z.T @ (v[:, None] ** 2 * z)).tolist()
    assert design.gram_diagonal(v**2, rows).tolist() == (v**2 @ z**2).tolist()
    assert design.squared_norms(rows).tolist() == (z**2).sum(1).tolist()
    if rows is not None:
        assert design.take(rows).tolist() == z.tolist()


@forms
def test_where_every_row_takes_part(form: str) -> None:
    first, second = np.append(np.arange(8), [0, -1]), np.append(np.arange(8)[::-1], [-1, 2])
    design = pairs_of(form, first, second)
    z = WITH_ZERO[first] - WITH_ZERO[second]
    v = np.arange(10.0)
    assert design.scores(W).tolist() == (z @ W).tolist()
    assert design.pull_back(v).tolist() == (z.T @ v).tolist()


def test_a_product_reads_each_row_once_however_many_pairs_it_is_in() -> None:
    design = pairs_of("dense")
    taking_part = len(np.unique(np.append(FIRST, SECOND))) - 1
    design.scores(W)
    assert design.entries_read == design.base.entries_read == 5 * taking_part
    design.pull_back(V)
    assert design.passes == design.base.passes == pytest.approx(2 * taking_part / 8)


def test_many_differences_are_made_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toprank.designs.pairs._BLOCK_ENTRIES", 12)
    design, taken = pairs_of("csr"), []
    take = design.take
    monkeypatch.setattr(design, "take", lambda rows: taken.append(len(rows)) or take(rows))
    assert design.squared_norms().tolist() == (Z**2).sum(1).tolist()
    assert taken == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ([0, 8], [1, 1], "8 rows"),
        ([0, 1], [1, -2], "8 rows"),
        ([0, -1], [1, -1], "-1"),
        ([0, 1], [1], "one length"),
    ],
)
def test_pairs_that_are_none(first: list[int], second: list[int], error: str) -> None:
    with pytest.raises((IndexError, ValueError), match=error):
        pairs_of("dense", np.array(first), np.array(second))
