"""Small distributions to hold the theory against."""

from __future__ import annotations

import numpy as np

from theory import Distribution

#: eta of three points: surely negative, surely positive, equal to pi (with the marginal's mean).
CASES = {
    "uncertain": (0.2, 0.35, 0.9),
    "one at pi": (0.2, 0.5, 0.8),
    "all at pi": (0.3, 0.3, 0.3),
    "a sure negative": (0.0, 0.4, 0.7),
    "a sure positive": (0.3, 0.6, 1.0),
    "one of each kind": (0.0, 0.5, 1.0),
    "separable": (0.0, 0.0, 1.0),
    "separable the other way": (1.0, 1.0, 0.0),
}


def uniform(eta: tuple[float, ...]) -> Distribution:
    """These eta on a line, every point equally likely."""
    k = len(eta)
    return Distribution(np.arange(float(k))[:, None], np.full(k, 1 / k), eta)


def random_distribution(seed: int, k: int = 5, d: int = 2, *, sure: bool = True) -> Distribution:
    """Normal points with random marginal and eta, some of them 0 or 1 where `sure`."""
    rng = np.random.default_rng(seed)
    eta = rng.random(k)
    if sure:
        eta[rng.random(k) < 0.2] = 0.0
        eta[rng.random(k) < 0.2] = 1.0
        eta[:2] = rng.uniform(0.1, 0.9, size=2)  # both classes are there
    return Distribution(rng.standard_normal((k, d)), rng.dirichlet(np.ones(k)), eta)
