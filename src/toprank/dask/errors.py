"""What a fit on a cluster ends with where it cannot go on."""

from __future__ import annotations

from typing import Any

from ..exceptions import UnfinishedFitError


class DistributedFitError(UnfinishedFitError):
    """A fit on a cluster could not go on.

    Attributes
    ----------
    parts : list of int
        The parts of the data whose sums are missing.
    solution : estimator or None
        A ranker with the best weights so far and their certificate. It scores rows, and
        ``error.solution.set_params(warm_start=True).fit(X, y)`` goes on from there. None where a
        method has nothing before its only round of sums is complete.
    state : dict
        What the scheduler said of its workers and tasks, as far as it could be asked.

    Examples
    --------
    >>> from toprank.dask import DistributedFitError
    >>> error = DistributedFitError("no progress", parts=[3])
    >>> error.parts, error.solution
    ([3], None)
    """

    def __init__(
        self,
        message: str,
        *,
        parts: list[int] | None = None,
        solution: Any = None,
        state: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.parts = [] if parts is None else parts
        self.solution: Any = solution
        self.state = {} if state is None else state

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (str(self), self.parts, self.solution, self.state)


def _made(message: str, parts: list[int], solution: Any, state: dict[str, Any]) -> Any:
    return DistributedFitError(message, parts=parts, solution=solution, state=state)


__all__ = ["DistributedFitError"]
