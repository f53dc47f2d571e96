"""What skops, and with it MLflow, has to trust of a fitted ranker."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestClassifier

import toprank
from support.small_fits import X, Y, fitted, forms_of
from toprank import HeadRanker, LogisticRank, RankSVM, methods
from toprank.features import table_pipeline
from toprank.inputs.folds import WholeTimeSplit
from toprank.problems import Multipliers
from toprank.selection import RankerCV
from toprank.trees import from_model


def untrusted(model: Any) -> set[str]:
    skops = pytest.importorskip("skops.io")
    return set(skops.get_untrusted_types(data=skops.dumps(model)))


@cache
def heads() -> list[Any]:
    options: list[dict[str, Any]] = [
        {"trees": True},
        {"candidates": "linear", "capacity": 0.1, "refine": True},
        {"candidates": ["bins"], "trees": False},
        {"candidates": ["squashed", "losses"], "trees": False},
        {"candidates": ["nystroem"], "trees": True},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [HeadRanker(random_state=0, cv=2, **one).fit(X, Y) for one in options]


@pytest.mark.parametrize("name", methods.__all__)
def test_skops_trusts_a_method_and_what_it_keeps(name: str) -> None:
    skops = pytest.importorskip("skops.io")
    for options in forms_of(name):
        ranker = fitted(name, **options)
        assert untrusted(ranker) <= set(toprank.TRUSTED_TYPES)
        again = skops.loads(skops.dumps(ranker), trusted=toprank.TRUSTED_TYPES)
        assert_array_equal(again.decision_function(X), ranker.decision_function(X))


def multipliers() -> Any:
    """Return a warm-start ranker whose proof is multipliers."""
    ranker = fitted("RectPush", solver="few-passes", warm_start=True)
    assert isinstance(ranker._solution.proof, Multipliers)
    return ranker


def test_skops_trusts_multipliers() -> None:
    skops = pytest.importorskip("skops.io")
    ranker = multipliers()
    assert untrusted(ranker) <= set(toprank.TRUSTED_TYPES)
    again = skops.loads(skops.dumps(ranker), trusted=toprank.TRUSTED_TYPES)
    assert_array_equal(again._solution.dual, ranker._solution.dual)


def test_skops_trusts_what_searches_and_tables_are_made_of() -> None:
    skops = pytest.importorskip("skops.io")
    in_time = RankerCV(LogisticRank(), cv=WholeTimeSplit(2))
    in_time.fit(X, Y, groups=np.arange(len(Y)))
    for model in [
        *heads(),
        RankerCV(LogisticRank(), alphas=[10.0, 1.0, 0.1, 0.01]).fit(X, Y),
        in_time,
    ]:
        assert untrusted(model) <= set(toprank.TRUSTED_TYPES)
        again = skops.loads(skops.dumps(model), trusted=toprank.TRUSTED_TYPES)
        assert_array_equal(again.decision_function(X), model.decision_function(X))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X).assign(day=pandas.Timestamp("2024-02-29"), kind="a")
    frame.columns = frame.columns.astype(str)
    frame.loc[::3, "kind"] = "b"
    pipeline = table_pipeline(RankSVM()).fit(frame, Y)
    assert untrusted(pipeline) <= set(toprank.TRUSTED_TYPES)


def test_skops_trusts_trees() -> None:
    skops = pytest.importorskip("skops.io")
    trees = from_model(RandomForestClassifier(2, random_state=0).fit(X, Y))
    assert untrusted(trees) <= set(toprank.TRUSTED_TYPES)
    again = skops.loads(skops.dumps(trees), trusted=toprank.TRUSTED_TYPES)
    assert_array_equal(again.decision_function(X), trees.decision_function(X))


def test_no_type_is_trusted_in_vain() -> None:
    needed = set().union(*(untrusted(fitted(n, **o)) for n in methods.__all__ for o in forms_of(n)))
    needed = needed.union(untrusted(multipliers()), *map(untrusted, heads()))
    needless = {name.rpartition(".")[2] for name in set(toprank.TRUSTED_TYPES) - needed}
    # RankerCV, its folds in time and what tables are made of are tried above; the others are
    # candidates to be chosen.
    assert needless <= {
        "RankerCV",
        "WholeTimeSplit",
        "DateParts",
        "Squash",
        "BinsAndPairs",
        "as_floats",
        "as_words",
        "of_kind",
        "CodedNumbers",
        "TableCoder",
        "Blend",
        "Stretch",
        "HeadRanker",
        "TreeEnsemble",
        "TreePredictor",
        "dtype",
    }
