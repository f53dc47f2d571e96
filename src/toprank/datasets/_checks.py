"""Checks of the makers' parameters; every error names the parameter."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.arguments import check_number

RandomState = int | np.random.RandomState | np.random.Generator | None


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """Turn whatever scikit-learn users pass as `random_state` into a SeedSequence.

    An int always gives the same sequence, None a fresh one; a generator is advanced.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(2**32, size=4, dtype=np.uint64).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=4).tolist())
    raise ValueError(
        "random_state must be None, a non-negative int, a numpy RandomState or a numpy Generator, "
        f"got {random_state!r}."
    )


def count_positives(n_samples: int, positive_fraction: float) -> int:
    """Round ``positive_fraction * n_samples``, insisting that both classes get a row."""
    fraction = check_number("positive_fraction", positive_fraction, 0, 1, ends="()")
    n_positive = round(fraction * n_samples)
    if not 0 < n_positive < n_samples:
        raise ValueError(
            f"positive_fraction={positive_fraction!r} of n_samples={n_samples} leaves a class "
            "without rows: change the one or raise the other."
        )
    return n_positive


def check_weights(name: str, weights: Any, count: int) -> NDArray[np.float64]:
    """Return `count` mixture weights that sum to 1, all equal when `weights` is None."""
    if weights is None:
        return np.full(count, 1.0 / count)
    shares: NDArray[np.float64] = np.asarray(weights, dtype=np.float64)
    if shares.shape != (count,) or not np.all(shares >= 0) or abs(shares.sum() - 1.0) > 1e-9:
        raise ValueError(
            f"{name} must be {count} non-negative numbers that sum to 1, got {weights!r}."
        )
    return shares
