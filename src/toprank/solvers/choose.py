"""The table of solvers, and the table of rules by which "auto" chooses among them.

A solver asks what a loss can do, never what it is called, and what a design affords, never where
its rows are. A new loss finds its solvers here as soon as it states what it can do: see
`losses.Loss`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..designs import Design
from ..losses import Loss, PairLoss, RowSum, ThresholdLoss
from ..problems import Problem, Solution
from ..surrogates import Pieces
from . import cost
from .ceiling import ceiling
from .ceiling_hinge import ceiling_hinge, top_interior_point
from .ceiling_sums import ceiling_by_sums
from .dual_descent import dual_descent
from .highest_rows import highest_rows
from .interior_point import interior_point
from .lbfgs import lbfgs
from .listed_pairs import MOST_PAIRS, listed_pairs
from .loop import hand_over, retry_at_smaller_alpha
from .pair_descent import pair_descent
from .pairs import all_pairs, pair_newton
from .row_hessians import typical_square
from .rows import newton, row_passes
from .watch import Watch

#: The scalar losses that the compiled dual descent has steps for.
_COMPILED = ("squared_hinge", "logistic", "exponential")


@dataclass(frozen=True)
class Need:
    """A property that a solver requires of a problem, in words and as a test."""

    what: str
    met: Callable[[Any], bool]
    #: What a problem that does not meet it has instead, for an error message.
    instead: Callable[[Any], str] = lambda problem: ""

    def __call__(self, problem: Any, start: Solution | None = None) -> bool:
        """Return whether the problem has the property."""
        return self.met(problem)

    def missing(self, problem: Any) -> str:
        """Return the need and what the problem has instead, for an error message."""
        return self.what + self.instead(problem)


#: A condition of a rule: a need, or a function of the problem and the solution it starts from.
Condition = Callable[[Problem, Solution | None], bool]


def first_missing(problem: Problem, needs: tuple[Need, ...]) -> Need | None:
    """Return the first need that is not met; later ones take the earlier ones for granted."""
    return next((need for need in needs if not need.met(problem)), None)


def _of_loss(what: str, met: Callable[[Any], bool]) -> Need:
    return Need(what, lambda problem: type(problem) is Problem and met(problem.loss))


def _of_design(what: str, met: Callable[[Design], bool]) -> Need:
    return Need(what, lambda problem: met(problem.design))


def _compiled(loss: ThresholdLoss) -> bool:
    if loss.hinge:
        return loss.only_top
    return loss.surrogate.name in _COMPILED and (loss.only_top or loss.below is loss.surrogate)


def _quadratic_sides(loss: Loss) -> bool:
    """Return whether both classes have the squared hinge, the negatives' at least as steep."""
    if not isinstance(loss, ThresholdLoss) or loss.zero_bias != 0.0:
        return False
    terms = loss.compiled
    if terms is None:
        return False
    plain = Pieces("squared_hinge")
    return terms.positives == plain and terms.negatives[:2] == plain[:2]


def _few_pairs(loss: PairLoss) -> bool:
    return len(loss.split.pos) * len(loss.split.neg) <= MOST_PAIRS


# Also true under a ceiling, which SMOOTH excludes.
ROWS = _of_loss("a sum over rows", lambda loss: loss.sums_rows)
NO_BIAS = _of_loss(
    "a sum over rows without a threshold", lambda loss: loss.sums_rows and not loss.free_bias
)
PAIRS = _of_loss("a sum over all pairs", lambda loss: loss.sums_pairs)
FEW_PAIRS = _of_loss(f"no more than {MOST_PAIRS} pairs, for it lists them", _few_pairs)
CEILING = _of_loss("a ceiling on the negatives' scores", lambda loss: np.isfinite(loss.ceiling))
TOP = _of_loss("a loss of the highest negative alone", lambda loss: loss.only_top)
SMOOTH = _of_loss("a loss that is smooth and finite everywhere", lambda loss: loss.smooth)
SMOOTH_BELOW = _of_loss("a loss without kinks below its ceiling", lambda loss: loss.smooth_below)
HINGE = _of_loss("the hinge", lambda loss: loss.hinge)
FALLS_BELOW_ZERO = _of_loss("a loss that falls below zero", lambda loss: loss.infimum < 0.0)
QUADRATIC_SIDES = _of_loss("the squared hinge of both classes, at a free b", _quadratic_sides)
COMPILED = _of_loss(f"one of {', '.join(_COMPILED)} or, of the highest negative, hinge", _compiled)
KERNELS = Need(
    "losses of rows that compiled kernels know, and a matrix in memory",
    lambda problem: problem.loss.compiled is not None and problem.design.compiled_sums,
)
KERNELS_BELOW = Need(
    "losses of rows below the ceiling that compiled kernels know, and a matrix in memory",
    lambda problem: (
        problem.loss.under_ceiling.compiled is not None and problem.design.compiled_sums
    ),
)
SCORES = _of_design("a matrix whose scores fit into memory", lambda design: design.stores_scores)
ONLY_SUMS = _of_design("a matrix that is summed over", lambda design: not design.stores_scores)
BY_ROWS = _of_design(
    "a matrix in memory, whose rows are read at random", lambda design: design.reads_rows
)
SPARSE = _of_design("sparse rows", cost.has_sparse_rows)
WIDE = _of_design("many features", lambda design: not cost.factors_few_rows(design))
MATRIX = Need(
    f"no more than {cost.MATRIX_FEATURES} features",
    lambda problem: problem.design.shape[1] <= cost.MATRIX_FEATURES,
    lambda problem: (
        f", and X has {problem.design.shape[1]}: a matrix of their square would take "
        f"{cost.matrix_bytes(problem.design) / 1e9:.1f} GB"
    ),
)
SUMMED_MATRIX = Need(
    f"no more than {cost.CACHED_FEATURES} features where rows are only summed over",
    lambda problem: problem.design.shape[1] <= cost.CACHED_FEATURES,
    lambda problem: (
        f", and X has {problem.design.shape[1]}. TopPush takes any number of them if the "
        "positives fit into memory, on a cluster into the driver's. LogisticRank, RectPushApp, "
        "PNormPush and LogExpPush take any number"
    ),
)


@dataclass(frozen=True)
class Entry:
    """A solver: its name, what it needs, its function, and the solver that follows.

    The first of its needs is the kind of loss it is for. `kind` is the name of its kind, by which
    the methods' users may ask for it. `draws` is True if it draws random numbers. `then` is the
    solver that goes on where this one ends short of the tolerance.
    """

    name: str
    needs: tuple[Need, ...]
    solve: Callable[..., Solution]
    kind: str = ""
    draws: bool = False
    then: str = ""


def _highest_rows(problem: Problem, **options: Any) -> Solution:
    return highest_rows(problem, inner=solve, **options)


# The sample's accuracy cannot be measured where a wide loss falls below zero: Newton's method then.
TABLE = (
    Entry("newton", (ROWS, SMOOTH), newton, "newton"),
    Entry("few-passes", (ROWS, SMOOTH, KERNELS, FALLS_BELOW_ZERO, SCORES, WIDE), newton),
    Entry("few-passes", (ROWS, SMOOTH, KERNELS, SCORES), row_passes, draws=True, then="newton"),
    Entry("few-passes", (ROWS, SMOOTH, KERNELS), row_passes, draws=True),
    Entry("active-set-newton", (CEILING, SMOOTH_BELOW, MATRIX), ceiling, "newton"),
    Entry(
        "top-passes",
        (CEILING, SMOOTH_BELOW, KERNELS_BELOW, BY_ROWS, MATRIX),
        ceiling_by_sums,
        "few-passes",
        then="active-set-newton",
    ),
    Entry("summed-newton", (CEILING, SMOOTH_BELOW, KERNELS_BELOW, SUMMED_MATRIX), ceiling_by_sums),
    Entry("smoothed-newton", (TOP, HINGE, MATRIX), ceiling_hinge, "newton"),
    Entry("pair-newton", (PAIRS,), pair_newton, "newton"),
    Entry("dual-descent", (CEILING, COMPILED, BY_ROWS), dual_descent, "dual-descent", True),
    Entry("dual-descent", (QUADRATIC_SIDES, BY_ROWS), dual_descent, "dual-descent", True),
    Entry("pair-descent", (NO_BIAS, HINGE, BY_ROWS), pair_descent, "dual-descent", True),
    Entry("listed-pairs", (PAIRS, HINGE, FEW_PAIRS, BY_ROWS), listed_pairs, "dual-descent", True),
    Entry("interior-point", (NO_BIAS, HINGE, MATRIX), interior_point),
    Entry("interior-point", (TOP, HINGE, MATRIX), top_interior_point),
    Entry("lbfgs", (SMOOTH,), lbfgs),
)
#: Solvers that only rules take: users cannot ask for them by name.
HIGHEST_ROWS = Entry("highest-rows", (TOP,), _highest_rows, draws=True)
ALL_PAIRS = Entry("all-pairs", (PAIRS,), all_pairs, draws=True)
#: Names that rows on a cluster accept too.
_ANYWHERE = ("auto", "few-passes")
#: The solvers that Newton's method for a ceiling may end with.
_NEWTON_ENDS = ("active-set-newton", "smoothed-newton", "interior-point")


def _push(problem: Problem, start: Solution | None) -> bool:
    """Return whether the loss has a ceiling, below which it is smooth or the hinge."""
    return CEILING(problem) and (SMOOTH_BELOW(problem) or (TOP(problem) and HINGE(problem)))


def _positives_fit(problem: Problem, start: Solution | None) -> bool:
    """Return whether the positives may be copied to where the fit runs."""
    return problem.design.affords_copy(cast(ThresholdLoss, problem.loss).split.counts[0])


def _many_slopes(problem: Problem, start: Solution | None) -> bool:
    """Return whether sums beat exact steps: many rows have slopes, and features are few."""
    n_pos, n_neg = cast(ThresholdLoss, problem.loss).split.counts
    few = cost.hessian_is_narrow(problem.design) and cost.active_set_is_cheap(problem.design)
    return few and (n_pos if TOP(problem) else n_pos + n_neg) >= cost.CEILING_ROWS


def _newton_is_cheap(problem: Problem, start: Solution | None) -> bool:
    """Return whether d^3 is little work compared with passes over the data."""
    return cost.active_set_is_cheap(problem.design)


def _newton_ended(problem: Problem, start: Solution | None) -> bool:
    """Return whether Newton's method ended the previous fit: a path of alphas only gets harder."""
    again = start is not None and start.solver in _NEWTON_ENDS
    return again and problem.design.shape[1] <= cost.CACHED_FEATURES


def _sample_will_do(problem: Problem, start: Solution | None) -> bool:
    """Return whether a sample of rows can stand for all in the Hessian, or is all there is."""
    return not problem.design.reads_rows or cost.few_passes_are_enough(problem.design)


def _many_kinks(problem: Problem, start: Solution | None) -> bool:
    """Return whether Newton's steps on a squared hinge of wide sparse rows meet many kinks.

    They then end short, and duals prove a gap long before slopes do. They meet few where alpha is
    large compared with what a row adds to the Hessian of a loss with f'' = 1, and fewer from where
    a path leads to.
    """
    if not SPARSE(problem) or cost.hessian_is_narrow(problem.design):
        return False
    terms = cast(RowSum, problem.loss).compiled
    assert terms is not None
    n_pos, n_neg, above, below = terms.sides
    of_row = typical_square(problem.design) * (above - below) / (n_pos + n_neg)
    return problem.alpha < of_row * (cost.KINKS if start is None else cost.KINKS_ON_A_PATH)


@dataclass(frozen=True)
class Rule:
    """Conditions on a problem, the solver or kind to take, and the one that goes on after it.

    With a `budget`, the first solver ends once the fit takes more work than that of the second.
    """

    when: tuple[Condition, ...]
    first: str | Entry
    then: str = ""
    budget: Callable[[Design], float] | None = None


#: The choice of "auto" is the first rule that holds or else the first row of the table that can.
#: Dual descent of a push or a hinge needs about ten passes on most data and any number on
#: ill-conditioned ones. With a budget, neither costs more than twice the better of the two solvers.
RULES = (
    Rule((_push, ONLY_SUMS, TOP, _positives_fit), HIGHEST_ROWS, "summed-newton"),
    Rule((_push, ONLY_SUMS), "summed-newton"),
    Rule((_push, SMOOTH_BELOW, KERNELS_BELOW, BY_ROWS, MATRIX, _many_slopes), "top-passes"),
    Rule((_push, _newton_is_cheap), "newton"),
    Rule((_push, _newton_ended), "newton"),
    Rule((_push, COMPILED, BY_ROWS), "dual-descent", "newton", cost.active_set_work),
    Rule((_push,), "newton"),
    Rule((PAIRS,), ALL_PAIRS),
    Rule((NO_BIAS, HINGE, BY_ROWS), "pair-descent", "interior-point", cost.interior_work),
    Rule((NO_BIAS, HINGE), "interior-point"),
    Rule((ROWS, SMOOTH, KERNELS, _sample_will_do, QUADRATIC_SIDES, _many_kinks), "dual-descent"),
    Rule((ROWS, SMOOTH, KERNELS, _sample_will_do), "few-passes"),
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
        The last solution; `solver` names the one that finished.
    """
    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "seed": seed}
    options["watch"] = watch or Watch(problem.design)
    if solver not in _ANYWHERE:
        problem.design.require_rows(f"solver={solver!r}", "solver='auto'")
    # Steps may overflow: a point whose value is not finite improves no bound.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if solver != "auto":
            rule = Rule((), require(problem, solver, solver))
            return _run(problem, rule, start=start, **options)
        solution = _by_rules(problem, start=start, **options)
        if _push(problem, start):
            return retry_at_smaller_alpha(_by_rules, problem, solution, **options)
        return solution


def _by_rules(problem: Problem, *, start: Solution | None, **options: Any) -> Solution:
    """Solve by the first rule that holds."""
    holding = (rule for rule in RULES if all(holds(problem, start) for holds in rule.when))
    return _run(problem, next(holding, Rule((), "auto")), start=start, **options)


def _run(
    problem: Problem,
    rule: Rule,
    *,
    start: Solution | None,
    tol: float,
    max_iter: int,
    watch: Watch,
    seed: int,
) -> Solution:
    """Solve by the first solver of a rule and, where it ends short, by the one that follows."""
    row = rule.first if isinstance(rule.first, Entry) else require(problem, rule.first)
    more: dict[str, Any] = {"seed": seed} if row.draws else {}
    if rule.budget is not None:
        more["budget"] = rule.budget(problem.design)
    first = row.solve(problem, start=start, tol=tol, max_iter=max_iter, watch=watch, **more)
    then = next(_able(problem, rule.then or row.then), None)
    if then is None or first.converged or first.n_iter >= max_iter or watch.asked_to_stop:
        return first
    return hand_over(then.solve, problem, first, tol=tol, max_iter=max_iter, watch=watch)


def _named(solver: str) -> list[Entry]:
    """Return the solvers of a name or kind; all with a name for "auto"."""
    if solver == "auto":
        return [*TABLE]
    return [row for row in TABLE if solver and solver in (row.name, row.kind)]


def _able(problem: Problem, solver: str) -> Iterator[Entry]:
    """Yield the solvers of a name or kind that can solve the problem."""
    return (row for row in _named(solver) if first_missing(problem, row.needs) is None)


def require(problem: Problem, solver: str, wanted: str = "auto") -> Entry:
    """Return the first solver of a name or kind that can solve the problem.

    Otherwise raise ValueError with what is missing; `wanted` is the user's choice.
    """
    row = next(_able(problem, solver), None)
    if row is not None:
        return row
    rows = _named(solver)
    if not rows:
        names = sorted({row.name for row in TABLE})
        raise ValueError(f"There is no solver {solver!r}; there are {', '.join(names)}.")
    # Solvers for this kind of loss show best what is missing.
    rows = [row for row in rows if row.needs[0].met(problem)] or rows
    lacks = {row.name: cast(Need, first_missing(problem, row.needs)) for row in rows}
    if MATRIX in lacks.values():  # such a solver has all else it needs
        lacks = {name: need for name, need in lacks.items() if need is MATRIX}
    why = "; ".join(f"{name} needs {need.missing(problem)}" for name, need in lacks.items())
    auto = wanted == "auto"
    who, instead = ("No solver", "") if auto else (f"solver={wanted!r}", " Use solver='auto'.")
    can = "can" if auto else "cannot"
    raise ValueError(f"{who} {can} solve a {problem.loss}: {why}.{instead}")
