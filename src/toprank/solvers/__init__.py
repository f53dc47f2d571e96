"""Solvers: functions from a Problem to a Solution, one a file."""

from .accelerated_gradient import accelerated_gradient
from .active_set_newton import active_set_newton
from .dual_descent import dual_descent
from .interior_point import interior_point
from .newton import newton
from .pair_descent import pair_descent
from .points import solve_points
from .push import newton_push, solve_push
from .smoothed_newton import smoothed_newton

__all__ = [
    "accelerated_gradient",
    "active_set_newton",
    "dual_descent",
    "interior_point",
    "newton",
    "newton_push",
    "pair_descent",
    "smoothed_newton",
    "solve_points",
    "solve_push",
]
