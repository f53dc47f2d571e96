"""Random ensembles of every kind against a walk in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from toprank.trees import TreeEnsemble

WIDTH = 5
#: Columns 3 and 4 have categories: more than a word of them, and two.
VALUES = {3: np.arange(40) * 1.5 - 7.0, 4: np.array([-2.0, 3.0])}


def drawn(seed: int) -> dict[str, Any]:
    """Arrays of a few trees of random shape, nodes in random order below their parents."""
    rng = np.random.default_rng(seed)
    nodes: list[list[Any]] = []
    starts = [0]
    for _ in range(rng.integers(1, 6)):
        first = len(nodes)
        waiting = [(first, 0)]
        nodes.append([])
        while waiting:
            at, depth = waiting.pop(rng.integers(len(waiting)))
            if depth == 7 or rng.random() < 0.3:
                nodes[at] = [-1, 0.0, -1, -1, False, rng.normal(), rng.integers(0, 9), False, -1]
                continue
            column = int(rng.integers(WIDTH))
            categorical = column in VALUES
            left, right = len(nodes), len(nodes) + 1
            nodes += [[], []]
            waiting += [(left, depth + 1), (right, depth + 1)]
            threshold = np.round(rng.normal(), 1) if rng.random() < 0.9 else np.inf
            zero = bool(rng.random() < 0.2) and not categorical
            kind = {3: rng.integers(3), 4: 3 + rng.integers(2)}.get(column, -1)
            row = [column, threshold, left, right, rng.random() < 0.5, 0.0, 0.0, zero, kind]
            nodes[at] = row
        starts.append(len(nodes))
    columns = list(zip(*nodes, strict=True))
    long, short = rng.integers(0, 2**32, 3), rng.integers(0, 4, 2)
    words = np.concatenate([*([word, word & 255] for word in long), short])
    return {
        "feature": np.array(columns[0], np.int32),
        "threshold": np.array(columns[1], np.float64),
        "left": np.array(columns[2], np.int32),
        "right": np.array(columns[3], np.int32),
        "missing_left": np.array(columns[4], bool),
        "value": np.array(columns[5], np.float64),
        "weight": np.array(columns[6], np.float64),
        "zero_missing": np.array(columns[7], bool),
        "category_set": np.array(columns[8], np.int32),
        "tree_starts": np.array(starts),
        "category_starts": np.array([0, 0, 0, 0, 40, 42]),
        "categories": np.concatenate([VALUES[3], VALUES[4]]),
        "set_starts": np.array([0, 2, 4, 6, 7, 8]),
        "set_words": words.astype(np.uint32),
        "n_features": WIDTH,
        "offset": float(rng.normal()),
        "average": bool(seed % 2),
        "round_to_float32": bool(seed // 2 % 2),
        "truncate_categories": bool(seed // 4 % 2),
        "classes": np.array([0, 1]),
    }


def goes_left(arrays: dict[str, Any], node: int, x: float) -> bool:
    """As the docstring of TreeEnsemble has it."""
    column, number = int(arrays["feature"][node]), int(arrays["category_set"][node])
    missing = bool(arrays["missing_left"][node])
    if arrays["round_to_float32"]:
        with np.errstate(over="ignore"):
            x = float(np.float32(x))
    if math.isnan(x):
        return missing
    if number < 0:
        if arrays["zero_missing"][node] and abs(x) <= np.float32(1e-35):
            return missing
        return x <= float(arrays["threshold"][node])
    if arrays["truncate_categories"] and math.isfinite(x):
        x = float(math.trunc(x))
    known = VALUES[column].tolist()
    if x not in known:
        return missing
    first, last = arrays["set_starts"][number : number + 2]
    bits = sum(int(word) << 32 * k for k, word in enumerate(arrays["set_words"][first:last]))
    return bool(bits >> known.index(x) & 1)


def walked(arrays: dict[str, Any], row: Any) -> list[float]:
    """The leaf of each tree."""
    found = []
    for root in arrays["tree_starts"][:-1]:
        node = int(root)
        while (column := int(arrays["feature"][node])) >= 0:
            side = "left" if goes_left(arrays, node, float(row[column])) else "right"
            node = int(arrays[side][node])
        found.append(float(arrays["value"][node]))
    return found


def rows(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(137, WIDTH)), 1)
    X[:, 3] = rng.choice(VALUES[3], 137) + rng.choice([0.0, 0.25, -0.5], 137)
    X[:, 4] = rng.choice([-2.0, 3.0, 3.9, -2.9, 0.0, 1e300, -np.inf], 137)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.05] = np.inf
    X[rng.random(X.shape) < 0.05] *= 1.0 + 1e-9
    X[rng.random(X.shape) < 0.05] = 1e-36
    return X


@pytest.mark.parametrize("seed", range(40))
def test_scores_and_contributions_are_those_of_a_walk(seed: int) -> None:
    arrays, X = drawn(seed), rows(seed)
    trees = TreeEnsemble(**arrays)
    leaves = np.array([walked(arrays, row) for row in X])
    take = np.mean if arrays["average"] else np.sum
    scores = arrays["offset"] + take(leaves, axis=1)
    np.testing.assert_allclose(trees.decision_function(X), scores, rtol=0, atol=1e-14)
    added = trees.contributions(X).sum(axis=1) + trees.baseline
    np.testing.assert_allclose(added, scores, rtol=0, atol=1e-13)
    numbers = list(range(1, trees.n_trees + 1))
    for number, stage in zip(numbers, trees.stages(X, numbers), strict=True):
        few = arrays["offset"] + take(leaves[:, :number], axis=1)
        np.testing.assert_allclose(stage, few, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(trees.first(number).decision_function(X), stage)
    # A column that no tree splits adds nothing.
    unused = set(range(WIDTH)) - set(arrays["feature"].tolist())
    assert not trees.contributions(X)[:, sorted(unused)].any()
