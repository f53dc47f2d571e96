"""`PairSampler`: the law of its draws against all pairs written out, its choices against a sort."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import chisquare, norm

from shared_files import shared_file
from toprank._core import Matrix, PairSampler

Array = NDArray[np.float64]
Pair = tuple[int, int]

STRATEGIES = ["random", "soft-close", "soft-correct", "hard-close", "hard-correct"]
SOFT = ["soft-close", "soft-correct"]
METHODS = ["lazy", "envelope", "enumeration", "auto"]
#: What a test of a law may fail by chance with, were its seeds not fixed.
RARE = 1e-4

soft = pytest.mark.parametrize("strategy", SOFT)
by_every_method = pytest.mark.parametrize("method", METHODS)


def sampler(s: Array, t: Array, gamma: float = 1.0, seed: int = 0) -> PairSampler:
    """One feature, which is the score at w = 1: the positives' are s, then the negatives' t."""
    rows = np.concatenate([s, t])[:, np.newaxis]
    positives = np.arange(len(s))
    return PairSampler(Matrix.dense(rows), positives, np.arange(len(s), len(rows)), gamma, seed)


ONE = np.ones(1)


def drawn(core: PairSampler, count: int, strategy: str, **options: Any) -> list[Pair]:
    first, second, *_ = core.draw(ONE, count, strategy, **options)
    return list(zip(first.tolist(), second.tolist(), strict=True))


def margins(s: Array, t: Array) -> dict[Pair, float]:
    """Of all pairs, real ones and points."""
    m = len(s)
    found = {(i, m + j): s[i] - t[j] for i in range(m) for j in range(len(t))}
    found |= {(i, -1): s[i] for i in range(m)}
    found |= {(-1, m + j): -t[j] for j in range(len(t))}
    return {pair: float(d) for pair, d in found.items()}


def p_of(strategy: str, d: float) -> float:
    if strategy == "soft-close":
        return float(2 / (1 + np.exp(abs(d))))
    if strategy == "soft-correct":
        return float(1 - 2 / (1 + np.exp(max(1 - d, 0.0))))
    return 1.0


def masses(s: Array, t: Array, strategy: str, gamma: float) -> dict[Pair, float]:
    """How often a proposal is the pair and accepted."""
    m, n = len(s), len(t)
    return {
        pair: p_of(strategy, d) * ((1 - gamma) / (m + n) if -1 in pair else gamma / (m * n))
        for pair, d in margins(s, t).items()
    }


def assert_law(seen: Counter[Any], law: dict[Any, float]) -> None:
    """The chi-square test; what the law excludes was never seen."""
    cells = [cell for cell, mass in law.items() if mass > 0]
    assert not set(seen) - set(cells)
    total = sum(law.values())
    n = sum(seen.values())
    expected = np.array([law[cell] / total * n for cell in cells])
    observed = np.array([seen[cell] for cell in cells])
    rare = expected < 8  # counted as one
    parts = [np.append(x[~rare], x[rare].sum()) if rare.any() else x for x in (observed, expected)]
    assert chisquare(*parts).pvalue > RARE


S = np.array([0.3, -0.5, 1.7, 2.6])
T = np.array([-1.3, 0.2, 1.1, -0.9, -2.5])


@by_every_method
@soft
@pytest.mark.parametrize("gamma", [1.0, 0.7, 0.1, 0.0])
def test_a_pair_is_drawn_as_often_as_the_law_says(strategy: str, method: str, gamma: float) -> None:
    seen = Counter(
        pair
        for seed in range(8000)
        for pair in drawn(sampler(S, T, gamma, seed), 1, strategy, method=method)
    )
    assert_law(seen, masses(S, T, strategy, gamma))


@pytest.mark.parametrize("gamma", [1.0, 0.7, 0.0])
def test_random_proposals_choose_the_type_first(gamma: float) -> None:
    seen = Counter(drawn(sampler(S, T, gamma, seed), 1, "random")[0] for seed in range(8000))
    assert_law(seen, masses(S, T, "random", gamma))


def without_replacement(law: dict[Pair, float]) -> dict[tuple[Pair, Pair], float]:
    total = sum(law.values())
    return {
        (one, other): law[one] / total * law[other] / (total - law[one])
        for one in law
        for other in law
        if one != other and law[one] * law[other] > 0
    }


@pytest.mark.parametrize("in_rounds", [False, True])
@pytest.mark.parametrize(
    ("strategy", "method"),
    [*((strategy, method) for strategy in SOFT for method in METHODS), ("random", "auto")],
)
def test_the_second_pair_follows_the_law_of_what_is_left(
    strategy: str, method: str, in_rounds: bool
) -> None:
    s, t, gamma = S[:2], T[1:3], 0.6
    seen: Counter[Any] = Counter()
    for seed in range(8000):
        core, got = sampler(s, t, gamma, seed), []
        while len(got) < 2:  # rejection alone may give up, and is asked again
            got += drawn(core, 1 if in_rounds else 2 - len(got), strategy, method=method)
        seen[tuple(got)] += 1
    assert_law(seen, without_replacement(masses(s, t, strategy, gamma)))


@pytest.mark.parametrize("method", ["lazy", "envelope", "enumeration"])
@soft
@pytest.mark.parametrize("gamma", [1.0, 0.6])
def test_the_mean_acceptance_has_no_bias(strategy: str, method: str, gamma: float) -> None:
    truth = sum(masses(S, T, strategy, gamma).values())
    for count in (1, 3):
        seen = np.array(
            [
                sampler(S, T, gamma, seed).draw(ONE, count, strategy, method=method)[3]
                for seed in range(4000)
            ]
        )
        error = seen.std() / np.sqrt(len(seen))
        if method == "enumeration":
            assert_allclose(seen, truth, rtol=1e-12)
        else:
            assert error > 0
            if count == 1:  # nothing is rejected for being chosen
                assert 2 * norm.sf(abs(seen.mean() - truth) / error) > RARE
            else:
                assert seen.mean() == pytest.approx(truth, rel=0.1)


@by_every_method
@soft
def test_p_is_that_of_the_margin(strategy: str, method: str) -> None:
    core = sampler(S, T, 0.5)
    first, second, p, *_ = core.draw(ONE, 8, strategy, method=method)
    d = margins(S, T)
    expected = [
        p_of(strategy, d[pair]) for pair in zip(first.tolist(), second.tolist(), strict=True)
    ]
    assert_allclose(p, expected, rtol=1e-12)


def all_pairs(m: int, n: int, gamma: float) -> set[Pair]:
    real = {(i, m + j) for i in range(m) for j in range(n)} if gamma > 0 else set()
    points = {(i, -1) for i in range(m)} | {(-1, m + j) for j in range(n)} if gamma < 1 else set()
    return real | points


@pytest.mark.parametrize("gamma", [1.0, 0.999, 0.5, 1e-6, 0.0])
@pytest.mark.parametrize("strategy", ["random", "soft-close", "hard-close"])
@pytest.mark.parametrize("batch", [7, 1000])
def test_in_the_end_every_pair_is_drawn_once(strategy: str, gamma: float, batch: int) -> None:
    rng = np.random.default_rng(1)
    s, t = rng.normal(size=13), rng.normal(size=17)
    core = sampler(s, t, gamma)
    pairs: list[Pair] = []
    while new := drawn(core, batch, strategy):
        assert len(new) == min(batch, core.n_pairs - len(pairs))
        pairs += new
    assert len(pairs) == len(set(pairs)) == core.n_chosen == core.n_pairs
    assert set(pairs) == all_pairs(13, 17, gamma)
    assert core.draw(ONE, batch, strategy)[3:] == (1.0, 0)


@pytest.mark.parametrize("gamma", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("strategy", ["soft-correct", "hard-correct"])
def test_pairs_without_a_loss_are_never_drawn(strategy: str, gamma: float) -> None:
    rng = np.random.default_rng(2)
    s, t = rng.normal(size=30) + 1, rng.normal(size=20)
    core = sampler(s, t, gamma)
    pairs: list[Pair] = []
    while new := drawn(core, 9, strategy):
        pairs += new
    violated = {pair for pair, d in margins(s, t).items() if d < 1} & all_pairs(30, 20, gamma)
    assert 0 < len(violated) < core.n_pairs
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == violated


@pytest.mark.parametrize("strategy", ["soft-correct", "hard-correct"])
def test_separable_scores_end_at_once(strategy: str) -> None:
    rng = np.random.default_rng(0)
    s, t = 3 + rng.uniform(size=20_000), rng.uniform(size=20_000)
    core = sampler(s, t)
    first, _, _, _, looked_at = core.draw(ONE, 100, strategy)
    assert len(first) == 0
    assert looked_at <= 2 * 40_000
    # A single pair among four hundred million has a loss, and a tiny one.
    s[77], t[99] = 1.0 - 1e-12 + t[99], t.max() + 1e-9
    s[77] = t[99] + 1.0 - 1e-12
    core = sampler(s, t)
    assert drawn(core, 100, strategy) == [(77, 20_099)]
    assert drawn(core, 100, strategy) == []


@soft
def test_rejection_that_takes_too_long_hands_over(strategy: str) -> None:
    # Hardly any of four million pairs is likely, but too many are possible to look at each.
    rng = np.random.default_rng(3)
    shift = 30.0 if strategy == "soft-close" else 4.0
    s, t = shift + rng.normal(size=2000), rng.normal(size=2000)
    core = sampler(s, t)
    for _ in range(3):
        first, _, p, mean, looked_at = core.draw(ONE, 50, strategy)
        assert len(first) == 50
        assert looked_at <= 2 * 4000 + 50 * 50 + 1000
        d = (s[:, np.newaxis] - t).ravel()
        assert mean == pytest.approx(np.mean([p_of(strategy, x) for x in d[::97]]), rel=0.3)
        assert (p > 0).all()
    assert looked_at < 200  # by now it does not try rejection first


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


def reference() -> dict[str, Array]:
    with np.load(shared_file("reference/reference-pairs-and-points.npz")) as file:
        return dict(file)


def test_the_reference_probabilities_and_hard_choices() -> None:
    case = reference()
    X, w = np.ascontiguousarray(case["X"]), case["c4_w"]
    positives, negatives = (case[f"c4_{side}"].astype(np.int64) for side in ("pos", "neg"))
    place = {row: k for k, row in enumerate(positives)}, {row: k for k, row in enumerate(negatives)}
    for name in ("close", "correct"):
        core = PairSampler(Matrix.dense(X), positives, negatives, 1.0, 0)
        first, second, p, mean, _ = core.draw(w, len(positives) * len(negatives), f"soft-{name}")
        expected = case[f"c4_p_{name}"]
        at = [place[0][row] for row in first], [place[1][row] for row in second]
        assert_allclose(p, expected[at], rtol=1e-12)
        assert len(first) == np.count_nonzero(expected)
        assert_allclose(mean, case[f"c4_rate_{name}"], rtol=1e-12)
        assert_allclose(core.envelope_rows(w, f"soft-{name}"), case[f"c4_env_rows_{name}"])

        core = PairSampler(Matrix.dense(X), positives, negatives, 1.0, 0)
        first, second, *_ = core.draw(w, 10, f"hard-{name}")
        assert_array_equal(np.column_stack([first, second]), case[f"c4_hard_{name}10"])


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
