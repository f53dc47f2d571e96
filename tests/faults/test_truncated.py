"""A data file that is cut while it is mapped: an error before the next pass, not a crash."""

from __future__ import annotations

import pytest

from support.programs import run

# Cuts a mapped file at a place, before a fit or within it, and says what was raised.
PROGRAM = """
import os, sys
import numpy as np
from scipy import sparse
import toprank
from toprank.designs import streamed
from toprank.history import Watch

kind, moment, length = sys.argv[1], sys.argv[2], int(sys.argv[3])
folder = sys.argv[4]
rng = np.random.default_rng(0)
dense = rng.standard_normal((20_000, 20))
y = dense[:, 0] + rng.standard_normal(20_000) > 2.0

def mapped(name, array):
    path = os.path.join(folder, name + ".npy")
    np.save(path, array)
    return np.load(path, mmap_mode="r")

if kind == "csr":
    rows = sparse.csr_array(dense)
    X = sparse.csr_array(rows.shape, dtype=rows.dtype)
    X.data, X.indices, X.indptr = mapped("X", rows.data), mapped("i", rows.indices), rows.indptr
else:
    X = mapped("X", dense)
if kind == "streamed":
    streamed.STREAMED_BYTES = 0
    streamed.BLOCK_BYTES = 1 << 18

def cut():
    os.truncate(os.path.join(folder, "X.npy"), length)

model = toprank.LogisticRank(tol=1e-12).fit(X, y)
if moment == "between":
    cut()
else:
    plain = Watch.__call__
    def cutting(self, iteration, *rest):
        if iteration == 2:
            cut()
        return plain(self, iteration, *rest)
    Watch.__call__ = cutting
try:
    if moment == "between":
        model.decision_function(X)
    else:
        model.fit(X, y)
except OSError as error:
    print("OSError", error)
else:
    print("nothing was raised")
"""


@pytest.mark.parametrize("kind", ["dense", "csr", "streamed"])
@pytest.mark.parametrize(("moment", "length"), [("between", 1000), ("within", 0)])
def test_a_file_that_is_cut(kind: str, moment: str, length: int, tmp_path: object) -> None:
    told = run(PROGRAM, kind, moment, length, tmp_path)
    assert told.startswith("OSError")
    assert f"cut to {length:,} bytes" in told
    assert "X.npy" in told


def test_a_cut_within_the_last_page_is_seen_too(tmp_path: object) -> None:
    """Where a page is there in part its rest reads as zeros, without any signal."""
    assert "cut to 3,199,000 bytes" in run(PROGRAM, "dense", "between", 3_199_000, tmp_path)
