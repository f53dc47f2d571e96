"""Solvers: functions from a Problem to a Solution; `solve` chooses among them."""

from .ceiling import ceiling
from .ceiling_hinge import smoothed_newton, top_interior_point
from .choose import TABLE, solve
from .dual_descent import dual_descent
from .interior_point import interior_point
from .linalg import one_blas_thread
from .listed_pairs import listed_pairs
from .loop import hand_over
from .pair_descent import pair_descent
from .pairs import pair_newton
from .rows import newton, row_passes

__all__ = [
    "TABLE",
    "ceiling",
    "dual_descent",
    "hand_over",
    "interior_point",
    "listed_pairs",
    "newton",
    "one_blas_thread",
    "pair_descent",
    "pair_newton",
    "row_passes",
    "smoothed_newton",
    "solve",
    "top_interior_point",
]
