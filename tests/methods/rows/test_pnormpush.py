"""PNormPush: what it has to do with the p-norm push, and overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from support.toy_rows import overlapping
from toprank import PNormPush, TopPush
from toprank.datasets import load_spambase

X, Y = overlapping(20, 60, 4)


def pnorm_push(w: Any, p: float) -> tuple[float, Any]:
    """R_p(w), the mean over negatives of (the mean over positives of e^(s_j - s_i))^p."""
    pairs = X[Y == 0][:, None, :] - X[Y == 1][None, :, :]
    terms = np.exp(pairs @ w)
    inner = terms.mean(axis=1)
    slopes = np.einsum("ji,jid->jd", terms, pairs) / terms.shape[1]
    return float((inner**p).mean()), (p * inner ** (p - 1)) @ slopes / len(inner)


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
@pytest.mark.parametrize("p", [1.0, 2.0, 4.0])
def test_it_minimises_the_push_at_the_alpha_it_names(p: float, alpha: float, root: bool) -> None:
    ranker = PNormPush(alpha, p, tol=1e-14).fit(X, Y)
    other = ranker.pnorm_root_alpha_ if root else ranker.pnorm_alpha_

    def objective(w: Any) -> tuple[float, Any]:
        value, slope = pnorm_push(w, p)
        if root:
            value, slope = value ** (1 / p), slope * value ** (1 / p - 1) / p
        # In units of alpha', for the stopping rule's sake.
        return 0.5 * w @ w + value / other, w + slope / other

    found = minimize(
        objective, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000}
    )
    assert_allclose(ranker.coef_[0], found.x, atol=1e-5)
    assert np.linalg.norm(objective(ranker.coef_[0])[1]) < 1e-5
    assert np.linalg.norm(objective(0.99 * ranker.coef_[0])[1]) > 1e-3


@pytest.mark.parametrize("p", [1.0, 4.0])
def test_the_loss_is_a_power_of_the_push(p: float) -> None:
    ranker = PNormPush(1e-2, p, tol=1e-12).fit(X, Y)
    w = ranker.coef_[0]
    loss = ranker.certificate_.primal - 0.005 * w @ w
    push, _ = pnorm_push(w, p)
    assert loss == pytest.approx((1 + 1 / p) * push ** (1 / (p + 1)), rel=1e-10)
    s = X @ w + ranker.intercept_
    assert np.exp(-s[Y == 1]).mean() == pytest.approx(np.exp(p * s[Y == 0]).mean(), rel=1e-8)


def test_a_large_p_is_near_toppush() -> None:
    """R_p^(1/p) tends to TopPush's exponential loss."""
    ranker = PNormPush(1e-3, 200.0, tol=1e-10).fit(X, Y)
    top = TopPush(ranker.pnorm_root_alpha_, loss="exponential", tol=1e-8).fit(X, Y)
    cosine = float((ranker.coef_ @ top.coef_.T)[0, 0])
    cosine /= np.linalg.norm(ranker.coef_) * np.linalg.norm(top.coef_)
    assert cosine > 0.99


@pytest.mark.parametrize("p", [4.0, 64.0])
def test_features_in_the_thousands_do_not_overflow(p: float) -> None:
    data, y = load_spambase(return_X_y=True)
    assert data.max() > 1e3
    ranker = PNormPush(1e-3, p).fit(data, y)  # without a warning
    assert ranker.certificate_.holds(1e-4)
    assert ranker.score(data, y) > 0.9


def test_the_p_norm_push_counts_weights() -> None:
    weight = np.random.default_rng(0).integers(1, 4, len(Y))
    weighted = PNormPush(1e-2, tol=1e-13).fit(X, Y, sample_weight=weight)
    repeated = PNormPush(1e-2, tol=1e-13).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.pnorm_alpha_ == pytest.approx(repeated.pnorm_alpha_, rel=1e-6)


def test_a_huge_row_without_weight_does_not_overflow_the_fit() -> None:
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(12, 10)) < 0.5).astype(float)
    y = np.zeros(12, dtype=int)
    y[8] = 1
    X[2] *= 2e6
    weight = np.where(np.arange(12) == 2, 1e-300, 1.0)
    ranker = PNormPush(alpha=6e3, p=4.0).fit(X, y, sample_weight=weight)
    assert ranker.certificate_.holds(1e-4)
    assert np.isfinite(ranker.intercept_).all()
    without = PNormPush(alpha=6e3, p=4.0).fit(np.delete(X, 2, 0), np.delete(y, 2))
    assert ranker.certificate_.primal >= without.certificate_.dual
