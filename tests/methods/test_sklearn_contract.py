"""Estimators among scikit-learn's tools: its own checks, weights, routing, searches, callbacks."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import RocCurveDisplay, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import toprank
from support.sklearn_checks import LABELS_SWAPPED, no_weights_as_repeats
from support.toy_rows import overlapping
from support.versions import names_of_polars
from toprank import (
    AATP,
    CRR,
    OAM,
    OWPC,
    SVMMAP,
    WSVM,
    HeadRanker,
    LPPair,
    QuantileSigmoid,
    RankBoost,
    RectPushApp,
    SoftMarginRank,
    SoftRankBoost,
    TopPush,
    methods,
)
from toprank.methods.online.base import StreamRanker
from toprank.methods.sampling.base import ActiveSamplingRanker
from toprank.methods.squared.pair_ranker import PairRanker
from toprank.metrics import get_scorer

X, Y = overlapping()

ESTIMATORS = [
    estimator
    for name in ("HeadRanker", *methods.__all__)
    if inspect.isclass(estimator := getattr(toprank, name)) and issubclass(estimator, BaseEstimator)
]
VARIANTS: list[BaseEstimator] = [
    *(
        estimator()
        for estimator in ESTIMATORS
        if estimator not in (AATP, HeadRanker, QuantileSigmoid)
    ),
    HeadRanker(candidates="fast", cv=2),  # all candidates would take minutes here
    AATP(tau=0.5),  # it predicts that share, and a check counts errors
    QuantileSigmoid(fraction=0.5),  # so does this
    TopPush(solver="dual-descent"),
    TopPush(loss="logistic"),
    TopPush(loss="exponential"),
    RectPushApp(loss="logistic"),
    RectPushApp(loss="exponential"),
    CRR(loss="squared", average=True),
    CRR(gamma=1.0),
    OAM(update="gradient"),
    RankBoost(weak_learners="linear"),
    RankBoost(weak_learners="thresholds", p=4, selection="z"),
    SoftRankBoost(weak_learners="linear", n_estimators=100),
    LPPair(weak_learners="stumps"),
    SoftMarginRank(weak_learners="stumps"),
]


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    """The checks that do not apply, and why."""
    found, reason = {}, ""
    if isinstance(estimator, OWPC):
        refused = "weighs negatives differently: their places are counted, and that is refused"
        found = {"check_sample_weights_not_overwritten": refused}
    elif isinstance(estimator, SVMMAP):
        reason = "average precision counts rows: weights that differ are refused"
        found = {"check_sample_weights_not_overwritten": reason}
    elif estimator.get_params().get("solver") == "dual-descent" or isinstance(estimator, WSVM):
        reason = (
            "asks for scores equal to 1e-7; descent ends within `tol` of the optimum, not on it"
        )
    elif isinstance(estimator, HeadRanker):
        reason = "asks for scores equal to 1e-7; repeated rows make other folds"
    elif isinstance(estimator, ActiveSamplingRanker):
        reason = "asks for scores equal to 1e-7; repeated rows make other pairs, and other draws"
    elif isinstance(estimator, StreamRanker | PairRanker) and not isinstance(estimator, OAM):
        reason = "asks for scores equal to 1e-7; copies of a row are other draws, or several steps"
    return found | no_weights_as_repeats(reason or LABELS_SWAPPED)


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")  # the checks' noise labels
@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")  # ... are 1 and 2, or words
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_finds_no_fault(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_check_is_excused_by_a_tag(estimator: Any) -> None:
    tags = estimator().__sklearn_tags__()
    assert not tags.no_validation
    assert not tags.non_deterministic
    assert not tags.classifier_tags.poor_score
    assert tags.input_tags.sparse
    assert tags.target_tags.required
    assert not tags.classifier_tags.multi_class


SOLVED = [
    {"solver": "newton"},
    {"solver": "newton", "loss": "logistic"},
    {"solver": "newton", "loss": "exponential"},
    {"solver": "dual-descent"},
    {"solver": "dual-descent", "loss": "logistic"},
]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("options", SOLVED)
def test_weights_are_repeated_rows(options: dict[str, str], form: Any) -> None:
    weight = np.random.default_rng(1).integers(0, 4, len(Y))
    exact = options["solver"] == "newton"
    ranker = TopPush(1e-2, tol=1e-13 if exact else 1e-9, random_state=0, **options)
    weighted = clone(ranker).fit(form(X), Y, sample_weight=weight)
    repeated = clone(ranker).fit(form(np.repeat(X, weight, axis=0)), np.repeat(Y, weight))
    assert_allclose(weighted.certificate_.primal, repeated.certificate_.primal, rtol=2 * ranker.tol)
    near = (1e-5 if exact else 1e-3) * np.abs(repeated.coef_).max()
    assert_allclose(weighted.coef_, repeated.coef_, atol=near)
    assert_allclose(weighted.intercept_, repeated.intercept_, atol=10 * near)
    plain = clone(ranker).fit(form(X), Y)
    assert np.abs(plain.coef_ - weighted.coef_).max() > 0.01 * np.abs(plain.coef_).max()


def test_a_row_without_weight_is_absent() -> None:
    top = int(np.argmax(TopPush(1e-2).fit(X, Y).decision_function(X) * (Y == 0)))
    weight = np.ones(len(Y))
    weight[top] = 0.0
    kept = weight > 0
    weighted = TopPush(1e-2).fit(X, Y, sample_weight=weight)
    removed = TopPush(1e-2).fit(X[kept], Y[kept])
    assert_allclose(weighted.coef_, removed.coef_, rtol=1e-9)
    assert_allclose(weighted.intercept_, removed.intercept_, rtol=1e-9)
    assert np.abs(TopPush(1e-2).fit(X, Y).coef_ - removed.coef_).max() > 1e-3


@pytest.mark.parametrize("factor", [1e-300, 1e-9, 7.0, 5e307])
def test_the_unit_of_the_weights_does_not_matter(factor: float) -> None:
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(Y))
    expected = TopPush(1e-2).fit(X, Y, sample_weight=weight)
    scaled = TopPush(1e-2).fit(X, Y, sample_weight=factor * weight)
    assert_allclose(scaled.coef_, expected.coef_, rtol=1e-9)


def test_weights_are_routed_through_a_pipeline_and_a_search() -> None:
    weight = np.random.default_rng(1).integers(1, 5, len(Y)).astype(float)
    expected = TopPush(1e-2).fit(StandardScaler().fit_transform(X), Y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        ranker = TopPush(1e-2).set_fit_request(sample_weight=True)
        ranker.set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, ranker).fit(X, Y, sample_weight=weight)
        assert_allclose(pipeline[-1].coef_, expected.coef_, rtol=1e-12)
        scores = pipeline.decision_function(X)
        weighted_auc = roc_auc_score(Y, scores, sample_weight=weight)
        assert pipeline.score(X, Y, sample_weight=weight) == pytest.approx(weighted_auc)
        # In scikit-learn 1.6 a search cannot pass weights to Pipeline.score, only to a scorer.
        scorer = get_scorer("auc").set_score_request(sample_weight=True)
        search = GridSearchCV(
            make_pipeline(scaler, ranker), {"toppush__alpha": [1e-2]}, cv=3, scoring=scorer
        ).fit(X, Y, sample_weight=weight)
        assert_allclose(search.best_estimator_[-1].coef_, expected.coef_, rtol=1e-12)
        unasked = make_pipeline(scaler, TopPush(1e-2))
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            unasked.fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("frame", [pd.DataFrame, pytest.param(pl.DataFrame, marks=names_of_polars)])
def test_feature_names_are_kept_and_asked_for(frame: Any) -> None:
    names = [f"f{k}" for k in range(X.shape[1])]
    table = frame(dict(zip(names, X.T, strict=True)))
    ranker = TopPush(1e-2).fit(table, Y)
    assert_array_equal(ranker.feature_names_in_, names)
    assert_allclose(ranker.coef_, TopPush(1e-2).fit(X, Y).coef_, rtol=1e-9)
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.predict(table.rename({"f3": "g3"}, **_by_column(frame)))
    with pytest.warns(UserWarning, match="valid feature names"):
        ranker.predict(X)
    assert not hasattr(ranker.fit(X, Y), "feature_names_in_")


def _by_column(frame: Any) -> dict[str, int]:
    return {"axis": 1} if frame is pd.DataFrame else {}


def test_a_clone_has_the_parameters_and_nothing_learnt() -> None:
    ranker = TopPush(0.5, loss="logistic", tol=1e-6, solver="newton", n_threads=2, verbose=0)
    copy = clone(ranker.fit(X, Y))
    assert copy.get_params() == ranker.get_params()
    assert [name for name in vars(copy) if name.endswith("_")] == []


def test_a_pickled_ranker_scores_and_warm_starts_alike() -> None:
    ranker = TopPush(1e-2, warm_start=True).fit(X, Y)
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.decision_function(X), ranker.decision_function(X))
    assert again.certificate_ == ranker.certificate_
    assert again.set_params(alpha=1e-3).fit(X, Y).certificate_.holds(again.tol)


@pytest.mark.parametrize("scorer", ["positives_at_top", "average_precision", "auc"])
def test_grid_search_over_alpha(scorer: str) -> None:
    alphas = [1e-4, 1e-2, 1.0]
    pipeline = make_pipeline(StandardScaler(), TopPush())
    search = GridSearchCV(pipeline, {"toppush__alpha": alphas}, scoring=get_scorer(scorer), cv=3)
    search.fit(X, Y)
    means = search.cv_results_["mean_test_score"]
    assert len(set(means)) > 1
    assert search.best_params_["toppush__alpha"] == alphas[int(np.argmax(means))]
    assert search.best_score_ == max(means)
    assert search.best_estimator_[-1].certificate_.holds(1e-4)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_gives_probabilities(method: str) -> None:
    probability = CalibratedClassifierCV(TopPush(1e-2), method=method, cv=3).fit(X, Y)
    shares = probability.predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert abs(shares[:, 1].mean() - Y.mean()) < 0.05
    assert shares[Y == 1, 1].mean() > shares[Y == 0, 1].mean() + 0.3


def test_a_roc_curve_is_drawn_from_the_estimator() -> None:
    pytest.importorskip("matplotlib", reason="a display needs matplotlib")
    display = RocCurveDisplay.from_estimator(TopPush(1e-2).fit(X, Y), X, Y)
    assert display.roc_auc == pytest.approx(TopPush(1e-2).fit(X, Y).score(X, Y))


def test_the_output_container_changes_nothing() -> None:
    table = pd.DataFrame(X)
    with config_context(transform_output="pandas"):
        pipeline = make_pipeline(StandardScaler(), TopPush(1e-2)).fit(table, Y)
        scores = pipeline.decision_function(table)
    assert isinstance(scores, np.ndarray)
    plain = make_pipeline(StandardScaler(), TopPush(1e-2)).fit(X, Y)
    assert_allclose(scores, plain.decision_function(X), atol=1e-12)


class Counter:
    """A callback that counts iterations, keeps their scores, and may ask to stop."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at, self.events, self.scores = stop_at, [], []

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.events.append(f"{context.task_name} begins")

    def on_fit_task_end(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        fitted_estimator: Any = None,
    ) -> bool:
        self.events.append(f"{context.task_name} ends")
        if context.task_name == "fit":
            return False
        self.scores.append(fitted_estimator.score(X, y))
        s = fitted_estimator.decision_function(X)
        highest = s[y == 0].max()
        if (above := s[(y == 1) & (s > highest)]).size:
            assert highest == pytest.approx(
                -above.min(), abs=1e-11
            )  # the intercept is this coef_'s
        return len(self.scores) == self.stop_at


SOLVERS = ["newton", "dual-descent", "paper"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_callbacks_follow_every_iteration(solver: str) -> None:
    pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
    counter = Counter()
    tol = 0.5 if solver == "paper" else 1e-4
    ranker = TopPush(1e-2, solver=solver, tol=tol, random_state=0)
    ranker.set_callbacks(counter).fit(X, Y)
    each = ["iteration begins", "iteration ends"] * len(ranker.history_)
    assert counter.events == ["setup", "fit begins", *each, "fit ends", "teardown"]
    assert len(counter.scores) > 1
    assert counter.scores[-1] == pytest.approx(ranker.score(X, Y), abs=0.02)
    plain = TopPush(1e-2, solver=solver, tol=tol, random_state=0).fit(X, Y)
    assert_array_equal(ranker.coef_, plain.coef_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_callback_can_stop_the_fit(solver: str) -> None:
    pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
    counter = Counter(stop_at=2)
    ranker = TopPush(1e-2, solver=solver, tol=1e-8).set_callbacks(counter)
    ranker.fit(X, Y)  # without a warning: it stopped because it was asked to
    assert len(counter.scores) == len(ranker.history_) == 2
    assert ranker.certificate_.relative_gap > 1e-8
    assert not ranker.trivial_
    assert counter.events[-2:] == ["fit ends", "teardown"]


def test_verbose_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    ranker = TopPush(1e-2, verbose=1).fit(X, Y)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["iteration", "passes", "seconds", "primal", "gap"]
    assert [int(line.split()[0]) for line in lines] == ranker.history_["iteration"].tolist()
    assert float(lines[-1].split()[3]) == pytest.approx(ranker.certificate_.primal, rel=1e-6)
    TopPush(1e-2).fit(X, Y)
    assert capsys.readouterr().out == ""


def test_rank_orders_by_score_and_keeps_ties_in_order() -> None:
    ranker = TopPush(1e-2).fit(X, Y)
    twice = np.concatenate([X, X])
    order, scores = ranker.rank(twice), ranker.decision_function(twice)
    assert_array_equal(np.sort(order), np.arange(len(twice)))
    assert (np.diff(scores[order]) <= 0).all()
    tied = np.diff(scores[order]) == 0
    assert tied.sum() >= len(X)
    assert (np.diff(order)[tied] > 0).all()


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], ["ham", "spam"], [False, True], [2.0, 7.0]])
def test_predict_is_a_score_above_zero(labels: list[Any]) -> None:
    y = np.array(labels)[Y]
    ranker = TopPush(1e-2).fit(X, y)
    fresh, _ = overlapping(seed=5)
    above = ranker.decision_function(fresh) > 0
    assert 0 < above.sum() < len(fresh)
    assert_array_equal(ranker.classes_, labels)
    assert_array_equal(ranker.predict(fresh), np.array(labels)[above.astype(int)])
    assert ranker.score(X, y) == pytest.approx(roc_auc_score(Y, ranker.decision_function(X)))


def test_score_is_the_weighted_auc_not_accuracy() -> None:
    ranker = TopPush(1e-2).fit(X, Y)
    fresh, y = overlapping(seed=5)
    weight = np.random.default_rng(1).uniform(size=len(y))
    expected = roc_auc_score(y, ranker.decision_function(fresh), sample_weight=weight)
    assert ranker.score(fresh, y, sample_weight=weight) == pytest.approx(expected)
    assert abs(expected - (ranker.predict(fresh) == y).mean()) > 0.01


FORMS = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]


@pytest.mark.parametrize("fitted_on", FORMS)
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_no_training_negative_is_called_positive(loss: str, fitted_on: Any) -> None:
    for seed in range(8):
        X, y = overlapping(n_features=12, seed=seed)
        ranker = TopPush(1e-3, loss=loss).fit(fitted_on(X), y)
        for form in FORMS:
            assert not ranker.predict(form(X))[y == 0].any()
        s = ranker.decision_function(X)
        below, above = s[y == 0].max(), s[(y == 1) & (s > 0)].min()
        assert below == pytest.approx(-above, abs=1e-11 * np.abs(ranker.intercept_[0]) + 1e-12)
