"""Cholesky factors of matrices that rounding may have spoilt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

Array = NDArray[np.float64]

#: What is added to a diagonal where rounding has left no factor, as a share of what is given.
_RIDGES = (0.0, *np.geomspace(1e-15, 1.0, 16))


def cholesky(matrix: Array, lift: Array | float) -> Array | None:
    """The lower Cholesky factor of a symmetric matrix in Fortran order, which is written to.

    Columns may be multiples of each other, at a tiny alpha: the diagonal is lifted by ever more of
    `lift`, for what rounding lost, until there is a factor; None where nothing helps.
    """
    diagonal = np.einsum("ii->i", matrix)
    for ridge in _RIDGES:
        diagonal += ridge * lift
        factor, failed = dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return np.asarray(factor)
    return None
