"""Fuzz the readers: `python -m fuzz.readers` from the folder tests.

Each reader has a process of its own, which may take a gigabyte and ten seconds for a file. A file
must be taken, or refused by an error meant for it. Anything else is a finding: another exception,
a process that dies, a file that takes too long or too much. A finding is kept beside the report,
and `--repeat READER:SEED:INDEX` reads its file again.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from support.other_core import use_the_core_that_is_named

use_the_core_that_is_named()

from .mutate import mutant  # noqa: E402
from .subjects import SUBJECTS, Subject  # noqa: E402

#: Seconds for one file, of the processor.
SECONDS = 10
#: Bytes beyond what the process has at its start.
MEMORY = 1 << 30
#: Files after which a process tells how far it is.
OFTEN = 100
#: Seconds for so many, wherever it hangs: compiled code hears no signal.
HANGS = 300.0
#: Findings of a reader after which it is left alone.
ENOUGH = 20


def made(name: str, seeds: list[bytes], seed: int, index: int) -> bytes:
    """The file of an index."""
    return mutant(seeds, random.Random(f"{name}:{seed}:{index}"))


def read(subject: Subject, path: Path, data: bytes) -> str:
    """What is wrong with how a file is read; nothing, if it is taken or refused."""
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            subject.read(path)
    except subject.refusals:
        return ""
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return ""


def work(name: str, seed: int, first: int, last: int) -> None:
    """Read files one after the other; the index of each is told before it is read."""
    subject = SUBJECTS[name]

    def too_long(*_: object) -> None:
        raise TimeoutError(f"{SECONDS} s")

    signal.signal(signal.SIGVTALRM, too_long)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as at:
        os.chdir(at)
        path = Path(f"table{subject.ending}")
        seeds = subject.seeds()
        for data in seeds:
            if wrong := read(subject, path, data):
                raise SystemExit(f"a good file is not read: {wrong}")
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))
        for index in range(first, last):
            if index % OFTEN == 0:
                print(f"at {index}", flush=True)
                faulthandler.dump_traceback_later(HANGS, exit=True)
            if wrong := read(subject, path, made(name, seeds, seed, index)):
                print(f"found {index} {' '.join(wrong.split())}", flush=True)
        print(f"at {last}", flush=True)


def watch(name: str, seed: int, count: int, end: float) -> tuple[int, list[str]]:
    """Run the reader's process, again after a death; how many files were read, what was found."""
    at, found = 0, []
    while at < count and len(found) < ENOUGH and time.monotonic() < end:
        command = [sys.executable, "-m", "fuzz.readers", "--work", f"{name}:{seed}:{at}:{count}"]
        # Few threads of Arrow, whose stacks would count as memory.
        environment = os.environ | {"OMP_NUM_THREADS": "1", "ARROW_IO_THREADS": "1"}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert process.stdout is not None
        for line in process.stdout:
            kind, _, rest = line.partition(" ")
            if kind == "at":
                at = int(rest)
            elif kind == "found":
                found.append(f"{name}:{seed}:{rest.strip()}")
            if time.monotonic() > end or len(found) >= ENOUGH:
                process.kill()
                break
        _, errors = process.communicate()
        if process.returncode not in (0, -signal.SIGKILL):
            found.append(f"{name}:{seed}:{at}.. died, {process.returncode}: {errors[-500:]}")
            at += OFTEN
    return at, found


def main() -> int:
    """Fuzz the readers one after the other; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.readers", description=__doc__)
    parser.add_argument("--inputs", type=int, default=125_000, help="files for each reader")
    parser.add_argument("--seconds", type=float, default=3600.0, help="for all of them")
    parser.add_argument("--seed", type=int, help="of all files; without it a fresh one")
    parser.add_argument("--reader", choices=sorted(SUBJECTS), action="append")
    parser.add_argument("--repeat", metavar="READER:SEED:INDEX", help="one file, printed and read")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        name, *numbers = options.work.split(":")
        work(name, *map(int, numbers))
        return 0
    if options.repeat:
        return _repeat(options.repeat)
    seed = time.time_ns() % 10**9 if options.seed is None else options.seed
    names, failed, total = options.reader or list(SUBJECTS), False, 0
    began = time.monotonic()
    for k, name in enumerate(names):
        left = options.seconds - (time.monotonic() - began)
        files, found = watch(name, seed, options.inputs, time.monotonic() + left / (len(names) - k))
        total += files
        if not files and not found:
            found = [f"no {OFTEN} files were read in the time: give it more --seconds"]
        failed = failed or bool(found)
        print(
            f"{name:<10} {files:>9,} files, {len(found)} findings", *found, sep="\n  ", flush=True
        )
    print(f"{total:,} files, seed {seed}, {time.monotonic() - began:.0f} s")
    return int(failed)


def _repeat(which: str) -> int:
    name, seed, index = which.split(":")
    subject = SUBJECTS[name]
    with tempfile.TemporaryDirectory() as at:
        os.chdir(at)
        data = made(name, subject.seeds(), int(seed), int(index))
        print(data if len(data) < 2000 else f"{len(data)} bytes")
        path = Path(f"table{subject.ending}")
        path.write_bytes(data)
        subject.read(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
