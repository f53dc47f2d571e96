"""Numbers of many digits: those of MPFR, which rounds every operation correctly.

Beyond 2^(2^30), some e^(7e8), they are infinite, and below one over that, zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import exp, expm1, is_finite, log, log1p, sqrt
from numpy.typing import NDArray

#: Bits of a number, some 90 digits.
PRECISION = 300

Real = type(gmpy2.mpfr(0))
#: Numbers of many digits, or whole ones, as entries.
Exact = NDArray[Any]


def digits(bits: int) -> AbstractContextManager[Any]:
    """Work with so many bits."""
    return gmpy2.context(precision=bits)


gmpy2.set_context(digits(PRECISION))


def real(x: Any) -> Any:
    """A number of many digits, the same where x is a float."""
    return gmpy2.mpfr(int(x) if isinstance(x, np.integer) else x)


def scaled(x: Any, e: int) -> Any:
    """x 2^e."""
    return gmpy2.mul_2exp(x, e) if e >= 0 else gmpy2.div_2exp(x, -e)


def total(values: Iterable[Any]) -> Any:
    """The sum, rounded once."""
    return gmpy2.fsum(list(values))


def dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """The sum of products, rounded once but for the products."""
    return gmpy2.fsum([x * y for x, y in zip(a, b, strict=True)])


def whole(x: Any) -> tuple[int, int]:
    """A whole number k and an exponent e with x = k 2^e."""
    k, e = x.as_mantissa_exp()
    return k, int(e)


def told(x: Any) -> str:
    """Twenty digits."""
    return f"{x:.20g}"


def solve_positive(A: Exact, b: Exact) -> Exact:
    """The solution of A x = b by a Cholesky factor; ArithmeticError where A has none."""
    L, x = A.copy(), b.copy()
    n = len(b)
    for k in range(n):
        if not L[k, k] > 0:
            raise ArithmeticError("not positive definite")
        L[k:, k] /= sqrt(L[k, k])
        for j in range(k + 1, n):
            if L[j, k]:
                L[j:, j] -= L[j:, k] * L[j, k]
    for k in range(n):
        x[k] = (x[k] - (L[k, :k] @ x[:k] if k else 0)) / L[k, k]
    for k in reversed(range(n)):
        x[k] = (x[k] - (L[k + 1 :, k] @ x[k + 1 :] if k + 1 < n else 0)) / L[k, k]
    return x


__all__ = [
    "PRECISION",
    "Exact",
    "Real",
    "digits",
    "dot",
    "exp",
    "expm1",
    "is_finite",
    "log",
    "log1p",
    "real",
    "scaled",
    "solve_positive",
    "sqrt",
    "told",
    "total",
    "whole",
]
