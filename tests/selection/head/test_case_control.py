"""Case-control rows: which are drawn, and what is put back for those that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from toprank.inputs.folds import Folds
from toprank.metrics import get_scorer
from toprank.selection.fold_path import Judge
from toprank.selection.head import trees
from toprank.selection.head.race_data import RaceData
from toprank.selection.head.trees import ENOUGH, BoostedTrees, Forest, counts_to_draw, draw_rows

COUNTS = st.integers(0, 200_000)


@given(COUNTS, COUNTS, st.floats(0.1, 100.0), st.none() | st.integers(2, 150_000))
def test_counts_keep_the_positives_and_the_limit(
    n_pos: int, n_neg: int, ratio: float, most: int | None
) -> None:
    count_pos, count_neg = counts_to_draw(n_pos, n_neg, ratio=ratio, most=most)
    assert 0 <= count_pos <= n_pos
    assert 0 <= count_neg <= n_neg
    if most is None or n_pos <= most // 2:
        assert count_pos == n_pos
    else:
        assert count_pos >= most // 2
    # Negatives are left out only if that saves a fifth of the rows, or because of the limit.
    wanted = min(n_neg, max(int(np.ceil(ratio * n_pos)), ENOUGH - n_pos))
    if n_neg - wanted < 0.2 * (n_pos + n_neg):
        wanted = n_neg
    if most is None or n_pos + wanted <= most:
        assert (count_pos, count_neg) == (n_pos, wanted)
    else:
        assert count_pos + count_neg == most


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "most", "expected"),
    [
        (100, 19_000, None, (100, 19_000)),  # few rows are all kept
        (100, 80_000, None, (100, 19_900)),
        (1000, 35_000, None, (1000, 35_000)),  # 30 000 would save less than a fifth
        (1000, 120_000, None, (1000, 30_000)),
        (1000, 120_000, 11_000, (1000, 10_000)),
        (9000, 120_000, 10_000, (5000, 5000)),
        (9000, 2000, 10_000, (8000, 2000)),
    ],
)
def test_rows_are_drawn_evenly(
    n_pos: int,
    n_neg: int,
    most: int | None,
    expected: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trees, "ENOUGH", 20_000)
    rng = np.random.default_rng(n_pos)
    positive = rng.permutation(np.arange(n_pos + n_neg) < n_pos)
    drawn = draw_rows(positive, 3, ratio=30.0, most=most)
    assert (np.diff(drawn.rows) > 0).all()
    n_drawn = positive[drawn.rows].sum(), (~positive[drawn.rows]).sum()
    shares = n_drawn[0] / n_pos, n_drawn[1] / n_neg
    assert_allclose((drawn.positive_share, drawn.negative_share), shares)
    assert drawn.every == (expected == (n_pos, n_neg))
    for own, total, count, found in zip(
        (positive, ~positive), (n_pos, n_neg), expected, n_drawn, strict=True
    ):
        # The place of each drawn row among the rows of its class.
        places = (np.cumsum(own) - 1)[drawn.rows[own[drawn.rows]]]
        assert found == count
        cuts = [k * total // count for k in range(count + 1)]
        assert_array_equal(np.searchsorted(cuts, places, side="right") - 1, np.arange(count))
    assert_array_equal(draw_rows(positive, 3, ratio=30.0, most=most).rows, drawn.rows)
    other = draw_rows(positive, 4, ratio=30.0, most=most).rows
    assert drawn.every == np.array_equal(other, drawn.rows)


@pytest.mark.parametrize("kind", ["lightgbm", "scikit-learn", "forest"])
def test_probabilities_are_those_of_all_rows(kind: str) -> None:
    if kind == "lightgbm":
        pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3))
    y = (rng.random(8000) < 1 / (1 + np.exp(6.0 - X[:, 0] - np.abs(X[:, 1])))).astype(int)
    folds = Folds(2, np.arange(8000) % 2)
    data = RaceData(X, y, None, folds, Judge(get_scorer("average_precision")), n_threads=1)
    new = rng.normal(size=(4000, 3))
    means = []
    for most in (None, 400):
        candidate: Any = Forest("", 0, n_trees=30, leaf_rows=5, most=most)
        if kind != "forest":
            candidate = BoostedTrees("", kind, 0, leaves=4, most_in_the_end=most)
        means.append(candidate.final(data, 25).predict_proba(new)[:, 1].mean())
        assert candidate.note == ("" if most is None else "learnt from 400 of 8000 rows")
    # A quarter of the rows drawn is positive.
    assert 95 < y.sum() < 105
    assert_allclose(means, y.mean(), rtol=0.25)
