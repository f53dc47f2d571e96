"""`PairSampler`: the law of its draws, against all pairs written out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare, norm

from toprank._core import Matrix, PairSampler
from truth.all_pairs import (
    METHODS,
    ONE,
    SOFT,
    Array,
    Pair,
    all_pairs,
    by_every_method,
    drawn,
    margins,
    masses,
    p_of,
    sampler,
    soft,
)
from truth.reference_files import reference_file

#: What a test of a law may fail by chance with, were its seeds not fixed.
RARE = 1e-4


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


@soft
def test_chosen_pairs_count_in_the_mean_acceptance(strategy: str) -> None:
    # The envelope leaves chosen points out, real ones are proposed in vain.
    truth = sum(masses(S, T, strategy, 0.5).values())
    means = []
    for seed in range(4000):
        core = sampler(S, T, 0.5, seed)
        chosen = drawn(core, 6, "random")
        assert len(chosen) == 6
        means.append(core.draw(ONE, 1, strategy, method="envelope")[3])
    assert np.mean(means) == pytest.approx(truth, rel=0.02)
    assert np.std(means) > 0


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
    t[99] = t.max() + 1e-9
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


def reference() -> dict[str, Array]:
    with np.load(reference_file("pairs-and-points")) as file:
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
