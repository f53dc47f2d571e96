"""RankBoost and the boosting form of the p-norm push, against pairs written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar
from sklearn.base import clone

from support.special_rows import CASES
from support.toy_rows import overlapping
from toprank import PNormPush, RankBoost

X, Y = overlapping(20, 60, 6)
KINDS = ["stumps", "thresholds", "linear", "precomputed"]
kinds = pytest.mark.parametrize("kind", KINDS)
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])


def push(scores: np.ndarray, y: np.ndarray, p: float) -> float:
    """The p-norm push, mean over negatives of (mean over positives of e^(s_j - s_i))^p."""
    return float(
        np.mean([np.mean([np.exp(b - a) for a in scores[y == 1]]) ** p for b in scores[y == 0]])
    )


def binary_columns(seed: int = 0, n: int = 80, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    B = np.where(rng.random((n, d)) < 0.5, 1.0, -1.0)
    return B, (B[:, :3].sum(axis=1) + 2.0 * rng.normal(size=n) > 0).astype(int)


@kinds
@pytest.mark.parametrize("p", [1.0, 3.0])
def test_the_objective_is_the_log_of_the_loss_of_all_pairs(kind: str, p: float) -> None:
    ranker = RankBoost(15, weak_learners=kind, p=p).fit(X, Y)
    stages = list(ranker.staged_decision_function(X))
    assert ranker.objective_[0] == 0.0
    assert len(stages) == ranker.n_iter_ == len(ranker.objective_) - 1 == 15
    for value, scores in zip(ranker.objective_[1:], stages, strict=True):
        assert_allclose(value, np.log(push(scores, Y, p)) / p, rtol=0, atol=1e-12)


@kinds
@pytest.mark.parametrize("selection", ["edge", "z"])
@pytest.mark.parametrize("p", [1.0, 4.0])
def test_every_step_goes_to_the_lowest_point_of_its_line(
    kind: str, selection: str, p: float
) -> None:
    data = X / np.abs(X).max()
    ranker = RankBoost(8, weak_learners=kind, p=p, selection=selection).fit(data, Y)
    before, short = np.zeros(len(Y)), 0
    for scores in ranker.staged_decision_function(data):
        h = scores - before  # but for a constant, which no pair sees
        most = 4.0 / np.ptp(h)  # where the step would be 2 long, max_step
        best = minimize_scalar(
            lambda t: np.log(push(before + t * h, Y, p)) / p,  # noqa: B023
            bounds=(0.0, most),
            method="bounded",
            options={"xatol": 1e-7},
        )
        assert_allclose(1.0, best.x, atol=2e-6)
        short += best.x < 0.99 * most
        before = scores
    assert short > 2
    assert (np.diff(ranker.objective_) < 0).all()


def test_the_ranker_of_the_largest_edge_or_fall_is_taken() -> None:
    B, y = binary_columns()
    for selection in ("edge", "z"):
        ranker = RankBoost(10, weak_learners="precomputed", selection=selection).fit(B, y)
        scores = np.zeros(len(y))
        stages = ranker.staged_decision_function(B)
        for feature, after in zip(ranker.features_, stages, strict=True):
            a, b = np.exp(-scores[y == 1]), np.exp(scores[y == 0])
            a, b = a / a.sum(), b / b.sum()
            edges = np.abs(a @ B[y == 1] - b @ B[y == 0]) / 2
            A, C = (1 + a @ B[y == 1]) / 2, (1 + b @ B[y == 0]) / 2
            Z = 1 - (np.sqrt(A * (1 - C)) - np.sqrt(C * (1 - A))) ** 2
            assert feature == (np.argmax(edges) if selection == "edge" else np.argmin(Z))
            scores = after


def test_the_third_method_falls_as_it_promises() -> None:
    for data, labels, kind in ((X, Y, "linear"), (X, Y, "stumps"), (*binary_columns(), "linear")):
        ranker = RankBoost(30, weak_learners=kind, step="third").fit(data, labels)
        before = np.zeros(len(labels))
        for weight, value, last, scores in zip(
            ranker.ranker_weights_,
            ranker.objective_[1:],
            ranker.objective_[:-1],
            ranker.staged_decision_function(data),
            strict=True,
        ):
            h = (scores - before) / weight
            a, b = np.exp(-before[labels == 1]), np.exp(before[labels == 0])
            r = (a @ h[labels == 1] / a.sum() - b @ h[labels == 0] / b.sum()) / 2
            assert_allclose(weight, 0.25 * np.log((1 + r) / (1 - r)), rtol=1e-9)
            assert np.exp(value - last) <= np.sqrt(1 - r * r) + 1e-12
            before = scores


@pytest.mark.parametrize("p", [1.0, 4.0])
@pytest.mark.parametrize("selection", ["edge", "z"])
def test_rounds_end_at_the_minimum_over_given_rankers(p: float, selection: str) -> None:
    B, y = binary_columns(1)
    ranker = RankBoost(
        20_000, weak_learners="precomputed", p=p, selection=selection, min_edge=1e-8
    ).fit(B, y)

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        e, f = np.exp(-(B[y == 1] @ w)), np.exp(p * (B[y == 0] @ w))
        slope = f @ B[y == 0] / f.sum() - e @ B[y == 1] / e.sum()
        return float(np.log(e.mean()) + np.log(f.mean()) / p), slope

    best = minimize(
        objective, np.zeros(B.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-10}
    )
    assert ranker.converged_
    assert ranker.n_iter_ < 20_000
    assert_allclose(ranker.objective_[-1], best.fun, atol=1e-12)
    assert_allclose(ranker.coef_[0], best.x, atol=1e-5)


def test_few_rounds_have_not_converged_and_many_change_nothing_after_it() -> None:
    B, y = binary_columns(1)
    assert not RankBoost(5, weak_learners="precomputed").fit(B, y).converged_
    one = RankBoost(3000, weak_learners="precomputed", min_edge=1e-6).fit(B, y)
    two = RankBoost(6000, weak_learners="precomputed", min_edge=1e-6).fit(B, y)
    assert_array_equal(one.coef_, two.coef_)


def test_the_same_minimum_as_the_certified_push() -> None:
    data, labels = overlapping(30, 60, 4)
    push_all = PNormPush(alpha=1e-9, p=4, tol=1e-8).fit(data, labels)
    boosted = RankBoost(5000, weak_learners="linear", p=4, min_edge=1e-9).fit(data, labels)
    assert boosted.converged_
    assert_allclose(boosted.coef_, push_all.coef_, atol=1e-4 * np.abs(push_all.coef_).max())


@forms
@kinds
def test_scores_are_what_the_attributes_say(kind: str, form: Any) -> None:
    ranker = RankBoost(20, weak_learners=kind).fit(form(X), Y)
    fresh, _ = overlapping(seed=3, n_features=6)
    if kind in ("stumps", "thresholds"):
        above = fresh[:, ranker.features_] > ranker.thresholds_
        scores = np.where(above, 1.0, -1.0 if kind == "stumps" else 0.0) @ ranker.ranker_weights_
        assert not hasattr(ranker, "coef_")
    else:
        scores = fresh @ ranker.coef_[0]
    assert_allclose(ranker.decision_function(form(fresh)), scores + ranker.intercept_, atol=1e-12)
    *_, last = ranker.staged_decision_function(form(fresh))
    assert_allclose(last, ranker.decision_function(form(fresh)), atol=1e-12)
    *_, labels = ranker.staged_predict(form(fresh))
    assert_array_equal(labels, ranker.predict(form(fresh)))


def test_thresholds_are_stumps_of_twice_the_weight() -> None:
    stumps, zero_one = (RankBoost(20, weak_learners=kind).fit(X, Y) for kind in KINDS[:2])
    assert_array_equal(stumps.features_, zero_one.features_)
    assert_array_equal(stumps.thresholds_, zero_one.thresholds_)
    assert_allclose(zero_one.ranker_weights_, 2.0 * stumps.ranker_weights_, rtol=1e-14)
    assert_allclose(zero_one.decision_function(X), stumps.decision_function(X), atol=1e-12)


def test_every_stage_calls_as_many_rows_positive_as_there_are() -> None:
    ranker = RankBoost(40).fit(X, Y)
    for labels in list(ranker.staged_predict(X))[20:]:
        assert abs(labels.sum() - Y.sum()) <= 2


@kinds
@pytest.mark.parametrize("options", [{}, {"step": "third"}, {"selection": "z"}])
def test_weights_are_repeated_rows(kind: str, options: dict[str, str]) -> None:
    data = X / np.abs(X).max()
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    ranker = RankBoost(25, weak_learners=kind, **options)
    weighted = clone(ranker).fit(data, Y, sample_weight=weight)
    repeated = clone(ranker).fit(np.repeat(data, weight, axis=0), np.repeat(Y, weight))
    assert_array_equal(weighted.features_, repeated.features_)
    assert_allclose(weighted.ranker_weights_, repeated.ranker_weights_, rtol=1e-9)
    assert_allclose(weighted.decision_function(data), repeated.decision_function(data), atol=1e-9)
    plain = clone(ranker).fit(data, Y)
    assert np.abs(plain.ranker_weights_ - weighted.ranker_weights_).max() > 1e-3
    strange = np.where(weight[:, np.newaxis] == 0, 0.99, data)
    assert_array_equal(
        clone(ranker).fit(strange, Y, sample_weight=weight).ranker_weights_,
        weighted.ranker_weights_,
    )


@kinds
def test_dense_and_sparse_wide_and_narrow_entries_agree(kind: str) -> None:
    data = np.round(np.where(np.random.default_rng(0).random(X.shape) < 0.5, X, 0.0), 1)
    data = data.astype(np.float32).astype(np.float64)
    expected = RankBoost(20, weak_learners=kind).fit(data, Y)
    for other in (np.asfortranarray(data), data.astype(np.float32), sparse.csr_array(data)):
        ranker = RankBoost(20, weak_learners=kind).fit(other, Y)
        assert_array_equal(ranker.features_, expected.features_)
        assert_allclose(ranker.ranker_weights_, expected.ranker_weights_, rtol=1e-9)
        assert_allclose(
            ranker.decision_function(other), expected.decision_function(data), atol=1e-6
        )
        assert_array_equal(ranker.predict(other), expected.predict(data))


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")  # of scores that tie
@forms
@kinds
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_odd_data(case: Any, kind: str, form: Any) -> None:
    data, positive = case()
    ranker = RankBoost(30, weak_learners=kind).fit(form(data), positive)
    assert (np.diff(ranker.objective_) <= 1e-12).all()
    scores = ranker.decision_function(form(data))
    assert np.isfinite(scores).all()
    if case.__name__ == "all_rows_equal":
        assert ranker.converged_
        assert ranker.n_iter_ == 0
        assert list(ranker.staged_decision_function(data)) == []
        assert np.ptp(scores) == 0.0


@pytest.mark.parametrize("kind", ["stumps", "thresholds", "linear"])
@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_the_size_of_features_does_not_matter(kind: str, scale: float) -> None:
    plain = RankBoost(20, weak_learners=kind).fit(X, Y)
    scaled = RankBoost(20, weak_learners=kind).fit(scale * X, Y)
    assert_array_equal(scaled.features_, plain.features_)
    assert_allclose(scaled.decision_function(scale * X), plain.decision_function(X), atol=1e-9)


def test_stumps_see_the_order_of_values_only() -> None:
    plain, bent = RankBoost(20).fit(X, Y), RankBoost(20).fit(np.exp(X), Y)
    assert_allclose(bent.decision_function(np.exp(X)), plain.decision_function(X), atol=1e-12)


def test_a_perfect_ranker_gets_a_long_but_finite_step() -> None:
    data = np.array([[0.0], [1.0], [2.0], [3.0]])
    labels = np.array([0, 0, 1, 1])
    ranker = RankBoost(3).fit(data, labels)
    assert_allclose(ranker.thresholds_, 1.5)
    assert_allclose(ranker.ranker_weights_, 2.0)
    assert_array_equal(ranker.predict(data), labels)
    linear = RankBoost(2, weak_learners="linear", max_step=3.0).fit(
        [[0.0], [1.0], [9.0]], [0, 0, 1]
    )
    assert_allclose(linear.ranker_weights_, 3.0)
    given = RankBoost(2, weak_learners="precomputed").fit([[0.0], [1.0], [8.0]], [0, 0, 1])
    assert_allclose(given.ranker_weights_, 2.0 * 2.0 / 8.0)


def test_missing_values_are_for_thresholds() -> None:
    rng = np.random.default_rng(0)
    data = X.copy()
    data[rng.random(X.shape) < 0.2] = np.nan
    data[:, 5] = np.where(Y == 1, np.nan, rng.normal(size=len(Y)))  # missing says all
    ranker = RankBoost(5, weak_learners="thresholds").fit(data, Y)
    assert ranker.features_[0] == 5
    assert ranker.thresholds_[0] == -np.inf
    assert ranker.score(data, Y) == 1.0
    *_, last = ranker.staged_decision_function(data)
    assert_allclose(last, ranker.decision_function(data))
    for kind in ("stumps", "linear"):
        with pytest.raises(ValueError, match="contains NaN"):
            RankBoost(weak_learners=kind).fit(data, Y)
    data[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity: row 3, column 2"):
        RankBoost(weak_learners="thresholds").fit(data, Y)


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ValueError, match="step='third' is defined for p=1"):
        RankBoost(p=2, step="third").fit(X, Y)
    for options in ({"step": "third"}, {"selection": "z"}):
        with pytest.raises(ValueError, match=r"within \[-1, 1\], but X holds"):
            RankBoost(weak_learners="precomputed", **options).fit(3 * X, Y)
    with pytest.raises(ValueError, match="weak_learners"):
        RankBoost(weak_learners="trees").fit(X, Y)


def test_a_fit_with_other_rankers_leaves_nothing_of_the_last() -> None:
    ranker = RankBoost(5, weak_learners="linear").fit(X, Y)
    assert ranker.coef_.shape == (1, 6)
    ranker.set_params(weak_learners="stumps").fit(X, Y)
    assert not hasattr(ranker, "coef_")
    ranker.set_params(weak_learners="precomputed").fit(X, Y)
    assert not hasattr(ranker, "thresholds_")
