"""Tables of the study: differences with their tests, costs, figures, choices."""

from __future__ import annotations

import numpy as np

from common.pages import digits, table
from common.rows import Row, chosen, mean, values_of
from remarks import CHOICES
from sets import DEVELOPMENT, TEST_SHARE, test_share
from systems import TUNED
from toprank.metrics import corrected_t_test
from toprank.selection.rank_tests import holm_adjusted

#: The kinds and weights of what was chosen: a single candidate has the weight 1.
Choice = list[tuple[str, float]]
#: What linear scores are on: their names are these, a comma, and the loss.
FEATURE_SETS = ("columns", "squashed", "bins", "nystroem")
MEASURES = {"ap": "AP", "pauc": "pAUC .01", "p100": "precision@100"}
#: Differences below this are called equal.
EQUAL = 0.002
#: A difference on one set is called significant below this, after Holm's correction over the sets.
LEVEL = 0.05
#: Median CPU seconds that are aimed at, in units of those of tuned LightGBM.
AIMS = {"HeadRanker, fast": 0.1, "HeadRanker": 1.0, "HeadRanker, best": 5.0}


def splits_of(rows: list[Row], name: str, system: str, measure: str) -> dict[int, float]:
    """The figures of a system on a set, by split."""
    return {row["seed"]: row[measure] for row in chosen(rows, set=name, system=system)}


def pairs_of(
    rows: list[Row], name: str, one: str, other: str, measure: str
) -> tuple[list[float], list[float]]:
    """The figures of two systems on the splits that both have."""
    a, b = (splits_of(rows, name, system, measure) for system in (one, other))
    both = sorted(a.keys() & b.keys())
    return [a[seed] for seed in both], [b[seed] for seed in both]


def difference(
    rows: list[Row], one: str, other: str, measure: str, share: float = TEST_SHARE
) -> str:
    """Mean over the sets, its error, sets better / equal / worse, significant ones."""
    gaps, p, signs = [], [], []
    for name in values_of(rows, "set"):
        a, b = pairs_of(rows, name, one, other, measure)
        if not a:
            continue
        gaps.append(float(np.mean(a) - np.mean(b)))
        if len(a) > 2:
            test = corrected_t_test(a, b, test_share=share)
            p.append(test.p)
            signs.append(np.sign(test.difference))
    if not gaps:
        return ""
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    better, worse = sum(gap > EQUAL for gap in gaps), sum(gap < -EQUAL for gap in gaps)
    told = f"{100 * np.mean(gaps):+.1f} ({100 * error:.1f}) "
    told += f"{better}/{len(gaps) - better - worse}/{worse}"
    if p:
        sure = holm_adjusted(np.array(p)) < LEVEL
        wins = sum(s > 0 for s, yes in zip(signs, sure, strict=True) if yes)
        told += f" [{wins}, {sum(sure) - wins}]"
    return told


def differences(rows: list[Row], other: str) -> str:
    """Every system less another, by every measure."""
    systems = [name for name in values_of(rows, "system") if name != other]
    share = test_share(max(row["rows"] for row in rows))
    lines = [
        [system, *(difference(rows, system, other, measure, share) for measure in MEASURES)]
        for system in systems
    ]
    return table(["", *MEASURES.values()], lines)


def costs(rows: list[Row]) -> str:
    """CPU seconds, and the ratio to tuned LightGBM on the same splits."""
    lines = []
    for system in values_of(rows, "system"):
        ratios: list[float] = []
        for name in values_of(rows, "set"):
            a, b = pairs_of(rows, name, system, TUNED, "seconds")
            ratios += [x / y for x, y in zip(a, b, strict=True)]
        seconds = np.median([row["seconds"] for row in chosen(rows, system=system)])
        found = [f"{np.median(ratios):.2f}", f"{max(ratios):.2f}"] if ratios else ["", ""]
        aim = f"{AIMS[system]:g}" if system in AIMS else ""
        lines.append([system, f"{seconds:.2f}", *found, aim])
    return table(["", "median", f"median ratio to {TUNED}", "largest ratio", "aim"], lines)


def figures(rows: list[Row], measure: str) -> str:
    """The mean of a measure of every system on every set.

    In brackets follows the number of splits of a system that has not been measured on all of them.
    """
    systems = values_of(rows, "system")

    def figure(name: str, system: str, splits: int) -> str:
        own = chosen(rows, set=name, system=system)
        few = f" ({len(own)})" if 0 < len(own) < splits else ""
        return digits(mean(rows, measure, set=name, system=system)) + few

    counts = {
        name: len({row["seed"] for row in chosen(rows, set=name)})
        for name in values_of(rows, "set")
    }
    lines = [
        [
            f"{name} *" if name in DEVELOPMENT else name,
            str(count),
            *(figure(name, system, count) for system in systems),
        ]
        for name, count in counts.items()
    ]
    return table(["set", "splits", *systems], lines)


def chosen_table(rows: list[Row], level: str) -> str:
    """Table of the choices of HeadRanker: ensembles, and the weight of each kind of candidate.

    `level` is the mark of the heading, such as ``##``.
    """
    systems = [name for name in values_of(rows, "system") if name.startswith("HeadRanker")]
    if not systems:
        return ""
    choices = {
        system: [members_of(row["chosen"]) for row in chosen(rows, system=system)]
        for system in systems
    }
    kinds = {kind for found in choices.values() for choice in found for kind, _ in choice}
    features = [kind for kind in FEATURE_SETS if kind in kinds]
    lines = [
        ["splits", *(str(len(choices[system])) for system in systems)],
        ["ensembles (members)", *(ensembles(choices[system]) for system in systems)],
        *(
            [kind, *(share_of(kind, choices[system]) for system in systems)]
            for kind in [*features, *sorted(kinds.difference(features))]
        ),
    ]
    heading = f"{level} Candidates that HeadRanker chose"
    return f"{heading}\n\n{CHOICES}\n\n{table(['', *systems], lines)}"


def ensembles(choices: list[Choice]) -> str:
    """The number of ensembles, and their mean number of members."""
    sizes = [len(choice) for choice in choices if len(choice) > 1]
    return f"{len(sizes)} ({np.mean(sizes):.1f})" if sizes else "0"


def share_of(kind: str, choices: list[Choice]) -> str:
    """The share of the choices with a kind of candidate, and its mean weight in those."""
    weights = [
        sum(weight for other, weight in choice if other == kind)
        for choice in choices
        if any(other == kind for other, _ in choice)
    ]
    if not weights:
        return ""
    return f"{100 * len(weights) / len(choices):.0f} % ({digits(float(np.mean(weights)), 2)})"


def members_of(name: str) -> Choice:
    """Return the kinds and weights of the members of an ensemble, or of a single candidate."""
    members = name.removeprefix("ensemble: ")
    if members == name:
        return [(kind_of(name), 1.0)]
    pairs = [member.split(" ", 1) for member in members.split(" + ")]
    return [(kind_of(candidate), float(weight)) for weight, candidate in pairs]


def kind_of(candidate: str) -> str:
    """Return the features of a linear score, without its loss, or the name of other candidates."""
    features = candidate.split(",")[0]
    return features if features in FEATURE_SETS else candidate


def commits(rows: list[Row]) -> str:
    """The commits at which the systems were measured."""
    systems: dict[str, list[str]] = {}
    for system in values_of(rows, "system"):
        names = " ".join(values_of(chosen(rows, system=system), "commit"))
        systems.setdefault(names, []).append(system)
    told = "; ".join(f"{'; '.join(names)} at {found}" for found, names in systems.items())
    return f"Measured at these commits: {told}."


def given_up(rows: list[Row]) -> str:
    """The fits that took too long."""
    lines = []
    for row in [row for row in rows if "given_up" in row]:
        first = row.get("first")
        split = f"split {row['seed']}" if first is None else f"first day {first}"
        lines.append(
            f"* {row['system']} on {row['set']}, {split}: more than {row['given_up']} "
            "minutes of CPU"
        )
    return "\n".join(["Given up:\n", *lines]) if lines else ""
