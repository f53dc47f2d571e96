"""Paths of BBR: every value is a fit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from support.toy_rows import overlapping
from toprank import BBR
from toprank.methods.squared.bbr import bbr_path

X, Y = overlapping(30, 90, 6)
WEIGHT = np.random.default_rng(3).uniform(0.1, 2.0, len(Y))


@pytest.mark.parametrize("solver", ["moments", "lanczos"])
def test_a_path_is_its_fits(solver: str) -> None:
    alphas, radii = np.logspace(-6, 2, 9), np.logspace(-3, 1, 5)
    near = 1e-9 if solver == "moments" else 1e-4  # a gap of 1e-10 is that in the weights
    path = bbr_path(X, Y, alphas=alphas, solver=solver, sample_weight=WEIGHT, tol=1e-10)
    for k, alpha in enumerate(alphas):
        fit = BBR(alpha, solver=solver, tol=1e-10).fit(X, Y, sample_weight=WEIGHT)
        assert_allclose(path.coefs[k], fit.coef_[0], atol=near * np.abs(fit.coef_).max())
        assert path.intercepts[k] == pytest.approx(fit.intercept_[0], rel=near)
        assert path.certificates[k].holds(1e-9)
    path = bbr_path(X, Y, radii=radii, solver=solver, tol=1e-10)
    for k, radius in enumerate(radii):
        fit = BBR(radius=radius).fit(X, Y)
        assert_allclose(path.coefs[k], fit.coef_[0], atol=near * np.abs(fit.coef_).max())
        assert path.multipliers[k] == pytest.approx(fit.multiplier_, rel=near, abs=1e-9)
        assert np.linalg.norm(path.coefs[k]) <= radius * (1 + 1e-12)


def test_a_fitted_ranker_has_a_path() -> None:
    ranker = BBR(0.3).partial_fit(X, Y, classes=[0, 1])
    assert_allclose(ranker.path(alphas=[0.3]).coefs, ranker.coef_, rtol=1e-10)
    assert_allclose(ranker.path(radii=[1e3]).coefs, ranker.coef_, rtol=1e-10)
    with pytest.raises(ValueError, match="either alphas or radii"):
        ranker.path()
    with pytest.raises(ValueError, match=r"alphas\[1\] is -1"):
        ranker.path(alphas=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"radii\[0\] is 0: it must be above 0"):
        ranker.path(radii=[0.0])
    with pytest.raises(ValueError, match="bbr_path"):
        BBR(solver="lanczos").fit(X, Y).path(alphas=[1.0])


def test_a_path_says_when_it_stops_short() -> None:
    with pytest.warns(ConvergenceWarning, match="2 of the 2 fits of the path stopped short"):
        bbr_path(X, Y, alphas=[1e-6, 1.0], solver="lanczos", max_iter=2)
