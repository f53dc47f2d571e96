"""Figures 1 and 2: the optimum of (7) over nu+, and the paper's rounds for it."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from common.pages import table, write_page
from common.rows import Row, chosen, values_of
from common.tasks import watched
from figures import draw_optimum, draw_rounds
from remarks import HEURISTIC, HEURISTIC_HOLDS
from threshold_data import Threshold
from toprank import LPPair
from toprank.designs import DenseDesign, ScaledDesign
from toprank.inputs.class_split import Split
from toprank.methods.soft_margin.class_tails import Reduction

N_ROWS = 1000
EPSILON = 0.2
NOISE = 0.05
#: Shares of the positives, nu+ / p, at which the optimum of (7) is computed.
POINTS = 60
#: The data set of Figure 2, and at how many points (9) is computed there.
SHOWN, TANGENT_POINTS = 8, 25
#: To what relative gap the curves are solved.
TOL = 1e-6


def measure(args: Namespace) -> list[Row]:
    """The curve over nu+, the rounds, what else chooses nu+, and LP-Pair's optimum."""
    rows: list[Row] = []
    for r in watched((SHOWN,) if args.quick else (1, SHOWN, 15), "r = {}".format):
        X, y, _ = Threshold(r, noise=NOISE).draw(N_ROWS, seed=1000 * r + args.seed)
        reduction = reduction_of(X, y)
        points = 9 if args.quick else POINTS
        known = {"r": r, "positives": int(y.sum())}
        grid = np.geomspace(EPSILON, 1.0, points)
        rows += [{**known, "kind": "curve", **_at(reduction, x)} for x in grid]
        rounds = list(reduction.rounds())
        rows += [{**known, "kind": "round", "share": x, "gamma": value} for x, value in rounds]
        rows.append({**known, "kind": "search", **_at(reduction, reduction.by_search())})
        pairs = LPPair(EPSILON, tol=TOL, weak_learners="precomputed", nonnegative=True, n_threads=1)
        rows.append(
            {**known, "kind": "LP-Pair", "share": 0.0, "gamma": pairs.fit(X, y).gamma_upper_}
        )
        if r == SHOWN:
            for c, _value in rounds[:2]:
                # Within what (9) allows, and well within what a tangent of 1/x leaves above zero.
                for x in np.geomspace(
                    EPSILON, 2.0 * c - c * c, 9 if args.quick else TANGENT_POINTS
                ):
                    value, _slope = reduction.tangent_value(c, float(x))
                    rows.append({**known, "kind": "(9)", "c": c, "share": float(x), "gamma": value})
    return rows


def reduction_of(X: Any, y: Any) -> Reduction:
    """(7) for all nu+; the weights are not negative, margins are differences of half scores."""
    half = ScaledDesign(DenseDesign(X), np.arange(X.shape[1]), np.full(X.shape[1], 0.5))
    return Reduction(half, Split.of(y == 1), EPSILON, signed=False)


def _at(reduction: Reduction, share: float) -> Row:
    problem = reduction.problem(float(share))
    solution = reduction.solve(problem, TOL)
    return {"share": float(share), "gamma": -problem.dual_value(solution.dual)}


def report(rows: list[Row], args: Namespace) -> None:
    """The page and both figures."""
    draw_optimum(rows, args.out / "figure1")
    draw_rounds(chosen(rows, r=SHOWN), args.out / "figure2")
    lines = [_line(chosen(rows, r=r)) for r in values_of(rows, "r")]
    header = ["r", "LP-Pair", "(7) at Corollary 4", "after the rounds", "by search", "least seen"]
    write_page(
        args.out / "heuristic.md",
        "# Figures 1 and 2: the choice of nu+",
        HEURISTIC,
        "## Figure 1: the optimum of (7) over nu+",
        "![The optimum of (7) over nu+](figure1.svg)",
        "## Figure 2: the rounds",
        "![The rounds](figure2.svg)",
        "## Where they end",
        table(header, lines),
        "## What holds",
        HEURISTIC_HOLDS,
    )


def _line(rows: list[Row]) -> list[str]:
    rounds = chosen(rows, kind="round")
    (search,), (pairs,) = chosen(rows, kind="search"), chosen(rows, kind="LP-Pair")
    least = min((row for row in rows if row["kind"] != "LP-Pair"), key=lambda row: row["gamma"])
    return [
        str(rows[0]["r"]),
        f"{pairs['gamma']:.5f}",
        _place(rounds[0]),
        f"{_place(rounds[-1])} (rounds: {len(rounds) - 1})",
        _place(search),
        _place(least),
    ]


def _place(row: Row) -> str:
    return f"{row['gamma']:.5f} at {row['share'] * row['positives']:.1f}"
