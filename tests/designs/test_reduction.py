"""Sums over rows block by block: those of whole vectors, and the same bits on any threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank.designs import Ask, PairDesign, as_design, reduction
from toprank.inputs.class_split import Split
from toprank.losses import RowLoss, RowSum, ThresholdLoss
from toprank.problems import Problem
from toprank.surrogates import SURROGATES, SmoothedHinge, Steepened

RNG = np.random.default_rng(0)
X = RNG.normal(size=(230, 7)) * (RNG.random((230, 7)) < 0.6)
W = RNG.normal(size=7)
WEIGHT = RNG.random(230) * (RNG.random(230) < 0.8)
SIGN = RNG.choice([-1.0, 1.0], 230)
LOGISTIC = SURROGATES["logistic"]

FORMS = [np.asarray, np.asfortranarray, sparse.csr_array, lambda x: x.astype(np.float32)]
forms = pytest.mark.parametrize("form", FORMS)
#: Sums over rows with and without a threshold, some rows left out.
LOSSES: list[RowSum] = [
    RowLoss(WEIGHT, LOGISTIC, SIGN),
    RowLoss(WEIGHT, SURROGATES["squared_hinge"]),
    ThresholdLoss(Split.of(SIGN > 0, WEIGHT), LOGISTIC, Steepened(LOGISTIC, 3.0)),
]
losses = pytest.mark.parametrize("loss", LOSSES, ids=["rows", "unsigned", "threshold"])


def terms(loss: RowSum, s: Any, b: float) -> tuple[float, Any, Any]:
    """The value, slopes and curvatures of all rows, in the order of the matrix."""
    order = slice(None) if loss.order is None else loss.order
    v, c = np.zeros(len(s)), np.zeros(len(s))
    v[order], c[order] = loss.slope_at(s[order], b), loss.curvature_at(s[order], b)
    return loss.value_at(s[order], b), v, c


@forms
@losses
@pytest.mark.parametrize("entries", [1, 40, 300, 10**6])
@pytest.mark.parametrize("b", [0.0, -0.7])
def test_sums_are_those_of_whole_vectors(
    form: Any, loss: RowSum, entries: int, b: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduction, "_BLOCK_ENTRIES", entries)
    design = as_design(form(X))
    ends = list(reduction.blocks(design))
    assert [begin for begin, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert ends[-1][1] == 230
    sums = design.reduce(Ask(loss, W, b))
    written = design.take(np.arange(230))
    value, v, _ = terms(loss, written @ W, b)
    assert_allclose(sums.value, value, rtol=1e-13)
    assert_allclose(sums.pull, written.T @ v, atol=1e-12)
    assert_allclose(sums.slope, v.sum(), atol=1e-12)


@losses
def test_slopes_and_curvatures_are_derivatives(loss: RowSum) -> None:
    s, step = np.random.default_rng(1).normal(size=230), 1e-6
    order = slice(None) if loss.order is None else loss.order
    own, by = s[order], np.zeros(len(s[order]))
    for row in range(0, len(own), 17):
        by[:] = 0.0
        by[row] = step
        rise = loss.value_at(own + by, 0.3) - loss.value_at(own - by, 0.3)
        assert_allclose(loss.slope_at(own, 0.3)[row], rise / (2 * step), atol=1e-8)
        bend = loss.slope_at(own + by, 0.3)[row] - loss.slope_at(own - by, 0.3)[row]
        if loss.surrogate is LOGISTIC and abs(own[row] + 0.3) > 1e-3:  # where it has no kink
            assert_allclose(loss.curvature_at(own, 0.3)[row], bend / (2 * step), atol=1e-7)


def test_what_is_not_asked_for_is_not_read() -> None:
    design = as_design(X)
    design.reduce(Ask(LOSSES[0], W))
    assert design.passes == 1.0  # scores and gradient in one reading
    design.reduce(Ask(RowLoss(WEIGHT, SmoothedHinge(0.5)), W))
    assert design.passes == 3.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_bits_do_not_depend_on_the_number_of_threads(form: Any) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(180_000, 12)) * (rng.random((180_000, 12)) < 0.7)
    loss = RowLoss(rng.random(180_000), LOGISTIC, rng.choice([-1.0, 1.0], 180_000))
    w, bits = rng.normal(size=12), set()
    for n_threads in (1, 2, 3):
        design = as_design(form(rows), n_threads)
        assert len(list(reduction.blocks(design))) > 1
        sums = design.reduce(Ask(loss, w))
        parts = (sums.pull, np.array([sums.value, sums.slope]))
        bits.add(b"".join(part.tobytes() for part in parts))
        sums = design.reduce(Ask(loss, w))
        value, gradient = Problem(design, loss, 0.1).value_and_gradient(w)
        assert value == 0.05 * (w @ w) + sums.value
        assert gradient.tobytes() == (0.1 * w + sums.pull).tobytes()
    assert len(bits) == 1


def test_differences_of_rows_are_summed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_BLOCK_ENTRIES", 100)
    first, second = np.arange(115), np.arange(115, 230)
    second[::3] = -1
    design = PairDesign(as_design(X), first, second)
    loss = RowLoss(WEIGHT[:115], LOGISTIC)
    value, gradient = Problem(design, loss, 0.2).value_and_gradient(W)
    Z = design.take(np.arange(115))
    assert_allclose(value, 0.1 * W @ W + WEIGHT[:115] @ np.logaddexp(0.0, -Z @ W), rtol=1e-13)
    slope = -WEIGHT[:115] / (1.0 + np.exp(Z @ W))
    assert_allclose(gradient, 0.2 * W + Z.T @ slope, atol=1e-13)
