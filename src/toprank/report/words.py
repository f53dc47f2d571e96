"""Names of models and metrics, and numbers, in plain English."""

from __future__ import annotations

import re
from math import floor, log10
from typing import Any

from ..inputs.model_names import model_titles
from ..selection.head.setup import Capacity

#: Metrics in words: the name, and what it is in a sentence.
_METRICS = {
    "auc": ("AUC", "how often a positive row is ahead of a negative one"),
    "average_precision": ("average precision", "the mean of the precision at every positive row"),
    "average_reciprocal_rank": ("average reciprocal rank", "the mean of 1 / rank of positive rows"),
    "dcg": ("DCG", "discounted cumulative gain"),
    "ndcg": ("NDCG", "discounted cumulative gain, 1 for the perfect order"),
    "positives_at_top": ("positives at the top", "the share of positives above every negative"),
}
#: The same for metrics with a parameter, `{}`.
_OF_A_NUMBER = {
    "precision_at": ("precision in the first {}", "the share of positives among the first {}"),
    "recall_at": ("recall in the first {}", "the share of all positives that the first {} hold"),
    "lift_at": ("lift in the first {}", "precision in the first {} over that of all rows"),
    "dcg_at": ("DCG of the first {}", "discounted cumulative gain of the first {}"),
    "ndcg_at": ("NDCG of the first {}", "the same, 1 for the perfect order"),
    "partial_auc": ("partial AUC to {}", "AUC where at most {} of the negatives are passed"),
    "tpr_at_fpr": ("recall at FPR {}", "positives found when {} of the negatives are passed"),
    "recall_at_precision": ("recall at precision {}", "positives found while {} of rows are right"),
}


#: A space at which no line breaks.
_GLUE = "\u00a0"


def title_of(model: str) -> str:
    """What a model is called in a sentence."""
    return model_titles().get(model, model)


def metric_words(name: str, capacity: Capacity | None = None) -> tuple[str, str]:
    """Return a metric in words, and what it is.

    A share of the list that stands for a capacity given as a count is named by the count.
    """
    if name in _METRICS:
        return _METRICS[name]
    match = re.fullmatch(r"([a-z_]+)_([\d.e-]+)", name)
    if match is None or match[1] not in _OF_A_NUMBER:
        return name.replace("_", " "), ""
    whole = match[2].isdecimal() and float(match[2]) >= 1
    told = f"{int(match[2]):,} rows" if whole else share_words(float(match[2]))
    if match[1].endswith("_at") and capacity is not None:
        told = _count_of(float(match[2]), capacity) or told
    first, second = _OF_A_NUMBER[match[1]]
    return first.format(told), second.format(told)


def _count_of(share: float, capacity: Capacity) -> str | None:
    """The count that a capacity was given as, if the share, in four digits, stands for it."""
    if capacity.count is None or share != float(f"{capacity.share:.4g}"):
        return None
    return f"{capacity.count:,}"


def share_words(share: float) -> str:
    """A share in percent, in one piece."""
    return f"{100 * share:.3g}{_GLUE}%"


def count_words(count: int, noun: str) -> str:
    """A number of things: 1 model, 2 models."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def signed(value: float, digits: int) -> str:
    """A number with its sign; one that rounds to zero has none."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0.0 else text


def reason_digits(rows: list[dict[str, Any]]) -> int:
    """Return the decimals with which the largest contribution has two digits or more."""
    largest = max((abs(one["adds"]) for row in rows for one in row["why"]), default=0.0)
    return 2 if largest == 0.0 else max(2, 1 - floor(log10(largest)))


def reason_words(why: list[dict[str, Any]], digits: int) -> list[tuple[str, str, float]]:
    """Return reasons as text, number and value; those that would print as zero are left out."""
    found = []
    for one in why:
        number = signed(one["adds"], digits)
        if float(number) != 0.0:
            text = f"{one['column']} = {one['value']}" if one["value"] else one["column"]
            found.append((text, number, one["adds"]))
    return found


def p_words(p: float) -> str:
    """A p value, without false digits, in one piece."""
    return f"p{_GLUE}<{_GLUE}0.001" if p < 0.001 else f"p{_GLUE}={_GLUE}{p:.2g}"


def first_upper(text: str) -> str:
    """The text as a sentence begins."""
    return text[:1].upper() + text[1:]


def listed(items: list[str], most: int = 4) -> str:
    """Some things in a sentence: a, b and c."""
    shown = items[:most]
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


__all__ = [
    "count_words",
    "first_upper",
    "listed",
    "metric_words",
    "p_words",
    "reason_digits",
    "reason_words",
    "share_words",
    "signed",
    "title_of",
]
