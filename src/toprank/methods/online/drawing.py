"""Rankers that learn by steps on pairs and points drawn at random."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from ...estimators.ranker import Learnt, fitting
from ...estimators.validation import LabelledRows
from ...solvers.watch import Watch
from .base import Stream, StreamRanker

Array = NDArray[np.float64]


class DrawingRanker(StreamRanker):
    """A ranker that learns by stochastic steps; the whole of `fit` and `partial_fit`.

    A subclass names its parameters, takes steps (`_steps`) and says where its threshold is
    (`_threshold`).
    """

    alpha: float
    max_iter: int
    average: bool
    warm_start: bool

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamRanker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "average": ["boolean"],
        "warm_start": ["boolean"],
    }

    @abstractmethod
    def _steps(
        self,
        block: LabelledRows,
        stream: Stream,
        n_steps: int,
        n_averaged: int,
        rng: np.random.Generator,
        watch: Watch,
    ) -> None:
        """Take steps from where the stream is; the mean takes in the last `n_averaged` of them."""

    def _n_weights(self, n_features: int) -> int:
        """How many weights the steps learn."""
        return n_features

    @abstractmethod
    def _threshold(self, block: LabelledRows, w: Array) -> float | None:
        """The score above which a row is called positive; None leaves it where it was."""

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        stream = getattr(self, "_stream", None) if self.warm_start else None
        n_weights = self._n_weights(rows.design.shape[1])
        if stream is None or len(stream.w) != n_weights:
            stream = Stream.of(n_weights)
        begin = Stream(stream.w, stream.t, np.zeros_like(stream.w))
        return self._advance(rows, begin, self.max_iter, -(-self.max_iter // 2), watch)

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
        watch = Watch(block.design, verbose=self.verbose)
        self._keep(self._advance(block, begin, n_steps, n_steps, watch))
        return self

    def _advance(
        self, block: LabelledRows, stream: Stream, n_steps: int, n_averaged: int, watch: Watch
    ) -> Learnt:
        """Take the steps."""
        # Blocks must not repeat each other's draws, wherever the seed comes from.
        rng, before = np.random.default_rng([self._seed(), stream.t]), stream.t
        n_features = block.design.shape[1]
        watch.attributes = lambda w: self._score(w[:n_features], self._threshold(block, w))
        self._steps(block, stream, n_steps, n_averaged if self.average else 0, rng, watch)
        self._stream = stream
        w = stream.mean if self.average and stream.n_averaged else stream.w
        return Learnt(watch.attributes(w), stream.t - before, more={"t_": stream.t})


__all__ = ["DrawingRanker"]
