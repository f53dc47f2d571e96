"""ASRankSVM and ASCRC: what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from support.toy_rows import overlapping
from toprank import ASCRC, ASRankSVM, TrivialSolutionWarning
from truth.pairs_by_cvxpy import all_points, all_real_pairs, differences, optimum, value

STRATEGIES = ["random", "soft-close", "soft-correct", "hard-close", "hard-correct"]
WEIGHTINGS = ["rate", "paper", "plain", "none"]
X, Y = overlapping(25, 60, 4)

both = pytest.mark.parametrize("estimator", [ASRankSVM, ASCRC])
by_every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def small(estimator: Any, **options: Any) -> Any:
    """Two hundred of the toy data's pairs."""
    given = {"alpha": 0.02, "n_pairs": 200, "batch_size": 20, "random_state": 0, **options}
    return estimator(**given)


@both
@by_every_strategy
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_the_certificate_brackets_the_optimum_on_the_chosen_pairs(
    estimator: Any, strategy: str, weighting: str
) -> None:
    ranker = small(estimator, strategy=strategy, weighting=weighting, tol=1e-4).fit(X, Y)
    z, c = differences(X, ranker.pairs_), ranker.pair_weight_
    found = ranker.certificate_
    assert found.primal == pytest.approx(value(z, c, 0.02, ranker.coef_[0]), rel=1e-12)
    best = optimum(z, c, 0.02)
    assert found.dual <= best * (1 + 1e-8)
    assert best <= found.primal * (1 + 1e-8)
    assert found.relative_gap <= 1e-4


@both
@by_every_strategy
def test_pairs_are_of_both_classes_and_none_twice(estimator: Any, strategy: str) -> None:
    ranker = small(estimator, strategy=strategy).fit(X, Y)
    first, second = ranker.pairs_.T
    assert ranker.n_pairs_ == len(first) == 200
    assert len(np.unique(ranker.pairs_, axis=0)) == 200
    assert (Y[first[first >= 0]] == 1).all()
    assert (Y[second[second >= 0]] == 0).all()
    assert (ranker.pairs_.max(axis=1) >= 0).all()
    assert (ranker.pairs_ == -1).any() == (estimator is ASCRC)
    assert not ranker.stopped_early_


@both
@by_every_strategy
@pytest.mark.parametrize("weighting", ["rate", "plain", "none"])
def test_the_weights_are_one_together(estimator: Any, strategy: str, weighting: str) -> None:
    ranker = small(estimator, strategy=strategy, weighting=weighting).fit(X, Y)
    assert ranker.pair_weight_.sum() == pytest.approx(1.0)
    assert (ranker.pair_weight_ > 0).all()
    if strategy in ("random", "hard-close", "hard-correct") and estimator is ASRankSVM:
        assert_allclose(ranker.pair_weight_, 1 / 200)


@both
@by_every_strategy
def test_history_tells_of_every_round(estimator: Any, strategy: str) -> None:
    fresh, labels = overlapping(30, 50, 4, seed=9)
    ranker = small(estimator, strategy=strategy, n_pairs=210)
    ranker.fit(X, Y, eval_set=(fresh, labels))
    rows = ranker.rounds_
    assert_array_equal(rows["n_pairs"], [*range(20, 201, 20), 210])
    assert ranker.n_iter_ == len(rows) == 11
    assert (np.diff(rows["seconds"]) >= 0).all()
    assert (rows["proposals"] >= np.diff(rows["n_pairs"], prepend=0)).all()
    assert ((rows["acceptance"] > 0) & (rows["acceptance"] <= 1)).all()
    assert rows["acceptance"][0] == 1.0
    assert (rows["acceptance"][1:] == 1.0).all() == (not strategy.startswith("soft"))
    scores = ranker.decision_function(fresh)
    assert rows["auc"][-1] == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert (rows["auc"][3:] > 0.5).all()

    without = clone(ranker).fit(X, Y)
    assert np.isnan(without.rounds_["auc"]).all()
    assert_array_equal(without.coef_, ranker.coef_)


def separable(seed: int = 0) -> tuple[Any, Any]:
    rows, labels = overlapping(60, 90, 3, shift=4.0, seed=seed)
    keep = np.abs(rows.sum(axis=1) - 6.0) > 1.5
    return rows[keep] - 2.0, labels[keep]


@both
@pytest.mark.parametrize("strategy", ["soft-correct", "hard-correct"])
def test_separable_data_end_early_with_an_optimum_for_all_pairs(
    estimator: Any, strategy: str
) -> None:
    rows, labels = separable()
    ranker = small(estimator, alpha=1e-3, n_pairs=4000, strategy=strategy, weighting="none")
    ranker.fit(rows, labels)
    assert ranker.stopped_early_
    assert ranker.n_pairs_ < 1000
    assert ranker.pair_weight_.sum() == pytest.approx(ranker.n_pairs_ / 4000)
    everything = all_real_pairs(labels)
    if estimator is ASCRC:
        everything = np.vstack([everything, all_points(labels)])
    chosen = {tuple(pair) for pair in ranker.pairs_.tolist()}
    left = np.array([pair for pair in everything.tolist() if tuple(pair) not in chosen])
    assert len(left) == len(everything) - ranker.n_pairs_
    w = ranker.coef_[0]
    assert (differences(rows, left) @ w >= 1.0 - 1e-9).all()
    # Whatever weights those have, the minimum is the same.
    z = differences(rows, np.vstack([ranker.pairs_, left]))
    for weight in (1 / 4000, 0.3):
        c = np.concatenate([ranker.pair_weight_, np.full(len(left), weight)])
        best = optimum(z, c, 1e-3)
        assert best == pytest.approx(ranker.certificate_.primal, rel=2e-3)
        assert value(z, c, 1e-3, w) <= best * (1 + 1.1e-3)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_budget_of_all_pairs_is_ranksvm(strategy: str) -> None:
    pairs = all_real_pairs(Y)
    z, c = differences(X, pairs), np.full(len(pairs), 1 / len(pairs))
    best = optimum(z, c, 0.02)
    for budget in (len(pairs), 10**9):
        ranker = small(
            ASRankSVM, n_pairs=budget, strategy=strategy, weighting="none", tol=1e-5, max_iter=10**5
        ).fit(X, Y)
        assert ranker.n_pairs_ == len(pairs) or ranker.stopped_early_
        # Pairs that were never drawn have no loss, so that this is the optimum on all pairs.
        assert value(z, c, 0.02, ranker.coef_[0]) == pytest.approx(best, rel=1e-5)
        assert ranker.certificate_.dual <= best * (1 + 1e-8)


def test_a_budget_of_everything_is_crc() -> None:
    pairs = np.vstack([all_real_pairs(Y), all_points(Y)])
    z, c = differences(X, pairs), np.full(len(pairs), 1 / len(pairs))
    ranker = small(ASCRC, n_pairs=10**9, strategy="soft-close", weighting="none", tol=1e-5).fit(
        X, Y
    )
    assert ranker.n_pairs_ == len(pairs)
    assert not ranker.stopped_early_
    assert value(z, c, 0.02, ranker.coef_[0]) == pytest.approx(optimum(z, c, 0.02), rel=1e-5)


def test_exchanged_labels_turn_the_weights_round() -> None:
    # The draws are others, but the law is the same, and so is what all pairs say.
    options = {"n_pairs": 10**9, "weighting": "none", "tol": 1e-7, "max_iter": 10**5}
    one, other = (small(ASRankSVM, **options).fit(X, labels) for labels in (Y, 1 - Y))
    assert_allclose(other.coef_, -one.coef_, atol=2e-3 * np.abs(one.coef_).max())


@by_every_strategy
def test_a_constant_row_does_not_matter_to_real_pairs(strategy: str) -> None:
    shift = np.array([3.0, -1.0, 0.5, 8.0])
    plain = small(ASRankSVM, strategy=strategy).fit(X, Y)
    moved = small(ASRankSVM, strategy=strategy).fit(X + shift, Y)
    assert_array_equal(moved.pairs_, plain.pairs_)
    assert_allclose(moved.pair_weight_, plain.pair_weight_, rtol=1e-6)
    assert_allclose(moved.coef_, plain.coef_, rtol=1e-5)
    assert_allclose(moved.decision_function(X + shift), plain.decision_function(X), atol=1e-5)
    point = small(ASCRC, strategy=strategy).fit(X, Y)
    moved = small(ASCRC, strategy=strategy, max_iter=10**5).fit(X + shift, Y)
    assert np.abs(moved.coef_ - point.coef_).max() > 0.1 * np.abs(point.coef_).max()


FORMS = {
    "Fortran": np.asfortranarray,
    "float32": lambda rows: rows.astype(np.float32),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "csr float32": lambda rows: sparse.csr_array(rows.astype(np.float32)),
}


@both
@by_every_strategy
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_rows_gives_the_same(estimator: Any, strategy: str, form: str) -> None:
    rows = X.astype(np.float32).astype(float)  # no form rounds them
    expected = small(estimator, strategy=strategy).fit(rows, Y)
    ranker = small(estimator, strategy=strategy).fit(FORMS[form](rows), Y)
    assert_array_equal(ranker.pairs_, expected.pairs_)
    assert_allclose(ranker.coef_, expected.coef_, rtol=1e-5)
    assert_allclose(ranker.intercept_, expected.intercept_, rtol=1e-5)


@both
def test_the_seed_decides_and_nothing_else(estimator: Any) -> None:
    one = small(estimator).fit(X, Y)
    for again in (small(estimator, n_threads=3), small(estimator, verbose=0)):
        again.fit(X, Y)
        assert_array_equal(again.coef_, one.coef_)
        assert_array_equal(again.pairs_, one.pairs_)
    other = small(estimator, random_state=1).fit(X, Y)
    assert (other.pairs_ != one.pairs_).any()
    rng = np.random.RandomState(0)
    first, second = (small(estimator, random_state=rng).fit(X, Y) for _ in range(2))
    assert (first.pairs_ != second.pairs_).any()


@both
def test_as_many_rows_are_called_positive_as_are(estimator: Any) -> None:
    ranker = small(estimator).fit(X, Y)
    assert ranker.predict(X).sum() == Y.sum()
    weight = np.where(Y == 1, 3.0, 1.0)
    ranker.fit(X, Y, sample_weight=weight)
    share = weight[ranker.predict(X) == 1].sum() / weight.sum()
    assert share == pytest.approx(75 / 135, abs=3 / 135)


@both
def test_rows_of_weight_zero_are_as_if_absent(estimator: Any) -> None:
    weight = np.random.default_rng(0).integers(0, 2, len(Y)).astype(float)
    strange = X.copy()
    strange[weight == 0] = 1e3
    given = small(estimator).fit(strange, Y, sample_weight=weight)
    absent = small(estimator).fit(X[weight > 0], Y[weight > 0])
    assert_array_equal(given.coef_, absent.coef_)
    assert_allclose(given.intercept_, absent.intercept_, rtol=1e-12)
    rows = np.append(np.flatnonzero(weight), -1)
    assert_array_equal(given.pairs_, rows[absent.pairs_])


@both
def test_weights_count_in_the_loss_not_in_the_draws(estimator: Any) -> None:
    weight = np.random.default_rng(3).uniform(0.5, 4.0, len(Y))
    options = {"strategy": "random", "weighting": "none"}
    plain = small(estimator, **options).fit(X, Y)
    weighted = small(estimator, **options).fit(X, Y, sample_weight=weight)
    assert_array_equal(weighted.pairs_, plain.pairs_)
    relative = {label: weight / weight[label == Y].mean() for label in (0, 1)}
    expected = np.array(
        [
            relative[1][i] * relative[0][j] if min(i, j) >= 0 else weight[max(i, j)] / weight.mean()
            for i, j in plain.pairs_
        ]
    )
    assert_allclose(weighted.pair_weight_, expected / expected.sum(), rtol=1e-9)
    scaled = small(estimator, **options).fit(X, Y, sample_weight=1e300 * weight)
    assert_allclose(scaled.coef_, weighted.coef_, rtol=1e-6)


@both
@by_every_strategy
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_weights_whose_product_is_no_number(estimator: Any, strategy: str, weighting: str) -> None:
    # One heavy row in each class: a pair of two others has a weight of 1e-340 beside theirs.
    weight = np.full(len(Y), 1e-170)
    weight[[np.argmax(Y == 0), np.argmax(Y == 1)]] = 1.0
    options = {"strategy": strategy, "weighting": weighting, "batch_size": 1, "n_pairs": 30}
    ranker = small(estimator, **options).fit(X, Y, sample_weight=weight)
    assert np.isfinite(ranker.coef_).all()
    assert np.isfinite(ranker.pair_weight_).all()
    assert ranker.certificate_.holds(1e-3)


@both
def test_a_gap_that_is_too_wide_is_told(estimator: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="relative gap of .* on its 200 pairs, above tol"):
        ranker = small(estimator, alpha=1e-6, max_iter=1).fit(X, Y)
    assert ranker.certificate_.relative_gap > 1e-3


@both
def test_a_single_pair_a_round_and_a_single_round(estimator: Any) -> None:
    assert small(estimator, n_pairs=1, batch_size=1).fit(X, Y).n_pairs_ == 1
    ranker = small(estimator, n_pairs=30, batch_size=1).fit(X, Y)
    assert (ranker.n_pairs_, ranker.n_iter_) == (30, 30)
    ranker = small(estimator, n_pairs=10**6, batch_size=10**6, strategy="random").fit(X, Y)
    assert ranker.n_iter_ == 1
    assert ranker.n_pairs_ == 25 * 60 + (85 if estimator is ASCRC else 0)


@both
def test_wrong_parameters_are_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"batch_size=100 is larger than n_pairs=50.*Lower batch"):
        estimator(n_pairs=50).fit(X, Y)
    for name, wrong in {
        "strategy": "soft",
        "weighting": "inverse",
        "n_pairs": 0,
        "batch_size": 2.5,
        "alpha": 0.0,
        "n_threads": 0,
    }.items():
        with pytest.raises(ValueError, match=f"The '{name}' parameter of"):
            estimator(**{name: wrong}).fit(X, Y)


@both
def test_wrong_eval_sets_are_refused(estimator: Any) -> None:
    ranker = small(estimator)
    with pytest.raises(ValueError, match=r"eval_set must be a pair \(X, y\)"):
        ranker.fit(X, Y, eval_set=X)
    with pytest.raises(ValueError, match="eval_set must be a pair"):
        ranker.fit(X, Y, eval_set=3)
    with pytest.raises(ValueError, match=r"eval_set cannot be used: X has 3 features"):
        ranker.fit(X, Y, eval_set=(X[:, :3], Y))
    with pytest.raises(ValueError, match=r"eval_set cannot be used: .*inconsistent numbers"):
        ranker.fit(X, Y, eval_set=(X, Y[:-1]))
    with pytest.raises(ValueError, match=r"eval_set cannot be used: y holds one class only"):
        ranker.fit(X, Y, eval_set=(X[Y == 1], Y[Y == 1]))
    with pytest.raises(ValueError, match=r"eval_set has the labels \[0, 2\], y has \[0, 1\]"):
        ranker.fit(X, Y, eval_set=(X, 2 * Y))


@both
def test_verbose_prints_a_table(estimator: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ranker = small(estimator, verbose=1).fit(X, Y, eval_set=(X, Y))
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["pairs", "proposals", "acceptance", "seconds", "AUC"]
    assert [int(line.split()[0]) for line in lines] == ranker.rounds_["n_pairs"].tolist()
    assert float(lines[-1].split()[-1]) == pytest.approx(ranker.score(X, Y), abs=1e-4)
    small(estimator).fit(X, Y)
    assert capsys.readouterr().out == ""


@both
def test_rows_without_anything_to_learn_are_said_to_be_trivial(estimator: Any) -> None:
    with pytest.warns(TrivialSolutionWarning, match="cancel each other out"):
        ranker = estimator(random_state=0).fit(np.zeros((20, 3)), np.arange(20) % 2)
    assert ranker.trivial_
    assert not ranker.coef_.any()
