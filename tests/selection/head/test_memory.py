"""Large tables in a race: blocks, samples that stand for all rows, and the memory they take."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.preprocessing import FunctionTransformer

import toprank
from support import programs
from toprank import HeadRanker, LogisticRank
from toprank.metrics import average_precision
from toprank.selection.head import candidates
from toprank.selection.head import features as head_features
from toprank.selection.head.features import DENSE, FeatureCache, draw_sample

RNG = np.random.default_rng(4)
N = 6000
X = RNG.normal(size=(N, 4))
Y = (RNG.random(N) < 1 / (1 + np.exp(4 - 2 * np.abs(X[:, 0]) - 2 * X[:, 1] * X[:, 2]))).astype(int)
OPTIONS: dict[str, Any] = {"trees": False, "cv": 3, "random_state": 0}


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Features may take the memory of the rows twice, and a block is small."""
    monkeypatch.setattr(head_features, "_LEAST_BYTES", 0)
    monkeypatch.setattr(head_features, "_BLOCK", 50_000)


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("order", ["C", "F"])
def test_features_of_blocks_are_those_of_all_rows(
    name: str, order: Any, little_memory: None
) -> None:
    rows = np.asarray(X, order=order)
    features = DENSE[name](N, 4, 0).fit(rows, Y)
    whole, made = features.transform(rows), head_features.transformed(features, rows)
    some = RNG.permutation(N)[:5000]
    part = head_features.transformed(features, rows, some)
    assert made.dtype == whole.dtype
    if sparse.issparse(whole):
        assert type(made) is type(whole)
        assert (made != whole).nnz == 0
        assert (part != whole[some]).nnz == 0
    else:
        assert made.flags.c_contiguous == whole.flags.c_contiguous
        # Products of matrices are rounded differently in blocks of other sizes.
        assert_allclose(made, whole, rtol=1e-5, atol=1e-6)
        assert_allclose(part, whole[some], rtol=1e-5, atol=1e-6)
    ranker = LogisticRank(0.1).fit(whole, Y)
    other = LogisticRank(0.1, negative_weight=4.0).fit(whole, Y)
    scores = head_features.scored(features, [ranker, other], rows, some)
    assert_allclose(scores[0], ranker.decision_function(whole)[some], rtol=1e-5, atol=1e-5)
    assert_allclose(scores[1], other.decision_function(whole)[some], rtol=1e-5, atol=1e-5)


def test_joined_blocks_make_room_for_later_rows_with_more_entries(little_memory: None) -> None:
    counts = np.linspace(0, 60, 3000).astype(int)  # the first blocks are nearly empty
    rows = (np.arange(60) < counts[:, np.newaxis]).astype(float)
    features = FunctionTransformer(sparse.csr_array)
    assert (head_features.transformed(features, rows) != sparse.csr_array(rows)).nnz == 0


@pytest.mark.parametrize("count", [40, 300, 900])
def test_a_sample_keeps_positives_and_stands_for_all_rows(count: int) -> None:
    y = (np.arange(1000) % 10 == 3).astype(int)
    rows, times = draw_sample(y, count, 0)
    assert times is not None
    assert len(rows) == len(np.unique(rows)) == count
    assert (np.diff(rows) > 0).all()
    assert y[rows].sum() == min(100, count // 2)
    assert times[y[rows] == 1].sum() == pytest.approx(100)
    assert times[y[rows] == 0].sum() == pytest.approx(900)
    values = np.arange(1000.0)
    means = []
    for seed in range(300):
        rows, times = draw_sample(y, count, seed)
        assert times is not None
        means.append((values[rows] * times).sum() / 1000)
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - values.mean()) < 4 * error + 1e-9


def test_all_rows_are_no_sample() -> None:
    rows, times = draw_sample(np.array([0, 1, 1]), 3, 0)
    assert_array_equal(rows, [0, 1, 2])
    assert times is None
    # Where positives are the frequent ones, negatives are all kept.
    rows, times = draw_sample((np.arange(100) >= 10).astype(int), 50, 0)
    assert_array_equal(rows[:10], np.arange(10))
    assert len(rows) == 50


@pytest.mark.parametrize(
    ("cv", "groups"), [(3, None), (GroupKFold(3), np.arange(N) // 4), (TimeSeriesSplit(3), None)]
)
def test_a_race_on_a_sample_is_judged_on_all_rows_held_out(
    cv: Any, groups: Any, little_memory: None
) -> None:
    options = OPTIONS | {"cv": cv, "candidates": ["squashed", "bins"]}
    ranker = HeadRanker(**options).fit(X, Y, groups=groups)
    board = ranker.leaderboard_.set_index("candidate")
    note = board["note"]["bins, logistic"]
    count, total = (int(word) for word in note.split() if word.isdigit())
    assert note == f"learnt from {count} of {N} rows"
    assert 0.05 * N < count < total / 2
    assert board["note"]["squashed, logistic"] == ""
    assert board["chosen"]["bins, logistic"]
    figures = []
    for model, (_, test) in zip(ranker.fold_models_, ranker.folds_, strict=True):
        assert_allclose(model.decision_function(X[test]), ranker.oof_scores_[test], atol=1e-12)
        figures.append(average_precision(Y[test], ranker.oof_scores_[test]))
    assert board["mean"]["bins, logistic"] == pytest.approx(np.mean(figures))
    whole = ranker.best_estimator_.decision_function(X)
    assert_allclose(ranker.decision_function(X), whole - ranker.threshold_, atol=1e-12)


def test_a_sample_learns_nearly_what_all_rows_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = HeadRanker(**OPTIONS, candidates=["bins"]).fit(X, Y)
    monkeypatch.setattr(head_features, "_LEAST_BYTES", 780_000)
    part = HeadRanker(**OPTIONS, candidates=["bins"]).fit(X, Y)
    assert part.leaderboard_["note"][0].startswith("learnt from 3")
    assert part.best_score_ == pytest.approx(whole.best_score_, abs=0.03)
    # The probabilities are those of all rows, not of the sample with more positives.
    assert part.predict_proba(X)[:, 1].mean() == pytest.approx(Y.mean(), abs=0.01)
    first = part.best_estimator_["ranker"].intercept_
    assert first == pytest.approx(whole.best_estimator_["ranker"].intercept_, abs=0.4)


def test_weights_and_the_sample_are_multiplied(little_memory: None) -> None:
    weight = RNG.integers(0, 3, N).astype(float)
    seen: list[Any] = []
    sampled = FeatureCache.sampled

    def kept(self: FeatureCache, features: Any, data: Any, rows: Any) -> Any:
        training_rows = sampled(self, features, data, rows)
        seen.append((rows, training_rows))
        return training_rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FeatureCache, "sampled", kept)
        ranker = HeadRanker(**OPTIONS, candidates=["bins"]).fit(X, Y, weight)
    used = int((weight > 0).sum())
    assert ranker.leaderboard_["note"][0].endswith(f"of {used} rows")
    assert seen
    for rows, training_rows in seen:
        assert (training_rows.weight > 0).all()
        for label in (0, 1):
            expected = weight[rows][Y[rows] == label].sum()
            # Rows of weight 1 and of weight 2 are drawn alike.
            assert training_rows.weight[training_rows.y == label].sum() == pytest.approx(
                expected, rel=0.1
            )


def test_processes_and_a_second_stage_learn_from_the_same_sample(little_memory: None) -> None:
    options = OPTIONS | {"candidates": ["bins", "losses"], "capacity": 0.05, "refine": True}
    one = HeadRanker(**options).fit(X, Y)
    with parallel_config(backend="threading"):  # which knows of the little memory
        two = HeadRanker(**options, n_jobs=2).fit(X, Y)
    assert_allclose(two.oof_scores_, one.oof_scores_, rtol=1e-9)
    assert_array_equal(two.leaderboard_["note"], one.leaderboard_["note"])


def test_kernel_columns_learn_from_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(candidates._MOST_ROWS, "nystroem", 1000)
    ranker = HeadRanker(**OPTIONS, candidates=["nystroem"]).fit(X, Y)
    assert ranker.leaderboard_["note"][0] == f"learnt from 1000 of {N} rows"
    assert ranker.best_score_ > 2 * Y.mean()
    for model, (_, test) in zip(ranker.fold_models_, ranker.folds_, strict=True):
        assert_allclose(model.decision_function(X[test]), ranker.oof_scores_[test], atol=1e-5)


def test_kernel_columns_behind_the_best_linear_score_are_dropped() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(600, 6))
    labels = (rows @ [1.0, -1.0, 1.0, 2.0, 1.0, 0.5] + rng.normal(size=600) > 2.5).astype(int)
    ranker = HeadRanker(**OPTIONS, candidates=["nystroem", "columns"]).fit(rows, labels)
    board = ranker.leaderboard_.sort_index()
    assert list(board["features"]) == ["columns", "nystroem"]
    assert board["note"][1].startswith("behind: ")
    assert "columns, logistic" in board["note"][1]


def test_features_that_are_released_are_made_again_by_the_same_transformer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = OPTIONS | {"candidates": ["squashed", "losses"]}
    kept = HeadRanker(**options).fit(X, Y)
    fits: list[int] = []
    made = FeatureCache._made

    def counted(self: FeatureCache, data: Any, rows: Any) -> Any:
        fits.append(len(rows))
        return made(self, data, rows)

    monkeypatch.setattr(head_features, "_MUCH", 0)
    monkeypatch.setattr(FeatureCache, "_made", counted)
    released = HeadRanker(**options).fit(X, Y)
    assert len(fits) == 1
    assert_allclose(released.oof_scores_, kept.oof_scores_, rtol=1e-9)
    assert_allclose(released.decision_function(X), kept.decision_function(X), rtol=1e-9, atol=1e-12)


def test_a_race_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RNG.normal(size=(30_000, 8))
    labels = (RNG.random(30_000) < 1 / (1 + np.exp(4 - rows[:, 0] * rows[:, 1]))).astype(int)

    def peak() -> float:
        """Return the most bytes of arrays at a time, as NumPy reports them."""
        tracemalloc.start()
        ranker = HeadRanker(**OPTIONS | {"cv": 2}, candidates=["squashed", "bins"]).fit(
            rows, labels
        )
        ranker.decision_function(rows)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    monkeypatch.setattr(head_features, "_MUCH", 0)
    whole = peak()
    monkeypatch.setattr(head_features, "_LEAST_BYTES", 5_000_000)
    monkeypatch.setattr(head_features, "_BLOCK", 1_000_000)
    assert peak() < 0.3 * whole


_FIT = """
import resource, sys
import numpy as np
from toprank import HeadRanker

rng = np.random.default_rng(0)
X = rng.normal(size=(400_000, 10))
y = (rng.random(400_000) < 1 / (1 + np.exp(5 - X[:, 0] * X[:, 1]))).astype(int)
ranker = HeadRanker(candidates=["bins"], trees=False, cv=2, random_state=0).fit(X, y)
print(ranker.leaderboard_["note"][0])
ranker.decision_function(X)
if sys.platform == "linux":  # where ru_maxrss begins with the memory of the parent process
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmHWM:"))
    print(1024 * int(line.split()[1]))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_the_peak_is_four_times_the_table_and_600_mb() -> None:
    note, peak = programs.run(_FIT).splitlines()
    assert note == "learnt from 100000 of 400000 rows"
    assert int(peak) < 4 * 400_000 * 10 * 8 + 600e6


def test_a_model_file_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    sizes = []
    for n in (600, N):
        ranker = HeadRanker(**OPTIONS, candidates=["columns"]).fit(X[:n], Y[:n])
        for folds in (False, True):
            toprank.save(ranker, tmp_path / "model", folds=folds)
            sizes.append((tmp_path / "model").stat().st_size)
    assert abs(sizes[2] - sizes[0]) < 500
    assert sizes[3] - sizes[1] > 8 * (N - 600)


def test_steps_behind_a_wide_one_see_a_sample(little_memory: None) -> None:
    words = np.array([f"w{k:02d}" for k in range(40)])[RNG.integers(0, 40, N)]
    table = pd.DataFrame({"word": words, "other": words[::-1], "x": X[:, 0]})
    y = RNG.random(N) < np.where(words < "w10", 0.3, 0.05)
    ranker = HeadRanker(**OPTIONS, candidates=["squashed"]).fit(table, y)
    note = ranker.leaderboard_["note"][0]
    assert "of 6000 rows" in note
    scores = ranker.decision_function(table)
    assert scores[words < "w10"].mean() > np.quantile(scores, 0.7)
