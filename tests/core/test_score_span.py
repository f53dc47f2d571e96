"""The best point in the span of a few whose scores are known, beside SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from toprank._core import span_minimum
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss
from toprank.surrogates import SURROGATES, PowerExponential, Surrogate

LOGISTIC, SQUARED_HINGE = SURROGATES["logistic"], SURROGATES["squared_hinge"]
LOSSES = [(LOGISTIC, LOGISTIC), (SQUARED_HINGE, SQUARED_HINGE), (LOGISTIC, PowerExponential(2.0))]


def problem(n: int, points: int, losses: tuple[Surrogate, Surrogate]) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(points, 6)) + 2.0 * rng.normal(size=6)  # almost multiples of each other
    X = rng.normal(size=(n, 6))
    positive = np.sort(X @ W[0] + rng.logistic(size=n) > 2.0)[::-1]  # in the order of the loss
    X = X[np.argsort(-(X @ W[0]) + rng.logistic(size=n))]
    loss = ThresholdLoss(Split.of(positive, rng.random(n)), *losses)
    terms = loss.compiled
    assert terms is not None
    kernel = (terms.tilt, terms.positives, terms.negatives)
    return loss, [X @ w for w in W], 0.01 * (W @ W.T), kernel


@pytest.mark.parametrize("losses", LOSSES, ids=lambda pair: pair[1].name)
@pytest.mark.parametrize("points", [1, 3])
@pytest.mark.parametrize("free_bias", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_best_point(losses: Any, points: int, free_bias: bool, dtype: Any) -> None:
    loss, scores, ridge, kernel = problem(700, points, losses)

    def value(x: Any) -> float:
        b = x[points] if free_bias else 0.0
        return float(0.5 * x[:points] @ ridge @ x[:points]) + loss.value_at(
            x[:points] @ np.array(scores), b
        )

    begin = np.zeros(points)
    begin[0] = 1.0
    given = [s.astype(dtype) for s in scores]
    c, b, found = span_minimum(given, ridge, begin, 0.0, *kernel, free_bias, 1e-9, 1, None, 1)
    x = np.append(c, b)[: points + free_bias]
    assert begin[0] == 1.0  # what is given stays as it is
    best = minimize(value, np.append(begin, 0.0)[: points + free_bias], tol=1e-12).fun
    tol = 1e-5 if dtype == np.float32 else 1e-7
    assert_allclose([found, value(x)], best, rtol=tol)
    assert b == 0.0 or free_bias


@pytest.mark.parametrize("losses", LOSSES, ids=lambda pair: pair[1].name)
def test_some_rows_with_the_slope_of_all_come_near(losses: Any) -> None:
    loss, scores, ridge, kernel = problem(40_000, 2, losses)
    S = np.array(scores)

    def value(c: Any, b: float) -> float:
        return float(0.5 * c @ ridge @ c) + loss.value_at(c @ S, b)

    options = (*kernel, True, 1e-9)
    start = np.array([1.0, 0.0])
    exact, exact_b, best = span_minimum(scores, ridge, start, 0.0, *options, 1, None, 1)
    near = 0.9 * exact
    v = loss.slope_at(near @ S, exact_b)
    slope = np.append(S @ v, v.sum())
    c, b, _ = span_minimum(scores, ridge, near, exact_b, *options, 10, slope, 1)
    assert value(c, b) - best < 0.1 * (value(near, exact_b) - best)


def test_the_bits_do_not_depend_on_the_threads() -> None:
    _, scores, ridge, kernel = problem(400_000, 3, LOSSES[0])
    start = np.array([1.0, 0.0, 0.0])
    one, *others = (
        span_minimum(scores, ridge, start, 0.0, *kernel, True, 1e-9, 1, None, k) for k in (1, 2, 5)
    )
    for other in others:
        assert_array_equal(np.append(*one[:2]), np.append(*other[:2]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": []}, "some points, but few"),
        ({"c": np.ones(3)}, "one coefficient a point"),
        ({"scores": [np.ones(4), np.ones(4)]}, "one score a row"),
        ({"stride": 2}, "some rows alone need the slope of all"),
        ({"stride": 2, "slope": np.ones(2)}, "one slope a point, and b's"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    _, scores, ridge, (tilt, positives, negatives) = problem(50, 2, LOSSES[0])
    asked = {
        "scores": scores,
        "ridge": ridge,
        "c": np.ones(2),
        "b": 0.0,
        "tilt": tilt,
        "positives": positives,
        "negatives": negatives,
        "free_bias": True,
        "enough": 1e-6,
        "stride": 1,
        "slope": None,
        "n_threads": 1,
    }
    with pytest.raises(ValueError, match=message):
        span_minimum(**(asked | changes))
