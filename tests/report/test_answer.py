"""The answer: an action and a figure, and no more than was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compared import compared
from toprank.inputs.leaks import Leak
from toprank.report import make
from toprank.report.answer import answer_of, head_of, headline, with_leaks
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


def with_leak(columns: int = 1, **options: Any) -> Any:
    """A report of rows of which some columns are the label."""
    return make(compared(X=labels(columns)), **options)


def labels(columns: int = 1) -> Any:
    """Rows of `compared` of which some columns are the label."""
    found = compared()
    X = np.array(found.data.X)
    X[:, :columns] = found.data.y[:, None]
    return X


def test_a_leak_takes_the_headline() -> None:
    made = with_leak()
    found = made.data["answer"]
    assert found["headline"] == "STOP: x0 gives the answer away."
    assert found["leaks"] == ["x0"]
    assert found["sentences"][1:3] == [
        "The figures hold only if it is known when the list is made. If not, leave it out "
        "(`--ignore x0`) and compare again.",
        answer(X=labels())["headline"],
    ]
    assert made.data["next"][0].startswith("Find out whether 'x0' is known in time.")
    page = made.html()
    assert '<h2 class="headline stop" id="answer-title">STOP: x0 gives the answer' in page
    assert "<code class='whole'>--ignore x0</code>" in page
    assert page.index("--ignore x0") < page.index('class="tiles"')  # before any figure
    assert '<li class="fired stop" id="tr006">' in page
    assert made.markdown().startswith("# STOP: x0 gives the answer away.")
    two = with_leak(2).data["answer"]
    assert two["headline"] == "STOP: x0 and x1 give the answer away."
    assert "leave them out (`--ignore x0 --ignore x1`)" in two["sentences"][1]


def test_many_leaks_are_counted_and_quoted() -> None:
    leaks = [Leak(f"back {k}", 1.0) for k in range(6)]
    found = with_leaks(answer(), leaks)
    assert (
        found["headline"] == "STOP: back 0, back 1, back 2, back 3 and 2 more give the answer away."
    )
    assert "--ignore 'back 3'` ...)" in found["sentences"][1]
    assert len(found["leaks"]) == 6


def test_models_with_the_same_figures_are_level() -> None:
    found = compared()
    found.figures[1] = found.figures[0]
    told = answer_of(found, head_of(found))
    assert told["sentences"][-1] == "It is level with the next best, BBR."


def test_a_silenced_leak_does_not() -> None:
    made = with_leak(ignore=["tr006"])
    assert made.data["answer"]["headline"] == answer(X=labels())["headline"]
    assert made.data["answer"]["leaks"] == []
    assert "headline stop" not in made.html()
