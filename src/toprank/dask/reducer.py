"""Rounds of sums: a kernel for every part, and what they return added in the order of the parts.

The driver submits, waits and adds. A kernel is a pure function of a part and its arguments, so
that whatever worker did it, or died over it, the bits are the same. Dask computes the parts of a
dead worker anew by itself; what is here is for what it cannot mend: parts it has given up, a task
that kills its workers, no workers at all, a scheduler that is gone.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as SlowFuture
from threading import Thread
from typing import Any
from uuid import uuid4

from sklearn.base import BaseEstimator

from .settings import DistributedFitError, Settings, check_running

#: Partial sums of more bytes than this, all parts together, are added on the workers first.
_TREE_FROM = 64_000_000
#: How many of them at a time. The bits depend on it, and on nothing else but the parts.
_FAN_IN = 8
#: Arguments of more bytes are sent to every worker once, and not with every task.
INLINE = 1_000_000
#: Seconds between two looks at what is done.
_POLL = 0.5
#: Seconds to wait before a round is submitted again.
_PAUSE = 0.5
#: Seconds that a scheduler may take to tell of its state.
_TELLING = 5.0


class Reducer:
    """Sums over parts, each part a few futures that live on the same worker.

    Parameters
    ----------
    client : distributed.Client
        Where the parts are.
    parts : list of tuple of futures
        What a kernel is given of each part.
    settings : Settings
        How patient to be.
    remake : callable, optional
        ``remake(i)`` gives new futures for part i, where Dask has given up the old ones.
    """

    def __init__(
        self,
        client: Any,
        parts: Sequence[tuple[Any, ...]],
        settings: Settings,
        remake: Callable[[int], tuple[Any, ...]] | None = None,
    ) -> None:
        self.client, self.parts, self.settings, self.remake = client, list(parts), settings, remake
        self._name = uuid4().hex[:12]
        self.rounds = 0
        #: Bytes of arguments that were sent, of one part, and of sums that came back, of all.
        self.bytes_up = self.bytes_down = 0

    def __call__(
        self,
        kernel: Callable[..., Any],
        args: tuple[Any, ...],
        add: Callable[[list[Any]], Any],
        size: int = 0,
        own: Sequence[tuple[Any, ...]] | None = None,
    ) -> Any:
        """``add([kernel(*part, *args) for every part])``, or a tree of such sums if they are large.

        `add` takes results in the order of the parts, and is associative but for rounding. `size`
        is what one result has in bytes, roughly. `own` are further arguments, of each part.
        """
        self.rounds += 1
        self.bytes_up += bytes_of(args) + (0 if own is None else bytes_of(own))
        each = [_Packed(kernel, one) for one in own or [()] * len(self.parts)]
        last: BaseException | None = None
        for attempt in range(self.settings.retries + 1):
            check_running(self.client)
            if attempt:
                time.sleep(_PAUSE)
                self._mend()
            tag = f"{kernel.__name__}-{self._name}-{self.rounds}-{attempt}"
            try:
                return self._round(_Packed(kernel, args), each, add, size, tag)
            except _lost() as error:
                last = error
        failed = [i for i, part in enumerate(self.parts) if _broken(part)]
        raise DistributedFitError(
            f"Round {self.rounds} ({kernel.__name__}) was lost {self.settings.retries + 1} times, "
            f"the last time by {type(last).__name__}: {last}. {self._of_parts(failed)}",
            parts=failed,
            state=self._state(),
        ) from last

    def _round(
        self,
        packed: Any,
        own: list[_Packed],
        add: Callable[[list[Any]], Any],
        size: int,
        tag: str,
    ) -> Any:
        if bytes_of(packed.args) > INLINE:
            # Lost with its worker, it comes with the next attempt: the driver has it.
            (packed,) = self.client.scatter([packed], broadcast=True, hash=False)
        n = len(self.parts)
        # Positional: large arrays that are keywords of `map` share a key, whatever the call.
        keys = [f"{tag}-{i}" for i in range(n)]
        done = self.client.map(
            _run, [packed] * n, own, *zip(*self.parts, strict=True), key=keys, pure=False
        )
        level, depth = done, 0
        while size * n > _TREE_FROM and len(level) > _FAN_IN:
            groups = [level[at : at + _FAN_IN] for at in range(0, len(level), _FAN_IN)]
            level = [
                self.client.submit(_added, add, group, key=f"add-{tag}-{depth}-{at}", pure=False)
                for at, group in enumerate(groups)
            ]
            depth += 1
        self._wait(level, done, tag)
        self._refuse_failed(done)
        found = self._gather(level)
        self.bytes_down += sum(bytes_of(one) for one in found)
        return add(found)

    def _wait(self, level: list[Any], watched: list[Any], tag: str) -> None:
        """Until all are done; an error where nothing has happened for too long."""
        from distributed import wait

        seen: Any = None
        since = time.monotonic()
        while True:
            check_running(self.client)
            try:
                wait(level, timeout=min(_POLL, self.settings.idle_timeout / 4))
                return
            except (TimeoutError, SlowFuture):
                pass
            now = (
                sum(future.done() for future in watched),
                sum(_finished(part) for part in self.parts),
                tuple(self.client.scheduler_info(n_workers=-1)["workers"]),
            )
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > self.settings.idle_timeout:
                left = [i for i, future in enumerate(watched) if not future.done()]
                state = self._state()
                self.client.cancel(watched)
                raise DistributedFitError(
                    f"No progress for {self.settings.idle_timeout:g} seconds in {tag}: "
                    f"{len(watched) - len(left)} of {len(watched)} parts are done, and there are "
                    f"{len(now[-1])} workers. {self._of_parts(left)}",
                    parts=left,
                    state=state,
                )

    def _refuse_failed(self, done: list[Any]) -> None:
        """Raise what a kernel raised; what killed its workers is for the loop of attempts."""
        for i, future in enumerate(done):
            if future.status == "error":
                error = future.exception()
                if isinstance(error, _lost()):
                    raise error
                error.add_note(f"in part {i} of {len(self.parts)}, on a worker")
                raise error

    def _gather(self, futures: list[Any]) -> list[Any]:
        """The results, in a thread of its own: for a lost connection one could wait for ever."""
        found: list[Any] = []
        failed: list[BaseException] = []

        def gather() -> None:
            try:
                found.extend(self.client.gather(futures))
            except BaseException as error:
                failed.append(error)

        thread = Thread(target=gather, daemon=True)
        thread.start()
        thread.join(self.settings.idle_timeout)
        if thread.is_alive():
            raise DistributedFitError(
                f"Sums could not be fetched within {self.settings.idle_timeout:g} seconds.",
                state=self._state(),
            )
        if failed:
            raise failed[0]
        return found

    def _mend(self) -> None:
        """Parts that Dask has given up are asked for anew."""
        for i, part in enumerate(self.parts):
            if _broken(part) and self.remake is not None:
                self.parts[i] = self.remake(i)

    def _of_parts(self, places: list[int]) -> str:
        if not places:
            return "No part is known to be the reason."
        named = ", ".join(map(str, places[:8])) + (", ..." if len(places) > 8 else "")
        return f"Missing: part {named} of {len(self.parts)}."

    def _state(self) -> dict[str, Any]:
        """What the scheduler says of itself, if it answers."""
        if self.client.status != "running":
            return {"client": self.client.status}
        told: list[Any] = []

        def ask() -> None:
            try:
                told.append(self.client.run_on_scheduler(_state_of_scheduler))
            except BaseException as error:
                told.append({"error": repr(error)})

        thread = Thread(target=ask, daemon=True)
        thread.start()
        thread.join(_TELLING)
        return dict(told[0]) if told else {"error": "the scheduler does not answer"}


class _Packed:
    """A kernel and its arguments, which Dask is not to look into."""

    def __init__(self, kernel: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.kernel, self.args = kernel, args

    def __sizeof__(self) -> int:
        return bytes_of(self.args) + 200


def _run(packed: _Packed, own: _Packed, *part: Any) -> Any:
    return packed.kernel(*part, *packed.args, *own.args)


def _added(add: Callable[[list[Any]], Any], group: list[Any]) -> Any:
    return add(group)


def bytes_of(thing: Any) -> int:
    """Bytes of arrays in a result, or in arguments."""
    if isinstance(thing, BaseEstimator):
        return len(pickle.dumps(thing))  # what it holds may be anything
    if hasattr(thing, "nbytes"):
        return int(thing.nbytes)
    if isinstance(thing, dict):
        return sum(bytes_of(one) for one in thing.values())
    if isinstance(thing, list | tuple):
        return sum(bytes_of(one) for one in thing)
    if hasattr(thing, "__dict__"):
        return bytes_of(vars(thing))
    return int(sys.getsizeof(thing))


def _broken(part: tuple[Any, ...]) -> bool:
    return any(future.status in ("cancelled", "lost", "error") for future in part)


def _finished(part: tuple[Any, ...]) -> bool:
    return all(future.status == "finished" for future in part)


def _lost() -> tuple[type[BaseException], ...]:
    """What a round may be lost by, and submitted again after."""
    from distributed.client import FutureCancelledError, FuturesCancelledError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker, NoValidWorkerError

    return (
        CancelledError,
        FutureCancelledError,
        FuturesCancelledError,
        KilledWorker,
        NoValidWorkerError,
        CommClosedError,
        ConnectionError,
    )


def _state_of_scheduler(dask_scheduler: Any = None) -> dict[str, Any]:
    scheduler = dask_scheduler
    return {
        "workers": {
            address: {
                "status": str(worker.status),
                "threads": worker.nthreads,
                "memory": worker.metrics.get("memory"),
                "processing": len(worker.processing),
            }
            for address, worker in scheduler.workers.items()
        },
        "tasks": dict(Counter(task.state for task in scheduler.tasks.values())),
    }


__all__ = ["INLINE", "Reducer", "bytes_of"]
