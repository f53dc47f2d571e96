"""The one table of solvers: what each needs, and which is taken for which problem.

A solver asks what a loss can do, never what it is called. So a new loss finds its solvers here as
soon as it says what it can do: see `losses.Loss`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..losses import RowSum, ThresholdLoss
from ..problems import Problem, Solution
from . import cost
from .ceiling import ceiling
from .ceiling_hinge import ceiling_hinge, top_interior_point
from .ceiling_sums import ceiling_by_sums
from .dual_descent import dual_descent
from .highest_rows import highest_rows
from .interior_point import interior_point
from .lbfgs import lbfgs
from .listed_pairs import listed_pairs
from .loop import hand_over
from .needs import (
    CEILING,
    COMPILED,
    FEW_PAIRS,
    FEW_ROWS_TELL,
    HINGE,
    IN_MEMORY,
    KERNELS,
    MATRIX,
    NO_BIAS,
    PAIRS,
    PASSES_BELOW,
    QUADRATIC_SIDES,
    ROWS,
    SMOOTH,
    SMOOTH_BELOW,
    SUMMED,
    TOP,
    WIDE_QUADRATIC_SIDES,
    Need,
    first_missing,
)
from .pair_descent import pair_descent
from .pairs import all_pairs, pair_newton
from .row_hessians import typical_square
from .rows import newton, row_passes
from .smaller_alpha import or_by_smaller_alpha
from .watch import Watch
from .zero_test import settle_by_sums


def _few_passes(problem: Problem, *, max_iter: int, watch: Watch, **options: Any) -> Solution:
    """Few passes and, where those end short, Newton's method, which proves a trivial optimum.

    Losses of many features that fall below zero go straight to Newton's method, because the
    accuracy of thinned steps cannot be measured for them.
    """
    wide = problem.design.keeps_scores and not cost.factors_few_rows(problem.design)
    if wide and problem.loss.infimum < 0.0:
        start, tol = options["start"], options["tol"]
        return newton(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
    return _newton_ends(row_passes, problem, max_iter=max_iter, watch=watch, **options)


def _smooth_rows(problem: Problem, **options: Any) -> Solution:
    """Few passes but, for squared hinges of wide sparse rows, dual descent unless alpha is large.

    There Newton's steps meet kinks and end short, and duals prove a gap long before slopes do. Few
    kinks are met where alpha is large beside a row, and fewer from where a path leads to.
    """
    if first_missing(problem, WIDE_QUADRATIC_SIDES) is None:
        many = cost.KINKS_MET if options["start"] is None else cost.KINKS_MET_ON_A_PATH
        if problem.alpha < many * _row_curvature(problem):
            return _newton_ends(dual_descent, problem, **options)
    return _few_passes(problem, **options)


def _row_curvature(problem: Problem) -> float:
    """Return what a row adds to the Hessian of a sum over rows, for a loss with f'' = 1."""
    terms = cast(RowSum, problem.loss).compiled
    assert terms is not None
    n_pos, n_neg, above, below = terms.sides
    return typical_square(problem.design) * (above - below) / (n_pos + n_neg)


def _newton_ends(
    way: Callable[..., Solution], problem: Problem, *, max_iter: int, watch: Watch, **options: Any
) -> Solution:
    """One way to a minimum and, where it ends short of that, Newton's method."""
    first = way(problem, max_iter=max_iter, watch=watch, **options)
    if not problem.design.keeps_scores:
        return first if first.converged else settle_by_sums(problem, first)
    if first.converged or first.n_iter >= max_iter or watch.asked_to_stop:
        return first
    return hand_over(newton, problem, first, tol=options["tol"], max_iter=max_iter, watch=watch)


def _ceiling_in_passes(
    problem: Problem, *, max_iter: int, watch: Watch, **options: Any
) -> Solution:
    """Few passes under a ceiling and, if those end short, exact Newton steps."""
    first = ceiling_by_sums(problem, max_iter=max_iter, watch=watch, **options)
    if first.converged or first.n_iter >= max_iter or watch.asked_to_stop:
        return first
    tol = options["tol"]
    return hand_over(ceiling, problem, first, tol=tol, max_iter=max_iter, watch=watch)


@dataclass(frozen=True)
class Row:
    """A solver: its name, what it needs, the function, and whether that draws random numbers.

    The first of its needs is the kind of loss it is for. `asked` is the name of its kind, by which
    the methods' users may ask for it.
    """

    name: str
    needs: tuple[Need, ...]
    solve: Callable[..., Solution]
    asked: str = ""
    draws: bool = False


TABLE = (
    Row("newton", (ROWS, SMOOTH), newton, "newton"),
    Row("few-passes", (ROWS, SMOOTH, KERNELS), _few_passes, draws=True),
    Row("active-set-newton", (CEILING, SMOOTH_BELOW, MATRIX), ceiling, "newton"),
    Row("top-passes", PASSES_BELOW, _ceiling_in_passes, "few-passes"),
    Row("summed-newton", (CEILING, SMOOTH_BELOW, SUMMED), ceiling_by_sums),
    Row("smoothed-newton", (TOP, HINGE, MATRIX), ceiling_hinge, "newton"),
    Row("pair-newton", (PAIRS,), pair_newton, "newton"),
    Row("dual-descent", (CEILING, COMPILED, IN_MEMORY), dual_descent, "dual-descent", True),
    Row("dual-descent", (QUADRATIC_SIDES, IN_MEMORY), dual_descent, "dual-descent", True),
    Row("pair-descent", (NO_BIAS, HINGE, IN_MEMORY), pair_descent, "dual-descent", True),
    Row("listed-pairs", (PAIRS, HINGE, FEW_PAIRS, IN_MEMORY), listed_pairs, "dual-descent", True),
    Row("interior-point", (NO_BIAS, HINGE, MATRIX), interior_point),
    Row("interior-point", (TOP, HINGE, MATRIX), top_interior_point),
    Row("lbfgs", (SMOOTH,), lbfgs),
)


def solve(
    problem: Problem,
    solver: str = "auto",
    *,
    start: Solution | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
    seed: int = 0,
) -> Solution:
    """Solve a problem by a solver of the table, or by the one for its loss and shape.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    solver : str, default="auto"
        A name in the table, or that of a kind, such as "newton": then the one of the kind that
        can solve this loss.
    start : Solution, optional
        The solution of a similar problem to begin with.
    tol : float, default=1e-4
        The relative gap to stop at.
    max_iter : int, default=1000
        The most iterations, whatever one is to the solver.
    watch : Watch, optional
        Keeps the history.
    seed : int, default=0
        For solvers that visit rows in random order.

    Returns
    -------
    Solution
        What was found; `solver` names the one that finished.
    """
    watch = watch or Watch(problem.design)
    if problem.design.elsewhere and solver not in ("auto", "few-passes"):
        raise ValueError(
            f"solver={solver!r} reads rows in one place, and these are on a cluster: take "
            "solver='auto'."
        )
    options: dict[str, Any] = {"start": start, "tol": tol, "max_iter": max_iter, "watch": watch}
    rule = _choice(problem) if solver == "auto" else None
    # Steps may overflow: a point whose value is not finite improves no bound.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if rule is not None:
            return rule(problem, seed=seed, **options)
        row = require(problem, solver)
        return row.solve(problem, **options, **({"seed": seed} if row.draws else {}))


def require(problem: Problem, solver: str) -> Row:
    """The row of the table that is asked for, which must be able to solve the problem."""
    rows = [row for row in TABLE if solver in (row.name, row.asked, "auto")]
    if not rows:
        names = sorted({row.name for row in TABLE})
        raise ValueError(f"There is no solver {solver!r}; there are {', '.join(names)}.")
    for row in rows:
        if first_missing(problem, row.needs) is None:
            return row
    # Those for this kind of loss tell best what is missing.
    rows = [row for row in rows if row.needs[0].met(problem)] or rows
    lacks = {row.name: cast(Need, first_missing(problem, row.needs)) for row in rows}
    if MATRIX in lacks.values():  # all else that such a solver needs is there
        lacks = {name: need for name, need in lacks.items() if need is MATRIX}
    why = "; ".join(f"{name} needs {need.missing(problem)}" for name, need in lacks.items())
    asked = "No solver can" if solver == "auto" else f"solver={solver!r} cannot"
    instead = "" if solver == "auto" else " Use solver='auto'."
    raise ValueError(f"{asked} solve a {problem.loss}: {why}.{instead}")


def _choice(problem: Problem) -> Callable[..., Solution] | None:
    """What "auto" does for a loss of this kind, where it is more than the first row that can."""
    for kind, rule in AUTO:
        if first_missing(problem, kind) is None:
            return rule
    return None


@or_by_smaller_alpha
def _push(problem: Problem, *, start: Solution | None, seed: int, **options: Any) -> Solution:
    """Choose a push's solver: by what the rows can answer, then by the work of each solver.

    * Scores are not kept, TopPush, and the positives fit: rounds of the highest rows, then sums.
    * Scores are not kept: sums.
    * Many rows have a slope, and there are few features: sums in memory, then exact steps.
    * d^3 is little compared with the data: exact steps.
    * Dual descent, then exact steps once it predicts more work for itself than theirs.
    """
    design, loss = problem.design, cast(ThresholdLoss, problem.loss)
    if not design.keeps_scores:
        if loss.only_top and cost.positives_fit(design, loss.split.counts[0]):
            return _highest_then_sums(problem, start=start, seed=seed, **options)
        return _require_push_by_sums(problem).solve(problem, start=start, **options)
    if _has_many_slopes(problem):
        return _ceiling_in_passes(problem, start=start, **options)
    # Newton's method ended the fit this one starts from: a path of alphas only gets harder.
    again = start is not None and start.solver in _NEWTON_ENDS
    again = again and design.shape[1] <= cost.ACTIVE_SET_FEATURES
    descends = first_missing(problem, (COMPILED, IN_MEMORY)) is None
    if again or not descends or cost.active_set_is_cheap(design):
        return require(problem, "newton").solve(problem, start=start, **options)
    work = cost.active_set_work(design)
    solution = dual_descent(
        problem,
        start=start,
        seed=seed,
        give_up=lambda left: left > work and design.entries_read > cost.DESCENT_TRIAL * work,
        **options,
    )
    if solution.gave_up:
        return hand_over(require(problem, "newton").solve, problem, solution, **options)
    return solution


def _highest_then_sums(
    problem: Problem, *, seed: int, max_iter: int, watch: Watch, **options: Any
) -> Solution:
    """Rounds of the highest negatives and, if those end short, Newton's method by sums."""
    options |= {"watch": watch}
    first = highest_rows(problem, inner=solve, seed=seed, max_iter=max_iter, **options)
    done = first.converged or first.n_iter >= max_iter or watch.asked_to_stop
    if done or first_missing(problem, (SMOOTH_BELOW, SUMMED)) is not None:
        return first
    return hand_over(
        ceiling_by_sums, problem, first, tol=options["tol"], max_iter=max_iter, watch=watch
    )


def _require_push_by_sums(problem: Problem) -> Row:
    """Return the solver by sums, or raise with the methods that take as many features."""
    design = problem.design
    if design.elsewhere and design.shape[1] > cost.ACTIVE_SET_FEATURES:
        raise ValueError(
            f"X has {design.shape[1]} features, and a push of more than {cost.ACTIVE_SET_FEATURES} "
            "is for rows in memory; on a cluster TopPush takes any number of them if the positives "
            "fit into the driver. LogisticRank, RectPushApp, PNormPush and LogExpPush take any "
            "number of features there."
        )
    return require(problem, "summed-newton")


def _has_many_slopes(problem: Problem) -> bool:
    """Return whether sums beat exact steps: many rows have slopes, and features are few."""
    design, loss = problem.design, cast(ThresholdLoss, problem.loss)
    n_pos, n_neg = loss.split.counts
    rows = n_pos if loss.only_top else n_pos + n_neg
    few = cost.hessian_is_narrow(design) and cost.active_set_is_cheap(design)
    return few and rows >= cost.CEILING_ROWS and first_missing(problem, PASSES_BELOW) is None


#: The solvers that Newton's method for a ceiling may end with.
_NEWTON_ENDS = ("active-set-newton", "smoothed-newton", "interior-point")


def _hinge_rows(problem: Problem, *, seed: int, **options: Any) -> Solution:
    """Coordinate descent, and an interior-point method where it crawls.

    Descent needs about ten passes on most data, and any number on ill-conditioned ones: features
    that are not centred, a small alpha. An interior-point method needs about thirty steps, whatever
    the data, each with a matrix of d^2 entries. Descent is given the work of those steps; then
    they are taken, if d allows for them. So neither costs more than twice the better one.
    """
    design, max_iter, watch = problem.design, options["max_iter"], options["watch"]
    if first_missing(problem, (IN_MEMORY,)) is not None:
        return require(problem, "interior-point").solve(problem, **options)
    base, _, _ = design.differences()
    read, patience = design.entries_read, cost.interior_work(base)
    narrow = design.shape[1] <= cost.INTERIOR_FEATURES
    first = pair_descent(
        problem,
        seed=seed,
        give_up=(lambda epochs: design.entries_read - read > patience) if narrow else None,
        # half is for what takes over
        **{**options, "max_iter": (max_iter + 1) // 2 if narrow else max_iter},
    )
    if first.converged or watch.asked_to_stop or first.n_iter == max_iter:
        return first
    tol = options["tol"]
    return hand_over(interior_point, problem, first, tol=tol, max_iter=max_iter, watch=watch)


#: What "auto" does, by what the loss can do; for other losses it takes the first row that can.
AUTO: tuple[tuple[tuple[Need, ...], Callable[..., Solution]], ...] = (
    ((CEILING, SMOOTH_BELOW), _push),
    ((CEILING, TOP, HINGE), _push),
    ((PAIRS,), all_pairs),
    ((NO_BIAS, HINGE), _hinge_rows),
    ((ROWS, SMOOTH, KERNELS, FEW_ROWS_TELL), _smooth_rows),
)
