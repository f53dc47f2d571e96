"""The one table of solvers: what each needs, and which is taken for which problem.

A solver asks what a loss can do, never what it is called. So a new loss finds its solvers here as
soon as it says what it can do: see `losses.Loss`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..losses import ThresholdLoss
from ..problems import Problem, Solution
from . import cost
from .active_set_newton import active_set_newton
from .dual_descent import dual_descent
from .far_highest_rows import far_highest_rows, fits_in_driver
from .far_passes import far_passes
from .few_passes import a_row, few_passes
from .highest_rows import fits_in_memory, highest_rows
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
from .newton import newton
from .pair_descent import pair_descent
from .pairs import all_pairs, pair_newton
from .smaller_alpha import or_by_smaller_alpha
from .smoothed_newton import smoothed_newton
from .summed_top import summed_top
from .top_interior_point import top_interior_point
from .top_passes import top_passes
from .watch import Watch
from .wide_passes import wide_passes
from .zero_test import settle_by_sums


def _smoothed(problem: Problem, *, max_iter: int, watch: Watch, **options: Any) -> Solution:
    """The hinge by smoothed ones and, where rounding ends those short, from inside the bounds.

    That is so with features of very different sizes.
    """
    first = smoothed_newton(problem, max_iter=max_iter, watch=watch, **options)
    if first.converged or not first.gave_up or first.n_iter >= max_iter or watch.asked_to_stop:
        return first
    tol = options["tol"]
    return hand_over(top_interior_point, problem, first, tol=tol, max_iter=max_iter, watch=watch)


def _few_passes(problem: Problem, *, max_iter: int, watch: Watch, **options: Any) -> Solution:
    """Few passes and, where those end short, Newton's method, which knows a trivial optimum.

    Of few features the Hessian is factored; of many it is a small copy of rows, but of a loss that
    falls below zero, for which that has no measure, it is Newton's at once.
    """
    narrow = problem.design.elsewhere or cost.hessian_is_narrow(problem.design)
    if problem.design.elsewhere and problem.design.shape[1] > cost.CLUSTER_FEATURES:
        return _newton_ends(far_passes, problem, max_iter=max_iter, watch=watch, **options)
    if not narrow and problem.loss.infimum < 0.0:
        start, tol = options["start"], options["tol"]
        return newton(problem, start=start, tol=tol, max_iter=max_iter, watch=watch)
    way = few_passes if narrow else wide_passes
    return _newton_ends(way, problem, max_iter=max_iter, watch=watch, **options)


def _smooth_rows(problem: Problem, **options: Any) -> Solution:
    """Few passes but, for squared hinges of wide sparse rows, dual descent unless alpha is large.

    There Newton's steps meet kinks and end short, and duals prove a gap long before slopes do. Few
    kinks are met where alpha is large beside a row, and fewer from where a path leads to.
    """
    if first_missing(problem, WIDE_QUADRATIC_SIDES) is None:
        many = cost.KINKS_MET if options["start"] is None else cost.KINKS_MET_ON_A_PATH
        if problem.alpha < many * a_row(problem):
            return _newton_ends(dual_descent, problem, **options)
    return _few_passes(problem, **options)


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


def _top_passes(problem: Problem, *, max_iter: int, watch: Watch, **options: Any) -> Solution:
    """Few passes under a ceiling and, where those end short, Newton's method."""
    first = top_passes(problem, max_iter=max_iter, watch=watch, **options)
    if first.converged or first.n_iter >= max_iter or watch.asked_to_stop:
        return first
    tol = options["tol"]
    return hand_over(active_set_newton, problem, first, tol=tol, max_iter=max_iter, watch=watch)


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
    Row("active-set-newton", (CEILING, SMOOTH_BELOW, MATRIX), active_set_newton, "newton"),
    Row("top-passes", PASSES_BELOW, _top_passes, "few-passes"),
    Row("summed-newton", (CEILING, SMOOTH_BELOW, SUMMED), summed_top),
    Row("smoothed-newton", (TOP, HINGE, MATRIX), _smoothed, "newton"),
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


def sees_entries(problem: Problem, solver: str) -> bool:
    """Whether the solver looks at the entries itself, and raises `DoubtfulEntries`."""
    taken = _choice(problem) if solver == "auto" else solver
    if taken is _push:
        return problem.design.keeps_scores and _is_few_passes_under_a_ceiling(problem)
    return taken in (_smooth_rows, "few-passes") and cost.hessian_is_narrow(problem.design)


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
    """Few passes, Newton's method, dual coordinate descent, or the one and then the other.

    Many rows of few features are solved in few passes. For the others Newton's method costs what
    its linear algebra costs, some d^3 operations and a few dozen passes, whatever alpha;
    coordinate descent as many passes as the problem is ill-conditioned. So: Newton at
    once where d^3 is little beside the data; descent alone where d is large; between the two
    descent begins, and hands over to Newton, from where it stands, once the work it predicts for
    itself is more than Newton's.
    """
    design, loss = problem.design, cast(ThresholdLoss, problem.loss)
    streamed = not (design.keeps_scores or design.elsewhere)
    if streamed and loss.only_top and fits_in_memory(problem):
        return highest_rows(problem, inner=solve, start=start, seed=seed, **options)
    if design.elsewhere and loss.only_top and fits_in_driver(problem):
        # What is drawn is the same in every fit: elsewhere the same bits are promised.
        return _far_top(problem, start=start, **options)
    if design.elsewhere and design.shape[1] > cost.ACTIVE_SET_FEATURES:
        raise ValueError(
            f"X has {design.shape[1]} features, and a push of more than {cost.ACTIVE_SET_FEATURES} "
            "is for rows in memory; on a cluster TopPush takes any number of them if the positives "
            "fit into the driver. LogisticRank, RectPushApp, PNormPush and LogExpPush take any "
            "number of features there."
        )
    if not design.keeps_scores:
        row = require(problem, "summed-newton")
        return row.solve(problem, start=start, inner=solve, **options)
    if _is_few_passes_under_a_ceiling(problem):
        return _top_passes(problem, start=start, **options)
    narrow = cost.active_set_is_cheap(design, hard_steps=_has_hard_steps(loss))
    # Newton ended the fit this one starts from: a path of alphas only gets harder.
    again = start is not None and start.solver in _NEWTON_ENDS
    again = again and design.shape[1] <= cost.ACTIVE_SET_FEATURES
    if narrow or again or first_missing(problem, (COMPILED, IN_MEMORY)) is not None:
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


def _far_top(problem: Problem, *, max_iter: int, watch: Watch, **options: Any) -> Solution:
    """The highest negatives of rows elsewhere and, where those end short, Newton's method there."""
    first = far_highest_rows(problem, inner=solve, max_iter=max_iter, watch=watch, **options)
    done = first.converged or first.n_iter >= max_iter or watch.asked_to_stop
    if done or first_missing(problem, (SUMMED,)) is not None:
        return first
    tol = options["tol"]
    return hand_over(summed_top, problem, first, tol=tol, max_iter=max_iter, watch=watch)


def _is_few_passes_under_a_ceiling(problem: Problem) -> bool:
    """Whether a push is for few passes: many rows, beside which the active set costs little."""
    needs = (*PASSES_BELOW, FEW_ROWS_TELL)
    if not cost.hessian_is_narrow(problem.design) or first_missing(problem, needs) is not None:
        return False
    return cost.active_set_is_cheap(problem.design, hard_steps=_has_hard_steps(problem.loss))


def _has_hard_steps(loss: Any) -> bool:
    """Whether the steps of dual descent cost more than those of TopPush with the squared hinge."""
    return not (loss.surrogate.quadratic and loss.only_top)


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
