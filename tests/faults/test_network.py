"""Nothing here opens a connection, or asks for a name on the network."""

from __future__ import annotations

from support.programs import run

# Any use of a socket, from Python or from C, ends the step that made it.
PROGRAM = """
import sys
from pathlib import Path

def refuse(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "ssl.")):
        raise RuntimeError(f"the network was used: {event}")

folder = Path(sys.argv[1])
sys.addaudithook(refuse)
try:
    import socket
    socket.socket()
    raise SystemExit("the hook does not work")
except RuntimeError:
    pass

import numpy as np
import toprank
from toprank import datasets, metrics, report, selection

for name in toprank.__all__:
    getattr(toprank, name)
X, y = datasets.load_mammography(return_X_y=True)
X, y = X[:2000], y[:2000]
model = toprank.RectPushApp(1e-2).fit(X, y)
toprank.save(model, folder / "model.toprank")
scores = toprank.load(folder / "model.toprank").decision_function(X)
metrics.ranking_report(y, scores)
selection.HeadRanker(random_state=0).fit(X, y)
toprank.show_versions()

from click.testing import CliRunner
from toprank.cli.app import toprank as program

np.savetxt(folder / "rows.csv", np.c_[X, y], delimiter=",", header="a,b,c,d,e,f,y", comments="")
for words in (
    ["--help"],
    ["fit", "rows.csv", "--label", "y", "--model", "logistic", "-o", "m.toprank"],
    ["score", "m.toprank", "rows.csv", "-o", "scores.csv"],
    ["compare", "rows.csv", "--label", "y", "--models", "rectpushapp", "--cv", "2"]
    + ["--report", "page.html"],
):
    words = [str(folder / word) if "." in word else word for word in words]
    result = CliRunner().invoke(program, words)
    assert result.exit_code == 0, (words, result.output, result.exception)
page = (folder / "page.html").read_text()
print("no network", len(page) > 10_000)
"""


def test_no_step_uses_the_network(tmp_path: object) -> None:
    assert run(PROGRAM, tmp_path).endswith("no network True\n")
