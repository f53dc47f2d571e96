"""Solvers that store a matrix of d x d refuse data too wide for it, before they allocate it."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from toprank import BBR, InfinitePush, RectPush, ReverseRectPush, TopPush
from toprank.designs import SparseDesign
from toprank.inputs.class_split import Split
from toprank.losses import RowLoss, TopLoss
from toprank.problems import Problem
from toprank.solvers import cost, solve
from toprank.surrogates import SURROGATES

WIDE = 30_000
#: Far less than the 7.2 GB of a matrix of that side, far more than the rows.
MOST_BYTES = 50e6


def rows_of_text(n: int = 40, d: int = WIDE) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=1e-3, format="csr", rng=rng)
    return X, (np.arange(n) % 3 == 0).astype(int)


def peak_of_refusal(fit: Any, match: str) -> float:
    """Bytes that were allocated at the most until the error came."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=match):
            fit()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("solver", ["newton", "few-passes"])
@pytest.mark.parametrize("kind", [TopPush, RectPush, ReverseRectPush])
def test_pushes_refuse_a_matrix_that_is_too_wide(kind: Any, solver: str) -> None:
    X, y = rows_of_text()
    match = r"needs no more than 10000 features, and X has 30000: .* 7\.2 GB\. Use solver='auto'"
    assert peak_of_refusal(lambda: kind(solver=solver).fit(X, y), match) < MOST_BYTES


def test_so_does_the_hinge_and_the_message_names_no_other_solver() -> None:
    X, y = rows_of_text()
    match = r"hinge loss: smoothed-newton needs no more than 10000 features"
    assert peak_of_refusal(lambda: InfinitePush(solver="newton").fit(X, y), match) < MOST_BYTES


def test_moments_are_refused_too() -> None:
    X, y = rows_of_text()
    match = r"30000 features would take 14 GB: fit with solver='lanczos'"
    assert peak_of_refusal(lambda: BBR(solver="moments").fit(X, y), match) < MOST_BYTES


def test_every_solver_by_name_and_loss() -> None:
    """Interior points have no name among the parameters of the estimators."""
    X, y = rows_of_text()
    design, hinge = SparseDesign(X), SURROGATES["hinge"]
    rows = RowLoss(np.full(len(y), 1.0 / len(y)), hinge, np.where(y == 1, 1.0, -1.0))
    for loss in (rows, TopLoss(Split.of(y == 1), hinge)):
        problem = Problem(design, loss, 1e-3)
        match = "interior-point needs no more than 10000 features"
        fit = lambda problem=problem: solve(problem, "interior-point")  # noqa: E731
        assert peak_of_refusal(fit, match) < MOST_BYTES


def test_auto_solves_what_newton_refuses() -> None:
    X, y = rows_of_text()
    for kind in (TopPush, InfinitePush, RectPush):
        tracemalloc.start()
        ranker = kind(random_state=0).fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert ranker.certificate_.holds(ranker.tol)
        assert peak < MOST_BYTES


def test_the_limit_is_a_number_of_features() -> None:
    X, y = rows_of_text(d=cost.MATRIX_FEATURES + 1)
    with pytest.raises(ValueError, match=r"and X has 10001: .* 0\.8 GB"):
        TopPush(solver="newton").fit(X, y)
