"""Maker of large sparse data shaped like text."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from ..inputs.arguments import check_count, check_number
from ._checks import RandomState, seed_sequence

# Each block of rows has its own random streams. The number is part of what a seed means.
_BLOCK_ROWS = 1024
# Times a word occurs in a row that has it: one byte picks c with chance 2**-c (the last two alike).
_COUNT_OF_BYTE = np.repeat(np.arange(1, 10), [128, 64, 32, 16, 8, 4, 2, 1, 1])
_TERM_FREQUENCY = 1.0 + np.log(_COUNT_OF_BYTE)


def make_sparse_text_like(
    n_samples: int = 10_000,
    n_features: int = 50_000,
    *,
    words_per_row: int = 100,
    positive_fraction: float = 0.05,
    topic_words: int = 50,
    topic_rate: float = 0.05,
    topic_noise: float = 0.02,
    dtype: DTypeLike = np.float64,
    index_dtype: DTypeLike | None = None,
    random_state: RandomState = None,
) -> tuple[Any, NDArray[np.int64]]:
    r"""Draw a sparse matrix with the shape of tf-idf text, positives being about one topic.

    Word r of the vocabulary, r = 1 the most common, is in a row with a chance close to
    proportional to :math:`1/r` (Zipf's law). A row takes one word from each of `words_per_row`
    runs of neighbouring ranks, a rank r of the run :math:`[b, b')` with chance
    :math:`\log(1 + 1/r) / \log(b'/b)`. So every row has exactly `words_per_row` distinct words;
    the few most common words have runs of their own and are in every row.

    The topic is a set of `topic_words` words spread over the rarer half of the runs. Where a run
    has topic words, a row about the topic takes one of them with chance `topic_rate`, all alike,
    and draws from the whole run otherwise. Rows not about the topic always draw from the whole run.

    A word that occurs c times in a row, :math:`P(c) = 2^{-c}`, and is in a share p of all rows gets
    the value :math:`(1 + \log c)(1 - \log p)`; rows are then scaled to length 1. Ranks are assigned
    to columns at random.

    Parameters
    ----------
    n_samples : int, default=10000
        Rows.
    n_features : int, default=50000
        Columns: the size of the vocabulary.
    words_per_row : int, default=100
        Nonzeros in each row.
    positive_fraction : float, default=0.05
        Chance that a row is labelled positive, independently of the other rows.
    topic_words : int, default=50
        Words that mark the topic.
    topic_rate : float, default=0.05
        Chance that a row about the topic takes a topic word where it can. Lower is harder.
    topic_noise : float, default=0.02
        Chance that a row has the wrong topic for its label: a positive that is not about the topic,
        or a negative that is. No score can have an expected AUC above ``1 - topic_noise``.
    dtype : float32 or float64, default=float64
        Type of the values.
    index_dtype : int32, int64 or None, default=None
        Type of the column indices and row pointers. None takes int32 where it can hold them.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the data the same in every call. For one int, fewer rows are the first rows of
        the larger matrix.

    Returns
    -------
    X : csr_matrix of shape (n_samples, n_features)
        Rows of length 1, indices sorted and without duplicates.
    y : ndarray of shape (n_samples,)
        1 for positives, 0 for negatives.

    Notes
    -----
    Blocks of rows are written straight into the matrix, so the peak memory is the matrix and a few
    megabytes: 2.4 GB for 2 million rows of 100 words with int32 indices and float64 values.

    Examples
    --------
    >>> from toprank.datasets import make_sparse_text_like
    >>> X, y = make_sparse_text_like(500, 2000, words_per_row=20, random_state=0)
    >>> X.shape, X.nnz
    ((500, 2000), 10000)
    """
    n_samples = check_count("n_samples", n_samples)
    n_features = check_count("n_features", n_features)
    words_per_row = check_count("words_per_row", words_per_row)
    if words_per_row > n_features:
        raise ValueError(
            f"words_per_row must be at most n_features={n_features}, got {words_per_row}."
        )
    positive_fraction = check_number("positive_fraction", positive_fraction, 0, 1, ends="()")
    topic_words = check_count("topic_words", topic_words, least=0)
    topic_rate = check_number("topic_rate", topic_rate, 0, 1)
    topic_noise = check_number("topic_noise", topic_noise, 0, 0.5)
    value_dtype = _check_value_dtype(dtype)
    pointer_dtype = _check_index_dtype(index_dtype, max(n_samples * words_per_row, n_features))

    vocabulary_seed, rows_seed = seed_sequence(random_state).spawn(2)
    about_topic = positive_fraction * (1 - topic_noise) + (1 - positive_fraction) * topic_noise
    vocabulary = _draw_vocabulary(
        np.random.default_rng(vocabulary_seed),
        _run_edges(n_features, words_per_row),
        topic_words,
        about_topic * topic_rate,
        pointer_dtype,
    )

    indices = np.empty((n_samples, words_per_row), dtype=pointer_dtype)
    values = np.empty((n_samples, words_per_row), dtype=value_dtype)
    y = np.empty(n_samples, dtype=np.int64)
    block_seeds = rows_seed.spawn(-(-n_samples // _BLOCK_ROWS))
    for start, block_seed in zip(range(0, n_samples, _BLOCK_ROWS), block_seeds, strict=True):
        rows = slice(start, min(start + _BLOCK_ROWS, n_samples))
        # One stream for each kind of draw: a shorter last block then keeps its first rows.
        label_rng, word_rng, topic_rng, count_rng = map(np.random.default_rng, block_seed.spawn(4))
        chances = label_rng.random((rows.stop - rows.start, 2))
        y[rows] = chances[:, 0] < positive_fraction
        on_topic = (y[rows] == 1) ^ (chances[:, 1] < topic_noise)
        indices[rows] = _draw_columns(word_rng, topic_rng, vocabulary, on_topic, topic_rate)
        values[rows] = _draw_values(count_rng, vocabulary.idf[indices[rows]])
    return _as_csr(values, indices, n_features), y


class _Vocabulary(NamedTuple):
    """Runs of ranks a row draws from, and what the words of each rank and column are."""

    edges: NDArray[np.int64]  # run i holds the ranks edges[i] <= r < edges[i + 1], counted from 1
    column: NDArray[Any]  # column[r - 1] is the column of rank r
    idf: NDArray[np.float64]  # by column
    topic_rank: NDArray[np.int64]  # ranks of the topic words, run by run
    topic_start: NDArray[np.int64]  # run i has the topic words topic_start[i] : topic_start[i + 1]


def _check_value_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return float32 or float64."""
    checked = np.dtype(dtype)
    if checked not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64, got {checked}.")
    return checked


def _check_index_dtype(index_dtype: DTypeLike | None, largest: int) -> np.dtype[Any]:
    """Return int32 or int64, whichever was asked for or is needed to hold `largest`."""
    fits = largest <= np.iinfo(np.int32).max
    if index_dtype is None:
        return np.dtype(np.int32 if fits else np.int64)
    checked = np.dtype(index_dtype)
    if checked not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise ValueError(f"index_dtype must be int32, int64 or None, got {checked}.")
    if checked == np.dtype(np.int32) and not fits:
        raise ValueError(f"index_dtype=int32 cannot hold {largest}: use int64 or None.")
    return checked


def _run_edges(n_words: int, n_runs: int) -> NDArray[np.int64]:
    """Cut the ranks 1..n_words into runs of equal total weight under 1/r, none of them empty.

    Equal weights would leave the first runs empty, so the `alone` most common words each get a run
    first: as few as let the geometric edges of all later runs be a rank apart.
    """
    alone = np.arange(1, n_runs)
    steps = np.log((n_words + 1) / alone) / (n_runs - alone + 1)
    far_enough = alone * np.expm1(steps) >= 1.0
    first = int(alone[far_enough][0]) if far_enough.any() else n_runs
    tail = np.floor(np.geomspace(first, n_words + 1, n_runs - first + 2) + 0.5)
    return np.concatenate([np.arange(1, first), tail.astype(np.int64)])


def _draw_vocabulary(
    rng: np.random.Generator,
    edges: NDArray[np.int64],
    topic_words: int,
    topic_chance: float,
    index_dtype: np.dtype[Any],
) -> _Vocabulary:
    """Assign ranks to columns, choose the topic words and work out every word's idf."""
    n_words, n_runs, widths = int(edges[-1]) - 1, len(edges) - 1, np.diff(edges)
    rarer = n_runs - n_runs // 2
    run_of_word = n_runs // 2 + np.arange(topic_words) * rarer // max(topic_words, 1)
    per_run = np.bincount(run_of_word, minlength=n_runs)
    if np.any(per_run > widths):
        raise ValueError(
            f"topic_words={topic_words} is too many for n_features={n_words} and "
            f"words_per_row={n_runs}: a run of neighbouring ranks has fewer words than that."
        )
    column = rng.permutation(n_words).astype(index_dtype)
    topic_rank = np.concatenate(
        [
            edges[run] + rng.choice(widths[run], size=per_run[run], replace=False)
            for run in range(n_runs)
        ]
    )

    rank = np.arange(1, n_words + 1)
    run_weight = np.log(edges[1:] / edges[:-1])
    share = np.log1p(1.0 / rank) / np.repeat(run_weight, widths)
    share *= np.repeat(np.where(per_run > 0, 1.0 - topic_chance, 1.0), widths)
    share[topic_rank - 1] += topic_chance / np.repeat(per_run, per_run)
    idf = np.empty(n_words)
    idf[column] = 1.0 - np.log(share)
    topic_start = np.concatenate([[0], np.cumsum(per_run)])
    return _Vocabulary(edges, column, idf, topic_rank, topic_start)


def _draw_columns(
    word_rng: np.random.Generator,
    topic_rng: np.random.Generator,
    vocabulary: _Vocabulary,
    on_topic: NDArray[np.bool_],
    topic_rate: float,
) -> NDArray[Any]:
    """Draw one word of each run for each row and return their columns, sorted."""
    edges = vocabulary.edges
    low, n_runs = np.log(edges[:-1]), len(edges) - 1
    position = word_rng.random((len(on_topic), n_runs))
    position *= np.log(edges[1:]) - low
    position += low
    rank = np.exp(position, out=position).astype(np.int64)
    # Rounding in exp may step over an edge.
    np.clip(rank, edges[:-1], edges[1:] - 1, out=rank)

    per_run = np.diff(vocabulary.topic_start)
    chances = topic_rng.random((int(on_topic.sum()), n_runs, 2))
    row, run = np.nonzero((chances[:, :, 0] < topic_rate) & (per_run > 0))
    choice = (chances[row, run, 1] * per_run[run]).astype(np.int64)
    topic_rank = vocabulary.topic_rank[vocabulary.topic_start[run] + choice]
    rank[np.flatnonzero(on_topic)[row], run] = topic_rank

    columns = vocabulary.column[rank - 1]
    columns.sort(axis=1)
    return columns


def _draw_values(rng: np.random.Generator, idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply idf by random term frequencies and scale the rows to length 1."""
    values = _TERM_FREQUENCY[rng.integers(256, size=idf.shape, dtype=np.uint8)]
    values *= idf
    values /= np.sqrt(np.einsum("ij,ij->i", values, values))[:, np.newaxis]
    return values


def _as_csr(values: NDArray[Any], indices: NDArray[Any], n_columns: int) -> Any:
    """Wrap the arrays, without a copy and keeping their types."""
    n_rows, per_row = indices.shape
    matrix = sp.csr_matrix((n_rows, n_columns), dtype=values.dtype)
    # The constructor would narrow int64 indices that fit in int32.
    matrix.data, matrix.indices = values.reshape(-1), indices.reshape(-1)
    matrix.indptr = np.arange(n_rows + 1, dtype=indices.dtype) * indices.dtype.type(per_row)
    matrix.has_canonical_format = True
    return matrix
