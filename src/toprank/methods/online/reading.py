"""What methods that read a stream share: they read rows one after the other, in the order given."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from ..._core import BufferedDescent, Matrix, MomentDescent
from ...estimators.ranker import Learnt, fitting
from ...estimators.validation import LabelledRows
from ...solvers.watch import Watch
from .base import StreamRanker

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
State = dict[str, Any]


@dataclass
class Reading:
    """Rows to read, as often as there are orders."""

    block: LabelledRows
    orders: Iterator[Rows]
    #: How many rows were read before these.
    t: int
    watch: Watch
    n_passes: int = 0
    n_read: int = 0

    def __post_init__(self) -> None:
        """Read the rows of a block: 1 or -1 for each, and its weight."""
        n_rows, weight = self.block.design.shape[0], self.block.weight
        self.matrix: Matrix = self.block.design.by_rows()
        self.signs = np.where(self.block.positive, 1.0, -1.0)
        self.weights = np.ones(n_rows) if weight is None else weight

    def over(self, n_rows: int, current: Callable[[], Array]) -> bool:
        """Tell that a pass is over; True if someone asks to stop."""
        self.n_passes += 1
        self.n_read += n_rows
        if self.watch.verbose > 0:
            seconds = self.watch.seconds
            print(f"pass {self.n_passes}: {n_rows} rows, {seconds:.2f} s", flush=True)
        return self.watch.note(self.n_passes, current)


class OnlineRanker(StreamRanker):
    """A ranker that reads rows in order; the whole of `fit` and `partial_fit`.

    A subclass names its parameters, its state before the first row (`_begin`) and learns from
    rows (`_read`). The state is all that a stream leaves behind.
    """

    max_iter: int
    shuffle: bool

    _sums_weights = True

    #: Whose fault an overflow is, and what to do about it.
    _remedy: ClassVar[str]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamRanker._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
    }

    @abstractmethod
    def _begin(self, n_features: int, seed: int) -> State:
        """Before the first row."""

    @abstractmethod
    def _read(self, reading: Reading, state: State) -> State:
        """The state after the rows; the given one is left as it is."""

    def _weights(self, state: State) -> Array:
        """The weights that a state stands for."""
        return np.asarray(state["w"])

    def _learn(self, rows: LabelledRows, watch: Watch) -> Learnt:
        seed = self._seed()
        state = self._begin(rows.design.shape[1], seed)
        return self._advance(rows, state, self.max_iter, watch, np.random.default_rng(seed))

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
        rows, state = self._block(X, y, classes, sample_weight), getattr(self, "_stream", None)
        if state is None:
            state = self._begin(rows.design.shape[1], self._seed())
        watch = Watch(rows.design, verbose=self.verbose)
        self._keep(self._advance(rows, state, 1, watch, None))
        return self

    def _advance(
        self,
        block: LabelledRows,
        state: State,
        n_passes: int,
        watch: Watch,
        rng: np.random.Generator | None,
    ) -> Learnt:
        """Learn from the rows, in random orders if there is a generator."""
        rows = np.sort(np.concatenate([block.split.pos, block.split.neg]))
        every = range(n_passes)
        orders = (rng.permutation(rows) if rng and self.shuffle else rows for _ in every)
        watch.attributes = lambda w: self._score(w, block.share_threshold(w))
        reading = Reading(block, orders, state["t"], watch)
        learnt = self._read(reading, state)
        self._stream = {**learnt, "t": state["t"] + reading.n_read}
        score = watch.attributes(self._weights(self._stream))
        return Learnt(score, reading.n_read, more={"t_": self._stream["t"]})

    def _run(self, core: BufferedDescent | MomentDescent, reading: Reading) -> None:
        """Let the core read the rows."""
        for rows in reading.orders:
            taken = core.run(reading.matrix, rows, reading.signs, reading.weights)
            self._check_taken(taken, rows, reading.t + reading.n_read)
            if reading.over(taken, lambda: core.w):
                break

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
    learning_rate: float | str

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

    def _read(self, reading: Reading, state: State) -> State:
        names = [name for name in state if name != "t"]
        core = MomentDescent(
            float(self.alpha),
            0.0 if isinstance(self.learning_rate, str) else float(self.learning_rate),
            self._adaptive,
            **{name: state[name] for name in names},
        )
        self._run(core, reading)
        return {name: getattr(core, name) for name in names}
