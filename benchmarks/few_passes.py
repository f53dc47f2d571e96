"""Smooth losses in few passes beside scikit-learn's fastest logistic regression.

`python benchmarks/few_passes.py --data FOLDER --out benchmarks/FEW_PASSES.md`; one section of it by
`--only narrow`, `text`, `gaps` or `threads`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import tables
from data import from_file, scaled
from few_passes_more import gaps, threads
from machine import describe
from toprank import LogisticRank, PNormPush, RankSVM, RectPush, RectPushApp, TopPush

NARROW = ["magic", "bank", "a9a", "shuttle", "ijcnn1", "w8a", "nsl-kdd", "connect-4", "covtype"]
NARROW += ["census-income", "made-1e5", "made-1e6", "made-2e6"]
TEXT = ["sms-spam", "rcv1-small", "farm-ads", "reuters-acq", "news20-forsale"]
ALPHAS = (1e-2, 1e-4, 1e-6)
TOLERANCE = 1e-4
MOST_ROWS = 200_000
#: Solvers and what they are given; liblinear takes float64 only.
SOLVERS = {
    "lbfgs": ("f4", "f8"),
    "newton-cholesky": ("f4", "f8"),
    "newton-cg": ("f4",),
    "saga": ("f4",),
    "liblinear": ("f8",),
    "liblinear-dual": ("f8",),
}
#: Their tolerances, the loosest first: the first that is good enough is theirs.
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
#: Above this many rows only those two are in the race, for time's sake.
MANY_ROWS, FOR_MANY = 500_000, ("lbfgs", "newton-cholesky")
#: A solver that took so many times as long as the best one so far is out.
OUT_OF_THE_RACE = 1.5
#: A contender that has taken so many seconds is not timed again.
LONG = 2.0
#: Ours, in the order of the table, and the prototype.
OURS = ["LogisticRank", "prototype", "RectPushApp", "PNormPush", "TopPush", "RectPush", "RankSVM"]
#: The aims: geometric mean and worst cell, narrow and then text.
AIMS = {
    "LogisticRank": ((0.25, 1.0), (0.4, 1.0)),
    "RectPushApp": ((0.4, 1.5), (0.6, 1.5)),
    "PNormPush": ((0.4, 1.5), (0.6, 1.5)),
    "RankSVM": ((0.4, 1.5), (0.6, 1.5)),
    "TopPush": ((0.5, 1.5), (0.5, 1.5)),
    "RectPush": ((0.5, 1.5), (0.5, 1.5)),
}
#: Cells of whole fits below so many seconds may be above 1, for LogisticRank.
SMALL = 5e-3

INTRODUCTION = """\
Whole fits with all checks, one thread, to a certified relative gap of 1e-4: `LogisticRank`, the
same problem as scikit-learn's `LogisticRegression` at C = 1 / (alpha N), and `RectPushApp` and
`PNormPush`, p = 4, `TopPush`, `RectPush` and `RankSVM`, squared hinge, on float32 and float64.
scikit-learn's is the fastest of lbfgs, newton-cholesky, newton-cg, saga and liblinear, primal and
dual, on either type, each at its loosest `tol`, by decades, that ends within the same gap; of made
sets of a million rows lbfgs and newton-cholesky only. The prototype checks nothing of its input,
and certifies nothing in float64. CPU milliseconds, the least of repeats that take turns; ratios are
our time over scikit-learn's, f4 and f8 the type of what we are given. Sets of more than 200 000
rows are cut to these."""


def load(name: str, folder: Path) -> tuple[Any, Any] | None:
    """Rows of length one, or made ones, and labels 0 and 1."""
    if name.startswith("made-"):
        rng, n, d = np.random.default_rng(0), int(float(name[5:])), 30
        X = rng.normal(size=(n, d)).astype(np.float32)
        z = X @ (rng.normal(size=d) / np.sqrt(d)) + 0.8 * rng.logistic(size=n)
        return X, (z > np.quantile(z, 0.95)).astype(int)
    found = from_file(name)(folder)
    if found is None:
        return None
    X, y = found
    y = (y == y.max()).astype(int)
    if X.shape[0] > MOST_ROWS:
        rows = np.random.default_rng(0).permutation(X.shape[0])[:MOST_ROWS]
        X, y = X[rows], y[rows]
    return scaled(X), y


def gap(X: Any, y: Any, alpha: float, w: Any, b: float) -> float:
    """|g|^2 / (2 alpha) over the objective, at the best b, in float64."""
    s, sign = np.asarray(X @ w).ravel().astype(float), 2.0 * y - 1.0
    for _ in range(60):
        p = expit(s + b)
        step = np.clip(np.mean(p - y) / max(np.mean(p * (1 - p)), 1e-300), -2, 2)
        b -= step
        if abs(step) < 1e-13 * max(1.0, abs(b)):
            break
    v = (expit(s + b) - y) / len(y)
    gradient = alpha * w + np.asarray(X.T @ v).ravel()
    value = 0.5 * alpha * w @ w + np.mean(np.logaddexp(0.0, -sign * (s + b)))
    return float(gradient @ gradient) / (2.0 * alpha) / float(value)


def peer(solver: str, alpha: float, n: int, tol: float) -> LogisticRegression:
    """Their estimator of the same problem."""
    dual = {"dual": True} if solver == "liblinear-dual" else {}
    name = "liblinear" if dual else solver
    return LogisticRegression(C=1 / (alpha * n), solver=name, tol=tol, max_iter=3000, **dual)


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """The processor's seconds, and what came of it."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def fastest(forms: dict[str, Any], y: Any, alpha: float) -> tuple[str, str, float] | None:
    """The solver, the type and the tolerance that are good enough in the least time."""
    X, best, found = forms["f8"], np.inf, None
    for solver, types in SOLVERS.items():
        if X.shape[0] > MANY_ROWS and solver not in FOR_MANY:
            continue
        if solver == "newton-cholesky" and X.shape[1] > 1000:
            continue
        for kind in types:
            for tol in TOLERANCES:
                fit = peer(solver, alpha, len(y), tol)
                seconds, _ = cpu(lambda fit=fit, kind=kind: fit.fit(forms[kind], y))
                if gap(X, y, alpha, fit.coef_[0].astype(float), fit.intercept_[0]) <= TOLERANCE:
                    if seconds < best:
                        best, found = seconds, (solver, kind, tol)
                    break
                if seconds > OUT_OF_THE_RACE * best:
                    break
    return found


def contenders(alpha: float, n: int, theirs: tuple[str, str, float]) -> dict[str, Any]:
    """Who takes turns: a name, and how to make an estimator."""
    solver, _, tol = theirs
    common = {"alpha": alpha, "tol": TOLERANCE, "n_threads": 1}
    return {
        "theirs": lambda: peer(solver, alpha, n, tol),
        "LogisticRank": lambda: LogisticRank(**common, random_state=0),
        "RectPushApp": lambda: RectPushApp(**common, p=4),
        "PNormPush": lambda: PNormPush(**common, p=4),
        "TopPush": lambda: TopPush(**common),
        "RectPush": lambda: RectPush(**common),
        "RankSVM": lambda: RankSVM(**common, loss="squared_hinge"),
    }


def cell(
    name: str, forms: dict[str, Any], y: Any, alpha: float, repeats: int, prototype: Any
) -> tuple[list[str], dict[str, float]] | None:
    """One row of the table, and its ratios."""
    theirs = fastest(forms, y, alpha)
    if theirs is None:
        return None
    makers = contenders(alpha, len(y), theirs)
    runs: dict[str, Callable[[], Any]] = {}
    for who, make in makers.items():
        for kind in (theirs[1],) if who == "theirs" else ("f4", "f8"):
            key = who if who == "theirs" else f"{who} {kind}"
            runs[key] = lambda make=make, kind=kind: make().fit(forms[kind], y)
    if prototype is not None:
        for kind in ("f4", "f8"):
            runs[f"prototype {kind}"] = lambda kind=kind: prototype(forms[kind], y, alpha)
    best, spent = dict.fromkeys(runs, np.inf), dict.fromkeys(runs, 0.0)
    uncertified, passes = set(), 0.0
    for _ in range(repeats):
        for key, run in runs.items():
            if spent[key] > LONG:
                continue
            seconds, fit = cpu(run)
            best[key], spent[key] = min(best[key], seconds), spent[key] + seconds
            if hasattr(fit, "certificate_") and not fit.certificate_.holds(TOLERANCE):
                uncertified.add(key)
            if key == "LogisticRank f4":
                passes = float(fit.history_["passes"][-1])
    ratios = {key: value / best["theirs"] for key, value in best.items() if key != "theirs"}
    n, d = forms["f8"].shape
    shown = [
        " ".join(tables.ratio(ratios[f"{who} {kind}"]) for kind in ("f4", "f8"))
        if f"{who} f4" in ratios
        else "-"
        for who in OURS
    ]
    ours = best["LogisticRank f4"]
    small = max(best[f"LogisticRank {kind}"] for kind in ("f4", "f8")) < SMALL
    row = [name, str(n), str(d), tables.exponent(alpha), f"{' '.join(theirs[:2])}"]
    row += [f"{1e3 * best['theirs']:.1f}", f"{1e3 * ours:.2f}", f"{1e6 * ours / n:.3f}"]
    row += [f"{passes:.1f}", *shown, ", ".join(sorted(uncertified)) or "all"]
    return row, {**ratios, "small": float(small)}


HEADS = ["set", "rows", "columns", "alpha", "fastest of theirs", "theirs, ms", "LogisticRank, ms"]
HEADS += ["us a row", "passes", *(f"{who} f4 f8" for who in OURS), "certified, but for"]


def prototypes(folder: Path | None) -> tuple[Any, Any]:
    """The prototype's two functions, where it is compiled at hand."""
    if folder is None or not (folder / "fp.so").exists():
        return None, None
    sys.path.insert(0, str(folder))
    import fewpass

    return fewpass.fit_narrow, fewpass.fit_text


def section(title: str, rows: list[list[str]], ratios: list[dict[str, float]]) -> str:
    """A table, and the geometric mean and the worst of every ratio beside what was aimed at."""
    lines, verdicts = [f"## {title}\n", tables.table(HEADS, rows), ""], []
    for key in ratios[0]:
        who = key.split()[0]
        if who == "small":
            continue
        values = [one[key] for one in ratios if key in one]
        mean, aim, worst = tables.geometric_mean(values), "-", "-"
        counted = values
        if who == "LogisticRank":  # small fits may be slower
            counted = [one[key] for one in ratios if not one["small"]] or [0.0]
        if who in AIMS:
            most, largest = AIMS[who][title != "Narrow"]
            aim = f"{most:g}: {tables.verdict(mean <= most)}"
            worst = f"{largest:g}: {tables.verdict(max(counted) <= largest)}"
        verdicts.append([key, f"{mean:.2f}", aim, f"{max(values):.2f}", worst])
    heads = ["whose, on what", "geometric mean", "aim", "worst", "aim"]
    return "\n".join([*lines, tables.table(heads, verdicts), ""])


def race(title: str, names: list[str], prototype: Any, asked: argparse.Namespace) -> str:
    """A section of whole fits beside their fastest."""
    rows: list[list[str]] = []
    ratios: list[dict[str, float]] = []
    for name in names:
        if asked.sets is not None and name not in asked.sets.split(","):
            continue
        found = load(name, asked.data)
        if found is None:
            continue
        X, y = found
        forms = {"f4": X.astype(np.float32), "f8": X.astype(np.float64)}
        for alpha in ALPHAS:
            told = cell(name, forms, y, alpha, asked.repeats, prototype)
            print(name, alpha, told and told[0], file=sys.stderr, flush=True)
            if told is not None:
                rows.append(told[0])
                ratios.append(told[1])
    return section(title, rows, ratios) if rows else ""


def main() -> None:
    """Race, and write the page as far as it has come after every section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", help="names, by commas")
    parser.add_argument("--only", help="sections, by commas: narrow, text, gaps, threads")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--prototype", type=Path, help="a folder with fewpass.py and fp.so")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    narrow, text = prototypes(asked.prototype)
    sections: dict[str, Callable[[], str]] = {
        "narrow": lambda: race("Narrow", NARROW, narrow, asked),
        "text": lambda: race("Text", TEXT, text, asked),
        "gaps": lambda: gaps(lambda name: load(name, asked.data)),
        "threads": lambda: threads(lambda name: load(name, asked.data)),
    }
    wanted = list(sections) if asked.only is None else asked.only.split(",")
    if strange := set(wanted) - set(sections):
        parser.error(f"There is no section {', '.join(sorted(strange))}.")
    page = "\n".join(["# Few passes\n", describe(), "", INTRODUCTION, "", ""])
    for name in wanted:
        page += sections[name]() + "\n"
        asked.out.write_text(page.rstrip() + "\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
