"""CASE_CONTROL_BINS.md, from the results of `case_control_bins.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import lightgbm
import numpy as np
from scipy.stats import t as student

import tables
from machine import describe

#: Below this share of positives, positives are rare.
RARE = 0.05
LIGHT, HIST = "LightGBM", "HistGradientBoosting"
#: The two models of a comparison: the case-control bins, and what they are compared with.
PAIRS = (
    (f"{LIGHT} case-control", f"{LIGHT} 255"),
    (f"{LIGHT} case-control", f"{LIGHT} 1023"),
    (f"{HIST} case-control", f"{HIST} 255"),
)
HEADS = (f"{LIGHT}, 255 bins", f"{LIGHT}, 1023 bins", f"{HIST}, 255 bins")
FORMS = ("bins", "columns, bins and pairs")
BINS = ("24 quantiles", "48 quantiles", "12 + 12", "24 + 24")

INTRODUCTION = f"""\
`CaseControlBins` places the edges of bins at 120 quantiles of the positives and 120 of the
negatives. Here it is compared with quantiles of all rows, which boosted trees use by default.

* **Models.** {LIGHT}: 200 trees of 15 leaves, learning rate 0.05, half of the rows and columns for
  each tree. {HIST} of scikit-learn: 100 trees of 15 leaves, learning rate 0.05, no early stopping.
  The models on case-control bins and on 1023 bins have `min_data_in_bin=1`, the 255 bins have
  {LIGHT}'s default, 3. [Variants](#variants) has 255 bins with 1.
* **Splits.** Five random splits of each set, 60 % for training, at most 20 000 rows each for
  training and testing. Splits of bank follow the time order of its rows. The handbook is the
  simulated card fraud of the *Fraud Detection Handbook*: train on seven days, skip seven, test on
  the next seven, with the customers known to be compromised removed; five start days.
* **Measures.** AP is average precision. pAUC is the partial AUC up to a false positive rate of 1 %,
  scaled so that 50 is a random order and 100 a perfect one. Both are in points, hundredths.
* **Intervals.** 95 %, by Student's t. For a set: over the differences of its splits. Random splits
  share rows, so these intervals are too narrow. For a group of sets: over the sets' mean
  differences. A positive difference means that case-control bins are better.
* **Development sets.** The number of edges and their levels were chosen on eight sets, marked with
  *d*. The others are judged. The idea itself was first tried on the handbook, with the start day
  115 among others, which is one of the five days here. covtype-4 to covtype-7 seek a rare class of
  covtype."""


class Results:
    """Results by set, model and split."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.cells: dict[tuple[str, str], dict[Any, dict[str, Any]]] = {}
        for row in rows:
            self.cells.setdefault((row["set"], row["model"]), {})[row["split"]] = row

    def values(self, name: str, model: str, key: str) -> np.ndarray:
        """Return a measure for every split: CPU seconds, or points."""
        cell = self.cells.get((name, model), {})
        factor = 1.0 if key == "cpu" else 100.0
        return np.array([factor * cell[split][key] for split in sorted(cell)])

    def mean(self, name: str, model: str, key: str) -> float:
        """Return the mean over splits."""
        return float(self.values(name, model, key).mean())

    def difference(self, name: str, pair: Sequence[str], key: str) -> np.ndarray:
        """Return the differences of two models in every split."""
        return self.values(name, pair[0], key) - self.values(name, pair[1], key)

    def has(self, name: str, models: Iterable[str]) -> bool:
        """Return whether there are results for all of these models, of the same splits."""
        cells = [self.cells.get((name, model), {}) for model in models]
        return bool(cells[0]) and all(cell.keys() == cells[0].keys() for cell in cells)

    def share(self, name: str) -> float:
        """Return the mean share of positives among the training rows."""
        rows = [
            row for (own, _), cell in self.cells.items() if own == name for row in cell.values()
        ]
        return float(np.mean([row["positives"] / row["rows"] for row in rows]))

    def rows(self, name: str) -> int:
        """Return the mean number of training rows."""
        cells = [cell for (own, _), cell in self.cells.items() if own == name]
        return round(np.mean([row["rows"] for cell in cells for row in cell.values()]))


def half_width(values: np.ndarray) -> float:
    """Return half the width of the 95 % interval for the mean, by Student's t."""
    n = len(values)
    return float(student.ppf(0.975, n - 1) * values.std(ddof=1) / n**0.5) if n > 1 else np.nan


def points(values: np.ndarray) -> str:
    """Return the mean and its interval."""
    width = half_width(values)
    mean = f"{values.mean():+.1f}"
    return mean if np.isnan(width) else f"{mean} ± {width:.1f}"


def page(rows: list[dict[str, Any]], names: Sequence[str], development: Sequence[str]) -> str:
    """Return the page."""
    results = Results(rows)
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    about = [describe(), f"* commit {commits}; LightGBM {lightgbm.__version__}"]
    models = {model for pair in PAIRS for model in pair}
    main = [name for name in names if results.has(name, models)]
    main.sort(key=results.share)
    parts = ["# Case-control bins", "    python benchmarks/case_control_bins.py", "\n".join(about)]
    parts += [INTRODUCTION]
    if main:
        parts += means(results, main, development)
        parts += [every_set(results, main, development, key) for key in ("ap", "pauc")]
        parts += [seconds(results, main)]
    parts += variants(results, development)
    parts += linear(results, names, development)
    parts += case_control_rows(results, names, development)
    return "\n\n".join(parts) + "\n"


def marked(name: str, development: Sequence[str]) -> str:
    """Return the name of a set, with a mark if settings were chosen on it."""
    return f"{name} *d*" if name in development else name


def means(results: Results, names: list[str], development: Sequence[str]) -> list[str]:
    """Return the table of means over sets, and the sets that are clearly better or worse."""
    judged = [name for name in names if name not in development]
    rare = [name for name in judged if results.share(name) < RARE]
    groups = {
        "all sets": names,
        "development sets": [name for name in names if name in development],
        "judged sets": judged,
        "judged, less than 5 % positive": rare,
        "the same without the handbook": [name for name in rare if name != "handbook"],
        "judged, 5 % positive or more": [name for name in judged if name not in rare],
    }
    body = []
    for group, members in groups.items():
        if members:
            cells = [
                points(np.array([results.difference(name, pair, key).mean() for name in members]))
                for key in ("ap", "pauc")
                for pair in PAIRS
            ]
            body.append([group, str(len(members)), *cells])
    heads = ["case-control bins against", "sets"]
    heads += [f"{measure}: {head}" for measure in ("AP", "pAUC") for head in HEADS]
    lines = ["Sets whose interval for AP excludes zero:", ""]
    for pair, head in zip(PAIRS, HEADS, strict=True):
        better, worse = [], []
        for name in names:
            values = results.difference(name, pair, "ap")
            if abs(values.mean()) > half_width(values):
                (better if values.mean() > 0 else worse).append(marked(name, development))
        lines.append(
            f"* against {head}: better on {', '.join(better) or 'none'}; "
            f"worse on {', '.join(worse) or 'none'}"
        )
    lines += ["", "By chance alone, one interval in twenty excludes zero."]
    return ["## Means over sets", tables.table(heads, body), "\n".join(lines)]


def every_set(results: Results, names: list[str], development: Sequence[str], key: str) -> str:
    """Return the table of a measure on every set, with the rarest positives first."""
    heads = ["set", "training rows", "positive"]
    heads += [f"{LIGHT}, 255 bins", "case-control bins against them", "against 1023 bins"]
    heads += [f"{HIST}, 255 bins", "case-control bins against them"]
    body = []
    for name in names:
        cells = [points(results.difference(name, pair, key)) for pair in PAIRS]
        share = 100.0 * results.share(name)
        body.append(
            [
                marked(name, development),
                str(results.rows(name)),
                f"{share:.1f} %",
                f"{results.mean(name, PAIRS[0][1], key):.1f}",
                *cells[:2],
                f"{results.mean(name, PAIRS[2][1], key):.1f}",
                cells[2],
            ]
        )
    measure = "AP" if key == "ap" else "pAUC"
    return f"## {measure} on every set\n\n{tables.table(heads, body)}"


def seconds(results: Results, names: list[str]) -> str:
    """Return the table of CPU seconds."""
    models = list(dict.fromkeys(model for pair in PAIRS for model in reversed(pair)))
    large = [name for name in names if results.rows(name) > 10_000]
    body = []
    for model in models:
        base = f"{model.split()[0]} 255"
        ratios = [
            results.mean(name, model, "cpu") / results.mean(name, base, "cpu") for name in names
        ]
        body.append(
            [
                model,
                tables.ratio(tables.geometric_mean(ratios)),
                tables.ratio(max(ratios)),
                *(
                    tables.seconds(
                        float(np.mean([results.mean(name, model, "cpu") for name in some]))
                    )
                    if some
                    else ""
                    for some in (large, [name for name in names if name == "handbook"])
                ),
            ]
        )
    heads = ["bins", "ratio to 255 bins", "largest ratio"]
    heads += [f"mean of {len(large)} sets of more than 10 000 rows, s", "handbook, s"]
    text = """\
CPU seconds on one thread for finding the edges, coding, fitting and scoring. The ratio is the
geometric mean over sets."""
    return f"## CPU seconds\n\n{text}\n\n{tables.table(heads, body)}"


def variants(results: Results, development: Sequence[str]) -> list[str]:
    """Return the table of variants on the development sets."""
    known = {model for _, model in results.cells if model.split()[0] in (LIGHT, HIST)}
    first = [model for model in PAIRS[0] + PAIRS[2] if model in known]
    order = dict.fromkeys(model for _, model in results.cells)
    others = [m for m in order if m in known and m not in first and "negatives" not in m]
    if not [model for model in others if "1023" not in model]:
        return []
    body = []
    for model in sorted(others, key=lambda m: m.startswith(HIST)):
        pair = (model, f"{model.split()[0]} case-control")
        names = [name for name in development if results.has(name, pair)]
        rare = [name for name in names if results.share(name) < RARE]
        cells = [
            points(np.array([results.difference(name, pair, key).mean() for name in some]))
            for key in ("ap", "pauc")
            for some in (names, rare)
        ]
        ratios = [
            results.mean(name, model, "cpu") / results.mean(name, pair[1], "cpu") for name in names
        ]
        body.append([model, *cells, tables.ratio(tables.geometric_mean(ratios))])
    heads = ["variant", "AP", "AP, rare positives", "pAUC", "pAUC, rare positives", "CPU ratio"]
    text = f"""\
Each variant against case-control bins with 120 + 120 edges in the same trees, on the development
sets. Positives are rare on three of the eight. "Dense" levels lie closer together at an end of the
distribution. "Balanced" weights give both classes the same total, and their square roots lie in
between. Case-control edges do not use these weights. The 255 bins of scikit-learn do since version
1.9, so with balanced weights they follow the positives too. {LIGHT} with 250 + 250 edges has
`max_bin=511`."""
    return ["## Variants", text, tables.table(heads, body)]


def linear(results: Results, names: Sequence[str], development: Sequence[str]) -> list[str]:
    """Return the tables of linear scores on bins."""
    alphas = sorted({model.split("@")[1] for _, model in results.cells if "@" in model}, key=float)
    parts: list[str] = []
    for form in FORMS:
        kinds = [*(f"{form}: {bins}" for bins in BINS), "columns alone"]
        models = [f"{kind}@{alpha}".replace("@", " @") for kind in kinds for alpha in alphas]
        own = [name for name in names if models and results.has(name, models)]
        own.sort(key=results.share)
        if not own:
            continue
        body, differences = [], []
        for name in own:
            best = {
                kind: max(
                    (f"{kind} @{alpha}" for alpha in alphas),
                    key=lambda model, name=name: results.mean(name, model, "ap"),
                )
                for kind in kinds
            }
            pairs = [
                (best[f"{form}: 12 + 12"], best[f"{form}: 24 quantiles"]),
                (best[f"{form}: 24 + 24"], best[f"{form}: 48 quantiles"]),
            ]
            both = [results.difference(name, pair, "ap") for pair in pairs]
            differences.append([values.mean() for values in both])
            order = ["columns alone", *kinds[:-1]]
            cells = [f"{results.mean(name, best[kind], 'ap'):.1f}" for kind in order]
            body.append([marked(name, development), *cells, *map(points, both)])
        over = np.array(differences).T
        body.append([f"mean of {len(own)} sets", *[""] * 5, *map(points, over)])
        judged = [k for k, name in enumerate(own) if name not in development]
        if judged:
            body.append(
                [f"mean of {len(judged)} judged sets", *[""] * 5, *map(points, over[:, judged])]
            )
        heads = ["set", "columns alone", *BINS, "12 + 12 against 24", "24 + 24 against 48"]
        parts += [f"### {form[0].upper()}{form[1:]}", tables.table(heads, body)]
    if not parts:
        return []
    text = f"""\
AP of `LogisticRank` behind `Squash` and `BinsAndPairs`: 24 or 48 quantiles of all rows, or 12 or 24
quantiles of each class. "Bins" is one-hot bins only. The other table has the columns, their bins,
and cells and products of the eight most informative columns. "Columns alone" is standardised
columns. alpha is the best of {", ".join(alphas)} for each set, **chosen on the test rows** for
every column of the tables alike."""
    return ["## Linear scores", text, *parts]


def case_control_rows(
    results: Results, names: Sequence[str], development: Sequence[str]
) -> list[str]:
    """Return the table of trees on a part of the negatives."""
    counts = (40, 20, 10)
    models = {kind: [f"{kind}, {n} negatives" for n in counts] for kind in (LIGHT, HIST)}
    body = []
    for name in names:
        if not results.has(name, [*models[LIGHT], *models[HIST], PAIRS[0][0], PAIRS[2][0]]):
            continue
        for kind in (LIGHT, HIST):
            base = f"{kind} case-control"
            pairs = [(model, base) for model in models[kind]]
            body.append(
                [
                    f"{marked(name, development)}, {kind}",
                    f"{1.0 / results.share(name) - 1.0:.0f}",
                    f"{results.mean(name, base, 'ap'):.1f}",
                    *(points(results.difference(name, pair, "ap")) for pair in pairs),
                    tables.seconds(results.mean(name, base, "cpu")),
                    *(tables.seconds(results.mean(name, model, "cpu")) for model in models[kind]),
                ]
            )
    if not body:
        return []
    heads = ["set and trees", "negatives for each positive", "AP, all rows"]
    heads += [f"{n} negatives" for n in counts] + ["CPU s, all"] + [f"{n}, s" for n in counts]
    text = """\
All positives, and 40, 20 or 10 negatives for each of them, drawn at random and not weighted.
AP against all rows, with case-control bins everywhere. CPU seconds include scoring the test rows,
whose number stays the same."""
    return ["## Case-control rows", text, tables.table(heads, body)]


__all__ = ["page"]
