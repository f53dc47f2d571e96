"""Case-control bins against quantile bins: boosted trees and a linear score.

    python benchmarks/case_control_bins.py            # about an hour; writes CASE_CONTROL_BINS.md
    python benchmarks/case_control_bins.py --quick    # two splits of small sets, printed

Every result is appended to case_control_bins.jsonl at once, so a second run continues the first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

# Before anything loads OpenMP: one thread for everybody.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})

import lightgbm
import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import case_control_page
from toprank import LogisticRank
from toprank.features import BinsAndPairs, Squash
from toprank.features.case_control_bins import case_control_edges, code

HERE = Path(__file__).resolve().parent
#: At most this many rows to train on, and to test on, of sets that are split at random.
TRAIN_ROWS, TEST_ROWS, SPLITS = 20_000, 20_000, 5
SETS = (
    "diabetes", "german", "svmguide3", "ionosphere", "sick-euthyroid", "abalone7", "hypothyroid",
    "abalone19", "kr-vs-kp", "mammography", "spambase", "magic", "letter", "skin", "shuttle",
    "bank", "ijcnn1", "covtype", "covtype-4", "nsl-kdd", "connect-4", "a9a", "census-income",
    "covtype-5", "covtype-6", "covtype-7",
)  # fmt: skip
QUICK = ("diabetes", "abalone19", "mammography")
#: Their label 1 is the common class: the other one is sought.
SWAPPED = {"german", "diabetes", "ionosphere"}
#: Splits of bank, whose rows are in time order: shares of the rows before the test part.
CUTS, LATER_SHARE = (0.50, 0.58, 0.66, 0.74, 0.82), 0.08
#: The handbook's table: first training days, and the one that settings were chosen on.
FIRST_DAYS, DEVELOPMENT_DAY = (101, 108, 115, 122, 129), 94
#: Settings were chosen on these sets.
DEVELOPMENT = (
    "mammography", "abalone7", "magic", "spambase", "a9a", "covtype", "covtype-4", "handbook-94",
)  # fmt: skip
LINEAR_SETS = (*DEVELOPMENT, "bank", "census-income", "covtype-5", "handbook")
#: Sets with more than 40 negatives for each positive.
RARE_SETS = ("abalone19", "covtype-4", "covtype-5", "handbook", "handbook-94")
ALPHAS = (1e-5, 1e-4, 1e-3)

Scores = np.ndarray
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], Scores]


@cache
def whole(name: str, folder: Path) -> tuple[Any, np.ndarray, dict[str, np.ndarray]]:
    """Read the rows, the labels and the other columns of a set."""
    file, _, label = name.partition("-") if name.startswith("covtype") else (name, "", "")
    with np.load(folder / f"{file}.npz", allow_pickle=False) as raw:
        rest = {key: raw[key] for key in raw.files if key in ("y_multi", "day", "customer")}
        y = raw["y"].astype(np.int64)
        if "X" in raw.files:
            X: Any = raw["X"]
        else:
            parts = (raw["data"], raw["indices"], raw["indptr"])
            X = sp.csr_matrix(parts, shape=tuple(raw["shape"]))
    if label:  # the label of a rare class of covtype
        y = (rest["y_multi"] == int(label)).astype(np.int64)
    return X, 1 - y if name in SWAPPED else y, rest


def splits_of(name: str) -> range | tuple[int, ...]:
    """Return seeds of random splits, or first training days."""
    if name == "handbook":
        return FIRST_DAYS
    return (DEVELOPMENT_DAY,) if name == "handbook-94" else range(SPLITS)


def split(name: str, folder: Path, seed: int) -> tuple[np.ndarray, ...]:
    """Return training rows and labels, test rows and labels."""
    if name.startswith("handbook"):
        return week(folder, seed)
    X, y, _ = whole(name, folder)
    if name == "bank":
        cut = round(CUTS[seed] * len(y))
        train = np.arange(max(0, cut - TRAIN_ROWS), cut)
        test = np.arange(cut, cut + round(LATER_SHARE * len(y)))
    else:
        train, test = train_test_split(
            np.arange(len(y)), test_size=0.4, stratify=y, random_state=seed
        )
        train, test = train[:TRAIN_ROWS], test[:TEST_ROWS]
    made = [part.toarray() if sp.issparse(part) else part for part in (X[train], X[test])]
    return made[0], y[train], made[1], y[test]


def week(folder: Path, first: int) -> tuple[np.ndarray, ...]:
    """Return the handbook's split: seven days of training, seven of delay, seven of testing.

    Customers known to be compromised by the eve of a test day are removed from it.
    """
    X, y, rest = whole("fraud-handbook", folder)
    day, customer = rest["day"].astype(np.int64), rest["customer"].astype(np.int64)
    train = np.flatnonzero((day >= first) & (day < first + 7))
    known, tests = set(customer[train][y[train] == 1]), []
    for k in range(7):
        known.update(customer[(day == first + 6 + k) & (y == 1)])
        today = np.flatnonzero(day == first + 14 + k)
        tests.append(today[~np.isin(customer[today], list(known))])
    test = np.concatenate(tests)
    return X[train], y[train], X[test], y[test]


def lightgbm_scores(
    max_bin: int = 255, weight: Callable[[np.ndarray], np.ndarray] | None = None, **more: Any
) -> Fit:
    """200 trees of 15 leaves on half of the rows and columns each."""

    def fit(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Scores:
        model = lightgbm.LGBMClassifier(
            n_estimators=200, learning_rate=0.05, num_leaves=15, colsample_bytree=0.5,
            subsample=0.5, subsample_freq=1, n_jobs=1, verbose=-1, random_state=0,
            max_bin=max_bin, **more,
        )  # fmt: skip
        model.fit(X, y, sample_weight=None if weight is None else weight(y))
        return model.predict_proba(X_test)[:, 1]

    return fit


def boosting_scores(weight: Callable[[np.ndarray], np.ndarray] | None = None) -> Fit:
    """100 trees of 15 leaves of scikit-learn's HistGradientBoostingClassifier."""

    def fit(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Scores:
        model = HistGradientBoostingClassifier(
            max_iter=100, learning_rate=0.05, max_leaf_nodes=15, early_stopping=False,
            random_state=0,
        )  # fmt: skip
        model.fit(X, y, sample_weight=None if weight is None else weight(y))
        return model.predict_proba(X_test)[:, 1]

    return fit


def balanced(y: np.ndarray) -> np.ndarray:
    """Give both classes the same total weight."""
    positive = y.mean()
    return np.where(y == 1, 0.5 / positive, 0.5 / (1.0 - positive))


def half_balanced(y: np.ndarray) -> np.ndarray:
    """Return the square roots of balanced weights."""
    return np.sqrt(balanced(y))


def on_bins(fit: Fit, n_edges: int = 120) -> Fit:
    """Fit on codes of case-control bins."""

    def coded(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Scores:
        edges = case_control_edges(X, y == 1, n_edges)
        return fit(code(X, edges), y, code(X_test, edges))

    return coded


def on_levels(fit: Fit, positives: np.ndarray, negatives: np.ndarray) -> Fit:
    """Fit on codes whose edges are quantiles of the classes at other levels."""

    def coded(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Scores:
        edges = [
            np.unique(
                np.concatenate(
                    [
                        np.quantile(column[y == label], levels, method="inverted_cdf")
                        for label, levels in ((1, positives), (0, negatives))
                    ]
                )
            ).astype(np.float64)
            for column in X.T
        ]
        return fit(code(X, edges), y, code(X_test, edges))

    return coded


def on_rows(fit: Fit, n_negatives: int) -> Fit:
    """Fit on all positives, and on n times as many negatives drawn at random."""

    def thinned(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Scores:
        positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        n = min(n_negatives * len(positive), len(negative))
        rng = np.random.default_rng(0)
        kept = np.sort(np.append(positive, rng.choice(negative, n, replace=False)))
        return fit(X[kept], y[kept], X_test)

    return thinned


def levels(n: int, curve: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
    """Return n levels from 0 to 1, equally spaced or mapped by a function."""
    even = (np.arange(n) + 0.5) / n
    return even if curve is None else curve(even)


def upper(u: np.ndarray) -> np.ndarray:
    """Space levels densely near 1."""
    return 1.0 - (1.0 - u) ** 2


def both_ends(u: np.ndarray) -> np.ndarray:
    """Space levels densely near 0 and near 1."""
    return (1.0 - np.cos(np.pi * u)) / 2.0


FINE = {"min_data_in_bin": 1}
#: Measured on all sets.
MAIN: dict[str, Fit] = {
    "LightGBM 255": lightgbm_scores(),
    "LightGBM 1023": lightgbm_scores(1023, **FINE),
    "LightGBM case-control": on_bins(lightgbm_scores(**FINE)),
    "HistGradientBoosting 255": boosting_scores(),
    "HistGradientBoosting case-control": on_bins(boosting_scores()),
}
_FAST, _SLOW = lightgbm_scores(**FINE), boosting_scores()
#: Measured on the development sets only.
VARIANTS: dict[str, Fit] = {
    "LightGBM 255, min_data_in_bin 1": lightgbm_scores(**FINE),
    "LightGBM case-control 60 + 60": on_bins(_FAST, 60),
    "LightGBM case-control 250 + 250": on_bins(lightgbm_scores(511, **FINE), 250),
    "LightGBM 160 of the positives + 80": on_levels(_FAST, levels(160), levels(80)),
    "LightGBM 80 of the positives + 160": on_levels(_FAST, levels(80), levels(160)),
    "LightGBM upper positives dense": on_levels(_FAST, levels(120, upper), levels(120)),
    "LightGBM both ends dense": on_levels(_FAST, levels(120, both_ends), levels(120, both_ends)),
    "LightGBM 255, balanced weights": lightgbm_scores(weight=balanced),
    "LightGBM case-control, balanced weights": on_bins(lightgbm_scores(weight=balanced, **FINE)),
    "LightGBM case-control, roots of balanced weights": on_bins(
        lightgbm_scores(weight=half_balanced, **FINE)
    ),
    "HistGradientBoosting case-control 60 + 60": on_bins(_SLOW, 60),
    "HistGradientBoosting upper positives dense": on_levels(_SLOW, levels(120, upper), levels(120)),
    "HistGradientBoosting both ends dense": on_levels(
        _SLOW, levels(120, both_ends), levels(120, both_ends)
    ),
    "HistGradientBoosting 255, balanced weights": boosting_scores(balanced),
    "HistGradientBoosting case-control, balanced weights": on_bins(boosting_scores(balanced)),
    "HistGradientBoosting case-control, roots of balanced weights": on_bins(
        boosting_scores(half_balanced)
    ),
}
#: Measured on sets with rare positives.
ROWS: dict[str, Fit] = {
    f"{name}, {n} negatives": on_rows(MAIN[f"{name} case-control"], n)
    for name in ("LightGBM", "HistGradientBoosting")
    for n in (40, 20, 10)
}


def linear_scores(bins: BinsAndPairs | None, alpha: float) -> Fit:
    """Logistic regression on squashed columns and what is made of them."""

    def fit(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> Scores:
        first = StandardScaler() if bins is None else Squash()
        steps = [first] if bins is None else [first, bins]
        ranker = LogisticRank(alpha, random_state=0)
        model = make_pipeline(*steps, ranker)
        model.fit(X.astype(np.float64), y)
        return model.decision_function(X_test.astype(np.float64))

    return fit


def linear() -> dict[str, Fit]:
    """Return the linear scores, by bins and alpha."""
    made: dict[str, Fit] = {}
    for alpha in ALPHAS:
        made[f"columns alone @{alpha:g}"] = linear_scores(None, alpha)
        for form, more in {
            "bins": {"n_strongest": 0, "columns": False},
            "columns, bins and pairs": {},
        }.items():
            for name, bins, grid, edges in (
                ("24 quantiles", 24, 8, "quantiles"),
                ("48 quantiles", 48, 8, "quantiles"),
                ("12 + 12", 24, 8, "case-control"),
                ("24 + 24", 48, 8, "case-control"),
            ):
                step = BinsAndPairs(bins, n_grid=grid, edges=edges, **more)
                made[f"{form}: {name} @{alpha:g}"] = linear_scores(step, alpha)
    return made


def measure(
    names: Iterable[str],
    contenders: dict[str, Fit],
    folder: Path,
    done: set[Any],
    most_splits: int,
) -> Iterator[dict[str, Any]]:
    """Yield a result for every set, split and model that is not done yet."""
    for name in names:
        for seed in splits_of(name)[:most_splits]:
            missing = [model for model in contenders if (name, seed, model) not in done]
            if not missing:
                continue
            X, y, X_test, y_test = split(name, folder, seed)
            for model in missing:
                began = time.process_time()
                scores = contenders[model](X, y, X_test)
                yield {
                    "set": name,
                    "split": seed,
                    "model": model,
                    "cpu": time.process_time() - began,
                    "ap": average_precision_score(y_test, scores),
                    "pauc": roc_auc_score(y_test, scores, max_fpr=0.01),
                    "rows": len(y),
                    "positives": int(y.sum()),
                }


def commit() -> str:
    """Return the last commit that changed the bins or this file."""
    found = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", "../src/toprank/features", Path(__file__).name],
        capture_output=True,
        text=True,
        cwd=HERE,
        check=False,
    )
    return found.stdout.strip() or "unknown"


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two splits of small sets, printed")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--results", type=Path, default=HERE / "case_control_bins.jsonl")
    parser.add_argument("--only", nargs="+", choices=["main", "linear", "variants", "rows"])
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # of LightGBM and names of columns
    results: list[dict[str, Any]] = []
    if args.results.exists() and not args.quick:
        results = [json.loads(line) for line in args.results.read_text().splitlines()]
    done = {(row["set"], row["split"], row["model"]) for row in results}
    every = (*SETS, "handbook", "handbook-94")
    work: dict[str, tuple[tuple[str, ...], dict[str, Fit]]] = {
        "main": (every, MAIN),
        "linear": (LINEAR_SETS, linear()),
        "variants": (DEVELOPMENT, VARIANTS),
        "rows": (RARE_SETS, ROWS),
    }
    current = commit()
    for part in args.only or work:
        names, contenders = work[part]
        names = tuple(name for name in names if not args.quick or name in QUICK)
        splits = 2 if args.quick else SPLITS
        for row in measure(names, contenders, args.data, done, splits):
            row["commit"] = current
            results.append(row)
            if not args.quick:
                with args.results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    text = case_control_page.page(results, every, DEVELOPMENT)
    if args.quick:
        print(text)
    else:
        (HERE / "CASE_CONTROL_BINS.md").write_text(text)


if __name__ == "__main__":
    main()
