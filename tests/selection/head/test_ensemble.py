"""Ensembles against slow loops: greedy selection, families, and nested estimates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.naive_bayes import GaussianNB

from toprank import HeadRanker
from toprank.inputs.folds import Folds
from toprank.metrics import get_scorer
from toprank.selection.fold_path import Judge, Table
from toprank.selection.head import ensemble
from toprank.selection.head.ensemble import EnsembleSelection, nested
from toprank.selection.head.race_data import RaceData, RaceResult

N = 150
FOLDS = Folds(3, np.arange(N) % 3)
AP = get_scorer("average_precision")


@dataclass(frozen=True)
class Scores:
    """A candidate whose scores of held-out rows are given."""

    name: str
    family: str


def made(
    n: int,
    seed: int,
    *,
    rate: float = 0.6,
    families: int = 99,
    weighted: bool = False,
    noisiest: float = 3.0,
) -> tuple[RaceData, list[RaceResult]]:
    """Return labels and candidates whose scores are noisy in different ways."""
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < rate).astype(int)
    weight = rng.integers(1, 4, N).astype(float) if weighted else None
    data = RaceData(np.zeros((N, 1)), y, weight, FOLDS, Judge(AP))
    noise = rng.uniform(0.5, noisiest, n)
    scores = y[:, None] + rng.normal(size=(N, n)) * noise
    return data, [entry_of(data, own, k, families) for k, own in enumerate(scores.T)]


def entry_of(data: RaceData, scores: Any, k: int, families: int = 99) -> RaceResult:
    table = Table(np.array([0.0]))
    folds = [data.folds.held_out(fold) for fold in range(3)]
    table.add([[data.fit_of(None, scores[test], test, 0.0)] for test in folds])
    result = RaceResult(Scores(f"candidate {k}", f"family {k % families}"), table, 0.0)  # type: ignore[arg-type]
    result.keep_best()
    return result


def slow_places(scores: Any) -> Any:
    return [-np.log(1 - rank / (len(scores) + 1)) for rank in rankdata(scores)]


def slow_greedy(data: RaceData, results: list[RaceResult], folds: list[int]) -> list[float]:
    """Add the candidate with the largest mean measure ten times; return the best prefix."""

    def measure(members: list[int]) -> float:
        figures = []
        for k in folds:
            test = data.folds.held_out(k)
            mixed = sum(np.array(slow_places(results[i].fits[k].decisions)) for i in members)
            weight = None if data.weight is None else data.weight[test]
            figures.append(average_precision_score(data.y[test], mixed, sample_weight=weight))
        return float(np.mean(figures))

    members: list[int] = []
    found = []
    for _ in range(10):
        raised = [measure([*members, i]) for i in range(len(results))]
        members.append(int(np.argmax(raised)))
        found.append((max(raised), members.copy()))
    best = max(found, key=lambda one: one[0])[1]
    return [best.count(i) / len(best) for i in range(len(results))]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [2, 4])
def test_greedy_selection_is_that_of_a_slow_loop(n: int, seed: int) -> None:
    data, results = made(n, seed, weighted=seed % 2 == 1)
    mixtures = EnsembleSelection(data, results, 0)
    for folds in ([0, 1, 2], [0, 2]):
        expected = slow_greedy(data, results, folds)
        assert_allclose(mixtures._greedy(np.arange(n), folds), expected)
        if n == 2:
            assert_allclose(mixtures.select(folds), expected)


@pytest.mark.parametrize("n", [2, 3, 6, 12])
@pytest.mark.parametrize("rate", [0.2, 0.6])
def test_weights_are_those_of_at_most_five_members(n: int, rate: float) -> None:
    data, results = made(n, n, rate=rate)
    mixtures = EnsembleSelection(data, results, 0)
    weights = mixtures.weights()
    assert weights.sum() == pytest.approx(1.0)
    assert (weights[weights != 0.0] >= 0.05).all()
    assert np.count_nonzero(weights) <= 5
    assert_array_equal(EnsembleSelection(data, results, 0).weights([0, 1, 2]), weights)


def test_the_scores_of_an_ensemble_are_mean_places() -> None:
    data, results = made(3, 5, weighted=True)
    weights = np.array([0.5, 0.0, 0.5])
    result = EnsembleSelection(data, results, 0).result(weights)
    assert result is not None
    assert result.candidate.name == "ensemble: 0.5 candidate 0 + 0.5 candidate 2"
    for k, fit in enumerate(result.fits):
        places = [slow_places(results[i].fits[k].decisions) for i in (0, 2)]
        assert_allclose(fit.decisions, np.mean(places, axis=0))
        test = FOLDS.held_out(k)
        truth = average_precision_score(
            data.y[test], fit.decisions, sample_weight=data.weight[test]
        )  # type: ignore[index]
        assert fit.score == pytest.approx(truth)
    assert EnsembleSelection(data, results, 0).result(np.array([0.0, 1.0, 0.0])) is None


def test_few_positives_move_weights_towards_the_best_of_each_family() -> None:
    data, results = made(9, 3, rate=0.3, families=4, noisiest=0.8)
    mixtures = EnsembleSelection(data, results, 0)
    for folds in ([0, 1, 2], [1, 2]):
        means = [np.mean([result.fits[k].score for k in folds]) for result in results]
        best = {
            max(range(family, 9, 4), key=lambda i: means[i])
            for family in range(4)
        }  # fmt: skip
        near = [i for i in best if means[i] >= 0.85 * max(means)]
        assert len(near) > 1
        equal = np.isin(np.arange(9), near) / len(near)
        assert_allclose(mixtures.best_of_families(folds), equal)
        count = sum(data.y[data.folds.held_out(k)].sum() for k in folds)
        expected = (200 * equal + count * mixtures.select(folds)) / (200 + count)
        expected[np.argsort(-expected, kind="stable")[5:]] = 0.0
        expected[expected < 0.05 * expected.sum()] = 0.0
        assert_allclose(mixtures.weights(folds), expected / expected.sum())


@pytest.mark.parametrize("rate", [0.3, 0.6])
def test_the_estimate_of_a_fold_uses_no_score_of_it(
    rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[Any] = []
    weights = EnsembleSelection.weights

    def noted(self: EnsembleSelection, folds: Any = None) -> Any:
        chosen.append(weights(self, folds))
        return chosen[-1]

    monkeypatch.setattr(EnsembleSelection, "weights", noted)
    data, results = made(6, 1, rate=rate, families=3, noisiest=1.0)
    poisoned = [entry_of(data, _reversed(result, 1), k, 3) for k, result in enumerate(results)]
    before = EnsembleSelection(data, results, 0).nested_scores()
    after = EnsembleSelection(data, poisoned, 0).nested_scores()
    assert before is not None
    assert after is not None
    clean, other = chosen[:3], chosen[3:]
    assert len(other) == 3
    assert_array_equal(clean[1], other[1])
    assert not np.array_equal(clean[0], other[0])
    assert before[1] != after[1]
    test = FOLDS.held_out(1)
    places = np.array([slow_places(result.fits[1].decisions) for result in poisoned])
    truth = average_precision_score(data.y[test], clean[1] @ places)
    assert after[1] == pytest.approx(truth)


def _reversed(result: RaceResult, fold: int) -> Any:
    """Return scores that are as bad on one fold as they were good."""
    scores = np.empty(N)
    for k, fit in enumerate(result.fits):
        scores[FOLDS.held_out(k)] = -fit.decisions if k == fold else fit.decisions
    return scores


def test_the_estimate_of_single_candidates_uses_no_score_of_the_fold() -> None:
    rng = np.random.default_rng(0)
    _, results = made(3, 0)
    for result in results:  # each at several settings
        result.scores_of_settings = rng.random((3, 4))
    scores = np.hstack([result.scores_of_settings for result in results])  # type: ignore[misc]
    expected = [
        scores[k, np.argmax(scores[[j for j in range(3) if j != k]].sum(axis=0))]
        for k in range(3)
    ]  # fmt: skip
    assert_allclose(nested(results), expected)
    for result in results:
        assert result.scores_of_settings is not None
        result.scores_of_settings[2] *= -100.0
    assert nested(results)[2] == pytest.approx(-100.0 * expected[2])


RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = (RNG.random(300) < 1 / (1 + np.exp(1 - X[:, 0] - X[:, 1] * X[:, 2]))).astype(int)
LISTED = [LogisticRegression(), RandomForestClassifier(10, random_state=0), GaussianNB()]


def test_a_scorer_of_scikit_learn_selects_as_ours_does() -> None:
    ours, theirs = (
        HeadRanker(candidates=LISTED, trees=False, scoring=scoring, random_state=0).fit(X, Y)
        for scoring in ("auc", "roc_auc")
    )
    assert list(ours.leaderboard_["candidate"]) == list(theirs.leaderboard_["candidate"])
    assert_allclose(ours.leaderboard_["mean"], theirs.leaderboard_["mean"])
    assert ours.nested_score_ == pytest.approx(theirs.nested_score_)
    assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


def test_a_scorer_that_reads_rows_is_called_for_whole_candidates_only() -> None:
    calls = count()

    def scorer(estimator: Any, rows: Any, labels: Any) -> float:
        next(calls)
        scores = (
            estimator.decision_function(rows)
            if hasattr(estimator, "decision_function")
            else estimator.predict_proba(rows)[:, 1]
        )
        return float(average_precision_score(labels, scores))

    ranker = HeadRanker(candidates=LISTED, trees=False, scoring=scorer, random_state=0).fit(X, Y)
    # Three candidates and the ensemble, and the nested estimate, in three folds.
    assert next(calls) == 5 * 3
    board = ranker.leaderboard_.set_index("candidate")["mean"]
    assert any(name.startswith("ensemble: 0.33 ") for name in board.index)


def test_an_ensemble_behind_the_best_candidate_is_not_chosen() -> None:
    lucky = 0
    for seed in range(8):
        y = np.random.default_rng(seed).permutation(Y)
        ranker = HeadRanker(candidates=LISTED, trees=False, cv=3, random_state=0).fit(X, y)
        board = ranker.leaderboard_.sort_index()
        last = board.iloc[-1]
        if not last["candidate"].startswith("ensemble"):
            continue
        behind = last["note"] == "behind the best single candidate in nested selection"
        assert not (behind and last["chosen"])
        lucky += behind
        others = board[~board["candidate"].str.startswith("ensemble")]["mean"]
        assert ranker.best_score_ == (others.max() if behind else board["mean"].max())
    assert lucky > 0


def test_many_negatives_are_sampled_for_the_selection(monkeypatch: pytest.MonkeyPatch) -> None:
    data, results = made(3, 0, rate=0.5)
    whole = EnsembleSelection(data, results, 0)
    monkeypatch.setattr(ensemble, "_SORTED", 15)
    some = EnsembleSelection(data, results, 0)
    for k in range(3):
        positive, weight = some._labels[k]
        test = FOLDS.held_out(k)
        assert positive.sum() == data.y[test].sum()
        assert (~positive).sum() == 15
        # Together the negatives that are drawn weigh as much as all of them.
        assert weight[~positive].sum() == pytest.approx((data.y[test] == 0).sum())  # type: ignore[index]
        own = (np.ones(3) @ some._places[k], np.ones(3) @ whole._places[k])
        figures = [
            one._measure(np.ones(3), mixed, k)
            for one, mixed in zip((some, whole), own, strict=True)
        ]
        assert figures[0] == pytest.approx(figures[1], abs=0.15)


def test_a_row_without_weight_counts_for_nothing() -> None:
    weight, strange = np.ones(300), X.copy()
    weight[200:], strange[200:] = 0.0, 100.0
    parts = [(np.arange(100), np.arange(100, 250)), (np.arange(100, 200), np.r_[0:100, 250:300])]
    alone = [(training, test[test < 200]) for training, test in parts]
    options: dict[str, Any] = {"candidates": LISTED[::2], "trees": False}
    with_them = HeadRanker(cv=parts, **options).fit(strange, Y, sample_weight=weight)
    without = HeadRanker(cv=alone, **options).fit(X[:200], Y[:200])
    assert without.leaderboard_["candidate"][2].startswith("ensemble: 0.")
    assert list(with_them.leaderboard_["candidate"]) == list(without.leaderboard_["candidate"])
    assert_allclose(with_them.leaderboard_["mean"], without.leaderboard_["mean"])
    assert with_them.nested_score_ == pytest.approx(without.nested_score_)
    for given, expected in zip(
        (with_them.oof_scores_[:200], with_them.decision_function(X)),
        (without.oof_scores_, without.decision_function(X)),
        strict=True,
    ):
        assert_allclose(given, expected, atol=1e-10)
