"""The weights of chosen pairs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from toprank.inputs.class_split import Split
from toprank.methods.sampling.chosen_pairs import ChosenPairs, loss_weights
from truth.reference_files import reference_file

ONES = np.ones(4)
P = np.array([1.0, 0.5, 0.25, 0.001])
RATE = np.array([1.0, 0.4, 0.4, 0.4])
SHARE = np.array([0.7, 0.7, 0.3, 0.3])


def test_the_four_weightings() -> None:
    assert_allclose(loss_weights("none", P, RATE, SHARE, ONES), 0.25)
    rate = np.array([1.0, 0.8, 1.6, 40.0])  # p is taken for 0.01 where it is less
    assert_allclose(loss_weights("rate", P, RATE, SHARE, ONES), rate / rate.sum())
    inverse = np.array([1.0, 2.0, 4.0, 1000.0])
    plain = SHARE * inverse
    assert_allclose(loss_weights("plain", P, RATE, SHARE, ONES), plain / plain.sum())
    paper = loss_weights("paper", P, RATE, SHARE, ONES)
    assert_allclose(paper, plain / inverse.sum())
    assert paper.sum() < 0.31


@pytest.mark.parametrize("weighting", ["rate", "plain", "none"])
def test_the_weights_of_rows_multiply(weighting: str) -> None:
    importance = np.array([1.0, 2.0, 0.5, 3.0])
    plain = loss_weights(weighting, P, RATE, SHARE, ONES)
    weighted = loss_weights(weighting, P, RATE, SHARE, importance)
    assert_allclose(weighted, importance * plain / (importance @ plain))


@pytest.mark.parametrize("weighting", ["rate", "paper", "plain"])
def test_probabilities_that_are_hardly_numbers(weighting: str) -> None:
    p = np.array([1.0, 2.2e-308, 2.2e-308])
    found = loss_weights(weighting, p, np.ones(3), np.ones(3), np.ones(3))
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1.0)
    if weighting != "rate":
        assert_allclose(found, [0.0, 0.5, 0.5], atol=1e-300)


def test_the_reference_weights() -> None:
    with np.load(reference_file("pairs-and-points")) as case:
        p, real, rate = case["c5_p"], case["c5_real"], case["c5_rate"]
        share = np.where(real, case["c5_gamma"], 1 - case["c5_gamma"])
        ones, total = np.ones(len(p)), 0.1 * len(p)  # C |L*|

        def weights(name: str) -> np.ndarray:
            return total * loss_weights(name, p, rate, share, ones)

        assert_allclose(weights("paper"), case["c5_weights_as_printed"], rtol=1e-12)
        assert_allclose(weights("plain"), case["c5_weights_fixed"], rtol=1e-12)
        # There Gamma is in the weights as well; here it is in the sampling alone.
        both = share * weights("rate")
        expected = case["c5_weights_round_corrected"]
        assert_allclose(total * both / both.sum(), expected, rtol=1e-12)


def test_pairs_and_points_are_kept_with_what_they_weigh() -> None:
    positive = np.array([True, False, True, False, False])
    weight = np.array([1.0, 2.0, 3.0, 4.0, 0.0])
    chosen = ChosenPairs(Split.of(positive, weight), gamma=0.8, budget=10)
    chosen.add(np.array([0, 2]), np.array([1, -1]), np.array([0.5, 0.25]), 0.3)
    chosen.add(np.array([-1]), np.array([3]), np.array([1.0]), 0.6)
    assert len(chosen) == 3
    assert chosen.first.tolist() == [0, 2, -1]
    assert chosen.second.tolist() == [1, -1, 3]
    # A pair by its rows' weights over the means of their classes, a point over that of all rows.
    importance = np.array([1 / 2 * 2 / 3, 3 / 2.5, 4 / 2.5])
    for name, v in {
        "none": importance,
        "rate": importance * [0.6, 1.2, 0.6],
        "plain": importance * [1.6, 0.8, 0.2],
    }.items():
        assert_allclose(chosen.weights(name), 0.3 * v / v.sum())
    assert chosen.weights("paper").sum() == pytest.approx(
        0.3 * importance @ [1.6, 0.8, 0.2] / (importance @ [2.0, 4.0, 1.0])
    )
