"""Ctrl-C ends a long fit."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

# A small alpha and a gap that cannot be reached: each solver would go on for many seconds.
# A shell makes what it runs in the background deaf to SIGINT; the handler undoes that.
LONG_FITS = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from scipy import sparse
from toprank import CRR, LCBR, OAM, OPAUC, SPAM, WSVM, ASRankSVM, TopPush
for line in sys.stdin:
    data, ranker = json.loads(line)
    rng = np.random.default_rng(0)
    exec(data)
    y = np.arange(X.shape[0]) % 2
    ranker = eval(ranker)
    print("fitting", flush=True)
    try:
        ranker.fit(X, y)
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
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
    "stochastic steps": (WIDE, "CRR(max_iter=10**9, random_state=0)"),
    "proximal steps": (WIDE, "SPAM(max_iter=10**9, random_state=0)"),
    "steps from moments": (DENSE, "OPAUC(max_iter=10**9, random_state=0)"),
    "steps from buffers": (DENSE, "OAM(max_iter=10**9, random_state=0)"),
    "pair-descent, dense": (DENSE, POINTS),
    "pair-descent, sparse": (WIDE, POINTS),
    "drawn pairs, matched": (DENSE, "LCBR(n_pairs=10**9, random_state=0)"),
    "drawn pairs, uniform": (WIDE + "[:, :500]", "LCBR(n_pairs=10**9, sampling='uniform')"),
    "active sampling": (DENSE, "ASRankSVM(n_pairs=10**7, random_state=0)"),
}


class Child:
    """A process that fits what it is told to: one for all tests, for an import takes seconds."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", LONG_FITS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, data: str, ranker: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([data, ranker]) + "\n")
        self.process.stdin.flush()

    def says(self, seconds: float) -> str | None:
        """The next line, or None if there is none for so long."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline().strip() if ready else None

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def children() -> Iterator[list[Child]]:
    """The child at work, if there is one."""
    children: list[Child] = []
    yield children
    for child in children:
        child.end()


# Guards against hanging, not measures.
TO_BEGIN = 120.0
TO_END = 60.0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a child process")
@pytest.mark.parametrize("fit", FITS)
def test_an_interrupt_ends_a_fit(children: list[Child], fit: str) -> None:
    child = children.pop() if children else Child()
    try:
        child.tell(*FITS[fit])
        assert child.says(TO_BEGIN) == "fitting"
        assert child.says(0.5) is None  # it is in the midst of its work
        child.process.send_signal(signal.SIGINT)
        assert child.says(TO_END) == "interrupted"
    except BaseException:
        child.end()
        raise
    children.append(child)  # none the worse for it: it goes on with the next fit
