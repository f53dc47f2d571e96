"""What a solver needs of a problem: in words, and how to tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..designs import Design
from ..losses import Loss, PairLoss, ThresholdLoss
from ..problems import BallProblem, Problem
from ..surrogates import Pieces
from . import cost

#: The scalar losses that the compiled dual descent has steps for.
_COMPILED = ("squared_hinge", "logistic", "exponential")


@dataclass(frozen=True)
class Need:
    """Something a solver cannot do without."""

    what: str
    met: Callable[[Any], bool]
    #: What a problem that does not meet it has instead, for an error message.
    instead: Callable[[Any], str] = lambda problem: ""

    def missing(self, problem: Any) -> str:
        """Return the need and what the problem has instead, for an error message."""
        return self.what + self.instead(problem)


def first_missing(problem: Problem | BallProblem, needs: tuple[Need, ...]) -> Need | None:
    """The first need that is not met; later ones take the earlier ones for granted."""
    return next((need for need in needs if not need.met(problem)), None)


def _of_loss(what: str, met: Callable[[Any], bool]) -> Need:
    return Need(what, lambda problem: type(problem) is Problem and met(problem.loss))


def _compiled(loss: ThresholdLoss) -> bool:
    if loss.hinge:
        return loss.only_top
    return loss.surrogate.name in _COMPILED and (loss.only_top or loss.below is loss.surrogate)


def _quadratic_sides(loss: Loss) -> bool:
    """Whether both classes have the squared hinge, that of the negatives as steep at least."""
    if not isinstance(loss, ThresholdLoss) or loss.zero_bias != 0.0:
        return False
    terms = loss.compiled
    if terms is None:
        return False
    plain = Pieces("squared_hinge")
    return terms.positives == plain and terms.negatives[:2] == plain[:2]


def has_sparse_rows(design: Design) -> bool:
    """Whether kernels can read its rows in an order of their own, and zeros are left out."""
    n, d = design.shape
    return design.in_memory and design.n_entries < n * d


def _few_pairs(loss: PairLoss) -> bool:
    return len(loss.split.pos) * len(loss.split.neg) <= cost.MOST_PAIRS


SMOOTH = _of_loss("a loss that is smooth and finite everywhere", lambda loss: loss.smooth)
ROWS = _of_loss("a sum over rows", lambda loss: loss.sums_rows)
NO_BIAS = _of_loss(
    "a sum over rows without a threshold", lambda loss: loss.sums_rows and not loss.free_bias
)
PAIRS = _of_loss("a sum over all pairs", lambda loss: loss.sums_pairs)
FEW_PAIRS = _of_loss(f"no more than {cost.MOST_PAIRS} pairs, for it lists them", _few_pairs)
CEILING = _of_loss("a ceiling on the negatives' scores", lambda loss: np.isfinite(loss.ceiling))
SMOOTH_BELOW = _of_loss("a loss without kinks below its ceiling", lambda loss: loss.smooth_below)
TOP = _of_loss("a loss of the highest negative alone", lambda loss: loss.only_top)
HINGE = _of_loss("the hinge", lambda loss: loss.hinge)
SQUARED_HINGE = _of_loss("the squared hinge", lambda loss: loss.surrogate.quadratic)
COMPILED = _of_loss(f"one of {', '.join(_COMPILED)} or, of the highest negative, hinge", _compiled)
KERNELS = Need(
    "losses of rows that compiled kernels know, and a matrix in memory",
    lambda problem: problem.loss.compiled is not None and problem.design.has_kernels,
)
KERNELS_BELOW = Need(
    "losses of rows below the ceiling that compiled kernels know, and a matrix in memory",
    lambda problem: problem.loss.under_ceiling.compiled is not None and problem.design.has_kernels,
)
SUMMED = Need(
    "losses of rows that compiled kernels know, and no more than "
    f"{cost.ACTIVE_SET_FEATURES} features",
    lambda problem: (
        problem.design.has_kernels
        and problem.loss.under_ceiling.compiled is not None
        and problem.design.shape[1] <= cost.ACTIVE_SET_FEATURES
    ),
)
FEW_ROWS_TELL = Need(
    f"{cost.FEW_PASSES_ROWS} rows or more, or more than {cost.FEW_PASSES_FEATURES} features",
    lambda problem: problem.design.elsewhere or cost.few_passes_are_enough(problem.design),
)
QUADRATIC_SIDES = _of_loss("the squared hinge of both classes, at a free b", _quadratic_sides)
#: Where dual descent is the better way to a smooth sum over rows.
WIDE_QUADRATIC_SIDES = (
    QUADRATIC_SIDES,
    Need("sparse rows", lambda problem: has_sparse_rows(problem.design)),
    Need("many features", lambda problem: not cost.hessian_is_narrow(problem.design)),
)
MATRIX = Need(
    f"no more than {cost.MATRIX_FEATURES} features",
    lambda problem: problem.design.shape[1] <= cost.MATRIX_FEATURES,
    lambda problem: (
        f", and X has {problem.design.shape[1]}: a matrix of their square would take "
        f"{cost.matrix_bytes(problem.design) / 1e9:.1f} GB"
    ),
)
IN_MEMORY = Need(
    "a matrix in memory, whose rows are read at random", lambda problem: problem.design.in_memory
)
#: Few passes over the rows of a push.
PASSES_BELOW = (CEILING, SMOOTH_BELOW, KERNELS_BELOW, IN_MEMORY, MATRIX)
