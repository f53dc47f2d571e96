"""Install a wheel where there is no compiler, and run the demo: what a user without one types.

    python packaging/try_wheel.py dist/toprank-*.whl

A clean environment is made for each wheel that this Python can take, in an empty folder. Programs
are looked for in that environment alone, so that a step which needs a compiler or CMake fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def main(wheels: list[str]) -> None:
    """Try each of them that is for this Python."""
    mine = [wheel for wheel in wheels if _is_for_this_python(Path(wheel))]
    if not mine:
        raise SystemExit(f"None of {', '.join(wheels)} is for Python {sys.version.split()[0]}.")
    for wheel in mine:
        with tempfile.TemporaryDirectory() as folder:
            _try(Path(wheel).resolve(), Path(folder))


def _is_for_this_python(wheel: Path) -> bool:
    """By its name, such as toprank-0.2.0-cp312-abi3-manylinux_2_28_x86_64.whl."""
    python, abi = wheel.stem.split("-")[2:4]
    version = (3, int(python.removeprefix("cp3")))
    return sys.version_info[:2] >= version if abi == "abi3" else sys.version_info[:2] == version


def _try(wheel: Path, folder: Path) -> None:
    venv.create(folder / "clean", with_pip=True)
    programs = folder / "clean" / ("Scripts" if sys.platform == "win32" else "bin")
    nothing_else = {"PATH": str(programs), "HOME": str(folder)}
    # Where packages come from is the machine's business.
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    for command in (
        ["pip", "install", "--quiet", "--only-binary=:all:", str(wheel)],
        ["python", "-m", "toprank.demo"],
    ):
        print("$", *command)
        path = programs / command[0]
        subprocess.run([path, *command[1:]], check=True, cwd=folder, env=nothing_else | kept)


if __name__ == "__main__":
    main(sys.argv[1:])
