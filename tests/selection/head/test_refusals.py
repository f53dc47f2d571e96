"""What HeadRanker refuses instead of going on with something else than was meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import HeadRanker, LogisticRank, QuantileSigmoid
from toprank.features import table_pipeline
from toprank.selection import RankerCV

RNG = np.random.default_rng(3)
X = RNG.normal(size=(240, 3))
Y = (X[:, 0] + RNG.logistic(size=240) > 1).astype(int)
FAST = {"candidates": "fast", "cv": 3, "random_state": 0}


@pytest.mark.parametrize("candidates", ["default", "fast", [("mine", LogisticRegression())]])
def test_columns_that_tell_nothing_are_told_of(candidates: Any) -> None:
    with pytest.raises(ValueError, match="Every candidate gave all rows the same score"):
        HeadRanker(candidates=candidates, cv=3, random_state=0).fit(np.ones((240, 2)), Y)


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (Ridge(), "Ridge in candidates has neither"),
        (Ridge, r"candidates\[0\] is a class: pass Ridge\(\)"),
        (LogisticRegression(C=-1), "The 'C' parameter"),
    ],
)
def test_a_candidate_that_cannot_race_is_named(candidate: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        HeadRanker(candidates=[candidate], trees=False, cv=3).fit(X, Y)


def test_the_start_of_a_second_stage_has_its_parameters_checked() -> None:
    with pytest.raises(ValueError, match=r"The 'C' parameter"):
        QuantileSigmoid(start=LogisticRegression(C=-1)).fit(X, Y)


def test_weights_reach_the_last_step_of_a_pipeline_or_are_refused() -> None:
    weight = RNG.integers(1, 4, size=240).astype(float)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    made = HeadRanker(candidates=[pipe], trees=False, cv=3).fit(X, Y, sample_weight=weight)
    alone = pipe.fit(X, Y, logisticregression__sample_weight=weight)
    assert_array_equal(made.best_estimator_[-1].coef_, alone[-1].coef_)
    near = HeadRanker(candidates=[KNeighborsClassifier()], trees=False, cv=3)
    with pytest.raises(ValueError, match="'KNeighborsClassifier' in candidates takes no sample_w"):
        near.fit(X, Y, sample_weight=weight)
    near.fit(X, Y, sample_weight=weight > 1)  # which only leaves rows out


@pytest.mark.parametrize("ranker", [HeadRanker(**FAST), RankerCV(LogisticRank(), cv=3)])
def test_groups_are_kept_together_or_refused(ranker: Any) -> None:
    groups = np.arange(240) // 2
    with pytest.raises(ValueError, match=r"cv=3 .*StratifiedGroupKFold\(3\)"):
        ranker.fit(X, Y, groups=groups)
    ranker.set_params(cv=GroupKFold(3))
    with pytest.raises(ValueError, match="keeps groups together: pass their labels"):
        ranker.fit(X, Y)
    with pytest.raises(ValueError, match="groups has 239 labels, but X has 240 rows"):
        ranker.fit(X, Y, groups=groups[1:])


def test_a_missing_label_is_found() -> None:
    labels = Y.astype(float)
    labels[7] = np.nan
    with pytest.raises(ValueError, match="y contains NaN: row 7"):
        HeadRanker(**FAST).fit(X, labels)


def test_explanations_behind_a_pipeline_have_names() -> None:
    frame = pd.DataFrame({"pay": X[:, 0], "job": np.where(X[:, 1] > 0, "clerk", "nurse")})
    pipeline = table_pipeline(HeadRanker(**FAST)).fit(frame, Y)
    names = pipeline[:-1].get_feature_names_out()
    told = pipeline[-1].explain(pipeline[:-1].transform(frame[:3]), names)
    assert list(told.names) == ["pay", "job_clerk", "job_nurse"]
    with pytest.raises(ValueError, match=r"names has 2 names, but X has 3 columns"):
        pipeline[-1].explain(pipeline[:-1].transform(frame[:3]), names[1:])
