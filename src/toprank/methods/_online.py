"""What the online methods share: they read rows one after the other, in the order given."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from .._core import BufferedDescent, Matrix, MomentDescent
from ..base import _seed, fitting
from ..stream import Block, StreamRanker

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
State = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """Rows to read, as often as there are orders."""

    block: Block
    matrix: Matrix
    signs: Array
    weights: Array
    orders: Iterator[Rows]
    #: How many rows were read before these.
    t: int

    @classmethod
    def of(cls, block: Block, orders: Iterator[Rows], t: int) -> Reading:
        """The rows of a block: 1 or -1 a row, and its weight."""
        n_rows = block.design.shape[0]
        signs = np.full(n_rows, -1.0)
        signs[block.split.pos] = 1.0
        weights = np.ones(n_rows) if block.weight is None else block.weight
        return cls(block, block.design.by_rows(), signs, weights, orders, t)


class OnlineRanker(StreamRanker):
    """A ranker that reads rows in order; the whole of `fit` and `partial_fit`.

    A subclass names its parameters, its state before the first row (`_begin`) and learns from
    rows (`_learn`). The state is all that a stream leaves behind.
    """

    n_passes: int
    shuffle: bool

    _sums_weights = True

    #: Whose fault an overflow is, and what to do about it.
    _remedy: ClassVar[str]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamRanker._parameter_constraints,
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
    }

    @abstractmethod
    def _begin(self, n_features: int, seed: int) -> State:
        """Before the first row."""

    @abstractmethod
    def _learn(self, reading: Reading, state: State) -> State:
        """The state after the rows; the given one is left as it is."""

    def _weights(self, state: State) -> Array:
        """The weights that a state stands for."""
        return np.asarray(state["w"])

    @fitting
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the score from `n_passes` passes over the rows, beginning anew.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows. float32 and float64 are used as they are, without a copy.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` is the positive one, or else the greater.
        sample_weight : array-like of shape (n_samples,), optional
            The loss of a row of weight v counts v times; one of weight 0 is not read.

        Returns
        -------
        self
            The fitted ranker.
        """
        seed = _seed(self.random_state)
        block = self._all_rows(X, y, sample_weight)
        state = self._begin(block.design.shape[1], seed)
        return self._read(block, state, self.n_passes, np.random.default_rng(seed))

    @fitting
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on learning from a block of rows, read once, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the block.
        y : array-like of shape (n_samples,)
            Their labels. A block may lack a class.
        classes : array-like of shape (2,), optional
            The two labels there are; needed at the first call, and may be left out after it.
        sample_weight : array-like of shape (n_samples,), optional
            The loss of a row of weight v counts v times; one of weight 0 is not read.

        Returns
        -------
        self
            The ranker as it is after the block.
        """
        seed = _seed(self.random_state)
        block = self._block(X, y, classes, sample_weight)
        state = getattr(self, "_stream", None)
        if state is None:
            state = self._begin(block.design.shape[1], seed)
        return self._read(block, state, 1, None)

    def _read(
        self, block: Block, state: State, n_passes: int, rng: np.random.Generator | None
    ) -> Self:
        """Learn from the rows, in random orders if there is a generator, and keep the result."""
        rows = np.sort(np.concatenate([block.split.pos, block.split.neg]))
        orders = self._orders(rows, n_passes, rng if self.shuffle else None)
        reading = Reading.of(block, orders, state["t"])
        learnt = self._learn(reading, state)
        n_read = n_passes * len(rows)
        self._stream = {**learnt, "t": state["t"] + n_read}
        w = self._weights(self._stream)
        self._set(w, block.share_threshold(w))
        self.t_, self.n_iter_ = self._stream["t"], n_read
        return self

    def _orders(self, rows: Rows, n_passes: int, rng: np.random.Generator | None) -> Iterator[Rows]:
        """The order of each pass; tells when it is over."""
        began = time.perf_counter()
        for k in range(n_passes):
            yield rows if rng is None else rng.permutation(rows)
            if self.verbose > 0:
                seconds = time.perf_counter() - began
                print(f"pass {k + 1}: {len(rows)} rows, {seconds:.2f} s", flush=True)

    def _run(self, core: BufferedDescent | MomentDescent, reading: Reading) -> None:
        """Let the core read the rows."""
        before = reading.t
        for rows in reading.orders:
            taken = core.run(reading.matrix, rows, reading.signs, reading.weights)
            self._check_taken(taken, rows, before)
            before += taken

    def _check_taken(self, taken: int, rows: Rows, before: int) -> None:
        """Refuse steps that overflowed."""
        if taken < len(rows):
            raise ValueError(
                f"{type(self).__name__} overflowed at row {before + taken + 1} of those read: "
                f"{self._remedy}"
            )


class MomentRanker(OnlineRanker):
    """OPAUC and AdaOAM: steps from the class means and covariances of the rows read so far."""

    alpha: float
    eta: float | str

    _adaptive: ClassVar[bool]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OnlineRanker._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }
    #: The most that the two covariances may take.
    _largest_state: ClassVar[int] = 2**30

    def _begin(self, n_features: int, seed: int) -> State:
        n_bytes = 8 * n_features * (n_features + 1)
        if n_bytes > self._largest_state:
            raise ValueError(
                f"{type(self).__name__} keeps the covariances of both classes: with {n_features} "
                f"features that is {n_bytes / 2**30:.3g} GiB, and as much work for every "
                f"row. Use toprank.SPAM, whose steps cost what the entries of a row cost, or fewer "
                "features."
            )
        return {
            "t": 0,
            "w": np.zeros(n_features),
            "squares": np.zeros(n_features),
            "sizes": np.zeros(2),
            "weight": np.zeros(2),
            "mean": np.zeros(2 * n_features),
            "scatter": np.zeros(n_features * (n_features + 1)),
        }

    def _learn(self, reading: Reading, state: State) -> State:
        names = [name for name in state if name != "t"]
        core = MomentDescent(
            float(self.alpha),
            0.0 if isinstance(self.eta, str) else float(self.eta),
            self._adaptive,
            **{name: state[name] for name in names},
        )
        self._run(core, reading)
        return {name: getattr(core, name) for name in names}
