"""Draws of pairs: their law, how often a row comes up, and what seeds and weights do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from support.examples import examples
from toprank.inputs.class_split import Split
from toprank.methods.squared.pairs import draw_pairs

POSITIVE = np.array([1, 0, 1, 0, 0, 1, 0], dtype=bool)
WEIGHT = np.array([1.0, 2.0, 3.0, 0.0, 0.5, 0.25, 4.0])


def table(first: Any, second: Any, n_rows: int) -> Any:
    """How often each pair of rows was drawn."""
    return np.bincount(first * n_rows + second, minlength=n_rows**2).reshape(n_rows, n_rows)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_uniform_pairs_have_the_law_of_independent_draws(weight: Any) -> None:
    split, n = Split.of(POSITIVE, weight), 40_000
    first, second = next(draw_pairs(split, n, "uniform", np.random.default_rng(5)))
    seen = table(first, second, len(POSITIVE))[np.ix_(split.pos, split.neg)]
    assert seen.sum() == n
    assert chisquare(seen.ravel(), (n * np.outer(split.p, split.q)).ravel()).pvalue > 1e-3
    # No memory from one pair to the next.
    again = table(first[:-1], first[1:], len(POSITIVE))[np.ix_(split.pos, split.pos)]
    expected = (n - 1) * np.outer(split.p, split.p)
    assert chisquare(again.ravel(), expected.ravel() * again.sum() / expected.sum()).pvalue > 1e-3


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_matched_pairs_have_the_right_marginal_law(weight: Any, n: int) -> None:
    """Each place of the list on its own, over many lists: P(i, j) = p_i q_j."""
    split, rng = Split.of(POSITIVE, weight), np.random.default_rng(7)
    lists = [next(draw_pairs(split, n, "matched", rng)) for _ in range(5_000)]
    for place in {0, n - 1}:
        first = np.array([f[place] for f, _ in lists])
        second = np.array([s[place] for _, s in lists])
        seen = table(first, second, len(POSITIVE))[np.ix_(split.pos, split.neg)]
        expected = len(lists) * np.outer(split.p, split.q)
        assert chisquare(seen.ravel(), expected.ravel()).pvalue > 1e-3


@examples(60)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 300), weighted=st.booleans())
def test_matched_rows_come_up_as_often_as_their_weight_says(
    seed: int, n: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    positive = np.concatenate([[True, False], rng.random(rng.integers(0, 40)) < 0.3])
    weight = rng.uniform(0.01, 5.0, len(positive)) if weighted else None
    split = Split.of(positive, weight)
    for drawn, rows, share in zip(
        next(draw_pairs(split, n, "matched", rng)), (split.pos, split.neg), (split.p, split.q),
        strict=True,
    ):  # fmt: skip
        assert len(drawn) == n
        counts = np.bincount(drawn, minlength=len(positive))[rows]
        assert counts.sum() == n
        assert np.all(np.abs(counts - n * share) < 1.0 + 1e-9)


@pytest.mark.parametrize("sampling", ["matched", "uniform"])
def test_rows_without_weight_are_never_drawn_and_seeds_decide(sampling: str) -> None:
    split = Split.of(POSITIVE, WEIGHT)
    one, two, other = (
        next(draw_pairs(split, 500, sampling, np.random.default_rng(seed))) for seed in (1, 1, 2)
    )
    assert 3 not in one[1]
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("n", [1, 19, 20, 21, 1003])
def test_matched_blocks_have_every_row_as_often_as_its_weight_says(weight: Any, n: int) -> None:
    split, rng = Split.of(POSITIVE, weight), np.random.default_rng(3)
    blocks = list(draw_pairs(split, n, "matched", rng, at_once=20))
    assert sum(len(first) for first, _ in blocks) == n
    assert max(len(first) for first, _ in blocks) <= 20
    for side, rows, share in ((0, split.pos, split.p), (1, split.neg, split.q)):
        drawn = np.concatenate([block[side] for block in blocks])
        counts = np.bincount(drawn, minlength=len(POSITIVE))[rows]
        assert np.all(np.abs(counts - n * share) < 1.0 + 1e-9)
        for block in blocks:  # and so does a block for itself
            counts = np.bincount(block[side], minlength=len(POSITIVE))[rows]
            assert np.all(np.abs(counts - len(block[side]) * share) < 2.0)


def test_matched_blocks_match_every_positive_with_every_negative() -> None:
    split, n = Split.of(POSITIVE), 12_000
    blocks = list(draw_pairs(split, n, "matched", np.random.default_rng(3), at_once=100))
    seen = sum(table(first, second, len(POSITIVE)) for first, second in blocks)
    expected = n * np.outer(split.p, split.q)
    assert np.abs(seen[np.ix_(split.pos, split.neg)] / expected - 1.0).max() < 0.1


def test_uniform_draws_do_not_depend_on_the_blocks() -> None:
    split = Split.of(POSITIVE, WEIGHT)
    whole, parts = (
        list(draw_pairs(split, 1000, "uniform", np.random.default_rng(0), at_once=at_once))
        for at_once in (1000, 7)
    )
    for side in (0, 1):
        assert np.array_equal(np.concatenate([part[side] for part in parts]), whole[0][side])
