"""Solvers: functions from a Problem to a Solution, one in each file; `solve` chooses among them."""

from ._row_points import DoubtfulEntries
from .active_set_newton import active_set_newton
from .choose import TABLE, sees_entries, solve
from .dual_descent import dual_descent
from .few_passes import few_passes
from .interior_point import interior_point
from .lbfgs import lbfgs
from .linalg import one_blas_thread
from .listed_pairs import listed_pairs
from .loop import hand_over
from .newton import newton
from .pair_descent import pair_descent
from .pairs import pair_newton
from .simplex import TRIVIAL, close_enough
from .smoothed_newton import smoothed_newton
from .top_interior_point import top_interior_point
from .wide_passes import wide_passes

__all__ = [
    "TABLE",
    "TRIVIAL",
    "DoubtfulEntries",
    "active_set_newton",
    "close_enough",
    "dual_descent",
    "few_passes",
    "hand_over",
    "interior_point",
    "lbfgs",
    "listed_pairs",
    "newton",
    "one_blas_thread",
    "pair_descent",
    "pair_newton",
    "sees_entries",
    "smoothed_newton",
    "solve",
    "top_interior_point",
    "wide_passes",
]
