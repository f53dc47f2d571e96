"""Summaries against distribution functions counted row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from toprank.features.bin_edges import SIZE, Summary, merge, summarise

#: A summary, and how often its values have been pruned at most.
Pruned = tuple[Summary, int]


def distribution(values: Any, weights: Any, at: Any) -> Any:
    """Return the weight of the values up to each point."""
    return ((values[np.newaxis, :] <= at[:, np.newaxis]) * weights).sum(axis=1)


def check(pruned: Pruned, values: Any, weights: Any, size: int) -> None:
    summary, levels = pruned
    assert len(summary.values) == len(summary.weights) <= size
    assert (np.diff(summary.values) > 0).all()
    assert set(summary.values) <= set(values)
    total = weights.sum()
    assert summary.weights.sum() == pytest.approx(total, rel=1e-12)
    found, truth = (distribution(*own, values) for own in (summary, (values, weights)))
    assert np.abs(found - truth).max(initial=0.0) <= levels * total / (2 * size) + 1e-9 * total


def leaf(values: Any, weights: Any, size: int) -> Pruned:
    return summarise(values, weights, size), int(len(np.unique(values)) > size)


def joined(parts: list[Pruned], size: int) -> Pruned:
    distinct = len(np.unique(np.concatenate([one.values for one, _ in parts])))
    levels = max(levels for _, levels in parts) + (distinct > size)
    return merge([one for one, _ in parts], size), levels


VALUES = st.integers(-6, 6).map(float) | st.floats(allow_nan=False)
ROWS = st.lists(st.tuples(VALUES, st.floats(1e-3, 1e3) | st.just(1.0)), min_size=1, max_size=120)


@given(ROWS, st.integers(1, 12), st.data())
def test_ranks_are_within_the_bound_for_any_grouping(rows: Any, size: int, data: Any) -> None:
    values, weights = np.array(rows).T
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=8).map(sorted))
    parts = [
        leaf(values[own], weights[own], size)
        for own in np.split(np.arange(len(rows)), cuts)
    ]  # fmt: skip
    while len(parts) > 1:
        count = data.draw(st.integers(2, len(parts)))
        chosen = data.draw(st.permutations(range(len(parts))))[:count]
        rest = [part for k, part in enumerate(parts) if k not in chosen]
        parts = [*rest, joined([parts[k] for k in chosen], size)]
    check(parts[0], values, weights, size)


@pytest.mark.parametrize("order", [np.sort, lambda v: np.sort(v)[::-1], lambda v: v])
@pytest.mark.parametrize("arity", [2, 40])
def test_ranks_are_within_the_bound_in_adversarial_orders(
    order: Callable[[Any], Any], arity: int
) -> None:
    rng = np.random.default_rng(0)
    values = order(np.concatenate([rng.standard_cauchy(1500), rng.integers(0, 3, 500)]))
    weights, size = np.ones(2000), 64
    parts = [leaf(own, None, size) for own in np.split(values, 40)]
    while len(parts) > 1:  # one after the other, or all at once
        parts = [joined(parts[:arity], size), *parts[arity:]]
    check(parts[0], values, weights, size)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_few_values_are_exact(dtype: Any, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 40, 5000).astype(dtype)
    values[::7] = np.nan
    values[1::7] = np.inf
    weights = rng.integers(0, 3, 5000).astype(float) if weighted else np.ones(5000)
    weights[values == 5.0] = 0.0 if weighted else 1.0
    summary = summarise(values, weights if weighted else None)
    used = ~np.isnan(values) & (weights > 0)
    expected = {v: weights[used & (values == v)].sum() for v in np.unique(values[used])}
    assert dict(zip(summary.values, summary.weights, strict=True)) == expected
    assert summary.values.dtype == np.float64
    halves = [
        summarise(values[own], weights[own] if weighted else None)
        for own in (slice(0, None, 2), slice(1, None, 2))
    ]
    for one, other in zip(merge(halves), summary, strict=True):
        assert_array_equal(one, other)


def test_the_order_of_rows_and_equal_weights_change_nothing() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=3000)
    summary = summarise(values)
    assert len(summary.values) == SIZE
    for again in (summarise(values[::-1]), summarise(values, np.ones(3000))):
        assert_array_equal(again.values, summary.values)
        assert_allclose(again.weights, summary.weights, rtol=1e-12)
    nothing = summarise(np.full(3, np.nan))
    assert len(nothing.values) == 0
    assert_array_equal(merge([nothing, summary]).values, summary.values)
    assert len(merge([nothing, nothing]).values) == 0
