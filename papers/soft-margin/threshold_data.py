"""The paper's artificial data: r-of-k threshold functions of Boolean variables, and noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
N_VARIABLES = 100


@dataclass(frozen=True)
class Threshold:
    """At least r of k of the variables are on; a share of the rows is so before the noise."""

    r: int
    k: int = 30
    share: float = 0.5
    noise: float = 0.05

    def draw(self, n_rows: int, seed: int) -> tuple[Array, Labels, Labels]:
        """Rows of +-1 variables and a last column of ones; noisy labels, and those before noise.

        Variables are fair coins given the label: the number of the k that are on has the binomial
        law, cut off at r, which k of them are on is uniform, and the others are fair coins.
        """
        rng = np.random.default_rng(seed)
        clean = np.zeros(n_rows, dtype=np.int64)
        clean[: round(self.share * n_rows)] = 1
        rng.shuffle(clean)
        on = np.where(clean == 1, self._counts(rng, n_rows, 1), self._counts(rng, n_rows, 0))
        X = np.where(rng.random((n_rows, N_VARIABLES + 1)) < 0.5, 1.0, -1.0)
        ranks = np.argsort(np.argsort(rng.random((n_rows, self.k)), axis=1), axis=1)
        X[:, : self.k] = np.where(ranks < on[:, np.newaxis], 1.0, -1.0)
        X[:, N_VARIABLES] = 1.0
        y = np.where(rng.random(n_rows) < self.noise, 1 - clean, clean)
        return X, y, clean

    def ceiling(self, n_rows: int, times: int = 20_000) -> tuple[float, float]:
        """Mean and deviation of the AUC of the label before noise: no score can do better.

        With a and c the shares of the noisy positives and negatives that are what they seem to be
        it is (a + c) / 2: noise is independent of the rows.
        """
        rng = np.random.default_rng(0)
        sizes = np.array([round(self.share * n_rows), n_rows - round(self.share * n_rows)])
        lost = rng.binomial(sizes, self.noise, size=(times, 2))
        kept = sizes - lost
        aucs = (kept / (kept + lost[:, ::-1])).mean(axis=1)
        return float(aucs.mean()), float(aucs.std())

    def _counts(self, rng: np.random.Generator, size: int, label: int) -> NDArray[np.int64]:
        counts = np.arange(self.k + 1)
        law = stats.binom.pmf(counts, self.k, 0.5) * ((counts >= self.r) == label)
        return rng.choice(counts, size=size, p=law / law.sum())
