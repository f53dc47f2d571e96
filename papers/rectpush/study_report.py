"""Tables of the study, beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.pages import table
from common.rows import Row
from paper_figures import AVERAGE_RANKS, MEASURES, METHODS, SECONDS, TABLE_4
from study_data import SOURCES
from study_remarks import HEAD, REMARKS
from study_split import COARSE, EARLY, EARLY_RECT, FOLDS, LONGER, STEPS
from toprank.selection import critical_difference, friedman, holm, ranks

Array = NDArray[np.float64]
AS_PUBLISHED = {"TopPush": EARLY, "RectPush": EARLY_RECT}
ROWS = (*METHODS, *AS_PUBLISHED.values(), LONGER)
WITH_EARLY = tuple(AS_PUBLISHED.get(method, method) for method in METHODS)
WITH_LONGER = (LONGER, *METHODS[1:])
#: The paper's method that a row is an account of.
ACCOUNT_OF = {row: row for row in METHODS} | {EARLY: "TopPush", EARLY_RECT: "RectPush"}
ACCOUNT_OF[LONGER] = "Logistic"


def pieces(results: Sequence[Row], quick: bool = False) -> list[str]:
    """The whole of study.md, piece by piece."""
    by_set = {name: [r for r in results if r["name"] == name] for name in SOURCES}
    by_set = {name: found for name, found in by_set.items() if found}
    first = results[0]
    head = HEAD.format(
        powers=f"2^{first['powers'][-1]} to 2^{first['powers'][0]}, {len(first['powers'])} values",
        p=f"{first['p']:g}",
        seed=first["seed"],
        folds=FOLDS,
        steps=STEPS,
        coarse=COARSE,
    )
    return [
        "# Section 6.3 made again" + (": the quick form" if quick else ""),
        head,
        _sets(by_set),
        "## Average ranks",
        _average_ranks(by_set),
        "## How near the paper's figures",
        _distances(by_set),
        "## Do the methods differ?",
        _tests(by_set),
        *([] if quick else ["## What differs, and why", REMARKS]),
        "## Figures by set",
        *(_figures(name, found) for name, found in by_set.items()),
        "## The lambda chosen",
        _lambdas(by_set),
        "## Trivial and unfinished fits",
        _fits(by_set),
        "## Training times",
        _times(by_set),
    ]


def rows_of_splits(results: Iterable[Row]) -> list[Row]:
    """Every split, method and measure."""
    rows = []
    for result in results:
        for method in (row for row in ROWS if row in result["methods"]):
            one = result["methods"][method]
            place = {"set": result["name"], "split": result["split"], "method": method}
            chosen = {"log2_lambda": one["power"], "trivial": int(one["trivial"])}
            figures = {measure: f"{one['test'][measure]:.6f}" for measure in MEASURES}
            rows.append({**place, **chosen, **figures, "fit_seconds": f"{one['fit_seconds']:.4f}"})
    return rows


def _means(found: Sequence[Row], methods: Sequence[str]) -> tuple[Array, Array]:
    """Means and standard errors, methods x measures, over the splits that have all methods."""
    shared = [r["methods"] for r in found if set(methods) <= set(r["methods"])]
    figures = np.array([[[of[m]["test"][x] for x in MEASURES] for m in methods] for of in shared])
    if len(shared) == 1:
        return figures[0], np.full(figures.shape[1:], np.nan)
    return figures.mean(axis=0), figures.std(axis=0, ddof=1) / np.sqrt(len(shared))


def _each(found: Sequence[Row], method: str) -> list[dict[str, Any]]:
    """What there is of a method, by split."""
    return [r["methods"][method] for r in found if method in r["methods"]]


def _ranks(by_set: dict[str, list[Row]], methods: Sequence[str]) -> Array:
    """Average ranks of figures of four decimals, methods x measures."""
    means = np.array([_means(found, methods)[0] for found in _having(by_set, methods).values()])
    return _rank_all(means)


def _having(by_set: dict[str, list[Row]], methods: Sequence[str]) -> dict[str, list[Row]]:
    """The sets with a split that has all the methods."""
    return {
        name: found
        for name, found in by_set.items()
        if any(set(methods) <= set(r["methods"]) for r in found)
    }


def _paper_ranks(names: Iterable[str]) -> Array:
    return _rank_all(np.array([TABLE_4[name][..., 0] for name in names]))


def _rank_all(means: Array) -> Array:
    by_measure = [ranks(means[..., x].round(4)).mean(axis=0) for x in range(len(MEASURES))]
    return np.transpose(by_measure)


def _sets(by_set: dict[str, list[Row]]) -> str:
    rows = [
        [
            name,
            str(found[0]["n_train"] + found[0]["n_test"]),
            str(len(found)),
            str(len(_each(found, EARLY))),
            SOURCES[name].note,
        ]
        for name, found in by_set.items()
    ]
    return table(["set", "rows", "splits", "with early stopping", ""], rows)


def _average_ranks(by_set: dict[str, list[Row]]) -> str:
    n = len(by_set)
    blocks = [
        (f"ours, {n} sets", METHODS, _ranks(by_set, METHODS)),
        (
            f"ours, both early stopped, {len(_having(by_set, WITH_EARLY))} sets",
            WITH_EARLY,
            _ranks(by_set, WITH_EARLY),
        ),
        ("ours, logistic's longer grid", WITH_LONGER, _ranks(by_set, WITH_LONGER)),
        (f"paper's figures of these {n} sets, ranked as ours", METHODS, _paper_ranks(by_set)),
        ("paper as printed, 14 sets", METHODS, np.array([AVERAGE_RANKS[m] for m in METHODS])),
    ]
    rows = [
        [title if place == 0 else "", method, *(f"{rank:.2f}" for rank in average[place])]
        for title, methods, average in blocks
        for place, method in enumerate(methods)
    ]
    note = (
        "1 is best. Figures that agree to four decimals share the mean of their ranks. The paper "
        "gives tied methods the same rank and the next one the following number, so its averages "
        "add up to less than 10."
    )
    return table(["", "method", *MEASURES], rows) + "\n\n" + note


def _distances(by_set: dict[str, list[Row]]) -> str:
    same = {name: found for name, found in by_set.items() if SOURCES[name].same}
    if not same:
        return "None of these sets has the paper's rows."
    rows = []
    for row in ROWS:
        there = _having(same, [row])
        if not there:
            continue
        printed = np.array([TABLE_4[name][METHODS.index(ACCOUNT_OF[row]), :, 0] for name in there])
        ours = np.array([_means(found, [row])[0][0] for found in there.values()])
        distance, shift = np.abs(ours - printed).mean(axis=0), (ours - printed).mean(axis=0)
        cells = (f"{d:.4f} ({s:+.4f})" for d, s in zip(distance, shift, strict=True))
        rows.append([f"{row} to {ACCOUNT_OF[row]}", *cells])
    note = (
        f"Mean distance, and in brackets ours less the paper's, over {', '.join(same)}, the sets "
        "whose rows are the paper's."
    )
    return table(["", *MEASURES], rows) + "\n\n" + note


def _tests(by_set: dict[str, list[Row]]) -> str:
    blocks = [
        ("ours", METHODS, _ranks(by_set, METHODS), len(by_set)),
        ("ours, early", WITH_EARLY, _ranks(by_set, WITH_EARLY), len(_having(by_set, WITH_EARLY))),
        ("paper, 14 sets", METHODS, _paper_ranks(TABLE_4), len(TABLE_4)),
    ]
    rows = []
    for title, methods, average, n in blocks:
        if n < 2:
            return "One set: there is nothing to test."
        gap = critical_difference(len(methods), n)
        for x, measure in enumerate(MEASURES):
            column = average[:, x]
            test, best = friedman(column, n), int(column.argmin())
            worse = [
                f"{method} ({p:.3f}{', Nemenyi too' if column[i] - column[best] > gap else ''})"
                for i, (method, p) in enumerate(zip(methods, holm(column, n, best), strict=True))
                if p < 0.05
            ]
            rows.append(
                [
                    title if x == 0 else "",
                    measure,
                    f"{test.chi2:.2f} ({test.p_chi2:.3f})",
                    f"{test.f:.2f} ({test.p_f:.3f})",
                    methods[best],
                    ", ".join(worse) or "-",
                ]
            )
    header = ["", "measure", "Friedman (p)", "Iman-Davenport (p)", "best", "worse by Holm (p)"]
    note = (
        "Nemenyi's critical difference of average ranks at 5 %: "
        f"{critical_difference(len(METHODS), len(by_set)):.2f} for {len(by_set)} sets, "
        f"{critical_difference(len(METHODS), len(TABLE_4)):.2f} for the paper's {len(TABLE_4)}. "
        "The paper's rows are computed from Table 4, with shared ranks for ties."
    )
    return table(header, rows) + "\n\n" + note


def _figures(name: str, found: Sequence[Row]) -> str:
    rows = []
    for method in ROWS:
        if not _each(found, method):
            continue
        mean, error = _means(found, [method])
        rows.append([method, *_cells(mean[0], error[0])])
        if method in METHODS:
            printed = TABLE_4[name][METHODS.index(method)]
            rows.append(["*paper*", *(f"*{cell}*" for cell in _cells(*printed.T))])
    return f"### {name}\n\n" + table(["", *MEASURES], rows)


def _cells(means: Array, errors: Array) -> list[str]:
    return [
        f"{mean:.4f}" + ("" if np.isnan(error) else f" ± {error:.4f}")
        for mean, error in zip(means, errors, strict=True)
    ]


def _lambdas(by_set: dict[str, list[Row]]) -> str:
    def cell(found: Sequence[Row], method: str) -> str:
        chosen = _each(found, method)
        if not chosen:
            return ""
        powers = [one["power"] for one in chosen]
        ends = sum(one["at_end"] for one in chosen)
        spread = f"{np.median(powers):g} ({min(powers)} to {max(powers)})"
        return spread + (f", {ends} at the end" if ends else "")

    rows = [[name, *(cell(found, method) for method in ROWS)] for name, found in by_set.items()]
    note = "log2 of lambda: median, least and greatest over splits, and how often the grid's least."
    return table(["", *ROWS], rows) + "\n\n" + note


def _fits(by_set: dict[str, list[Row]]) -> str:
    def total(found: Sequence[Row], method: str, what: str) -> int:
        return sum(_count(one[what]) for one in _each(found, method))

    def share(found: Sequence[Row], method: str, what: str) -> str:
        return f"{total(found, method, what)} of {total(found, method, 'n_fits')}"

    rows = []
    for name, found in by_set.items():
        exact = [(m, total(found, m, "unfinished")) for m in (*METHODS, LONGER)]
        rows.append(
            [
                name,
                share(found, "TopPush", "n_trivial"),
                f"{sum(r['methods']['TopPush']['trivial'] for r in found)} of {len(found)}",
                *(share(found, method, "unfinished") for method in AS_PUBLISHED.values()),
                ", ".join(f"{method} {count}" for method, count in exact if count) or "none",
            ]
        )
    header = [
        "",
        "TopPush: trivial fits",
        "trivial at the chosen lambda",
        *(f"{method}: cut off" for method in AS_PUBLISHED.values()),
        "others that did not converge",
    ]
    every = [one for found in by_set.values() for r in found for one in r["methods"].values()]
    note = f"{sum(one['n_fits'] for one in every)} fits in all."
    return table(header, rows) + "\n\n" + note


def _times(by_set: dict[str, list[Row]]) -> str:
    rows = []
    for name, found in by_set.items():
        taken = [[one["fit_seconds"] for one in _each(found, m)] for m in ROWS]
        paper = " / ".join(f"{seconds:.2f}" for seconds in SECONDS[name])
        rows.append([name, *(f"{np.mean(s):.3f}" if s else "" for s in taken), paper])
    note = (
        "Mean CPU seconds of one fit from a cold start at the chosen lambda, one thread. They "
        "depend on the machine; the paper's (Table 5) are another machine's."
    )
    header = ["", *ROWS, "paper: TopPush / RectPush / RectPushApp"]
    return table(header, rows) + "\n\n" + note


def _count(what: int | dict[str, int]) -> int:
    return sum(what.values()) if isinstance(what, dict) else what
