"""Metrics of the precision-recall curve."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inputs.arguments import check_choice, check_number
from ._checks import check_rows
from ._ranking import Ranking, class_total, share


def _expected_precision_sum(ranking: Ranking) -> float:
    """Return the expected sum over the positives of the precision at their rank.

    A group of t rows, p of them positive, below r rows with h positives: place j of the group is
    positive with chance p / t, and then (j - 1)(p - 1)/(t - 1) positives of the group are
    expected before it. Summed over j = 1..t the precision there is

        p / t * (sum_j (h + 1) / (r + j)  +  (p - 1)/(t - 1) * sum_j (j - 1)/(r + j)).
    """
    if not ranking.is_whole:
        raise ValueError(
            "ties='expected' takes whole-number sample_weight only: orders of tied rows are "
            "counted, and part of a row has none. Use ties='block'."
        )
    positives, sizes = ranking.positives, ranking.sizes
    starts = ranking.seen[:-1].astype(np.intp)
    ranks = ranking.pieces.upper
    before = ranks - 1 - np.repeat(ranking.seen[:-1], sizes.astype(np.intp))
    reciprocals = np.add.reduceat(1 / ranks, starts)
    offsets = np.add.reduceat(before / ranks, starts)
    # A group of one row has nothing before its one place: offsets is 0 there.
    others = (positives - 1) / np.maximum(sizes - 1, 1)
    above = ranking.positives_seen[:-1]
    return float((positives / sizes) @ ((above + 1) * reciprocals + others * offsets))


def average_precision_of(ranking: Ranking, ties: Literal["block", "expected"] = "block") -> float:
    """Mean over the positives of the precision at their place."""
    check_choice("ties", ties, ("block", "expected"))
    m = ranking.positive_total("average_precision")
    if ties == "expected":
        return share(_expected_precision_sum(ranking), m)
    precision = ranking.positives_seen[1:] / ranking.seen[1:]
    return share(float(ranking.positives @ precision), m)


def _average_precision(positive: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """The same without weights, in a block: the places of the positives are all that is needed."""
    own = np.sort(scores[positive])
    m = class_total(len(own), "positive", "average_precision")
    seen = m - np.searchsorted(own, own)
    rank = len(scores) - np.searchsorted(np.sort(scores), own)
    return share(float((seen / rank).sum()), m)


def average_precision(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    ties: Literal["block", "expected"] = "block",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Mean over the positive rows of the precision at their place in the order.

    .. math:: \frac1m \sum_i \frac{|\{\text{positives } i' : s_{i'} \ge s_i\}|}
              {|\{\text{rows } r : s_r \ge s_i\}|}

    over the m positive rows i.

    Ties: with ``ties="block"`` tied rows enter together, as the formula says and as
    ``sklearn.metrics.average_precision_score`` has it: each positive of a tie has the precision
    at the end of the tie. ``ties="expected"`` is the mean over all orders of the tied rows, each
    as likely. The two agree without ties and differ both ways with them: one positive tied
    with one negative has 1/2 in a block and (1 + 1/2) / 2 = 3/4 expected; two positives tied
    below one negative have 2/3 in a block and (1/2 + 2/3) / 2 = 7/12 expected.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `auc`. With ``ties="expected"`` weights must be whole numbers: repeated rows.
    ties : {"block", "expected"}, default="block"
        How tied rows are counted.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If no row is positive, or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import average_precision
    >>> average_precision([1, 0], [5, 5]), average_precision([1, 0], [5, 5], ties="expected")
    (0.5, 0.75)
    """
    if sample_weight is None and isinstance(ties, str) and ties == "block":
        positive, values, _, _ = check_rows(y_true, scores, None, pos_label)
        return _average_precision(positive, values)
    return average_precision_of(Ranking.of(y_true, scores, sample_weight, pos_label), ties)


def recall_at_precision_of(ranking: Ranking, min_precision: float) -> float:
    """Recall at the lowest threshold that is precise enough."""
    check_number("min_precision", min_precision, 0.0, 1.0, ends="(]")
    m = ranking.positive_total("recall_at_precision")
    # The division is rounded as the literal 0.9 is, so 9 hits of 10 do reach 0.9.
    precise = np.flatnonzero(ranking.positives_seen[1:] / ranking.seen[1:] >= min_precision)
    return share(ranking.positives_seen[precise[-1] + 1], m) if len(precise) else 0.0


def recall_at_precision(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    min_precision: float,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    r"""Largest recall among the thresholds whose precision is high enough.

    .. math:: \max_\theta \{\, \mathrm{recall}(s \ge \theta) :
              \mathrm{precision}(s \ge \theta) \ge p \,\}

    and 0 if no threshold is precise enough.

    Ties: a threshold keeps tied rows together, so only the ends of the ties are looked at.

    Parameters
    ----------
    y_true, scores, sample_weight, pos_label
        As in `auc`.
    min_precision : float in (0, 1]
        The precision p that must be reached.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If no row is positive, or an argument is malformed.

    Examples
    --------
    >>> from toprank.metrics import recall_at_precision
    >>> recall_at_precision([1, 0, 1, 0, 1], [5, 4, 3, 2, 1], min_precision=0.65)
    0.6666666666666666
    """
    ranking = Ranking.of(y_true, scores, sample_weight, pos_label)
    return recall_at_precision_of(ranking, min_precision)
