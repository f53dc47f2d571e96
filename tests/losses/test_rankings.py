"""Worst cases over rankings: oracles against all rankings, planes, mixtures, rounding."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.examples import examples
from toprank.inputs.class_split import Split
from toprank.losses import (
    AveragePrecisionLoss,
    Mixture,
    OrderedPairsLoss,
    PairLoss,
    PartialAUCLoss,
    RankingLoss,
)
from toprank.losses.rankings import falling
from toprank.surrogates import SURROGATES
from truth.reference_files import reference_file

Array = NDArray[np.float64]

RATES = [(0.0, 1.0), (0.0, 0.3), (0.1, 0.4), (0.3, 0.35), (0.5, 1.0), (0.0, 1e-3), (0.9, 0.95)]


def split_of(m: int, n: int) -> Split:
    return Split.of(np.arange(m + n) < m)


def average_precision(ranks_of_positives: list[int]) -> Fraction:
    return sum(
        (Fraction(k + 1, rank) for k, rank in enumerate(sorted(ranks_of_positives))), Fraction(0)
    ) / len(ranks_of_positives)


def map_by_all_rankings(s_pos: list[float], s_neg: list[float]) -> float:
    """The largest of all (m + n)! rankings, from the definition."""
    m, n = len(s_pos), len(s_neg)
    best = -np.inf
    for order in permutations(range(m + n)):
        rank = {row: place + 1 for place, row in enumerate(order)}
        wrong = [(i, j) for i in range(m) for j in range(n) if rank[m + j] < rank[i]]
        lost = float(1 - average_precision([rank[i] for i in range(m)]))
        best = max(best, lost - 2.0 / (m * n) * sum(s_pos[i] - s_neg[j] for i, j in wrong))
    return best


def pauc_by_all_orders(s_pos: Any, s_neg: Any, a: float, b: float, tight: bool) -> float:
    """Every order of the negatives, and every place of every positive, by loops."""
    n = len(s_neg)
    best = -np.inf
    for order in permutations(range(n)):
        total = 0.0
        for s in s_pos:
            sums = [0.0]
            for place, j in enumerate(order):
                begin, end = place / n, (place + 1) / n
                lost = max(min(end, b) - max(begin, a), 0.0)
                counts = max(min(end, b) - begin, 0.0) if tight else 1.0 / n
                sums.append(sums[-1] + lost + counts * (s_neg[j] - s))
            total += max(sums)
        best = max(best, total / len(s_pos) / (b - a))
    return best


#: Whole numbers, so that there are ties, and others.
score = st.one_of(st.integers(-2, 2).map(float), st.floats(-2.0, 2.0))
scores = st.tuples(st.lists(score, min_size=1, max_size=3), st.lists(score, min_size=1, max_size=3))


@examples(60)
@given(scores)
def test_average_precision_is_the_worst_of_all_rankings(both: Any) -> None:
    s_pos, s_neg = both
    loss = AveragePrecisionLoss(split_of(len(s_pos), len(s_neg)))
    expected = map_by_all_rankings(s_pos, s_neg)
    assert loss.value(np.array([*s_pos, *s_neg])) == pytest.approx(expected, abs=1e-12)


@examples(80)
@given(scores, st.sampled_from(RATES), st.booleans())
def test_partial_auc_is_the_worst_of_all_rankings(both: Any, rates: Any, tight: bool) -> None:
    s_pos, s_neg = both
    loss = PartialAUCLoss(split_of(len(s_pos), len(s_neg)), *rates, tight=tight)
    expected = pauc_by_all_orders(s_pos, s_neg, *rates, tight)
    assert loss.value(np.array([*s_pos, *s_neg])) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def places_one_by_one(loss: AveragePrecisionLoss, s_pos: Array, s_neg: Array) -> float:
    """sum_j max_k A(j, k), all m n of them, terms added one by one."""
    m, n = len(s_pos), len(s_neg)
    total = 0.0
    for j in range(1, n + 1):
        i = np.arange(1, m + 1)
        terms = i / ((i + j - 1.0) * (i + j)) / m - 2.0 / (m * n) * (s_pos - s_neg[j - 1])
        total += max(0.0, float(np.cumsum(terms[::-1]).max()))
    return total


@pytest.mark.parametrize(("m", "n"), [(1, 40), (40, 1), (17, 60), (60, 17), (1, 1)])
@pytest.mark.parametrize("digits", [0, 12])
def test_divide_and_conquer_finds_what_a_full_search_finds(m: int, n: int, digits: int) -> None:
    rng = np.random.default_rng(m + n)
    loss = AveragePrecisionLoss(split_of(m, n))
    for scale in (0.1, 1.0, 3.0):
        s = np.round(scale * rng.normal(size=m + n), digits)
        falling_s = np.sort(s[:m])[::-1], np.sort(s[m:])[::-1]
        places = loss.best_places(*falling_s)
        assert (np.diff(places) >= 0).all()
        expected = places_one_by_one(loss, *falling_s)
        assert loss.value(s) == pytest.approx(expected, abs=1e-12)


def losses(split: Split) -> list[RankingLoss]:
    found: list[RankingLoss] = [PartialAUCLoss(split, *rates) for rates in RATES]
    if split.equal:
        found += [PartialAUCLoss(split, *rates, tight=False) for rates in RATES]
        found.append(AveragePrecisionLoss(split))
    return found


@pytest.mark.parametrize("fall", [0.0, 0.5, 3.0])
def test_pairs_weighed_by_the_order_of_their_negatives(fall: float) -> None:
    rng = np.random.default_rng(8)
    weights = np.arange(1.0, 10.0) ** -fall
    weights /= weights.sum()
    split = Split.of(np.arange(14) < 5, np.r_[rng.uniform(0.5, 2.0, 5), np.ones(9)])
    loss = OrderedPairsLoss(split, weights)
    for scale in (0.1, 1.0, 3.0):
        s = np.round(scale * rng.normal(size=14), 1)
        highest = np.sort(s[5:])[::-1]
        hinges = np.maximum(1.0 + highest - s[:5, np.newaxis], 0.0)
        assert loss.value(s) == pytest.approx(split.p @ hinges @ weights, rel=1e-13)


@pytest.mark.parametrize("b", [0.02, 0.1])
def test_light_negatives_at_the_top_count_up_to_the_rate(b: float) -> None:
    """More of them than rows of the same weight would be."""
    rng = np.random.default_rng(9)
    s = np.sort(rng.normal(size=220))[::-1].copy()
    s[:20] = rng.normal(size=20)
    weight = np.r_[np.ones(20), np.full(100, 0.01), np.ones(100)]
    upto = np.minimum(np.cumsum(weight[20:]) / 101.0, b)
    counts = np.diff(upto, prepend=0.0)
    hinges = np.maximum(1.0 + s[20:] - s[:20, np.newaxis], 0.0)
    order = np.r_[:20, 20 + rng.permutation(200)]
    split = Split.of(np.arange(220) < 20, weight[order])
    value = PartialAUCLoss(split, 0.0, b).value(s[order])
    assert value == pytest.approx((hinges @ counts).mean() / b, rel=1e-12)


def test_the_values_at_zero_are_known() -> None:
    for loss in losses(split_of(5, 9)):
        zero = np.zeros(14)
        assert abs(loss.value(zero) - loss.at_zero) <= loss.zero_rounding + 1e-12
        level, v = loss.plane(loss.perfect)
        assert level == 0.0
        assert not v.any()


@examples(40)
@given(st.integers(0, 2**32 - 1))
def test_any_ranking_bounds_the_loss_from_below(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = (int(x) for x in rng.integers(1, 8, size=2))
    weight = rng.uniform(0.1, 3.0, m + n) if rng.random() < 0.5 else None
    for loss in losses(Split.of(np.arange(m + n) < m, weight)):
        s = rng.normal(size=m + n)
        value = loss.value(s)
        for _ in range(4):
            ranking = loss.ranking(rng.integers(0, n + 1, m), rng.permutation(n))
            level, v = loss.plane(ranking)
            assert level + v @ s <= value + 1e-12 * (1.0 + abs(value))
            assert abs(v.sum()) <= 1e-12 * np.abs(v).sum()
            assert (v[:m] <= 0.0).all()
            assert (v[m:] >= 0.0).all()


@pytest.mark.parametrize("m", [1, 30])
@pytest.mark.parametrize("n", [1, 45])
def test_slopes_are_subgradients(m: int, n: int) -> None:
    rng = np.random.default_rng(3)
    for loss in losses(split_of(m, n)):
        for _ in range(5):
            s, other = rng.normal(size=(2, m + n))
            at_other = loss.value(s) + loss.slope(s) @ (other - s)
            assert loss.value(other) >= at_other - 1e-12 * (1.0 + abs(at_other))


def test_scores_may_be_shifted_together() -> None:
    s = np.random.default_rng(0).normal(size=20)
    for loss in losses(split_of(8, 12)):
        assert loss.value(s + 7.0) == pytest.approx(loss.value(s), rel=1e-12)


def test_the_tight_form_on_all_rates_is_the_hinge_on_all_pairs() -> None:
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.1, 3.0, 50)
    split = Split.of(np.arange(50) < 20, weight)
    s = rng.normal(size=50)
    hinge = PairLoss(split, SURROGATES["hinge"])
    assert PartialAUCLoss(split, 0.0, 1.0).value(s) == pytest.approx(hinge.value(s), rel=1e-13)


def test_the_tight_form_from_zero_on_is_the_hinge_with_the_highest_negatives() -> None:
    s = np.random.default_rng(2).normal(size=40)
    highest = np.sort(s[10:])[::-1][:6]
    expected = np.maximum(1.0 + highest[:, np.newaxis] - s[:10], 0.0).mean()
    assert PartialAUCLoss(split_of(10, 30), 0.0, 0.2).value(s) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("rates", RATES)
def test_weights_repeat_rows_in_the_tight_form(rates: tuple[float, float]) -> None:
    rng = np.random.default_rng(4)
    positive, weight = np.arange(40) < 15, rng.integers(0, 4, 40)
    s = np.round(rng.normal(size=40), 1)
    weighted = PartialAUCLoss(Split.of(positive, weight.astype(float)), *rates)
    repeated = PartialAUCLoss(Split.of(np.repeat(positive, weight)), *rates)
    twice = np.repeat(s, weight)
    assert weighted.value(s) == pytest.approx(repeated.value(twice), rel=1e-12)


def test_weights_are_refused_where_rows_are_counted() -> None:
    weight = np.ones(9)
    weight[-1] = 2.0
    split = Split.of(np.arange(9) < 4, weight)
    with pytest.raises(ValueError, match="counts rows"):
        AveragePrecisionLoss(split)
    with pytest.raises(ValueError, match="counts whole"):
        PartialAUCLoss(split, 0.0, 0.5, tight=False)
    with pytest.raises(ValueError, match="count whole negatives"):
        OrderedPairsLoss(split, np.full(5, 0.2))


def test_a_mixture_bounds_by_its_mean_and_must_be_of_rankings() -> None:
    rng = np.random.default_rng(5)
    for loss in losses(split_of(6, 8)):
        rankings = np.array([loss.worst_ranking(rng.normal(size=14)) for _ in range(3)])
        weights = np.array([1.0, 2.0, 5.0])
        (level, v), off = loss.mixed(Mixture(rankings, weights))
        planes = [loss.plane(one) for one in rankings]
        assert level == pytest.approx(weights / 8.0 @ [one.level for one in planes])
        assert v == pytest.approx(weights / 8.0 @ np.array([one.v for one in planes]))
        assert 0.0 < off.value < 1e-9
        bad = rankings.copy()
        bad[1, -1] = bad[1, -2]
        with pytest.raises(ValueError, match="name each of 8 negatives once"):
            loss.mixed(Mixture(bad, weights))
        bad = rankings.copy()
        bad[0, 0] = 9
        with pytest.raises(ValueError, match="place 6 positives"):
            loss.mixed(Mixture(bad, weights))
        with pytest.raises(ValueError, match="weights of a mixture"):
            loss.mixed(Mixture(rankings, np.array([1.0, -1.0, 5.0])))


def test_equal_values_keep_their_order() -> None:
    rng = np.random.default_rng(6)
    for values in (np.zeros(7), rng.integers(0, 5, 300).astype(float), rng.normal(size=100)):
        assert (falling(values) == np.argsort(-values, kind="stable")).all()


def test_the_reference_cases_of_the_oracles() -> None:
    with np.load(reference_file("pairs-and-points")) as case:
        s = case["X"] @ case["c3_w"]
        split = Split.of(case["y"] == 1)
        loss = AveragePrecisionLoss(split)
        places = loss.best_places(case["c8_map_scores_pos"], case["c8_map_scores_neg"])
        assert places.tolist() == case["c8_map_opt"].tolist()
        assert loss.value(s) == pytest.approx(float(case["c8_map_value"]), rel=1e-12)
        for name, rates in {"0_30": (0.0, 0.3), "10_40": (0.1, 0.4)}.items():
            for form in ("tight", "loose"):
                partial = PartialAUCLoss(split, *rates, tight=form == "tight")
                expected = float(case[f"c9_{name}_{form}_value"])
                assert partial.value(s) == pytest.approx(expected, rel=1e-12)
                above, _ = partial.parts(partial.worst_ranking(s))
                assert above.tolist() == case[f"c9_{name}_{form}_r"].tolist()
