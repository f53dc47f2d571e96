"""Thresholds by demand: reference cases, how often demands are met, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from toprank.selection import choose_threshold
from truth.guarantees import guarantee_arrays, guarantee_case

DEMANDS = {
    "capacity_50_of_500": {"capacity": (50, 500)},
    "max_fpr_05": {"max_fpr": 0.05},
    "min_recall_80": {"min_recall": 0.8},
    "min_precision_60": {"min_precision": 0.6},
}


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize("case", DEMANDS)
def test_the_reference_cases(case, confidence):
    y, scores = guarantee_arrays("thr", "y", "scores")
    expected = guarantee_case("thresholds")[str(confidence)][case]
    found = choose_threshold(y, scores, confidence=confidence, **DEMANDS[case])
    assert found == pytest.approx(expected, abs=1e-9)
    if case == "min_recall_80":  # the case flags what is at the threshold, too
        assert found < expected


def test_the_reference_case_of_costs():
    y, scores = guarantee_arrays("thr", "y", "scores")
    expected, mean_cost = guarantee_case("thresholds")["cost_1_5"]
    found = choose_threshold(y, scores, cost=(1, 5))
    assert found == pytest.approx(expected, abs=1e-9)
    flagged = scores > found
    cost = np.sum(flagged & (y == 0)) + 5 * np.sum(~flagged & (y == 1))
    assert cost / len(y) == pytest.approx(mean_cost)


def rows(rng, n, ties=False):
    y = rng.random(n) < 0.1
    scores = rng.normal(size=n) + 2.5 * y
    return y, np.round(4 * scores) if ties else scores


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("demand", DEMANDS.values(), ids=DEMANDS)
def test_with_confidence_demands_are_met(demand, ties):
    rng, missed, tried = np.random.default_rng(0), 0, 0
    big, big_scores = rows(rng, 200_000, ties)
    for _ in range(120):
        y, scores = rows(rng, 1000, ties)
        try:
            threshold = choose_threshold(y, scores, confidence=0.95, **demand)
        except ValueError:
            continue
        tried += 1
        flagged = big_scores > threshold
        if "capacity" in demand:
            missed += (rows(rng, 500, ties)[1] > threshold).sum() > 50
        elif "max_fpr" in demand:
            missed += flagged[~big].mean() > 0.05
        elif "min_recall" in demand:
            missed += flagged[big].mean() < 0.8
        else:
            missed += big[flagged].mean() < 0.6
    assert tried > 60
    assert missed <= 0.05 * tried + 7


def test_point_rules_miss_about_every_second_time():
    rng, missed = np.random.default_rng(1), 0
    big, big_scores = rows(rng, 200_000)
    for _ in range(100):
        threshold = choose_threshold(*rows(rng, 1000), max_fpr=0.05)
        missed += (big_scores > threshold)[~big].mean() > 0.05
    assert 30 < missed < 70


def test_the_least_cost_is_the_least():
    rng = np.random.default_rng(2)
    y, scores = rows(rng, 200, ties=True)

    def cost(threshold):
        flagged = scores > threshold
        return np.sum(flagged & ~y) + 3.0 * np.sum(~flagged & y)

    found = choose_threshold(y, scores, cost=(1, 3))
    assert cost(found) == min(cost(t) for t in (-np.inf, *np.unique(scores), np.inf))
    assert not (scores > choose_threshold(y, scores, cost=(1, 0)))[~y].any()
    assert choose_threshold([1, 0], [0.0, 1.0], cost=(1, 5)) == -np.inf
    assert choose_threshold([1, 0], [0.0, 1.0], cost=(5, 1)) == np.inf


def test_scikit_learn_takes_it():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + rng.normal(size=600) > 1.5).astype(int)
    model = LogisticRegression().fit(X[:300], y[:300])
    threshold = choose_threshold(y[300:], model.decision_function(X[300:]), min_recall=0.9)
    fixed = FixedThresholdClassifier(
        model, threshold=threshold, response_method="decision_function"
    ).fit(X[:300], y[:300])
    assert fixed.predict(X[300:])[y[300:] == 1].mean() >= 0.9


def test_a_capacity_needs_no_labels():
    scores = np.arange(100.0)
    assert choose_threshold(None, scores, capacity=(10, 100)) == choose_threshold(
        np.arange(100) % 2, scores, capacity=(10, 100)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of capacity"),
        ({"max_fpr": 0.1, "min_recall": 0.5}, "max_fpr and min_recall"),
        ({"max_fpr": 0.0}, "max_fpr"),
        ({"max_fpr": 0.001}, "about 999 or more"),
        ({"min_recall": 0.99, "confidence": 0.95}, "about 299 or more"),
        ({"min_precision": 0.999}, "No threshold has a precision"),
        ({"min_precision": 0.99, "confidence": 0.9}, "with a confidence of 0.9"),
        ({"capacity": 5}, "two numbers"),
        ({"capacity": (5, 3)}, "not be more"),
        ({"capacity": (0, 3)}, r"capacity\[0\]"),
        ({"capacity": (1, 1000)}, "about 1000 or more"),
        ({"cost": 3}, "two numbers"),
        ({"cost": (1, -1)}, r"cost\[1\]"),
        ({"cost": (1, 1), "confidence": 0.9}, "cannot be combined with cost"),
        ({"max_fpr": 0.1, "confidence": 1}, "confidence"),
    ],
)
def test_wrong_demands(arguments, message):
    y, scores = rows(np.random.default_rng(4), 60)
    with pytest.raises(ValueError, match=message):
        choose_threshold(y, np.where(y, scores - 4, scores), **arguments)


def test_labels_are_needed():
    with pytest.raises(ValueError, match="needs labels"):
        choose_threshold(None, [1.0, 2.0], max_fpr=0.5)
