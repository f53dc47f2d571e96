"""Active sampling: beside refitting LIBLINEAR, beside all pairs, on a hundred times the rows."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

import tables
from data import DataSet, choose
from memory import in_fresh_process
from options import Options
from timing import race
from toprank import ASRankSVM, RankSVM
from toprank._core import PairSampler
from toprank.datasets import make_gaussian_mixture, make_sparse_text_like
from toprank.designs import as_design
from toprank.inputs.class_split import Split
from toprank.methods.sampling.chosen_pairs import ChosenPairs
from toprank.metrics import auc

ALPHA, BUDGET, BATCH = 1 / 800, 8000, 100
STRATEGIES = ("random", "soft-close", "soft-correct")
SETS = ["letter", "a9a", "ijcnn1", "w8a", "spambase", "reuters-acq", "news20-forsale", "covtype"]
QUICK_SETS = ["spambase", "gaussian-5k", "text-5k"]
#: Seconds after which a contender sits out the repeats that are left.
PATIENCE = 20.0
#: What a fit may cost beside refitting; what rounds of a hundred times the rows may cost.
REFIT_AIM, ROWS_AIM = 0.25, 1.5
#: Rows of the two sizes, and how often each is fitted.
SMALL, LARGE, REPEATS = 20_000, 2_000_000, 7

REFITTING = """\
A whole fit of ASRankSVM, its checks, certificate and threshold with it, beside the same algorithm
as one would write it around LIBLINEAR: the same draws and weights, but in every round the
differences of the chosen pairs are made and `LinearSVC(loss="hinge", tol=0.1)` is fitted to them
from nothing. {budget} pairs, {batch} a round, alpha 1/800, a last gap of 1e-3. "ratio" is ours over
the other's; AUC is that of the training rows, of the last repeat."""

ALL_PAIRS = """\
Trained on half of the rows, AUC of the other half; means over the repeats, each with a split of its
own. RankSVM is fitted to all pairs, to the same gap of 1e-3, at the same alpha and at a tenth of
it: soft-correct leaves out the pairs that have no loss, which makes the others count for more.
"time" is that of RankSVM at 1/800, and the others' over it."""

ROWS = """\
The same fit on {small} and on {large} rows, taking turns; medians of {repeats}. "rounds" is the
sampling and learning; "rest" the checks of the input before it, and after it the pass that scores
all rows for the threshold."""


class RefitEveryRound(BaseEstimator):
    """Active sampling with LIBLINEAR's dual coordinate descent, cold in every round."""

    def __init__(self, strategy: str, seed: int) -> None:
        self.strategy, self.seed = strategy, seed

    def fit(self, X: Any, y: np.ndarray) -> RefitEveryRound:
        """Draw pairs and fit to their differences, in turns."""
        design, split = as_design(X, 1), Split.of(y == 1)
        sampler = PairSampler(design.by_rows(), split.pos, split.neg, 1.0, self.seed)
        chosen = ChosenPairs(split, 1.0, BUDGET)
        self.coef_, strategy = np.zeros((1, X.shape[1])), "random"
        while len(chosen) < BUDGET:
            drawn = sampler.draw(self.coef_[0], BATCH, strategy)[:4]
            if len(drawn[0]) == 0:
                break
            chosen.add(*drawn)
            sign = np.where(np.arange(len(chosen)) % 2, 1.0, -1.0)  # it wants two classes
            differences = X[chosen.first] - X[chosen.second]
            signed = sp.diags(sign) @ differences if sp.issparse(X) else sign[:, None] * differences
            machine = LinearSVC(loss="hinge", tol=0.1, fit_intercept=False, random_state=self.seed)
            machine.fit(signed, sign, sample_weight=chosen.weights("rate") / ALPHA)
            self.coef_, strategy = machine.coef_, self.strategy
        return self


def contenders(data: DataSet, strategy: str) -> dict[str, Callable[[int], tuple[Any, Any, Any]]]:
    """Both, ready for a race."""
    return {
        "ours": lambda seed: (
            ASRankSVM(ALPHA, strategy=strategy, n_threads=1, random_state=seed),
            data.X,
            data.y,
        ),
        "refitted": lambda seed: (RefitEveryRound(strategy, seed), data.X, data.y),
    }


def beside_refitting(options: Options) -> tuple[str, list[float]]:
    """The first table, and its ratios."""
    names = options.names or (QUICK_SETS if options.quick else SETS)
    rows, ratios = [], []
    for source in choose(names, quick=options.quick):
        data = source.load(options.folder)
        if data is None:
            options.tell(f"sampling: {source.name} is not here")
            continue
        for strategy in STRATEGIES:
            results = race(contenders(data, strategy), options.repeats, PATIENCE)
            ours, refitted = results["ours"], results["refitted"]
            turns = zip(ours.seconds, refitted.seconds, strict=False)
            ratio = median(one / other for one, other in turns)
            areas = [auc(data.y, data.X @ one.fitted[-1].coef_[0]) for one in (ours, refitted)]
            rows.append(
                [
                    data.name,
                    strategy,
                    tables.seconds(ours.median),
                    tables.seconds(refitted.median),
                    tables.ratio(ratio),
                    *(f"{area:.4f}" for area in areas),
                    str(ours.fitted[-1].n_pairs_),
                    tables.verdict(ratio <= REFIT_AIM),
                ]
            )
            ratios.append(ratio)
            options.tell(f"sampling: {data.name} {strategy}: {ratio:.2f} of refitting")
    heads = ["data", "strategy", "ours s", "refitted s", "ratio", "AUC", "its AUC", "pairs"]
    return tables.table([*heads, f"aim {REFIT_AIM:g}"], rows), ratios


def beside_all_pairs(options: Options) -> str:
    """The second table: held-out AUC and time."""
    makers: dict[str, Callable[[int], Any]] = {
        "RankSVM 1/800": lambda seed: RankSVM(ALPHA, n_threads=1, random_state=seed),
        "RankSVM 1/8000": lambda seed: RankSVM(ALPHA / 10, n_threads=1, random_state=seed),
    }
    for strategy in STRATEGIES:
        makers[strategy] = lambda seed, strategy=strategy: ASRankSVM(
            ALPHA, strategy=strategy, n_threads=1, random_state=seed
        )
    names = options.names or (QUICK_SETS if options.quick else SETS)
    rows = []
    for source in choose(names, quick=options.quick):
        data = source.load(options.folder)
        if data is None:
            continue
        splits = [
            train_test_split(data.X, data.y, test_size=0.5, stratify=data.y, random_state=seed)
            for seed in range(options.repeats)
        ]
        results = race(
            {
                name: lambda seed, make=make, splits=splits: (
                    make(seed),
                    splits[seed][0],
                    splits[seed][2],
                )
                for name, make in makers.items()
            },
            options.repeats,
            np.inf,
        )
        base = results["RankSVM 1/800"].median
        for name, timed in results.items():
            areas = [
                auc(y, X @ one.coef_[0])
                for one, (_, X, _, y) in zip(timed.fitted, splits, strict=True)
            ]
            shown = tables.seconds(base) + " s" if timed.median == base else ""
            rows.append(
                [
                    data.name,
                    name,
                    f"{np.mean(areas):.4f}",
                    f"{np.std(areas):.4f}",
                    shown or tables.ratio(timed.median / base),
                ]
            )
        options.tell(f"sampling: {data.name} beside all pairs")
    return tables.table(["data", "method", "AUC", "deviation", "time"], rows)


def fit_rows(sparse: bool, strategy: str) -> dict[int, tuple[list[float], list[float]]]:
    """Seconds of the rounds and of the rest of each fit, by the number of rows."""
    contenders = {}
    for n_rows in (SMALL, LARGE):
        if sparse:
            X, y = make_sparse_text_like(n_rows, 20_000, words_per_row=20, random_state=0)
        else:
            X, y = make_gaussian_mixture(n_rows, 20, positive_fraction=0.3, random_state=0)
        contenders[str(n_rows)] = lambda seed, X=X, y=y: (
            ASRankSVM(strategy=strategy, n_threads=1, random_state=seed),
            X,
            y,
        )
    race(contenders, 1, np.inf)  # the first touch of everything
    seen = {}
    for name, timed in race(contenders, REPEATS, np.inf).items():
        rounds = [float(one.rounds_["seconds"][-1]) for one in timed.fitted]
        rest = [whole - part for whole, part in zip(timed.seconds, rounds, strict=True)]
        seen[int(name)] = rounds, rest
    return seen


def more_rows(options: Options) -> str:
    """The third table."""
    rows = []
    for sparse, form in ((False, "dense, 20 columns"), (True, "CSR, 20 nonzeros a row")):
        for strategy in STRATEGIES:
            seen = in_fresh_process(fit_rows, sparse, strategy)
            ratio = median(
                large / small for small, large in zip(seen[SMALL][0], seen[LARGE][0], strict=True)
            )
            seconds = [tables.seconds(median(part)) for part in (*seen[SMALL], *seen[LARGE])]
            verdict = tables.verdict(ratio <= ROWS_AIM)
            rows.append([form, strategy, *seconds, tables.ratio(ratio), verdict])
            options.tell(f"sampling: {form}, {strategy}: rounds {ratio:.2f} times as long")
    heads = ["form", "strategy", f"{SMALL}: rounds s", "rest s", f"{LARGE}: rounds s", "rest s"]
    return tables.table([*heads, "rounds, ratio", f"aim {ROWS_AIM:g}"], rows)


def report(options: Options) -> str:
    """Race, grow, and write the section."""
    table, ratios = beside_refitting(options)
    parts = ["## Active sampling", REFITTING.format(budget=BUDGET, batch=BATCH), table]
    if ratios:
        mean = tables.ratio(tables.geometric_mean(ratios))
        parts.append(f"Geometric mean of the ratios: {mean}.")
        parts += ["### Beside all pairs", ALL_PAIRS, beside_all_pairs(options)]
    if not (options.quick or options.names):
        table = more_rows(options)
        parts += ["### Rows", ROWS.format(small=SMALL, large=LARGE, repeats=REPEATS), table]
    return "\n\n".join(parts)
