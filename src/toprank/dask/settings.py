"""Which client a fit on a cluster uses, and how patient it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
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


#: How often a round of sums is asked for again after workers, or the way to them, were lost.
RETRIES = 3
#: Seconds without any progress before a fit gives up.
IDLE_TIMEOUT = 300.0


@dataclass(frozen=True)
class Settings:
    """What `options` sets."""

    client: Any = None
    retries: int = RETRIES
    idle_timeout: float = IDLE_TIMEOUT


_CURRENT: ContextVar[Settings] = ContextVar("toprank_dask_settings", default=Settings())  # noqa: B039


def current() -> Settings:
    """The settings that hold here."""
    return _CURRENT.get()


@contextmanager
def options(
    *, client: Any = None, retries: int | None = None, idle_timeout: float | None = None
) -> Iterator[None]:
    """Set the client, and the patience, of the fits within.

    Parameters
    ----------
    client : distributed.Client, optional
        The client to use; without it the default one, and inside a task that of its worker.
    retries : int, optional
        How often a round of sums is submitted again after it was lost; 3 without it. Dask itself
        computes the parts of a worker that died anew: that is no retry.
    idle_timeout : float, optional
        Seconds without any progress after which a fit raises `DistributedFitError`; 300 without
        it.

    Examples
    --------
    >>> from toprank.dask import options
    >>> with options(retries=5, idle_timeout=60):
    ...     pass  # fits in here
    """
    before = current()
    if retries is not None and retries < 0:
        raise ValueError(f"retries must be 0 or more, got {retries}.")
    if idle_timeout is not None and not idle_timeout > 0:
        raise ValueError(f"idle_timeout must be above 0 seconds, got {idle_timeout}.")
    settings = replace(
        before,
        client=before.client if client is None else client,
        retries=before.retries if retries is None else int(retries),
        idle_timeout=before.idle_timeout if idle_timeout is None else float(idle_timeout),
    )
    token = _CURRENT.set(settings)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def check_running(client: Any) -> None:
    """Refuse a client whose scheduler cannot be reached."""
    if client.status != "running":
        raise DistributedFitError(
            f"The client is {client.status}: its scheduler cannot be reached. Connect again; where "
            "a fit was running, go on from error.solution."
        )


@contextmanager
def client_at_hand() -> Iterator[Any]:
    """The client of `options`, that of the worker one is in, or the default one."""
    import distributed

    given = current().client
    if given is not None:
        check_running(given)
        yield given
        return
    try:
        distributed.get_worker()
    except ValueError:
        pass
    else:
        # The task makes room for the tasks of the fit: it would wait for them for ever.
        with distributed.worker_client() as client:
            yield client
        return
    try:
        client = distributed.default_client()
    except ValueError:
        raise ValueError(
            "Rows of a Dask collection are fitted on a cluster, and there is no client: make one, "
            "client = distributed.Client(), or pass one by toprank.dask.options(client=...). For "
            "this machine alone, Client() starts workers on it."
        ) from None
    yield client


__all__ = [
    "DistributedFitError",
    "Settings",
    "check_running",
    "client_at_hand",
    "current",
    "options",
]
