"""Bounds by margins: formulas, simulated failures, and where the printed forms break."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from theory import Distribution, balanced_risk
from toprank.metrics import auc
from toprank.theory import (
    auc_margin_deviation,
    auc_margin_failure,
    log_covering_number,
    recttop_failure,
    recttop_margin_risk,
)

KNOWN: dict[str, Any] = {"n_positives": 40, "n_negatives": 60}


def test_the_cover_covers() -> None:
    """A greedy net of an interval and of a square is no larger than the bound."""
    for d, reach, radius in ((1, 1.0, 0.3), (2, 1.0, 0.4), (2, 2.0, 0.5)):
        axis = np.linspace(-1.0, 1.0, 61)
        points = np.stack(np.meshgrid(*[axis] * d), axis=-1).reshape(-1, d)
        points = reach * points[np.linalg.norm(points, axis=1) <= 1.0]
        net = np.empty((0, d))
        for point in points:
            if not (np.linalg.norm(net - point, axis=1) < radius).any():
                net = np.vstack([net, point])
        found = np.log(len(net))
        assert found <= log_covering_number(n_features=d, reach=reach, radius=radius)


def test_the_formula_and_its_inverse() -> None:
    found = auc_margin_failure(eps=0.3, log_covering=1.5, **KNOWN)
    assert found == pytest.approx(np.exp(1.5 - 2.0 * 0.09 * 2400 / 100))
    for log_covering in (0.0, 1.5):
        eps = auc_margin_deviation(delta=0.07, log_covering=log_covering, **KNOWN)
        assert auc_margin_failure(eps=eps, log_covering=log_covering, **KNOWN) == pytest.approx(
            0.07
        )
    printed = auc_margin_failure(eps=2.0, printed=True, n_positives=500, n_negatives=500)
    assert printed == pytest.approx(2.0 * np.exp(-1000 * (2.0 / 4.0) ** 2 / 8.0))
    assert auc_margin_failure(eps=1e-3, log_covering=1e6, **KNOWN) == 1.0


@pytest.mark.parametrize("eps", [0.05, 0.1, 0.15])
def test_auc_at_a_margin_fails_no_oftener_than_the_bound(eps: float) -> None:
    """Scores of 0 and 1, equally likely: a quarter of the pairs is in order by the margin."""
    rng = np.random.default_rng(0)
    high = rng.binomial(40, 0.5, 20_000) / 40
    low = rng.binomial(60, 0.5, 20_000) / 60
    failed = np.mean(high * (1.0 - low) - eps > 0.25)
    assert 0.0 < failed <= auc_margin_failure(eps=eps, **KNOWN)


def test_closed_balls_would_make_the_margin_bound_false() -> None:
    """F: all f within rho / 4 of g. One closed ball covers it, and it can follow any sample."""
    rho, rng = 1.0, np.random.default_rng(0)
    labels = np.repeat([1, 0], 200)
    g = np.where(labels == 1, rho / 2, 0.0)
    seen = rng.random(400) < 0.1
    toward = np.where(labels == 1, 1.0, -1.0) * np.where(seen, 1.0, -1.0)
    f = g + rho / 4 * toward
    assert auc(labels[seen], f[seen], margin=rho) == 1.0
    assert (f[~seen & (labels == 1)] == f[~seen & (labels == 0)].max()).all()  # all tied: no order


@pytest.mark.parametrize("seed", range(8))
def test_the_margin_risk_is_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, s = np.repeat([1, 0], [7, 9]), rng.integers(0, 6, 16).astype(float)
    w = rng.integers(1, 4, 16)

    def loss(v: Any) -> Any:
        return np.where(v < 2.0, 1.0, np.where(v == 2.0, 0.5, 0.0))

    def risk(t: float) -> float:
        return np.average(loss(s[y == 1] - t), weights=w[y == 1]) + np.average(
            loss(t - s[y == 0]), weights=w[y == 0]
        )

    top = s[y == 0].max()
    assert recttop_margin_risk(y, s, 2.0, sample_weight=w) == pytest.approx(risk(top))
    printed = recttop_margin_risk(y, s, 2.0, sample_weight=w, printed=True)
    assert printed == pytest.approx(max(risk(t) for t in s[y == 0]))
    assert printed >= 1.0 - 1e-12  # so the printed bound promises nothing
    turned = recttop_margin_risk(1 - y, s, 2.0, sample_weight=w, pos_label=0)
    assert turned == recttop_margin_risk(y, s, 2.0, sample_weight=w)


def test_the_margin_risk_bounds_the_zero_one_risk_of_the_same_sample() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        y, s = rng.permutation(np.repeat([1, 0], [8, 12])), rng.integers(0, 9, 20) / 4
        D = Distribution.empirical(s[:, None], y)
        f = D.X.ravel()
        zero_one = balanced_risk(f - f[D.negatives > 0].max(), D)
        assert zero_one <= recttop_margin_risk(y, s, 0.5) + 1e-12


# The highest negative common, and so rare that a sample often lacks it.
RARE = {0.3: (0.9, 60, 80), 0.002: (0.2, 600, 600)}


@pytest.mark.parametrize("top", RARE)
def test_recttop_fails_no_oftener_than_the_bound(top: float) -> None:
    rng = np.random.default_rng(0)
    eps, m, n = RARE[top]
    f = np.array([0.0, 1.0, 2.0, 3.0])
    P, Q = np.array([0.1, 0.5, 0.3, 0.1]), np.array([0.9 - top, 0.1, 0.0, top])
    risk = P @ ((f < 3.0) + 0.5 * (f == 3.0)) + Q @ (0.5 * (f == 3.0))
    short = np.array([P @ (f - t < 0.5) for t in f])
    low_share = Q[short < short.max() - eps / 3.0].sum()
    bound = recttop_failure(eps=eps, n_positives=m, n_negatives=n, low_share=low_share)
    failed = 0
    for _ in range(500):
        s = np.concatenate([rng.choice(f, m, p=P), rng.choice(f, n, p=Q)])
        y = np.repeat([1, 0], [m, n])
        failed += risk > recttop_margin_risk(y, s, 0.5) + eps
    assert failed / 500 <= bound
    assert bound < 0.6
    assert (failed > 0) == (top < 0.1)


def test_the_formula_of_recttop() -> None:
    known = {"eps": 0.3, "n_positives": 900, "n_negatives": 700}
    found = recttop_failure(**known, low_share=0.99, log_covering=0.5)
    parts = 0.99**700 + np.exp(-2.0 * 900 * 0.01) + 2.0 * np.exp(-2.0 * 700 * 0.01)
    assert found == pytest.approx(np.exp(0.5) * parts)
    assert recttop_failure(**known, low_share=1.0) == 1.0
    assert recttop_failure(eps=50.0, n_positives=900, n_negatives=700, low_share=0.0) == 0.0


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (auc_margin_failure, {**KNOWN, "eps": 0.0}, "eps must be"),
    (auc_margin_failure, {"eps": 0.1, "n_positives": 0, "n_negatives": 5}, "n_positives must be"),
    (auc_margin_failure, {**KNOWN, "eps": 0.1, "log_covering": -1.0}, "log_covering must be"),
    (auc_margin_deviation, {**KNOWN, "delta": 1.0}, "delta must be"),
    (log_covering_number, {"n_features": 3, "reach": 0.0, "radius": 1.0}, "reach must be"),
    (recttop_failure, {**KNOWN, "eps": 0.1, "low_share": 1.1}, "low_share must be"),
]


@pytest.mark.parametrize(("bound", "arguments", "message"), WRONG)
def test_wrong_arguments_are_named(bound: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bound(**arguments)


def test_wrong_scores_are_named() -> None:
    with pytest.raises(ValueError, match="margin must be"):
        recttop_margin_risk([0, 1], [0.0, 1.0], 0.0)
    with pytest.raises(ValueError, match="scores must be finite"):
        recttop_margin_risk([0, 1], [0.0, np.inf], 1.0)
    with pytest.raises(ValueError, match="no negative row"):
        recttop_margin_risk([1, 1], [0.0, 1.0], 1.0, pos_label=1)
