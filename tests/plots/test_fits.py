"""Pictures of fits and of comparisons: what is drawn is what was measured."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from toprank import BBR, HeadRanker, LogisticRank, RankBoost, RectPush, RectPushApp
from toprank.plots import (
    ConvergenceDisplay,
    CriticalDifferenceDisplay,
    LeaderboardDisplay,
    PathDisplay,
    WhyDisplay,
)
from toprank.selection import RankerCV, critical_difference
from toprank.trees import from_model

RNG = np.random.default_rng(1)
X = RNG.normal(size=(120, 4))
Y = X @ [2.0, -1.0, 0.5, 0.0] + RNG.normal(size=120) > 1


@pytest.fixture(scope="module")
def searches() -> dict[str, RankerCV]:
    return {
        "app": RankerCV(RectPushApp(), [1.0, 0.1, 0.01], cv=3, rule="1se").fit(X, Y),
        "push": RankerCV(RectPush(), [10.0, 0.1], cv=3, rule="1se").fit(X, Y),
    }


def test_a_path_is_means_and_errors_of_the_folds(searches: dict[str, RankerCV]) -> None:
    display = PathDisplay.from_estimator(searches)
    for name, search in searches.items():
        frame = pd.DataFrame(search.cv_results_).groupby("alpha")["score"]
        means, errors = frame.mean()[::-1], frame.sem()[::-1]
        line, _, (bars,) = display.bars_[name]
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([means.index, means]))
        ends = np.array(bars.get_segments())[:, :, 1]
        np.testing.assert_allclose(ends, np.column_stack([means - errors, means + errors]))
    low, high = display.ax_.get_ylim()
    assert low < ends.min() < ends.max() < high
    rings = [line.get_xdata() for line in display.ax_.lines if line.get_fillstyle() == "none"]
    assert rings[:2] == [[search.alpha_] for search in searches.values()]
    assert display.ax_.get_ylabel().startswith("average precision")


def test_bars_at_one_alpha_are_drawn_apart(searches: dict[str, RankerCV]) -> None:
    display = PathDisplay.from_estimator([searches["app"], searches["app"]])
    assert list(display.bars_) == ["RectPushApp", "RectPushApp 2"]
    display.figure_.canvas.draw()
    one, two = (bars[0] for bars in display.bars_.values())
    first = one.get_transform().transform(one.get_xydata())
    second = two.get_transform().transform(two.get_xydata())
    assert (second[:, 0] - first[:, 0] > 2).all()


def test_paths_that_cannot_be_drawn(searches: dict[str, RankerCV]) -> None:
    with pytest.raises(ValueError, match="RectPush has no cv_results_"):
        PathDisplay.from_estimator(RankerCV(RectPush()))
    other = RankerCV(RectPush(), [1.0, 0.1], cv=3, rule="1se", scoring="precision_at_5").fit(X, Y)
    with pytest.raises(ValueError, match="two measures"):
        PathDisplay.from_estimator([searches["app"], other])
    with pytest.raises(ValueError, match="estimators is empty"):
        PathDisplay.from_estimator([])


@pytest.mark.parametrize("against", ["passes", "seconds", "iteration"])
def test_convergence_is_the_history(against: str) -> None:
    fits = [RectPush(alpha=0.1).fit(X, Y), make_pipeline(StandardScaler(), RectPush()).fit(X, Y)]
    display = ConvergenceDisplay.from_estimator(fits, against=against)
    for line, fit in zip(display.lines_.values(), (fits[0], fits[1][-1]), strict=True):
        x, gap = line.get_data()
        np.testing.assert_array_equal(x, fit.history_[against])
        np.testing.assert_array_equal(gap, np.maximum(fit.history_["relative_gap"], 1e-16))
    assert list(display.lines_) == ["RectPush", "RectPush 2"]
    assert display.tol_line_.get_ydata()[0] == fits[0].tol
    assert display.ax_.get_yscale() == "log"


def test_rows_without_a_gap_are_left_out() -> None:
    rows = [(1, np.nan), (2, 0.5), (3, 0.0)]
    history = np.array(rows, dtype=[("passes", float), ("relative_gap", float)])
    display = ConvergenceDisplay.from_estimator(
        {"a": SimpleNamespace(history_=history)}, xscale="log"
    )
    assert display.lines_["a"].get_xydata().tolist() == [[2, 0.5], [3, 1e-16]]
    assert display.tol_line_ is None
    assert display.ax_.get_xscale() == "log"


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (RectPush(), "RectPush has no history_"),
        (LogisticRegression(), "LogisticRegression has no history_"),
        (SimpleNamespace(history_=np.zeros(3)), "no column relative_gap"),
        (
            SimpleNamespace(
                history_=np.array([(1.0, np.nan)], [("passes", "f8"), ("relative_gap", "f8")])
            ),
            "knows no gap",
        ),
    ],
)
def test_fits_without_a_history_are_named(ranker: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConvergenceDisplay.from_estimator(ranker)


def test_what_a_gap_is_drawn_against_is_checked() -> None:
    fit = RectPush().fit(X, Y)
    with pytest.raises(ValueError, match="against must be one of"):
        ConvergenceDisplay.from_estimator(fit, against="time")
    with pytest.raises(ValueError, match="xscale must be one of"):
        ConvergenceDisplay.from_estimator(fit, xscale="cubic")


def brute_groups(average: np.ndarray, difference: float) -> set[frozenset[int]]:
    """Sets of methods within the difference of each other, none inside another."""
    order = np.argsort(average)
    runs = {
        frozenset(order[a : b + 1].tolist())
        for a in range(len(order))
        for b in range(a + 1, len(order))
        if average[order[b]] - average[order[a]] <= difference
    }
    return {run for run in runs if not any(run < other for other in runs)}


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0, 3.0])
def test_bars_join_what_the_test_does_not_tell_apart(spread: float) -> None:
    figures = RNG.normal(size=(12, 6)) + spread * np.arange(6)
    names = list("abcdef")
    display = CriticalDifferenceDisplay.from_figures(pd.DataFrame(figures, columns=names))
    average = np.array([[1 + (row > figure).sum() for figure in row] for row in figures]).mean(
        axis=0
    )
    np.testing.assert_allclose(display.average_ranks, average)
    groups = brute_groups(average, critical_difference(6, 12))
    assert {frozenset(names.index(n) for n in group) for group in display.groups_} == groups
    assert len(display.bars_) == len(groups)
    for bar, group in zip(display.bars_, display.groups_, strict=True):
        places = [average[names.index(name)] for name in group]
        np.testing.assert_allclose(bar.get_xdata(), [min(places) - 0.03, max(places) + 0.03])
    for name, stem in display.stems_.items():
        assert stem.get_xdata()[0] == pytest.approx(average[names.index(name)])
    rows = [(stem.get_xdata()[-1] > 3, stem.get_ydata()[-1]) for stem in display.stems_.values()]
    assert len(set(rows)) == 6  # no name on another


def test_tables_that_cannot_be_ranked() -> None:
    with pytest.raises(ValueError, match="2 names for 3 methods"):
        CriticalDifferenceDisplay.from_figures(np.eye(3), ["a", "b"])
    with pytest.raises(ValueError, match="differ from one another"):
        CriticalDifferenceDisplay.from_figures(np.eye(3), ["a", "b", "a"])
    with pytest.raises(ValueError, match="NaN at set 0"):
        CriticalDifferenceDisplay.from_figures(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="level must be"):
        CriticalDifferenceDisplay.from_figures(np.eye(3), level=2.0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_contributions_add_up_to_the_score(form: Any) -> None:
    ranker = BBR().fit(X, Y)
    display = WhyDisplay.from_estimator(ranker, form(X), k=7, n_features=2)
    scores = ranker.decision_function(X)
    top = np.argsort(-scores, kind="stable")[:7]
    np.testing.assert_array_equal(display.rows, top)
    np.testing.assert_allclose(display.contributions.sum(axis=1), scores[top] - scores.mean())
    np.testing.assert_allclose(display.scores, scores[top] - scores.mean())
    parts = ranker.coef_[0] * (X[top] - X.mean(axis=0))
    largest = np.argsort(-np.abs(parts).mean(axis=0))[:2]
    np.testing.assert_allclose(display.contributions[:, :2], parts[:, largest])
    assert display.features == [*(f"x{j}" for j in largest), "2 others"]
    np.testing.assert_array_equal(display.image_.get_array(), display.contributions)


def test_a_pipeline_is_explained_by_what_its_last_step_sees() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"id{i}" for i in range(len(X))])
    model = make_pipeline(StandardScaler(), LogisticRank(random_state=0)).fit(frame, Y)
    display = WhyDisplay.from_estimator(model, frame, k=3)
    scores = model.decision_function(frame)
    np.testing.assert_allclose(display.contributions.sum(axis=1), display.scores)
    np.testing.assert_allclose(display.scores, np.sort(scores)[::-1][:3] - scores.mean())
    assert sorted(display.features) == list("abcd")
    assert display.row_names == [f"id{i}" for i in np.argsort(-scores)[:3]]
    words = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert words[0].startswith(f"1. {display.row_names[0]} (+")
    nameless = make_pipeline(FunctionTransformer(), BBR()).fit(X, Y)
    assert set(WhyDisplay.from_estimator(nameless, X).features) == {f"x{j}" for j in range(4)}


def test_a_search_is_explained_by_its_choice() -> None:
    search = GridSearchCV(make_pipeline(StandardScaler(), BBR()), {"bbr__alpha": [1.0, 0.1]})
    search.fit(X, Y)
    one = WhyDisplay.from_estimator(search, X, k=4)
    two = WhyDisplay.from_estimator(search.best_estimator_, X, k=4)
    np.testing.assert_array_equal(one.contributions, two.contributions)
    assert list(ConvergenceDisplay.from_estimator(search).lines_) == ["BBR"]


@pytest.mark.parametrize("scaled", [False, True])
def test_a_head_ranker_explains_itself(scaled: bool) -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = HeadRanker(candidates="fast", cv=3, random_state=0)
    model = make_pipeline(StandardScaler(), ranker) if scaled else ranker
    model.fit(frame, Y)
    display = WhyDisplay.from_estimator(model, frame, k=5)
    scores = model.decision_function(frame)
    np.testing.assert_array_equal(display.rows, np.argsort(-scores, kind="stable")[:5])
    np.testing.assert_allclose(display.contributions.sum(axis=1), display.scores)
    assert np.ptp(display.scores - scores[display.rows]) == pytest.approx(0, abs=1e-9)
    assert set(display.features) <= {*"abcd", "interplay"}
    assert "the row of medians" in display.ax_.get_title()


def test_what_no_feature_can_be_given_is_shown() -> None:
    class Product(BBR):
        def explain(self, rows: Any) -> Any:
            score = self.decision_function(rows)
            parts = np.column_stack([score / 4, score / 4, 0 * score, 0 * score])
            return SimpleNamespace(contributions=parts, baseline=0.0, remainder=score / 2)

    display = WhyDisplay.from_estimator(Product().fit(X, Y), X, k=3)
    assert display.features[0] == "interplay"
    np.testing.assert_allclose(display.contributions.sum(axis=1), display.scores)


def test_a_list_shorter_than_k_is_shown_whole() -> None:
    ranker = LogisticRank(random_state=0).fit(X, Y)
    head = HeadRanker(candidates="linear", cv=2, random_state=0).fit(X, Y)
    for model in (ranker, head):
        display = WhyDisplay.from_estimator(model, X[:3], k=10)
        order = np.argsort(-model.decision_function(X[:3]), kind="stable")
        assert display.rows.tolist() == order.tolist()


def test_the_leaderboard_is_drawn_from_the_chosen_candidate_down() -> None:
    ranker = HeadRanker(candidates="fast", cv=3, random_state=0).fit(X, Y)
    board = ranker.leaderboard_
    display = LeaderboardDisplay.from_estimator(make_pipeline(StandardScaler(), ranker))
    assert display.candidates[0] == board["candidate"][board["chosen"]].item()
    others = board[~board["chosen"] & board["mean"].notna()].sort_values("mean", ascending=False)
    assert display.candidates[1:] == others["candidate"].tolist()
    assert np.array_equal(display.means[1:], others["mean"])
    assert np.array_equal(display.errors[1:], others["error"])
    points, _, bars = display.bars_.lines
    assert np.array_equal(points.get_xdata(), display.means)
    for bar, mean, error in zip(bars[0].get_segments(), display.means, display.errors, strict=True):
        np.testing.assert_allclose(bar[:, 0], [mean - error, mean + error])
    assert display.chosen_.get_xdata() == [ranker.best_score_]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == display.candidates
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the chosen one on top
    one = LeaderboardDisplay.from_estimator(ranker, n_candidates=1)
    assert one.candidates == display.candidates[:1]


def test_a_leaderboard_without_pandas_and_with_a_candidate_that_did_not_run() -> None:
    class Ranker:
        leaderboard_: ClassVar = {
            "candidate": np.array(["a", "b", "c"]),
            "mean": np.array([0.4, np.nan, 0.6]),
            "error": np.array([0.1, np.nan, 0.2]),
            "chosen": np.array([True, False, False]),
        }
        scoring_ = "average_precision"

    display = LeaderboardDisplay.from_estimator(Ranker())
    assert display.candidates == ["a", "c"]
    assert display.means.tolist() == [0.4, 0.6]


def test_leaderboards_that_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="LogisticRank has no leaderboard_: pass a HeadRanker"):
        LeaderboardDisplay.from_estimator(LogisticRank())
    ranker = HeadRanker(candidates="linear", cv=2, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="use LeaderboardDisplay"):
        PathDisplay.from_estimator(ranker)
    with pytest.raises(ValueError, match="n_candidates must be"):
        LeaderboardDisplay.from_estimator(ranker, n_candidates=0)


def test_trees_explain_themselves() -> None:
    model = HistGradientBoostingClassifier(max_iter=10).fit(X, Y)
    trees = from_model(model)
    display = WhyDisplay.from_estimator(trees, X, k=3)
    first = np.argsort(-model.decision_function(X), kind="stable")[:3]
    np.testing.assert_allclose(
        display.contributions.sum(axis=1), model.decision_function(X)[first] - trees.baseline
    )
    assert display.compared_with == "the mean training row"


def test_rows_that_cannot_be_explained() -> None:
    ranker = BBR().fit(X, Y)
    with pytest.raises(NotFittedError):
        WhyDisplay.from_estimator(BBR(), X)
    with pytest.raises(ValueError, match="RankBoost has neither coef_ nor explain"):
        WhyDisplay.from_estimator(RankBoost().fit(X, Y), X)
    with pytest.raises(ValueError, match="weights of 3 scores"):
        WhyDisplay.from_estimator(LogisticRegression().fit(X, np.arange(120) % 3), X)
    with pytest.raises(ValueError, match="4 weights"):
        WhyDisplay.from_estimator(ranker, X[:, :3])
    with pytest.raises(ValueError, match="feature_names has 3 names for 4"):
        WhyDisplay.from_estimator(ranker, X, feature_names=list("abc"))
    with pytest.raises(ValueError, match="row_names has 3 names for 120"):
        WhyDisplay.from_estimator(ranker, X, row_names=list("abc"))
