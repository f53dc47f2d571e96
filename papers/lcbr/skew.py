"""Figure 1, panel (j): the share of positives."""

from __future__ import annotations

from argparse import Namespace

from common.pages import digits, table, write_page
from common.rows import Row, chosen, mean
from common.tasks import watched
from figures import draw_skew
from mixture import RADIUS, Mixture
from remarks import SKEW, SKEW_HOLDS
from repetitions import REPETITIONS, repetitions_of
from toprank import BBR, LCBR

SHARES = (0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99)
METHODS = ("optimum", "BBR", "LCBR")
ARGUMENTS = (REPETITIONS,)


def measure(args: Namespace) -> list[Row]:
    """A row a fit: K = 2, sigma = 3, 2000 rows, 5000 pairs."""
    rows = []
    for share in watched(SHARES, "share {:g}".format):
        for repetition in range(repetitions_of(args)):
            seed = args.seed + repetition
            mixture = Mixture.draw(2, 3.0, seed, share=share)
            data = mixture.X, mixture.y
            draws = LCBR(radius=RADIUS, n_pairs=5000, sampling="uniform", random_state=seed)
            found = (
                mixture.best(),
                BBR(radius=RADIUS).fit(*data).coef_[0],
                draws.fit(*data).coef_[0],
            )
            for method, w in zip(METHODS, found, strict=True):
                row = {"share": share, "method": method, "auc": mixture.auc(w)}
                rows.append({**row, "risk": mixture.risk(w)})
    return rows


def report(rows: list[Row], args: Namespace) -> None:
    """The page and the figure."""
    draw_skew(rows, args.out / "figure1j")
    lines = [
        [f"{share:g}", *(digits(mean(rows, "auc", share=share, method=name)) for name in METHODS)]
        for share in SHARES
    ]
    write_page(
        args.out / "skew.md",
        "# Figure 1, panel (j)",
        SKEW.format(times=len(chosen(rows, share=0.5, method="BBR"))),
        table(["share of positives", *METHODS], lines),
        "![Panel (j)](figure1j.svg)",
        "## What holds",
        SKEW_HOLDS,
    )
