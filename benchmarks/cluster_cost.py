"""What a round of sums costs: constants fitted here, checked at other sizes, and taken further.

`python benchmarks/cluster_cost.py --out benchmarks/CLUSTER_COST.md`. The model, of P parts on W
workers, N rows of d features with z entries each:

    seconds = latency + task P + bytes P / bandwidth + work / W
    work    = N (entry z + row)                    for a pass: value, slopes, gradient
            + kept (square z^2 + ...)              for a Hessian of so many rows
            + N (entry z + row)                    for the highest negatives
            + N (square z^2 + row)                 for moments
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import toprank.dask
from cluster_setup import here, table, workers
from machine import describe
from tables import table as markdown
from toprank import BBR, LogisticRank, RectPush, RectPushApp, TopPush
from toprank.dask import matrix, reducer
from toprank.dask.parts import Labels, Rows, Where
from toprank.designs import Ask, Thinning
from toprank.inputs.class_split import Split
from toprank.losses import ThresholdLoss
from toprank.methods.squared.rows import _moments_of_part
from toprank.surrogates import SURROGATES

#: Sizes the constants are fitted on, and others they are checked at.
FITTED = ((50_000, 10), (100_000, 30), (50_000, 60), (50_000, 100))
CHECKED = ((300_000, 20, 6), (600_000, 40, 12), (200_000, 80, 24))
#: Bytes a second between two machines: 10 Gbit/s.
NETWORK = 1.25e9
#: What a driver adds up, in bytes a second, is measured; so is this machine's own network.
PARTS = (2, 8, 24, 48)
SIZES = (1_000, 100_000, 1_000_000)


def least(run: Any, repeats: int = 5) -> float:
    """The least seconds of some runs."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def _empty(rows: Any, labels: Any, size: int) -> Any:
    return np.zeros(size // 8)


def _added(parts: list[Any]) -> Any:
    total = parts[0].copy()
    for one in parts[1:]:
        total += one
    return total


def rounds() -> dict[str, float]:
    """Latency, seconds a task, and bytes a second of a round, by least squares."""
    lines, seconds = [], []
    with workers() as client:
        for parts in PARTS:
            X, y = table(parts * 10, 2, parts, share=0.5)
            rows = toprank.dask.design(X)
            made = reducer.Reducer(
                client, [(one, one) for one in rows.futures], toprank.dask.settings.Settings()
            )
            for size in SIZES:
                if parts * size > 3e7:
                    continue
                run = lambda made=made, size=size: made(_empty, (size,), _added)  # noqa: E731
                run()
                lines.append([1.0, parts, parts * size])
                seconds.append(least(run, 8))
            del rows, X, y
    weight = 1.0 / np.array(seconds)  # relative errors
    found, *_ = np.linalg.lstsq(np.array(lines) * weight[:, None], np.ones(len(lines)), rcond=None)
    latency, task, byte = np.maximum(found, [1e-3, 1e-5, 1e-11])
    return {"latency": latency, "task": task, "byte": byte}


def kernels() -> dict[str, float]:
    """Seconds an entry, and a row, of what the workers do, by least squares."""
    entries, squares = [], []
    for n, d in FITTED:
        X, y = here(n, d, 1)
        rows, labels = Rows(X), Labels(y == 1, None, Where(0, 0, 0, 0))
        logistic = SURROGATES["logistic"]
        loss = ThresholdLoss(Split.of(y == 1), logistic, logistic)
        w, each = np.full(d, 0.01), (1.0 / y.sum(), 1.0 / (n - y.sum()))

        at = loss, w, 0.1

        def ask(part: Any = (rows, labels), at: Any = at, each: Any = each, **more: Any) -> float:
            made = Ask(*at, **more).alone
            return least(lambda: matrix._sums_of_part(*part, made, each, False))

        one = ask(shift=True, per_length=1e-12)
        both = ask(shift=True, per_length=1e-12, thin=Thinning())
        top = ask(highest=50, only_top=True, per_length=1e-12)
        moments = least(lambda rows=rows, labels=labels: _moments_of_part(rows, labels, 1))
        entries.append((n, n * d, one, top))
        squares.append((n, n * d * d, both - one, moments))
    found = {}
    for name, data, column in (
        ("pass", entries, 2),
        ("highest", entries, 3),
        ("gram", squares, 2),
        ("moments", squares, 3),
    ):
        table_ = np.array(data)
        weight = 1.0 / table_[:, column]
        fit, *_ = np.linalg.lstsq(table_[:, :2] * weight[:, None], np.ones(len(table_)), rcond=None)
        found[f"{name} row"], found[f"{name} entry"] = np.maximum(fit, [0.0, 1e-12])
    return found


class Model:
    """Seconds of a round from the constants."""

    def __init__(self, constants: dict[str, float], bandwidth: float | None = None) -> None:
        self.of = constants
        self.byte = constants["byte"] if bandwidth is None else 1.0 / bandwidth

    def work(self, kind: str, n: float, d: float, kept: float) -> float:
        """Seconds of all rows on one core."""
        of = self.of
        if kind == "small":
            return 0.0
        if kind == "moments":
            return n * of["moments row"] + n * d * d * of["moments entry"]
        base = "highest" if kind == "highest" else "pass"
        work = n * of[f"{base} row"] + n * d * of[f"{base} entry"]
        return work + kept * (of["gram row"] + d * d * of["gram entry"])

    def driver(self, parts: float, size: float) -> float:
        """Seconds in which the driver, and what is before it, submits and takes in."""
        return self.of["latency"] + parts * (self.of["task"] + size * self.byte)

    def seconds(
        self, kind: str, n: float, d: float, kept: float, parts: float, size: float, count: float
    ) -> float:
        """Of one round."""
        return self.driver(parts, size) + self.work(kind, n, d, kept) / count


def seen(fit: Any) -> tuple[list[tuple[str, float, float]], float]:
    """The rounds of a fit: kind, rows of its Hessian, bytes of a part; and its seconds."""
    found: list[tuple[str, float, float]] = []
    plain = reducer.Reducer.__call__

    def noted(self: Any, kernel: Any, args: Any, *more: Any, **others: Any) -> Any:
        before = self.bytes_down
        out = plain(self, kernel, args, *more, **others)
        kind, kept = "small", 0.0
        if kernel.__name__ == "_moments_of_part":
            kind = "moments"
        elif kernel.__name__ == "_sums_of_part":
            kind = "highest" if args[0].only_top else "pass"
            kept = float(out[0].kept)
        found.append((kind, kept, (self.bytes_down - before) / len(self.parts)))
        return out

    reducer.Reducer.__call__ = noted  # type: ignore[method-assign]
    try:
        began = time.perf_counter()
        fit()
        return found, time.perf_counter() - began
    finally:
        reducer.Reducer.__call__ = plain  # type: ignore[method-assign]


#: TopPush where the positives do not fit into the driver.
SUMMED = "TopPush by sums"
FITS = {
    "BBR": (lambda: BBR(1e-3), 0.7),
    "LogisticRank": (lambda: LogisticRank(1e-3, random_state=0), 0.7),
    "RectPushApp": (lambda: RectPushApp(1e-3), 0.7),
    "TopPush": (lambda: TopPush(1e-3), 0.0),
    SUMMED: (lambda: TopPush(1e-3), 0.0),
    "RectPush": (lambda: RectPush(1e-3), 0.7),
}


def _fit(of: Any, X: Any, y: Any) -> Any:
    return of().fit(X, y)


def checks(model: Model) -> tuple[str, dict[str, Any]]:
    """Whole fits at sizes that nothing was fitted on, and the rounds they took."""
    lines, kinds = [], {}
    with workers() as client:
        for n, d, parts in CHECKED:
            for name, (of, noise) in FITS.items():
                X, y = table(n, d, parts, noise=noise)
                rows, labels = toprank.dask.design(X), client.persist(y)
                matrix.COPIED_BYTES = 0 if name == SUMMED else 1 << 28
                of().fit(rows, labels)
                runs = [seen(partial(_fit, of, rows, labels)) for _ in range(3)]
                took, measured = min(runs, key=lambda run: run[1])
                told = sum(model.seconds(k, n, d, kept, parts, size, 2) for k, kept, size in took)
                lines.append(
                    [
                        f"{n} x {d}, {parts} parts",
                        name,
                        str(len(took)),
                        f"{measured:.2f}",
                        f"{told:.2f}",
                        f"{measured / told:.1f}",
                    ]
                )
                print(lines[-1], flush=True)
                kinds[name] = took, n
    head = ["size", "method", "rounds", "measured, s", "model, s", "measured / model"]
    return markdown(head, lines), kinds


def on_paper(constants: dict[str, float], kinds: dict[str, Any]) -> str:
    """Fits of more rows on more workers, by the model, on a network of 10 Gbit/s."""
    model, lines = Model(constants, NETWORK), []
    fan_in, d = 8, 50
    for n, count, parts in ((1e7, 10, 20), (1e8, 100, 200), (1e9, 100, 1000), (1e9, 1000, 2000)):
        for d in (50, 500):
            for name, (took, _) in kinds.items():
                if name == "TopPush" and 0.02 * n * 8 * d > matrix.COPIED_BYTES:
                    continue  # its positives do not fit
                flat = tree = work = 0.0
                for kind, kept, size in took:
                    # A thinned Hessian keeps its rows; a whole one has all.
                    whole = kept > 0.5 * kinds[name][1]
                    rows = n if whole else kept
                    if name == SUMMED and kept:
                        rows = 0.02 * n
                    sent = {"moments": 16.0 * d * d, "highest": 50 * (16.0 + 8 * d)}.get(
                        kind, 24.0 * d + (8.0 * d * d if kept else 0.0)
                    )
                    sent = size if kind == "small" else sent
                    work += model.work(kind, n, d, rows) / count
                    flat += model.driver(parts, sent)
                    levels = np.ceil(np.log(parts) / np.log(fan_in))
                    # Sums on workers: their tasks cost the scheduler, their bytes not the driver.
                    tree += model.of["latency"] * levels + parts * (8 / 7) * model.of["task"]
                    tree += levels * fan_in * sent * model.byte
                lines.append(
                    [
                        f"{n:.0e}",
                        str(d),
                        str(count),
                        str(parts),
                        name,
                        f"{work:.1f}",
                        f"{flat:.1f}",
                        f"{tree:.1f}",
                        f"{flat / (flat + work):.0%}",
                    ]
                )
    head = ["rows", "d", "workers", "parts", "method", "work, s", "driver, s"]
    return markdown([*head, "driver with a tree, s", "share of the driver"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    constants = {**rounds(), **kernels()}
    print(constants, flush=True)
    measured = markdown(
        ["constant", "seconds"], [[name, f"{value:.2e}"] for name, value in constants.items()]
    )
    checked, kinds = checks(Model(constants))
    text = "\n".join(
        [
            "# What a fit on a cluster costs",
            "",
            describe(),
            "",
            _MODEL,
            "",
            "## Constants, fitted here",
            "",
            measured,
            "",
            "## Checked at other sizes",
            "",
            _CHECKED,
            "",
            checked,
            "",
            "## On paper",
            "",
            _PAPER,
            "",
            on_paper(constants, kinds),
            "",
        ]
    )
    print(text)
    if wanted.out:
        wanted.out.write_text(text)


_MODEL = """A round of P parts on W workers takes

    latency + P (task + bytes / bandwidth) + work / W

seconds: the driver submits P tasks and takes in P results, and the workers read the rows. The work
is N (row + entry d) for a pass, and for the highest negatives; N (row + entry d^2) for moments; and
that of the rows which a Hessian is made of, with its own constants, where there is one. Of CSR
rows d is the entries of a row. `byte` is the inverse of this machine's own bandwidth between its
processes, adding up included."""
_CHECKED = """Whole fits on two workers, at sizes that no constant was fitted on: the rounds they
took, the seconds of the fastest of three, and the sum of the model over those rounds. The constants
are the least of several runs, and the driver's own algebra, on samples and active sets, is not in
the model: it is a bound from below."""
_PAPER = """The same rounds with more rows on more workers, on a network of 10 Gbit/s. Samples and
thinned Hessians keep their rows; whole Hessians have all. The driver's part is what more workers do
not lessen. The tree adds partial sums on the workers, eight at a time."""


if __name__ == "__main__":
    main()
