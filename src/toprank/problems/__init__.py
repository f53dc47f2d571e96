"""Problems of a loss of scores with a penalty or a ball, their solutions and certificates."""

from .one_norm import BallProblem, L1Problem
from .problem import Problem
from .solution import Certificate, Multipliers, Proof, Solution

__all__ = ["BallProblem", "Certificate", "L1Problem", "Multipliers", "Problem", "Proof", "Solution"]
