"""Sections 6.1 and 6.2: trivial minimisers, of the population's risk and of a sample's."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import numpy as np

from experiments import (
    N_ATOMS,
    Array,
    best_auc,
    draw_points,
    population_study,
    sample_study,
    stopped_short,
)
from figure1 import draw, mean_and_error, save


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments besides those that every command has."""
    parser.add_argument("--draws", type=int, help="draws of the points; 100, or 10 if quick")


def run(args: Namespace) -> None:
    """Make synthetic.md, figure1.svg and figure1.png."""
    n_draws = args.draws or (10 if args.quick else 100)
    widths = 4.0 ** np.arange(-3, 4)
    sizes = 2 ** np.arange(2, 14, 3 if args.quick else 1)
    points = draw_points(n_draws, args.seed)
    exact = population_study(points, widths)
    short = stopped_short(points, widths, args.seed)
    sampled = sample_study(points, sizes.tolist(), args.seed)
    ceiling = best_auc(points, widths)
    at_one = np.repeat(ceiling[:, widths == 1.0], len(sizes), axis=1)

    def curves(of: str) -> dict[str, Array]:
        return {
            "TopPush": getattr(exact["TopPush"], of),
            "RectPush": getattr(exact["RectPush"], of),
            "TopPush, SLSQP": getattr(short, of),
        }

    def sample_curves(of: str) -> dict[str, Array]:
        return {method: getattr(measured, of) for method, measured in sampled.items()}

    population = [
        ("(a) Length of the minimiser", "|w|", curves("norm")),
        ("(b) Its AUC", "AUC", {**curves("auc"), "eta itself": ceiling}),
        ("(c) Excess risk of the score zero", "risk of 0 less minimum", curves("excess")),
    ]
    sample = [
        (
            "(d) AUC of the sample's minimiser",
            "AUC",
            {**sample_curves("auc"), "eta itself": at_one},
        ),
        ("(e) Excess empirical risk of zero", "risk of 0 less minimum", sample_curves("excess")),
    ]
    save(draw(population, sample, widths, sizes), args.out)
    tables = [
        "## Population (6.1)",
        *(_table(title, curves, "W", widths) for title, _, curves in population),
        _shares("Draws with w = 0 exactly", {m: v.norm for m, v in exact.items()}, "W", widths),
        "## Samples (6.2)",
        *(_table(title, curves, "N", sizes) for title, _, curves in sample),
        _shares("Draws with w = 0 exactly", sample_curves("norm"), "N", sizes),
    ]
    head = HEAD.format(n_draws=n_draws, seed=args.seed, n_atoms=N_ATOMS)
    text = "\n\n".join([head, *tables, REMARKS.strip()]) + "\n"
    (args.out / "synthetic.md").write_text(text, encoding="utf-8")
    print(f"Wrote synthetic.md, figure1.svg and figure1.png to {args.out}")


def _table(title: str, curves: dict[str, Array], name: str, settings: Array) -> str:
    columns = {}
    for label, draws in curves.items():
        mean, error = mean_and_error(draws)
        columns[label] = [
            f"{round(m, 4) + 0.0:.4f} ± {e:.4f}" for m, e in zip(mean, error, strict=True)
        ]
    return _markdown(title, columns, name, settings)


def _shares(title: str, curves: dict[str, Array], name: str, settings: Array) -> str:
    shares = {label: (draws == 0).mean(axis=0) for label, draws in curves.items()}
    columns = {label: [f"{share:.0%}" for share in row] for label, row in shares.items()}
    return _markdown(title, columns, name, settings)


def _markdown(title: str, columns: dict[str, list[str]], name: str, settings: Array) -> str:
    lines = [f"| {name} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for i, setting in enumerate(settings):
        lines.append(f"| {setting:g} | " + " | ".join(row[i] for row in columns.values()) + " |")
    return f"### {title}\n\n" + "\n".join(lines)


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
