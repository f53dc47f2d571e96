"""Sections 6.1 and 6.2: trivial minimisers, of the population's risk and of a sample's."""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from common.pages import table, write_page
from common.rows import Row, chosen, values_of
from common.study import Argument, at_least
from experiments import (
    N_ATOMS,
    Array,
    Measured,
    best_auc,
    draw_points,
    population_study,
    sample_study,
    stopped_short,
)
from figure1 import Panel, draw

ARGUMENTS = (
    # An error needs two draws.
    Argument("--draws", type=at_least(2), help="draws of the points; 100, or 10 if quick"),
)
#: Curves that are measured, and that of the best score.
EXACT, SHORT, BEST = ("TopPush", "RectPush"), "TopPush, SLSQP", "eta itself"


def measure(args: Namespace) -> list[Row]:
    """Means over the draws and their errors: a row a curve and a W, or a number N of rows."""
    n_draws = args.draws or (10 if args.quick else 100)
    widths = 4.0 ** np.arange(-3, 4)
    sizes = 2 ** np.arange(2, 14, 3 if args.quick else 1)
    points = draw_points(n_draws, args.seed)
    population = {
        **population_study(points, widths),
        SHORT: stopped_short(points, widths, args.seed),
    }
    rows = [row for name, found in population.items() for row in _rows(name, found, W=widths)]
    for name, found in sample_study(points, sizes.tolist(), args.seed).items():
        rows += _rows(name, found, N=sizes)
    auc, error = _mean_and_error(best_auc(points, widths))
    rows += [
        {"method": BEST, "W": float(W), "auc": float(auc[k]), "auc_error": float(error[k])}
        for k, W in enumerate(widths)
    ]
    return [{"seed": args.seed, "draws": n_draws, **row} for row in rows]


def _rows(name: str, found: Measured, **settings: Array) -> list[Row]:
    ((letter, values),) = settings.items()
    rows = [{"method": name, letter: value} for value in values.tolist()]
    for what in ("norm", "auc", "excess"):
        mean, error = _mean_and_error(getattr(found, what))
        for row, m, e in zip(rows, mean.tolist(), error.tolist(), strict=True):
            row |= {what: m, f"{what}_error": e}
    for row, share in zip(rows, (found.norm == 0).mean(axis=0).tolist(), strict=True):
        row["zero"] = share
    return rows


def _mean_and_error(draws: Array) -> tuple[Array, Array]:
    """The mean over draws, the rows, and its standard error."""
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(len(draws))


def report(rows: list[Row], args: Namespace) -> None:
    """Write synthetic.md and figure1."""
    over_W, over_N = ([row for row in rows if letter in row] for letter in "WN")
    widths, sizes = np.array(values_of(over_W, "W")), np.array(values_of(over_N, "N"))

    def curves(rows: list[Row], of: str, names: tuple[str, ...]) -> dict[str, tuple[Array, Array]]:
        return {
            name: tuple(
                np.array([row[key] for row in chosen(rows, method=name)])
                for key in (of, f"{of}_error")
            )
            for name in names
        }

    # The best AUC of samples is the population's at W = 1.
    level = [{**row, "N": N} for N in sizes for row in chosen(over_W, method=BEST, W=1.0)]
    three, risk = (*EXACT, SHORT), "risk of 0 less minimum"
    population: list[Panel] = [
        ("(a) Length of the minimiser", "|w|", curves(over_W, "norm", three)),
        ("(b) Its AUC", "AUC", curves(over_W, "auc", (*three, BEST))),
        ("(c) Excess risk of the score zero", risk, curves(over_W, "excess", three)),
    ]
    sample: list[Panel] = [
        (
            "(d) AUC of the sample's minimiser",
            "AUC",
            curves([*over_N, *level], "auc", (*EXACT, BEST)),
        ),
        ("(e) Excess empirical risk of zero", risk, curves(over_N, "excess", EXACT)),
    ]
    draw(args.out / "figure1", population, sample, widths, sizes)
    write_page(
        args.out / "synthetic.md",
        HEAD.format(n_draws=rows[0]["draws"], seed=rows[0]["seed"], n_atoms=N_ATOMS),
        "## Population (6.1)",
        *(_means(panel, "W", widths) for panel in population),
        _shares(over_W, "W", widths),
        "## Samples (6.2)",
        *(_means(panel, "N", sizes) for panel in sample),
        _shares(over_N, "N", sizes),
        REMARKS,
    )


def _means(panel: Panel, letter: str, settings: Array) -> str:
    title, _, curves = panel
    columns = [
        [f"{round(m, 4) + 0.0:.4f} ± {e:.4f}" for m, e in zip(mean, error, strict=True)]
        for mean, error in curves.values()
    ]
    return _table(title, [letter, *curves], settings, columns)


def _shares(rows: list[Row], letter: str, settings: Array) -> str:
    columns = [[f"{row['zero']:.0%}" for row in chosen(rows, method=name)] for name in EXACT]
    return _table("Draws with w = 0 exactly", [letter, *EXACT], settings, columns)


def _table(title: str, header: list[str], settings: Array, columns: list[list[str]]) -> str:
    lines = [[f"{setting:g}", *cells] for setting, *cells in zip(settings, *columns, strict=True)]
    return f"### {title}\n\n{table(header, lines)}"


HEAD = """# Trivial minimisers on synthetic data

`python papers/rectpush/run.py synthetic`: {n_draws} draws of {n_atoms} points, seed {seed}. Means
over the draws and their standard errors. [README.md](../README.md) says what the curves are.

![Figure 1](figure1.svg)"""

REMARKS = """
## Beside the paper's Figure 1

* **The claim holds.** TopPush's minimiser of the population risk is w = 0, exactly, and its AUC one
  half. On samples its AUC goes to one half as N grows. RectPush's minimiser is not zero on the
  population, and on samples its AUC rises with N towards the best there is. (In a few of the
  smallest samples both classes have the same mean: then w = 0 is best for RectPush, too.)
* **(a) to (c) at large W differ.** There the paper finds TopPush comparable to RectPush, and zero
  optimal for all but the largest W. Zero is optimal at every W: any point can be negative, so none
  can be above the highest negative, and Corollary 1 applies. We think that the paper shows where
  its minimiser stopped. "TopPush, SLSQP" is such a one, a general method for smooth functions with
  default tolerances. It leaves a short w, no better than zero by its risk (in (c) it is at zero or
  below), but one that points the right way, and the AUC does not see how short it is. At large W
  the right way costs almost nothing: the points it ranks low are almost never positive.
* **(d)** On the smallest samples TopPush is a little better than chance, and not by much.
* **(e) differs for RectPush.** The paper calls zero "increasing sub-optimal" as N grows. Its excess
  risk falls, since small samples are fitted all but perfectly, and settles at the population's,
  well above zero. TopPush's falls to zero.
* **Ours differ in means.** Minimisers are exact, to a duality gap of 1e-9, with 1e-8/2 |w|^2 added,
  which the paper does not have; separable samples have no single minimiser without it. The paper
  gives neither its sizes N nor what it does with samples of one class; ours are drawn again. Scores
  that differ by less than 1e-7 of their range count as ties.
"""
