"""RankerCV beside scikit-learn's LogisticRegressionCV, and beside cold fits of our own.

`python benchmarks/cross_validation.py --data FOLDER --out benchmarks/CROSS_VALIDATION.md`
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import tables
from few_passes import TOLERANCE, cpu, gap, load
from machine import describe
from toprank import LogisticRank, PNormPush, RankSVM, RectPushApp
from toprank.metrics import average_precision
from toprank.selection import RankerCV

NARROW = ["bank", "magic", "a9a", "ijcnn1", "w8a"]
TEXT = ["sms-spam", "reuters-acq"]
#: Rows have length one, so these are the nine that RankerCV takes by itself, but for the centre.
ALPHAS = np.geomspace(1.0, 1e-6, 9)
FOLDS = 5
#: Solvers of theirs by what they are given: saga, Newton's methods on text, and LIBLINEAR's dual
#: one with an intercept that is all but free, take many times as long as these.
THEIRS = {
    "narrow": (("lbfgs", "f4"), ("newton-cholesky", "f4"), ("newton-cholesky", "f8")),
    "text": (("lbfgs", "f8"), ("liblinear", "f8")),
}
#: The loosest first: the first at which all their fits are within the gap is theirs.
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
#: LIBLINEAR has a price on the intercept, which ends elsewhere: this makes the price small.
INTERCEPT_SCALING = 30.0
AIM_THEIRS, AIM_COLD = 0.15, 0.5

INTRODUCTION = f"""\
Nine alphas from 1 to 1e-6 by five stratified folds, rows of length one, one thread, average
precision of the rows held out, and a fit on all rows at the best alpha. `RankerCV(LogisticRank())`
has the same problems as scikit-learn's `LogisticRegressionCV` at C = 1 / (alpha N), and the same
folds. Of theirs the fastest of lbfgs and newton-cholesky (narrow sets), lbfgs and liblinear (text)
is shown, each at its loosest `tol`, by decades, at which all 45 fits are within a
relative gap of {TOLERANCE:g}: the gap that ours is certified to. Where none gets there, the one
that came nearest is shown, with the widest gap it left.

Cold: 45 fits of ours, each from nothing on a copy of its fold, and the same scores; no fit on all
rows. CPU milliseconds, the least of repeats that take turns; ratios are RankerCV's time over
the other's. Ours are given float32, theirs the type that suits them."""

RANKERS: dict[str, Callable[[], Any]] = {
    "LogisticRank": lambda: LogisticRank(n_threads=1, random_state=0),
    "RectPushApp": lambda: RectPushApp(p=4, n_threads=1),
    "PNormPush": lambda: PNormPush(p=4, n_threads=1),
    "RankSVM": lambda: RankSVM(loss="squared_hinge", tol=TOLERANCE, n_threads=1),
}


def peer(solver: str, n: int, tol: float, folds: Any) -> LogisticRegressionCV:
    """Theirs, of the same problems."""
    name = "liblinear" if solver.startswith("liblinear") else solver
    return LogisticRegressionCV(
        Cs=1.0 / (ALPHAS * n),
        cv=folds,
        dual=solver == "liblinear-dual",
        scoring="average_precision",
        solver=name,
        tol=tol,
        max_iter=3000,
        intercept_scaling=INTERCEPT_SCALING,
        l1_ratios=(0,),
        use_legacy_attributes=True,
    )


def widest_gap(fit: Any, X: Any, y: Any, folds: Any) -> float:
    """The largest relative gap of their fits, each at its best intercept."""
    found = 0.0
    paths = next(iter(fit.coefs_paths_.values())).reshape(FOLDS, len(ALPHAS), -1)
    for (rows, _), along in zip(folds, paths, strict=True):
        for alpha, w in zip(ALPHAS, along.astype(np.float64), strict=True):
            found = max(found, gap(X[rows], y[rows], alpha, w[:-1], w[-1]))
    return found


def fastest(kind: str, forms: dict[str, Any], y: Any, folds: Any) -> tuple[str, str, float, float]:
    """The solver, its type, its tolerance and the gap it leaves: good enough in the least time."""
    n, best, found = len(folds[0][0]), (1, np.inf), ("", "", 0.0, np.inf)
    for solver, form in THEIRS[kind]:
        for tol in TOLERANCES:
            fit = peer(solver, n, tol, folds)
            seconds, _ = cpu(lambda fit=fit, form=form: fit.fit(forms[form], y))
            left = widest_gap(fit, forms["f8"], y, folds)
            print(f"  {solver} {form} tol {tol:g}: {seconds:.2f} s, {left:.1e}", file=sys.stderr)
            rank = (0, seconds) if left <= TOLERANCE else (1, left)
            if rank < best:
                best, found = rank, (solver, form, tol, left)
            if left <= TOLERANCE or (best[0] == 0 and seconds > best[1]):
                break
    return found


def ours(make: Callable[[], Any], X: Any, y: Any, folds: Any) -> Any:
    """RankerCV, fitted."""
    return RankerCV(make(), ALPHAS, cv=folds).fit(X, y)


def cold(make: Callable[[], Any], X: Any, y: Any, folds: Any) -> None:
    """Every fold at every alpha, from nothing."""
    for training, test in folds:
        X_own, y_own, X_out, y_out = X[training], y[training], X[test], y[test]
        for alpha in ALPHAS:
            ranker = make().set_params(alpha=alpha).fit(X_own, y_own)
            average_precision(y_out, ranker.decision_function(X_out))


def cell(name: str, kind: str, folder: Path, repeats: int) -> tuple[list[str], dict[str, float]]:
    """A row of the table, and its ratios."""
    X, y = load(name, folder) or (None, None)
    if X is None:
        return [], {}
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    forms = {"f4": X.astype(np.float32), "f8": X.astype(np.float64)}
    solver, form, tol, left = fastest(kind, forms, y, folds)
    best: dict[str, float] = {}
    widest = 0.0

    def take(who: str, work: Callable[[], Any]) -> Any:
        seconds, result = cpu(work)
        best[who] = min(best.get(who, np.inf), seconds)
        return result

    for _ in range(repeats):
        their = peer(solver, len(folds[0][0]), tol, folds)
        take("theirs", lambda their=their: their.fit(forms[form], y))
        for who, make in RANKERS.items():
            found = take(who, lambda make=make: ours(make, forms["f4"], y, folds))
            widest = max(widest, float(found.cv_results_["relative_gap"].max()))
            take(f"{who} cold", lambda make=make: cold(make, forms["f4"], y, folds))
    ratios = {"theirs": best["LogisticRank"] / best["theirs"]}
    ratios |= {who: best[who] / best[f"{who} cold"] for who in RANKERS}
    n, d = X.shape
    row = [name, str(n), str(d), f"{solver} {form}, {tol:g}, {left:.0e}"]
    row += [f"{1e3 * best[who]:.0f}" for who in ("theirs", "LogisticRank")]
    row += [tables.ratio(value) for value in ratios.values()]
    return [*row, "yes" if widest <= 1.01 * TOLERANCE else f"{widest:.1e}"], ratios


HEADS = ["set", "rows", "columns", "theirs: solver, tol, widest gap", "theirs, ms"]
HEADS += ["LogisticRank, ms", "over theirs", *(f"{name} over cold" for name in RANKERS)]
HEADS += ["certified"]


def section(title: str, rows: list[list[str]], ratios: list[dict[str, float]]) -> str:
    """A table, and the geometric mean and the worst of every ratio beside its aim."""
    lines = [f"## {title}\n", tables.table(HEADS, rows), ""]
    for key in ratios[0]:
        values, aim = [one[key] for one in ratios], AIM_THEIRS if key == "theirs" else AIM_COLD
        what = "LogisticRank over theirs" if key == "theirs" else f"{key} over cold fits"
        mean, worst = tables.geometric_mean(values), max(values)
        verdict = tables.verdict(mean <= aim)
        lines.append(
            f"* {what}: geometric mean {mean:.2f}, worst {worst:.2f}; aim {aim}: {verdict}"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    """Race, and write the page as far as it has come after every set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", help="names, by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    page = "\n".join(["# Cross-validation\n", describe(), "", INTRODUCTION, "", ""])
    for title, kind, names in (("Narrow", "narrow", NARROW), ("Text", "text", TEXT)):
        rows: list[list[str]] = []
        ratios: list[dict[str, float]] = []
        for name in names:
            if asked.sets is not None and name not in asked.sets.split(","):
                continue
            row, found = cell(name, kind, asked.data, asked.repeats)
            print(row, file=sys.stderr, flush=True)
            if row:
                rows.append(row)
                ratios.append(found)
                asked.out.write_text(page + section(title, rows, ratios))
        if rows:
            page += section(title, rows, ratios) + "\n"


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
