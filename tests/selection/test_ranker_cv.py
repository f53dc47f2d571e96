"""RankerCV: equal to fits on copies of the folds, one by one; choices, warnings, bad input."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from support.sklearn_checks import LABELS_SWAPPED, no_weights_as_repeats
from support.toy_rows import overlapping
from toprank import GridEdgeWarning, LogisticRank, PNormPush, RankSVM, RectPushApp, TopPush
from toprank.metrics import average_precision, get_scorer
from toprank.selection import RankerCV

# These grids are short.
pytestmark = pytest.mark.filterwarnings("ignore::toprank.GridEdgeWarning")

X, Y = overlapping()
ALPHAS = [10.0, 1.0, 0.1]
FOLDS = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, Y))


@pytest.mark.filterwarnings(
    "ignore::toprank.TrivialSolutionWarning", "ignore::toprank.PositiveLabelWarning"
)
@pytest.mark.filterwarnings("ignore::toprank.GridEdgeWarning")
@parametrize_with_checks(
    [RankerCV(RectPushApp(), alphas=2, cv=2)],
    expected_failed_checks=lambda _: no_weights_as_repeats(LABELS_SWAPPED),
)
def test_scikit_learn_finds_no_fault(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", [RectPushApp, PNormPush, TopPush])
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_folds_are_those_of_copies(kind: Any, form: Any) -> None:
    ranker = kind(tol=1e-10)
    found = RankerCV(ranker, ALPHAS, cv=FOLDS, rule=lambda *_: 1).fit(form(X), Y)
    scores = np.zeros((4, 3))
    for k, (training, test) in enumerate(FOLDS):
        for place, alpha in enumerate(ALPHAS):
            alone = clone(ranker).set_params(alpha=alpha).fit(X[training], Y[training])
            decisions = alone.decision_function(X[test])
            scores[k, place] = average_precision(Y[test], decisions)
            if place == 1:
                assert_allclose(found.oof_scores_[test], decisions, atol=1e-4)
                assert_allclose(found.fold_rankers_[k].coef_, alone.coef_, atol=1e-4)
    table = pd.DataFrame(found.cv_results_)
    assert_allclose(table.pivot(index="fold", columns="alpha", values="score")[ALPHAS], scores)
    assert_allclose(found.mean_scores_, scores.mean(axis=0))
    assert_allclose(found.score_errors_, scores.std(axis=0, ddof=1) / 2.0)
    whole = clone(ranker).set_params(alpha=1.0).fit(form(X), Y)
    assert_array_equal(found.coef_, whole.coef_)
    assert_array_equal(found.decision_function(X), whole.decision_function(X))
    assert found.certificate_ == whole.certificate_
    assert found.best_estimator_.alpha == found.alpha_ == 1.0
    for (training, test), (mine, held_out) in zip(FOLDS, found.folds_, strict=True):
        assert_array_equal(training, mine)
        assert_array_equal(test, held_out)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", [LogisticRank, RectPushApp, PNormPush, RankSVM, TopPush])
@pytest.mark.parametrize("most", [0, 1 << 24])
@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
def test_a_fold_knows_nothing_of_the_rows_it_holds_out(
    kind: Any, form: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A start taken from another fold would save passes, and carry these rows into the fit: within
    # the tolerance weights are free, and at a large alpha their scores are not.
    monkeypatch.setattr("toprank.selection.fold_path.MOST_COPIED", most)
    ranker = kind(tol=1e-2)
    if hasattr(ranker, "random_state"):
        ranker.random_state = 0
    rng, n = np.random.default_rng(0), 9000
    rows = rng.normal(size=(n, 4))
    y = (rows[:, 0] + rng.normal(size=n) > 1.0).astype(int)
    folds = list(StratifiedKFold(3).split(rows, y))
    for k in (0, -1):
        held_out, other = folds[k][1], rows.copy()
        other[held_out] = np.roll(rows[held_out], 1, axis=0)
        one, two = (
            RankerCV(ranker, ALPHAS, cv=folds, rule=lambda *_: 0).fit(form(own), y).fold_rankers_[k]
            for own in (rows, other)
        )
        assert_array_equal(one.coef_, two.coef_)
        assert_array_equal(one.intercept_, two.intercept_)


def test_processes_give_the_same_bits() -> None:
    one, two = (
        RankerCV(RectPushApp(), ALPHAS, cv=FOLDS[:2], n_jobs=jobs).fit(X + 1e5, Y)
        for jobs in (1, 2)
    )
    assert_array_equal(one.oof_scores_, two.oof_scores_)
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.mean_scores_, two.mean_scores_)


def test_weights_are_repeated_rows_within_folds() -> None:
    weight = np.random.default_rng(3).integers(0, 3, len(Y))
    fold_of = np.arange(len(Y)) % 3
    repeated = np.repeat(np.arange(len(Y)), weight)

    def folds(of: Any) -> list[Any]:
        return [(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(3)]

    ranker = RectPushApp(tol=1e-11)
    weighted = RankerCV(ranker, ALPHAS, cv=folds(fold_of)).fit(X, Y, weight)
    copied = RankerCV(ranker, ALPHAS, cv=folds(fold_of[repeated])).fit(X[repeated], Y[repeated])
    assert_allclose(weighted.mean_scores_, copied.mean_scores_, rtol=1e-9)
    assert_allclose(weighted.oof_scores_[repeated], copied.oof_scores_, atol=1e-5)
    assert weighted.alpha_ == copied.alpha_


def test_groups_and_time_are_split_by_their_splitters() -> None:
    groups = np.arange(len(Y)) // 3
    found = RankerCV(RectPushApp(), ALPHAS, cv=GroupKFold(3)).fit(X, Y, groups=groups)
    assert all(not set(groups[a]) & set(groups[b]) for a, b in found.folds_)
    late = RankerCV(RectPushApp(), ALPHAS, cv=TimeSeriesSplit(3)).fit(X, Y)
    assert np.isnan(late.oof_scores_[: late.folds_[0][1][0]]).all()
    assert np.isfinite(late.oof_scores_[late.folds_[0][1][0] :]).all()


def test_rules() -> None:
    alphas = np.geomspace(100.0, 1e-3, 6)
    best = RankerCV(RectPushApp(), alphas, cv=FOLDS).fit(X, Y)
    place = int(np.argmax(best.mean_scores_))
    assert best.alpha_ == best.alphas_[place]
    within = best.mean_scores_ >= best.mean_scores_[place] - best.score_errors_[place]
    careful = RankerCV(RectPushApp(), alphas, cv=FOLDS, rule="1se").fit(X, Y)
    assert careful.alpha_ == best.alphas_[within].max()
    last = RankerCV(RectPushApp(), alphas, cv=FOLDS, rule=lambda alphas, *_: len(alphas) - 1)
    assert last.fit(X, Y).alpha_ == best.alphas_[-1]
    for wrong in (6, -1, 1.5, None):
        with pytest.raises(ValueError, match="rule must return a place among the 6 alphas"):
            RankerCV(RectPushApp(), alphas, cv=FOLDS, rule=lambda *_, at=wrong: at).fit(X, Y)


def prefers(alpha: float) -> Any:
    """A scorer that likes fits at this alpha best, and says a little less of every fold."""
    return lambda ranker, X, y: -abs(np.log(ranker.alpha / alpha)) - len(y) / 1e3


@pytest.mark.parametrize("power", [-8, 2])
def test_a_grid_is_extended_to_the_best_alpha(power: int) -> None:
    plain = RankerCV(RectPushApp(), cv=FOLDS, scoring=prefers(1.0)).fit(X, Y)
    unit = plain.alphas_[0]
    assert len(plain.alphas_) == 9
    wanted = unit * 10.0**power
    found = RankerCV(RectPushApp(), cv=FOLDS, scoring=prefers(wanted)).fit(X, Y)
    assert abs(np.log10(found.alpha_ / wanted)) <= 0.375
    assert len(found.alphas_) > 9
    assert (np.diff(found.alphas_) < 0).all()
    assert_allclose(found.alphas_[1:] / found.alphas_[:-1], 10.0**-0.75)
    assert len(found.cv_results_["alpha"]) == 4 * len(found.alphas_)


def test_columns_of_any_scale_find_their_alpha() -> None:
    # Money in one column beside a few that are small: the best alpha is far above 1.
    rng = np.random.default_rng(5)
    scale = np.array([3000.0, 50.0, 1.0, 1.0])
    rows = rng.normal(size=(300, 4))
    label = (rows[:, 0] + 2.0 * rng.logistic(size=300) > 2.0).astype(int)
    found = RankerCV(LogisticRank(random_state=0), cv=4).fit(rows * scale, label)
    ends = found.mean_scores_[[0, -1]]
    assert found.alpha_ >= 100.0
    assert found.mean_scores_.max() >= ends.max()
    short = np.geomspace(1e-5, 0.1, 5)  # the grid of one who thinks of standardised columns
    told = RankerCV(LogisticRank(random_state=0), short, cv=4).fit(rows * scale, label)
    assert found.mean_scores_.max() > told.mean_scores_.max()


def test_a_large_matrix_is_shared_by_its_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = RankerCV(RectPushApp(tol=1e-9), ALPHAS, cv=FOLDS).fit(X, Y)
    monkeypatch.setattr("toprank.selection.fold_path.MOST_COPIED", 0)
    shared = RankerCV(RectPushApp(tol=1e-9), ALPHAS, cv=FOLDS).fit(X, Y)
    assert_allclose(shared.oof_scores_, copied.oof_scores_, atol=1e-4)
    assert_allclose(shared.mean_scores_, copied.mean_scores_)


@pytest.mark.parametrize("most", [0, 1 << 24])
def test_a_row_that_a_splitter_names_twice_counts_twice(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("toprank.selection.fold_path.MOST_COPIED", most)
    twice = np.concatenate([np.arange(120), np.arange(40)])
    found = RankerCV(RectPushApp(tol=1e-9), [0.1], cv=[(twice, np.arange(120, 200))]).fit(X, Y)
    alone = RectPushApp(tol=1e-9, alpha=0.1).fit(X[twice], Y[twice])
    assert_allclose(found.fold_rankers_[0].coef_, alone.coef_, atol=1e-5)


def test_columns_that_drift_are_centred_in_every_fold() -> None:
    time = np.repeat([0.0, 1e3, 2e3, 3e3], 50)
    rows = X[np.argsort(np.arange(200) % 4, kind="stable")].copy()
    label = Y[np.argsort(np.arange(200) % 4, kind="stable")]
    rows[:, 0] += time
    found = RankerCV(RectPushApp(tol=1e-7), [0.1], cv=TimeSeriesSplit(3)).fit(rows, label)
    for ranker, (training, test) in zip(found.fold_rankers_, found.folds_, strict=True):
        alone = RectPushApp(tol=1e-7, alpha=0.1).fit(rows[training], label[training])
        scores = alone.decision_function(rows[test])
        size = np.abs(scores).max()
        assert_allclose(found.oof_scores_[test], scores, atol=1e-3 * size)
        assert_allclose(ranker.decision_function(rows[test]), scores, atol=1e-3 * size)


def test_probabilities_where_the_ranker_has_them() -> None:
    found = RankerCV(LogisticRank(random_state=0), ALPHAS, cv=FOLDS).fit(X, Y)
    assert_array_equal(found.predict_proba(X), found.best_estimator_.predict_proba(X))
    assert not hasattr(RankerCV(RectPushApp()), "predict_proba")
    logs = RankerCV(LogisticRank(random_state=0), ALPHAS, cv=FOLDS, scoring="neg_log_loss")
    assert (logs.fit(X, Y).mean_scores_ < 0).all()


def test_copies_searches_and_tables() -> None:
    table = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    found = RankerCV(RectPushApp(), ALPHAS, cv=3).fit(table, pd.Series(Y))
    assert found.feature_names_in_.tolist() == list(table.columns)
    assert found.fold_rankers_[0].feature_names_in_.tolist() == list(table.columns)
    again = pickle.loads(pickle.dumps(found))
    assert_array_equal(again.decision_function(table), found.decision_function(table))
    assert not hasattr(clone(found), "alpha_")
    search = GridSearchCV(
        RankerCV(RectPushApp(), [1.0, 0.1], cv=2),
        {"estimator__p": [1, 4], "rule": ["best", "1se"]},
        scoring=get_scorer("average_precision"),
        cv=2,
    ).fit(X, Y)
    assert search.best_estimator_.estimator.p == search.best_params_["estimator__p"]
    with config_context(enable_metadata_routing=True):
        routed = RankerCV(RectPushApp(), [1.0, 0.1], cv=GroupKFold(3)).set_fit_request(groups=True)
        groups = np.arange(len(Y)) // 4
        outer = GridSearchCV(routed, {"estimator__p": [1, 4]}, cv=GroupKFold(2))
        inner = outer.fit(X, Y, groups=groups).best_estimator_
    assert all(not set(groups[a]) & set(groups[b]) for a, b in inner.folds_)


def test_the_edge_of_a_grid_is_told() -> None:
    with pytest.warns(GridEdgeWarning, match="best alpha, 10, is the largest of those tried"):
        RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, scoring=prefers(100.0)).fit(X, Y)
    with pytest.warns(GridEdgeWarning, match=r"best alpha, 0\.1, is the smallest"):
        RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, scoring=prefers(1e-4)).fit(X, Y)
    with pytest.warns(GridEdgeWarning, match="smallest of those tried"):  # extended in vain
        RankerCV(RectPushApp(), 2, cv=FOLDS, scoring=prefers(1e-99)).fit(X, Y)


def test_scores_by_names_of_scikit_learn_and_by_callables() -> None:
    by_name = RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, scoring="auc").fit(X, Y)
    theirs = RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, scoring="roc_auc").fit(X, Y)
    called = RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, scoring=get_scorer("auc")).fit(X, Y)
    assert_allclose(by_name.mean_scores_, theirs.mean_scores_, rtol=1e-12)
    assert_array_equal(by_name.mean_scores_, called.mean_scores_)
    accuracy = RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, scoring="accuracy").fit(X, Y)
    assert ((accuracy.mean_scores_ > 0.5) & (accuracy.mean_scores_ < 1.0)).all()
    with pytest.raises(ValueError, match="scoring='aucc' is known neither here nor to scikit"):
        RankerCV(RectPushApp(), scoring="aucc").fit(X, Y)


def test_labels_in_words_are_ranked_as_told() -> None:
    words = np.where(Y == 1, "fraud", "ok")
    plain = RankerCV(RectPushApp(), ALPHAS, cv=FOLDS).fit(X, Y)
    told = RankerCV(RectPushApp(pos_label="fraud"), ALPHAS, cv=FOLDS).fit(X, words)
    assert told.classes_.tolist() == ["ok", "fraud"]
    assert_array_equal(told.mean_scores_, plain.mean_scores_)
    assert told.score(X, words) == plain.score(X, Y)


def test_folds_of_one_class_are_left_out() -> None:
    order = np.argsort(Y, kind="stable")
    n = int((Y == 0).sum())
    folds = [*FOLDS, (np.delete(order, np.s_[: n // 2]), order[: n // 2])]
    with pytest.warns(UserWarning, match="1 of the 5 folds hold out rows of one class only"):
        found = RankerCV(RectPushApp(), ALPHAS, cv=folds).fit(X, Y)
    plain = RankerCV(RectPushApp(), ALPHAS, cv=FOLDS).fit(X, Y)
    assert_allclose(found.mean_scores_, plain.mean_scores_)
    with pytest.raises(ValueError, match="Every fold of cv holds out rows of one class only"):
        RankerCV(RectPushApp(), ALPHAS, cv=folds[4:]).fit(X, Y)
    with pytest.raises(ValueError, match="holds no negative row of weight above zero"):
        RankerCV(RectPushApp(), ALPHAS, cv=LeaveOneGroupOut()).fit(X, Y, groups=Y)


def test_folds_that_stop_short_are_told_once() -> None:
    with pytest.warns(ConvergenceWarning) as told:
        RankerCV(RectPushApp(max_iter=1, tol=1e-12), ALPHAS, cv=FOLDS).fit(X, Y)
    assert any("4 of the 4 folds stopped short of tol" in str(one.message) for one in told)
    assert len(told) <= 2  # the folds, and the fit on all rows
    assert any("RectPushApp stopped after 1 iter" in str(one.message) for one in told)
    assert any("above tol=1e-12" in str(one.message) for one in told)


def test_without_a_refit_only_the_folds_can_be_looked_at() -> None:
    found = RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, refit=False).fit(X, Y)
    assert len(found.fold_rankers_) == 4
    with pytest.raises(NotFittedError, match="fitted with refit=False"):
        found.decision_function(X)


def test_what_cannot_be_chosen_is_refused_in_plain_words() -> None:
    with pytest.raises(ValueError, match=r"cv=GroupKFold\(\) keeps groups together"):
        RankerCV(RectPushApp(), ALPHAS, cv=GroupKFold(3)).fit(X, Y)
    with pytest.raises(ValueError, match="scoring gives no number for alpha=10"):
        RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, scoring=lambda *_: np.nan).fit(X, Y)
    with pytest.raises(ValueError, match="There are 1 positive and 199 negative rows"):
        RankerCV(RectPushApp()).fit(X, np.arange(len(Y)) == 7)
    few = np.isin(np.arange(len(Y)), (7, 90))
    assert len(RankerCV(RectPushApp(), ALPHAS, cv=5).fit(X, few).folds_) == 2


def test_as_the_last_step_of_a_pipeline() -> None:
    piped = make_pipeline(StandardScaler(), RankerCV(RectPushApp(), ALPHAS)).fit(X, Y)
    direct = RankerCV(RectPushApp(), ALPHAS).fit(StandardScaler().fit_transform(X), Y)
    assert_array_equal(
        piped.decision_function(X[:5]), direct._decide(StandardScaler().fit(X).transform(X[:5]))
    )


def test_verbose_prints_a_line_a_fold(capsys: pytest.CaptureFixture[str]) -> None:
    RankerCV(RectPushApp(), ALPHAS, cv=FOLDS, verbose=1).fit(X, Y)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("fold")]
    assert len(lines) == 4
    assert "3 alphas from 10 to 0.1" in lines[0]
