"""Fits of files that are read in blocks: the certificates of fits in memory, and nothing kept."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from support.storages import mapped, mapped_csr
from toprank import (
    BBR,
    LogExpPush,
    LogisticRank,
    PNormPush,
    RectPush,
    RectPushApp,
    TopPush,
    TrivialSolutionWarning,
)
from toprank.designs import as_design, base, streamed
from toprank.selection import RankerCV

N, D = 30_000, 8
RNG = np.random.default_rng(3)
Y = (RNG.random(N) < 0.08).astype(np.int8)
X = RNG.uniform(-1.0, 1.0, (N, D)).astype(np.float32)
X[Y == 1, :2] += np.float32(1.3)
X[Y == 1, 2:5] += np.float32(0.2)
WEIGHT = RNG.integers(0, 4, N) / 2.0

RANKERS = [
    LogisticRank(),
    LogisticRank(1e-6),
    RectPushApp(),
    RectPushApp(loss="logistic"),
    PNormPush(),
    LogExpPush(),
    BBR(),
    TopPush(),
    TopPush(1e-5, loss="logistic"),
    TopPush(1e-2, loss="exponential"),
    RectPush(),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files however small are read block by block."""
    monkeypatch.setattr(streamed, "STREAMED_BYTES", 0)
    monkeypatch.setattr(streamed, "BLOCK_BYTES", 100_000)


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("far", [False, True])
def test_files_have_the_certificates_of_memory(
    ranker: Any, weighted: bool, far: bool, tmp_path: Path
) -> None:
    rows = X.astype(np.float64) + 1e3 if far else X
    weight = WEIGHT if weighted else None
    there = clone(ranker).fit(rows, Y, weight)
    file = clone(ranker).fit(mapped(rows, tmp_path / "X.npy"), Y, weight)
    tol = getattr(ranker, "tol", 1e-6)
    assert file.certificate_.holds(tol)
    ours, theirs = file.certificate_, there.certificate_
    assert ours.dual <= theirs.primal  # both brackets hold one minimum
    assert theirs.dual <= ours.primal
    assert_allclose(ours.primal, theirs.primal, rtol=2.0 * tol)
    assert file.certificate_.primal - file.certificate_.dual >= -1e-12
    if isinstance(ranker, TopPush):
        assert file.solver_ == "highest-rows"
        assert not (file.decision_function(rows)[(Y == 0) & (WEIGHT > 0)] > 0).any()


@pytest.mark.parametrize("ranker", [LogisticRank(), TopPush(), BBR()], ids=str)
def test_the_same_blocks_give_the_same_bits(ranker: Any, tmp_path: Path) -> None:
    file = mapped(X, tmp_path / "X.npy")
    if "random_state" in ranker.get_params():
        ranker = clone(ranker).set_params(random_state=0)
    fits = [clone(ranker).set_params(n_threads=k).fit(file, Y) for k in (1, 2)]
    other = tmp_path / "other"
    other.mkdir()
    fits.append(clone(ranker).fit(mapped(X, other / "X.npy"), Y))
    for fit in fits[1:]:
        assert_array_equal(fit.coef_, fits[0].coef_)
        assert fit.certificate_ == fits[0].certificate_


def test_one_block_gives_the_bits_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed, "BLOCK_BYTES", 1 << 30)
    design, in_memory = as_design(mapped(X, tmp_path / "X.npy")), as_design(X)
    w = RNG.normal(size=D)
    assert not design.stores_scores
    assert in_memory.stores_scores
    assert_array_equal(design.scores(w), in_memory.scores(w))
    assert_array_equal(design.pull_back(WEIGHT), in_memory.pull_back(WEIGHT))
    assert_array_equal(design.gram(WEIGHT), in_memory.gram(WEIGHT))


@pytest.mark.parametrize("ranker", [LogisticRank(), RectPushApp(), TopPush()], ids=str)
def test_sparse_files(ranker: Any, tmp_path: Path) -> None:
    rows = sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    there = clone(ranker).fit(rows, Y)
    file = clone(ranker).fit(mapped_csr(rows, tmp_path), Y)
    assert file.certificate_.holds(ranker.tol)
    assert_allclose(file.certificate_.primal, there.certificate_.primal, rtol=2e-4)


@pytest.mark.parametrize("ranker", [LogisticRank(), RectPushApp(), BBR()], ids=str)
def test_nothing_is_as_long_as_the_file(
    ranker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "_WEIGHED_ROWS", 10_000)
    n = 400_000
    y = (np.arange(n) % 20 == 0).astype(np.int8)
    rows = np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32)
    rows[y == 1] += np.float32(0.5)
    file = mapped(rows, tmp_path / "X.npy")
    del rows
    clone(ranker).fit(file, y)  # what is imported, or made once, is there now
    tracemalloc.start()
    clone(ranker).fit(file, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * n  # the mask of positives, and what it is made of


@pytest.mark.parametrize("ranker", [LogisticRank(), TopPush(), BBR()], ids=str)
def test_an_entry_that_is_no_number_is_named(ranker: Any, tmp_path: Path) -> None:
    for value, named in ((np.nan, "NaN"), (np.inf, "infin")):
        wrong = X.copy()
        wrong[20_011, 5] = value
        with pytest.raises(ValueError, match=rf"(?s){named}.*row 20011.*column 5"):
            clone(ranker).fit(mapped(wrong, tmp_path / "X.npy"), Y)


def test_classes_with_one_mean_are_trivial(tmp_path: Path) -> None:
    rows = np.concatenate([X[:5000], X[:5000]])
    y = np.repeat([0, 1], 5000)
    file = mapped(rows, tmp_path / "X.npy")
    with pytest.warns(TrivialSolutionWarning):
        assert LogisticRank().fit(file, y).trivial_
    with pytest.warns(TrivialSolutionWarning):
        assert TopPush().fit(file, y).trivial_


def test_folds_are_chosen_by_row_numbers(tmp_path: Path) -> None:
    file = mapped(X, tmp_path / "X.npy")
    options: dict[str, Any] = {"alphas": [1e-2, 1e-3], "cv": 3}
    there = RankerCV(LogisticRank(), **options).fit(X, Y)
    kept = RankerCV(LogisticRank(), **options).fit(file, Y)
    assert_allclose(kept.mean_scores_, there.mean_scores_, atol=2e-3)
    again = kept.fold_rankers_[0].decision_function(file[kept.folds_[0][1]])
    assert_allclose(kept.oof_scores_[kept.folds_[0][1]], again, rtol=1e-12)
