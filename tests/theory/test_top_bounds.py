"""TopPush's Theorem 3 with constants: counted cuts, simulated rows, and why none are universal."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from toprank import TopPush
from toprank.metrics import positives_at_top
from toprank.theory import above_most_negatives
from toprank.theory.score_bounds import _log_cuts

KNOWN: dict[str, Any] = {"n_positives": 300, "n_negatives": 3000, "n_features": 2}


@pytest.mark.parametrize(("n", "d"), [(3, 1), (5, 1), (4, 2), (5, 2), (5, 3), (4, 5)])
def test_half_spaces_cut_points_in_as_many_ways(n: int, d: int) -> None:
    """Every labelling tried by a linear programme, for points in general position."""
    points = np.random.default_rng(0).normal(size=(n, d))
    cuts = 0
    for labels in product([-1.0, 1.0], repeat=n):
        rows = -np.array(labels)[:, None] * np.hstack([points, np.ones((n, 1))])
        cuts += linprog(np.zeros(d + 1), rows, -np.ones(n), bounds=(None, None)).status == 0
    assert np.exp(_log_cuts(n, d)) == pytest.approx(cuts)


def test_the_formula() -> None:
    fpr, missed = above_most_negatives(0.1, n_positives=500, n_negatives=900, n_features=1)
    cuts = {N: 2.0 * (1.0 + 2 * N - 1) for N in (500, 900)}
    a = np.log(8.0 * cuts[500] / 0.05) / 500
    assert fpr == pytest.approx(2.0 / 900 * np.log2(4.0 * cuts[900] / 0.05))
    assert missed == pytest.approx(0.1 + 2.0 * np.sqrt(0.1 * a) + 4.0 * a)
    nothing = above_most_negatives(0.0, n_positives=5, n_negatives=5, n_features=1000)
    assert nothing == (1.0, 1.0)


def test_it_holds_in_all_directions_at_once() -> None:
    """Two Gaussian clouds and 36 directions, most of them bad: what is missed is known there."""
    rng = np.random.default_rng(0)
    angle = np.linspace(0.0, 2.0 * np.pi, 37)[:-1]
    w = np.stack([np.cos(angle), np.sin(angle)])
    for _ in range(10):
        above = rng.normal(size=(300, 2)) @ w + 3.0 * w[0]
        top = (rng.normal(size=(3000, 2)) @ w).max(axis=0)
        for t, share, shift in zip(top, (above <= top).mean(axis=0), 3.0 * w[0], strict=True):
            fpr, missed = above_most_negatives(float(share), **KNOWN)
            assert norm.sf(t) <= fpr
            assert norm.cdf(t - shift) <= missed


def test_no_constants_fit_all_data() -> None:
    """Labels without meaning, more features than rows: no loss, and new rows at random."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1000)), np.repeat([1, 0], 100)
    ranker = TopPush(1e-3).fit(X, y)
    assert ranker.certificate_.primal < 0.01  # the loss and the penalty
    missed = 1.0 - positives_at_top(y, ranker.decision_function(X))
    assert missed == 0.0
    # A new positive is a new negative: it has a share of 0.05 or more above it in 95 of 100 cases.
    known = {"n_positives": 100, "n_negatives": 100, "n_features": 1000}
    assert above_most_negatives(missed, **known) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"missed": 1.5}, "missed must be"),
        ({"n_positives": 0}, "n_positives must be"),
        ({"n_features": 1.5}, "n_features must be"),
        ({"delta": 0.0}, "delta must be"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        above_most_negatives(**{"missed": 0.1, **KNOWN, **change})
