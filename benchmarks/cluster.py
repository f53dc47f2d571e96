"""Fits on a cluster of two worker processes beside the same fits in memory, and killed workers.

`python benchmarks/cluster.py --out benchmarks/CLUSTER.md`; `--rows 100000` for a short one, `--only
fits`, `kills` or `others` for one section. The cost model is `cluster_cost.py`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from distributed import get_client

import toprank.dask
from cluster_setup import Killer, bits, here, table, workers
from machine import describe
from tables import table as markdown
from toprank import (
    BBR,
    BBRCV,
    LogExpPush,
    LogisticRank,
    PNormPush,
    RankSVM,
    RectPush,
    RectPushApp,
    TopPush,
)
from toprank.dask import reducer
from toprank.designs.base import resolve_threads

#: Features, parts, and how often a fit is timed.
FEATURES, PARTS, REPEATS = 50, 8, 3
#: Time over that of the fit in memory that sums are to stay below.
AIM = 2.0
#: Kills, each at another moment.
KILLS = 10
#: Seconds without progress after which a fit without workers is to end.
IDLE = 10.0

FITS: dict[str, Callable[[float], Any]] = {
    "BBR": lambda tol: BBR(1e-3),
    "BBRCV": lambda tol: BBRCV(),
    "LogisticRank": lambda tol: LogisticRank(1e-3, tol=tol, random_state=0),
    "RectPushApp, squared hinge": lambda tol: RectPushApp(1e-3, tol=tol),
    "RectPushApp, logistic": lambda tol: RectPushApp(1e-3, loss="logistic", tol=tol),
    "PNormPush": lambda tol: PNormPush(1e-3, tol=tol),
    "LogExpPush": lambda tol: LogExpPush(1e-3, tol=tol, random_state=0),
    "TopPush": lambda tol: TopPush(1e-3, tol=tol),
    "RectPush": lambda tol: RectPush(1e-3, tol=tol),
    "RankSVM, squared hinge": lambda tol: RankSVM(1e-3, loss="squared_hinge", tol=tol),
}
#: Those whose scores come to the driver.
GATHERED = ("RankSVM, squared hinge",)


class Counted:
    """The rounds of sums of a fit, and what they moved."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def __enter__(self) -> Counted:
        self._plain = reducer.Reducer.__init__

        def noted(one: Any, *args: Any) -> None:
            self._plain(one, *args)
            self.all.append(one)

        reducer.Reducer.__init__ = noted  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: Any) -> None:
        reducer.Reducer.__init__ = self._plain  # type: ignore[method-assign]

    @property
    def rounds(self) -> int:
        """How many."""
        return sum(one.rounds for one in self.all)

    def a_round(self, way: str) -> float:
        """Bytes a round, up or down."""
        return sum(getattr(one, way) for one in self.all) / max(self.rounds, 1)


def seconds(fit: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The least of some runs, and what the last gave."""
    times, made = [], None
    for _ in range(repeats):
        began = time.perf_counter()
        made = fit()
        times.append(time.perf_counter() - began)
    return min(times), made


def objective(ranker: Any) -> float:
    return float(ranker.certificate_.primal)


def _fit(of: Callable[[float], Any], X: Any, y: Any) -> Any:
    return of(1e-4).fit(X, y)


def fits(n: int) -> list[str]:
    """Every method beside itself in memory."""
    found = []
    with workers() as client:
        made: dict[float, Any] = {}
        for name, of in FITS.items():
            # With noise the optimum of TopPush is w = 0.
            noise = 0.0 if name == "TopPush" else 0.7
            if noise not in made:
                X, y = table(n, FEATURES, PARTS, noise=noise)
                began = time.perf_counter()
                rows = toprank.dask.design(X)
                labels = client.persist(y)
                client.gather([client.submit(_rows, one) for one in rows.futures])
                print(f"converted in {time.perf_counter() - began:.2f} s", flush=True)
                made = {noise: (rows, labels, *here(n, FEATURES, PARTS, noise=noise))}
            rows, labels, X, y = made[noise]
            repeats = 1 if name in GATHERED else REPEATS
            alone, local = seconds(partial(_fit, of, X, y), repeats)
            with Counted() as counted:
                of(1e-4).fit(rows, labels)
            there, ranker = seconds(partial(_fit, of, rows, labels), repeats)
            again = of(1e-4).fit(rows, labels)
            tight = 1e-6 if name in GATHERED else 1e-10
            off = np.nan
            if name != "BBRCV":  # whose folds are others
                exact, found_there = of(tight).fit(X, y), of(tight).fit(rows, labels)
                off = abs(objective(found_there) / objective(exact) - 1.0)
            ratio = there / alone
            found.append(
                [
                    name,
                    f"{alone:.3f}",
                    f"{there:.3f}",
                    f"{ratio:.1f}",
                    str(counted.rounds),
                    f"{1e3 * there / counted.rounds:.0f}",
                    f"{counted.a_round('bytes_up') / 1e3:.1f}",
                    f"{counted.a_round('bytes_down') / 1e3:.0f}",
                    "-" if np.isnan(off) else f"{off:.0e}",
                    "yes" if bits(ranker) == bits(again) else "NO",
                    "-" if name in GATHERED else "met" if ratio <= AIM else "missed",
                ]
            )
            print(found[-1], local.n_features_in_, flush=True)
    head = ["method", "in memory, s", "cluster, s", "ratio", "rounds", "ms a round"]
    head += ["kB to a part", "kB to the driver", "objective, relative", "same bits", f"<= {AIM:g}"]
    told = _FITS.format(n=n, d=FEATURES, parts=PARTS, threads=resolve_threads(None))
    return ["## Fits", "", told, "", markdown(head, found)]


def _rows(rows: Any) -> int:
    return int(rows.X.shape[0])


def kills(n: int) -> list[str]:
    """A worker killed in the middle of a fit, and all of them."""
    found = []
    with workers() as client:
        X, y = table(n, FEATURES, PARTS)
        for name in ("RectPushApp, squared hinge", "RectPush"):
            ranker = FITS[name](1e-9)
            took, _ = seconds(lambda ranker=ranker: ranker.fit(X, y), 2)
            wanted = bits(ranker)
            for k in range(KILLS // 2):
                client.wait_for_workers(2, timeout=120)
                killer = Killer(client, took * (k + 0.5) / (KILLS // 2))
                killer.start()
                began = time.perf_counter()
                ranker.fit(X, y)
                after = time.perf_counter() - began
                killer.join()
                same = "yes" if bits(ranker) == wanted else "NO"
                found.append([name, f"{killer.after:.2f}", str(killer.killed), f"{took:.2f}"])
                found[-1] += [f"{after:.2f}", same]
                print(found[-1], flush=True)
    head = ["method", "killed after, s", "killed", "fit, s", "with the kill, s", "same bits"]
    lines = ["## Kills", "", _KILLS.format(n=n, d=FEATURES, parts=PARTS), "", markdown(head, found)]
    return [*lines, "", kill_all(n)]


def kill_all(n: int) -> str:
    with workers(nanny=False) as client:
        X, y = table(n, FEATURES, PARTS)
        ranker = FITS["RectPush"](1e-9)
        took, _ = seconds(lambda: ranker.fit(X, y), 2)
        killer = Killer(client, 0.7 * took, everyone=True)
        killer.start()
        began = time.perf_counter()
        try:
            with toprank.dask.options(idle_timeout=IDLE):
                ranker.fit(X, y)
        except toprank.dask.DistributedFitError as error:
            ended, left = time.perf_counter() - began - killer.after, error
        killer.join()
    X, y = here(n, FEATURES, PARTS)
    known = left.solution
    auc = known.score(X, y)
    went_on = known.set_params(warm_start=True).fit(X, y)
    return _ALL.format(
        killed=killer.killed,
        ended=ended,
        idle=IDLE,
        error=str(left),
        gap=known.certificate_.relative_gap if known.n_iter_ else np.nan,
        auc=auc,
        after=went_on.certificate_.relative_gap,
    )


def _fit_there(n: int) -> str:
    get_client()
    X, y = table(n, FEATURES, PARTS)
    return bits(FITS["LogisticRank"](1e-4).fit(X, y))


def others(n: int) -> list[str]:
    """Fits at once, a fit in a task, parts of no row and of one class."""
    lines = ["## Several at once, inside a worker, odd parts", ""]
    with workers() as client:
        X, y = table(n, FEATURES, PARTS)
        names = ["LogisticRank", "RectPush"]
        alone = {name: bits(FITS[name](1e-4).fit(X, y)) for name in names}
        with ThreadPoolExecutor(4) as pool:
            at_once = list(pool.map(lambda name: bits(FITS[name](1e-4).fit(X, y)), 2 * names))
        same = at_once == 2 * [alone[name] for name in names]
        lines.append(f"* four fits at once, two of each: the bits of fits alone: {same}")
        inside = client.submit(_fit_there, n, pure=False).result(timeout=300)
        lines.append(f"* a fit inside a task: the same bits: {inside == alone['LogisticRank']}")
        local, labels = here(n, FEATURES, PARTS)
        order = np.argsort(labels, kind="stable")
        import dask.array as da

        sizes = (0, n // 2, n // 4, n - n // 2 - n // 4)  # the first two have no positive
        odd = da.from_array(local[order], chunks=(sizes[1:], -1))
        odd = da.concatenate([odd[:0], odd])
        for name in names:
            exact = FITS[name](1e-10).fit(local, labels)
            there = FITS[name](1e-10).fit(odd, labels[order])
            off = abs(objective(there) / objective(exact) - 1.0)
            lines.append(f"* {name}, a part of no row and parts of one class: {off:.0e} off")
    print("\n".join(lines), flush=True)
    return lines


_FITS = """{n} rows of {d} features, float32, 2 % positives, {parts} parts on two workers of one
thread, beside the same fit in memory; threads there: {threads}. Rows are converted once
(`toprank.dask.design`); the times are whole fits with their checks of labels, to a certified gap of
1e-4, the least of some runs. Bytes are those of arrays, a round; what goes to a part goes to each.
The objective is held against that in memory with both at a gap of 1e-10 (RankSVM 1e-6)."""
_KILLS = """SIGKILL to the worker that holds most, at moments spread over the fit; a nanny starts it
anew. {n} rows of {d} features in {parts} parts, made on the workers, tolerance 1e-9."""
_ALL = """All {killed} workers killed at once, without nannies: the fit ended {ended:.1f} s after
that, with `idle_timeout` at {idle:g} s: "{error}" `error.solution` has a gap of {gap:.1e} and an
AUC of {auc:.4f} on the rows; a fit in memory that starts from it ends at {after:.0e}."""
SECTIONS = {"fits": fits, "kills": kills, "others": others}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=list(SECTIONS))
    parser.add_argument("--out", type=Path)
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = ["# On a cluster", "", describe(), ""]
    for name, section in SECTIONS.items():
        if wanted.only in (None, name):
            rows = wanted.rows if name == "fits" else wanted.rows // 5
            lines += [*section(rows), ""]
    text = "\n".join(lines)
    print(text)
    if wanted.out:
        wanted.out.write_text(text)


if __name__ == "__main__":
    main()
