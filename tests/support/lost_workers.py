"""Clusters of processes, and events between the rounds of a fit."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from distributed import Client, LocalCluster

import dask
from toprank.dask import reducer


@contextmanager
def two_processes() -> Iterator[Any]:
    """A client of two workers, each in a process of its own."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings = {
        "distributed.deploy.lost-worker-timeout": "1h",
        "distributed.comm.timeouts.connect": "3s",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def after_rounds(
    monkeypatch: pytest.MonkeyPatch, count: int, happens: Callable[[], Any]
) -> Iterator[None]:
    """Something happens once so many rounds of sums are done."""
    plain, done = reducer.Reducer._round, [0]

    def counted(self: Any, *args: Any) -> Any:
        if done[0] == count:
            happens()
        done[0] += 1
        return plain(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(reducer.Reducer, "_round", counted)
        yield
    assert done[0] > count


def kill_one(client: Any) -> None:
    """Kill the worker that holds most."""
    pids = client.run(os.getpid)
    held = {address: len(keys) for address, keys in client.has_what().items()}
    os.kill(pids[max(pids, key=lambda address: held.get(address, 0))], signal.SIGKILL)
