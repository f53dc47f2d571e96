"""All pairs of two classes written out, beside a sampler of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from toprank._core import Matrix, PairSampler

Array = NDArray[np.float64]
Pair = tuple[int, int]

SOFT = ["soft-close", "soft-correct"]
METHODS = ["lazy", "envelope", "enumeration", "auto"]

soft = pytest.mark.parametrize("strategy", SOFT)
by_every_method = pytest.mark.parametrize("method", METHODS)


def sampler(s: Array, t: Array, gamma: float = 1.0, seed: int = 0) -> PairSampler:
    """One feature, which is the score at w = 1: the positives' are s, then the negatives' t."""
    rows = np.concatenate([s, t])[:, np.newaxis]
    positives = np.arange(len(s))
    return PairSampler(Matrix.dense(rows), positives, np.arange(len(s), len(rows)), gamma, seed)


ONE = np.ones(1)


def drawn(core: PairSampler, count: int, strategy: str, **options: Any) -> list[Pair]:
    first, second, *_ = core.draw(ONE, count, strategy, **options)
    return list(zip(first.tolist(), second.tolist(), strict=True))


def margins(s: Array, t: Array) -> dict[Pair, float]:
    """Of all pairs, real ones and points."""
    m = len(s)
    found = {(i, m + j): s[i] - t[j] for i in range(m) for j in range(len(t))}
    found |= {(i, -1): s[i] for i in range(m)}
    found |= {(-1, m + j): -t[j] for j in range(len(t))}
    return {pair: float(d) for pair, d in found.items()}


def p_of(strategy: str, d: float) -> float:
    if strategy == "soft-close":
        return float(2 / (1 + np.exp(abs(d))))
    if strategy == "soft-correct":
        return float(1 - 2 / (1 + np.exp(max(1 - d, 0.0))))
    return 1.0


def masses(s: Array, t: Array, strategy: str, gamma: float) -> dict[Pair, float]:
    """How often a proposal is the pair and accepted."""
    m, n = len(s), len(t)
    return {
        pair: p_of(strategy, d) * ((1 - gamma) / (m + n) if -1 in pair else gamma / (m * n))
        for pair, d in margins(s, t).items()
    }


def all_pairs(m: int, n: int, gamma: float) -> set[Pair]:
    real = {(i, m + j) for i in range(m) for j in range(n)} if gamma > 0 else set()
    points = {(i, -1) for i in range(m)} | {(-1, m + j) for j in range(n)} if gamma < 1 else set()
    return real | points
