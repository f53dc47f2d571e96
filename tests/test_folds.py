"""Folds in time, with rows of the same time on one side."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from toprank import BBRCV, HeadRanker, LogisticRank
from toprank.inputs.class_split import Split
from toprank.inputs.folds import Folds, WholeTimeSplit, between_times, make_folds
from toprank.selection import RankerCV


@pytest.mark.parametrize("n_times", [3, 12, 100])
@pytest.mark.parametrize("n_splits", [2, 5])
def test_no_time_is_on_both_sides(n_times: int, n_splits: int) -> None:
    times = np.sort(np.random.default_rng(n_times).integers(0, n_times, 200))
    splitter = WholeTimeSplit(n_splits)
    folds = list(splitter.split(times, groups=times))
    assert 1 <= len(folds) <= n_splits
    assert len(folds) == splitter.get_n_splits(groups=times)
    for training, test in folds:
        assert times[training].max() < times[test].min()
        assert len(test) > 0
    for (_, test), (training, _) in itertools.pairwise(folds):
        assert test[-1] == training[-1]  # the next fold trains on all that came before
    assert folds[-1][1][-1] == 199


def test_times_of_a_row_each_are_split_as_by_scikit_learn() -> None:
    times = np.arange(50)
    ours = WholeTimeSplit(4).split(times, groups=times)
    for own, theirs in zip(ours, TimeSeriesSplit(4).split(times), strict=True):
        for mine, other in zip(own, theirs, strict=True):
            assert np.array_equal(mine, other)


def test_a_cut_goes_to_the_nearer_end_of_its_time() -> None:
    times = np.repeat([0, 1, 2], [4, 10, 6])
    assert [between_times(times, cut) for cut in (0, 2, 3, 4, 9, 10, 14, 16, 18, 20)] == [
        *(0, 0, 4, 4, 4, 14, 14, 14, 20, 20)
    ]


def test_times_that_will_not_do() -> None:
    with pytest.raises(ValueError, match="10 rows have 1: take finer times"):
        list(WholeTimeSplit(2).split(None, groups=np.zeros(10)))
    with pytest.raises(ValueError, match="not in the order of their times"):
        list(WholeTimeSplit(2).split(None, groups=np.arange(10)[::-1]))


def test_a_search_of_scikit_learn_takes_fewer_folds() -> None:
    times = np.repeat([0, 1, 2], [10, 60, 10])  # five cuts, of which two are left
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = np.arange(80) % 2
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=WholeTimeSplit(5))
    search.fit(X, y, groups=times)
    assert search.n_splits_ == 2


def test_compact_folds_are_the_same_folds_in_little_memory() -> None:
    y = np.arange(1000) % 4 == 0
    plain = make_folds(5, Split.of(y, None), None, y)
    shuffled = [(rows[::-1], test) for rows, test in plain]
    late = list(TimeSeriesSplit(3).split(y))
    for folds, most in (
        (plain, 1_000),
        (Folds(5, None, shuffled), 10_000),
        (Folds(3, None, late), 6_000),
    ):
        small = folds.compact()
        assert len(small) == folds.count
        arrays = (
            [small.fold_of] if small.listed is None else [a for pair in small.listed for a in pair]
        )
        assert sum(array.nbytes for array in arrays) <= most
        for one, other in zip(folds, small, strict=True):
            np.testing.assert_array_equal(one[0], other[0])
            np.testing.assert_array_equal(one[1], other[1])
        np.testing.assert_array_equal(small[-1][1], folds.held_out(folds.count - 1))
        with pytest.raises(IndexError):
            small[folds.count]


ROWS = np.random.default_rng(0).normal(size=(12, 2))
LABELS = np.arange(12) % 2
FIRST, LAST = np.arange(6), np.arange(6, 12)
WRONG = {
    "trains on row 4 and is tested on it": (FIRST, np.r_[4, LAST]),
    "trains on row 0 and is tested on it": (np.arange(12), np.arange(12)),
    "names row -1, but the rows of X are numbered from 0 to 11": (FIRST, np.r_[LAST, -1]),
    "names row -6, but": (np.r_[FIRST, -6], LAST),
    "names row 12, but": (FIRST, np.r_[LAST, 12]),
    r"of shape \(6,\) and type float64": (FIRST.astype(float), LAST),
    r"mask of 12 booleans; got an array of shape \(6,\) and type bool": (FIRST, LAST > 0),
    r"of shape \(1, 6\)": (FIRST, LAST[np.newaxis]),
}


@pytest.mark.parametrize("words", WRONG)
def test_folds_that_overlap_or_name_wrong_rows_are_refused(words: str) -> None:
    cv = [(FIRST, LAST), WRONG[words]]
    for estimator in (
        BBRCV(cv=cv),
        RankerCV(LogisticRank(), [1.0], cv=cv),
        HeadRanker(candidates="linear", cv=cv),
    ):
        with pytest.raises(ValueError, match=f"^Fold 1 of cv .*{words}"):
            estimator.fit(ROWS, LABELS)


def test_folds_may_be_masks_lists_and_bootstraps() -> None:
    split = Split.of(LABELS == 1)
    cv = [(np.isin(np.arange(12), FIRST), LAST.tolist()), (np.repeat(LAST, 2), FIRST)]
    folds = make_folds(cv, split, ROWS, LABELS)
    assert [(t.tolist(), h.tolist()) for t, h in folds.pairs] == [
        (FIRST.tolist(), LAST.tolist()),
        (np.repeat(LAST, 2).tolist(), FIRST.tolist()),
    ]
