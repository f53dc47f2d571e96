"""Columns of next to no width: they take part, or the fit refuses them by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from toprank import LPPair, RankBoost, SoftMarginRank

ESTIMATORS = pytest.mark.parametrize("estimator", [LPPair, SoftMarginRank])
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
Y = (np.arange(30) < 8).astype(int)


def rows(width: float) -> Any:
    """A column of noise, and one of the given width that separates the classes."""
    rng = np.random.default_rng(0)
    noise = rng.uniform(-1.0, 1.0, size=30)
    ends = np.where(np.arange(30) % 2, 0.0, 0.1)
    return np.column_stack([noise, np.where(Y == 1, 1.0 - ends, ends) * width])


@FORMS
@ESTIMATORS
@pytest.mark.parametrize("width", [5e-324, 1e-318, 1e-312, 1e-310, 1e-309, 5e-309, 1.1e-308])
def test_a_column_too_narrow_for_a_weight_is_refused(
    estimator: Any, form: Any, width: float
) -> None:
    with pytest.raises(ValueError, match="Column 1 of X goes from 0 to"):
        estimator(0.3).fit(form(rows(width)), Y)


@FORMS
@ESTIMATORS
@pytest.mark.parametrize("width", [1.12e-308, 2.3e-308, 5e-308, 1e-307, 1e-300])
def test_any_wider_column_takes_part(estimator: Any, form: Any, width: float) -> None:
    X = rows(width)
    ranker = estimator(0.3).fit(form(X), Y)
    unit = 2.0**-1074  # of which every entry is a multiple
    known = estimator(0.3).fit((X / [1.0, unit]).round() if width < 1e-300 else rows(1.0), Y)
    assert_allclose(ranker.certificate_.primal, known.certificate_.primal, rtol=1e-6)
    assert_allclose(ranker.certificate_.dual, known.certificate_.dual, rtol=1e-6)
    scores = ranker.decision_function(form(X))
    assert scores[Y == 1].min() > scores[Y == 0].max()


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@ESTIMATORS
def test_rankers_that_are_not_scaled_take_any_width(estimator: Any) -> None:
    by_stumps = estimator(0.3, weak_learners="stumps").fit(rows(5e-310), Y)
    assert by_stumps.gamma_lower_ > 0.9
    as_given = estimator(0.3, weak_learners="precomputed", on_trivial="keep").fit(rows(5e-310), Y)
    assert as_given.trivial_
    assert as_given.certificate_.dual <= 0.0


@pytest.mark.parametrize("width", [1e-310, 1e-306])
def test_boosting_refuses_it_too(width: float) -> None:
    with pytest.raises(ValueError, match=r"olumn 1 of X .* power of two"):
        RankBoost(weak_learners="linear").fit(rows(width), Y)
