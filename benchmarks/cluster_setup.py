"""Clusters on this machine, tables whose parts can be made again, and workers that are killed."""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import dask

#: A cluster forgets a worker that is absent for so long after a death, for good.
CONFIG = {"distributed.deploy.lost-worker-timeout": "1h", "distributed.comm.timeouts.connect": "5s"}


def block(place: Any, rows: int, d: int, share: float, noise: float) -> Any:
    """The rows of a part, and their labels in the last column: a function of its number."""
    rng = np.random.default_rng([7, *map(int, np.ravel(place))])
    X = rng.normal(size=(rows, d)).astype(np.float32)
    w = np.cos(np.arange(d)) / np.sqrt(d)
    score = X @ w * 1.4 + noise * rng.normal(size=rows)
    spread = np.sqrt(0.98 + noise * noise)
    from scipy.stats import norm

    y = score > spread * norm.isf(share)
    return np.column_stack([X, y.astype(np.float32)])


def table(n: int, d: int, parts: int, share: float = 0.02, noise: float = 0.7) -> tuple[Any, Any]:
    """Rows and labels in parts, made on the workers."""
    sizes = np.diff(np.linspace(0, n, parts + 1).astype(int)).tolist()
    made = [
        da.from_delayed(
            dask.delayed(block, pure=True)((k,), rows, d, share, noise), (rows, d + 1), np.float32
        )
        for k, rows in enumerate(sizes)
    ]
    whole = da.concatenate(made)
    return whole[:, :d], whole[:, d].astype(np.int8)


def here(n: int, d: int, parts: int, share: float = 0.02, noise: float = 0.7) -> tuple[Any, Any]:
    """The same in memory."""
    sizes = np.diff(np.linspace(0, n, parts + 1).astype(int)).tolist()
    made = np.concatenate([block((k,), rows, d, share, noise) for k, rows in enumerate(sizes)])
    return np.ascontiguousarray(made[:, :d]), made[:, d].astype(np.int8)


@contextmanager
def workers(count: int = 2, *, nanny: bool = True) -> Iterator[Any]:
    """A client of so many worker processes of one thread; without a nanny a dead one stays dead."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(CONFIG):
        if nanny:
            with (
                LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                    env={"OMP_NUM_THREADS": "1"},
                ) as cluster,
                Client(cluster) as client,
            ):
                yield client
            return
        with (
            LocalCluster(n_workers=0, dashboard_address=":0", processes=True) as cluster,
            Client(cluster) as client,
        ):
            address = cluster.scheduler_address
            command = [sys.executable, "-m", "distributed.cli.dask_worker", address]
            command += ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
            own = {
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "PYTHONPATH": str(Path(__file__).parent),
            }  # for `block`
            quiet = subprocess.DEVNULL
            started = [
                subprocess.Popen(command, stdout=quiet, stderr=quiet, env=own) for _ in range(count)
            ]
            try:
                client.wait_for_workers(count, timeout=60)
                yield client
            finally:
                for one in started:
                    one.kill()
                    one.wait()


class Killer(threading.Thread):
    """Kills workers after some seconds: those that hold most parts, or all."""

    def __init__(self, client: Any, after: float, *, everyone: bool = False) -> None:
        super().__init__(daemon=True)
        self.client, self.after, self.everyone, self.killed = client, after, everyone, 0

    def run(self) -> None:
        """Wait, then kill."""
        time.sleep(self.after)
        held = {address: len(keys) for address, keys in self.client.has_what().items()}
        pids = self.client.run(os.getpid)
        victims = list(pids) if self.everyone else [max(held, key=lambda one: held[one])]
        for address in victims:
            os.kill(pids[address], signal.SIGKILL)
            self.killed += 1


def bits(ranker: Any) -> str:
    """A short name of the bits of a fit."""
    made = hashlib.sha256(ranker.coef_.tobytes() + ranker.intercept_.tobytes())
    return made.hexdigest()[:12]
