"""Solvers: functions from a Problem to a Solution, one in each file; `solve` chooses among them."""

from ._row_points import DoubtfulEntries
from ._simplex import TRIVIAL, close_enough
from .accelerated_gradient import accelerated_gradient
from .active_set_newton import active_set_newton
from .blas import one_blas_thread
from .bundle import bundle
from .choose import TABLE, sees_entries, solve
from .class_tails import Reduction
from .dual_descent import dual_descent
from .few_passes import few_passes
from .interior_point import interior_point
from .lbfgs import lbfgs
from .linear_programming import linear_programming, strength_of_zero
from .listed_pairs import listed_pairs
from .listed_tail import solve_tail
from .loop import hand_over
from .minimax import Box, BoxSolution, minimax
from .newton import newton
from .pair_descent import pair_descent
from .pair_newton import pair_newton
from .smoothed_newton import smoothed_newton
from .soft_top_newton import soft_top_newton
from .tail_newton import tail_newton
from .top_interior_point import top_interior_point
from .wide_passes import wide_passes

__all__ = [
    "TABLE",
    "TRIVIAL",
    "Box",
    "BoxSolution",
    "DoubtfulEntries",
    "Reduction",
    "accelerated_gradient",
    "active_set_newton",
    "bundle",
    "close_enough",
    "dual_descent",
    "few_passes",
    "hand_over",
    "interior_point",
    "lbfgs",
    "linear_programming",
    "listed_pairs",
    "minimax",
    "newton",
    "one_blas_thread",
    "pair_descent",
    "pair_newton",
    "sees_entries",
    "smoothed_newton",
    "soft_top_newton",
    "solve",
    "solve_tail",
    "strength_of_zero",
    "tail_newton",
    "top_interior_point",
    "wide_passes",
]
