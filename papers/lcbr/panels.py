"""Figure 1, panels (a) to (i): phi-risk, AUC and time against the number of pairs."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator

import numpy as np

from common.pages import digits, table, write_page
from common.rows import Row, chosen, mean
from common.tasks import watched
from figures import draw_panels
from mixture import RADIUS, Mixture
from remarks import PANEL_TIMES, PANELS, PANELS_HOLD
from repetitions import REPETITIONS, repetitions_of
from toprank import BBR, LCBR
from toprank._core import pair_moments
from toprank.designs import DenseDesign
from toprank.methods.squared.moments import ClassMoments

SETTINGS = ((1, 2.0), (2, 3.0), (3, 4.0))
SIZES = (100, 200, 500, 1000, 2000, 3000, 4000, 5000)
SHOWN = (500, 1000, 3000, 5000)
ARGUMENTS = (REPETITIONS,)


def measure(args: Namespace) -> list[Row]:
    """A row a fit; and the times."""
    rows = [
        row
        for components, sigma in watched(SETTINGS, "K = {0[0]}, sigma = {0[1]:g}".format)
        for repetition in range(repetitions_of(args))
        for row in _one(components, sigma, args.seed + repetition)
    ]
    return rows + [row for K, sigma in SETTINGS for row in _times(K, sigma, args.seed)]


def _one(components: int, sigma: float, seed: int) -> Iterator[Row]:
    mixture = Mixture.draw(components, sigma, seed)

    def row(method: str, w: np.ndarray, n_pairs: int = 0) -> Row:
        found = {"components": components, "method": method, "n_pairs": n_pairs}
        return {**found, "risk": mixture.risk(w), "auc": mixture.auc(w)}

    yield row("optimum", mixture.best())
    yield row("BBR", BBR(radius=RADIUS).fit(mixture.X, mixture.y).coef_[0])
    for sampling in ("uniform", "matched"):
        for size in SIZES:
            ranker = LCBR(radius=RADIUS, n_pairs=size, sampling=sampling, random_state=seed)
            yield row(sampling, ranker.fit(mixture.X, mixture.y).coef_[0], size)
    ratio = mixture.likelihood_ratio_auc(seed)
    yield {**row("optimum", mixture.best()), "method": "likelihood ratio", "auc": ratio}


def _times(components: int, sigma: float, seed: int) -> Iterator[Row]:
    """Milliseconds of one thread: the sums alone, by the same kernel; the best of several."""
    mixture = Mixture.draw(components, sigma, seed)
    design, positive = DenseDesign(mixture.X, 1), mixture.y == 1
    above, below = np.flatnonzero(positive), np.flatnonzero(~positive)
    rng = np.random.default_rng(seed)

    def sums(first: np.ndarray, second: np.ndarray) -> Callable[[], object]:
        return lambda: pair_moments(design.matrix, first, second, None, 1)

    def row(method: str, n_pairs: int, work: Callable[[], object], times: int) -> Row:
        found = {"components": components, "method": method, "n_pairs": n_pairs}
        return {**found, "ms": _best(work, times)}

    for size in SIZES:
        yield row("LCBR", size, sums(rng.choice(above, size), rng.choice(below, size)), 50)
    every = np.repeat(above, len(below)), np.tile(below, len(above))
    yield row("all pairs", len(above) * len(below), sums(*every), 3)
    yield row("BBR", 0, lambda: ClassMoments.of(design, positive), 50)


def _best(work: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return 1e3 * min(taken)


def report(rows: list[Row], args: Namespace) -> None:
    """The page and the figure."""
    fits, times = [r for r in rows if "auc" in r], [r for r in rows if "ms" in r]
    draw_panels(fits, times, args.out / "figure1")
    lines, ahead = [], {"bbr": 0.0, "lcbr": 0.0}
    for components, sigma in SETTINGS:
        own = chosen(fits, components=components)
        aucs = {name: mean(own, "auc", method=name) for name in ("optimum", "BBR")}
        third = mean(own, "auc", method="uniform", n_pairs=3000)
        ahead["bbr"] = max(ahead["bbr"], aucs["optimum"] - aucs["BBR"])
        ahead["lcbr"] = max(ahead["lcbr"], aucs["BBR"] - third)
        for sampling in ("uniform", "matched"):
            cells = [_cell(own, method=sampling, n_pairs=size) for size in SHOWN]
            levels = [_cell(own, method=name) for name in ("optimum", "BBR")]
            best = digits(mean(own, "auc", method="likelihood ratio"), 3)
            lines.append([f"{components}, {sigma:g}", sampling, *levels, *cells, best])
    header = ["K, sigma", "draws", "optimum", "BBR", *(f"LCBR {size}" for size in SHOWN)]
    write_page(
        args.out / "panels.md",
        "# Figure 1, panels (a) to (i)",
        PANELS.format(times=len(chosen(fits, method="BBR", components=1))),
        table([*header, "likelihood ratio"], lines),
        "![Figure 1](figure1.svg)",
        "## Time",
        PANEL_TIMES,
        table(
            ["K", "all pairs", "LCBR 5000", "BBR", "all pairs / LCBR", "LCBR / BBR"],
            [_time_line(times, components) for components, _ in SETTINGS],
        ),
        "## What holds",
        PANELS_HOLD.format(**ahead, slower=_slower(times)),
    )


def _slower(times: list[Row]) -> float:
    """How many times as long LCBR's sums take."""
    lcbr = [r["ms"] for r in times if (r["method"], r["n_pairs"]) == ("LCBR", 5000)]
    return float(np.median(lcbr) / np.median([r["ms"] for r in times if r["method"] == "BBR"]))


def _cell(rows: list[Row], **wanted: object) -> str:
    return f"{digits(mean(rows, 'risk', **wanted))} / {digits(mean(rows, 'auc', **wanted))}"


def _time_line(times: list[Row], components: int) -> list[str]:
    own = chosen(times, components=components)
    pairs, bbr = mean(own, "ms", method="all pairs"), mean(own, "ms", method="BBR")
    lcbr = mean(own, "ms", method="LCBR", n_pairs=5000)
    figures = [f"{pairs:.1f}", f"{lcbr:.3f}", f"{bbr:.3f}"]
    return [str(components), *figures, f"{pairs / lcbr:.0f}", f"{lcbr / bbr:.1f}"]
