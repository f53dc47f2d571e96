"""Rankers that learn by steps on pairs and points drawn at random."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from .base import _seed, fitting
from .split import Split
from .stream import Block, Stream, StreamRanker

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

#: Draws at a time: few enough to stay in the cache.
CHUNK = 1 << 14


class Draws:
    """Pairs and points drawn from a split, rows with a probability proportional to weight."""

    def __init__(self, split: Split) -> None:
        self._positives, self._negatives = _Lot(split.pos, split.p), _Lot(split.neg, split.q)
        self._share = split.positive_share
        self._both = len(split.pos) > 0 and len(split.neg) > 0

    def chunks(self, rng: np.random.Generator, n: int, gamma: float) -> Iterator[tuple[Rows, Rows]]:
        """A positive and a negative row for each of n steps; -1 for no row.

        With probability gamma a pair, else a point. Without rows of both classes points only.
        """
        gamma = gamma if self._both else 0.0
        for begin in range(0, n, CHUNK):
            # Three numbers a step, one after the other: chunks leave no trace in the draws.
            kind, above, below = rng.random((min(CHUNK, n - begin), 3)).T
            pair, positive = kind < gamma, kind < gamma + (1.0 - gamma) * self._share
            yield (
                np.where(positive, self._positives.at(above), -1),
                np.where(pair | ~positive, self._negatives.at(below), -1),
            )


class _Lot:
    """Rows of one class: `at` turns uniform numbers into rows."""

    def __init__(self, rows: Rows, share: Array) -> None:
        self._rows = rows
        self._ends = np.cumsum(share) if len(rows) and np.ptp(share) > 0.0 else None

    def at(self, uniform: Array) -> Rows:
        """The rows in whose part of the weight the numbers fall.

        Copies of a row side by side are drawn as one row of their weight is, to the digit.
        """
        if not len(self._rows):
            return np.full(len(uniform), -1)
        if self._ends is None:
            place = (uniform * len(self._rows)).astype(np.int64)
        else:
            place = np.searchsorted(self._ends, uniform * self._ends[-1], side="right")
        return self._rows[np.minimum(place, len(self._rows) - 1)]


class DrawingRanker(StreamRanker):
    """A ranker that learns by stochastic steps; the whole of `fit` and `partial_fit`.

    A subclass names its parameters, takes steps (`_steps`) and says where its threshold is
    (`_threshold`).
    """

    alpha: float
    n_steps: int
    average: bool
    warm_start: bool

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamRanker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_steps": [Interval(Integral, 1, None, closed="left")],
        "average": ["boolean"],
        "warm_start": ["boolean"],
    }

    @abstractmethod
    def _steps(
        self,
        block: Block,
        stream: Stream,
        n_steps: int,
        n_averaged: int,
        rng: np.random.Generator,
    ) -> None:
        """Take steps from where the stream is; the mean takes in the last `n_averaged` of them."""

    def _n_weights(self, n_features: int) -> int:
        """How many weights the steps learn."""
        return n_features

    @abstractmethod
    def _threshold(self, block: Block, w: Array) -> float | None:
        """The score above which a row is called positive; None leaves it where it was."""

    @fitting
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the score by `n_steps` steps.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is drawn as often as two rows, one of weight 0 never.

        Returns
        -------
        self
            The fitted ranker.
        """
        seed = _seed(self.random_state)
        block = self._all_rows(X, y, sample_weight)
        stream = getattr(self, "_stream", None) if self.warm_start else None
        n_weights = self._n_weights(block.design.shape[1])
        if stream is None or len(stream.w) != n_weights:
            stream = Stream.of(n_weights)
        begin = Stream(stream.w, stream.t, np.zeros_like(stream.w))
        return self._take(block, begin, self.n_steps, -(-self.n_steps // 2), seed)

    @fitting
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on learning from a block of rows: as many steps as it has rows of weight above zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the block.
        y : array-like of shape (n_samples,)
            Their labels. A block may lack a class: then all its steps are steps on points.
        classes : array-like of shape (2,), optional
            The two labels there are; needed at the first call, and may be left out after it.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is drawn as often as two rows, one of weight 0 never.

        Returns
        -------
        self
            The ranker as it is after the block.
        """
        seed = _seed(self.random_state)
        stream = getattr(self, "_stream", None)
        block = self._block(X, y, classes, sample_weight)
        n_steps = len(block.split.pos) + len(block.split.neg)
        n_weights = self._n_weights(block.design.shape[1])
        stream = Stream.of(n_weights) if stream is None else stream
        if len(stream.w) != n_weights:
            raise ValueError(
                "fit_intercept was changed between calls of partial_fit: set it back, or begin "
                "anew with fit."
            )
        begin = Stream(stream.w, stream.t, stream.mean, stream.n_averaged)
        return self._take(block, begin, n_steps, n_steps, seed)

    def _take(self, block: Block, stream: Stream, n_steps: int, n_averaged: int, seed: int) -> Self:
        """Take the steps, then set the fitted attributes."""
        # Blocks must not repeat each other's draws, wherever the seed comes from.
        rng = np.random.default_rng([seed, stream.t])
        self._steps(block, stream, n_steps, n_averaged if self.average else 0, rng)
        self._stream = stream
        w = stream.mean if self.average and stream.n_averaged else stream.w
        self._set(w[: block.design.shape[1]], self._threshold(block, w))
        self.t_, self.n_iter_ = stream.t, n_steps
        return self


__all__ = ["CHUNK", "DrawingRanker", "Draws"]
