"""Distributions: two ways to write one, samples, swapped classes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from theory import Distribution

X = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
M = [0.2, 0.3, 0.5]
ETA = [0.0, 0.5, 0.9]


def test_classes_follow_from_marginal_and_eta() -> None:
    D = Distribution(X, M, ETA)
    assert D.pi == pytest.approx(0.3 * 0.5 + 0.5 * 0.9)
    np.testing.assert_allclose(D.positives, np.array([0.0, 0.15, 0.45]) / 0.6)
    np.testing.assert_allclose(D.negatives, np.array([0.2, 0.15, 0.05]) / 0.4)
    np.testing.assert_allclose(D.marginal, M)
    np.testing.assert_allclose(D.eta, ETA)
    assert not D.separable
    assert Distribution(X, M, [0, 0, 1]).separable


def test_conditionals_give_the_same_distribution() -> None:
    D = Distribution(X, M, ETA)
    again = Distribution.from_conditionals(D.X, D.positives, D.negatives, D.pi)
    np.testing.assert_allclose(again.eta, D.eta)
    np.testing.assert_allclose(again.marginal, D.marginal)


def test_a_tiny_negative_share_is_kept_though_eta_rounds_to_one() -> None:
    D = Distribution.from_conditionals([[0.0], [1.0]], [0.5, 0.5], [1.0 - 1e-30, 1e-30], 0.5)
    assert D.eta[1] == 1.0
    assert D.negatives[1] == pytest.approx(1e-30)


def test_a_sample_with_equal_rows_and_weights() -> None:
    rows = [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [7.0, 7.0]]
    labels, weight = ["b", "a", "a", "b", "b"], [1, 2, 3, 4, 0]
    D = Distribution.empirical(rows, labels, weight, pos_label="b")
    np.testing.assert_array_equal(D.X, [[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(D.marginal, [0.2, 0.8])
    np.testing.assert_allclose(D.eta, [0.0, 5 / 8])


def test_samples_have_the_probabilities_of_the_distribution() -> None:
    D = Distribution(X, M, ETA)
    rows, y = D.sample(40_000, random_state=0)
    seen = Distribution.empirical(rows, y)
    np.testing.assert_array_equal(seen.X, X)
    np.testing.assert_allclose(seen.marginal, M, atol=0.01)  # four standard deviations
    np.testing.assert_allclose(seen.eta, ETA, atol=0.02)
    assert seen.eta[0] == 0.0
    np.testing.assert_array_equal(D.sample(40_000, random_state=0)[1], y)
    assert (D.sample(40_000, random_state=1)[1] != y).any()


def test_reversed_swaps_the_classes() -> None:
    D = Distribution(X, M, ETA)
    swapped = D.reversed()
    np.testing.assert_array_equal(swapped.positives, D.negatives)
    np.testing.assert_allclose(swapped.eta, 1.0 - D.eta)
    np.testing.assert_allclose(swapped.marginal, M)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": [0.0, 1.0, 2.0]}, r"X must have one row a point"),
        ({"X": [[0.0], [np.nan], [1.0]]}, r"X\[1, 0\] is nan"),
        ({"X": [["a"], ["b"], ["c"]]}, r"X must be an array of numbers"),
        ({"marginal": [0.5, 0.5]}, r"marginal has shape \(2,\), but X has 3 rows"),
        ({"marginal": [0.2, 0.3, 0.4]}, r"marginal must sum to one, but sums to 0.9"),
        ({"marginal": [1.2, -0.2, 0.0]}, r"marginal\[0\] is 1.2"),
        ({"marginal": [0.5, 0.5, 0.0]}, r"marginal\[2\] is 0"),
        ({"eta": [0.1, np.nan, 0.3]}, r"eta\[1\] is nan"),
        ({"eta": [0.1, 0.3, 1.5]}, r"eta\[2\] is 1.5"),
        ({"eta": [0.0, 0.0, 0.0]}, r"eta gives the positive class no probability"),
        ({"eta": [1.0, 1.0, 1.0]}, r"eta gives the negative class no probability"),
    ],
)
def test_what_is_no_distribution_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Distribution(**{"X": X, "marginal": M, "eta": ETA, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positives": [0.5, 0.5, 0.1]}, r"positives must sum to one"),
        ({"negatives": [0.5, 0.5]}, r"negatives has shape"),
        ({"positives": [0.5, 0.5, 0.0]}, r"positives\[2\] and negatives\[2\] are both 0"),
        ({"pi": 1.0}, r"pi must lie strictly between 0 and 1, got 1.0"),
    ],
)
def test_what_are_no_conditionals_is_refused(change: dict[str, Any], message: str) -> None:
    given = {"positives": [0.2, 0.3, 0.5], "negatives": [0.4, 0.6, 0.0], "pi": 0.5, **change}
    with pytest.raises(ValueError, match=message):
        Distribution.from_conditionals(X, **given)


def test_a_sample_of_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="one class only"):
        Distribution.empirical([[0.0], [1.0]], [1, 1])
