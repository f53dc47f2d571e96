"""What an ensemble of trees does beside scoring: threads, storage, copies, refusals, structure."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from support.tree_rows import CITY, rows, unseen, worst
from toprank.trees import TreeEnsemble, from_model

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def trees() -> TreeEnsemble:
    X, y = rows(2000, 0)
    mask = np.arange(6) == CITY
    return from_model(HistGradientBoostingClassifier(categorical_features=mask).fit(X, y))


@pytest.fixture(scope="module")
def forest() -> TreeEnsemble:
    X, y = rows(2000, 0)
    return from_model(RandomForestClassifier(20, random_state=0).fit(X, y))


def small(**changes: Any) -> Arrays:
    """Two trees: x0 <= 1, and below it the set {2, 5} of column 1; a leaf of 7."""
    return {
        "feature": np.array([0, 1, -1, -1, -1, -1], np.int32),
        "threshold": np.array([1.0, 0, 0, 0, 0, 0]),
        "left": np.array([1, 2, -1, -1, -1, -1], np.int32),
        "right": np.array([4, 3, -1, -1, -1, -1], np.int32),
        "missing_left": np.array([True, False, False, False, False, False]),
        "value": np.array([0.0, 0, 1, 2, 4, 7]),
        "weight": np.array([0.0, 0, 1, 3, 4, 1]),
        "tree_starts": np.array([0, 5, 6]),
        "category_set": np.array([-1, 0, -1, -1, -1, -1], np.int32),
        "category_starts": np.array([0, 0, 3]),
        "categories": np.array([2.0, 3.0, 5.0]),
        "set_starts": np.array([0, 1]),
        "set_words": np.array([0b101], np.uint32),
        "n_features": 2,
        "offset": 100.0,
        "classes": np.array([0, 1]),
        **changes,
    }


def test_paths_by_hand() -> None:
    trees = TreeEnsemble(**small())
    nan = np.nan
    X = np.array([[1.0, 2.0], [1.0, 3.0], [nan, 5.0], [0.0, 4.0], [-9.0, nan], [1.1, 2.0]])
    np.testing.assert_array_equal(trees.decision_function(X), np.array([1, 2, 1, 2, 2, 4]) + 107.0)
    # Node 1 has the mean (1 + 3 * 2) / 4, the root (1.75 + 4) / 2.
    assert trees.baseline == 107.0 + 2.875
    np.testing.assert_array_equal(trees.contributions(X)[[0, 5]], [[-1.125, -0.75], [1.125, 0.0]])
    mean = TreeEnsemble(**small(average=True))
    np.testing.assert_array_equal(
        mean.decision_function(X), (np.array([1, 2, 1, 2, 2, 4]) + 7.0) / 2.0 + 100.0
    )
    np.testing.assert_array_equal(mean.contributions(X)[5], [0.5625, 0.0])
    zeros = np.zeros(6, bool)
    zeros[0] = True
    missing = TreeEnsemble(**small(zero_missing=zeros, missing_left=np.zeros(6, bool)))
    np.testing.assert_array_equal(
        missing.decision_function([[0.0, 2.0], [-1e-36, 2.0], [-1e-34, 2.0], [nan, 2.0]]),
        np.array([4, 4, 1, 4]) + 107.0,
    )


@pytest.mark.parametrize("which", ["trees", "forest"])
def test_threads_and_storage_do_not_change_the_bits(
    which: str, request: pytest.FixtureRequest
) -> None:
    trees, X = request.getfixturevalue(which), rows(20_001, 3)[0]
    alone, told = trees.decision_function(X, n_threads=1), trees.contributions(X, n_threads=1)
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(trees.decision_function(X, n_threads=threads), alone)
        np.testing.assert_array_equal(trees.contributions(X, n_threads=threads), told)
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]):
        np.testing.assert_array_equal(trees.decision_function(other), alone)
    for k in (1, 5, 9, 4097):
        np.testing.assert_array_equal(trees.decision_function(X[:k]), alone[:k])
    short = X.astype(np.float32)
    np.testing.assert_array_equal(
        trees.decision_function(short), trees.decision_function(short.astype(np.float64))
    )
    np.testing.assert_array_equal(
        trees.decision_function(np.asfortranarray(short)), trees.decision_function(short)
    )


def test_deep_and_lopsided_trees() -> None:
    depth = 3000
    inner = np.arange(0, 2 * depth, 2)
    n = 2 * depth + 1
    feature, left, right = (np.full(n, -1, np.int32) for _ in range(3))
    feature[inner], left[inner], right[inner] = 0, inner + 1, inner + 2
    threshold = np.zeros(n)
    threshold[inner] = np.arange(depth)
    trees = TreeEnsemble(
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        missing_left=np.zeros(n, bool),
        value=np.arange(n, dtype=float),
        weight=np.ones(n),
        tree_starts=np.array([0, n]),
        n_features=1,
        classes=np.array([0, 1]),
    )
    X = np.array([[-1.0], [0.0], [0.5], [1500.5], [9e9], [np.nan]])
    np.testing.assert_array_equal(trees.decision_function(X), [1, 1, 3, 3003, n - 1, n - 1])


def test_it_can_be_copied_and_not_changed(trees: TreeEnsemble) -> None:
    X, scores = unseen(), trees.decision_function(unseen())
    for other in (pickle.loads(pickle.dumps(trees)), copy.deepcopy(trees), copy.copy(trees)):
        np.testing.assert_array_equal(other.decision_function(X), scores)
    assert clone(trees) is trees
    assert trees.first(trees.n_trees) is trees
    with pytest.raises(ValueError, match="read-only"):
        trees.threshold[0] = 1.0
    with pytest.raises(ValueError, match="cannot be changed"):
        trees.set_params(offset=1.0)
    assert trees.set_params() is trees
    assert repr(trees) == "TreeEnsemble(n_trees=100, n_features=6)"
    assert is_classifier(trees)
    assert is_regressor(TreeEnsemble(**small(link="identity", classes=None)))


def test_rows_that_are_refused(trees: TreeEnsemble) -> None:
    X = unseen()
    with pytest.raises(ValueError, match=r"X is sparse.*X\.toarray\(\)"):
        trees.decision_function(sparse.csr_array(np.nan_to_num(X)))
    with pytest.raises(ValueError, match="0 sample"):
        trees.decision_function(X[:0])
    with pytest.raises(ValueError, match="5 features"):
        trees.contributions(X[:, :5])
    with pytest.raises(ValueError, match="rome"):
        trees.decision_function(np.array([["rome"] * 6], dtype=object))
    for numbers in ([2, 1], [1, 1], [0], [101], [1.5]):
        with pytest.raises(ValueError, match=r"n_trees must be|numbers must increase"):
            trees.stages(X, numbers)
    with pytest.raises(ValueError, match="n_threads"):
        trees.decision_function(X, n_threads=0)


def changed(name: str, place: int, value: Any) -> Callable[[], Arrays]:
    def make() -> Arrays:
        arrays = small()
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value
        return arrays

    return make


HOSTILE: list[tuple[Callable[[], Arrays], str]] = [
    (changed("left", 1, 0), "node 1 has child 0, which must come after"),
    (changed("left", 1, 1), "node 1 has child 1"),
    (changed("right", 0, 5), "node 0 has child 5"),
    (changed("right", 0, 2**31 - 1), "node 0 has child 2147483647"),
    (changed("left", 0, -(2**31)), "node 0 has child -2147483648"),
    (changed("left", 1, 3), "node 3 has more than one parent"),
    (changed("feature", 0, -1), "node 1 has no parent|more than one"),
    (changed("feature", 0, -2), "negative feature"),
    (changed("feature", 0, 2), "node 0 has feature 2, beyond"),
    (changed("feature", 0, 1), "compares a feature of categories"),
    (changed("feature", 1, 0), "feature without categories"),
    (changed("threshold", 0, np.nan), "node 0 has a threshold that is NaN"),
    (changed("value", 3, np.nan), "node 3 has a value"),
    (changed("value", 3, np.inf), "node 3 has a value"),
    (changed("value", 3, 1e200), "node 3 has a value"),
    (changed("weight", 3, -1.0), "node 3 has a weight"),
    (changed("weight", 3, np.nan), "node 3 has a weight"),
    (changed("tree_starts", 0, 1), "tree_starts must begin at 0"),
    (changed("tree_starts", 2, 7), "tree_starts must begin at 0 and end at 6"),
    (changed("tree_starts", 1, 2**62), "tree_starts must not decrease"),
    (changed("tree_starts", 1, -5), "tree_starts must not decrease"),
    (changed("tree_starts", 1, 0), "at least one node"),
    (changed("category_set", 1, 1), "category set 1, which does not exist"),
    (changed("category_set", 1, -2), "category set -2, which does not exist"),
    (changed("category_starts", 2, 4), "category_starts must begin"),
    (changed("category_starts", 1, 9), "category_starts must not decrease"),
    (changed("categories", 1, 2.0), "finite and increasing"),
    (changed("categories", 1, np.nan), "finite and increasing"),
    (changed("set_starts", 1, 0), "set_starts must begin at 0 and end at 1"),
    (lambda: small(set_starts=np.array([0, 0, 1])), "set of the wrong length"),
    (lambda: small(zero_missing=np.ones(6, bool)), "counts zeros as missing"),
    (lambda: small(category_starts=np.array([0, 3])), "one entry more"),
    (lambda: small(categories=None, category_starts=None), "feature without categories"),
    (lambda: small(value=np.zeros(5)), "equal lengths"),
    (lambda: small(tree_starts=np.array([0])), "at least one tree|end at 6"),
    (lambda: small(tree_starts=np.zeros(0, np.int64)), "at least one tree"),
    (lambda: small(n_features=10**18), "n_features must be below 536870912"),
    (lambda: small(n_features=0), "n_features must be an int"),
    (lambda: small(n_features="2"), "n_features must be an int"),
    (lambda: small(offset=np.nan), "offset must be a number in"),
    (lambda: small(offset="1"), "offset must be a number"),
    (lambda: small(average=1), "average must be True or False"),
    (lambda: small(link="probit"), "link must be one of"),
    (lambda: small(classes=None), "classes must be"),
    (lambda: small(classes=np.arange(3)), "classes must be"),
    (lambda: small(feature_names=["a"]), "2 strings"),
    (lambda: small(feature_names=["a", 3]), "2 strings"),
    (lambda: small(feature=np.zeros(6)), "array of int32, got float64"),
    (lambda: small(feature=np.zeros((6, 1), np.int32)), "array of int32, got int32 of shape"),
    (lambda: small(feature=None), "array of int32, got none"),
    (lambda: small(threshold=np.zeros(6, ">f8")), "array of float64"),
]


@pytest.mark.parametrize("k", range(len(HOSTILE)))
def test_arrays_that_are_no_ensemble(k: int) -> None:
    make, why = HOSTILE[k]
    with pytest.raises(ValueError, match=why):
        TreeEnsemble(**make())


def test_weights_of_zero_give_plain_means() -> None:
    trees = TreeEnsemble(**small(weight=np.zeros(6)))
    assert trees.baseline == 107.0 + (1.5 + 4.0) / 2.0


def test_stages_are_the_scores_of_the_first_trees(forest: TreeEnsemble) -> None:
    X = np.clip(unseen(), -9.0, 9.0)
    stages = forest.stages(X, [1, 7, 20])
    for number, scores in zip([1, 7, 20], stages, strict=True):
        np.testing.assert_array_equal(forest.first(number).decision_function(X), scores)
    assert worst(forest.predict_proba(X).sum(axis=1), 1.0) <= 1e-15
