"""TopPush by the paper's own method: to a gap, and stopped early by either rule."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from support.shared_files import shared_file
from support.toy_rows import overlapping
from toprank import TopPush

X, Y = overlapping()


def test_the_papers_method_reaches_the_gap() -> None:
    ranker = TopPush(1.0, solver="paper", tol=1e-3).fit(X, Y)
    assert ranker.solver_ == "accelerated-gradient"
    assert ranker.certificate_.holds(1e-3)
    best = TopPush(1.0, tol=1e-12).fit(X, Y).certificate_.primal
    assert best <= ranker.certificate_.primal <= best * (1 + 1e-3)


def test_the_papers_own_rule_stops_without_a_promise() -> None:
    ranker = TopPush(1e-2, solver="paper", stopping="change", tol=1e-3).fit(X, Y)  # no warning
    assert ranker.n_iter_ < 10_000
    assert ranker.certificate_.relative_gap > 1e-3
    best = TopPush(1e-2, tol=1e-12).fit(X, Y).certificate_.primal
    assert ranker.certificate_.dual <= best <= ranker.certificate_.primal
    with pytest.warns(ConvergenceWarning):
        TopPush(1e-2, solver="paper", stopping="change", tol=1e-12, max_iter=5).fit(X, Y)


def test_the_relative_rule_looks_from_the_tenth_step_on() -> None:
    early = TopPush(1e-2, solver="paper", stopping="relative", tol=1.0).fit(X, Y)  # no warning
    assert early.n_iter_ == 10
    later = TopPush(1e-2, solver="paper", stopping="relative", tol=1e-4).fit(X, Y)
    dual = later.history_["dual"]
    change = np.abs(np.diff(dual)) / np.abs(dual[:-1])  # entry k - 2 belongs to step k
    assert later.n_iter_ > 10
    assert change[-1] <= 1e-4
    assert (change[8:-1] > 1e-4).all()
    best = TopPush(1e-2, tol=1e-12).fit(X, Y).certificate_.primal
    assert later.certificate_.dual <= best <= later.certificate_.primal
    with pytest.warns(ConvergenceWarning):
        TopPush(1e-2, solver="paper", stopping="relative", tol=1e-12, max_iter=12).fit(X, Y)


def test_the_relative_rule_ends_at_a_short_step() -> None:
    # With alpha this large the duals are at their optimum after a few steps.
    ranker = TopPush(1e12, solver="paper", stopping="relative", tol=1e-300).fit(X, Y)
    assert ranker.n_iter_ < 10_000
    assert ranker.certificate_.relative_gap < 1e-6


# Of the program passed on as the authors' own, on its own split: steps and test AUC.
RELATIVE = {1.0: (69, 0.952), 0.01: (220, 0.910)}


@pytest.mark.parametrize("alpha", RELATIVE)
def test_the_relative_rule_stops_where_the_authors_program_does(alpha: float) -> None:
    with np.load(shared_file("data/toppush-spambase.npz")) as file:
        rows, labels, n_train = file["X"], file["y"], int(file["n_train"])
    steps, area = RELATIVE[alpha]
    train, test = slice(n_train), slice(n_train, None)
    early = TopPush(alpha, solver="paper", stopping="relative").fit(rows[train], labels[train])
    assert early.n_iter_ == steps
    assert early.score(rows[test], labels[test]) == pytest.approx(area, abs=5e-4)
    assert early.certificate_.primal > 1.0  # worse than w = 0
    # The printed rule ends much later, and lower; docs/methods/toppush.md has its figures.
    printed = TopPush(alpha, solver="paper", stopping="change", max_iter=3 * steps)
    with pytest.warns(ConvergenceWarning):
        printed.fit(rows[train], labels[train])


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_the_papers_method_takes_the_squared_hinge_only(loss: str) -> None:
    with pytest.raises(ValueError, match=f"is for loss='squared_hinge', got loss='{loss}'"):
        TopPush(1.0, loss=loss, solver="paper").fit(X, Y)
