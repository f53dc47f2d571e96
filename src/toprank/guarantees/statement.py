"""HeadStatement: what can be promised of the first k rows of a list, for every k at once."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..exceptions import warn_drift, warn_few_calibration, warn_trivial_bound
from ..inputs.arguments import check_count, check_number
from .bounds import HeadBounds, Standing, Terms

#: Where the share of positives that is asked for meets a share of whole rows.
_ROUNDING = 1e-9
#: Below this p a list is called unlike the calibration rows: false alarms are rare then.
_ALARM = 0.01


class Selection(NamedTuple):
    """The rows that were selected, and what is promised of them."""

    rows: NDArray[np.intp]
    """Row numbers in the list, best first."""
    lower: int
    """At least so many of them are positive, with the statement's confidence."""
    text: str
    """The promise, in words."""


class HeadStatement:
    """What can be promised of the first k rows of a list; `HeadBound.of` makes it.

    All bounds hold for every k at once, with the confidence that was asked for: k may be chosen
    after looking at them. Methods that take `k` return an array for k = 1, ..., N without it.

    Attributes
    ----------
    order : ndarray of shape (N,)
        Row numbers of the list, best first: the first k rows are `order[:k]`.
    exact : bool
        Whether the promise is proven, or approximate (calibration by folds).
    confidence : float
        How sure it is.
    assume : str
        What of the list is like the calibration rows: "negatives" or "rows".
    n_rows, n_negatives, n_positives : int
        Rows of the list, and calibration rows of the two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank.guarantees import HeadBound
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4000) < 0.1
    >>> scores = rng.normal(size=4000) + 3 * y
    >>> bound = HeadBound().fit(y, scores)
    >>> hidden = rng.random(1000) < 0.1
    >>> statement = bound.of(rng.normal(size=1000) + 3 * hidden)
    >>> int(hidden[statement.order[:50]].sum()), statement.lower(50)
    (49, 47)
    """

    def __init__(
        self, standing: Standing, terms: Terms, drift: Callable[[], float], exact: bool
    ) -> None:
        self._standing, self._terms, self._drift = standing, terms, drift
        self.exact = exact
        self.confidence, self.assume = terms.confidence, terms.assume
        self.order = standing.order
        self.n_rows = standing.n_rows
        self.n_negatives, self.n_positives = standing.n_negatives, standing.n_positives
        self._bounds = HeadBounds(standing, terms)
        self._k = self._bounds.k

    def __repr__(self) -> str:
        half = max(self.n_rows // 2, 1)
        sure = self._bounds.lower[half - 1]
        return f"<HeadStatement of {self.n_rows} rows: at least {sure} of the first {half}>"

    def _at(self, values: NDArray[Any], k: int | None) -> Any:
        if k is None:
            return values.copy()
        return values[self._check_k(k) - 1].item()

    def _check_k(self, k: Any) -> int:
        number = check_count("k", k)
        if number > self.n_rows:
            raise ValueError(f"k must be at most {self.n_rows}, the rows of the list, got {k}.")
        return number

    def lower(self, k: int | None = None) -> Any:
        """At least so many of the first k rows are positive.

        Parameters
        ----------
        k : int, optional
            How many rows.

        Returns
        -------
        int, or ndarray of shape (N,)
            The bound.
        """
        return self._at(self._bounds.lower, k)

    def precision_lower(self, k: int | None = None) -> Any:
        """At least this share of the first k rows is positive: `lower(k) / k`."""
        return self._at(self._bounds.lower / self._k, k)

    def false_upper(self, k: int | None = None) -> Any:
        """At most so many of the first k rows are negative."""
        return self._at(self._bounds.false_upper, k)

    def upper(self, k: int | None = None) -> Any:
        """At most so many of the first k rows are positive; needs ``assume="rows"``."""
        self._tell_trivial("an upper bound of the positives")
        return self._at(self._bounds.upper, k)

    def left_upper(self, k: int | None = None) -> Any:
        """At most so many positives come after the first k rows; needs ``assume="rows"``."""
        self._tell_trivial("a bound of the positives that are left")
        return self._at(self._bounds.left_upper, k)

    def recall_lower(self, k: int | None = None) -> Any:
        """At least this share of all positives is in the first k rows; needs ``assume="rows"``."""
        self._tell_trivial("a bound of recall")
        return self._at(self._bounds.recall_lower, k)

    def _tell_trivial(self, what: str) -> None:
        if not self._terms.of_rows:
            warn_trivial_bound(what)

    def lower_at(self, k: int) -> int:
        """At least so many of the first k rows are positive, for one k fixed beforehand.

        It is mostly higher than `lower(k)`, and holds for this k alone. To look at several and take
        the best is to spend the same chance of error more than once: use `lower` for that.

        Parameters
        ----------
        k : int
            How many rows, settled before the list was seen.

        Returns
        -------
        int
            The bound.
        """
        return self._bounds.lower_at(self._check_k(k))

    @property
    def min_k(self) -> int:
        """The least k at which `lower(k)` can be above 0, before any row is surely positive.

        Where `refine` finds that many are, it may be above 0 sooner.
        """
        return self._bounds.min_k

    def select(
        self, k: int | None = None, *, precision: float | None = None, fdr: float | None = None
    ) -> Selection:
        """Select the first k rows, the longest head that is pure enough, or one with few errors.

        Parameters
        ----------
        k : int, optional
            So many rows.
        precision : float in (0, 1), optional
            The most rows of which at least this share is positive, with the statement's
            confidence.
        fdr : float in (0, 1), optional
            The most rows of which at most this share is negative *on average over lists*. One
            list may hold more; the text says what is sure of this one.

        Returns
        -------
        Selection
            `rows`, `lower` and `text`.
        """
        asked = [
            name
            for name, given in (("k", k), ("precision", precision), ("fdr", fdr))
            if given is not None
        ]
        if len(asked) != 1:
            raise ValueError(
                "Pass one of k, precision and fdr, "
                f"got {' and '.join(asked) if asked else 'none of them'}."
            )
        if k is not None:
            self._tell_too_few(self._check_k(k))
            return self._first(k)
        if precision is not None:
            share = check_number("precision", precision, 0.0, 1.0, ends="()")
            return self._first(_longest(self._bounds.lower >= share * self._k - _ROUNDING))
        return self._by_errors(check_number("fdr", cast(float, fdr), 0.0, 1.0, ends="()"))

    def _first(self, k: int) -> Selection:
        if k == 0:
            return Selection(self.order[:0], 0, "No head of this list is surely as pure as that.")
        return Selection(self.order[:k], self.lower(k), self._sentence(k))

    def _by_errors(self, fdr: float) -> Selection:
        """Benjamini and Hochberg's rule, by p-values of 'this row is negative'."""
        places = self._bounds.calibration + 1
        p = (1.0 + self._standing.negatives_from) / places
        k = _longest(p * self.n_rows <= fdr * self._k * (1 + 1e-12))
        if k == 0:
            least = ceil(self.n_rows / (fdr * places))
            text = (
                f"No rows can be selected at fdr={fdr:g}. With so many calibration rows no "
                f"selection of fewer than {least:,} ever can."
            )
            return Selection(self.order[:0], 0, text)
        rows = self._first(k)
        average = (
            f"At most {100 * fdr:.4g} % of such selections are negative, on average over lists."
        )
        return rows._replace(text=f"{average} Of this one: {rows.text[0].lower()}{rows.text[1:]}")

    def text(self, k: int) -> str:
        """The promise about the first k rows, in words.

        Parameters
        ----------
        k : int
            How many rows.

        Returns
        -------
        str
            One sentence. Where no score could promise anything, it says how many calibration rows
            could.
        """
        return self._sentence(self._check_k(k))

    def _tell_too_few(self, k: int) -> None:
        if self.min_k > k and not self._bounds.lower[k - 1]:
            given, enough = self._bounds.calibration, self._enough(k)
            warn_few_calibration(given, self._kind, k, self.n_rows, self.min_k, enough)

    def _enough(self, k: int) -> int:
        """Return how many calibration rows could bound the first k, if k were fixed."""
        enough: int = ceil(self.n_rows * ((1.0 / self._terms.delta) ** (1.0 / k) - 1.0))
        return enough

    @property
    def _kind(self) -> str:
        return "rows" if self._terms.of_rows else "negatives"

    def _sentence(self, k: int) -> str:
        sure = int(self._bounds.lower[k - 1])
        if not sure:
            return self._nothing(k)
        head = "At least" if self.exact else "Approximately: at least"
        like = "are like" if self._terms.of_rows else "score like"
        return (
            f"{head} {sure:,} of these {k:,} {'is' if sure == 1 else 'are'} positive "
            f"({100 * self.confidence:.4g} %, for whichever k you pick), if today's {self._kind} "
            f"{like} the {self._bounds.calibration:,} calibration {self._kind}."
        )

    def _nothing(self, k: int) -> str:
        """No promise for so few rows, and from how many on there is one."""
        these = "this row" if k == 1 else f"these {k:,}"
        promised = np.flatnonzero(self._bounds.lower)
        if len(promised):
            more = f"the shortest head with a promise has {promised[0] + 1:,} rows"
        else:
            more = "nor of any other head of this list"
        if self.min_k > k:
            more += f"; so short a head takes more than {self._enough(k):,}"
        return (
            f"Nothing is promised of {these} ({100 * self.confidence:.4g} %, by "
            f"{self._bounds.calibration:,} calibration {self._kind}): {more}."
        )

    def check(self, *, warn: bool = True) -> float:
        """Test whether the list differs from the calibration rows.

        The two-sample test of Kolmogorov and Smirnov, of the scores of the list and of all
        calibration rows. That it is silent proves nothing.

        Parameters
        ----------
        warn : bool, default=True
            Whether to warn where p is below 0.01.

        Returns
        -------
        float
            p: how likely scores as different as these are, if the rows are alike.
        """
        p = self._drift()
        if warn and p < _ALARM:
            warn_drift(p, rate_may_change=not self._terms.of_rows)
        return p

    def to_frame(self) -> Any:
        """All bounds as a pandas frame, a row for each row of the list, best first."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas.") from error
        columns: dict[str, Any] = {
            "k": self._k,
            "row": self.order,
            "score": self._standing.scores,
            "lower": self._bounds.lower,
            "precision_lower": self._bounds.lower / self._k,
            "false_upper": self._bounds.false_upper,
        }
        if self._terms.of_rows:
            columns["upper"] = self._bounds.upper
            columns["left_upper"] = self._bounds.left_upper
            columns["recall_lower"] = self._bounds.recall_lower
        return pd.DataFrame(columns)


def _longest(good: NDArray[np.bool_]) -> int:
    """The largest k that is good."""
    found = np.flatnonzero(good)
    return int(found[-1]) + 1 if len(found) else 0


__all__ = ["HeadStatement", "Selection"]
