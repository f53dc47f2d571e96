"""One method of each family on every storage: the fit is that of float64 rows, to rounding."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from support.storages import STORAGES
from toprank import BBR, LCBR, OPAUC, ASRankSVM, LPPair, RankBoost, RankSVM, TopPush

#: Solvers take the same steps on every storage, but for the order in which sums are added.
ROUNDING = 1e-12
#: Here rounding decides which rows or pairs descent leaves out, and when it looks at the gap. Both
#: fits end anywhere within `tol` of the optimum, w within sqrt(2 tol P / alpha) of the best one,
#: P <= 1 its objective.
DESCENT = 2.0 * np.sqrt(2.0 * 1e-9 / 0.1)

#: A method of each family, or two, and how far apart what it learns may be.
RANKERS: dict[str, tuple[Any, float]] = {
    "push, newton": (TopPush(0.1, solver="newton", tol=1e-9), ROUNDING),
    "push, descent": (TopPush(0.1, solver="dual-descent", tol=1e-9, random_state=0), DESCENT),
    "pairs": (RankSVM(0.1, tol=1e-9, random_state=0), ROUNDING),
    "sampling": (ASRankSVM(0.1, n_pairs=50, batch_size=10, tol=1e-9, random_state=0), DESCENT),
    "squared, all pairs": (BBR(1e-3), ROUNDING),
    "squared, drawn pairs": (LCBR(1e-3, random_state=0), ROUNDING),
    "online": (OPAUC(random_state=0), ROUNDING),
    "soft_margin, columns": (LPPair(0.3, tol=1e-9), ROUNDING),
    "soft_margin, stumps": (LPPair(0.3, weak_learners="stumps", tol=1e-9), ROUNDING),
    "boosting, columns": (RankBoost(weak_learners="linear", n_estimators=20), ROUNDING),
    "boosting, stumps": (RankBoost(n_estimators=20), ROUNDING),
}


def rows() -> tuple[Any, Any]:
    """Entries of few digits, which float32 holds; some of them zero, and one column without."""
    rng = np.random.default_rng(0)
    X = np.round(8 * rng.normal(size=(60, 5))) * (rng.random((60, 5)) < 0.7) / 8.0
    X[:, 4] = 3.0 + np.round(4 * rng.random(60)) / 8.0
    y = (X @ [1.0, -1.0, 0.5, 0.0, 2.0] + rng.normal(size=60) > 7.0).astype(int)
    return X, y


X, Y = rows()


def learnt(ranker: Any) -> dict[str, Any]:
    """What the score is made of."""
    names = ("coef_", "features_", "thresholds_", "weights_", "ranker_weights_", "intercept_")
    return {name: getattr(ranker, name) for name in names if hasattr(ranker, name)}


@cache
def by_float64_rows(name: str) -> Any:
    """The fit that the others are held against."""
    return clone(RANKERS[name][0]).fit(X, Y)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", RANKERS)
def test_the_fit_does_not_depend_on_the_storage(name: str, storage: str, tmp_path: Path) -> None:
    (ranker, rounding), truth = RANKERS[name], by_float64_rows(name)
    stored = STORAGES[storage](X, tmp_path)
    fitted = clone(ranker).fit(stored, Y)
    found, expected = learnt(fitted), learnt(truth)
    assert found.keys() == expected.keys()
    for attribute, value in expected.items():
        size = max(1.0, np.abs(value).max())
        assert_allclose(found[attribute], value, rtol=0, atol=rounding * size, err_msg=attribute)
    scores, size = truth.decision_function(X), np.abs(X).sum(axis=1).max()
    assert_allclose(fitted.decision_function(stored), scores, rtol=0, atol=rounding * size)
    assert np.ptp(scores) > 0.01
    if rounding == DESCENT:
        assert fitted.certificate_.holds(ranker.tol)
        objectives = [each.certificate_.primal for each in (fitted, truth)]
        assert objectives[0] == pytest.approx(objectives[1], rel=ranker.tol)
    if name == "sampling":  # until the last round there is nothing that rounding could decide
        assert_array_equal(fitted.pairs_, truth.pairs_)
        assert_allclose(fitted.pair_weight_, truth.pair_weight_, rtol=ROUNDING)
    assert_array_equal(stored.toarray() if "CSR" in storage else stored, X)
