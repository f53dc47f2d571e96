"""Trees on a cluster: case-control rows and bins of a fold, drawn where the rows are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import average_precision_score

from support.lost_workers import kill_one, two_processes
from support.parts import cut, table
from toprank import HeadRanker
from toprank.dask import reducer
from toprank.dask.folds import FoldedDesign
from toprank.dask.head_ranker import ClusterData, cluster_data
from toprank.dask.parts import Labels, Rows, Where
from toprank.dask.reducer import Reducer
from toprank.dask.settings import current
from toprank.estimators.validation import LabelledRows
from toprank.features.bin_edges import SIZE, case_control_edges
from toprank.inputs.class_split import Split
from toprank.methods.squared.rows import fold_of_rows
from toprank.metrics._scorers import find_scorer
from toprank.selection.fold_path import Judge
from toprank.selection.head import trees
from toprank.selection.head.trees import N_EDGES

Array = NDArray[Any]

N_FOLDS = 3
LENGTHS = [9_000, 0, 20_000, 11_000, 20_000]
TREES: dict[str, Any] = {"candidates": "trees", "effort": "fast", "random_state": 0}


@pytest.fixture(scope="module", autouse=True)
def few_rows_are_enough() -> Iterator[None]:
    """Leave negatives out of tables of this size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "ENOUGH", 5_000)
        yield


def skewed(n: int = sum(LENGTHS), seed: int = 0) -> tuple[Array, Array]:
    """Return rows of which 1 % are positive, for reasons that trees can find."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 3] = np.exp(2.0 * X[:, 3])
    X[:, 4] = rng.integers(0, 8, n)
    logit = 1.3 * X[:, 0] + 2.0 * (X[:, 1] > 1.5) + X[:, 0] * X[:, 2] + 1.5 * (X[:, 4] == 3) - 6.9
    return X, (rng.random(n) < expit(logit)).astype(int)


def folds_of(lengths: list[int]) -> Array:
    """Return the fold that holds each row out."""
    return np.concatenate([fold_of_rows(place, n, N_FOLDS) for place, n in enumerate(lengths)])


def data_of(
    client: Any, X: Array, y: Array, weight: Array | None = None, lengths: list[int] = LENGTHS
) -> ClusterData:
    """Return rows on a cluster as a race has them. NaN passes, which a fit refuses there."""
    parts, positive = [], y == 1
    ends = np.cumsum([0, *lengths])
    for place, (a, b) in enumerate(itertools.pairwise(ends)):
        of_pos = int(positive[:a].sum())
        own = None if weight is None else weight[a:b]
        labels = Labels(positive[a:b], own, Where(place, int(a), of_pos, int(a) - of_pos))
        parts.append(tuple(client.scatter([Rows(X[a:b]), labels], hash=False)))
    given = np.ones(len(y)) if weight is None else weight
    counts = tuple(int((side & (given > 0)).sum()) for side in (positive, ~positive))
    weights = tuple(float(given[side].sum()) for side in (positive, ~positive))
    each = 1.0 / weights[0], 1.0 / weights[1]
    design = FoldedDesign(Reducer(client, parts, current()), X.shape, X.size, each)
    rows = LabelledRows(design, Split.of_totals(counts, weights), None)  # type: ignore[arg-type]
    judge = Judge(find_scorer("average_precision", None))
    return cluster_data(rows, N_FOLDS, judge, 0)[0]  # type: ignore[return-value]


def edges_of(data: ClusterData, fold: int | None, most: int | None = None) -> list[Array]:
    """Return the edges for the case-control rows of a fold, or for the final fit."""
    drawn, shares = data.case_control(0, most, in_folds=fold is not None)
    assert shares[1] < 1.0
    return data.edges(drawn, fold)


def in_memory(
    X: Array, y: Array, fold: int | None, weight: Array | None = None, lengths: list[int] = LENGTHS
) -> list[Array]:
    """Return the edges of all rows that a fold trains on, or of all rows."""
    rows = np.flatnonzero(folds_of(lengths) != (-1 if fold is None else fold))
    return case_control_edges(
        X[rows], y[rows] == 1, N_EDGES, None if weight is None else weight[rows]
    )


def shares_below(values: Array, weight: Array, edges: Array) -> Array:
    """Return the share of the weight that lies at or below each edge."""
    known = ~np.isnan(values)
    order = np.argsort(values[known])
    sums = np.append(0.0, np.cumsum(weight[known][order]))
    return sums[np.searchsorted(values[known][order], edges, side="right")] / sums[-1]


@pytest.mark.parametrize("fold", [0, 1, 2, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_edges_of_few_distinct_values_are_exactly_those_of_memory(
    client: Any, fold: int | None, weighted: bool
) -> None:
    X, y = skewed()
    rng = np.random.default_rng(1)
    X = np.round(X * [30.0, 100.0, 1.0, 0.0, 1.0])
    X[rng.random(X.shape) < [0.0, 0.1, 0.9, 0.0, 0.0]] = np.nan
    X[:, 3] = np.where(rng.random(len(y)) < 0.01, np.inf, X[:, 3])
    assert max(len(np.unique(column)) for column in X.T) <= SIZE
    weight = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    found = edges_of(data_of(client, X, y, weight), fold)
    for own, theirs in zip(found, in_memory(X, y, fold, weight), strict=True):
        np.testing.assert_array_equal(own, theirs)


@pytest.mark.parametrize(("n_parts", "on_workers"), [(5, False), (30, True)])
@pytest.mark.parametrize("weighted", [False, True])
def test_edges_of_many_values_are_those_of_memory_within_the_error_of_sketches(
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    n_parts: int,
    on_workers: bool,
    weighted: bool,
) -> None:
    X, y = skewed()
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < [0.0, 0.3, 0.0, 0.0, 0.0]] = np.nan
    weight = rng.exponential(size=len(y)) * (rng.random(len(y)) < 0.9) if weighted else None
    lengths = LENGTHS if n_parts == len(LENGTHS) else [len(y) // n_parts] * n_parts
    if on_workers:
        monkeypatch.setattr(reducer, "_TREE_FROM", 0)
    data = data_of(client, X, y, weight, lengths)
    given = np.ones(len(y)) if weight is None else weight
    # Parts are pruned, groups of parts on the workers, and all parts here: half of 1 / SIZE each.
    # An edge is halfway to the next value of a sketch, up to 1 / SIZE away.
    error = (2 + on_workers) / (2 * SIZE) + 1 / SIZE
    for fold in (0, 1, 2, None):
        training = (folds_of(lengths) != (-1 if fold is None else fold)) & (y == 0)
        found, exact = edges_of(data, fold), in_memory(X, y, fold, weight, lengths)
        for j, (own, theirs) in enumerate(zip(found, exact, strict=True)):
            ours, true = (
                shares_below(X[training, j], given[training], edges) for edges in (own, theirs)
            )
            if len(ours) < len(true):  # no negative of the sketch is above the largest positive
                ours = np.append(ours, 1.0)
            assert len(ours) == len(true)
            np.testing.assert_allclose(ours, true, rtol=0, atol=error + 1e-4)


def test_a_class_has_no_more_edges_than_asked_for_where_most_values_are_equal(client: Any) -> None:
    X, y = skewed()
    X[np.random.default_rng(1).random(X.shape) < 0.97] = 0.0
    data = data_of(client, X, y)
    for fold in (0, None):
        for j, own in enumerate(edges_of(data, fold)):
            assert len(own) <= 2 * N_EDGES
            assert (np.diff(own) > 0).all()
            exact = in_memory(X, y, fold)[j]
            negative = X[y == 0, j]
            ours, true = (shares_below(negative, np.ones(len(negative)), e) for e in (own, exact))
            assert np.abs(ours - true[:, np.newaxis]).min(axis=1).max() < 3 / SIZE


def test_held_out_rows_do_not_change_what_a_fold_learns_from(client: Any) -> None:
    X, y = skewed()
    rng = np.random.default_rng(1)
    held_out = folds_of(LENGTHS) == 1
    others, labels = X.copy(), y.copy()
    others[held_out] = rng.normal(size=(held_out.sum(), X.shape[1])) * 100.0
    labels[held_out] = rng.permutation(y[held_out])
    first, second = data_of(client, X, y), data_of(client, others, labels)
    for own, theirs in zip(edges_of(first, 1), edges_of(second, 1), strict=True):
        np.testing.assert_array_equal(own, theirs)
    assert any(
        not np.array_equal(own, theirs)
        for own, theirs in zip(edges_of(first, 0), edges_of(second, 0), strict=True)
    )
    (one, of_one), (two, of_two) = (
        data.case_control(0, None, in_folds=True) for data in (first, second)
    )
    assert of_one == of_two
    for own, theirs in zip(
        one.part(one.folds.training(1))[:2], two.part(two.folds.training(1))[:2], strict=True
    ):
        np.testing.assert_array_equal(own, theirs)


@pytest.mark.parametrize("in_folds", [True, False])
def test_all_positives_are_drawn_and_the_ratio_of_negatives_for_each(
    client: Any, in_folds: bool
) -> None:
    X, y = skewed()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    data = data_of(client, X, y, weight)
    rows, (of_pos, of_neg) = data.case_control(0, None, in_folds=in_folds)
    used = weight > 0.0
    assert of_pos == 1.0
    np.testing.assert_array_equal(rows.X[rows.y == 1], X[used & (y == 1)])
    np.testing.assert_array_equal(rows.given[rows.y == 1], weight[used & (y == 1)])
    n_pos, n_neg = int(used[y == 1].sum()), int(used[y == 0].sum())
    wanted = trees.RATIO * n_pos
    assert of_neg == pytest.approx(wanted / n_neg, rel=2e-3)  # of whole rows
    drawn = int((rows.y == 0).sum())
    assert abs(drawn - wanted) < 4.0 * np.sqrt(wanted)
    # Weights make up for the rows that were not drawn.
    assert rows.weight[rows.y == 0].sum() == pytest.approx(weight[y == 0].sum(), rel=0.03)
    np.testing.assert_array_equal(rows.weight[rows.y == 1], rows.given[rows.y == 1])


def test_no_more_rows_are_drawn_than_a_fit_may_have(client: Any) -> None:
    X, y = skewed()
    data = data_of(client, X, y)
    most = int(y.sum())
    rows, (of_pos, of_neg) = data.case_control(0, most, in_folds=False)
    assert of_pos == pytest.approx(0.5, abs=0.01)
    assert of_pos * y.sum() + of_neg * (y == 0).sum() == pytest.approx(most)
    assert len(rows.y) == pytest.approx(most, abs=4.0 * np.sqrt(most))
    in_folds, _ = data.case_control(0, most, in_folds=True)
    of_training = [len(in_folds.folds.training(k)) for k in range(N_FOLDS)]
    assert np.mean(of_training) == pytest.approx(most, abs=4.0 * np.sqrt(most))
    # Quantiles of the positives drawn, and of all negatives.
    below = [
        shares_below(X[y == 0, 0], np.ones(int((y == 0).sum())), own)
        for own in (edges_of(data, None, most)[0], in_memory(X, y, None)[0])
    ]
    assert np.abs(below[0] - below[1]).max() < 0.1


@pytest.fixture(scope="module")
def both(client: Any) -> tuple[Any, Any]:
    """Trees of rows on a cluster, and those of the same folds in memory."""
    X, y = skewed()
    fold = folds_of(LENGTHS)
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(N_FOLDS)]
    local = HeadRanker(cv=cv, **TREES).fit(X, y)
    return HeadRanker(cv=N_FOLDS, **TREES).fit(cut(X, LENGTHS), cut(y, LENGTHS)), local


def test_trees_rank_as_well_as_those_of_rows_in_memory(both: tuple[Any, Any]) -> None:
    X, y = skewed(200_000, seed=1)
    ours, theirs = (average_precision_score(y, one.decision_function(X)) for one in both)
    assert theirs > 0.3
    assert ours == pytest.approx(theirs, rel=0.1)  # draws of the negatives change both by 2 %
    assert both[0].best_score_ == pytest.approx(both[1].best_score_, rel=0.05)


def test_log_odds_are_those_of_the_population(both: tuple[Any, Any]) -> None:
    X, y = skewed(200_000, seed=1)
    share = y.mean()
    # Draws of the negatives change these means by 4 %, a correction that is missing by a factor
    # of three.
    for model in both:
        odds = model.best_estimator_.decision_function(X)
        assert expit(odds).mean() == pytest.approx(share, rel=0.15)
        assert model.predict_proba(X)[:, 1].mean() == pytest.approx(share, rel=0.15)
        for of_fold in model.fold_models_:
            assert expit(of_fold.decision_function(X)).mean() == pytest.approx(share, rel=0.15)


def test_the_note_says_what_was_drawn(both: tuple[Any, Any]) -> None:
    form = r"learnt from (\d+) of (?:about )?(\d+) rows"
    (drawn, of), (_, of_memory) = (
        map(int, re.fullmatch(form, one.leaderboard_["note"][0]).groups()) for one in both
    )
    asked = (1.0 + trees.RATIO) * skewed()[1].sum() * 2 / 3
    assert drawn == pytest.approx(asked, abs=4.0 * np.sqrt(asked))
    assert of == 40_000  # two folds of three
    assert of == pytest.approx(of_memory, rel=0.01)


def test_few_rows_are_all_taken(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "ENOUGH", 20_000)
    lengths = [7_000, 0, 5_000]
    X, y = skewed(sum(lengths))
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    fold = folds_of(lengths)
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(N_FOLDS)]
    local = HeadRanker(cv=cv, **TREES).fit(X, y, weight)
    found = HeadRanker(cv=N_FOLDS, **TREES)
    found.fit(cut(X, lengths), cut(y, lengths), cut(weight, lengths))
    assert found.leaderboard_["note"].tolist() == [""]
    np.testing.assert_allclose(
        found.best_estimator_.decision_function(X), local.best_estimator_.decision_function(X)
    )
    assert found.best_score_ == pytest.approx(local.best_score_)


def test_a_killed_worker_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "ENOUGH", 1000)
    lengths = [4_000, 0, 5_000, 3_000]
    X, y = skewed(sum(lengths))
    rows = cut(X.astype(np.float32), lengths), cut(y, lengths)
    ranker = HeadRanker(cv=N_FOLDS, **TREES)
    with two_processes() as client:
        before = ranker.fit(*rows).decision_function(X[:1000])
        killed: list[str] = []
        plain = FoldedDesign.sketches

        def killing(self: Any, n_folds: int) -> Any:
            killed.append("worker")
            kill_one(client)
            return plain(self, n_folds)

        monkeypatch.setattr(FoldedDesign, "sketches", killing)
        after = ranker.fit(*rows).decision_function(X[:1000])
    assert killed == ["worker"]
    np.testing.assert_array_equal(after, before)


def test_sparse_rows_have_no_trees(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(d=8)
    X[np.abs(X) < 1.5] = 0.0
    blocks, labels = cut(X, [1000] * 3).map_blocks(sparse.csr_array), cut(y, [1000] * 3)
    monkeypatch.setattr(FoldedDesign, "sketches", None)
    monkeypatch.setattr(ClusterData, "case_control", None)
    found = HeadRanker(cv=N_FOLDS, effort="fast", random_state=0).fit(blocks, labels)
    assert found.leaderboard_["mean"].notna().any()
    assert not found.leaderboard_["candidate"].str.contains("tree").any()
    with pytest.raises(ValueError, match="boosted trees, which take dense rows only"):
        found.set_params(candidates="trees").fit(blocks, labels)
