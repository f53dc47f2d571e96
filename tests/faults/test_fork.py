"""A process that forks while another of its threads fits: parent and child go on."""

from __future__ import annotations

import os

import pytest

from support.programs import run

# Every child fits too and must end with the same bits; one that hangs is killed and counted.
PROGRAM = """
import os, signal, threading, time, warnings
import numpy as np
import toprank

warnings.filterwarnings("ignore", category=DeprecationWarning)  # Python's own, of forks
rng = np.random.default_rng(0)
X = rng.standard_normal((100_000, 20))
y = X[:, 0] + rng.standard_normal(100_000) > 2.0

def fit():
    return toprank.LogisticRank(tol=1e-10, n_threads=2, random_state=0).fit(X, y).coef_.tobytes()

expected, stop, wrong, fits = fit(), threading.Event(), [], [0]

def fitting():
    while not stop.is_set():
        fits[0] += 1
        if fit() != expected:
            wrong.append("the parent's fit differs")

thread = threading.Thread(target=fitting)
thread.start()
for k in range(8):
    time.sleep(0.01 * k)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if fit() == expected else 1)
    status = os.waitpid(child, 0)[1]
    if status:
        wrong.append(f"a child ended with {status}")
stop.set()
thread.join()
print(fits[0] > 0, wrong)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_in_the_middle_of_a_fit() -> None:
    assert run(PROGRAM) == "True []\n"
