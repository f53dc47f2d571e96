"""The reference cases of `reference_cases/`: small problems that other solvers have solved."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).parent / "reference_cases"


def reference_file(name: str) -> Path:
    """The archive of this name; the folder's README says what it holds."""
    return CASES / f"{name}.npz"
