"""Theorem 1 of the active sampling paper: points bound pairs, for scores and for optima."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from toprank import WSVM, RankSVM
from toprank.datasets import load_german
from toprank.metrics import auc
from toprank.theory import pair_hinge_bound

SCORES = st.lists(st.floats(-5, 5), min_size=1, max_size=8)


@examples(60)
@given(SCORES, SCORES)
def test_points_bound_pairs(high: list[float], low: list[float]) -> None:
    i, j = np.array(high), np.array(low)
    y, s = np.repeat([1, 0], [len(i), len(j)]), np.concatenate([i, j])
    w = 1.0 + np.arange(len(y)) % 3
    bound = pair_hinge_bound(y, s)
    assert bound == pytest.approx(
        np.maximum(1 - 2 * i, 0).mean() / 2 + np.maximum(1 + 2 * j, 0).mean() / 2
    )
    pairs = np.maximum(1.0 - (i[:, None] - j), 0.0)
    assert pairs.mean() <= bound + 1e-12
    assert 1.0 - auc(y, s) <= bound + 1e-12
    weighted = pair_hinge_bound(y, s, sample_weight=w)
    p, q = w[: len(i)] / w[: len(i)].sum(), w[len(i) :] / w[len(i) :].sum()
    assert p @ pairs @ q <= weighted + 1e-12
    times = w.astype(int)
    assert weighted == pytest.approx(pair_hinge_bound(np.repeat(y, times), np.repeat(s, times)))


def test_the_printed_objectives_with_the_factor() -> None:
    """(1) at w is at most a quarter of (2) at 2 w; at w itself it need not be."""
    rng = np.random.default_rng(0)
    C, broken = 0.3, 0
    for _ in range(200):
        up, down, w = rng.normal(size=(5, 3)) + 1.0, rng.normal(size=(7, 3)), rng.normal(size=3)

        def pairs(w: np.ndarray, up: np.ndarray = up, down: np.ndarray = down) -> float:
            hinge = np.maximum(1.0 - ((up @ w)[:, None] - down @ w), 0.0).sum()
            return w @ w / 2 + 2 * (C / 2) * hinge  # either orientation of a pair counts

        def points(w: np.ndarray, up: np.ndarray = up, down: np.ndarray = down) -> float:
            positive = np.maximum(1.0 - up @ w, 0.0).sum()
            negative = np.maximum(1.0 + down @ w, 0.0).sum()
            return w @ w / 2 + 2 * len(down) * C * positive + 2 * len(up) * C * negative

        assert pairs(w) <= points(2.0 * w) / 4.0 + 1e-9
        broken += pairs(8.0 * w) > points(8.0 * w) / 4.0
    assert broken > 0


@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-4])
def test_the_optimum_of_ranksvm_is_below_that_of_wsvm_at_a_quarter_of_alpha(alpha: float) -> None:
    X, y = load_german(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    pairs = RankSVM(alpha).fit(X, y)
    points = WSVM(alpha / 4.0, random_state=0).fit(X, y)
    w = points.coef_[0] / 2.0  # what the theorem takes it at
    own = alpha / 2.0 * w @ w + pair_hinge_bound(y, X @ w)
    assert own == pytest.approx(points.certificate_.primal, rel=1e-9)
    assert pairs.certificate_.dual <= points.certificate_.primal
    assert pairs.certificate_.primal <= own


def test_wrong_labels_are_named() -> None:
    with pytest.raises(ValueError, match="no positive row"):
        pair_hinge_bound([0, 0], [0.0, 1.0], pos_label=1)
