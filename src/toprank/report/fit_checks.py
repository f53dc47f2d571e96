"""Checks of the fits: trivial, short of the gap, at the edge of the grid, beaten."""

from __future__ import annotations

from .evidence import Evidence, Finding
from .words import count_words, first_upper, listed, p_words, title_of


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


__all__ = ["edge", "gap", "reference", "trivial"]
