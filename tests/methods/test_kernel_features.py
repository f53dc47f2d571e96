"""Kernel features of scikit-learn's before rankers: rings that no linear score tells apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from toprank import BBR, RankSVM, RectPushApp, TopPush, TrivialSolutionWarning
from toprank.metrics import auc, get_scorer

KERNEL = {"gamma": 1.0, "n_components": 60, "random_state": 0}
MAPS = [Nystroem(**KERNEL), RBFSampler(**KERNEL)]
RANKERS = [TopPush(1e-3), RectPushApp(1e-3), RankSVM(1e-3), BBR(1e-3)]


def rings(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A disc of positives inside a ring of negatives, with noise."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 4 == 0).astype(int)
    radius = np.where(y == 1, 0.6, 2.0) * np.sqrt(rng.random(n)) + np.where(y == 1, 0.0, 0.5)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1), y


X, Y = rings(400, 0)
X_NEW, Y_NEW = rings(2000, 1)


@pytest.mark.filterwarnings("ignore::toprank.TrivialSolutionWarning")
@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize("features", MAPS, ids=lambda features: type(features).__name__)
def test_features_rank_what_no_line_can(features: Any, ranker: Any) -> None:
    plain = make_pipeline(StandardScaler(), clone(ranker)).fit(X, Y)
    model = make_pipeline(StandardScaler(), features, clone(ranker)).fit(X, Y)
    assert auc(Y_NEW, plain.decision_function(X_NEW)) < 0.6
    assert auc(Y_NEW, model.decision_function(X_NEW)) > 0.9
    assert not model[-1].trivial_
    assert model[-1].certificate_.holds(1e-3)


def test_toppush_is_trivial_on_the_columns_only() -> None:
    with pytest.warns(TrivialSolutionWarning):
        assert TopPush(1e-3).fit(X, Y).trivial_
    assert not make_pipeline(MAPS[0], TopPush(1e-3)).fit(X, Y)[-1].trivial_


def test_nystroem_with_every_row_is_the_kernel_machine() -> None:
    """RankSVM in all 60 features is the kernel form: its scores are those of w in the span."""
    rows, labels = X[:60], Y[:60]
    features = Nystroem(gamma=1.0, n_components=60, random_state=0).fit(rows)
    Z = features.transform(rows)
    K = rbf_kernel(rows, gamma=1.0)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-8)
    other = np.linalg.cholesky(K + 1e-12 * np.eye(60))  # other features of the same kernel
    one, two = RankSVM(1e-2, tol=1e-9).fit(Z, labels), RankSVM(1e-2, tol=1e-9).fit(other, labels)
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-6)


def test_gamma_and_alpha_are_searched_together() -> None:
    model = make_pipeline(StandardScaler(), MAPS[0], RectPushApp())
    grid = {"nystroem__gamma": [1e-3, 1.0], "rectpushapp__alpha": [1e-2, 1e-4]}
    search = GridSearchCV(model, grid, scoring=get_scorer("average_precision"), cv=3).fit(X, Y)
    assert search.best_params_["nystroem__gamma"] == 1.0
    assert auc(Y_NEW, search.decision_function(X_NEW)) > 0.9
