"""What certificates add for rounding, against the same bounds in exact arithmetic.

Beside what a loss or a design may be off by, a rounding of a last sum is next to nothing. Here both
are told what to say, in numbers that floats hold, so that a bound shows all that it is made of.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from toprank.losses import Bracket, DualRounding
from toprank.problems import BallProblem, L1Problem, Problem
from toprank.problems.rounding import pull_rounding, score_rounding
from toprank.problems.solution import Solution
from toprank.rounding import STEPS, gamma, length

#: The largest relative error of one operation.
U = Fraction(1, 2**53)
#: Of length five, ten and so on: roots are exact.
W = np.array([3.0, 4.0])
SCORES = np.array([0.25, -0.5, 0.125])
V = np.array([0.5, 0.0, -0.25])
NORMS = np.array([2.0, 8.0, 1.0])


def rounds(n: int) -> Fraction:
    """The largest relative error of n operations in a row."""
    return n * U / (1 - n * U)


def near(found: float, exact: Fraction, operations: int = 2) -> None:
    """The same but for so many roundings: those of the bound itself."""
    assert abs(Fraction(found) - exact) <= operations * U * abs(exact)


def a_design(pull: Any = (0.0, 0.0), norms: Any = (0.0, 0.0, 0.0)) -> Any:
    """Three rows whose scores, pulls and lengths are what they are told to be."""
    lengths = np.array(norms)
    return SimpleNamespace(
        shape=(3, 2),
        norms=lengths,
        squared_norms=lambda: lengths**2,
        scores=lambda w: SCORES,
        pull_back=lambda v, rows=None: np.array(pull),
    )


def a_loss(value: float = 0.0, conjugate: float = 0.0, off: float = 0.0, **others: Any) -> Any:
    """A loss that answers what it is told; its roundings are zero but for `off`."""
    told: dict[str, Any] = {
        "value": lambda s: value,
        "conjugate": lambda v: conjugate,
        "value_rounding": lambda s, value: off,
        "dual_rounding": lambda v: DualRounding(off, 0.0),
        "slope": lambda s: V,
        "slope_rounding": lambda s, by, v: np.zeros(3),
        "worse": lambda s, by: s,
        "bracket": lambda s, by: None,
        "over_rankings": False,
        "has_conjugate": True,
        "infimum": -np.inf,
        "at_zero": 1.0,
        "unit": 0.0,
    }
    return SimpleNamespace(**{**told, **others})


def keeping(seen: list[Any]) -> Any:
    """Scores stay where they are; how far they were to be moved is kept."""

    def worse(s: Any, by: Any) -> Any:
        seen.append(by)
        return s

    return worse


def fall(w: Any, pull: Any, error: Fraction, alpha: float = 2.0) -> Fraction:
    """|alpha w + X'v|^2 / (2 alpha), or more; the lengths have exact roots."""
    length, own = (Fraction(float(np.sqrt(x @ x))) for x in (alpha * w + pull, alpha * w))
    longest = length * (1 + rounds(2 + STEPS)) + error + rounds(STEPS) * own
    return longest**2 / (2 * Fraction(alpha)) * (1 + 4 * U)


@pytest.mark.parametrize(
    ("w", "pull", "error"),
    [(0 * W, W, 0.0), (W, 0 * W, 0.0), (W, 0 * W, 2.0**-40), (W, -2.0 * W, 2.0**-40)],
)
def test_how_much_lower_the_minimum_can_be_than_at_a_point(w: Any, pull: Any, error: float) -> None:
    found = Problem(a_design(), a_loss(), 2.0)._fall(w, pull, error)
    near(found, fall(w, pull, Fraction(error)), 8)
    # A pull that is off by so much, along the gradient, makes it as large as that.
    gradient = [Fraction(x) for x in 2.0 * w + pull]
    length = Fraction(float(np.linalg.norm(2.0 * w + pull))) + Fraction(error)
    assert Fraction(found) >= max(sum(x * x for x in gradient), length**2) / 4


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("d", [1, 3, 50])
def test_falls_are_never_below_the_exact_ones(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    w, pull = rng.normal(size=d), 1e3 * rng.normal(size=d)
    for alpha in (0.1, 3.0):
        exact = [Fraction(alpha) * Fraction(a) + Fraction(b) for a, b in zip(w, pull, strict=True)]
        least = sum(x * x for x in exact) / (2 * Fraction(alpha))
        found = Fraction(Problem(a_design(), a_loss(), alpha)._fall(w, pull, 0.0))
        assert least <= found <= least * (1 + 4 * rounds(d + 2 * STEPS))


@pytest.mark.parametrize("conjugate", [-0.25, 0.25, -4.0, 4.0])
@pytest.mark.parametrize("pull", [0.0 * W, W])
@pytest.mark.parametrize("off", [0.0, 2.0**-40])
def test_bounds_by_a_dual_vector(conjugate: float, pull: Any, off: float) -> None:
    problem = Problem(a_design(pull), a_loss(conjugate=conjugate, off=off), 2.0)
    exact, square = Fraction(conjugate), Fraction(float(pull @ pull))
    value = square / 4 * (1 + rounds(2 + STEPS))
    bound = -(value + exact + Fraction(off) + 2 * U * (value + abs(exact)))
    near(problem._dual_bound(V), bound, 4 if square else 0)
    assert problem._dual_bound(V) < -(square / 4 + exact)


@pytest.mark.parametrize("v", [V, 0.5 * V])
def test_pulls_of_a_dual_vector_count_with_the_lengths_of_its_rows(v: Any) -> None:
    off = DualRounding(0.0, 2.0**-45, 2.0**-40)
    # The second row is the longest of all, and v has nothing there.
    expected = (gamma(3 + STEPS) + 2.0**-45) * (np.abs(v) @ NORMS) + 2.0**-40 * 2.0
    np.testing.assert_allclose(pull_rounding(a_design(norms=NORMS), v, off), expected, rtol=1e-12)
    problem = Problem(a_design(W, NORMS), a_loss(dual_rounding=lambda v: off), 2.0)
    assert -problem._dual_bound(v) == pytest.approx((5.0 + expected) ** 2 / 4.0, rel=1e-14)
    assert -problem._dual_bound(v) > (5.0 + expected) ** 2 / 4.0


@pytest.mark.parametrize("scale", [0.25, 1.0, 4.0])
def test_scores_are_off_by_a_share_of_lengths_and_of_the_largest(scale: float) -> None:
    design = a_design(norms=NORMS)
    found = score_rounding(design, scale * W, scale * SCORES)
    expected = gamma(2 + STEPS) * 5.0 * scale * NORMS + 4.0 * 2.0**-53 * 0.5 * scale
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(score_rounding(design, 0.0 * W, SCORES), np.zeros(3))
    lift = Problem(design, a_loss(), 2.0)._lift(scale * W)
    np.testing.assert_allclose(lift, 10.0 * scale * gamma(2 + STEPS), rtol=1e-12)


@pytest.mark.parametrize("value", [0.25, -0.25, 64.0])
@pytest.mark.parametrize("scale", [2.0**-60, 1.0, 2.0**5])
@pytest.mark.parametrize("off", [0.0, 2.0**-40])
def test_values_with_a_penalty(value: float, scale: float, off: float) -> None:
    seen: list[Any] = []
    loss = a_loss(value, conjugate=1.0, off=off, worse=keeping(seen), minorant=lambda v: loss)
    problem, w = Problem(a_design(norms=NORMS), loss, 2.0), scale * W
    penalty, exact = 25 * Fraction(scale) ** 2, Fraction(value)
    error = Fraction(off) + rounds(2 + STEPS) * penalty + 2 * U * abs(penalty + exact)
    found = problem.certify(Solution(w, V), SCORES)
    near(found.primal, penalty + exact + error, 2 if scale == 1.0 else 1)
    assert Fraction(found.primal) >= penalty + exact
    by = score_rounding(problem.design, w, SCORES)
    np.testing.assert_array_equal(seen, [by])
    # The slope at w is the dual vector: all that can be off is taken away.
    loss.has_conjugate = False
    problem.design.pull_back = lambda v, rows=None: -2.0 * w
    wrong = Fraction(float(NORMS @ (gamma(3 + STEPS) * np.abs(V))))
    lowest = penalty + exact - error - fall(w, -2.0 * w, wrong)
    room = 2 * U * (penalty + abs(exact))
    assert abs(Fraction(problem.certify(Solution(w, V.copy()), SCORES).dual) - lowest) <= room
    np.testing.assert_array_equal(seen[1:], [by, -by])


def test_pulls_of_slopes_count_with_the_lengths_of_all_rows() -> None:
    off = np.array([2.0**-40, 2.0**-41, 2.0**-42])
    loss = a_loss(slope_rounding=lambda s, by, v: off)
    found = Problem(a_design(norms=NORMS), loss, 2.0)._wrong(SCORES, np.zeros(3), V)
    expected = NORMS @ (off + gamma(3 + STEPS) * np.abs(V))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    loss.slope_rounding = lambda s, by, v: np.zeros(3)
    found = Problem(a_design(norms=NORMS), loss, 2.0)._wrong(SCORES, np.zeros(3), V)
    np.testing.assert_allclose(found, gamma(3 + STEPS) * NORMS @ np.abs(V), rtol=1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.25, 0.5), (-8.0, -4.0), (64.0, 64.0)])
@pytest.mark.parametrize("scale", [2.0**-60, 1.0])
def test_a_loss_between_two_values(low: float, high: float, scale: float) -> None:
    loss = a_loss(bracket=lambda s, by: Bracket(low, high, V))
    problem, w = Problem(a_design(norms=NORMS), loss, 2.0), scale * W
    problem.design.pull_back = lambda v, rows=None: -2.0 * w
    penalty = 25 * Fraction(scale) ** 2
    error = rounds(2 + STEPS) * penalty + 2 * U * (abs(Fraction(high)) + penalty)
    found = problem.certify(Solution(w, V), SCORES)
    near(found.primal, Fraction(high) + penalty + error)
    wrong = Fraction(float(NORMS @ (gamma(3 + STEPS) * np.abs(V))))
    lowest = Fraction(low) + penalty - error - fall(w, -2.0 * w, wrong)
    assert abs(Fraction(found.dual) - lowest) <= 2 * U * (penalty + abs(Fraction(low)))
    # Where all weights are zero, the loss is known without it.
    loss.zero_rounding = 2.0**-40
    assert problem.certify(Solution(0.0 * w, V), SCORES).primal == 1.0 + 2.0**-40


@pytest.mark.parametrize("scale", [2.0**-10, 2.0**4])
def test_bounds_by_the_longest_row_come_before_those_row_by_row(scale: float) -> None:
    asked, mass = [], 0.5

    def bracket_within(by: float, value: float, v: Any) -> Any:
        asked.append((by, value))
        return Bracket(1.0, 1.5, v), mass

    loss = a_loss(
        bracket_within=bracket_within,
        bracket_by=lambda s, off, value, v: Bracket(1.25, 1.375, v),
        rounds=lambda n: 40,
    )
    # With a pull of zero the fall is made of what the pull can be off by, which shows where alpha
    # is next to nothing.
    w, s, alpha = 2.0**-5 * W, scale * SCORES, 2.0**-85
    problem = Problem(a_design(norms=NORMS), loss, alpha)
    found = problem.examine_pairs(w, s, 1.25, V, np.zeros(2), 1e9)
    longest = 8 * (1 + rounds(2 + STEPS))
    by = rounds(2 + STEPS) * 5 * longest / 2**5 + 4 * U * Fraction(scale) / 2
    near(asked[0][0], by, 4)
    assert asked[0][1] == 1.25
    wrong = longest * (8 * by + Fraction(mass) * (rounds(40) + rounds(3 + STEPS)))
    assert found.primal == pytest.approx(1.5, rel=1e-14)
    assert 1.0 - found.dual == pytest.approx(float(fall(w, 0.0 * w, wrong, alpha)), rel=1e-9)
    assert problem.certify(Solution(w, V)) is found
    # A gap that is too large is asked for once more, row by row.
    again = problem.examine_pairs(w, s, 1.25, V, np.zeros(2), 0.1)
    assert again.primal == pytest.approx(1.375, rel=1e-14)
    wrong = (rounds(3 + STEPS)) * Fraction(float(NORMS @ np.abs(V)))
    assert 1.25 - again.dual == pytest.approx(float(fall(w, 0.0 * w, wrong, alpha)), rel=1e-9)


@pytest.mark.parametrize("largest", [0.5, 1.0, 2.0, 8.0])
def test_dual_vectors_of_the_one_norm_are_scaled_to_be_surely_allowed(largest: float) -> None:
    problem = L1Problem(a_design((0.25, -largest)), a_loss(conjugate=-0.25), 1.0)
    found = problem._scaled(V, 0.0)
    if largest <= 1.0:
        assert found is V
    else:
        np.testing.assert_array_equal(found, V / largest * (1.0 - 4.0 * float(U)))
    # What the pull can be off by counts with it.
    np.testing.assert_allclose(problem._scaled(V, 8.0), V / (8.0 + largest), rtol=1e-14)
    assert Fraction(problem._dual_bound(V)) == (1 - 2 * U) / 4
    problem.loss = a_loss(conjugate=0.25, off=2.0**-20)
    assert Fraction(problem._dual_bound(V)) == -(1 + 2 * U) / 4 - Fraction(1, 2**20)


@pytest.mark.parametrize("value", [0.25, -0.25, 4.0])
@pytest.mark.parametrize("off", [0.0, 2.0**-40])
def test_bounds_in_a_ball_add_what_rounding_may_do(value: float, off: float) -> None:
    seen: list[Any] = []
    loss = a_loss(value, conjugate=0.0, worse=keeping(seen), value_rounding=lambda s, value: off)
    problem = BallProblem(a_design((0.0, value)), loss)
    found = problem.certify(Solution(W, V))
    exact = Fraction(value)
    near(found.primal, exact + Fraction(off) + rounds(2 + STEPS) * abs(exact), 1)
    assert Fraction(found.dual) == -abs(exact) * (1 + 2 * U)
    np.testing.assert_array_equal(seen, [score_rounding(problem.design, W, SCORES)])
    problem.design.norms = NORMS
    lost = pull_rounding(problem.design, V, DualRounding(0.0, 0.0))
    near(problem.certify(Solution(W, V)).dual, -abs(exact) * (1 + 2 * U) - Fraction(lost), 2)


@pytest.mark.parametrize("exponent", [-1074, -1000, -500, 0, 500, 1000, 1019])
def test_a_length_whose_square_is_no_number(exponent: int) -> None:
    v = np.ldexp(np.array([3.0, 0.0, -4.0]), exponent)
    assert length(v) == np.ldexp(5.0, exponent)


def test_the_length_of_nothing() -> None:
    assert length(np.zeros(3)) == length(np.zeros(0)) == 0.0
