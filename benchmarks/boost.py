"""RankBoost by stumps beside scikit-learn's boosters of stumps, and beside plain NumPy rounds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import tables
from data import DataSet, choose
from options import Options
from timing import race
from toprank import LPPair, RankBoost, SoftMarginRank
from toprank.datasets import load_spambase
from toprank.metrics import auc

SETS = ["spambase", "german", "mammography", "letter", "magic", "ijcnn1"]
QUICK_SETS = ["spambase", "german"]
ROUNDS = 200
CELL_BUDGET = 30.0

CAVEATS = """\
* Different losses: RankBoost has the exponential loss on pairs, AdaBoost on points, gradient
  boosting the logistic loss, with a learning rate of 0.1 and features binned to 255 values.
* Times contain everything a fit does, the sorting of the columns too. AdaBoost sorts them again in
  every round.
* The machine is shared and noisy: compare within a row, never seconds of one run with another's."""

INTRODUCTION = f"""\
{ROUNDS} rounds of stumps, on every other row; AUC on the rest. RankBoost with exact steps, with the
ranker of the largest edge and with that of the farthest fall, and with p = 4; scikit-learn's
`AdaBoostClassifier` on trees of depth 1, exact thresholds too, and `HistGradientBoostingClassifier`
with two leaves. Medians of whole fits; ratios are their time over that of RankBoost by edges."""

GIVEN = """\
The same rounds where the rankers are given columns of +1 and -1, beside the same algorithm as
one writes it in NumPy, a matrix product and a few vector operations a round. Both end at the same
weights. 500 rounds; features are random signs, the labels depend on ten of them and on noise."""


MARGINS = """\
LPPair and SoftMarginRank over all stumps, by column generation: spambase as it is, 15 037 stumps,
and the words of reuters-acq as 0/1 columns, 19 425. The gap is relative, over all stumps; "used"
have a weight."""
MARGIN_CASES = (
    ("spambase", 0.05, 1e-3),
    ("spambase", 0.5, 1e-4),
    ("reuters-acq", 0.3, 1e-2),
    ("reuters-acq", 0.05, 1e-2),
)


class PlainRounds(BaseEstimator):
    """RankBoost.B on +-1 columns, the largest |r|, exact steps: nothing checked."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> PlainRounds:
        """Run 500 rounds."""
        P, Q = np.ascontiguousarray(X[y == 1]), np.ascontiguousarray(X[y == 0])
        f, g, w = np.zeros(len(P)), np.zeros(len(Q)), np.zeros(X.shape[1])
        a, b = np.full(len(P), 1 / len(P)), np.full(len(Q), 1 / len(Q))
        for _ in range(500):
            above, below = a @ P, b @ Q
            k = int(np.argmax(np.abs(above - below)))
            A, B = (1 + above[k]) / 2, (1 + below[k]) / 2
            step = 0.25 * np.log(A * (1 - B) / (B * (1 - A)))
            w[k] += step
            f += step * P[:, k]
            g += step * Q[:, k]
            a, b = np.exp(f.min() - f), np.exp(g - g.max())
            a, b = a / a.sum(), b / b.sum()
        self.coef_ = w
        return self


def contenders() -> dict[str, Any]:
    """Who runs."""
    common = {"n_estimators": ROUNDS, "n_threads": 1}
    return {
        "edge": RankBoost(**common),
        "z": RankBoost(selection="z", **common),
        "p = 4": RankBoost(p=4, **common),
        "AdaBoost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=ROUNDS),
        "gradient": HistGradientBoostingClassifier(
            max_iter=ROUNDS, max_leaf_nodes=2, early_stopping=False
        ),
    }


def _contender(one: Any, X: Any, y: np.ndarray, repeat: int) -> tuple[Any, Any, Any]:
    """An estimator and the data, whatever the repeat."""
    return one, X, y


def row_of(data: DataSet, options: Options) -> list[str]:
    """One data set."""
    X, y = data.X[::2], data.y[::2]
    runs = {name: partial(_contender, one, X, y) for name, one in contenders().items()}
    timed = race(runs, options.repeats, CELL_BUDGET)
    options.tell(f"boost: {data.name}")
    ours = timed["edge"].median
    others = [name for name in timed if name != "edge"]
    reached = [
        auc(data.y[1::2], one.fitted[-1].decision_function(data.X[1::2])) for one in timed.values()
    ]
    return [
        data.name,
        f"{X.shape[0]} x {X.shape[1]}",
        tables.seconds(ours),
        *(tables.ratio(timed[name].median / ours) for name in others),
        *(f"{value:.4f}" for value in reached),
    ]


def given_row(n_rows: int, n_rankers: int, options: Options) -> list[str]:
    """Given +-1 columns of one shape."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n_rows, n_rankers)) < 0.5, 1.0, -1.0)
    y = (X[:, :10].sum(axis=1) + 6.0 * rng.normal(size=n_rows) > 0).astype(np.int64)
    ours = RankBoost(500, weak_learners="precomputed", n_threads=1)
    runs = {
        "given": partial(_contender, ours, X, y),
        "stumps": partial(_contender, RankBoost(500, n_threads=1), X, y),
        "plain": partial(_contender, PlainRounds(), X, y),
    }
    timed = race(runs, options.repeats, CELL_BUDGET)
    coef, plain = timed["given"].fitted[-1].coef_[0], timed["plain"].fitted[-1].coef_
    return [
        f"{n_rows} x {n_rankers}",
        *(tables.seconds(one.median) for one in timed.values()),
        tables.ratio(timed["given"].median / timed["plain"].median),
        tables.gap(float(np.abs(coef - plain).max())),
    ]


def margin_rows(name: str, epsilon: float, tol: float, options: Options) -> list[list[str]]:
    """Both soft margins on one data set."""
    (source,) = choose([name], quick=False)
    data = source.load(options.folder)
    if data is None:
        return []
    X = data.X.copy()
    if name == "reuters-acq":
        X.data = np.ones_like(X.data)
    else:  # rows of length 1 would have a value of their own in every column
        X = load_spambase(return_X_y=True)[0]
    runs = {
        method.__name__: partial(
            _contender, method(epsilon, weak_learners="stumps", tol=tol, n_threads=1), X, data.y
        )
        for method in (LPPair, SoftMarginRank)
    }
    timed = race(runs, min(options.repeats, 3), CELL_BUDGET)
    options.tell(f"margins: {name} {epsilon:g}")
    rows = []
    for method, one in timed.items():
        fitted = one.fitted[-1]
        cells = [name, f"{epsilon:g}", method, tables.seconds(one.median)]
        cells += [tables.gap(fitted.certificate_.relative_gap), f"{fitted.gamma_upper_:.5f}"]
        rows.append([*cells, str(fitted.n_iter_), str(len(fitted.features_))])
    return rows


def report(options: Options) -> str:
    """Measure every set and write the section."""
    names = options.names or (QUICK_SETS if options.quick else SETS)
    loaded = (source.load(options.folder) for source in choose(names, quick=False))
    rows = [row_of(data, options) for data in loaded if data is not None]
    kinds = list(contenders())
    heads = ["data", "rows", "seconds", *(f"{kind} over it" for kind in kinds[1:])]
    heads += [f"AUC {kind}" for kind in kinds]
    shapes = [(1000, 100)] if options.quick else [(1000, 100), (10_000, 100), (1000, 1000)]
    given = [given_row(*shape, options) for shape in shapes]
    parts = ["## RankBoost and other boosters", INTRODUCTION, tables.table(heads, rows)]
    given_heads = ["rows x rankers", "given", "as stumps", "plain NumPy", "ratio", "difference"]
    parts += ["### Given rankers", GIVEN, tables.table(given_heads, given)]
    cases = MARGIN_CASES[:1] if options.quick else MARGIN_CASES
    margins = [row for case in cases for row in margin_rows(*case, options)]
    margin_heads = ["data", "epsilon", "method", "seconds", "gap", "margin at most"]
    margin_heads += ["rounds", "used"]
    parts += ["### Soft margins over all stumps", MARGINS, tables.table(margin_heads, margins)]
    return "\n\n".join(parts)
