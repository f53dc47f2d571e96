"""Rows as those of text, of more columns than rows, and smooth losses of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from toprank.designs import DenseDesign, SparseDesign
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss
from toprank.problems import Problem
from toprank.surrogates import SURROGATES, PowerExponential, Steepened, Surrogate

#: Both sides of every loss that the kernels know, and of some that are steeper on one.
SIDES: dict[str, tuple[Surrogate, Surrogate]] = {
    "logistic": (SURROGATES["logistic"], SURROGATES["logistic"]),
    "squared hinge": (SURROGATES["squared_hinge"], SURROGATES["squared_hinge"]),
    "steep squared hinge": (
        SURROGATES["squared_hinge"],
        Steepened(SURROGATES["squared_hinge"], 4.0),
    ),
    "steep logistic": (SURROGATES["logistic"], Steepened(SURROGATES["logistic"], 4.0)),
    "steep exponential": (SURROGATES["exponential"], Steepened(SURROGATES["exponential"], 4.0)),
    "powers": (SURROGATES["exponential"], PowerExponential(4.0)),
    "logistic and powers": (SURROGATES["logistic"], PowerExponential(4.0)),
}


def text(seed: int, n: int = 300, d: int = 1200) -> tuple[sparse.csr_array, Any]:
    """Sparse rows of length one, common columns and rare ones, and noisy labels."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((d * rng.random((n, 20)) ** 3).astype(int), d - 1)
    X = sparse.csr_array(
        (rng.exponential(size=columns.size), columns.ravel(), 20 * np.arange(n + 1)), shape=(n, d)
    )
    X.sum_duplicates()
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    score = X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)
    return X, score > np.quantile(score, 0.8)


def make(X: Any, positive: Any, name: str, alpha: float, weight: Any = None, **how: Any) -> Problem:
    design = SparseDesign(X, **how) if sparse.issparse(X) else DenseDesign(X, **how)
    return Problem(design, ThresholdLoss(Split.of(positive, weight), *SIDES[name]), alpha)
