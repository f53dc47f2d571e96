"""One negative, a row of zeros: no row that a model carries has a length."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from toprank import InfinitePush, RectPush, TopPush


@pytest.mark.parametrize("solver", ["auto", "newton", "few-passes"])
@pytest.mark.parametrize("alpha", [1.0, 1e10, 1e14, 1e20, 1e26])
@pytest.mark.parametrize("estimator", [TopPush, InfinitePush, RectPush])
def test_any_alpha_ends_with_a_certificate(estimator: Any, alpha: float, solver: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * np.sqrt(alpha)
    X[0] = 0.0
    y = (np.arange(20) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker = estimator(alpha=alpha, loss="logistic", solver=solver, random_state=0).fit(X, y)
    assert ranker.certificate_.holds(ranker.tol)
    assert ranker.coef_.any()
