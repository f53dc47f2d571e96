"""The report's numbered checks, with advice: copies, drift, leaks, ties, capacity and others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from .._compat import cached_property
from ..inputs.cells import as_codes, as_numbers, cells_of, names_of
from ..inputs.leaks import LEAK, Leak, find_leaks
from ..selection import Comparison
from .words import count_words, first_upper, listed, p_words, share_words, title_of


def copied_share(X: Any, folds: list[tuple[NDArray[Any], NDArray[Any]]]) -> float:
    """The share of rows held out that have an equal among the rows their fold was fitted on."""
    digests = _digests(X)
    _, numbers, counts = np.unique(digests, return_inverse=True, return_counts=True)
    if counts.max() == 1:
        return 0.0
    copied = total = 0
    for training, test in folds:
        seen = np.zeros(len(counts), dtype=bool)
        seen[numbers[training]] = True
        copied += int(seen[numbers[test]].sum())
        total += len(test)
    return copied / total


def _digests(X: Any) -> NDArray[np.uint64]:
    """A number for each row, the same for equal rows."""
    if type(X).__module__.startswith("pandas."):
        from pandas.util import hash_pandas_object

        return np.asarray(hash_pandas_object(X, index=False), dtype=np.uint64)
    if sparse.issparse(X):
        return _sparse_digests(sparse.csr_array(X))
    table = np.ascontiguousarray(X) if not hasattr(X, "to_numpy") else X.to_numpy()
    if table.dtype == object:
        parts = [repr(row.tolist()).encode() for row in table]
    else:
        parts = [row.tobytes() for row in np.ascontiguousarray(table)]
    return _numbers(parts)


def _sparse_digests(X: Any) -> NDArray[np.uint64]:
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return _numbers([X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds])


def _numbers(parts: list[bytes]) -> NDArray[np.uint64]:
    digests = b"".join(blake2b(part, digest_size=8).digest() for part in parts)
    return np.frombuffer(digests, dtype=np.uint64)


#: How likely a false alarm may be, over all columns.
_ALARM = 0.01
#: With many rows any difference is sure; one smaller than this, as a share of rows, does no harm.
_SMALL = 0.1
#: Rows of each side that are looked at.
_ROWS = 20_000


def moved_columns(old: Any, new: Any) -> list[str]:
    """The columns that moved, with by how much, the furthest first."""
    if list(names_of(old)) != list(names_of(new)):
        raise ValueError("The new rows must have the same columns as those compared.")
    if sparse.issparse(old):
        return _sparse_moved(sparse.csr_array(old), sparse.csr_array(new))
    level = _ALARM / max(old.shape[1], 1)
    moved = []
    pairs = zip(cells_of(old, _some(old)), cells_of(new, _some(new)), strict=True)
    for (name, before), (_, now) in pairs:
        distance, p = _apart(before, now)
        if p < level and distance > _SMALL:
            moved.append((distance, f"'{name}' ({100 * distance:.0f} % of rows apart)"))
    return [words for _, words in sorted(moved, reverse=True)]


def _some(X: Any) -> NDArray[np.intp]:
    n = X.shape[0]
    return np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(np.intp))


def _apart(before: NDArray[Any], now: NDArray[Any]) -> tuple[float, float]:
    """How far two samples are apart, as a share of rows, and how likely that is by chance."""
    one, other = as_numbers(before), as_numbers(now)
    if one is None or other is None:
        return _categories_apart(before, now)
    gaps = _shares_apart(np.isnan(one), np.isnan(other))
    one, other = one[~np.isnan(one)], other[~np.isnan(other)]
    if not len(one) or not len(other):
        return gaps
    test = stats.ks_2samp(one, other, method="asymp")
    return max(gaps, (float(test.statistic), float(test.pvalue)))


def _shares_apart(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> tuple[float, float]:
    table = np.array([[part.sum(), (~part).sum()] for part in (one, other)])
    return abs(float(one.mean() - other.mean())), _chance(table)


def _categories_apart(before: NDArray[Any], now: NDArray[Any]) -> tuple[float, float]:
    codes, _ = as_codes(np.concatenate([before.astype(object), now.astype(object)]))
    kinds = codes.max() + 1
    table = np.array(
        [np.bincount(part, minlength=kinds) for part in np.split(codes, [len(before)])]
    )
    shares = table / table.sum(axis=1, keepdims=True)
    return 0.5 * float(np.abs(shares[0] - shares[1]).sum()), _chance(table)


def _chance(table: NDArray[np.int64]) -> float:
    """The p of the chi-squared test of two samples; rare kinds, which it is not for, are pooled."""
    rare = table.sum(axis=0) < 10
    pooled = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    pooled = pooled[:, pooled.sum(axis=0) > 0]
    if pooled.shape[1] < 2:
        return 1.0
    return float(stats.chi2_contingency(pooled).pvalue)


def _sparse_moved(old: Any, new: Any) -> list[str]:
    """Of sparse columns: how often there is an entry."""
    shares = [np.asarray((X != 0).mean(axis=0)).ravel() for X in (old, new)]
    apart = np.abs(shares[0] - shares[1])
    order = np.argsort(-apart, kind="stable")
    return [f"'x{j}' ({100 * apart[j]:.0f} % of rows apart)" for j in order if apart[j] > _SMALL]


#: Intervals of fewer positives than this are not to be relied on, as in `toprank.metrics`.
_FEW = 20
#: Nor are figures of a fold with fewer than this.
_FEW_HELD_OUT = 5
#: A tie at the cut matters if it holds this share of the rows taken.
_TIED = 0.05
#: Rows held out that are among the training rows too, as a share, from which on it is told.
_COPIED = 0.01


def few_positives(evidence: Evidence) -> Finding:
    """TR004: too few positives for the figures to mean anything."""
    comparison = evidence.comparison
    total = int(comparison.positive.sum())
    least = min(int(comparison.positive[test].sum()) for _, test in comparison.folds)
    if total >= _FEW and least >= _FEW_HELD_OUT:
        return Finding(
            "passed", f"{total:,} positives, at least {least:,} in what a fold holds out."
        )
    return Finding(
        "fired",
        f"There are {total:,} positives, and one fold holds out {least:,} of them: intervals and "
        "tests need 20 in all and 5 a fold.",
        "Label more positive rows, take fewer folds, or read the figures as a guess.",
    )


def ties(evidence: Evidence) -> Finding:
    """TR005: rows with equal scores at the cut, of which chance takes some."""
    comparison, head = evidence.comparison, evidence.head
    if not head["given"]:
        return Finding("not applicable", "No capacity was given, so there is no cut.")
    worst, at = 0.0, (0, 0)
    for fold, (_, test) in enumerate(comparison.folds):
        scores = np.sort(comparison.cells[comparison.best, fold].scores)[::-1]
        k = min(max(1, round(head["share"] * len(test))), len(test))
        if k == len(test) or scores[k] != scores[k - 1]:
            continue
        group = int((scores == scores[k - 1]).sum())
        if group / k > worst:
            worst, at = group / k, (group, k)
    if worst <= _TIED:
        return Finding("passed", "No tie of any size lies at the cut.")
    return Finding(
        "fired",
        f"{at[0]:,} rows share the score at the cut after {at[1]:,} rows: which of them are taken "
        "is chance.",
        "Add a column that tells them apart, or settle by which column ties are broken.",
    )


def leak(evidence: Evidence) -> Finding:
    """TR006: one column that orders the rows almost perfectly."""
    found = evidence.leaks
    if not found:
        return Finding("passed", f"No column alone comes to an AUC of {LEAK:g}.")
    named = listed([leak.words for leak in found])
    return Finding(
        "fired",
        f"Alone, {named} {'gives' if len(found) == 1 else 'give'} the label away.",
        "Ask whether it is known when the list is made. If it is written down only once the "
        "outcome is known, leave it out.",
    )


def copies(evidence: Evidence) -> Finding:
    """TR007: rows held out that the model was fitted on under another number."""
    comparison = evidence.comparison
    share = copied_share(comparison.data.X, comparison.folds)
    if share < _COPIED:
        told = "none" if share == 0 else share_words(share)
        return Finding("passed", f"Of the rows held out, {told} have an equal among the others.")
    return Finding(
        "fired",
        f"{share_words(share)} of the rows held out have an equal row among those fitted on: the "
        "figures may be too good.",
        "If these are copies, drop them, or keep them together by groups. Columns of a few values "
        "make equal rows by themselves: then silence this.",
    )


def drift(evidence: Evidence) -> Finding:
    """TR008: columns of new rows that are spread otherwise."""
    if evidence.new is None:
        return Finding("not applicable", "No new rows were given.")
    moved = moved_columns(evidence.comparison.data.X, evidence.new)
    if not moved:
        return Finding("passed", "No column of the new rows is spread otherwise.")
    return Finding(
        "fired",
        f"The new rows differ from those compared, most of all in {listed(moved)}.",
        "Fit and calibrate on recent rows; figures and promises are of rows like the old ones.",
    )


def capacity(evidence: Evidence) -> Finding:
    """TR010: more room than there are positives to find."""
    head, expect = evidence.head, evidence.answer["expect"]
    if not head["given"]:
        return Finding("not applicable", "No capacity was given.")
    k, there = head["k"], expect["positives"]
    if k <= there:
        return Finding("passed", f"About {there:,.0f} positives in a list, and room for {k:,}.")
    return Finding(
        "fired",
        f"There is room for {k:,} rows, and a list of {head['list_size']:,} holds about "
        f"{there:,.0f} positives: even a perfect order has precision {there / k:.2f}.",
        "Look at recall in place of precision, or use the room for longer lists.",
    )


class Finding(NamedTuple):
    """How a check came out, in words, and what to do if it fired."""

    status: str
    message: str
    advice: str = ""


@dataclass(frozen=True)
class Evidence:
    """A comparison, the head that the report speaks of, and the list of new rows, if any."""

    comparison: Comparison
    #: As `head_of` gives it.
    head: dict[str, Any]
    #: As `answer_of` gives it.
    answer: dict[str, Any]
    #: New rows with the same columns, or None.
    new: Any = None

    @cached_property
    def leaks(self) -> list[Leak]:
        """Columns that give the label away."""
        return find_leaks(self.comparison.data.X, self.comparison.positive)


def trivial(evidence: Evidence) -> Finding:
    """TR001: a model whose best score is the same for every row."""
    comparison = evidence.comparison
    known = {
        model: facts
        for model in comparison.models
        if None not in (facts := comparison.facts(model, "trivial"))
    }
    if not known:
        return Finding("not applicable", "No model here can tell whether its optimum is trivial.")
    hit = [
        f"{title_of(model)} ({sum(facts)} of {len(facts)} folds)"
        for model, facts in known.items()
        if any(facts)
    ]
    if not hit:
        return Finding("passed", f"No optimum is trivial, of {count_words(len(known), 'model')}.")
    return Finding(
        "fired",
        f"The best score is the same for every row, so that nothing is ranked: {listed(hit)}.",
        "Leave the model out, or take one that looks beyond the highest negative, such as "
        "RectPushApp or PNormPush.",
    )


def gap(evidence: Evidence) -> Finding:
    """TR002: a fit that stopped before its certificate held."""
    comparison = evidence.comparison
    hit, known = [], 0
    for model in comparison.models:
        held = comparison.facts(model, "certified")
        warned = (model, "ConvergenceWarning") in comparison.notes
        known += None not in held
        short = sum(one is False for one in held)
        if short:
            gaps = [one for one in comparison.facts(model, "relative_gap") if one is not None]
            hit.append(
                f"{title_of(model)} ({count_words(short, 'fold')}, widest gap {max(gaps):.1g})"
            )
        elif warned:
            hit.append(f"{title_of(model)} (a ConvergenceWarning)")
    if hit:
        return Finding(
            "fired",
            f"Fits stopped before they were done: {listed(hit)}.",
            "Raise max_iter, scale the columns, or accept the gap by a larger tol.",
        )
    if not known:
        return Finding("not applicable", "No model here has a certificate, and none warned.")
    return Finding(
        "passed", f"The certificates of {count_words(known, 'model')} hold in every fold."
    )


def edge(evidence: Evidence) -> Finding:
    """TR003: the best alpha is the first or the last that was tried."""
    comparison = evidence.comparison
    known = {
        model: facts
        for model in comparison.models
        if None not in (facts := comparison.facts(model, "edge"))
    }
    if not known:
        return Finding("not applicable", "No model here chose a strength from a grid.")
    hit = [
        f"{title_of(model)} ({sum(facts)} of {len(facts)} folds)"
        for model, facts in known.items()
        if 2 * sum(facts) > len(facts)
    ]
    if not hit:
        return Finding(
            "passed",
            f"The grid of alphas of {count_words(len(known), 'model')} reaches far enough.",
        )
    return Finding(
        "fired",
        f"The strength chosen is at an end of its grid in most folds: {listed(hit)}.",
        "Pass a grid that reaches further: a better strength may lie beyond.",
    )


def reference(evidence: Evidence) -> Finding:
    """TR009: the winner is not surely better than logistic regression."""
    comparison, lead = evidence.comparison, evidence.answer["against_reference"]
    if len(comparison.models) < 2:
        return Finding("not applicable", "Logistic regression is the only model.")
    if lead is None:
        return Finding(
            "fired",
            "Logistic regression has the best figure of all models.",
            "Take it: it is the simplest. Other features may do more than another method.",
        )
    title, said = first_upper(title_of(comparison.best)), p_words(lead["p"])
    if lead["sure"]:
        return Finding("passed", f"{title} beats logistic regression: {said}, adjusted.")
    return Finding(
        "fired",
        f"{title} is ahead of logistic regression, but the folds do not tell them apart: {said}, "
        "adjusted for the number of models.",
        "Compare on more rows, or with repeated folds. Until then logistic regression is the "
        "simpler model.",
    )


@dataclass(frozen=True)
class Check:
    """A check: its code, what it is called, and how it looks at the evidence."""

    code: str
    title: str
    look: Callable[[Evidence], Finding]


CHECKS = (
    Check("TR001", "Trivial optimum", trivial),
    Check("TR002", "Gap not reached", gap),
    Check("TR003", "Alpha at the edge of its grid", edge),
    Check("TR004", "Too few positives for the claim", few_positives),
    Check("TR005", "Ties at the cut", ties),
    Check("TR006", "A feature that gives the label away", leak),
    Check("TR007", "Same rows on both sides", copies),
    Check("TR008", "New rows unlike the training rows", drift),
    Check("TR009", "Not better than logistic regression", reference),
    Check("TR010", "Capacity beyond the positives", capacity),
)


def codes_of(ignore: Collection[str]) -> set[str]:
    """The codes of checks to ignore; codes of none are refused."""
    codes = {code.upper() for code in ([ignore] if isinstance(ignore, str) else ignore)}
    unknown = codes - {check.code for check in CHECKS}
    if unknown:
        raise ValueError(
            f"There is no check {min(unknown)}; they are {CHECKS[0].code} to {CHECKS[-1].code}."
        )
    return codes


def run_checks(evidence: Evidence, ignore: Collection[str]) -> list[dict[str, Any]]:
    """How every check came out; those to ignore are not looked at."""
    silenced = codes_of(ignore)
    found = []
    for check in CHECKS:
        if check.code in silenced:
            finding = Finding("ignored", "Silenced: it was not looked at.")
        else:
            finding = check.look(evidence)
        found.append(
            {
                "code": check.code,
                "title": check.title,
                "status": finding.status,
                "message": finding.message,
                "advice": finding.advice,
                "link": f"checks.html#{check.code.lower()}",
            }
        )
    return found


__all__ = [
    "CHECKS",
    "Check",
    "Evidence",
    "Finding",
    "capacity",
    "codes_of",
    "copied_share",
    "copies",
    "drift",
    "edge",
    "few_positives",
    "gap",
    "leak",
    "moved_columns",
    "reference",
    "run_checks",
    "ties",
    "trivial",
]
