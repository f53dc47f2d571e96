"""`PairSampler`: its hard choices against a sort, odd scores, every form of the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank._core import Matrix, PairSampler
from truth.all_pairs import (
    METHODS,
    ONE,
    Array,
    Pair,
    all_pairs,
    by_every_method,
    drawn,
    margins,
    sampler,
    soft,
)

STRATEGIES = ["random", "soft-close", "soft-correct", "hard-close", "hard-correct"]


def brute_order(s: Array, t: Array, strategy: str, chosen: set[Pair], real: bool) -> list[float]:
    """The keys of the pairs of a type that are not chosen, the first first."""
    kept = {
        pair: d
        for pair, d in margins(s, t).items()
        if pair not in chosen and (-1 not in pair) == real
    }
    if strategy == "hard-close":
        return sorted(abs(d) for d in kept.values())
    return sorted(d for d in kept.values() if d < 1)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("strategy", ["hard-close", "hard-correct"])
def test_hard_choices_are_those_of_enumeration(strategy: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 12, 2)
    s, t = rng.normal(size=m), rng.normal(size=n)
    if seed % 2:  # many ties, also at zero and one
        s, t = np.round(2 * s) / 2, np.round(2 * t) / 2
    gamma = [1.0, 0.5, 0.3, 0.0][seed % 4]
    core = sampler(s, t, gamma, seed)
    chosen = set(drawn(core, int(rng.integers(0, 10)), "random"))
    d = margins(s, t)
    for _ in range(6):
        count = int(rng.integers(1, 9))
        reals, points = (brute_order(s, t, strategy, chosen, kind) for kind in (True, False))
        reals, points = reals if gamma > 0 else [], points if gamma < 1 else []
        left = {pair for pair in all_pairs(m, n, gamma) if pair not in chosen}
        share = gamma
        if not any(-1 in pair for pair in left):
            share = 1.0
        elif all(-1 in pair for pair in left):
            share = 0.0
        wanted = min(count, len(left))
        n_real = min(int(share * wanted + 0.5), len(reals))
        n_points = min(wanted - n_real, len(points))
        n_real = min(wanted - n_points, len(reals))
        got = drawn(core, count, strategy)
        assert not set(got) & chosen
        key = abs if strategy == "hard-close" else float
        assert sorted(key(d[pair]) for pair in got if -1 not in pair) == reals[:n_real]
        assert sorted(key(d[pair]) for pair in got if -1 in pair) == points[:n_points]
        chosen |= set(got)


def test_ties_go_by_place() -> None:
    assert drawn(sampler(np.zeros(3), np.zeros(2)), 6, "hard-correct") == [
        (0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)
    ]  # fmt: skip
    # From the smaller class, each row's nearest: the last of the other that is not above it.
    assert drawn(sampler(np.zeros(3), np.zeros(2)), 6, "hard-close") == [
        (2, 3), (1, 3), (0, 3), (2, 4), (1, 4), (0, 4)
    ]  # fmt: skip


def test_hard_strategies_share_out_by_gamma() -> None:
    rng = np.random.default_rng(4)
    core = sampler(rng.normal(size=10), rng.normal(size=10), 0.3)
    for points in (7, 7, 6):  # of twenty
        got = drawn(core, 10, "hard-close")
        assert sum(-1 in pair for pair in got) == points
    assert all(-1 not in pair for pair in drawn(core, 10, "hard-close"))


@pytest.mark.parametrize("level", [0.0, 1e3, 1e9])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 100.0])
def test_the_envelope_keeps_its_digits(level: float, spread: float) -> None:
    rng = np.random.default_rng(5)
    grain = max(1.0, level) * 2.0**-50  # scores whose differences are exact
    s, t = (np.round((level + spread * rng.normal(size=50)) / grain) * grain for _ in range(2))
    d = s[:, np.newaxis] - t
    core = sampler(s, t)
    expected = np.clip((1 - d) / 2, 0, 1).sum(axis=1)
    assert_allclose(core.envelope_rows(ONE, "soft-correct"), expected, rtol=1e-9, atol=1e-300)
    expected = 2 * np.exp(-np.abs(d)).sum(axis=1)
    assert_allclose(core.envelope_rows(ONE, "soft-close"), expected, rtol=1e-9)


@by_every_method
@soft
@pytest.mark.parametrize(
    ("s", "t"),
    [
        ([0.0] * 4, [0.0] * 5),
        ([7.0] * 4, [7.0] * 5),
        ([-1e6, 0.0, 1e6], [1e6, -1e6, 0.5]),
        ([-1e200, 1e200], [1e200, -1e200]),
        ([5e-324, 1.0], [0.0, 1e-17]),
    ],
)
def test_any_scores_are_drawn_from(
    strategy: str, method: str, s: list[float], t: list[float]
) -> None:
    core = sampler(np.array(s), np.array(t), 0.5)
    pairs: list[Pair] = []
    for _ in range(30):
        first, second, p, mean, _ = core.draw(ONE, 3, strategy, method=method)
        pairs += zip(first.tolist(), second.tolist(), strict=True)
        assert ((p > 0) & (p <= 1)).all()
        assert 0 <= mean <= 1
    d = margins(np.array(s), np.array(t))
    possible = {pair for pair in d if strategy == "soft-close" or d[pair] < 1}
    assert set(pairs) <= possible
    assert len(pairs) == len(set(pairs))
    if method in ("auto", "enumeration"):
        assert set(pairs) == possible


def test_pairs_that_are_all_but_impossible_are_drawn_in_the_end() -> None:
    # One pair is close, the others so far that e^-|d| is no number, and too many to look at.
    s = np.concatenate([[0.0], 1000.0 + np.arange(5000)])
    t = np.concatenate([[0.0], -1000.0 - np.arange(5000)])
    core = sampler(s, t)
    assert drawn(core, 1, "soft-close") == [(0, 5001)]
    assert set(drawn(core, 2, "soft-close")) == {(1, 5001), (0, 5002)}


def test_scores_that_overflow_are_refused() -> None:
    core = PairSampler(Matrix.dense(np.full((2, 2), 1e200)), np.array([0]), np.array([1]), 1.0, 0)
    for strategy in STRATEGIES[1:]:
        with pytest.raises(ValueError, match="score is not finite"):
            core.draw(np.full(2, 1e200), 1, strategy)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("method", METHODS)
def test_every_form_of_the_matrix_gives_the_same_pairs(strategy: str, method: str) -> None:
    rng = np.random.default_rng(6)
    X = np.round(4 * rng.normal(size=(60, 5))) / 4 * (rng.uniform(size=(60, 5)) < 0.6)
    w = np.array([0.5, -0.25, 1.0, 0.0, 0.75])  # sums are exact in any order
    positives, negatives = np.arange(0, 60, 3), np.setdiff1d(np.arange(60), np.arange(0, 60, 3))
    forms = []
    for dtype in (np.float32, np.float64):
        forms.append(Matrix.dense(X.astype(dtype)))
        csr = sparse.csr_array(X.astype(dtype))
        for index in (np.int32, np.int64):
            indices = csr.indices.astype(index)
            forms.append(Matrix.csr(csr.data, indices, csr.indptr.astype(np.int64), 5))
    seen = []
    for form in forms:
        for n_threads in (1, 3):
            core = PairSampler(form, positives, negatives, 0.7, 42)
            rounds = [core.draw(w, 11, strategy, method, n_threads) for _ in range(4)]
            seen.append([(a.tolist(), b.tolist(), p.tolist(), *rest) for a, b, p, *rest in rounds])
    assert all(one == seen[0] for one in seen)
    assert {row for first, *_ in seen[0] for row in first} - {-1} <= set(positives.tolist())
    assert {row for _, second, *_ in seen[0] for row in second} - {-1} <= set(negatives.tolist())


def test_a_seed_means_the_same_pairs_everywhere() -> None:
    s, t = np.linspace(-2, 2, 100), np.linspace(-3, 1, 200)
    at_random = [(1, 235), (-1, 174), (24, 288), (32, 261), (41, 162), (95, 297)]
    softly = [(24, 193), (-1, 261), (90, 292), (64, 283), (4, 163), (-1, 253)]
    assert drawn(sampler(s, t, 0.8, 7), 6, "random") == at_random
    assert drawn(sampler(s, t, 0.8, 7), 6, "soft-close") == softly
    assert drawn(sampler(s, t, 0.8, 8), 6, "random") != at_random


def test_what_cannot_be_is_refused() -> None:
    matrix, one, other = Matrix.dense(np.zeros((3, 2))), np.array([0]), np.array([1, 2])
    with pytest.raises(ValueError, match="both classes"):
        PairSampler(matrix, one[:0], other, 1.0, 0)
    with pytest.raises(ValueError, match="gamma"):
        PairSampler(matrix, one, other, 1.5, 0)
    with pytest.raises(IndexError, match="row out of range"):
        PairSampler(matrix, one, np.array([1, 3]), 1.0, 0)
    with pytest.raises(TypeError, match="C-ordered"):
        PairSampler(Matrix.dense(np.zeros((2, 3)).T), one, other, 1.0, 0)
    core = PairSampler(matrix, one, other, 1.0, 0)
    with pytest.raises(ValueError, match="one entry a column"):
        core.draw(np.zeros(3), 1, "random")
    with pytest.raises(ValueError, match="strategy"):
        core.draw(np.zeros(2), 1, "hard")
    with pytest.raises(ValueError, match="count"):
        core.draw(np.zeros(2), -1, "random")
