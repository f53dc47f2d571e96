"""The fits of the net: which estimators, on which data, in which storage, with which alphas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from data import choose, scaled

ALPHAS = (1e-2, 1e-4, 1e-6)
MIDDLE = (1e-4,)

#: Rows kept of a data set, drawn at random. Sets that are not listed are used in full.
ROWS = {
    "ijcnn1": 50_000,
    "covtype": 100_000,
    "reuters-acq": 6_000,
    "news20-forsale": 8_000,
}
LARGE = "large"  # synthetic, float32, always mapped
LARGE_SHAPE = (400_000, 40)

DENSE = ("german", "spambase")
SMALL = (*DENSE, "rcv1-small")
NARROW = (*DENSE, "magic", "bank", "ijcnn1", "a9a")
MEDIUM = (*SMALL, "magic", "bank", "ijcnn1", "a9a", "w8a", "reuters-acq", "news20-forsale")
ALL = (*MEDIUM, "mammography", "covtype")

#: The estimators by family, each with the data sets that it is fitted to.
FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {
    "top pushes": {
        "TopPush": ALL,
        "InfinitePush": ALL,
        "RectPush": ALL,
        "ReverseRectPush": ALL,
        "SparseInfinitePush": NARROW,
        "TopFractionPush": MEDIUM,
        "AATP": SMALL,
    },
    "row sums": {
        "LogisticRank": ALL,
        "LogExpPush": ALL,
        "LogSumExpPush": ALL,
        "PNormPush": ALL,
        "RectPushApp": ALL,
        "QuantileSigmoid": MEDIUM,
    },
    "pairs": {"RankSVM": ALL, "WSVM": ALL},
    "sampling": {"ASRankSVM": MEDIUM, "ASCRC": MEDIUM},
    "squared": {"BBR": ALL, "BBRCV": (*NARROW, "rcv1-small"), "LCBR": NARROW},
    "soft margin": {"LPPair": DENSE, "SoftMarginRank": DENSE},
    "structural": {"OWPC": DENSE, "SVMMAP": DENSE, "SVMpAUC": DENSE},
    "online": {
        "CRR": SMALL,
        "OAM": SMALL,
        "OPAUC": ("german", "spambase", "magic"),
        "AdaOAM": ("german", "spambase", "magic"),
        "SPAM": SMALL,
    },
    "boosting": {"RankBoost": SMALL, "SoftRankBoost": ("german", "spambase")},
    "head": {"HeadRanker": ("german",)},
}

#: Parameters that a fit of the net always gets, where the estimator has them.
ALWAYS = {"random_state": 0, "n_threads": 1, "n_jobs": 1}
SETTINGS: dict[str, dict[str, Any]] = {
    "HeadRanker": {"effort": "fast", "candidates": "linear", "trees": False},
    "SoftRankBoost": {"max_iter": 500},
}

BOTH = ("spambase", "rcv1-small")
#: Other losses and solvers than the defaults, each with its data sets.
VARIANTS: dict[str, list[tuple[dict[str, Any], tuple[str, ...]]]] = {
    "TopPush": [
        ({"loss": "logistic"}, BOTH),
        ({"loss": "exponential"}, BOTH),
        ({"solver": "newton"}, ("spambase",)),
        ({"solver": "dual-descent"}, BOTH),
    ],
    "InfinitePush": [({"loss": "logistic"}, BOTH), ({"solver": "dual-descent"}, BOTH)],
    "RectPush": [({"loss": "logistic"}, BOTH), ({"solver": "dual-descent"}, BOTH)],
    "RectPushApp": [({"loss": "logistic"}, BOTH)],
    "LogisticRank": [({"solver": "newton"}, BOTH), ({"solver": "few-passes"}, ("spambase",))],
    "RankSVM": [
        ({"loss": "squared_hinge"}, BOTH),
        ({"solver": "dual-descent"}, ("rcv1-small",)),
    ],
    "BBR": [({"solver": "lanczos"}, BOTH)],
}

#: Storages other than that of the data set: C-ordered float64, or CSR with 32-bit indices.
DENSE_STORAGES = ("fortran", "float32", "csr", "mapped", "opened")
SPARSE_STORAGES = ("csc", "csr64", "float32", "mapped", "opened")
STORED = (
    "TopPush", "RectPush", "LogisticRank", "PNormPush", "RankSVM", "WSVM", "ASRankSVM", "BBR",
    "OAM", "RankBoost", "OWPC", "LPPair",
)  # fmt: skip
STORED_DENSE = {"OWPC": "spambase", "LPPair": "german"}  # too slow with many columns
COLLECTIONS = (
    "TopPush", "RectPush", "LogisticRank", "RectPushApp", "PNormPush", "LogExpPush", "RankSVM",
    "BBR",
)  # fmt: skip
ON_LARGE = ("TopPush", "LogisticRank", "RankSVM", "BBR", "WSVM")

#: Fits whose peak memory is measured: estimator, data set, storage.
MEMORY = [
    *(
        (name, LARGE, "mapped")
        for name in ("TopPush", "RectPush", "LogisticRank", "RankSVM", "BBR")
    ),
    ("TopPush", "covtype", "natural"),
    ("LogisticRank", "covtype", "fortran"),
    ("LogisticRank", "news20-forsale", "natural"),
    ("RankSVM", "news20-forsale", "csc"),
]


@dataclass(frozen=True)
class Cell:
    """One fit: an estimator with its parameters on a data set in a storage."""

    family: str
    estimator: str
    data: str
    storage: str = "natural"
    alpha: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    memory: bool = False

    @property
    def key(self) -> str:
        """Name of the cell in a file of results."""
        shown = {"alpha": self.alpha} if self.alpha is not None else {}
        inside = ", ".join(
            f"{name}={value!r}" for name, value in {**shown, **self.parameters}.items()
        )
        kind = " memory" if self.memory else ""
        return f"{self.estimator}({inside}) {self.data} {self.storage}{kind}"


#: Estimators without an alpha get one cell.
WITHOUT_ALPHA = {
    "BBRCV", "LPPair", "SoftMarginRank", "OAM", "QuantileSigmoid", "RankBoost", "SoftRankBoost",
    "HeadRanker",
}  # fmt: skip


def cells() -> list[Cell]:
    """Return every cell of the net, those of one data set and storage together."""
    order = {name: k for k, name in enumerate((*ALL, LARGE))}
    return sorted(_cells(), key=lambda cell: (cell.memory, order[cell.data], cell.storage))


def _cells() -> Iterator[Cell]:
    family_of = {name: family for family, members in FAMILIES.items() for name in members}

    def fits(name: str, data: str, storage: str, alphas: tuple[float, ...]) -> Iterator[Cell]:
        for alpha in (None,) if name in WITHOUT_ALPHA else alphas:
            yield Cell(family_of[name], name, data, storage, alpha)

    for members in FAMILIES.values():
        for name, sets in members.items():
            for data in sets:
                yield from fits(name, data, "natural", ALPHAS)
    for name in STORED:
        for storage in DENSE_STORAGES:
            yield from fits(name, STORED_DENSE.get(name, "spambase"), storage, MIDDLE)
        for storage in () if name in STORED_DENSE else SPARSE_STORAGES:
            yield from fits(name, "rcv1-small", storage, MIDDLE)
    for name in COLLECTIONS:
        yield from fits(name, "spambase", "dask", MIDDLE)
    for name in ON_LARGE:
        yield from fits(name, LARGE, "mapped", MIDDLE)
    for name, variants in VARIANTS.items():
        for parameters, sets in variants:
            for data in sets:
                for alpha in ALPHAS:
                    yield Cell(family_of[name], name, data, "natural", alpha, parameters)
    for name, data, storage in MEMORY:
        yield Cell(family_of[name], name, data, storage, 1e-4, memory=True)


def prepare(name: str, source: Path, folder: Path) -> bool:
    """Write a data set as .npy files into a folder; return False if it is absent."""
    if (folder / f"{name}.y.npy").exists():
        return True
    if name == LARGE:
        X, y = _large()
    else:
        raw = choose([name], quick=False)[0].read(source)
        if raw is None:
            return False
        X, y = _cut(*raw, ROWS.get(name))
        X = scaled(X)
    if sp.issparse(X):
        for part in ("data", "indices", "indptr"):
            np.save(folder / f"{name}.{part}.npy", getattr(X, part))
        np.save(folder / f"{name}.shape.npy", np.array(X.shape))
    else:
        np.save(folder / f"{name}.X.npy", X)
    np.save(folder / f"{name}.y.npy", np.asarray(y, dtype=np.int64))
    return True


def _cut(X: Any, y: Any, rows: int | None) -> tuple[Any, Any]:
    """Draw some rows at random, in their order."""
    if rows is None or rows >= len(y):
        return X, y
    kept = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    return X[kept], np.asarray(y)[kept]


def _large() -> tuple[np.ndarray, np.ndarray]:
    """Draw Gaussian rows, 3 % of them positive and shifted."""
    rng = np.random.default_rng(0)
    rows, columns = LARGE_SHAPE
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    y = rng.random(rows) < 0.03
    X[y] += np.float32(0.3)
    return X, y
