"""The paper's mixtures of Gaussians: rows, and what is known of the distribution exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import norm

from toprank.datasets import make_gaussian_mixture
from toprank.metrics import auc

Array = NDArray[np.float64]

#: The paper does not say how many features there are.
N_FEATURES = 10
#: The ball: large enough never to matter.
RADIUS = 1000.0


@dataclass(frozen=True)
class Mixture:
    """Two classes of K Gaussians each, all with the covariance sigma^2 I, equally likely."""

    X: Array
    y: NDArray[np.int64]
    centers: Array
    sigma: float

    @classmethod
    def draw(
        cls, n_components: int, sigma: float, seed: int, n_rows: int = 2000, share: float = 0.5
    ) -> Mixture:
        """Centres and rows."""
        made = make_gaussian_mixture(
            n_rows,
            N_FEATURES,
            n_components=n_components,
            sigma=sigma,
            positive_fraction=share,
            return_centers=True,
            random_state=seed,
        )
        return cls(*made, sigma)

    def moments(self) -> tuple[Array, Array]:
        """mu and Sigma of the distribution: psi = x - x' for independent x and x'."""
        mu = self.centers[1].mean(axis=0) - self.centers[0].mean(axis=0)
        spread = sum(np.cov(centers.T, bias=True) for centers in self.centers)
        return mu, spread + 2.0 * self.sigma**2 * np.eye(len(mu)) + np.outer(mu, mu)

    def best(self) -> Array:
        """The weights of least phi-risk; they lie well inside the ball."""
        mu, second = self.moments()
        return np.linalg.solve(second, mu)

    def risk(self, w: Array) -> float:
        """The phi-risk E (1 - w.psi)^2 / 2."""
        mu, second = self.moments()
        return float(0.5 - mu @ w + w @ second @ w / 2.0)

    def auc(self, w: Array) -> float:
        """P(w.x > w.x'), exactly: the scores of every two components are Gaussian."""
        above, below = (centers @ w for centers in (self.centers[1], self.centers[0]))
        scale = np.sqrt(2.0) * self.sigma * np.linalg.norm(w)
        return float(norm.cdf((above[:, np.newaxis] - below) / scale).mean())

    def likelihood_ratio_auc(self, seed: int, n_rows: int = 4000) -> float:
        """The AUC of the best score there is: what new rows show it to be ahead of the best w."""
        rng = np.random.default_rng([seed, 1])
        y = np.arange(n_rows) % 2
        place = self.centers[y, rng.integers(self.centers.shape[1], size=n_rows)]
        rows = place + self.sigma * rng.standard_normal(place.shape)
        square = ((rows[:, np.newaxis, np.newaxis] - self.centers) ** 2).sum(axis=-1)
        likelihood = logsumexp(-square / (2.0 * self.sigma**2), axis=2)
        w = self.best()  # on the same rows: most of their noise goes off
        return self.auc(w) + float(auc(y, likelihood[:, 1] - likelihood[:, 0]) - auc(y, rows @ w))
