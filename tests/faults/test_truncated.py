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
from toprank.solvers.watch import Watch

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


# Cuts a file of a converted data set, and prints what every pass over the data raises then.
CONVERTED = """
import os, sys
import dask.array as da
import numpy as np
import toprank
from distributed import Client
from toprank.files import convert
from toprank.selection import RankerCV

name, share, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
os.chdir(folder)
rng = np.random.default_rng(0)
y = (rng.random(4000) < 0.2).astype(int)
X = np.round(rng.standard_normal((4000, 6)) + 0.6 * y[:, None], 3)
sparse = name.count(".") == 2
if not sparse:
    table = np.c_[X, np.ones(len(X)), y]
    np.savetxt("rows.csv", table, "%g", ",", header="a,b,c,d,e,f,w,y", comments="")
    convert("rows.csv", "data", label="y", weight="w")
else:
    with open("rows.svmlight", "w") as file:
        for label, row in zip(y, X):
            print(label, *(f"{j + 1}:{value}" for j, value in enumerate(row)), file=file)
    convert("rows.svmlight", "data")
data = toprank.open_dataset("data")
given = data.X, data.y, data.sample_weight
model = toprank.LogisticRank().fit(*given)
stream = toprank.OPAUC().fit(*given)
with_dask = name in ("y.npy", "weight.npy")  # Dask copies X when a collection is made of it
if with_dask:
    client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None)
    on_dask = da.from_array(data.X, chunks=(1000, -1)), *given[1:]
path = os.path.join("data", name)
os.truncate(path, int(os.path.getsize(path) * share))

passes = [
    *(getattr(toprank, kind)().fit for kind in ("LogisticRank", "TopPush", "BBR", "RankBoost")),
    *(RankerCV(toprank.TopPush(), alphas=2).fit, model.score),
    toprank.HeadRanker(candidates="fast", trees=False).fit,
    lambda X, y, weight: stream.partial_fit(X, y, sample_weight=weight),
    *([lambda *_: toprank.LogisticRank().fit(*on_dask)] if with_dask else []),
]
for call in passes:
    try:
        call(*given)
    except OSError as error:
        print("OSError", error)
    else:
        print("nothing was raised")
"""


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("name", ["X", "y", "weight", "X.data", "X.indices", "X.indptr"])
def test_a_converted_file_that_is_cut(name: str, share: float, tmp_path: object) -> None:
    told = run(CONVERTED, f"{name}.npy", share, tmp_path).splitlines()
    assert len(told) == (9 if name in ("y", "weight") else 8)
    for line in told:
        assert line.startswith("OSError")
        assert f"{name}.npy" in line
