"""What a fit tells while it runs: a row of history whenever a solver knows its gap."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .designs import Design

Array = NDArray[np.float64]

#: One row of the history of a fit.
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


class Watch:
    """Keeps the history of a fit: one row for each step, or check of the gap by dual descent.

    Parameters
    ----------
    design : Design
        Counts the passes over the data.
    verbose : int
        Print a line a row where above zero.
    on_iteration : callable, optional
        Called with the best weights so far at every row; returning True asks the solver to stop.
    """

    def __init__(
        self,
        design: Design,
        *,
        verbose: int = 0,
        on_iteration: Callable[[Array], bool] | None = None,
    ) -> None:
        self._design = design
        self._verbose = verbose
        self._on_iteration = on_iteration
        self._began = time.perf_counter()
        self.asked_to_stop = False
        #: Iterations of a solver that handed over to the one that is running.
        self.iterations_before = 0
        #: What the weights of the problem a solver sees are to the method that gave it.
        self.sign = 1.0
        self._rows: list[tuple[int, float, float, float, float, float]] = []

    def __call__(
        self,
        iteration: int,
        primal: float,
        dual: float,
        current: Callable[[], Array],
    ) -> bool:
        """Note a row; `current` gives the best weights so far, if someone asks."""
        iteration += self.iterations_before
        gap = (primal - dual) / abs(primal) if primal else primal - dual
        seconds = time.perf_counter() - self._began
        self._rows.append((iteration, self._design.passes, seconds, primal, dual, gap))
        if self._verbose > 0:
            if len(self._rows) == 1:
                print(f"{'iteration':>9} {'passes':>8} {'seconds':>8} {'primal':>13} {'gap':>9}")
            print(
                f"{iteration:>9} {self._design.passes:>8.1f} {seconds:>8.2f}"
                f" {primal:>13.7g} {gap:>9.2e}",
                flush=True,
            )
        if self._on_iteration is not None:
            self.asked_to_stop = self._on_iteration(self.sign * current())
        return self.asked_to_stop

    @property
    def history(self) -> NDArray[np.void]:
        """The rows so far as a structured array; see `HISTORY`."""
        return np.array(self._rows, dtype=HISTORY)
