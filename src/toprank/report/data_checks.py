"""Checks of the rows: too few, tied, leaking, copied, moved, outnumbered."""

from __future__ import annotations

import numpy as np

from ..inputs.leaks import LEAK
from .drift import moved_columns
from .evidence import Evidence, Finding
from .rows import copied_share
from .words import listed, share_words

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


__all__ = ["capacity", "copies", "drift", "few_positives", "leak", "ties"]
