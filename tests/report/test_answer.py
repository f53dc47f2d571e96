"""The answer: an action and a figure, and no more than was measured."""

from __future__ import annotations

from typing import Any

import pytest

from support.compared import compared
from toprank.report import make
from toprank.report.answer import answer_of, head_of
from toprank.report.headline import headline
from toprank.selection.head.capacity import Capacity

#: Forty of four hundred can be looked at, and the precision among them decides.
FORTY: dict[str, Any] = {
    "capacity": Capacity(0.1, 40, 400),
    "metrics": ("precision_at_0.1", "recall_at_0.1", "auc"),
}


def answer(**options: Any) -> dict[str, Any]:
    found = compared(**options)
    return answer_of(found, head_of(found))


@pytest.mark.parametrize(
    ("lead", "said"),
    [
        (2.0, "Use BBR: its average precision is 0.519 above that of logistic regression."),
        (
            0.05,
            "Use BBR: its average precision is 0.037 above that of logistic regression, not yet "
            "certain (0.070 below to 0.144 above).",
        ),
        (-2.0, "Use logistic regression: no other model has a higher average precision."),
    ],
)
def test_the_headline_is_what_to_do(lead: float, said: str) -> None:
    assert answer(lead=lead)["headline"] == said


@pytest.mark.parametrize(
    ("lead", "said"),
    [
        (2.0, "Use BBR: about 21 more hits in the first 40 than logistic regression."),
        (
            0.2,
            "Use BBR: about 2 more hits in the first 40 than logistic regression, not yet certain "
            "(8 fewer to 12 more).",
        ),
        (-2.0, "Use logistic regression: no other model finds more in the first 40."),
    ],
)
def test_the_headline_counts_hits_where_the_first_rows_decide(lead: float, said: str) -> None:
    assert answer(lead=lead, **FORTY)["headline"] == said


@pytest.mark.parametrize("by_hits", [True, False])
def test_what_rounds_to_nothing_is_no_lead(by_hits: bool) -> None:
    hits = {"difference": 0.016, "low": -1.0, "high": 1.0}
    lead = {"model": "logistic", "difference": 0.0004, "low": -0.1, "high": 0.1, "hits": hits}
    found = {
        "title": "BBR",
        "against_reference": {**lead, "sure": False, "compared": 2},
        "expect": {"k": 40},
    }
    said = headline(found, "AUC", by_hits=by_hits)
    assert said.startswith("Use BBR or logistic regression: ")
    assert "less than one hit apart" in said or "less than 0.001" in said


def test_a_lead_that_many_models_make_doubtful_says_so() -> None:
    lead = {"model": "logistic", "difference": 0.1, "low": 0.01, "high": 0.2, "sure": False}
    found = {
        "title": "BBR",
        "against_reference": {**lead, "compared": 5, "hits": {"difference": 4.0}},
        "expect": {"k": 40},
    }
    assert headline(found, "", by_hits=True) == (
        "Use BBR: about 4 more hits in the first 40 than logistic regression, not yet certain "
        "after a comparison of 5 models."
    )


def test_one_model_alone_is_told_by_what_it_finds() -> None:
    found = answer(models=("logistic",), **FORTY)
    expected = round(found["expect"]["expected"])
    assert found["headline"] == (
        f"Logistic regression finds about {expected} positives in the first 40."
    )


def test_hits_are_the_precision_of_the_first_k_and_are_doubtful_where_it_is() -> None:
    for lead in (2.0, 0.2, 0.1):
        found = answer(lead=lead, **FORTY)["against_reference"]
        for name in ("difference", "low", "high"):
            assert found["hits"][name] == pytest.approx(40 * found[name])
        assert found["sure"] == (found["p"] < 0.05)
        assert ("not yet certain" in answer(lead=lead, **FORTY)["headline"]) is not found["sure"]


def test_a_count_is_told_as_a_count() -> None:
    report = make(compared(**FORTY))
    titles = [metric["title"] for metric in report.data["metrics"]]
    assert titles == ["precision in the first 40", "recall in the first 40", "AUC"]
    share = make(compared(capacity=0.1, metrics=("precision_at_0.1", "precision_at_0.2")))
    titles = [metric["title"] for metric in share.data["metrics"]]
    assert titles == ["precision in the first 10\u00a0%", "precision in the first 20\u00a0%"]


def test_one_model_is_no_models() -> None:
    report = make(compared(models=("logistic",)))
    for text in (report.html(), report.markdown()):
        assert "1 models" not in text
        assert "1 model on" in text
