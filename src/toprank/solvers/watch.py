"""History of a fit: one row each time a solver knows its gap."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..designs import Design

#: One row of the history of a fit. What a method does not know is NaN.
HISTORY = np.dtype(
    [
        ("iteration", np.int64),
        ("passes", np.float64),
        ("seconds", np.float64),
        ("primal", np.float64),
        ("dual", np.float64),
        ("relative_gap", np.float64),
    ]
)
#: Takes the attributes that a fit would have if it ended here; True asks it to end.
Report = Callable[[dict[str, Any]], bool]


class Watch:
    """Keeps the history of a fit: one row for each step, round, or check of the gap.

    Parameters
    ----------
    design : Design, optional
        Counts the passes over the data; without it there are none.
    verbose : int
        Print a line a row where above zero.
    report : callable, optional
        Called at every row with the attributes the fit would have if it ended there; returning
        True asks the solver to stop.
    """

    def __init__(
        self, design: Design | None = None, *, verbose: int = 0, report: Report | None = None
    ) -> None:
        self.design = design
        self.verbose = verbose
        self._report = report
        self._began = time.perf_counter()
        self.asked_to_stop = False
        #: Iterations of a solver that handed over to the one that is running.
        self.iterations_before = 0
        #: Passes over the data that were made for another fit.
        self.passes_before = 0.0
        #: The attributes that weights stand for: the method that learns them says so.
        self.attributes: Callable[[Any], dict[str, Any]] = _linear
        #: What a gap is a share of where the primal value is less.
        self.unit = 0.0
        #: The bounds of the solver that is running, with the solution they belong to: `Progress`.
        self.progress: Any = None
        self._rows: list[tuple[int, float, float, float, float, float]] = []

    def __call__(
        self,
        iteration: int,
        primal: float,
        dual: float,
        current: Callable[[], Any],
    ) -> bool:
        """Note and print a row; `current` gives the best weights so far, if someone asks."""
        iteration += self.iterations_before
        gap = self._add(iteration, primal, dual)
        if self.verbose > 0:
            if len(self._rows) == 1:
                print(f"{'iteration':>9} {'passes':>8} {'seconds':>8} {'primal':>13} {'gap':>9}")
            print(
                f"{iteration:>9} {self.passes:>8.1f} {self.seconds:>8.2f}"
                f" {primal:>13.7g} {gap:>9.2e}",
                flush=True,
            )
        return self._tell(current)

    def note(self, iteration: int, current: Callable[[], Any]) -> bool:
        """Note a row without bounds, of a method that tells of its steps in its own words."""
        self._add(iteration, np.nan, np.nan)
        return self._tell(current)

    def settle(self, primal: float, dual: float) -> None:
        """Put bounds that were found afterwards in the last row."""
        iteration, passes, seconds, *_ = self._rows.pop()
        self._rows.append((iteration, passes, seconds, primal, dual, self._relative(primal, dual)))

    def _add(self, iteration: int, primal: float, dual: float) -> float:
        gap = self._relative(primal, dual)
        self._rows.append((iteration, self.passes, self.seconds, primal, dual, gap))
        return gap

    def _relative(self, primal: float, dual: float) -> float:
        size = max(abs(primal), self.unit)
        return (primal - dual) / size if size else primal - dual

    def _tell(self, current: Callable[[], Any]) -> bool:
        if self._report is not None:
            self.asked_to_stop = self._report(self.attributes(current()))
        return self.asked_to_stop

    @property
    def passes(self) -> float:
        """Over the data, so far."""
        return 0.0 if self.design is None else self.design.passes - self.passes_before

    @property
    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self._began

    @property
    def history(self) -> NDArray[np.void]:
        """The rows so far as a structured array; see `HISTORY`."""
        return np.array(self._rows, dtype=HISTORY)


def _linear(w: Any) -> dict[str, Any]:
    return {"coef_": w[np.newaxis]}


__all__ = ["HISTORY", "Watch"]
