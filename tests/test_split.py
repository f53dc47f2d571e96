"""The two classes and the weights of their rows."""

from __future__ import annotations

import pickle
import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from toprank.inputs.class_split import Split, between, share_threshold

MASK = np.array([True, False, True, False, False])


def test_without_weights_every_row_of_a_side_has_the_same_share() -> None:
    split = Split.of(MASK)
    assert split.n_rows == 5
    assert split.pos.tolist() == [0, 2]
    assert split.neg.tolist() == [1, 3, 4]
    assert split.p.tolist() == [1 / 2] * 2
    assert split.q.tolist() == [1 / 3] * 3
    assert split.pos.dtype == split.neg.dtype == np.int64


def test_shares_are_in_proportion_to_the_weights_of_their_side() -> None:
    split = Split.of(MASK, np.array([1.0, 2.0, 3.0, 4.0, 2.0]))
    assert split.p.tolist() == [1 / 4, 3 / 4]
    assert split.q.tolist() == [1 / 4, 1 / 2, 1 / 4]


def test_a_row_of_weight_zero_is_in_neither_class() -> None:
    split = Split.of(MASK, np.array([0.0, 1.0, 5.0, 0.0, 3.0]))
    assert split.n_rows == 5
    assert split.pos.tolist() == [2]
    assert split.neg.tolist() == [1, 4]
    assert split.p.tolist() == [1.0]
    assert split.q.tolist() == [0.25, 0.75]


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=20), st.sampled_from([1e-300, 1, 1e300]))
def test_shares_sum_to_one_and_do_not_depend_on_the_unit(weight: list[float], unit: float) -> None:
    weights = np.array(weight)
    positive = np.arange(len(weight)) % 2 == 0
    split, scaled = Split.of(positive, weights), Split.of(positive, unit * weights)
    for side, rows, same in ((split.p, split.pos, scaled.p), (split.q, split.neg, scaled.q)):
        assert side.sum() == pytest.approx(1.0, rel=1e-14)
        np.testing.assert_allclose(side, weights[rows] / weights[rows].sum(), rtol=1e-13)
        np.testing.assert_allclose(same, side, rtol=1e-13)


@pytest.mark.parametrize("vanishing", [1e-320, 1e-30])
def test_no_row_has_a_share_too_small_to_divide_by(vanishing: float) -> None:
    weight = np.array([vanishing, vanishing, 1e290, 1e290, vanishing])
    split = Split.of(MASK, weight)
    assert split.pos.tolist() == [2]
    assert split.neg.tolist() == [3]
    assert np.isfinite(1.0 / np.concatenate([split.p, split.q])).all()
    for small in (1e-300, np.finfo(np.float64).tiny):
        tiny = Split.of(MASK, np.array([small, 1.0, 1.0, 1.0, 1.0]))
        assert tiny.pos.tolist() == [0, 2]
        assert np.isfinite(1.0 / tiny.p).all()


def test_equal_weights_are_no_weights() -> None:
    plain, weighted = Split.of(MASK), Split.of(MASK, np.full(5, 0.3))
    np.testing.assert_allclose(weighted.p, plain.p, rtol=1e-15)
    np.testing.assert_allclose(weighted.q, plain.q, rtol=1e-15)


@pytest.mark.parametrize(
    ("positive", "weight", "side"),
    [
        ([True, True], None, "negative"),
        ([False, False], None, "positive"),
        ([True, False], [1.0, 0.0], "negative"),
        ([True, False], [0.0, 1.0], "positive"),
    ],
)
def test_an_empty_class_is_refused(
    positive: list[bool], weight: list[float] | None, side: str
) -> None:
    weights = None if weight is None else np.array(weight)
    with pytest.raises(ValueError, match=f"no {side} row with a weight above zero"):
        Split.of(np.array(positive), weights)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-3, 3), st.integers(0, 4)), min_size=2),
    st.booleans(),
)
def test_the_threshold_of_a_share_is_the_best_cut(
    rows: list[tuple[bool, int, int]], weighted: bool
) -> None:
    positive, scores, weight = (np.array(column) for column in zip(*rows, strict=True))
    weight = weight.astype(float) if weighted else np.ones(len(rows))
    if not (weight[positive].any() and weight[~positive].any()):
        return
    split = Split.of(positive, weight if weighted else None)
    assert split.positive_share == pytest.approx(weight[positive].sum() / weight.sum())
    assert split.swapped().positive_share == pytest.approx(1 - split.positive_share)

    def miss(threshold: float) -> float:
        return abs(weight[scores > threshold].sum() - weight[positive].sum())

    threshold = split.share_threshold(scores.astype(float))
    assert miss(threshold) == pytest.approx(min(miss(t) for t in np.arange(-3.5, 4.0)))
    own = scores[weight > 0]
    above, others = own[own > threshold], own[own <= threshold]
    if len(above) and len(others):
        assert threshold == (above.min() + others.max()) / 2
    else:
        assert threshold == (np.nextafter(own.min(), -np.inf) if len(above) else own.max())


def test_the_threshold_of_a_share_lies_between_neighbours() -> None:
    scores = np.array([5.0, 1.0, 3.0, 1.0 + 2e-16, 1.0])
    assert Split.of(MASK).share_threshold(scores) == pytest.approx(2.0)
    near = np.array([1.0 + 2.3e-16, 1.0, 1.0 + 2.3e-16, 0.0, 0.0])
    assert Split.of(MASK).share_threshold(near) == 1.0
    assert Split.of(MASK).share_threshold(np.full(5, 1e16)) == 1e16
    huge = np.array([9e307, -9e307, 9e307, -9e307, -9e307])
    assert np.isfinite(Split.of(MASK).share_threshold(huge))


@pytest.mark.parametrize("weight", [None, np.array([2.0, 0.0, 1.0, 1.0])])
def test_a_class_may_be_missing_where_that_is_said(weight: Any) -> None:
    for positive in (np.ones(4, dtype=bool), np.zeros(4, dtype=bool)):
        with pytest.raises(ValueError, match="needs at least one row of each class"):
            Split.of(positive, weight)
        split = Split.of(positive, weight, one_class=True)
        rows, share = (split.pos, split.p) if positive.all() else (split.neg, split.q)
        assert rows.tolist() == ([0, 1, 2, 3] if weight is None else [0, 2, 3])
        assert_allclose(share, np.full(4, 0.25) if weight is None else [0.5, 0.25, 0.25])
        assert len(split.pos) + len(split.neg) == len(rows)
        assert split.shares == (positive.mean(), 1.0 - positive.mean())
        alone = Split.of(positive[:1], None if weight is None else weight[:1], one_class=True)
        assert alone.shares == split.shares
        assert [*alone.p, *alone.q] == [1.0]
    assert Split.of(MASK, one_class=True).shares == (0.4, 0.6)
    none = Split.of(positive, np.zeros(4), one_class=True)
    assert len(none.pos) == len(none.neg) == none.positive_share == 0


def test_the_lightest_rows_are_left_out_as_long_as_they_weigh_little_together() -> None:
    weight = np.array([1.0, 1e-17, 1e-20, 1.0, 1.0, 3e-17])
    split = Split.of(np.array([True, True, True, False, False, False]), weight)
    assert split.without_lightest(1e-25) is split
    exact = Split(4, np.array([0, 1]), np.array([2, 3]), np.array([0.25, 0.75]), np.full(2, 0.5))
    assert exact.shares == (0.5, 0.5)  # where nobody says more
    assert exact.without_lightest(0.25).pos.tolist() == [1]
    assert exact.without_lightest(0.25).neg.tolist() == [2, 3]
    kept = split.without_lightest(1.05e-17)
    assert kept.pos.tolist() == [0]
    assert kept.neg.tolist() == [3, 4, 5]
    assert_allclose(kept.p, [1.0])
    assert_allclose(kept.q, split.q)


def test_the_rows_of_both_classes_in_order() -> None:
    positive = np.array([True, False, True, False])
    assert Split.of(positive).rows is None  # all
    assert Split.of(positive, np.ones(4)).rows is None
    assert Split.of(positive, np.array([1.0, 1.0, 1.0, 0.0])).rows.tolist() == [0, 1, 2]


def test_a_part_keeps_the_weights_and_counts_rows_from_its_beginning() -> None:
    rng = np.random.default_rng(0)
    split = Split.of(rng.random(40) < 0.4, rng.random(40) * (rng.random(40) < 0.8))
    ends = [0, 7, 7, 30, 40]
    parts = [split.part(begin, end) for begin, end in pairwise(ends)]
    assert [part.n_rows for part in parts] == [7, 0, 23, 10]
    for side, weight in (("pos", "p"), ("neg", "q")):
        rows = [getattr(part, side) + at for part, at in zip(parts, ends, strict=False)]
        assert np.concatenate(rows).tolist() == getattr(split, side).tolist()
        weights = np.concatenate([getattr(part, weight) for part in parts])
        assert weights.tolist() == getattr(split, weight).tolist()


def test_rows_of_one_weight_are_split_as_weights_of_one_are() -> None:
    positive = np.random.default_rng(0).random(50) < 0.3
    even, weighted = Split.of(positive), Split.of(positive, np.ones(50))
    for one, other in (
        (even, weighted),
        (even.weighing(0.2, 0.7), weighted.weighing(0.2, 0.7)),
        (pickle.loads(pickle.dumps(even)), weighted),
        (even.part(10, 30), weighted.part(10, 30)),
        (even.swapped(), weighted.swapped()),
    ):
        for name in ("pos", "neg", "p", "q", "tilt"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert (one.n_rows, one.positive_share) == (other.n_rows, other.positive_share)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.booleans()), min_size=2))
def test_only_some_rows_are_as_if_the_others_had_no_weight(
    rows: list[tuple[bool, int, bool]],
) -> None:
    positive, weight, kept = (np.array(column) for column in zip(*rows, strict=True))
    weight = weight.astype(float)
    if not (weight[positive].any() and weight[~positive].any()):
        return
    split = Split.of(positive, weight)
    one = split.only(np.flatnonzero(kept))
    other = Split.of(positive, weight * kept, one_class=True)
    for name in ("pos", "neg", "p", "q"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-14)
    assert_allclose(one.shares, other.shares if (weight * kept).any() else split.shares)
    assert split.only(np.empty(0, dtype=np.int64)).shares == split.shares


def test_what_is_told_of_the_classes() -> None:
    positive = np.array([True, False, True, False, True])
    split = Split.of(positive, np.array([1.0, 2.0, 3.0, 5.0, 0.0]))
    assert split.counts == (2, 2)
    assert split.positive.tolist() == [True, False, True, False, False]
    assert_allclose(split.sides, (2, 2, 1.0, -1.0))
    assert_allclose(split.weighing(3.0, 0.5).sides, (2, 2, 3.0, -0.5))
    assert_allclose(split.shares, (4 / 11, 7 / 11))
    assert_allclose(split.swapped().shares, (7 / 11, 4 / 11))
    assert_allclose(split.tilt, [1 / 4, -2 / 7, 3 / 4, -5 / 7, 0.0])
    assert_allclose(split.tilt_of(1, 3), [-2 / 7, 3 / 4])
    assert split.lightest_pair == pytest.approx(1 / 14)
    assert split.rows is not None
    assert split.rows.tolist() == [0, 1, 2, 3]
    worse = split.worse(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.arange(5.0))
    assert worse.tolist() == [1.0, 3.0, 1.0, 7.0, 5.0]


@pytest.mark.parametrize("weight", [None, np.ones(100_000)])
def test_a_split_that_is_not_listed_keeps_nothing_as_long_as_the_rows(weight: Any) -> None:
    positive = np.arange(100_000) % 3 == 0
    tracemalloc.start()
    split = Split.of(positive, weight)
    assert split.sides[:2] == (33_334, 66_666)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 50_000


@pytest.mark.parametrize(
    ("weight", "equal"),
    [
        ([3.0, 3.0, 3.0, 3.0, 3.0], True),
        ([3.0, 0.0, 3.0, 3.0, 0.0], True),
        ([3.0, 1.0, 3.0, 1.0, 1.0], False),  # equal in each class
        ([1.0, 3.0, 3.0, 3.0, 3.0], False),
        ([3.0, 3.0, 3.0, 3.0, 1.0], False),
        ([1.0, 2.0, 3.0, 2.0, 2.0], False),  # the shares of the classes are those of the rows
    ],
)
def test_whether_all_rows_weigh_the_same(weight: list[float], equal: bool) -> None:
    assert Split.of(MASK, np.array(weight)).equal is equal
    assert Split.of(MASK).equal


def test_a_share_of_nothing_and_of_all() -> None:
    scores = np.array([1.0, 3.0, 2.0])
    assert (scores <= share_threshold(scores, None, 0.0)).all()
    assert (scores > share_threshold(scores, None, 1.0)).all()


@pytest.mark.parametrize("positive", [np.arange(9) < 3, np.arange(9) % 2 == 1])
@pytest.mark.parametrize("seed", range(40))
def test_the_threshold_of_a_share_of_the_weight_against_every_cut(seed: int, positive: Any) -> None:
    rng = np.random.default_rng(seed)
    scores, weight = (
        1.0 * rng.permutation(9),
        rng.integers(0, 5, 9) + 10.0 * (np.arange(9) % 3 == 0),
    )
    threshold = Split.of(positive, weight).share_threshold(scores)
    misses = [abs(weight[scores > t].sum() - weight[positive].sum()) for t in np.arange(-1.0, 9.0)]
    assert abs(weight[scores > threshold].sum() - weight[positive].sum()) == min(misses)
    # The unit of the weights does not matter, nor their rounding between cuts equally near.
    share = weight[positive].sum() / weight.sum()
    for unit in (1e-7 / 3, 1e7 / 3):
        assert share_threshold(scores, unit * weight, share) == share_threshold(
            scores, weight, share
        )


def test_between_two_numbers_is_one_below_the_higher() -> None:
    low, high = 1.0 + 2.0**-52, 1.0 + 2.0**-51
    assert low / 2 + high / 2 == high
    assert between(low, high) == low
    assert between(1.0, 2.0) == 1.5
