"""The sparse maker against the law it claims to draw from."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from toprank.datasets import make_sparse_text_like
from toprank.datasets._text import _run_edges


@pytest.mark.parametrize(
    ("n_samples", "n_features", "words_per_row", "topic_words"),
    [(1500, 3000, 30, 20), (7, 10, 10, 0), (3, 9, 8, 1), (5, 1000, 1, 3)],
)
def test_text_rows_are_canonical_and_of_unit_length(
    n_samples: int, n_features: int, words_per_row: int, topic_words: int
) -> None:
    X, y = make_sparse_text_like(
        n_samples,
        n_features,
        words_per_row=words_per_row,
        topic_words=topic_words,
        random_state=0,
    )
    assert X.shape == (n_samples, n_features)
    assert y.shape == (n_samples,)
    np.testing.assert_array_equal(np.diff(X.indptr), words_per_row)
    columns = X.indices.reshape(n_samples, words_per_row)
    assert (np.diff(columns, axis=1) > 0).all()
    assert columns.min() >= 0
    assert columns.max() < n_features
    assert (X.data > 0).all()
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0, rtol=1e-12)
    X.check_format()


@pytest.mark.parametrize("n_features", [1, 2, 10, 37, 150, 50_000])
@pytest.mark.parametrize("n_runs", [1, 2, 3, 10, 37, 100, 150])
def test_text_runs_cut_the_ranks_without_gaps(n_features: int, n_runs: int) -> None:
    edges = _run_edges(n_features, min(n_runs, n_features))
    assert len(edges) == min(n_runs, n_features) + 1
    assert (edges[0], edges[-1]) == (1, n_features + 1)
    assert (np.diff(edges) > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64, None])
def test_text_keeps_the_types_asked_for(dtype: Any, index_dtype: Any) -> None:
    X, y = make_sparse_text_like(
        100, 500, words_per_row=10, dtype=dtype, index_dtype=index_dtype, random_state=0
    )
    assert X.dtype == dtype
    assert X.indices.dtype == X.indptr.dtype == (index_dtype or np.int32)
    reference, labels = make_sparse_text_like(100, 500, words_per_row=10, random_state=0)
    np.testing.assert_array_equal(X.indices, reference.indices)
    np.testing.assert_array_equal(X.data, reference.data.astype(dtype))
    np.testing.assert_array_equal(y, labels)


def test_text_with_fewer_rows_is_the_start_of_the_longer_one() -> None:
    longer, labels = make_sparse_text_like(3000, 2000, words_per_row=20, random_state=8)
    for n_samples in (1, 1000, 1024, 2500):
        X, y = make_sparse_text_like(n_samples, 2000, words_per_row=20, random_state=8)
        np.testing.assert_array_equal(X.data, longer[:n_samples].data)
        np.testing.assert_array_equal(X.indices, longer[:n_samples].indices)
        np.testing.assert_array_equal(y, labels[:n_samples])


def test_text_blocks_differ_from_each_other() -> None:
    X, _ = make_sparse_text_like(2048, 2000, words_per_row=20, random_state=8)
    blocks = X.indices.reshape(2, 1024, 20)
    assert np.mean((blocks[0] == blocks[1]).all(axis=1)) < 0.01


def test_text_words_follow_zipf() -> None:
    X, _ = make_sparse_text_like(20_000, 5000, words_per_row=50, topic_words=0, random_state=0)
    frequency = np.sort(np.bincount(X.indices, minlength=5000))[::-1] / 20_000
    ranks = np.unique(np.geomspace(20, 1000, 40).astype(int))
    slope, _ = np.polyfit(np.log(ranks), np.log(frequency[ranks - 1]), 1)
    assert slope == pytest.approx(-1.0, abs=0.05)
    assert frequency[0] == 1.0
    assert frequency[100:1000].sum() == pytest.approx(frequency[1000:].sum() * 1.43, rel=0.1)


def test_text_popular_words_are_spread_over_the_columns() -> None:
    X, _ = make_sparse_text_like(2000, 5000, words_per_row=50, random_state=0)
    popular = np.argsort(-np.bincount(X.indices, minlength=5000))[:200]
    assert popular.mean() == pytest.approx(2500, abs=400)


def test_text_rare_words_weigh_more() -> None:
    """Within a row the ratio of two values is that of (1 + log c) (1 - log p)."""
    X, _ = make_sparse_text_like(20_000, 300, words_per_row=20, topic_words=10, random_state=3)
    frequency = np.bincount(X.indices, minlength=300) / 20_000
    in_all = int(np.flatnonzero(frequency == 1.0)[0])
    rare = int(np.argsort(frequency)[150])
    common_value, rare_value = X[:, [in_all, rare]].toarray().T
    ratio = rare_value[rare_value > 0] / common_value[rare_value > 0]
    # Both counts c have one law, so the median ratio is where they are equal.
    assert np.median(ratio) == pytest.approx(1.0 - np.log(frequency[rare]), rel=0.03)
    assert ratio.max() > 2 * np.median(ratio)


def test_text_positives_share() -> None:
    for fraction in (0.05, 0.4):
        _, y = make_sparse_text_like(
            30_000, 300, words_per_row=2, topic_words=2, positive_fraction=fraction, random_state=0
        )
        assert y.mean() == pytest.approx(fraction, abs=4 * np.sqrt(fraction / 30_000))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_text_topic_decides_up_to_the_noise(noise: float) -> None:
    """With topic_rate=1 the topic of a row is plain, so the AUC of its words is 1 - noise."""
    X, y = make_sparse_text_like(
        10_000,
        20_000,
        words_per_row=40,
        positive_fraction=0.3,
        topic_words=20,
        topic_rate=1.0,
        topic_noise=noise,
        random_state=0,
    )
    # The 20 topic words stand out: each is in every row about the topic, and nearly no other.
    frequency = np.bincount(X.indices, minlength=20_000) / 10_000
    about_topic = 0.3 * (1 - noise) + 0.7 * noise
    topic = np.argsort(np.abs(frequency - about_topic))[:20]
    hits = (X[:, topic] != 0).sum(axis=1)
    assert roc_auc_score(y, np.asarray(hits).ravel() > 10) == pytest.approx(1 - noise, abs=0.02)


def test_text_topic_rate_sets_how_often_positives_have_topic_words() -> None:
    words, rate = 20, 0.3
    X, y = make_sparse_text_like(
        20_000,
        20_000,
        words_per_row=40,
        positive_fraction=0.5,
        topic_words=words,
        topic_rate=rate,
        topic_noise=0.0,
        random_state=0,
    )
    present = X.astype(bool).astype(np.float64)
    share = [np.asarray(present[y == label].mean(axis=0)).ravel() for label in (0, 1)]
    excess = np.sort(share[1] - share[0])[::-1]
    assert excess[:words] == pytest.approx(np.full(words, rate), abs=0.03)
    assert excess[words] < 0.05


@pytest.mark.parametrize("words_per_row", [2, 20])
def test_text_without_topic_is_not_learnable(words_per_row: int) -> None:
    """Two words a row line up with the two draws a label takes: a shared stream would show."""
    X, y = make_sparse_text_like(
        20_000,
        1000,
        words_per_row=words_per_row,
        positive_fraction=0.5,
        topic_rate=0.0,
        random_state=0,
    )
    half = 10_000
    direction = X[:half].T @ (y[:half] - 0.5)
    assert roc_auc_score(y[half:], X[half:] @ direction) == pytest.approx(0.5, abs=0.02)
