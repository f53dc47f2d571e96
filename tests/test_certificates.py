"""Certificates at any point, against bounds that NumPy finds: next to them, and never inside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from toprank.designs import Ask, as_design
from toprank.inputs.class_split import Split
from toprank.losses import (
    AveragePrecisionLoss,
    LogSumExpLoss,
    Loss,
    Mixture,
    OrderedPairsLoss,
    PairLoss,
    PairTailLoss,
    PartialAUCLoss,
    ReversedLoss,
    RowLoss,
    ThresholdLoss,
    TopFractionLoss,
    TopLoss,
)
from toprank.problems import BallProblem, L1Problem, Problem
from toprank.problems.solution import Certificate, Multipliers, Solution
from toprank.rounding import STEPS, gamma
from toprank.surrogates import SURROGATES, Rectified

RNG = np.random.default_rng(3)
X = RNG.normal(size=(30, 4))
POSITIVE = np.arange(30) % 3 == 0
X[POSITIVE] += 0.4
SPLIT = Split.of(POSITIVE, RNG.uniform(0.5, 1.5, 30))
W = RNG.normal(size=4)
ALPHA = 20.0
SQUARED, LOGISTIC = SURROGATES["squared_hinge"], SURROGATES["logistic"]
ROWS = RowLoss(np.abs(SPLIT.tilt), LOGISTIC, np.sign(SPLIT.tilt))
THRESHOLD = ThresholdLoss(SPLIT, LOGISTIC, LOGISTIC)


def between(found: Certificate, value: float, bound: float, room: float = 1e-11) -> None:
    """The bounds include what rounding may have done, and no more than that."""
    assert 0.0 < found.primal - value < room
    if bound > 0.0 or found.unit > 0.0:  # a loss that falls below zero has a unit
        assert 0.0 < bound - found.dual < room
    else:
        assert found.dual == 0.0


def by_slope(w: Any, v: Any) -> float:
    """How much lower than at w the minimum can be, where v is a slope there."""
    gradient = ALPHA * w + X.T @ v
    return float(gradient @ gradient) / (2.0 * ALPHA)


def losses() -> dict[str, Loss]:
    """Made anew for every test."""
    return {
        "top": TopLoss(SPLIT, SQUARED),
        "threshold": ThresholdLoss(SPLIT, LOGISTIC, LOGISTIC),
        "rows": ROWS,
        "pairs, hinge": PairLoss(SPLIT, SURROGATES["hinge"]),
        "reversed": ReversedLoss(TopLoss(SPLIT.swapped(), SQUARED)),
        "logarithm": LogSumExpLoss(SPLIT),
    }


NAMES = list(losses())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_values_and_bounds_of_a_dual_vector(name: str, scale: float) -> None:
    loss, w = losses()[name], scale * W
    problem = Problem(as_design(X), loss, ALPHA)
    s = X @ w
    v = loss.slope(s)
    value = loss.value(s) + ALPHA / 2 * w @ w
    # F*(v) = v.s - F(s) where v is the slope at s.
    bound = loss.value(s) - v @ s - (X.T @ v) @ (X.T @ v) / (2.0 * ALPHA)
    assert problem.value(w) == pytest.approx(value, rel=1e-13)
    assert problem.dual_value(v) == pytest.approx(bound, rel=1e-11)
    at, gradient = problem.value_and_gradient(w)
    assert at == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(gradient, ALPHA * w + X.T @ v, rtol=1e-9, atol=1e-12)
    for given in ((), (s,)):
        found = problem.certify(Solution(w, v), *given)
        between(found, value, bound)
        assert found.at_zero == loss.at_zero
    half = Problem(as_design(X), loss, ALPHA).at_alpha(ALPHA / 2)
    assert half.value(w) == pytest.approx(value - ALPHA / 4 * w @ w, rel=1e-13)
    assert type(half) is Problem


@pytest.mark.parametrize("name", NAMES)
def test_at_zero_the_value_is_that_of_a_tie(name: str) -> None:
    loss = losses()[name]
    problem = Problem(as_design(X), loss, ALPHA)
    found = problem.certify(Solution(np.zeros(4), np.zeros(30)))
    assert 0.0 <= found.primal - loss.value(np.zeros(30)) + 1e-15 < 1e-12
    assert not np.signbit(found.dual) or found.dual < 0.0
    given = Solution(np.zeros(4), np.zeros(30))
    assert problem.certify(given).primal == found.primal
    np.testing.assert_array_equal(given.scores, np.zeros(30))
    assert problem.size_of(0.25) == max(0.25, loss.unit)
    assert problem.size_of(-3.0) == 3.0


@pytest.mark.parametrize("scale", [0.05, 1.0])
def test_bounds_of_the_squared_hinge_over_pairs(scale: float) -> None:
    loss, w = PairLoss(SPLIT, SQUARED), scale * W
    s = X @ w
    z = 1.0 + s[SPLIT.neg][None] - s[SPLIT.pos][:, None]
    of = np.outer(SPLIT.p, SPLIT.q)
    value = float((of * np.maximum(z, 0.0) ** 2).sum()) + ALPHA / 2 * w @ w
    v = np.zeros(30)
    v[SPLIT.pos] = -2.0 * (of * np.maximum(z, 0.0)).sum(axis=1)
    v[SPLIT.neg] = 2.0 * (of * np.maximum(z, 0.0)).sum(axis=0)
    bound = value - by_slope(w, v)
    problem = Problem(as_design(X), loss, ALPHA)
    found = problem.certify(Solution(w, v))
    between(found, value, bound)
    for tol in (0.0, 1e9):  # row by row, or with the longest for all
        near = problem.examine_pairs(w, s, value - ALPHA / 2 * w @ w, v, X.T @ v, tol)
        between(near, value, bound)
    # What was certified last is not asked for again.
    given = Solution(w.copy(), v)
    assert problem.certify(given) is near
    assert given.scores is s
    assert problem.certify(Solution(w, v.copy())) is not near
    assert problem.certify(Solution(2.0 * w, v)).primal > near.primal


@pytest.mark.parametrize("scale", [0.05, 1.0])
def test_bounds_of_worst_cases(scale: float) -> None:
    w, design = scale * W, as_design(X)
    s = X @ w
    even = Split.of(POSITIVE)
    for rankings in (
        AveragePrecisionLoss(even),
        OrderedPairsLoss(even, np.arange(20.0, 0.0, -1.0) / 210.0),
        PartialAUCLoss(SPLIT, 0.1, 0.4),
        PartialAUCLoss(even, 0.1, 0.4, tight=False),
    ):
        worst = rankings.worst_ranking(s)
        plane = rankings.plane(worst)
        bound = plane.level - (X.T @ plane.v) @ (X.T @ plane.v) / (2.0 * ALPHA)
        value = plane.level + plane.v @ s + ALPHA / 2 * w @ w
        for proof in (np.zeros(30), Mixture(worst[None], np.ones(1))):
            found = Problem(design, rankings, ALPHA).certify(Solution(w, proof))
            between(found, value, bound)
    soft = TopFractionLoss(SPLIT, 0.3)
    d = np.zeros(30)
    d[SPLIT.neg] = soft.highest(s)
    value = soft.value(s) + ALPHA / 2 * w @ w
    bound = value - by_slope(w, soft.slope(s))
    between(Problem(design, soft, ALPHA).certify(Solution(w, d)), value, bound)
    d[SPLIT.neg[0]] += 1.0  # no weights that are allowed
    assert Problem(design, soft, ALPHA).certify(Solution(w, d)).dual == 0.0


@pytest.mark.parametrize("scale", [0.1, 1.0])
@pytest.mark.parametrize("loss", [ROWS, THRESHOLD])
def test_bounds_of_sums_over_rows_in_one_pass(loss: Any, scale: float) -> None:
    w, problem = scale * W, Problem(as_design(X), loss, ALPHA)
    s = X @ w
    b = -loss.threshold(s)
    v = loss.slope(s)
    value = loss.value(s) + ALPHA / 2 * w @ w
    found, sums = problem.examine(w, b, scores=True, squares=True)
    between(found, value, value - by_slope(w, v), 1e-10)
    np.testing.assert_allclose(sums.scores, s + b, rtol=1e-9, atol=1e-9)
    assert problem.certify(Solution(w, b=b)) is found
    assert problem.certify(Solution(w.copy(), b=b)) is found
    assert problem.certify(Solution(w, b=b + 0.5)) is not found
    assert problem.certify(Solution(1.1 * w, b=b)).primal != found.primal
    assert problem.certify(Solution(w, None, b)).primal == pytest.approx(value, rel=1e-12)


def widths(problem: Problem, w: Any, value: float, bound: float) -> list[float]:
    """How far the bounds of every kind of certificate are from what they bound."""
    loss: Any = problem.loss
    s = problem.design.scores(w)
    v = loss.slope(s)
    found = [problem.certify(Solution(w, v))]
    if loss.sums_pairs and not loss.hinge:
        of = loss.value(s), v, problem.design.pull_back(v)
        found += [problem.examine_pairs(w, s, *of, tol) for tol in (0.0, 1e9)]
    if loss.sums_rows and np.isinf(loss.ceiling):
        found += [problem.examine(w, -loss.threshold(s))[0]]
    return [x for one in found for x in (one.primal - value, bound - one.dual)]


@pytest.mark.parametrize("name", ["top", "threshold", "rows", "pairs, hinge", "squares"])
def test_what_rounding_may_do_does_not_depend_on_the_unit_of_the_columns(name: str) -> None:
    loss, w = losses().get(name, PairLoss(SPLIT, SQUARED)), 0.1 * W
    s = X @ w
    value = loss.value(s) + ALPHA / 2 * w @ w
    bound = value - by_slope(w, loss.slope(s))
    wide = [
        widths(Problem(as_design(unit * X), loss, unit**2 * ALPHA), w / unit, value, bound)
        for unit in (1.0, 2.0**20, 2.0**-20)
    ]
    assert min(wide[0]) > 1e-15
    np.testing.assert_allclose(wide[1:], wide[:1] * 2, rtol=0.5)
    ball = BallProblem(as_design(X), PairTailLoss(SPLIT, 0.3))
    assert ball.lowest(np.array([-0.2, 0.1])) == -0.2
    assert ball.signed
    if loss.sums_rows and np.isinf(loss.ceiling):
        sums = Problem(as_design(X), loss, ALPHA).examine(w, 0.0)[1]
        assert sums.scores is None


@pytest.mark.parametrize("by", [0.0, 0.5])
def test_many_columns_do_not_change_the_bounds(by: float) -> None:
    loss, w = ThresholdLoss(SPLIT, LOGISTIC, LOGISTIC), 0.1 * W
    b = by - loss.threshold(X @ w)
    few = Problem(as_design(X), loss, ALPHA).certify(Solution(w, b=b))
    wide, longer = np.pad(X, ((0, 0), (0, 1100))), np.pad(w, (0, 1100))
    many = Problem(as_design(wide), loss, ALPHA).certify(Solution(longer, b=b))
    assert many.primal == pytest.approx(few.primal, rel=1e-10)
    assert many.dual == pytest.approx(few.dual, rel=1e-10)


def test_a_value_that_overflows_is_no_value() -> None:
    loss = RowLoss(SPLIT.p, SURROGATES["exponential"])
    far = Problem(as_design(X[SPLIT.pos]), loss, ALPHA).certify(Solution(1e4 * W))
    assert (far.primal, far.dual) == (np.inf, 0.0)


def test_bounds_of_a_top_by_few_multipliers() -> None:
    loss, problem = TopLoss(SPLIT, SQUARED), Problem(as_design(X), TopLoss(SPLIT, SQUARED), ALPHA)
    w = 0.1 * W
    s = X @ w
    top = SPLIT.neg[np.argmax(s[SPLIT.neg])]
    value, v = loss.value(s) + ALPHA / 2 * w @ w, loss.slope(s)
    bound = value - by_slope(w, v)
    active, below, above = (np.array([top]), np.ones(1)), -s[top] - 1e-13, -s[top] + 1e-9
    for b in (below, 5.0):  # b is lowered where it is too high
        between(problem.certify(Solution(w, Multipliers(*active), b)), value, bound, 1e-10)
    highest, most = problem.highest_negatives(w, 2)
    assert set(highest.rows) == set(SPLIT.neg[np.argsort(-s[SPLIT.neg])[:2]])
    assert 0.0 <= most - s[top] < 1e-13
    solution = Solution(w, Multipliers(*active, v), below)
    found = problem.certify(solution)
    between(found, value, bound, 1e-10)
    assert isinstance(solution.proof, Multipliers)
    assert problem.certify(replace(solution, w=w.copy())) is found
    assert problem.certify(replace(solution, b=2.0 * below)) is not found
    assert solution.dual is v
    # Where b is too high, the dual vector takes over.
    solution = Solution(w, Multipliers(*active, v), above)
    between(problem.certify(solution), value, bound, 1e-10)
    assert solution.proof is v
    between(problem.certify(Solution(w, v)), value, bound, 1e-10)
    known = Certificate(1.0, 0.5)
    assert problem.certify(Solution(w, v, certificate=known)) is known
    turned = Problem(as_design(X), ReversedLoss(TopLoss(SPLIT.swapped(), SQUARED)), ALPHA)
    low = SPLIT.pos[np.argmin(s[SPLIT.pos])]
    of, v = turned.loss.value(s) + ALPHA / 2 * w @ w, turned.loss.slope(s)
    for dual in (v, None):
        there = Solution(w, Multipliers(np.array([low]), np.ones(1), dual), -s[low] + 1e-13)
        between(turned.certify(there), of, of - by_slope(w, v), 1e-10)
        assert isinstance(there.proof, Multipliers)


@pytest.mark.parametrize("alpha", [0.01, 10.0])
def test_bounds_with_the_one_norm(alpha: float) -> None:
    loss = PairLoss(SPLIT, SURROGATES["hinge"])
    problem = L1Problem(as_design(X), loss, alpha)
    s = X @ W
    v = loss.slope(s)
    theta = min(1.0, alpha / np.abs(X.T @ v).max())
    value, bound = loss.value(s) + alpha * np.abs(W).sum(), theta * -v[SPLIT.pos].sum()
    assert problem.value(W) == pytest.approx(value)
    assert problem.dual_value(v) == pytest.approx(bound)
    at, gradient = problem.value_and_gradient(W)
    assert at == pytest.approx(value)
    np.testing.assert_allclose(gradient, alpha * np.sign(W) + X.T @ v, rtol=1e-9)
    one = np.array([1.0, 0.0, 0.0, 0.0])
    pull = X.T @ loss.slope(X @ one)
    np.testing.assert_allclose(problem.value_and_gradient(one)[1], alpha * one + pull, rtol=1e-9)
    between(problem.certify(Solution(W, v)), value, bound)
    assert problem.certify(Solution(W, np.ones(30))).dual == 0.0


@pytest.mark.parametrize("signed", [True, False])
def test_bounds_in_a_ball(signed: bool) -> None:
    loss = PairTailLoss(SPLIT, 0.3)
    problem = BallProblem(as_design(X), loss, signed=signed)
    w = np.abs(W) / np.abs(W).sum()
    s = X @ w
    v = loss.slope(s)
    pull = X.T @ v
    bound = -np.abs(pull).max() if signed else pull.min()
    assert problem.lowest(pull) == pytest.approx(bound)
    assert problem.dual_value(v) == pytest.approx(bound)
    for given in ((), (s,)):
        found = problem.certify(Solution(w, v), *given)
        assert 0.0 < found.primal - loss.value(s) < 1e-11
        assert 0.0 < bound - found.dual < 1e-11
    assert problem.dual_value(2.0 * v) == -np.inf


def test_multipliers_of_nothing_prove_nothing() -> None:
    # At so large an alpha a bound from the slopes alone would be almost the value at zero.
    problem = Problem(as_design(X), TopLoss(SPLIT, SQUARED), 1e6)
    found = problem.certify(Solution(1e-6 * W, Multipliers(np.arange(3), np.zeros(3))))
    assert found.primal == pytest.approx(1.0, rel=1e-4)
    assert found.dual == 0.0


def test_kept_scores_prove_where_negatives_are_at_the_ceiling_or_below() -> None:
    problem = Problem(as_design(X), TopLoss(SPLIT, SQUARED), ALPHA)
    v = np.zeros(30)
    proof = Multipliers(np.array([SPLIT.neg[0]]), np.ones(1), v)
    at, above = Solution(np.zeros(4), proof, 0.0), Solution(np.zeros(4), proof, 1e-300)
    problem.certify(at)
    assert at.proof is proof
    problem.certify(above)
    assert above.proof is v


@pytest.mark.parametrize(
    ("loss", "b"),
    [(ThresholdLoss(SPLIT, SQUARED, Rectified(SQUARED)), -2.5), (TopLoss(SPLIT, SQUARED), -30.0)],
)
def test_where_slopes_prove_little_the_dual_vector_does(loss: Any, b: float) -> None:
    # All positives are far above: they have no slope.
    apart, along = X + 100.0 * POSITIVE[:, None], np.eye(4)[0]
    problem = Problem(as_design(apart), loss, ALPHA)
    v = loss.slope(0.005 * apart[:, 0]) / 2000.0
    solution = Solution(along, Multipliers(np.array([SPLIT.neg[0]]), np.ones(1), v), b)
    found = problem.certify(solution)
    assert solution.proof is v
    assert found == Problem(as_design(apart), loss, ALPHA).certify(Solution(along, v))
    assert found.dual == pytest.approx(problem.dual_value(v), rel=1e-9)
    assert found.dual > 0.0


class Asked:
    """A design that keeps what it is asked."""

    def __init__(self, X: Any, reads_rows: bool) -> None:
        self.design, self.reads_rows, self.asks = as_design(X), reads_rows, list[Ask]()
        self.shape = self.design.shape

    def reduce(self, ask: Ask) -> Any:
        self.asks.append(ask)
        return self.design.reduce(ask)


@pytest.mark.parametrize(
    ("loss", "d", "reads_rows", "by", "shifts"),
    [
        (ROWS, 4, True, 0.0, [False]),
        (ROWS, 1100, True, 0.0, [False]),
        (THRESHOLD, 4, True, 0.5, [True]),
        (THRESHOLD, 1100, True, 0.0, [False]),
        (THRESHOLD, 1100, True, 0.5, [False, True]),
        (THRESHOLD, 1100, False, 0.5, [True]),
    ],
)
def test_of_many_columns_a_shift_is_asked_for_where_it_is_needed(
    loss: Any, d: int, reads_rows: bool, by: float, shifts: list[bool]
) -> None:
    w = np.pad(0.1 * W, (0, d - 4))
    design: Any = Asked(np.pad(X, ((0, 0), (0, d - 4))), reads_rows)
    b = by - loss.threshold(X @ (0.1 * W))
    sums = Problem(design, loss, ALPHA).examine(w, b)[1]
    assert [ask.shift for ask in design.asks] == shifts
    assert sums.scores is None
    assert sums.squares is None
    for ask in design.asks:
        length = 2.0 * gamma(d + STEPS) * np.linalg.norm(w)
        np.testing.assert_allclose(ask.per_length, length, rtol=1e-12)
