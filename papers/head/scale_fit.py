"""One fit in a process of its own: python papers/head/scale_fit.py SYSTEM X.npy y.npy.

`scale` runs it, also with an earlier version of toprank.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where the folder `common` is

import numpy as np


def fit_of(system: str) -> Callable[[Any, Any], Any]:
    """Return what fits a system, with its libraries imported."""
    if system == "LightGBM, tuned":
        from sets import Parts
        from systems import tuned_trees

        return lambda X, y: tuned_trees(Parts(X, y, X[:1000], y[:1000]), 0)
    from toprank import HeadRanker

    with suppress(ImportError):
        import lightgbm  # noqa: F401  HeadRanker would import it while the clock runs
    options = {"effort": "fast"} if system == "HeadRanker, fast" else {}
    return HeadRanker(**options, random_state=0).fit


def peak_bytes() -> int:
    """Return the peak memory of this process, by Linux.

    `getrusage` is no substitute: it counts the memory of the process that started this one.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (peak,) = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return 1024 * int(peak)


def main() -> None:
    """Print the CPU seconds and the peak memory of a fit."""
    system, *paths = sys.argv[1:]
    fit = fit_of(system)
    X, y = (np.load(path) for path in paths)
    began = time.process_time()
    fit(X, y)
    print(json.dumps({"seconds": time.process_time() - began, "peak": peak_bytes()}))


if __name__ == "__main__":
    main()
