"""Solvers: functions from a Problem to a Solution, one a file."""

from ._simplex import TRIVIAL, close_enough
from .accelerated_gradient import accelerated_gradient
from .active_set_newton import active_set_newton
from .dual_descent import dual_descent
from .interior_point import interior_point
from .listed_pairs import MOST_PAIRS, listed_pairs
from .minimax import Box, BoxSolution, minimax
from .newton import newton
from .pair_descent import pair_descent
from .pair_newton import pair_newton
from .pairs import solve_pairs
from .points import MOST_FEATURES, from_inside, solve_points
from .push import newton_push, solve_push
from .reduction import Reduction
from .smoothed_newton import smoothed_newton
from .tail import solve_tail
from .tail_newton import tail_newton
from .top_interior_point import top_interior_point

__all__ = [
    "MOST_FEATURES",
    "MOST_PAIRS",
    "TRIVIAL",
    "Box",
    "BoxSolution",
    "Reduction",
    "accelerated_gradient",
    "active_set_newton",
    "close_enough",
    "dual_descent",
    "from_inside",
    "interior_point",
    "listed_pairs",
    "minimax",
    "newton",
    "newton_push",
    "pair_descent",
    "pair_newton",
    "smoothed_newton",
    "solve_pairs",
    "solve_points",
    "solve_push",
    "solve_tail",
    "tail_newton",
    "top_interior_point",
]
