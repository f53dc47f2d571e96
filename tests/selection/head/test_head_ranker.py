"""HeadRanker on small sets: what it chooses, what it tells, what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import HeadRanker, LogisticRank
from toprank.features import table_pipeline
from toprank.metrics import average_precision, get_scorer
from toprank.selection import RankerCV

RNG = np.random.default_rng(5)
X = RNG.normal(size=(400, 5))
#: Positives lie in the middle of the first column, more so where the second is high.
CHANCE = 1 / (1 + np.exp(3 * (np.abs(X[:, 0]) - 0.7) - X[:, 1]))
Y = (RNG.random(400) < 0.9 * CHANCE).astype(int)
SOME = {"cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def whole() -> HeadRanker:
    return HeadRanker(**SOME).fit(X, Y)


def table_of(ranker: HeadRanker) -> Any:
    return ranker.leaderboard_.set_index("candidate")


def as_they_ran(ranker: HeadRanker) -> Any:
    return ranker.leaderboard_.sort_index()


def test_every_candidate_is_on_the_leaderboard(whole: HeadRanker) -> None:
    board = as_they_ran(whole)
    assert list(board["features"][[0, 1, 2, 7]]) == ["columns", "squashed", "bins", "nystroem"]
    assert list(board["candidate"][3:7]) == [
        "trees", "trees, 31 leaves", "trees, halves", "extra trees",
    ]  # fmt: skip
    assert board["candidate"].iloc[-1].startswith("ensemble: ")
    assert board["chosen"].sum() == 1
    eligible = board["note"] != "behind the best single candidate in nested selection"
    assert board["mean"][board["chosen"]].item() == board["mean"][eligible].max()
    raced = board["mean"].notna()
    assert len(board) == 9
    assert whole.n_iter_ == raced.sum()
    assert (board["error"][raced] > 0).all()
    assert board["note"][~raced].str.startswith("behind: ").all()
    assert "behind" not in whole.why_


@pytest.mark.parametrize(
    "options",
    [{"trees": False}, {"candidates": "linear"}, {"candidates": ["bins", "losses"], "trees": True}],
)
def test_losses_are_tried_on_the_best_features_only(options: dict[str, Any]) -> None:
    board = as_they_ran(HeadRanker(**SOME, **options).fit(X, Y))
    linear = board[(board["loss"] == "logistic") & (board["setting"] == "alpha")]
    if options.get("trees"):  # the best linear score is far behind the trees
        assert linear["mean"].max() < 0.97 * board["mean"].max()
        expected = []
    else:
        expected = ["logistic, negatives x16", "p-norm push, p = 4"]
    tried = board[~board["loss"].isin(["logistic", "Gini"]) & ~board["loss"].str.contains(";")]
    assert list(tried["loss"]) == expected
    assert set(tried["features"]) <= {linear["features"][linear["mean"].idxmax()]}


def test_bent_features_find_what_columns_cannot(whole: HeadRanker) -> None:
    board = table_of(whole)
    assert board["mean"]["bins, logistic"] > board["mean"]["columns, logistic"] + 0.1


@pytest.mark.parametrize("ordered", [False, True])
def test_the_means_are_those_of_a_search_by_hand(ordered: bool) -> None:
    cv = TimeSeriesSplit(3) if ordered else 3
    ranker = HeadRanker(candidates=["columns"], trees=False, cv=cv, random_state=0).fit(X, Y)
    alpha = ranker.leaderboard_["alpha"].item()
    exact, scores = LogisticRank(alpha, random_state=0, tol=1e-8), []
    for (training, test), model in zip(ranker.folds_, ranker.fold_models_, strict=True):
        scores.append(get_scorer("average_precision")(model, X[test], Y[test]))
        # Scales are of all rows; in the order of time, of those that are past.
        scale = StandardScaler().fit(X[training] if ordered else X)
        assert_allclose(model["features"].mean_, scale.mean_)
        Z = scale.transform(X)
        by_hand = clone(exact).fit(Z[training], Y[training])
        assert model["ranker"].certificate_.relative_gap <= 1e-4
        order = by_hand.decision_function(Z[test])
        assert np.corrcoef(order, model.decision_function(X[test]))[0, 1] > 0.9999
    pipeline = make_pipeline(StandardScaler(), LogisticRank(alpha, random_state=0))
    assert ranker.leaderboard_["mean"].item() == pytest.approx(np.mean(scores))
    error = np.std(scores, ddof=1) / np.sqrt(3)
    assert ranker.leaderboard_["error"].item() == pytest.approx(error)
    expected = pipeline.fit(X, Y).decision_function(X)
    assert_allclose(ranker.decision_function(X) + ranker.threshold_, expected, rtol=1e-10)


def test_the_alpha_is_as_good_as_that_of_a_whole_path() -> None:
    ranker = HeadRanker(candidates=["columns"], trees=False, **SOME).fit(X, Y)
    Z = StandardScaler().fit_transform(X)
    other = RankerCV(LogisticRank(random_state=0), cv=ranker.folds_).fit(Z, Y)
    assert ranker.leaderboard_["mean"].item() > other.mean_scores_.max() - 0.01


def test_out_of_fold_scores_are_those_of_the_fold_models(whole: HeadRanker) -> None:
    figures = []
    for model, (_, test) in zip(whole.fold_models_, whole.folds_, strict=True):
        scores = model.decision_function(X[test])
        assert_allclose(scores, whole.oof_scores_[test], rtol=1e-5, atol=1e-6)
        figures.append(average_precision(Y[test], whole.oof_scores_[test]))
    assert np.mean(figures) == pytest.approx(whole.best_score_)


def test_the_words_say_what_the_leaderboard_says(whole: HeadRanker) -> None:
    board = table_of(whole)
    gain = 100 * (whole.best_score_ - board["mean"]["columns, logistic"])
    assert f"logistic regression on standardised columns by {gain:.1f} +- " in whole.why_
    assert "Chosen: " in whole.why_
    assert "average_precision" in whole.why_


def test_the_same_seed_gives_the_same_ranker(whole: HeadRanker) -> None:
    again = clone(whole).fit(X, Y)
    assert_array_equal(again.decision_function(X), whole.decision_function(X))
    assert again.why_ == whole.why_


def test_two_jobs_give_the_same_ranker() -> None:
    one = HeadRanker(candidates=["squashed"], trees=False, **SOME).fit(X, Y)
    two = clone(one).set_params(n_jobs=2).fit(X, Y)
    assert_allclose(two.oof_scores_, one.oof_scores_, rtol=1e-9)


def test_a_pickled_ranker_scores_alike(whole: HeadRanker) -> None:
    again = pickle.loads(pickle.dumps(whole))
    assert_array_equal(again.decision_function(X), whole.decision_function(X))
    assert_array_equal(again.predict_proba(X), whole.predict_proba(X))


def test_labels_follow_the_score(whole: HeadRanker) -> None:
    scores, chances = whole.decision_function(X), whole.predict_proba(X)
    assert_array_equal(whole.predict(X), (scores > 0).astype(int))
    assert_array_equal(chances[:, 1] > 0.5, scores > 0)
    assert_array_equal(np.argsort(chances[:, 1], kind="stable"), np.argsort(scores, kind="stable"))
    assert_array_equal(whole.rank(X), np.argsort(-scores, kind="stable"))
    assert_array_equal(whole.select(X), whole.rank(X)[: (scores > 0).sum()])


def test_probabilities_are_right_on_average_on_rows_held_out(whole: HeadRanker) -> None:
    slope, offset = whole.calibration_
    chances = 1 / (1 + np.exp(-(slope * whole.oof_scores_ + offset)))
    assert chances.mean() == pytest.approx(Y.mean(), abs=0.01)


@pytest.mark.parametrize(
    ("options", "share", "scoring", "taken"),
    [
        ({"capacity": 20}, 20 / 400, "partial_auc_", 20),
        ({"capacity": 20, "list_size": 1000}, 0.02, "partial_auc_", 20),
        ({"capacity": 0.05}, 0.05, "partial_auc_", 5),
        ({"capacity": 0.5}, 0.5, "precision_at_0.5", 50),
        ({"capacity": 200, "list_size": 400}, 0.5, "precision_at_0.5", 100),
    ],
)
def test_capacity_is_a_number_of_a_list_or_a_share(
    options: dict[str, Any], share: float, scoring: str, taken: int
) -> None:
    ranker = HeadRanker(candidates="fast", cv=3, **options).fit(X, Y)
    assert ranker.capacity_ == pytest.approx(share)
    assert ranker.scoring_.startswith(scoring)
    above = (ranker.oof_scores_ > ranker.threshold_).mean()
    assert above == pytest.approx(share, abs=1 / 400)
    assert len(ranker.select(X[:100])) == taken
    assert_array_equal(ranker.select(X[:100], k=7), ranker.rank(X[:100])[:7])
    assert len(ranker.select(X[:100], k=0.25)) == 25
    assert ("no list_size was given" in ranker.why_) == (options == {"capacity": 20})


def test_more_rows_than_there_are_cannot_be_selected() -> None:
    ranker = HeadRanker(candidates="fast", cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="k=500 exceeds the 400 rows"):
        ranker.select(X, k=500)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"list_size": 10}, "set capacity too"),
        ({"capacity": 0.1, "list_size": 10}, "is a share, which needs no list_size"),
        ({"capacity": 400}, "not below the number of training rows, 400"),
        ({"capacity": 5, "list_size": 5}, "not below list_size, 5"),
        ({"capacity": 1.5}, "capacity"),
        ({"candidates": ["culoms"]}, r"candidates\[0\] is 'culoms'.*'columns'"),
        ({"candidates": []}, "candidates is empty"),
        ({"candidates": (), "trees": True}, "candidates is empty"),
        ({"candidates": ["losses"], "trees": False}, "leaves nothing to fit"),
        ({"candidates": [3]}, r"candidates\[0\] has no fit"),
        ({"scoring": "accuracy_at_3"}, "known neither here nor to scikit-learn"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        HeadRanker(**options).fit(X, Y)


def test_bad_rows_are_named() -> None:
    with pytest.raises(ValueError, match="one class only"):
        HeadRanker().fit(X, np.ones(400))
    few = np.zeros(400, dtype=int)
    few[7] = 1
    with pytest.raises(ValueError, match="1 positive and 399 negative"):
        HeadRanker().fit(X, few)
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 3, column 1.*fit a DataFrame"):
        HeadRanker(candidates="fast", cv=2).fit(X, Y).predict(holed)
    with pytest.raises(ValueError, match="dense rows only"):
        HeadRanker(trees=True).fit(sparse.csr_array(X), Y)


def test_columns_that_tell_nothing_are_named() -> None:
    with pytest.raises(ValueError, match="Every candidate gave all rows"):
        HeadRanker(candidates="fast", cv=2).fit(np.ones((40, 2)), np.arange(40) % 2)


def test_labels_may_be_words_and_either_may_be_positive() -> None:
    words = np.where(Y == 1, "bad", "good")
    ranker = HeadRanker(candidates="fast", cv=3, pos_label="bad").fit(X, words)
    plain = HeadRanker(candidates="fast", cv=3).fit(X, Y)
    assert list(ranker.classes_) == ["good", "bad"]
    assert_allclose(ranker.decision_function(X), plain.decision_function(X), atol=1e-10)
    assert_array_equal(ranker.predict(X) == "bad", plain.predict(X) == 1)


def test_groups_that_are_not_named_are_asked_for() -> None:
    with pytest.raises(ValueError, match=r"cv=GroupKFold\(\) keeps groups together"):
        HeadRanker(candidates="fast", cv=GroupKFold(4)).fit(X, Y)


def test_groups_stay_together_and_time_goes_forward() -> None:
    groups = np.arange(400) % 20
    ranker = HeadRanker(candidates="fast", cv=GroupKFold(4)).fit(X, Y, groups=groups)
    for training, test in ranker.folds_:
        assert not set(groups[training]) & set(groups[test])
    late = HeadRanker(candidates="fast", cv=TimeSeriesSplit(3)).fit(X, Y)
    assert all(training.max() < test.min() for training, test in late.folds_)
    assert np.isnan(late.oof_scores_[:100]).all()
    assert np.isfinite(late.oof_scores_[100:]).all()
    assert np.isfinite(late.decision_function(X)).all()


def test_a_second_stage_is_taken_where_it_gains() -> None:
    options: dict[str, Any] = {"candidates": "fast", "capacity": 0.1, **SOME}
    ranker = HeadRanker(refine=True, scoring="recall_at_0.1", **options).fit(X, Y)
    board = as_they_ran(ranker)
    result, first = board.iloc[-1], board.iloc[:2]["mean"].max()
    assert result["candidate"].endswith(", refined")
    assert result["setting"] == "mu"
    assert result["chosen"] == (result["note"] == "")
    assert result["mean"] > first or not result["chosen"]
    with pytest.raises(ValueError, match="set capacity too"):
        HeadRanker(refine=True).fit(X, Y)


def test_any_scorer_decides() -> None:
    def longest(estimator: Any, rows: Any, labels: Any) -> float:
        return float(np.abs(estimator.decision_function(rows)).mean())

    for scoring in ("roc_auc", "recall_at_0.1", longest):
        ranker = HeadRanker(candidates="fast", cv=2, scoring=scoring).fit(X, Y)
        assert ranker.scoring_ == scoring
        assert np.isfinite(ranker.leaderboard_["mean"]).all()


def test_a_row_without_weight_counts_for_nothing() -> None:
    weight = np.ones(400)
    weight[300:] = 0.0
    strange = X.copy()
    strange[300:] += 100.0
    parts = [(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))]
    options: dict[str, Any] = {"trees": False, "candidates": ["squashed", "bins"], "cv": parts}
    weighted = HeadRanker(**options).fit(strange, Y, sample_weight=weight)
    without = HeadRanker(**options).fit(X[:300], Y[:300])
    assert_allclose(weighted.decision_function(X), without.decision_function(X), atol=1e-6)


def test_estimators_of_others_race() -> None:
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    other = ("flat", LogisticRegression())
    ranker = HeadRanker(candidates=["columns", forest, other], trees=False, cv=3).fit(X, Y)
    *alone, ensemble = as_they_ran(ranker)["candidate"]
    assert alone == ["columns, logistic", "RandomForestClassifier", "flat"]
    assert {part.split(" ", 1)[1] for part in ensemble[10:].split(" + ")} <= set(alone)
    assert isinstance(ranker.best_estimator_, RandomForestClassifier)
    expected = clone(forest).fit(X, Y).predict_proba(X)[:, 1]
    assert_allclose(ranker.decision_function(X) + ranker.threshold_, expected)


def test_trees_beside_a_linear_score_are_for_comparison() -> None:
    ranker = HeadRanker(candidates="linear", **SOME).fit(X, Y)
    board = table_of(ranker)
    assert board["mean"]["trees"] > board["mean"]["columns, logistic"]
    assert not board["chosen"]["trees"]
    gain = 100 * (board["mean"]["trees"] - ranker.best_score_)
    assert f"Trees would be ahead by {gain:.1f} +- " in ranker.why_
    assert set(board["features"]) == {"columns", "columns as given"}
    assert not any(name.startswith("ensemble") for name in board.index)


def test_a_small_budget_leaves_the_first_candidate(whole: HeadRanker) -> None:
    ranker = HeadRanker(budget=1e-9, **SOME).fit(X, Y)
    board = as_they_ran(ranker)
    assert list(board["candidate"][:4]) == [
        "columns, logistic", "trees", "extra trees", "nystroem, logistic",
    ]  # fmt: skip
    assert len(board) == 10  # no ensemble of one
    assert board["chosen"][0]
    assert board["note"][1:].str.startswith("dropped").all()
    assert "nystroem, logistic was left out (dropped" in ranker.why_
    assert len(HeadRanker(budget=600, **SOME).fit(X, Y).leaderboard_) == len(whole.leaderboard_)


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    HeadRanker(candidates="fast", cv=2, verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "[##########..........] 1/2 columns, logistic",
        "[####################] 2/2 squashed, logistic",
    ]


@pytest.mark.parametrize(
    ("options", "count", "last"),
    [
        ({}, 9, "ensemble: 0."),
        ({"trees": False}, 7, "ensemble: "),
        ({"budget": 1e-9}, 11, "ensemble: dropped: the budget was spent"),
        ({"effort": "fast"}, 3, "ensemble: none, one candidate has all the weight"),
        ({"candidates": "linear"}, 4, "columns, p-norm push, p = 4: "),
        ({"candidates": ["columns"], "trees": False}, 1, "columns, logistic: "),
        ({"candidates": ["columns", "losses"], "trees": False}, 3, "columns, p-norm push"),
        ({"candidates": ["columns"], "effort": "fast", "scoring": "accuracy"}, 3,
         "ensemble: none, scoring needs more than scores"),
        ({"candidates": "fast", "capacity": 0.1, "refine": True}, 3, "columns, logistic, refined"),
    ],
)  # fmt: skip
def test_progress_ends_with_the_number_of_candidates(
    options: dict[str, Any], count: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    HeadRanker(**SOME, verbose=1, **options).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    done, total = np.array([line.split()[1].split("/") for line in lines]).astype(int).T
    assert list(done) == list(range(1, count + 1))
    assert (total >= done).all()
    assert total[-1] == count
    # Losses are announced, and may then not be tried.
    assert set(total) <= {count, count + 2 * (count == 9)}
    assert last in lines[-1]


def test_callbacks_are_told_of_every_candidate_and_may_end_the_race() -> None:
    pytest.importorskip("sklearn.callback")

    class Count:
        """A callback of scikit-learn that counts candidates, and asks to stop."""

        def __init__(self, most: int) -> None:
            self.most, self.seen = most, 0

        def setup(self, estimator: Any, context: Any) -> None:
            pass

        def teardown(self, estimator: Any, context: Any) -> None:
            pass

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            pass

        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
            self.seen += context.task_name == "iteration"
            return self.seen >= self.most

    patient, hasty = Count(99), Count(2)
    ranker = HeadRanker(**SOME).set_callbacks(patient).fit(X, Y)
    assert patient.seen == len(ranker.leaderboard_)
    board = as_they_ran(HeadRanker(**SOME).set_callbacks(hasty).fit(X, Y))
    assert board["mean"].notna().sum() == 2
    assert board["note"][2:].str.contains("asked to stop").all()


def test_a_table_goes_through_the_pipeline() -> None:
    table = pd.DataFrame(X[:, :3].copy(), columns=["a", "b", "c"])  # older pandas writes into X
    table["job"] = np.where(Y + RNG.normal(0, 0.3, 400) > 0.5, "clerk", "nurse")
    table.loc[::9, "a"] = np.nan
    pipeline = table_pipeline(HeadRanker(candidates="fast", cv=3)).fit(table, Y)
    assert average_precision(Y, pipeline.decision_function(table)) > 0.8


def test_sparse_rows_stay_sparse_and_are_scaled() -> None:
    rng = np.random.default_rng(2)
    filled = np.where(rng.random((300, 40)) < 0.1, rng.random((300, 40)), 0.0)
    rows, labels = sparse.csr_array(filled), (filled[:, :3].sum(axis=1) > 0.3).astype(int)
    ranker = HeadRanker(cv=3, random_state=0).fit(rows, labels)
    board = as_they_ran(ranker)
    assert list(board["features"][:3]) == ["as given", "unit rows", "largest 1"]
    # The classes all but separate.
    assert {"top push", "log/exp push, p = 16"} <= set(board["loss"])
    assert "trees" not in set(board["candidate"])
    dense = ranker.decision_function(rows)
    explained = ranker.explain(rows)
    assert sparse.issparse(explained.contributions)
    total = explained.baseline + np.asarray(explained.contributions.sum(axis=1)).ravel()
    assert_allclose(total, dense, atol=1e-9)
    assert {name for name, _ in explained.top(int(np.argmax(dense)), 1)} <= {"x0", "x1", "x2"}


def test_lightgbm_grows_the_trees_if_it_is_asked_to() -> None:
    pytest.importorskip("lightgbm", reason="an extra")
    ranker = HeadRanker(candidates=["columns"], trees="lightgbm", **SOME).fit(X, Y)
    board = table_of(ranker)
    assert board["mean"]["trees"] > board["mean"]["columns, logistic"]
    for model, (_, test) in zip(ranker.fold_models_, ranker.folds_, strict=True):
        assert_allclose(model.decision_function(X[test]), ranker.oof_scores_[test], atol=1e-6)
