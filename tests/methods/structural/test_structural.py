"""SVMpAUC and SVMMAP: optima against other solvers, certificates, weights, warm starts, limits."""

from __future__ import annotations

import itertools
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from support.special_rows import CASES
from support.toy_rows import inside_out, overlapping
from toprank import SVMMAP, InfinitePush, RankSVM, SVMpAUC, TrivialSolutionWarning
from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.losses import AveragePrecisionLoss, Mixture, PartialAUCLoss
from toprank.methods.structural.bundle import bundle
from toprank.problems import Problem, Solution
from truth.reference_files import reference_file

Array = NDArray[np.float64]

X, Y = overlapping(20, 40, 4)
#: The last is a part of what one negative of 40 has.
RATES = [(0.0, 1.0), (0.0, 0.25), (0.1, 0.4), (0.205, 0.22)]


def optimum_by_cvxpy(X: Array, y: Any, alpha: float, b: float) -> float:
    """Tight [0, b]: a mean over the highest negatives, as CVXPY's sum of the largest entries."""
    pos, neg = X[y == 1], X[y == 0]
    w = cp.Variable(X.shape[1])
    k = b * len(neg)
    terms = [cp.sum_largest(cp.pos(1 - (x - neg) @ w), k) for x in pos]
    objective = alpha / 2 * cp.sum_squares(w) + cp.sum(cp.hstack(terms)) / (len(pos) * k)
    return float(cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL))


def optimum_over_listed_rankings(X: Array, y: Any, alpha: float, loss: Any) -> float:
    """Every ranking of few rows as a plane of its own."""
    planes = [
        loss.plane(loss.ranking(np.array(above), np.array(order)))
        for above in itertools.product(range(loss.n + 1), repeat=loss.m)
        for order in itertools.permutations(range(loss.n))
    ]
    slopes = np.unique([[one.level, *(X.T @ one.v)] for one in planes], axis=0)
    w = cp.Variable(X.shape[1])
    worst = cp.max(slopes[:, 0] + slopes[:, 1:] @ w)
    problem = cp.Problem(cp.Minimize(alpha / 2 * cp.sum_squares(w) + worst))
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("alpha", [1e-3, 1e-1, 10.0])
@pytest.mark.parametrize("b", [0.1, 0.25, 1.0])
def test_the_bounds_enclose_the_optimum_that_cvxpy_finds(alpha: float, b: float) -> None:
    expected = optimum_by_cvxpy(X, Y, alpha, b)
    certificate = SVMpAUC(alpha, fpr=(0.0, b), tol=1e-6).fit(X, Y).certificate_
    assert certificate.holds(1e-6)
    assert certificate.dual <= expected * (1 + 1e-7)
    assert certificate.primal >= expected * (1 - 1e-7)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_more_columns_than_rows_have_the_optimum_of_the_space_the_rows_span(kind: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    wide = rng.normal(size=(60, 90)) + 0.4 * y[:, np.newaxis]
    wide *= rng.random((60, 90)) < 0.2
    spanned = np.linalg.qr(wide.T)[1].T  # the same products of rows, in as many columns as rows
    for alpha in (1e-3, 1e-1):
        expected = optimum_by_cvxpy(spanned, y, alpha, 0.25)
        found = SVMpAUC(alpha, fpr=(0.0, 0.25), tol=1e-6).fit(kind(wide), y).certificate_
        assert found.holds(1e-6)
        assert found.dual <= expected * (1 + 1e-6)
        assert found.primal >= expected * (1 - 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_bounds_enclose_the_optimum_over_all_rankings(seed: int) -> None:
    rows, y = overlapping(2, 4, 3, seed=seed)
    split, design = Split.of(y == 1), as_design(rows)
    losses = [
        AveragePrecisionLoss(split),
        PartialAUCLoss(split, 0.3, 0.6),
        PartialAUCLoss(split, 0.3, 0.6, tight=False),
        PartialAUCLoss(split, 0.0, 0.1, tight=False),
    ]
    for loss in losses:
        expected = optimum_over_listed_rankings(rows, y, 0.05, loss)
        problem = Problem(design, loss, 0.05)
        for max_iter in (1, 3, 1000):  # the bounds hold wherever it stops
            solution = bundle(problem, tol=1e-8, max_iter=max_iter)
            certificate = problem.certify(solution)
            assert certificate.dual <= expected + 1e-8
            assert certificate.primal >= expected - 1e-8
        assert certificate.holds(1e-8)


def test_the_reference_cases() -> None:
    with np.load(reference_file("pairs-and-points")) as case:
        C, y = float(case["c8_map_C"]), (case["y"] == 1).astype(int)
        found = SVMMAP(1.0 / C, tol=1e-7).fit(case["X"], y)
        assert C * found.certificate_.dual <= float(case["c8_map_obj"]) * (1 + 1e-9)
        assert C * found.certificate_.primal >= float(case["c8_map_lower"]) * (1 - 1e-9)
        assert_allclose(found.coef_[0], case["c8_map_w"], atol=2e-3)
        # Cases 9 and 10 have the positives moved, and a total weight of 4.
        moved = case["X2"]
        found = SVMpAUC(0.25, fpr=(0.0, 0.3), tol=1e-8).fit(moved, y)
        assert 4 * found.certificate_.primal == pytest.approx(
            float(case["c9_tight_0_30_obj"]), rel=2e-8
        )
        assert_allclose(found.coef_[0], case["c9_tight_0_30_w"], atol=1e-3)
        found = SVMpAUC(0.25, fpr=(0.0, 1.0 / 19), tol=1e-8).fit(moved, y)
        assert 4 * found.certificate_.primal == pytest.approx(
            float(case["c10_infpush_obj"]), rel=2e-8
        )


@pytest.mark.parametrize("alpha", [1e-3, 1e-1])
def test_all_rates_are_ranksvm(alpha: float) -> None:
    pairs = RankSVM(alpha, tol=1e-8).fit(X, Y)
    whole = SVMpAUC(alpha, fpr=(0.0, 1.0), tol=1e-8).fit(X, Y)
    assert whole.certificate_.primal == pytest.approx(pairs.certificate_.primal, rel=2e-8)
    assert_allclose(whole.coef_, pairs.coef_, atol=1e-3 * np.abs(pairs.coef_).max())


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
def test_the_highest_negative_alone_is_infinite_push(alpha: float) -> None:
    rows, y = overlapping(20, 40, 4, shift=2.0)
    push = InfinitePush(alpha, tol=1e-8).fit(rows, y)
    one = SVMpAUC(alpha, fpr=(0.0, 1.0 / 40), tol=1e-8).fit(rows, y)
    assert not one.trivial_
    assert one.certificate_.primal == pytest.approx(push.certificate_.primal, rel=2e-8)
    assert_allclose(one.coef_, push.coef_, atol=1e-3 * np.abs(push.coef_).max())


def rankers(tol: float = 1e-3, *, alpha: float = 1e-2, **options: Any) -> list[Any]:
    options |= {"alpha": alpha, "tol": tol}
    return [
        *(SVMpAUC(fpr=rates, **options) for rates in RATES[1:]),
        SVMpAUC(fpr=(0.1, 0.4), tight=False, **options),
        SVMMAP(**options),
    ]


def test_sparse_rows_give_what_dense_ones_give() -> None:
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.9, X, 0.0)
    for dense, csr in zip(rankers(1e-6), rankers(1e-6), strict=True):
        first = dense.fit(rows, Y).certificate_
        second = csr.fit(sparse.csr_array(rows), Y).certificate_
        assert first.holds(1e-6)
        assert second.holds(1e-6)
        assert first.primal == pytest.approx(second.primal, rel=3e-6)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_odd_rows_are_certified(case: Any) -> None:
    rows, positive = case()
    for ranker in rankers(1e-5, alpha=1.0):
        ranker.fit(rows, positive)
        assert ranker.certificate_.holds(1e-5), (ranker, ranker.certificate_)


def test_one_row_of_each_class() -> None:
    """alpha/2 w^2 + [1 - w d]_+ for every range and, for average precision, [1/2 - 2 w d]_+."""
    rows, y = np.array([[1.0], [0.0]]), np.array([1, 0])
    for rates in RATES:
        a, b = rates
        found = SVMpAUC(0.1, fpr=rates, tol=1e-7).fit(rows, y)
        # One negative from 0 to 1: b / (b - a) of the difference counts.
        steep = b / (b - a)
        w = min(1.0 / steep, steep / 0.1)
        expected = 0.05 * w * w + max(1.0 - steep * w, 0.0)
        assert found.certificate_.primal == pytest.approx(expected, rel=1e-7)
    found = SVMMAP(0.1, tol=1e-9).fit(rows, y)
    assert found.certificate_.primal == pytest.approx(0.05 * 0.25**2, rel=1e-7)


def test_weights_are_repeated_rows() -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    for rates in RATES[1:]:
        ranker = SVMpAUC(1e-2, fpr=rates, tol=1e-7)
        weighted = ranker.fit(X, Y, sample_weight=weight).certificate_
        repeated = ranker.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight)).certificate_
        plain = ranker.fit(X, Y).certificate_
        assert weighted.primal == pytest.approx(repeated.primal, rel=3e-7)
        assert abs(plain.primal - weighted.primal) > 1e-4


def test_weights_of_zero_leave_rows_out_and_others_are_refused_where_rows_are_counted() -> None:
    kept = np.random.default_rng(1).random(len(Y)) < 0.8
    for ranker in (SVMMAP(1e-2, tol=1e-8), SVMpAUC(1e-2, fpr=(0.1, 0.4), tight=False, tol=1e-8)):
        without = ranker.fit(X[kept], Y[kept]).certificate_
        assert ranker.fit(X, Y, 3.0 * kept).certificate_.primal == pytest.approx(
            without.primal, rel=3e-8
        )
        with pytest.raises(ValueError, match="counts"):
            ranker.fit(X, Y, np.where(kept, 1.0, 2.0))


@pytest.mark.parametrize("rates", [(0.0, 0.1), (0.05, 0.2)])
def test_a_trivial_optimum_is_told(rates: tuple[float, float]) -> None:
    rows, y = inside_out()
    with pytest.warns(TrivialSolutionWarning, match="Widen fpr"):
        ranker = SVMpAUC(1e-3, fpr=rates).fit(rows, y)
    assert ranker.trivial_
    assert not ranker.coef_.any()
    assert ranker.certificate_.holds(1e-3)


@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
def test_equal_means_are_trivial_and_nearly_equal_ones_are_not(alpha: float) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    y = np.repeat([0, 1], 20)
    rows[y == 1] += rows[y == 0].mean(axis=0) - rows[y == 1].mean(axis=0)
    whole = SVMpAUC(alpha, fpr=(0.0, 1.0)), SVMMAP(alpha)
    for ranker in whole:
        with pytest.warns(TrivialSolutionWarning, match="the same"):
            assert ranker.fit(rows, y).trivial_
    rows[y == 1] += 1e-4
    for ranker in whole:
        assert not ranker.fit(rows, y).trivial_
        assert ranker.coef_.any()


def test_a_warm_start_goes_on_from_the_rankings() -> None:
    for cold, warm in zip(rankers(), rankers(warm_start=True), strict=True):
        cold.set_params(alpha=5e-3).fit(X, Y)
        warm.fit(X, Y).set_params(alpha=5e-3).fit(X, Y)
        assert warm.certificate_.holds(1e-3)
        assert warm.n_iter_ < cold.n_iter_
        again = warm.n_iter_
        assert warm.fit(X, Y).n_iter_ <= min(again, 2)
        warm.fit(X[10:], Y[10:])  # other rows: nothing of them is used
        assert warm.certificate_.holds(1e-3)


def test_stopping_short_is_told_and_the_bounds_hold() -> None:
    for ranker in rankers(1e-6):
        best = ranker.fit(X, Y).certificate_
        with pytest.warns(ConvergenceWarning, match="raise max_iter|Raise max_iter"):
            short = ranker.set_params(max_iter=2).fit(X, Y)
        assert short.n_iter_ == 2
        assert short.certificate_.primal >= best.dual
        assert short.certificate_.dual <= best.primal


def test_the_certificate_is_computed_from_the_rankings_whatever_the_solver_says() -> None:
    split, design = Split.of(Y == 1), as_design(X)
    rng = np.random.default_rng(0)
    for loss in (AveragePrecisionLoss(split), PartialAUCLoss(split, 0.1, 0.4)):
        problem = Problem(design, loss, 1e-2)
        solution = bundle(problem, tol=1e-6)
        good = problem.certify(solution)
        assert good.holds(1e-6)
        mixture = solution.proof
        assert isinstance(mixture, Mixture)
        for weights in (rng.random(len(mixture.weights)), mixture.weights[::-1].copy()):
            worse = problem.certify(Solution(solution.w, Mixture(mixture.rankings, weights)))
            assert worse.dual < good.dual
            assert worse.primal == good.primal
        # Without rankings the worst one at w is taken.
        alone = problem.certify(Solution(solution.w, np.zeros(len(Y))))
        assert alone.dual < good.dual


@pytest.mark.parametrize(
    "fpr", [(0.0,), (0.1, 0.1), (0.4, 0.2), (-0.1, 0.5), (0.0, 1.5), ("0", "1"), (0.0, np.nan)]
)
def test_rates_that_are_none_are_refused(fpr: Any) -> None:
    with pytest.raises(ValueError, match="fpr must be two"):
        SVMpAUC(fpr=fpr).fit(X, Y)


def test_history_has_a_row_for_each_round() -> None:
    for ranker in rankers():
        ranker.fit(X, Y)
        assert ranker.history_["iteration"].tolist() == list(range(ranker.n_iter_ + 1))
        assert (np.diff(ranker.history_["primal"]) <= 0).all()
        assert (np.diff(ranker.history_["dual"]) >= 0).all()
        assert ranker.solver_ == "bundle"
