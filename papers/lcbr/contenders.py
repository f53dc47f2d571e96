"""The methods of Figure 2: each learns from a share of the training rows, or from as many pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier

import toprank
from toprank import BBR, LCBR

Array = NDArray[np.float64]
#: Shares of the training rows; a pair counts as a row.
SHARES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Part:
    """Training rows in the order in which they come, and rows to test on."""

    X: Any
    y: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]

    def counts(self) -> list[int]:
        """How many rows, or pairs, the shares are."""
        return [max(2, round(share * len(self.y))) for share in SHARES]


class Contender(ABC):
    """A method: settings to choose from, and the weights it has after each share."""

    name: str
    grid: Sequence[dict[str, Any]]

    @abstractmethod
    def weights(self, part: Part, setting: dict[str, Any], seed: int) -> Iterator[Array]:
        """w after each share."""


class Drawn(Contender):
    """LCBR with as many pairs as the share has rows."""

    grid = tuple({"alpha": alpha} for alpha in (1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1))

    def __init__(self, name: str, sampling: str) -> None:
        self.name, self.sampling = name, sampling

    def weights(self, part: Part, setting: dict[str, Any], seed: int) -> Iterator[Array]:
        """A new draw for each share."""
        for count in part.counts():
            own = LCBR(**setting, n_pairs=count, sampling=self.sampling, random_state=seed)
            yield own.fit(part.X, part.y).coef_[0]


class Exact(Contender):
    """BBR: all pairs of the first rows."""

    name, grid = "BBR", Drawn.grid

    def weights(self, part: Part, setting: dict[str, Any], seed: int) -> Iterator[Array]:
        """By rows added to the moments."""
        ranker, begin = BBR(**setting), 0
        for count in part.counts():
            ranker.partial_fit(part.X[begin:count], part.y[begin:count], classes=[0, 1])
            yield ranker.coef_[0]
            begin = count


class Ridge(Contender):
    """scikit-learn's ridge classifier with balanced classes, as it comes."""

    name, grid = "ridge", ({"alpha": 1.0},)

    def weights(self, part: Part, setting: dict[str, Any], seed: int) -> Iterator[Array]:
        """On the first rows."""
        for count in part.counts():
            own = RidgeClassifier(**setting, class_weight="balanced")
            yield np.ravel(own.fit(part.X[:count], part.y[:count]).coef_)


class Online(Contender):
    """One pass of a method that learns row by row."""

    def __init__(self, name: str, **grid: Sequence[Any]) -> None:
        self.name = name
        self.grid = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]

    def weights(self, part: Part, setting: dict[str, Any], seed: int) -> Iterator[Array]:
        """By blocks, from share to share."""
        ranker = getattr(toprank, self.name)(**setting, random_state=seed)
        begin, w = 0, np.zeros(part.X.shape[1])
        for count in part.counts():
            try:
                ranker.partial_fit(part.X[begin:count], part.y[begin:count], classes=[0, 1])
                w = ranker.coef_[0]
            except ValueError as error:  # steps too long for these rows: not a setting to choose
                if "overflowed" not in str(error):
                    raise
                w = np.zeros_like(w)
            yield w
            begin = count


class PairDescent(Contender):
    """PGD: w += c / sqrt(t) (1 - w.psi) psi for random pairs, |w| <= 100, and the mean of all w.

    The paper's list of references is cut off in the copy at hand: this is what it most likely is.
    """

    name = "PGD"
    grid = tuple({"step": step} for step in (0.03, 0.1, 0.3, 1.0, 3.0))
    radius = 100.0

    def weights(self, part: Part, setting: dict[str, Any], seed: int) -> Iterator[Array]:
        """Steps in plain NumPy; rows of the paper's sets are few and short."""
        rng = np.random.default_rng(seed)
        X = part.X.toarray() if hasattr(part.X, "toarray") else np.asarray(part.X)
        above, below = X[part.y == 1], X[part.y == 0]
        w, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        counts = part.counts()
        first = rng.integers(len(above), size=counts[-1])
        second = rng.integers(len(below), size=counts[-1])
        lengths = setting["step"] / np.sqrt(np.arange(1, counts[-1] + 1))
        for t in range(counts[-1]):
            psi = above[first[t]] - below[second[t]]
            w = w + (lengths[t] * (1.0 - psi @ w)) * psi
            length = np.sqrt(w @ w)
            if length > self.radius:
                w *= self.radius / length
            total += w
            if t + 1 in counts:
                yield total / (t + 1)


ONLINE = (
    Online("OAM", C=[2.0**k for k in (-21, -18, -15, -12, -9, -6, -3)]),
    Online("AdaOAM", learning_rate=[0.03, 0.1, 0.3, 1.0], alpha=[1e-4, 1e-2]),
    Online("SPAM", learning_rate=[1.0, 10.0, 100.0], alpha=[1e-5, 1e-3]),
    Online("OPAUC", learning_rate=[2.0**k for k in (-8, -6, -4, -2)], alpha=[1e-4, 1e-2]),
)


def contenders() -> list[Contender]:
    """All of them; of the online methods those that are there."""
    there = [method for method in ONLINE if hasattr(toprank, method.name)]
    drawn = [Drawn("LCBR", "uniform"), Drawn("LCBR matched", "matched")]
    return [*drawn, Exact(), Ridge(), PairDescent(), *there]
