"""How often promises about a new list are kept, on real rows and made ones; what they cost."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import data
import tables
from options import Options
from toprank import LogisticRank, RankSVM
from toprank.exceptions import GuaranteeWarning
from toprank.guarantees import HeadBound
from toprank.guarantees.bounds import envelope
from toprank.guarantees.selector import scores_of

CAVEATS = """\
* A promise is kept on a list if the bound holds at every k of it. Nominal: 95 %; with 300 lists the
  standard error is 1.3 points.
* One model a set is fitted on a third of the rows; the rest is split at random 300 times into
  calibration rows and a list. All splits are of the same rows, so the lists are not independent.
* "rare" is made: 30 columns of heavy tails, 0.5 % positives, as frauds are among card payments; no
  such set is at hand.
* Seconds are of the processor, one thread."""

MODELS: dict[str, Any] = {
    "LogisticRegression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "LogisticRank": lambda: make_pipeline(StandardScaler(), LogisticRank(random_state=0)),
    "RankSVM": lambda: make_pipeline(StandardScaler(), RankSVM(random_state=0)),
    "boosted trees": lambda: HistGradientBoostingClassifier(random_state=0),
}
#: Calibration rows, rows of the list, and the k that is shown.
SIZES = {
    "mammography": (4000, 2000, 60),
    "spambase": (1500, 800, 250),
    "bank": (6000, 3000, 300),
    "rare": (6000, 3000, 20),
}
#: Calibration rows and rows of a list whose envelope is timed, with the aim in seconds.
TIMED = (
    (1_000, 1_000, None),
    (10_000, 10_000, None),
    (100_000, 10_000, 0.5),
    (2_000, 100_000, 1.0),
)


def report(options: Options) -> str:
    """Coverage on real rows, what breaks a promise, how many rows it needs, what it costs."""
    lists = 20 if options.quick else 300
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        parts = [
            _real(options, lists),
            _broken(options, lists),
            _rows_needed(options, lists // 2),
            _cost(options),
        ]
    return "\n\n".join(parts)


def _sets(options: Options) -> dict[str, tuple[Any, Any]]:
    found = {"rare": _rare()}
    for source in data.SOURCES:
        if source.name in SIZES and (options.names is None or source.name in options.names):
            raw = source.read(options.folder)
            if raw is not None:
                found[source.name] = raw
    return {name: found[name] for name in SIZES if name in found}


def _rare() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (rng.random(40_000) < 0.005).astype(int)
    X = rng.standard_t(3, size=(40_000, 30))
    X[:, :6] += 2.5 * y[:, np.newaxis]
    return X, y


def _kept(truth: Any, statement: Any) -> bool:
    return bool((np.cumsum(truth[statement.order]) >= statement.lower()).all())


def _real(options: Options, lists: int) -> str:
    rows = []
    for name, (X, y) in _sets(options).items():
        n, size, k = SIZES[name]
        rng = np.random.default_rng(0)
        order = rng.permutation(len(y))
        train, rest = order[: len(y) // 3], order[len(y) // 3 :]
        for label, make in MODELS.items():
            options.tell(f"{name}, {label}")
            model = make().fit(X[train], y[train])
            scores = scores_of(model, X[rest])[0]
            rows.append([name, label, *_coverage(scores, y[rest] > 0, n, size, k, lists)])
    heads = [
        "set",
        "model",
        "positives in the first k",
        "kept",
        "bound at k",
        "one k: kept",
        "bound",
    ]
    heads += ["rows: kept", "bound", "upper: kept", "a third of the positives: kept", "rows: kept"]
    return f"## On real rows\n\n{lists} lists each.\n\n" + tables.table(heads, rows)


def _coverage(scores: Any, y: Any, n: int, size: int, k: int, lists: int) -> list[str]:
    rng = np.random.default_rng(1)
    figures = []
    for _ in range(lists):
        order = rng.permutation(len(y))
        cal, new = order[:n], order[n : n + size]
        plain = HeadBound().fit(y[cal], scores[cal]).of(scores[new])
        rows = HeadBound(assume="rows").fit(y[cal], scores[cal]).of(scores[new])
        truth = np.cumsum(y[new][plain.order])
        # Two thirds of the list's positives are taken away.
        fewer = new[~y[new] | (rng.random(size) < 1 / 3)]
        thin = HeadBound().fit(y[cal], scores[cal]).of(scores[fewer])
        thin_rows = HeadBound(assume="rows").fit(y[cal], scores[cal]).of(scores[fewer])
        figures.append(
            [
                truth[k - 1],
                _kept(y[new], plain),
                plain.lower(k),
                truth[k - 1] >= plain.lower_at(k),
                plain.lower_at(k),
                _kept(y[new], rows),
                rows.lower(k),
                (truth <= rows.upper()).all(),
                _kept(y[fewer], thin),
                _kept(y[fewer], thin_rows),
            ]
        )
    means, counts = np.mean(figures, axis=0), (0, 2, 4, 6)
    return [f"{mean:.1f}" if i in counts else f"{mean:.3f}" for i, mean in enumerate(means)]


def _broken(options: Options, lists: int) -> str:
    options.tell("what breaks it")
    rows = []
    for name, drift, group, correlation in (
        ("nothing", 0.0, 1, 0.0),
        ("negatives 0.1 deviations higher", 0.1, 1, 0.0),
        ("0.2", 0.2, 1, 0.0),
        ("0.4", 0.4, 1, 0.0),
        ("clusters of 5, correlation .5", 0.0, 5, 0.5),
        ("clusters of 5, correlation .95", 0.0, 5, 0.95),
        ("clusters of 20, correlation .5", 0.0, 20, 0.5),
        ("clusters of 20, correlation .95", 0.0, 20, 0.95),
    ):
        rng, figures = np.random.default_rng(2), []
        for _ in range(lists):
            y, s = _made(rng, 2100, group, correlation)
            hidden, new = _made(rng, 1000, group, correlation)
            statement = HeadBound().fit(y, s).of(new + drift * ~hidden)
            truth = np.cumsum(hidden[statement.order])
            at_one = truth[49] >= statement.lower_at(50)
            figures.append([_kept(hidden, statement), at_one, statement.check(warn=False) < 0.01])
        rows.append([name, *(f"{value:.2f}" for value in np.mean(figures, axis=0))])
    heads = ["what happens", "kept at every k", "kept at one k = 50", "check() warns"]
    setting = f"2100 calibration rows, lists of 1000, 5 % positives, {lists} lists each."
    return f"## What breaks it\n\n{setting}\n\n{tables.table(heads, rows)}"


def _made(rng: Any, n: int, group: int, correlation: float) -> tuple[Any, Any]:
    y = rng.random(n) < 0.05
    common = np.repeat(rng.normal(size=-(-n // group)), group)[:n]
    own = rng.normal(size=n)
    return y, np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own + 2.5 * y


def _rows_needed(options: Options, lists: int) -> str:
    options.tell("how many rows")
    rows = []
    for n0 in (100, 300, 1000, 3000, 30_000):
        rng, figures = np.random.default_rng(3), []
        for _ in range(lists):
            n = int(n0 / 0.95)
            y, s = _made(rng, n, 1, 0.0)
            _, new = _made(rng, 1000, 1, 0.0)
            free, known = (HeadBound(k_max=k).fit(y, s).of(new) for k in (None, 100))
            figures.append([free.lower(50), known.lower(50), free.lower_at(50), free.min_k])
        rows.append([f"{n0:,}", *(f"{value:.1f}" for value in np.mean(figures, axis=0))])
    heads = ["calibration negatives", "any k", "any k up to 100", "one k", "least k with a promise"]
    setting = f"The mean bound at k = 50 of lists of 1000 rows, {lists} lists each."
    return f"## How many calibration rows\n\n{setting}\n\n{tables.table(heads, rows)}"


def _cost(options: Options) -> str:
    rows = []
    for n, m, aim in TIMED:
        options.tell(f"envelope of {n} and {m}")
        envelope.cache_clear()
        began = time.process_time()
        envelope(n, m, 0.05, upper=True, last=(n + 1) // 2 + 1)
        taken = time.process_time() - began
        reached = "" if aim is None else f"{aim:g}: {tables.verdict(taken <= aim)}"
        rows.append([f"{n:,}", f"{m:,}", tables.seconds(taken), reached])
    heads = ["calibration negatives", "rows of the list", "s", "aim"]
    return "## Cost of an envelope\n\n" + tables.table(heads, rows)
