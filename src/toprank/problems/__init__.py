"""The problems that solvers are given: a loss of scores, a penalty or a ball, and certificates."""

from .one_norm import BallProblem, L1Problem
from .problem import Problem
from .solution import Certificate, Solution

__all__ = ["BallProblem", "Certificate", "L1Problem", "Problem", "Solution"]
