"""Moments of pairs against every pair, and what they say of their rounding against the worst."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from toprank.designs import RowMoments, as_design
from toprank.methods.squared.moments import ClassMoments, Moments, Rounding

RNG = np.random.default_rng(5)
X = RNG.normal(size=(14, 3)) + np.array([2.0, 0.0, -1.0])
POSITIVE = np.arange(14) % 3 == 0
X[POSITIVE] += 0.7
WEIGHT = RNG.uniform(0.5, 2.0, 14)
UNIT = 2.0**-53


def pairs(weight: Any) -> tuple[Any, Any]:
    """x_i - x_j of every pair, and what each weighs."""
    psi = (X[POSITIVE][:, None] - X[~POSITIVE][None]).reshape(-1, 3)
    of = np.outer(weight[POSITIVE], weight[~POSITIVE]).ravel()
    return psi, of / of.sum()


def of_rows(rows: Any, weight: Any) -> Moments:
    mean = weight @ rows / weight.sum()
    apart = rows - mean
    found = (weight.sum(), mean, (apart.T * weight) @ apart, weight @ apart**2)
    return Moments.of_rows(RowMoments(*found, depth=float(len(rows))))


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_moments_of_pairs_are_those_of_every_pair(weight: Any) -> None:
    of_classes = ClassMoments.of(as_design(X), POSITIVE, weight)
    found = of_classes.of_pairs()
    psi, share = pairs(np.ones(14) if weight is None else weight)
    assert found.weight == 1.0
    assert_allclose(found.mean, share @ psi, rtol=1e-13)
    assert_allclose(found.second(), (psi.T * share) @ psi, rtol=1e-12)
    w, alpha = np.array([0.3, -0.2, 0.5]), 0.7
    missing = 1.0 - psi @ w
    for own, given in ((0.0, ()), (alpha, (alpha,))):
        value, gradient = found.value_and_gradient(w, *given)
        assert value == pytest.approx(share @ missing**2 / 2 + own / 2 * w @ w, rel=1e-13)
        assert_allclose(gradient, -(share * missing) @ psi + own * w, rtol=1e-12)
    above, below = of_classes.positive.mean, of_classes.negative.mean
    assert_allclose(of_classes.middle, (above + below) / 2)


def test_some_of_the_rows_and_merged_parts() -> None:
    rows = np.array([0, 1, 2, 3, 7, 9, 10])
    design, absent = as_design(X), np.zeros(14)
    absent[rows] = WEIGHT[rows]
    some = ClassMoments.of(design, POSITIVE, WEIGHT, rows)
    others = ClassMoments.of(design, POSITIVE, WEIGHT, np.setdiff1d(np.arange(14), rows))
    every = ClassMoments.of(design, POSITIVE, WEIGHT)
    none = ClassMoments.none(3)
    for one, same in (
        (some, ClassMoments.of(design, POSITIVE, absent)),
        (some.merge(others), every),
        (none.merge(every), every),
        (every.merge(none), every),
    ):
        for a, b in ((one.positive, same.positive), (one.negative, same.negative)):
            assert a.weight == pytest.approx(b.weight, rel=1e-14)
            assert_allclose(a.mean, b.mean, rtol=1e-13)
            assert_allclose(a.scatter, b.scatter, rtol=1e-12)
    nobody = none.merge(none).positive
    assert nobody.weight == nobody.rounding.share == 0.0
    assert none.merge(every).positive is every.positive  # to the last bit, and its rounding
    assert every.merge(none).positive is every.positive
    one = np.array([0])  # of weight one
    first = ClassMoments.of(design, POSITIVE, None, one).positive
    rest = ClassMoments.of(design, POSITIVE, None, np.arange(1, 14)).positive
    for both in (first.merge(rest), rest.merge(first)):
        assert both.weight == POSITIVE.sum()
        assert_allclose(both.mean, X[POSITIVE].mean(axis=0), rtol=1e-13)


def test_the_rounding_of_merged_parts_is_that_of_all_the_rows() -> None:
    rows = 1e3 * X
    one, other = of_rows(rows[:5], WEIGHT[:5]), of_rows(rows[5:], WEIGHT[5:])
    one.rounding.mean[:], other.rounding.mean[:] = [1e-3, 2e-3, 0.0], [5e-3, 1e-3, 0.0]
    part = WEIGHT[5:].sum() / WEIGHT.sum()
    for found, share in ((one.merge(other), part), (other.merge(one), 1.0 - part)):
        first, second = (one, other) if share == part else (other, one)
        apart = rows - WEIGHT @ rows / WEIGHT.sum()
        spread = np.sqrt(WEIGHT @ apart**2 / WEIGHT.sum())
        assert_allclose(found.rounding.size, spread, rtol=1e-13)
        own = (1.0 - share) * first.rounding.mean + share * second.rounding.mean
        more = found.rounding.mean - own
        assert_allclose(found.rounding.mean, own, rtol=1e-8, atol=1e-10)
        assert (UNIT * np.abs(found.mean) < more + 1e-18).all()
        assert (more < 100.0 * UNIT * (np.abs(found.mean) + spread)).all()
        assert found.rounding.share > max(first.rounding.share, second.rounding.share)
        assert found.rounding.share < 1e-13
    both = one.rounding.sum(other.rounding)
    assert_allclose(both.size, one.rounding.size + other.rounding.size)
    assert_allclose(both.mean, [6e-3, 3e-3, 0.0])
    assert both.share == pytest.approx(other.rounding.share, rel=0.9)
    assert both.share > other.rounding.share > one.rounding.share


def test_the_mean_of_constant_columns_is_exact() -> None:
    rows = np.full((4, 1), 0.1)
    one = of_rows(rows[:2], np.ones(2))
    one.rounding.mean[:] = 0.0
    one.rounding.size[:] = 0.0
    assert one.merge(one).rounding.mean.tolist() == [0.0]


@pytest.mark.parametrize("size", [0.25, 4.0])
def test_a_merged_mean_is_rounded_where_the_column_is_not_constant(size: float) -> None:
    exact = Rounding(0.0, np.array([size, 0.0]), np.zeros(2))
    found = exact.merge(exact, 0.5, np.zeros(2), np.array([3.0, 3.0]))
    assert UNIT * (3.0 + size) < found.mean[0] < 100.0 * UNIT * (3.0 + size)
    assert found.mean[1] == 0.0
    assert found.size[0] == size * (1.0 + 16.0 * UNIT)  # the root of its square is exact


def test_the_rounding_of_sums_over_many_rows() -> None:
    many, mean = 1e9, np.array([3.0, -2.0, 4.0])
    square, scatter = np.array([8.0, 0.5, 0.0]), np.eye(3)
    found = Rounding.of_rows(RowMoments(2.0, mean, scatter, square, many))
    assert found.share == pytest.approx(many * UNIT, rel=1e-6)
    assert_allclose(found.size, (1.0 + found.share) * np.array([2.0, 0.5, 0.0]), rtol=1e-15)
    assert_allclose(found.mean, found.share * np.array([5.0, 2.5, 0.0]), rtol=1e-6)
    shift = np.array([1e6, -1e6, 0.0])
    moved = Rounding.of_rows(RowMoments(2.0, mean, scatter, square, many, shift))
    more = moved.mean - found.mean
    assert (more[:2] > 2e6 * UNIT).all()
    assert (more[:2] < 1e8 * UNIT).all()
    assert more[2] < 1e3 * UNIT
    alike = RowMoments(2.0, mean, scatter, 0.0 * square, many, 2.0 * mean)
    # Entries are three times the mean, of which two were taken off.
    assert_allclose(Rounding.of_rows(alike).mean, 16.0 * UNIT * 5.0 * np.abs(mean), rtol=1e-12)
    one = Moments.of_rows(RowMoments(2.0, mean, scatter, square, many, shift))
    assert_allclose(one.mean, mean + shift)
    assert Moments.of_rows(RowMoments(0.0, mean, scatter, square, many)).weight == 0.0


def disturbed(one: Moments) -> Any:
    """Moments that the rows may have, if the computed ones are as far off as is said."""
    off, d = one.rounding, len(one.mean)
    lean = np.outer(off.size, off.mean)
    most = off.share * np.outer(off.size, off.size) + lean + lean.T + np.outer(off.mean, off.mean)
    for signs in product((-1.0, 1.0), repeat=d + d * (d + 1) // 2):
        by = np.zeros((d, d))
        by[np.triu_indices(d)] = signs[d:]
        by = np.triu(by) + np.triu(by, 1).T
        yield Moments(
            one.weight,
            one.mean + np.array(signs[:d]) * off.mean,
            one.scatter + one.weight * most * by,
            off,
        )


@pytest.mark.parametrize(
    ("share", "mean"), [(1e-5, [1e-9, 2e-9]), (1e-9, [1e-5, 3e-5]), (1e-5, [3e-5, 1e-5])]
)
@pytest.mark.parametrize("w", [(0.5, -0.3), (-1.0, 2.0), (0.1, 0.0)])
def test_values_and_gradients_are_off_by_no_more_than_is_said(
    share: float, mean: list[float], w: Any
) -> None:
    """And in the worst case by almost as much."""
    off = Rounding(share, np.array([1.5, 2.5]), np.array(mean))
    scatter = 3.0 * np.array([[9.0, 1.0], [1.0, 16.0]])
    found, at, alpha = Moments(3.0, np.array([0.8, -1.1]), scatter, off), np.array(w), 0.4
    value, gradient = found.value_and_gradient(at, alpha)
    seen = [one.value_and_gradient(at, alpha) for one in disturbed(found)]
    worst = max(abs(one - value) for one, _ in seen)
    of_gradient = np.max([np.abs(one - gradient) for _, one in seen], axis=0)
    most, of_entries = found.rounding_at(at, alpha)
    assert worst <= most <= 1.001 * worst
    assert (of_gradient <= of_entries).all()
    assert (of_entries <= 1.2 * of_gradient).all()  # its terms may be of either sign
    nothing, entries = found.rounding_at(np.zeros(2), alpha)
    assert nothing == 0.0
    assert_allclose(entries, mean)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("mean", [np.array([0.8, -1.1]), np.array([1e-3, -30.0])])
def test_sums_over_features_round_as_well(size: float, mean: Any) -> None:
    w = size * np.array([2.0, 3.0])
    found = Moments(3.0, mean, np.zeros((2, 2)), Rounding.none(2))
    terms, left = 1.0 + np.abs(mean) @ np.abs(w), abs(1.0 - mean @ w)
    for alpha in (0.0, 1e9):
        value, gradient = found.rounding_at(w, alpha)
        least = UNIT * (terms * (left + terms) + alpha * w @ w)
        assert least < value < 100.0 * least
        least = UNIT * ((terms + left) * np.abs(mean) + alpha * np.abs(w))
        assert (least < gradient).all()
        assert (gradient < 100.0 * least).all()
    assert (found.second_rounding() > UNIT * mean**2).all()
    assert (found.second_rounding() < 1000.0 * UNIT * mean**2).all()


def test_without_an_alpha_there_is_nothing_of_it_to_round() -> None:
    found = of_rows(X, WEIGHT)
    w = np.array([1e6, -1e6, 3e6])
    assert found.rounding_at(w)[0] == found.rounding_at(w, 0.0)[0] < found.rounding_at(w, 1e6)[0]


@pytest.mark.parametrize(
    ("share", "mean"), [(1e-3, [1e-6, 2e-6]), (1e-6, [1e-3, 3e-3]), (0.5, [3.0, 9.0])]
)
def test_second_moments_are_between_the_bounds(share: float, mean: list[float]) -> None:
    off = Rounding(share, np.array([1.5, 2.5]), np.array(mean))
    found = Moments(3.0, np.array([0.8, -1.1]), 3.0 * np.diag([9.0, 16.0]), off)
    bound = np.diag(found.second_rounding())
    for one in disturbed(found):
        apart = one.second() - found.second()
        assert np.linalg.eigvalsh(bound - apart)[0] >= 0.0
        assert np.linalg.eigvalsh(bound + apart)[0] >= 0.0
    assert bound.max() < 100.0 * max(share, max(mean) ** 2 / share)


def test_a_mean_that_is_zero_but_for_rounding_is_none() -> None:
    for size, kept in ((1e-14, False), (2e-14, True)):
        off = Rounding(1e-9, np.ones(2), np.array([1e-15, 0.0]))
        one = Moments(1.0, np.array([-size, 3.0 * size]), np.eye(2), off)
        found = one.without_rounding(np.array([1.0, 3.0]))
        assert bool(found.mean.any()) is kept
        assert_allclose(found.rounding.mean, off.mean if kept else off.mean + np.abs(one.mean))
        assert found.rounding.share == off.share
    assert one.without_rounding(np.array([1.0, 1e9])) is one  # one column tells the classes apart


def test_classes_of_the_same_mean_are_not_told_apart_by_rounding() -> None:
    differ = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        half = rng.normal(size=(6, 2))
        rows = np.concatenate([half, -half])[rng.permutation(12)]
        positive = np.isin(np.abs(rows[:, 0]), np.abs(half[:3, 0]))
        found = ClassMoments.of(as_design(rows), positive)
        differ += bool((found.positive.mean != found.negative.mean).any())
        assert not found.of_pairs().mean.any()
    assert differ
    apart = ClassMoments.of(as_design(X), POSITIVE).of_pairs().mean
    tiny = ClassMoments.of(as_design(1e-20 * X), POSITIVE).of_pairs().mean
    assert_allclose(tiny, 1e-20 * apart, rtol=1e-12)


@pytest.mark.parametrize(("units", "kept"), [(4.0, False), (1e6, True)])
def test_means_far_from_zero_differ_by_rounding_of_their_size(units: float, kept: bool) -> None:
    far = np.array([1e9, -1e9])
    above, below = (
        Moments(2.0, mean, np.eye(2), Rounding.none(2))
        for mean in (far * (1.0 + units * UNIT), far)
    )
    assert (above.mean != below.mean).all()
    assert bool(ClassMoments(above, below).of_pairs().mean.any()) is kept


def test_what_is_missing_by_rounding_is_not_missing() -> None:
    def value(mean: Any, w: Any) -> float:
        d = len(w)
        found = Moments(1.0, mean, np.zeros((d, d)), Rounding.none(d))
        return found.value_and_gradient(w)[0]

    assert value(np.full(10, 0.1), np.ones(10)) == 0.0
    assert value(np.ones(1), np.array([1.0 - 1e-15])) == 0.0
    assert value(np.ones(1), np.array([1.0 - 1e-14])) > 0.0
    assert value(np.full(2, 1e3), np.array([1.0, 1e-3 - 1.0 - 1e-16])) == 0.0
    below = Moments(1.0, np.ones(1), np.array([[-1e-20]]), Rounding.none(1))
    assert below.value_and_gradient(np.ones(1))[0] == 0.0
