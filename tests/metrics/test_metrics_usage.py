"""How the metrics are called: malformed arguments, the report, the scorers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)

from toprank import metrics
from toprank.metrics import SCORERS, get_scorer

Y, S = [0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8]

METRICS: list[Callable[..., Any]] = [
    metrics.auc,
    metrics.average_precision,
    metrics.average_reciprocal_rank,
    metrics.dcg,
    metrics.ndcg,
    metrics.positives_at_top,
    metrics.ranking_report,
    partial(metrics.lift_at_k, k=2),
    partial(metrics.partial_auc, max_fpr=0.5),
    partial(metrics.precision_at_k, k=2),
    partial(metrics.recall_at_k, k=2),
    partial(metrics.recall_at_precision, min_precision=0.5),
    partial(metrics.tpr_at_fpr, fpr=0.5),
    partial(metrics.auc, margin=0.1),
]

# y_true, scores, sample_weight, and what is said of them.
MALFORMED: list[tuple[Any, Any, Any, str]] = [
    (Y, [0.1, 0.4], None, "scores has 2 rows but y_true has 4"),
    (Y, S, [1, 1], "sample_weight has 2 rows but y_true has 4"),
    ([], [], None, "y_true is empty"),
    (Y, np.ones((4, 2)), None, r"scores must be 1-D.*\(4, 2\).*\[:, 1\]"),
    ([Y], S, None, r"y_true must be 1-D.*\(1, 4\)"),
    (1, S, None, r"y_true must be 1-D"),
    (Y, S, 2.0, "sample_weight must be 1-D"),
    (Y, [0.1, 0.4, np.nan, np.nan], None, "scores is NaN at row 2"),
    (Y, [0.1, np.nan, 0.2, 0.3], [1, 0, 1, 1], "scores is NaN at row 1"),
    (Y, ["a", "b", "c", "d"], None, "scores must be real numbers"),
    (Y, [1j, 0, 0, 0], None, "scores must be real numbers"),
    (Y, np.array([None, 1.0, 2.0, "x"], dtype=object), None, "scores must be real numbers"),
    (Y, S, [1, 1, -2, 1], r"sample_weight is -2.0 at row 2"),
    (Y, S, [1, np.nan, 1, 1], "sample_weight is nan at row 1"),
    (Y, S, [1, 1, 1, np.inf], "sample_weight is inf at row 3"),
    (Y, S, ["a", "b", "c", "d"], "sample_weight must be numbers"),
    (Y, S, [0, 0, 0, 0], "sample_weight adds up to 0"),
    (Y, S, [1e308] * 4, "sample_weight adds up to inf"),
    ([0, 1, 2, 1], S, None, "besides 0 and 2 row 1 holds 1"),
    (["a", "c", "c", "b"], S, None, "besides a and c row 3 holds b"),
    ([7, 0, 1, 2], S, [0, 1, 1, 1], "besides 0 and 2 row 2 holds 1"),
    ([0, 1, np.nan, 1], S, None, "y_true is NaN at row 2"),
    (np.array([0, 1, np.nan, 1], dtype=object), S, None, "y_true is NaN at row 2"),
    (np.array([0, "a", None, 1], dtype=object), S, None, "y_true mixes labels"),
    ([1, 1, 1, 1], S, None, "the one label 1 .* Pass pos_label"),
    ([0, 0, 1, 1], S, [1, 1, 0, 0], "the one label 0 .* Pass pos_label"),
]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("y", "s", "w", "message"), MALFORMED)
def test_malformed_data_is_named(
    metric: Callable[..., Any], y: Any, s: Any, w: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        metric(y, s, sample_weight=w)


@pytest.mark.parametrize("metric", METRICS)
def test_a_wrong_pos_label_is_named(metric: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r'pos_label="yes" is not a label .* 0 and 1'):
        metric(Y, S, pos_label="yes")


@pytest.mark.parametrize(
    "metric", [metrics.auc, metrics.positives_at_top, partial(metrics.partial_auc, max_fpr=0.1)]
)
def test_both_classes_are_needed(metric: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="no positive row"):
        metric([0, 0], [1, 2], pos_label=1)
    with pytest.raises(ValueError, match="no negative row"):
        metric([1, 1], [1, 2], pos_label=1)
    with pytest.raises(ValueError, match="no positive row"):
        metric([False, False], [1, 2])


@pytest.mark.parametrize(
    "metric",
    [
        metrics.average_precision,
        metrics.ndcg,
        partial(metrics.recall_at_k, k=2),
        partial(metrics.lift_at_k, k=2),
        partial(metrics.recall_at_precision, min_precision=0.5),
    ],
)
def test_positives_are_needed_negatives_are_not(metric: Callable[..., float]) -> None:
    assert metric([1, 1], [1, 2], pos_label=1) == 1
    with pytest.raises(ValueError, match="no positive row"):
        metric([0, 0], [1, 2], pos_label=1)


def test_defined_without_one_class() -> None:
    assert metrics.precision_at_k([0, 0], [1, 2], k=1, pos_label=1) == 0
    assert metrics.precision_at_k([True, True], [1, 2], k=1) == 1
    assert metrics.dcg([0, 0], [1, 2], pos_label=1) == 0
    assert metrics.average_reciprocal_rank([1, 1], [1, 2], pos_label=1) == 0.75
    with pytest.raises(ValueError, match="no positive row"):
        metrics.average_reciprocal_rank([0, 0], [1, 2], pos_label=1)


@pytest.mark.parametrize("k", [0, -1, 1.0, 2.5, 0.0, -0.5, np.nan, True, "3", None])
@pytest.mark.parametrize("metric", [metrics.precision_at_k, metrics.recall_at_k, metrics.lift_at_k])
def test_malformed_k(metric: Callable[..., float], k: Any) -> None:
    with pytest.raises(ValueError, match="k must be an int >= 1"):
        metric(Y, S, k=k)


def test_k_beyond_the_rows() -> None:
    for metric in (metrics.precision_at_k, metrics.recall_at_k, metrics.lift_at_k):
        with pytest.raises(ValueError, match="k=5 exceeds the 4 rows"):
            metric(Y, S, k=5)
        assert metric(Y, S, k=5, sample_weight=[1, 1, 1, 2]) > 0
    assert metrics.ndcg(Y, S, k=5) == metrics.ndcg(Y, S)
    with pytest.raises(ValueError, match="k must be an int >= 1"):
        metrics.dcg(Y, S, k=0)


MALFORMED_PARAMETERS: list[tuple[Callable[..., float], dict[str, Any], str]] = [
    (metrics.partial_auc, {}, "either max_fpr or fpr_range"),
    (metrics.partial_auc, {"max_fpr": 0.1, "fpr_range": (0, 1)}, "and not both"),
    (metrics.partial_auc, {"max_fpr": 0}, "max_fpr must be"),
    (metrics.partial_auc, {"max_fpr": 1.5}, "max_fpr must be"),
    (metrics.partial_auc, {"fpr_range": (0.5, 0.5)}, "fpr_range must be"),
    (metrics.partial_auc, {"fpr_range": (-0.1, 0.5)}, "fpr_range must be"),
    (metrics.partial_auc, {"fpr_range": 0.5}, "fpr_range must be"),
    (metrics.partial_auc, {"fpr_range": (0, 0.5, 1)}, "fpr_range must be"),
    (metrics.partial_auc, {"max_fpr": 0.1, "normalize": "max"}, "normalize must be one of"),
    (metrics.positives_at_top, {"ties": "block"}, "'strict', 'half'"),
    (metrics.average_precision, {"ties": "half"}, "'block', 'expected'"),
    (metrics.recall_at_precision, {"min_precision": 0}, "min_precision must be"),
    (metrics.recall_at_precision, {"min_precision": 1.01}, "min_precision must be"),
    (metrics.recall_at_precision, {"min_precision": "0.9"}, "min_precision must be"),
    (metrics.tpr_at_fpr, {"fpr": -0.1}, "fpr must be"),
    (metrics.tpr_at_fpr, {"fpr": 1.01}, "fpr must be"),
    (metrics.tpr_at_fpr, {"fpr": np.nan}, "fpr must be"),
    (metrics.tpr_at_fpr, {"fpr": 0.1, "ties": "half"}, "'interpolate', 'block'"),
    (metrics.auc, {"margin": 0}, "margin must be a finite number above 0"),
    (metrics.auc, {"margin": -1}, "margin must be"),
    (metrics.auc, {"margin": np.inf}, "margin must be"),
    (metrics.auc, {"margin": "1"}, "margin must be"),
    (
        metrics.average_precision,
        {"ties": "expected", "sample_weight": [1, 1.5, 1, 1]},
        "whole-number sample_weight",
    ),
    (metrics.ndcg, {"sample_weight": [1, 1, 1, 1e12]}, "Divide the weights"),
]


@pytest.mark.parametrize(("metric", "parameters", "message"), MALFORMED_PARAMETERS)
def test_malformed_parameters(
    metric: Callable[..., float], parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        metric(Y, S, **parameters)


def test_arguments_are_not_changed() -> None:
    y, s, w = np.array(Y), np.array(S), np.array([1.0, 0.0, 2.0, 3.0])
    copies = [column.copy() for column in (y, s, w)]
    metrics.ranking_report(y, s, sample_weight=w)
    for column, copy in zip((y, s, w), copies, strict=True):
        np.testing.assert_array_equal(column, copy)


def test_infinite_scores_are_ordered_and_tied() -> None:
    s = [-np.inf, np.inf, np.inf, 0.0]
    assert metrics.auc([0, 1, 0, 1], s) == metrics.auc([0, 1, 0, 1], [-1, 1, 1, 0]) == 0.625


def test_infinite_scores_have_no_margin() -> None:
    with pytest.raises(ValueError, match="scores is infinite at row 2, and a margin needs"):
        metrics.auc([0, 1, 0], [0.0, 1.0, -np.inf], margin=0.5)
    left_out = metrics.auc([0, 1, 0], [0.0, 1.0, -np.inf], margin=0.5, sample_weight=[1, 1, 0])
    assert left_out == 1.0


def test_zero_and_minus_zero_are_tied() -> None:
    for weight in (None, [1.0, 2.0]):
        assert metrics.auc([0, 1], [-0.0, 0.0], sample_weight=weight) == 0.5


def test_the_report_holds_each_metric() -> None:
    rng = np.random.default_rng(1)
    y, s, w = rng.integers(0, 2, 60), rng.integers(0, 9, 60), rng.exponential(size=60)
    at = {"max_fpr": 0.2, "min_precision": 0.4}
    report = metrics.ranking_report(y, s, k=(5, 0.3), sample_weight=w, **at)
    plain = ["auc", "positives_at_top", "average_precision", "dcg", "ndcg"]
    alone = {
        name: getattr(metrics, name)(y, s, sample_weight=w)
        for name in (*plain, "average_reciprocal_rank")
    }
    alone["partial_auc_0.2"] = metrics.partial_auc(y, s, sample_weight=w, max_fpr=0.2)
    alone["tpr_at_fpr_0.2"] = metrics.tpr_at_fpr(y, s, 0.2, sample_weight=w)
    recall = metrics.recall_at_precision(y, s, sample_weight=w, min_precision=0.4)
    alone["recall_at_precision_0.4"] = recall
    for kind in ("precision", "recall", "lift"):
        for k in (5, 0.3):
            metric = getattr(metrics, f"{kind}_at_k")
            alone[f"{kind}_at_{k}"] = metric(y, s, sample_weight=w, k=k)
    assert report == alone


@pytest.fixture(scope="module")
def data() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows that a linear score ranks well but not perfectly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = np.where(X[:, 0] + rng.normal(size=240) > 0.5, "yes", "no")
    return X, y, rng.integers(1, 4, 240).astype(float)


@pytest.fixture
def routing() -> Iterator[None]:
    """Scikit-learn's metadata routing, switched on."""
    with config_context(enable_metadata_routing=True):
        yield


NAMES: dict[str, dict[str, float]] = {
    **{name: {} for name in SCORERS},
    "precision_at_50": {"k": 50},
    "precision_at_0.1": {"k": 0.1},
    "recall_at_20": {"k": 20},
    "lift_at_10": {"k": 10},
    "dcg_at_7": {"k": 7},
    "ndcg_at_10": {"k": 10},
    "partial_auc_0.05": {"max_fpr": 0.05},
    "partial_auc_1e-2": {"max_fpr": 0.01},
    "partial_auc_1": {"max_fpr": 1},
    "recall_at_precision_0.9": {"min_precision": 0.9},
    "tpr_at_fpr_0.05": {"fpr": 0.05},
    "tpr_at_fpr_0": {"fpr": 0},
}


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_scorer_is_its_metric(name: str, data: Any) -> None:
    X, y, w = data
    model = LogisticRegression().fit(X, y)
    stem = name.rstrip("0123456789.e-").rstrip("_")
    metric = getattr(metrics, stem, None) or getattr(
        metrics, {"dcg_at": "dcg", "ndcg_at": "ndcg"}.get(stem, f"{stem}_k")
    )
    scorer = pickle.loads(pickle.dumps(get_scorer(name)))
    s = model.decision_function(X)
    assert scorer(model, X, y) == metric(y, s, **NAMES[name])
    weighted = scorer(model, X, y, sample_weight=w)
    assert weighted == metric(y, s, sample_weight=w, **NAMES[name])


@pytest.mark.parametrize(
    "name", ["", "roc", "precision_at", "precision_at_", "precision_at_x", "auc_5", "lift_at_-3"]
)
def test_unknown_scorers_are_answered_with_the_valid_names(name: str) -> None:
    with pytest.raises(ValueError, match=r"There is no scorer .*average_precision.*partial_auc_<"):
        get_scorer(name)


@pytest.mark.parametrize(
    "name", ["precision_at_0", "lift_at_2.5", "partial_auc_0", "recall_at_0.0"]
)
def test_scorers_out_of_range(name: str) -> None:
    with pytest.raises(ValueError, match=f"The scorer '{name}' cannot be"):
        get_scorer(name)


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
def test_cross_validation_and_grid_search(data: Any) -> None:
    X, y, _ = data
    ours = cross_val_score(LogisticRegression(), X, y, scoring=SCORERS["average_precision"])
    theirs = make_scorer(
        average_precision_score, response_method="decision_function", pos_label="yes"
    )
    np.testing.assert_allclose(ours, cross_val_score(LogisticRegression(), X, y, scoring=theirs))
    grid = {"C": [1e-4, 1.0]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=get_scorer("lift_at_5")).fit(X, y)
    for C, mean in zip(grid["C"], search.cv_results_["mean_test_score"], strict=True):
        lifts = []
        for train, test in StratifiedKFold(5).split(X, y):
            model = LogisticRegression(C=C).fit(X[train], y[train])
            lifts.append(metrics.lift_at_k(y[test], model.decision_function(X[test]), k=5))
        np.testing.assert_allclose(mean, np.mean(lifts))
    results = cross_validate(LogisticRegression(), X, y, scoring=SCORERS)
    assert {f"test_{name}" for name in SCORERS} <= set(results)


def test_k_may_be_the_third_argument() -> None:
    for metric in (metrics.precision_at_k, metrics.recall_at_k, metrics.lift_at_k):
        assert metric(Y, S, 2) == metric(Y, S, k=2)


@pytest.fixture
def one_class() -> Any:
    """A model, and rows that are all negative."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + y[:, np.newaxis]
    return LogisticRegression().fit(X, y), X[y == 0], y[y == 0]


@pytest.mark.parametrize("name", ["precision_at_10", "precision_at_0.5", "dcg", "dcg_at_5"])
def test_a_fold_without_positives_scores_zero_where_that_is_the_value(
    name: str, one_class: Any
) -> None:
    assert get_scorer(name)(*one_class) == 0.0


@pytest.mark.parametrize("name", ["auc", "average_precision", "recall_at_10", "lift_at_10", "ndcg"])
def test_a_fold_without_positives_is_undefined_elsewhere(name: str, one_class: Any) -> None:
    message = "is undefined on these 20 rows, for they are all of one class.* StratifiedKFold"
    with pytest.warns(UndefinedMetricWarning, match=message):
        assert get_scorer(name)(*one_class) == 0.0


def test_a_search_goes_on_where_a_fold_has_no_positives() -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(60) % 20 < 10) * (np.arange(60) < 40)  # none in the last of three folds
    X = rng.normal(size=(60, 2)) + y[:, np.newaxis]
    grid, folds = {"C": [1e-3, 1.0]}, KFold(3)
    scoring = get_scorer("precision_at_5")
    search = GridSearchCV(LogisticRegression(), grid, scoring=scoring, cv=folds).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.cv_results_["split2_test_score"].tolist() == [0.0, 0.0]
    with pytest.warns(UndefinedMetricWarning, match="StratifiedKFold"):
        search = GridSearchCV(
            LogisticRegression(), grid, scoring=get_scorer("auc"), cv=folds, error_score="raise"
        ).fit(X, y)
    assert search.cv_results_["split2_test_score"].tolist() == [0.0, 0.0]
    scored = [search.cv_results_[f"split{k}_test_score"] for k in (0, 1)]
    assert search.best_index_ == np.argmax(np.mean(scored, axis=0))  # the other folds decide


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
def test_scorers_rank_by_probabilities_where_there_is_nothing_else(data: Any) -> None:
    X, y, _ = data
    model = RandomForestClassifier(5, random_state=0).fit(X[:120], y[:120])
    probability = model.predict_proba(X[120:])[:, 1]
    value = SCORERS["auc"](model, X[120:], y[120:])
    np.testing.assert_allclose(value, roc_auc_score(y[120:] == "yes", probability))


@pytest.mark.filterwarnings("ignore::toprank.PositiveLabelWarning")
@pytest.mark.usefixtures("routing")
def test_sample_weight_is_routed(data: Any) -> None:
    X, y, w = data
    scorer = get_scorer("auc").set_score_request(sample_weight=True)
    model = LogisticRegression().set_fit_request(sample_weight=False)
    parts = np.split(np.arange(240), 2)
    cv = [(np.delete(np.arange(240), part), part) for part in parts]
    repeated = []
    for train, test in cv:
        s, counts = model.fit(X[train], y[train]).decision_function(X[test]), w[test].astype(int)
        repeated.append(metrics.auc(np.repeat(y[test], counts), np.repeat(s, counts)))
    weighted = cross_val_score(model, X, y, scoring=scorer, cv=cv, params={"sample_weight": w})
    np.testing.assert_allclose(weighted, repeated)
    plain = cross_val_score(model, X, y, scoring=SCORERS["auc"], cv=cv, params={})
    assert not np.allclose(weighted, plain)


@pytest.mark.usefixtures("routing")
def test_a_request_on_one_scorer_leaves_the_others_alone() -> None:
    get_scorer("ndcg").set_score_request(sample_weight=True)
    assert get_scorer("ndcg")._get_metadata_request().score.requests.get("sample_weight") is None


def test_the_public_names_are_there() -> None:
    assert len(set(metrics.__all__)) == len(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)
