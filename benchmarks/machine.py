"""What the figures were measured on and with."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy
import scipy
import sklearn


def processor() -> str:
    """The processor's name as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def toprank_version() -> str:
    """The installed version, where toprank is installed and not only on the path."""
    try:
        return version("toprank")
    except ModuleNotFoundError:
        return "from source"


def describe() -> str:
    """Date, processor and versions, as a Markdown list."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return "\n".join(
        [
            f"* {datetime.now(UTC):%Y-%m-%d}; {processor()}, {os.cpu_count()} cores, "
            f"load {load} at the start; one thread for everybody",
            f"* toprank {toprank_version()}, Python {platform.python_version()}, "
            f"NumPy {numpy.__version__}, SciPy {scipy.__version__}, "
            f"scikit-learn {sklearn.__version__} (with its own copy of LIBLINEAR)",
        ]
    )
