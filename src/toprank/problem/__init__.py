"""The problems that solvers are given: a loss of scores, a penalty or a ball, and certificates."""

from ..solution import Certificate, Solution
from .one_norm import BallProblem, L1Problem
from .ridge import Problem

__all__ = ["BallProblem", "Certificate", "L1Problem", "Problem", "Solution"]
