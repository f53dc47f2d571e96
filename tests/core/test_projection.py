"""`project_balanced`: the nearest point of {a, b >= 0, sum a = sum b}."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.examples import examples
from toprank._core import project_balanced

Array = NDArray[np.float64]

few_values = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
any_values = st.floats(-1e150, 1e150)
tiny_values = st.floats(-1e-300, 1e-300)
parts = st.one_of(
    *(
        st.tuples(*2 * (st.lists(values, min_size=1, max_size=12),))
        for values in (few_values, any_values, tiny_values)
    )
)


def exact_projection(a: list[float], b: list[float]) -> tuple[list[Fraction], list[Fraction]]:
    """[a - g]_+ and [b + g]_+ with equal sums, in rational numbers."""
    above, below = [Fraction(x) for x in a], [Fraction(x) for x in b]

    def surplus(g: Fraction) -> Fraction:
        return sum(max(x - g, Fraction(0)) for x in above) - sum(
            max(x + g, Fraction(0)) for x in below
        )

    breaks = sorted([*above, *(-x for x in below)])
    # The surplus never rises: >= 0 at the first break, <= 0 at the last, linear between two.
    low = max(g for g in breaks if surplus(g) >= 0)
    high = min(g for g in breaks if surplus(g) <= 0)
    fall = surplus(low) - surplus(high)
    g = low if fall == 0 else low + (high - low) * surplus(low) / fall
    return [max(x - g, Fraction(0)) for x in above], [max(x + g, Fraction(0)) for x in below]


@examples(200)
@given(parts)
@example(([1.0], [1.0]))
@example(([1.0], [-1.0]))
@example(([1.0, 1.0, 1.0], [1.0, 1.0]))
@example(([1e150, 1e-150], [-1e150, 3.0]))
@example(([5e-324], [5e-324]))
def test_against_rational_numbers(drawn: tuple[list[float], list[float]]) -> None:
    a, b = drawn
    found = np.concatenate(project_balanced(np.array(a), np.array(b)))
    truth = [x for part in exact_projection(a, b) for x in part]
    scale = max(map(abs, [*a, *b]))
    # g is a mean of at most 24 entries: its rounding is that of their sum.
    slack = Fraction(1e-14) * Fraction(scale) + Fraction(5e-324)
    assert all(abs(Fraction(x) - y) <= slack for x, y in zip(found.tolist(), truth, strict=True))


@examples(100)
@given(parts)
def test_the_result_is_feasible_and_its_own_projection(
    drawn: tuple[list[float], list[float]],
) -> None:
    a, b = project_balanced(*map(np.array, drawn))
    scale = max(map(abs, [*drawn[0], *drawn[1]]))
    assert (a >= 0).all()
    assert (b >= 0).all()
    assert abs(a.sum() - b.sum()) <= 1e-13 * scale + 1e-322
    for once, twice in zip((a, b), project_balanced(a, b), strict=True):
        np.testing.assert_allclose(twice, once, rtol=0, atol=1e-13 * scale + 1e-322)


@pytest.mark.parametrize(
    ("a", "b"),
    [([-1.0], [-1.0]), ([-3.0, -2.0], [1.0, 2.0]), ([1.0], [-1.0, -5.0]), ([0.0], [0.0, -1.0])],
)
def test_zero_where_no_positive_part_can_be_balanced(a: list[float], b: list[float]) -> None:
    for part in project_balanced(np.array(a), np.array(b)):
        assert not part.any()


def test_one_entry_each_side_meets_at_the_mean() -> None:
    assert np.concatenate(project_balanced(np.array([3.0]), np.array([1.0]))).tolist() == [2.0, 2.0]
    assert np.concatenate(project_balanced(np.array([3.0]), np.array([-1.0]))).tolist() == [1, 1]


@pytest.mark.parametrize("seed", range(5))
def test_against_cvxpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a0, b0 = rng.standard_normal(7) + seed - 2, rng.standard_normal(11)
    a, b = cp.Variable(7, nonneg=True), cp.Variable(11, nonneg=True)
    distance = cp.sum_squares(a - a0) + cp.sum_squares(b - b0)
    cp.Problem(cp.Minimize(distance), [cp.sum(a) == cp.sum(b)]).solve(solver=cp.CLARABEL)
    found = np.concatenate(project_balanced(a0, b0))
    # CLARABEL stops at 1e-8 of the distance, so at about 1e-4 of the point at worst.
    np.testing.assert_allclose(found, np.concatenate([a.value, b.value]), atol=1e-4)


@pytest.mark.parametrize("values", [5, 10**9], ids=["many ties", "no ties"])
def test_many_entries(values: int) -> None:
    rng = np.random.default_rng(0)
    a0 = rng.integers(-values, values, size=90) / values
    b0 = rng.integers(-values, values, size=60) / values
    a, b = project_balanced(a0, b0)
    truth = exact_projection(a0.tolist(), b0.tolist())
    np.testing.assert_allclose(a, [float(x) for x in truth[0]], atol=1e-13)
    np.testing.assert_allclose(b, [float(x) for x in truth[1]], atol=1e-13)


def test_the_arguments_are_left_as_they_were() -> None:
    a, b = np.array([1.0, 2.0]), np.array([0.5])
    project_balanced(a, b)
    assert a.tolist() == [1.0, 2.0]
    assert b.tolist() == [0.5]


def test_an_empty_side_is_refused() -> None:
    for a, b in ((np.empty(0), np.ones(2)), (np.ones(2), np.empty(0))):
        with pytest.raises(ValueError, match="both parts need an entry"):
            project_balanced(a, b)
