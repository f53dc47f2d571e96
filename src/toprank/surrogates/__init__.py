"""Scalar convex losses l(z), non-decreasing: z is large where a pair or a row is wrong.

Each comes with its slope l', its curvature l'' and its conjugate l*(a) = sup_z a z - l(z) on
the domain 0 <= a <= `steepest`. `SURROGATES` are those with names; the others are made of them,
for the negatives of a method that treats its two classes unlike.
"""

from .compiled import CompiledRows
from .composed import (
    ExponentialRise,
    Flat,
    Linear,
    PowerExponential,
    Rectified,
    SmoothedHinge,
    Steepened,
)
from .standard import SURROGATES, Exponential, Hinge, Logistic, Pieces, SquaredHinge, Surrogate

__all__ = [
    "SURROGATES",
    "CompiledRows",
    "Exponential",
    "ExponentialRise",
    "Flat",
    "Hinge",
    "Linear",
    "Logistic",
    "Pieces",
    "PowerExponential",
    "Rectified",
    "SmoothedHinge",
    "SquaredHinge",
    "Steepened",
    "Surrogate",
]
