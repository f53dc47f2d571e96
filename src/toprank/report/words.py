"""Models, metrics and numbers as people would say them."""

from __future__ import annotations

import re

from ..selection.comparison.roster import names

#: Models by name that have another name in words.
_TITLES = {"logistic": "logistic regression", "head": "HeadRanker", "trees": "gradient boosting"}
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
    if model in _TITLES:
        return _TITLES[model]
    known = names().get(model)
    return model if known is None else str(known.__name__)


def metric_words(name: str) -> tuple[str, str]:
    """A metric in words, and what it is."""
    if name in _METRICS:
        return _METRICS[name]
    match = re.fullmatch(r"([a-z_]+)_([\d.e-]+)", name)
    if match is None or match[1] not in _OF_A_NUMBER:
        return name.replace("_", " "), ""
    whole = match[2].isdecimal() and float(match[2]) >= 1
    told = f"{int(match[2]):,} rows" if whole else share_words(float(match[2]))
    first, second = _OF_A_NUMBER[match[1]]
    return first.format(told), second.format(told)


def share_words(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.3g} %"


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


__all__ = ["first_upper", "listed", "metric_words", "p_words", "share_words", "title_of"]
