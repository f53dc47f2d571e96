"""Eight threads on one estimator, and data that change under a fit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import toprank
from support.programs import run
from support.toy_rows import overlapping

THREADS = 8
X, Y = overlapping(300, 500, 6)
RANKERS = [
    toprank.TopPush(1e-2, n_threads=2),
    toprank.RectPushApp(1e-2, n_threads=2),
    toprank.LogisticRank(n_threads=2),
    toprank.BBR(1e-2),
    toprank.RankSVM(1e-2, n_threads=2),
    toprank.RankBoost(),
]


def at_once(do: Callable[[int], Any]) -> list[Any]:
    """What eight threads return that begin together."""
    ready = threading.Barrier(THREADS)

    def begin(k: int) -> Any:
        ready.wait()
        return do(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_eight_threads(ranker: Any) -> None:
    alone = clone(ranker).fit(X, Y)
    scores = alone.decision_function(X)
    for found in at_once(lambda _: alone.decision_function(X)):
        np.testing.assert_array_equal(found, scores)
    for fitted in at_once(lambda _: clone(ranker).fit(X, Y)):
        np.testing.assert_array_equal(fitted.decision_function(X), scores)
    shared = clone(ranker)
    at_once(lambda _: shared.fit(X, Y))
    np.testing.assert_array_equal(shared.decision_function(X), scores)


# Another thread writes values while fits run, which may warn or refuse but must not crash.
PROGRAM = """
import sys, threading, warnings
import numpy as np
from scipy import sparse
import toprank

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((20_000, 10))
y = X[:, 0] + rng.standard_normal(20_000) > 2.0
if sys.argv[1] == "csr":
    X = sparse.csr_array(X)
values = X.data if sys.argv[1] == "csr" else X
stop, writes = threading.Event(), [0]

def writing():
    odd = [1e3, -1e300, np.nan, np.inf, 0.0]
    while not stop.is_set():
        values[...] = rng.standard_normal(values.shape)
        values.flat[:: 97] = odd[writes[0] % len(odd)]
        writes[0] += 1

thread = threading.Thread(target=writing)
thread.start()
ends = {"fitted": 0, "refused": 0}
for _ in range(3):
    for ranker in (toprank.TopPush(max_iter=30), toprank.RectPush(max_iter=30), toprank.BBR(1e-2),
                   toprank.LogisticRank(max_iter=30), toprank.WSVM(max_iter=30),
                   toprank.RankSVM(max_iter=30)):
        try:
            ranker.fit(X, y)
            ends["fitted"] += 1
        except (ValueError, FloatingPointError, np.linalg.LinAlgError):
            ends["refused"] += 1
stop.set()
thread.join()
print(sum(ends.values()), writes[0] > 0)
"""


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_values_that_another_thread_changes(kind: str) -> None:
    assert run(PROGRAM, kind) == "18 True\n"
