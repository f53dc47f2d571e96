"""Build the core for arm64 by a cross compiler; run the demo and its tests by an emulator.

    python packaging/try_arm64.py

For Debian and its kin, on x86-64: `apt install g++-aarch64-linux-gnu qemu-user` first. Python for
arm64 comes from Debian's packages, of the version that runs this, and NumPy and the others from
their wheels. All is unpacked into build/arm64; nothing is installed. An emulator tells whether
results are right, and nothing of speed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "arm64"
PYTHON = f"python3.{sys.version_info[1]}"
#: Where the compiler and the emulator are from, by Debian's names.
PROGRAMS = {"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user"}
#: Python, and the libraries that it and NumPy ask for.
DEBIAN = (
    *(f"{PYTHON}-minimal", f"lib{PYTHON}-minimal", f"lib{PYTHON}-stdlib"),
    *("libc6", "libgcc-s1", "libstdc++6", "libgomp1", "zlib1g", "libexpat1", "libffi8"),
    *("libssl3", "libbz2-1.0", "liblzma5", "libsqlite3-0", "libuuid1"),
)
#: What the demo and the tests of the core import.
WHEELS = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "hypothesis", "cvxpy")
TESTS = ("pytest", "pytest-xdist")
#: Of wheels: Debian 12 has a C library of version 2.36.
MANYLINUX = (17, 24, 26, 27, 28, 31, 34, 35)


def main(tests: list[str]) -> None:
    """Get what is needed, build, and run."""
    lacking = [debian for program, debian in PROGRAMS.items() if shutil.which(program) is None]
    if lacking:
        raise SystemExit(f"Not on this machine: apt install {' '.join(lacking)}")
    PLACE.mkdir(parents=True, exist_ok=True)
    _unpack_python()
    _unpack_wheels()
    _build()
    for command in (
        ["-m", "toprank.demo"],
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
    ):
        print("$", PYTHON, *command, flush=True)
        subprocess.run(_emulated(command), check=True, cwd=ROOT, env=os.environ | _environment())


def _unpack_python() -> None:
    """From Debian's packages for arm64, by lists of our own: the machine's stay as they are."""
    root = PLACE / "root"
    if (root / "usr" / "bin" / PYTHON).exists():
        return
    debs, lists = PLACE / "debs", PLACE / "lists"
    for folder in (debs, lists / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    empty = PLACE / "none-installed"
    empty.touch()
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root",
        "Dir::State::lists": f"{lists}/",
        "Dir::State::status": str(empty),
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    print("getting Python for arm64 from Debian's packages", flush=True)
    subprocess.run([*apt, "update"], check=True, cwd=debs)
    subprocess.run([*apt, "download", *DEBIAN], check=True, cwd=debs)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", deb, root], check=True)


def _unpack_wheels() -> None:
    site = PLACE / "site"
    if site.exists():
        return
    print(f"getting {', '.join(WHEELS)} for arm64", flush=True)
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in MANYLINUX]
    python = f"--python-version=3.{sys.version_info[1]}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", python]
    subprocess.run([*pip, *platforms, f"--target={site}", *WHEELS, *TESTS], check=True)


def _build() -> None:
    """The package with a core for arm64, which is that of the plain instruction set."""
    programs = Path(sys.executable).parent
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
        "CMAKE_MAKE_PROGRAM": programs / "ninja",
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind,
    }
    print("compiling the core for arm64", flush=True)
    given = [f"-D{name}={value}" for name, value in settings.items()]
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    folder = PLACE / "build"
    subprocess.run([programs / "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *given], **quiet)
    subprocess.run([programs / "cmake", "--build", folder], **quiet)
    # As a wheel for arm64 would have it.
    package = PLACE / "package" / "toprank"
    shutil.rmtree(package, ignore_errors=True)
    built = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "toprank", package, ignore=built)
    own = sysconfig.get_config_var("EXT_SUFFIX")  # CMake names it for the Python that it was run by
    other = own.replace("x86_64", "aarch64")
    shutil.copy(folder / f"_baseline{own}", package / "_core" / f"_baseline{other}")


def _emulated(command: list[str]) -> list[str]:
    root = PLACE / "root"
    return ["qemu-aarch64", "-L", str(root), str(root / "usr" / "bin" / PYTHON), *command]


def _environment() -> dict[str, str]:
    """Threads of an emulator wait for each other."""
    places = os.pathsep.join(str(PLACE / name) for name in ("package", "site"))
    return {"PYTHONPATH": places, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


if __name__ == "__main__":
    main(sys.argv[1:] or ["tests/core"])
