"""What a run was asked for."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """The choices every section knows of."""

    quick: bool
    names: list[str] | None
    repeats: int
    folder: Path
    began: float = field(default_factory=time.perf_counter)

    def tell(self, message: str) -> None:
        """Say on the error stream how far the run has come."""
        minutes = (time.perf_counter() - self.began) / 60
        print(f"[{minutes:5.1f} min] {message}", file=sys.stderr, flush=True)
