"""Two builds of the core side by side: what a change in how it is compiled costs.

    python benchmarks/kernels.py BEFORE AFTER > benchmarks/KERNELS.md

BEFORE and AFTER are folders with the extensions of a build each, such as `build/cp311-...`. Each
build lives in a process of its own; they take turns, kernel by kernel, several pairs of processes
one after the other, and the least processor time of each build counts. What a kernel returns is
compared bit by bit.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import machine
import tables

LEVELS = ("_baseline", "_v3")
LOSSES = [(loss, False) for loss in ("squared_hinge", "hinge", "logistic", "exponential")]
LOSSES += [(loss, True) for loss in ("squared_hinge", "logistic", "exponential")]
ROUNDS = 4  # of a descent, in one timing
MOST_SECONDS = 1.0  # after which a kernel is not timed again in these processes
LEAST_SECONDS = 0.005  # a kernel that takes less is called more often in one timing

INTRODUCTION = """\
Ratios of processor time, after / before: below 1 the new build is faster. "same bits" says whether
both builds returned the same numbers to the last bit. One thread. A sweep is an epoch over all
rows; a round is an epoch, a subspace step, a check, a new list and a pass over the negatives at
their constraint. A fit is the whole estimator with its defaults. Differences of a few
percent are noise."""


def use_core(folder: str, level: str) -> None:
    """Make `toprank._core` of this process the build in `folder`, at this level."""
    for name in LEVELS:
        if name == "_v3" and level != "_v3":
            sys.modules[f"toprank._core.{name}"] = None  # type: ignore[assignment]
            continue
        (path,) = Path(folder).glob(f"{name}.*.so")
        spec = importlib.util.spec_from_file_location(f"toprank._core.{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[f"toprank._core.{name}"] = module


@cache
def data(shape: str) -> tuple[Any, np.ndarray]:
    """Rows and labels: `narrow` and `wide` are dense, `text` is CSR."""
    rng = np.random.default_rng(0)
    rows, columns = {"narrow": (40_000, 10), "wide": (8_000, 200), "text": (8_000, 20_000)}[shape]
    if shape == "text":
        X = sp.random(rows, columns, 60 / columns, "csr", rng=rng, data_rvs=rng.standard_normal)
        X.sort_indices()
        y = np.ravel(X[:, :2000].sum(axis=1))
    else:
        X = rng.standard_normal((rows, columns))
        y = X[:, :5].sum(axis=1)
    return X, (y + rng.standard_normal(rows) > np.quantile(y, 0.9)).astype(int)


@cache
def matrix(shape: str, form: str = "float64") -> Any:
    """The core's view: `float32`, `int64` (indices) or `columns` (Fortran order) if asked for."""
    from toprank._core import Matrix

    X, _ = data(shape)
    dtype = np.float32 if form == "float32" else np.float64
    if not sp.issparse(X):
        return Matrix.dense(np.array(X, dtype, order="F" if form == "columns" else "C"))
    index = np.int64 if form == "int64" else np.int32
    arrays = X.data.astype(dtype), X.indices.astype(index), X.indptr.astype(np.int64)
    return Matrix.csr(*arrays, X.shape[1])


def descent(shape: str, form: str, loss: str, rectified: bool) -> Any:
    """A new dual descent on this matrix."""
    from toprank._core import DualDescent

    _, y = data(shape)
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    p, q = np.full(len(positives), 1 / len(positives)), np.full(len(negatives), 1 / len(negatives))
    return DualDescent(
        matrix(shape, form), positives, negatives, p, q, 1e-3, loss, rectified, seed=0
    )


def sweeps(core: Any) -> Any:
    """Epochs over all rows, then a look at where they led."""
    steps = [core.epoch(np.inf) for _ in range(ROUNDS)]
    return steps, core.check(1), core.best_weights


def rounds(core: Any) -> Any:
    """Rounds as the solver makes them, all parts of the descent together."""
    seen = []
    for _ in range(ROUNDS):
        core.update_bias(core.epoch(0.1))
        core.subspace_step()
        seen.append(core.check(1))
        core.rebuild(seen[-1][2])
        core.sweep_hard(1)
    return seen, core.verify(), core.best_weights


def fit(name: str, shape: str) -> Any:
    """The weights of a fit of this estimator, and its scores."""
    import toprank

    X, y = data(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = getattr(toprank, name)()
        known = {"random_state": 0, "n_threads": 1}.items()
        ranker.set_params(**{key: value for key, value in known if key in ranker.get_params()})
        ranker.fit(X, y)
    return ranker.decision_function(X[:500])


#: Seconds of processor time and the bits that were returned, timing by timing.
Timings = list[tuple[float, str]]

#: A kernel: what is made anew for every timing, and what is timed with it.
Kernel = tuple[Callable[[], Any], Callable[[Any], Any]]


@cache
def kernels() -> dict[str, Kernel]:
    """Every kernel by its name."""
    return dict(every_kernel())


def every_kernel() -> Iterator[tuple[str, Kernel]]:
    """The kernels, each with its name."""
    from toprank import _core

    for shape, form in (
        ("narrow", "float64"), ("wide", "float64"), ("text", "float64"),
        ("narrow", "float32"), ("wide", "float32"), ("text", "float32"), ("text", "int64"),
    ):  # fmt: skip
        for loss, rectified in LOSSES if form == "float64" else LOSSES[:1]:
            of = f"{'rectified ' * rectified}{loss}, {shape} {form}"
            made = lambda s=shape, f=form, lo=loss, r=rectified: descent(s, f, lo, r)  # noqa: E731
            yield f"sweep, {of}", (made, sweeps)
            yield f"round, {of}", (made, rounds)
    for shape, form in (
        ("narrow", "float64"), ("wide", "float64"), ("wide", "columns"), ("text", "float64"),
    ):  # fmt: skip
        X, y = data(shape)
        w, v, some = (
            np.linspace(-1, 1, X.shape[1]),
            np.linspace(-1, 1, len(y)),
            np.arange(0, len(y), 2),
        )
        c = abs(v)
        made = lambda s=shape, f=form: matrix(s, f)  # noqa: E731
        of = f"{shape} {form}"
        yield f"scores, {of}", (made, lambda x, w=w: x.scores(w, None, 1))
        yield f"scores of half the rows, {of}", (made, lambda x, w=w, k=some: x.scores(w, k, 1))
        yield f"pull_back, {of}", (made, lambda x, v=v: x.pull_back(v, None, 1))
        yield f"squared_norms, {of}", (made, lambda x: x.squared_norms(None, 1))
        if shape == "text":
            continue
        group, half = y.astype(np.int32), len(y) // 2
        first, second = np.arange(half), np.arange(half, 2 * half)
        yield f"gram, {of}", (made, lambda x, c=c: x.gram(c, None, 1))
        yield f"group_moments, {of}", (
            made, lambda x, g=group: _core.group_moments(x, g, 2, None, 1))  # fmt: skip
        yield f"weighted group_moments, {of}", (
            made, lambda x, g=group, c=c: _core.group_moments(x, g, 2, c, 1))  # fmt: skip
        yield f"pair_moments, {of}", (
            made, lambda x, i=first, j=second: _core.pair_moments(x, i, j, None, 1))  # fmt: skip
    for name in ("TopPush", "RectPush", "RankSVM", "ASRankSVM", "WSVM", "BBR", "RankBoost"):
        for shape in ("wide", "text") if name not in ("RankSVM", "BBR", "RankBoost") else ("wide",):
            yield (
                f"fit of {name}, {shape}",
                (lambda: None, lambda _, n=name, s=shape: fit(n, s)),
            )


def names() -> list[str]:
    """The names of all kernels."""
    return list(kernels())


def digest(result: Any) -> str:
    """The bits of a number, an array or a nest of them, hashed."""
    if isinstance(result, (tuple, list)):
        return hashlib.sha256("".join(map(digest, result)).encode()).hexdigest()
    return hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()


def timed(name: str) -> tuple[float, str]:
    """Seconds of processor time of one call, and the bits it returned."""
    make, work = kernels()[name]
    calls = 0
    spent = 0.0
    while spent < LEAST_SECONDS:
        given = make()
        began = time.process_time()
        result = work(given)
        spent += time.process_time() - began
        calls += 1
    return spent / calls, digest(result)


def time_all(options: argparse.Namespace, seen: dict[str, tuple[Timings, Timings]]) -> None:
    """Time every kernel, in a new process for each build: where its memory lies matters too."""
    context = multiprocessing.get_context("spawn")
    builds = [
        ProcessPoolExecutor(1, context, initializer=use_core, initargs=(folder, options.level))
        for folder in (options.before, options.after)
    ]
    for name in builds[0].submit(names).result():
        if options.only not in name:
            continue
        timings = seen.setdefault(name, ([], []))
        spent = 0.0
        for repeat in range(options.repeats):
            for k in (0, 1) if repeat % 2 == 0 else (1, 0):
                timings[k].append(builds[k].submit(timed, name).result())
                spent += timings[k][-1][0]
            if spent > MOST_SECONDS:
                break
    for build in builds:
        build.shutdown()


def main() -> None:
    """Time every kernel of both builds and print the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("before", help="a folder with the extensions of one build")
    parser.add_argument("after", help="a folder with those of the other")
    parser.add_argument("--level", choices=LEVELS, default="_v3")
    parser.add_argument("--repeats", type=int, default=6, help="timings of a kernel in one process")
    parser.add_argument(
        "--processes", type=int, default=6, help="pairs of processes, one after the other"
    )
    parser.add_argument("--only", default="", help="kernels whose names have this in them")
    options = parser.parse_args()
    print(
        "# Kernels before and after a change of the build\n\n    python benchmarks/kernels.py",
        end="",
    )
    print(f" BEFORE AFTER --level {options.level} --repeats {options.repeats}", end="")
    print(f" --processes {options.processes}\n")
    print(machine.describe(), end=f"\n\n{INTRODUCTION}\n\n", flush=True)
    seen: dict[str, tuple[Timings, Timings]] = {}
    for process in range(options.processes):
        time_all(options, seen)
        print(f"{process + 1} of {options.processes} pairs of processes", file=sys.stderr)
    rows, ratios = [], []
    for name, both in seen.items():
        before, after = (min(spent for spent, _ in one) for one in both)
        same = len({bits for one in both for _, bits in one}) == 1
        ratios.append(after / before)
        spent = [f"{1e3 * before:.3g}", f"{1e3 * after:.3g}"]
        rows.append([name, *spent, tables.ratio(ratios[-1]), "yes" if same else "no"])
    print(tables.table(["kernel", "ms before", "ms after", "after / before", "same bits"], rows))
    print(f"\nGeometric mean of the ratios: {tables.geometric_mean(ratios):.3f}.")


if __name__ == "__main__":
    main()
