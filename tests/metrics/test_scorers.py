"""Which label a scorer takes for positive, which scorers take weights, and who is asked first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import LogisticRank, PositiveLabelWarning
from toprank.metrics import SCORERS, dcg, get_scorer
from toprank.metrics._scorers import (
    _positive_label,
    find_scorer,
    metric_of,
    reads_scores_only,
    score_decisions,
    takes_weights,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = np.where(X[:, 0] + RNG.normal(size=120) > 0.5, "yes", "no")


@pytest.mark.parametrize("label", ["no", "yes"])
def test_the_label_that_a_ranker_puts_first_is_positive(label: str) -> None:
    ranker = LogisticRank(pos_label=label).fit(X, Y)
    expected = roc_auc_score(label == Y, ranker.decision_function(X))
    assert SCORERS["auc"](ranker, X, Y) == pytest.approx(expected)
    inside = make_pipeline(StandardScaler(), LogisticRank(pos_label=label)).fit(X, Y)
    expected = roc_auc_score(label == Y, inside.decision_function(X))
    assert SCORERS["auc"](inside, X, Y) == pytest.approx(expected)
    assert expected > 0.6


def test_without_such_a_label_the_second_class_is_positive_and_that_is_told() -> None:
    model = LogisticRegression().fit(X, Y)
    expected = roc_auc_score(Y == "yes", model.decision_function(X))
    n_yes = int(np.count_nonzero(Y == "yes"))
    counts = rf'"no" \({120 - n_yes} rows\) and "yes" \({n_yes} rows\)'
    with pytest.warns(PositiveLabelWarning, match=counts):
        assert SCORERS["auc"](model, X, Y) == pytest.approx(expected)
    # For the other label scikit-learn turns the decisions.
    assert get_scorer("auc", pos_label="no")(model, X, Y) == pytest.approx(expected)


def test_labels_that_say_it_themselves_need_no_word() -> None:
    model = LogisticRegression().fit(X, Y == "yes")
    expected = roc_auc_score(Y == "yes", model.decision_function(X))
    assert SCORERS["auc"](model, X, Y == "yes") == pytest.approx(expected)


class Turned:
    """A model whose classes are in an order of its own, the first that it ranks last."""

    classes_ = np.array(["yes", "no"])

    def decision_function(self, X: Any) -> Any:
        return X[:, 0]


@pytest.mark.filterwarnings("error")
def test_classes_in_an_order_of_their_own_say_which_is_positive() -> None:
    assert _positive_label(Turned(), Y) == "no"
    three = Turned()
    three.classes_ = np.array(["a", "b", "c"])
    assert _positive_label(three, Y) == "c"


def test_scorers_that_read_nothing_but_scores() -> None:
    ours, told = get_scorer("dcg_at_7"), get_scorer("dcg_at_7", pos_label="yes")
    assert reads_scores_only(ours)
    assert not reads_scores_only(told)
    assert not reads_scores_only(make_scorer(roc_auc_score))
    assert not reads_scores_only(make_scorer(f1_score, pos_label="yes"))
    weight = RNG.uniform(0.5, 2.0, 120)
    found = score_decisions(ours, Y == "yes", X[:, 0], weight)
    assert found == dcg(Y == "yes", X[:, 0], k=7, sample_weight=weight)


class Scorer:
    """Gives the number of rows."""

    def __call__(self, estimator: Any, X: Any, y: Any, **options: Any) -> float:
        return float(len(y))


def with_weights(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return 0.0


def without_weights(estimator: Any, X: Any, y: Any) -> float:
    return 0.0


def test_which_scorers_take_weights() -> None:
    assert takes_weights(with_weights)
    assert takes_weights(Scorer())
    assert takes_weights(SCORERS["auc"])
    assert not takes_weights(without_weights)


def test_scorers_are_found_by_name_ours_first() -> None:
    model = LogisticRank().fit(X, Y == "yes")
    assert find_scorer(without_weights, model) is without_weights
    assert find_scorer("average_precision", model)._score_func.__module__.startswith("toprank")
    share = np.mean(model.predict(X) == (Y == "yes"))
    assert find_scorer("accuracy", model)(model, X, Y == "yes") == pytest.approx(share)
    with pytest.raises(ValueError, match="neither here nor to scikit-learn"):
        find_scorer("nonsense", model)


def test_a_name_and_its_number() -> None:
    assert metric_of("tpr_at_fpr_0")[1] == {"fpr": 0}
    assert metric_of("partial_auc_1")[1] == {"max_fpr": 1}
    assert metric_of("recall_at_precision_.5")[1] == {"min_precision": 0.5}
    for name in ("partial_auc_1.5", "tpr_at_fpr_1.5", "recall_at_precision_0", "recall_at_1.0"):
        with pytest.raises(ValueError, match=f"The scorer '{name}' cannot be"):
            metric_of(name)
