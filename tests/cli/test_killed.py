"""A fit that is killed while it writes leaves the model that was there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import toprank

#: When the process is killed: so many moments, spread over its writing.
MOMENTS = 50

# Writes models one after another, and says when it begins.
PROGRAM = """
import sys
import numpy as np
import toprank
from toprank.cli.fit import save
model = toprank.LogisticRank().fit(np.eye(4), [0, 1, 0, 1])
kept = {"padding": np.zeros(200_000)}
print("ready", flush=True)
while True:
    save(model, sys.argv[1], metadata=kept)
"""


def test_the_old_model_loads_whenever_the_process_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "model.toprank"
    model = toprank.LogisticRank().fit(np.eye(4), [0, 1, 0, 1])
    toprank.save(model, path)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    rng = np.random.default_rng(0)
    try:
        assert process.stdout.readline() == "ready\n"
        # A stopped process is as one that was killed: what is on the disk stays as it is.
        for _ in range(MOMENTS):
            time.sleep(float(rng.uniform(0.0, 0.01)))
            process.send_signal(signal.SIGSTOP)
            again = toprank.load(path)
            assert (again.coef_ == model.coef_).all()
            process.send_signal(signal.SIGCONT)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert (toprank.load(path).coef_ == model.coef_).all()
    others = [name for name in os.listdir(tmp_path) if name != path.name]
    assert len(others) <= 1
    assert all(name.endswith(".part") for name in others)


def test_a_killed_fit(folder: Path, tmp_path: Path) -> None:
    """The command itself, at a few moments from its start to its end."""
    path = tmp_path / "model.toprank"
    path.write_bytes((folder / "model.toprank").read_bytes())
    words = ["fit", str(folder / "old.csv"), "--label", "fraud", "--model", "logistic"]
    command = [sys.executable, "-m", "toprank.cli", *words, "-o", str(path)]
    rng = np.random.default_rng(0)
    for moment in rng.uniform(0.2, 4.0, 4):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(float(moment))
        process.kill()
        process.wait()
        assert toprank.load(path).n_features_in_ > 0
