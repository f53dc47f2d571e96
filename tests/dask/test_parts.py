"""Collections of Dask as parts: every form of them gives what the rows in memory give."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from support.parts import cut, table
from toprank import BBR, BBRCV, WSVM, HeadRanker, LogisticRank
from toprank.dask import design
from toprank.dask.matrix import _add_sums, _sums_of_part
from toprank.dask.parts import Labels, Rows, Where
from toprank.designs import Ask
from toprank.exceptions import PositiveLabelWarning
from toprank.inputs.class_split import Split
from toprank.methods.squared.rows import fold_of_rows

NAMES = list("abcde")


def same(one: Any, other: Any) -> None:
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-11, atol=1e-14)
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-11)


@pytest.mark.parametrize(
    "lengths", [[3000], [1000] * 3, [1, 2, 2997], [0, 1500, 0, 1500], [700, 0, 2300]]
)
def test_parts_of_any_length_give_what_rows_in_memory_give(client: Any, lengths: list[int]) -> None:
    X, y = table()
    same(BBR().fit(cut(X, lengths), cut(y, lengths)), BBR().fit(X, y))


def test_parts_of_one_class_are_parts(client: Any) -> None:
    X, y = table()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert not y[:1000].any()
    same(BBR().fit(cut(X, [1000] * 3), cut(y, [1000] * 3)), BBR().fit(X, y))


def test_parts_need_not_know_their_lengths(client: Any) -> None:
    X, y = table()
    lengths = [800, 0, 2200]
    found = BBR().fit(cut(X, lengths, known=False), cut(y, lengths, known=False))
    same(found, BBR().fit(X, y))


def test_columns_may_be_cut_too(client: Any) -> None:
    X, y = table()
    same(
        BBR().fit(da.from_array(X, chunks=(1000, 2)), da.from_array(y, chunks=1000)),
        BBR().fit(X, y),
    )


def test_labels_cut_elsewhere_are_cut_again(client: Any) -> None:
    X, y = table()
    same(BBR().fit(cut(X, [1000] * 3), da.from_array(y, chunks=700)), BBR().fit(X, y))


def test_labels_in_memory_go_with_parts_of_known_length(client: Any) -> None:
    X, y = table()
    same(BBR().fit(cut(X, [1000] * 3), y), BBR().fit(X, y))
    with pytest.raises(TypeError, match="y is a ndarray, and the parts of X have unknown lengths"):
        BBR().fit(cut(X, [1000] * 3, known=False), y)


def test_frames_bring_the_names_of_their_columns(client: Any) -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=NAMES).assign(y=y)
    parts = dd.from_pandas(frame, npartitions=3)
    found = BBR().fit(parts[NAMES], parts["y"])
    same(found, BBR().fit(frame[NAMES], y))
    assert found.feature_names_in_.tolist() == NAMES


def test_blocks_may_be_sparse(client: Any) -> None:
    X, y = table()
    X = np.where(np.abs(X) > 1.5, X, 0.0)
    blocks = da.from_array(X, chunks=(1000, -1)).map_blocks(sparse.csr_matrix)
    same(BBR().fit(blocks, da.from_array(y, chunks=1000)), BBR().fit(sparse.csr_array(X), y))


def test_weights_count_as_in_memory(client: Any) -> None:
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    found = BBR().fit(cut(X, [1000] * 3), cut(y, [1000] * 3), cut(weight, [1000] * 3))
    same(found, BBR().fit(X, y, weight))
    assert found.moments_.positive.weight == weight[y == 1].sum()


def test_float32_stays_float32_and_design_can_ask_for_it(client: Any) -> None:
    X, y = table()
    single = X.astype(np.float32)
    local = BBR().fit(single, y)
    same(BBR().fit(cut(single, [1000] * 3), cut(y, [1000] * 3)), local)
    rows = design(cut(X, [1000] * 3), dtype="float32")
    same(BBR().fit(rows, cut(y, [1000] * 3)), local)
    same(BBR(alpha=1.0).fit(rows, cut(y, [1000] * 3)), BBR(alpha=1.0).fit(single, y))
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        design(cut(X, [3000]), dtype="int64")


def test_two_runs_give_the_same_bits(client: Any) -> None:
    X, y = table()
    first, second = (BBR().fit(cut(X, [1000] * 3), cut(y, [1000] * 3)) for _ in range(2))
    assert first.coef_.tobytes() == second.coef_.tobytes()


def test_folds_are_held_out_by_part_and_row(client: Any) -> None:
    X, y = table()
    lengths = [1000, 500, 1500]
    fold = np.concatenate([fold_of_rows(place, n, 4) for place, n in enumerate(lengths)])
    assert np.bincount(fold).min() > 600
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    local = BBRCV(cv=folds).fit(X, y)
    found = BBRCV(cv=4).fit(cut(X, lengths), cut(y, lengths))
    same(found, local)
    assert found.alpha_ == pytest.approx(local.alpha_, rel=1e-12)
    np.testing.assert_allclose(found.cv_risks_, local.cv_risks_, rtol=1e-10)


def test_words_and_pos_label(client: Any) -> None:
    X, y = table()
    words = np.where(y == 1, "bad", "good")
    parts = cut(X, [1500] * 2), cut(words, [1500] * 2)
    with pytest.warns(PositiveLabelWarning, match=r"\"bad\" \(\d+ rows\) and \"good\""):
        assert BBR().fit(*parts).classes_.tolist() == ["bad", "good"]
    rare = np.where(X[:, 0] > np.quantile(X[:, 0], 0.8), "bad", "good")
    head = HeadRanker(candidates="fast", cv=2, random_state=0)
    with pytest.warns(PositiveLabelWarning, match='"bad" is taken .* it is the rarer one'):
        head.fit(parts[0], cut(rare, [1500] * 2))
    assert head.classes_.tolist() == ["good", "bad"]
    found = BBR(pos_label="bad").fit(*parts)
    same(found, BBR().fit(X, y))
    assert set(found.predict(parts[0]).compute()) == {"bad", "good"}


def test_mistakes_are_named(client: Any) -> None:
    X, y = table()
    parts = cut(X, [1500] * 2)
    wrong = X.copy()
    wrong[1600, 3] = np.inf
    with pytest.raises(ValueError, match=r"Part 1 of X.*row 100, column 3"):
        BBR().fit(cut(wrong, [1500] * 2), y)
    with pytest.raises(ValueError, match=r"Part 0 .*sample_weight\[7\] is -1"):
        BBR().fit(parts, y, np.where(np.arange(3000) == 7, -1.0, 1.0))
    with pytest.raises(ValueError, match=r"one class only, 0"):
        BBR().fit(parts, np.zeros(3000, int))
    with pytest.raises(ValueError, match=r"3 classes or more, 0, 1, 2"):
        BBR().fit(parts, np.arange(3000) % 3)
    with pytest.raises(ValueError, match="X has 3000 rows, y has 2999 values"):
        BBR().fit(parts, y[:-1])
    with pytest.raises(ValueError, match="X has 2 parts, y has 3"):
        BBR().fit(parts, cut(y, [1000] * 3, known=False))
    with pytest.raises(ValueError, match=r"Part 0 of X has 1500 rows, but that of y has 1400"):
        BBR().fit(parts, cut(y, [1400, 1600], known=False))
    with pytest.raises(TypeError, match=r"WSVM cannot be fitted to rows on a cluster\. BBR, BBRCV"):
        WSVM().fit(parts, y)
    with pytest.raises(ValueError, match="solver='lanczos' reads rows in one place"):
        BBR(solver="lanczos").fit(parts, y)
    with pytest.raises(TypeError, match="pass how many folds"):
        BBRCV(cv=[(np.arange(5), np.arange(5, 9))]).fit(parts, y)
    with pytest.raises(TypeError, match="y is a collection of Dask, and X a ndarray"):
        BBR().fit(X, cut(y, [1500] * 2))


def test_a_failed_fit_leaves_the_ranker_as_it_was(client: Any) -> None:
    X, y = table()
    ranker = BBR().fit(X, y)
    before = ranker.coef_.copy()
    with pytest.raises(ValueError, match="one class only"):
        ranker.fit(cut(X, [3000]), np.zeros(3000, int))
    np.testing.assert_array_equal(ranker.coef_, before)


def test_sums_of_parts_stay_as_they_are_when_they_are_added() -> None:
    """A worker that has them may be asked to add them again, after another was lost."""
    X, y = table()
    ranker = LogisticRank(1e-2)
    ranker._validate_params()
    loss = ranker._loss(Split.of(y == 1))
    parts = []
    for place, begin in enumerate((0, 1500)):
        own = slice(begin, begin + 1500)
        labels = Labels(y[own] == 1, None, Where(place, begin, 0, 0))
        ask = Ask(loss, np.ones(X.shape[1]), highest=3, per_length=0.0)
        parts.append(_sums_of_part(Rows(X[own]), labels, ask, (1e-3, 1e-3), True))
    once, twice = _add_sums(parts)[0], _add_sums(parts)[0]
    assert once.value == twice.value
    np.testing.assert_array_equal(once.pull, twice.pull)
    np.testing.assert_array_equal(once.highest.rows, twice.highest.rows)
    assert once.value > parts[0][0].value
