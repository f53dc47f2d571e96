"""What this copy of toprank is made of: for a bug report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from . import _core

#: What a fit may depend on; the last three are extras.
_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "threadpoolctl",
    "pandas",
    "pyarrow",
    "dask",
)


def facts() -> dict[str, str]:
    """Versions, and how the core was built, by name."""
    found = {
        "toprank": version("toprank"),
        "core": f"{_core.level}, compiled by {_core.compiler}",
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "machine": platform.platform(),
    }
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def show_versions() -> None:
    """Print the versions of toprank and of what it uses, and how its core was built.

    Examples
    --------
    >>> import toprank
    >>> toprank.show_versions()  # doctest: +ELLIPSIS
    toprank        ...
    """
    for name, value in facts().items():
        print(f"{name:<14} {value}")


__all__ = ["facts", "show_versions"]
