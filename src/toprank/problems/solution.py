"""Solutions of solvers, the proofs they carry, and certificates of how good they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Mixture

Array = NDArray[np.float64]

#: What a gap may be above the tolerance, as a share of it: solvers stop at the tolerance, and
#: rounding comes on top.
ROOM = 0.01
#: A gap as small as this, beside the objective at w = 0, is no gap.
NO_GAP = 1e-12


@dataclass(frozen=True)
class Certificate:
    """Two values that bracket the optimum: `dual` <= minimum <= objective at w <= `primal`.

    They hold in floating point: what rounding may have done to either is included. `at_zero` is
    what w = 0 costs, where that is known. `unit` is what the gap is a share of where the primal
    value is less than that: of an objective that falls below zero.
    """

    primal: float
    dual: float
    at_zero: float = 0.0
    unit: float = 0.0

    @property
    def gap(self) -> float:
        """How far `primal` can be from the minimum, at most."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the primal value, or of the `unit`."""
        return self.gap / self._size if self._size != 0 else self.gap

    @property
    def _size(self) -> float:
        return max(abs(self.primal), self.unit)

    def holds(self, tol: float) -> bool:
        """Whether the relative gap is within `tol`, a hundredth of it left for rounding.

        A gap of 1e-12 of what w = 0 costs is none, however little the fit itself costs. One that is
        further below zero than that proves nothing but a fault: it does not hold.
        """
        none = 1e-13 * self._size + NO_GAP * max(self.at_zero, self.unit)
        enough = tol * (1.0 + ROOM) * self._size + none
        return bool(-none <= self.gap <= enough < np.inf)

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.8g}, dual {self.dual + 0.0:.8g}, "
            f"relative gap {self.relative_gap:.2g}"
        )


class OfTheseRows:
    """What a solver keeps that is of use with the same design in memory alone."""


@dataclass(frozen=True)
class Multipliers:
    """Proof of a bound under a ceiling: the active negatives, by their rows, and their multipliers.

    With the slopes of the other rows at (w, b) they make a dual vector. `dual` is a dual vector of
    all rows, which takes over where b is too high for that. Rows on a cluster have none.
    """

    rows: NDArray[np.int64]
    values: Array
    dual: Array | None = None


#: Evidence for a lower bound: a dual vector v with F*(v) finite, a mixture of rankings where the
#: loss is the worst case over rankings, or multipliers. None stands for the slopes at (w, b).
Proof = Array | Mixture | Multipliers | None


@dataclass
class Solution:
    """Weights, the proof that bounds their distance from the minimum, and the solver's record.

    `b` is the threshold in the terms of the solver.
    """

    w: Array
    proof: Proof = field(default=None, repr=False)
    b: float = 0.0
    n_iter: int = 0
    converged: bool = False
    gave_up: bool = False
    solver: str = ""
    alpha: float = 1.0
    #: X w, to recognise the same data; set by `Problem.certify`.
    scores: Array | None = field(default=None, repr=False)
    #: The certificate, where the rows that prove it are few, and there is no dual vector of all.
    certificate: Certificate | None = None
    #: What the solver knows of the data, and may use again on the same.
    kept: object = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not what is known of rows that another process does not have."""
        return {**vars(self), "kept": None if isinstance(self.kept, OfTheseRows) else self.kept}

    @property
    def dual(self) -> Array:
        """The dual vector, which warm starts read; empty if the proof is of another form."""
        v = self.proof.dual if isinstance(self.proof, Multipliers) else self.proof
        return v if isinstance(v, np.ndarray) else np.empty(0)
