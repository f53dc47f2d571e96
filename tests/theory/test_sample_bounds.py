"""Bounds for samples of rows: their parts by brute force, their inverse, simulated failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from toprank.theory import generalisation_failure, required_samples

KNOWN: dict[str, Any] = {
    "eps": 0.5,
    "positive_share": 0.3,
    "n_features": 3,
    "radius": 1.0,
    "row_bound": 1.0,
}


def test_the_formula() -> None:
    C, c, t = 8.0 * 4.0 * 0.5 + 4.0 * 2.0, 2.0 * 1.0 + 2.0 * 1.0, 0.6 / 3.0
    net = 2.0 * (1.0 + 4.0 * C * 0.5 / t) ** 2
    expected = 0.01 + net * np.exp(-(t**2) * 0.16 * 100_000 / (2.0 * c**2))
    known = {"n_samples": 100_000, "positive_share": 0.2, "n_features": 2, "pair_failure": 0.01}
    found = generalisation_failure(eps=0.6, radius=0.5, row_bound=2.0, **known)
    assert found == pytest.approx(expected, rel=1e-9)


def test_one_row_changes_a_loss_by_no_more_than_the_constant() -> None:
    """c of the module, against a fine grid of scores of the three rows concerned."""
    for reach in (0.1, 0.5, 1.0, 3.0):
        a, b, other = np.meshgrid(*[np.linspace(-reach, reach, 41)] * 3)
        change = np.abs((1.0 - a + b) ** 2 - (1.0 - a + other) ** 2) / 2.0
        assert change.max() == pytest.approx(2.0 * reach**2 + 2.0 * reach)


@pytest.mark.parametrize("pair_failure", [None, 0.01])
def test_required_samples_invert_the_bound(pair_failure: float | None) -> None:
    known = {**KNOWN, "pair_failure": pair_failure}
    n = required_samples(delta=0.05, **known)
    assert generalisation_failure(n_samples=n, **known) <= 0.05
    assert generalisation_failure(n_samples=n - 1, **known) > 0.05
    assert generalisation_failure(n_samples=1, **known) == 1.0


def test_required_samples_fail_no_oftener_than_delta() -> None:
    """One feature, uniform on [0, 1] and on [-1, 0]: Sigma = 1/6 + 1, mu = 1."""
    rng = np.random.default_rng(0)
    known = {"eps": 0.9, "n_features": 1, "radius": 1.0, "row_bound": 1.0}
    n = required_samples(delta=0.1, positive_share=0.5, **known)
    m, best = -(-n // 2), min(1.0, 1.0 / (1.0 + 1.0 / 6.0))
    failures = 0
    for _ in range(50):
        above, below = rng.random(m), -rng.random(m)
        mu = above.mean() - below.mean()
        w = min(1.0, mu / (above.var() + below.var() + mu**2))
        failures += (1.0 + 1.0 / 6.0) * (w - best) ** 2 / 2.0 >= 0.9
    assert failures <= 5


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("eps", (0.8, 0.4, 0.1)),
        ("delta", (0.3, 0.1, 0.01)),
        ("positive_share", (0.5, 0.2, 0.99)),
        ("n_features", (1, 10, 100)),
        ("radius", (0.5, 1.0, 2.0)),
        ("row_bound", (0.5, 1.0, 2.0)),
        ("pair_failure", (None, 0.001, 0.04)),
    ],
)
def test_harder_problems_need_more_rows(name: str, values: tuple[Any, ...]) -> None:
    asked = [required_samples(**{**KNOWN, "delta": 0.05, name: value}) for value in values]
    assert asked == sorted(asked)
    assert asked[0] < asked[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eps", 0.0),
        ("delta", 1.5),
        ("positive_share", 0.0),
        ("n_features", 0),
        ("radius", -1.0),
        ("row_bound", np.inf),
        ("pair_failure", 0.0),
        ("pair_failure", 0.2),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must"):
        required_samples(**{**KNOWN, "delta": 0.05, name: value})


def test_a_bad_number_of_rows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^n_samples must"):
        generalisation_failure(n_samples=0, **KNOWN)
