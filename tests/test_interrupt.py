"""Ctrl-C ends a long fit."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# A small alpha and a gap that cannot be reached: each solver would go on for many seconds.
# A shell makes what it runs in the background deaf to SIGINT; the handler undoes that.
LONG_FIT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from scipy import sparse
from toprank import CRR, LCBR, OAM, OPAUC, SPAM, WSVM, ASRankSVM, TopPush
rng = np.random.default_rng(0)
{data}
y = np.arange(X.shape[0]) % 2
print("fitting", flush=True)
{ranker}.fit(X, y)
print("ended", flush=True)
"""
DENSE = "X = rng.normal(size=(10_000, 300)).astype(np.float32); X[1::2] += 0.5"
LARGE = DENSE.replace("10_000, 300", "30_000, 700")  # a Newton step on less is over in no time
WIDE = "X = sparse.csr_array(sparse.random(5_000, 20_000, 2e-3, 'csr', random_state=rng))"

PUSH = "TopPush(1e-9, solver={!r}, loss={!r}, tol=1e-15, max_iter=10**9, random_state=0)"
POINTS = "WSVM(1e-9, tol=1e-15, max_iter=10**9, random_state=0)"

FITS = {
    "newton": (LARGE, PUSH.format("newton", "logistic")),
    "dual-descent, dense": (DENSE, PUSH.format("dual-descent", "squared_hinge")),
    "dual-descent, sparse": (WIDE, PUSH.format("dual-descent", "squared_hinge")),
    "stochastic steps": (WIDE, "CRR(n_steps=10**9, random_state=0)"),
    "proximal steps": (WIDE, "SPAM(n_passes=10**9, random_state=0)"),
    "steps from moments": (DENSE, "OPAUC(n_passes=10**9, random_state=0)"),
    "steps from buffers": (DENSE, "OAM(n_passes=10**9, random_state=0)"),
    "pair-descent, dense": (DENSE, POINTS),
    "pair-descent, sparse": (WIDE, POINTS),
    "drawn pairs, matched": (DENSE, "LCBR(n_pairs=10**9, random_state=0)"),
    "drawn pairs, uniform": (WIDE + "[:, :500]", "LCBR(n_pairs=10**9, sampling='uniform')"),
    "active sampling": (DENSE, "ASRankSVM(budget=10**7, random_state=0)"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a child process")
@pytest.mark.parametrize("fit", FITS)
def test_an_interrupt_ends_a_fit(fit: str) -> None:
    data, ranker = FITS[fit]
    program = LONG_FIT.format(data=data, ranker=ranker)
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "fitting\n"
        with pytest.raises(subprocess.TimeoutExpired):  # it is in the midst of its work
            child.wait(timeout=1.0)
        child.send_signal(signal.SIGINT)
        out, error = child.communicate(timeout=60.0)  # a guard against hanging, not a measure
    finally:
        child.kill()
        child.wait()
    assert out == ""
    assert error.strip().endswith("KeyboardInterrupt")
    assert child.returncode in (-signal.SIGINT, 130, 1)
