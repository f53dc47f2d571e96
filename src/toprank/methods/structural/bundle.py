"""A bundle of cutting planes: for losses that are the worst case over rankings.

Solves   min over w  alpha/2 |w|^2 + F(X w),  F(s) = max over rankings r of  level(r) + v(r).s
by       planes F(X w) >= level + g.w, g = X'v, of the rankings found so far: their best mixture
         max over a >= 0, sum a = 1  of  level.a - |G'a|^2 / (2 alpha)  bounds the minimum, and
         leads to w = -G'a / alpha. A line search from the best weights so far to these looks at
         scores s + t X d that are at hand: two rankings, one on either side of its minimum, and
         the one at w are the new planes.
Given    a Problem whose loss is over rankings.
Returns  a Solution; the mixture of rankings is its proof, and what a next fit starts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...designs import Design
from ...losses import Mixture, Plane, Ranking, RankingLoss
from ...problems import Problem, Solution
from ...solvers.linalg import one_blas_thread
from ...solvers.loop import Progress, within
from ...solvers.starts import better_start
from ...solvers.watch import Watch
from ...solvers.zero_test import ZeroTest
from .plane_qp import best_weights, least_of_planes

Array = NDArray[np.float64]

#: The number of points that a line search tries between its ends.
_LOOKS = 4
#: The most columns for which the program is solved over their weights, not over planes.
_NARROW = 64
#: The gap of the mixture, as a share of the gap of the fit.
_INNER = 1e-3
#: A plane is idle if its part of w is below this share of the largest part.
_LITTLE = 1e-6
#: Rounds after which an idle plane is dropped.
_IDLE = 30
#: Levels that differ by less than this share are equal to the level at w = 0.
_SAME_LEVEL = 1e-9


class _Stack:
    """Rows one upon the other, in an array with room for more."""

    def __init__(self, width: int) -> None:
        self._room, self._n = np.empty((8, width)), 0

    @property
    def rows(self) -> Array:
        """Those there are."""
        return self._room[: self._n]

    def add(self, row: Array) -> None:
        """One more; where there is no room, twice as much is taken."""
        if self._n == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[self._n] = row
        self._n += 1

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Those alone."""
        rows = self.rows[kept]
        self._room[: len(rows)], self._n = rows, len(rows)


class _Planes:
    """The planes so far: their rankings, levels, slopes in w and the products of those.

    Of more columns than rows the slopes in the scores are kept in their place: they are shorter,
    and the matrix turns the one into the other.
    """

    def __init__(self, design: Design) -> None:
        n, d = design.shape
        self._design, self._in_scores = design, n < d and d > _NARROW
        self.rankings: list[Ranking] = []
        self.level = np.empty(0)
        self._slopes = _Stack(n if self._in_scores else d)
        self.gram = np.empty((0, 0))
        self.idle = np.empty(0, dtype=np.int64)

    @property
    def narrow(self) -> Array | None:
        """The slopes in w, where they are short: of few columns, or of fewer than planes."""
        slopes = self._slopes.rows
        short = not self._in_scores and slopes.shape[1] <= max(_NARROW, len(slopes))
        return slopes if short else None

    def add(self, ranking: Ranking, plane: Plane) -> bool:
        """One more, if there is none like it."""
        g = self._design.pull_back(plane.v)
        own, slopes = (plane.v if self._in_scores else g), self._slopes.rows
        alike = self.level == plane.level
        if alike.any() and (slopes[alike] == own).all(axis=1).any():
            return False
        across = self._design.scores(g) if self._in_scores else g
        with_others = np.append(slopes @ across, g @ g)
        gram = np.empty((len(with_others),) * 2)
        gram[:-1, :-1] = self.gram
        gram[-1] = gram[:, -1] = with_others
        self.gram = gram
        self.rankings.append(ranking)
        self.level = np.append(self.level, plane.level)
        self._slopes.add(own)
        self.idle = np.append(self.idle, 0)
        return True

    def mixed(self, a: Array) -> Array:
        """The slope in w of a mixture, G'a."""
        mean = a @ self._slopes.rows
        return self._design.pull_back(mean) if self._in_scores else mean

    def keep_busy(self, a: Array) -> Array:
        """Drop those that have idled for long; the weights of the others."""
        pull = a * np.sqrt(self.gram.diagonal())
        self.idle = np.where(pull > _LITTLE * pull.max(), 0, self.idle + 1)
        kept = self.idle < _IDLE
        kept[0] = True  # the perfect ranking, which says that F >= 0
        if kept.all():
            return a
        self.rankings = [one for one, stays in zip(self.rankings, kept, strict=True) if stays]
        self.level, self.idle = self.level[kept], self.idle[kept]
        self._slopes.keep(kept)
        self.gram = self.gram[np.ix_(kept, kept)]
        return np.asarray(a[kept] / a[kept].sum())


@dataclass
class _Look:
    """What the loss is at some scores, and the plane that touches it there."""

    ranking: Ranking
    plane: Plane
    loss: float


class _Line:
    """The objective at w + t step: what is known of it at two points, its minimum between them.

    alpha/2 |w + t step|^2 is known everywhere, and of the loss there are planes.
    """

    def __init__(self, alpha: float, w: Array, step: Array, move: Array) -> None:
        self._move = move
        #: The squares are at + t flat + t^2 bend.
        self._at, self._flat, self._bend = (
            0.5 * alpha * float(x @ y) for x, y in ((w, w), (2.0 * w, step), (step, step))
        )

    def value(self, t: float, look: _Look) -> float:
        """The objective."""
        return self._at + t * self._flat + t * t * self._bend + look.loss

    def slope(self, t: float, look: _Look) -> float:
        """Its slope in t, by the plane."""
        return self._flat + 2.0 * t * self._bend + float(look.plane.v @ self._move)

    def between(self, low: tuple[float, _Look], high: tuple[float, _Look]) -> float:
        """Where the larger of two planes, and the squares, are least: not too near to an end."""
        (t, one), (u, two) = low, high
        down, up = (float(look.plane.v @ self._move) for look in (one, two))
        middle = 0.5 * (t + u)
        meet = t + (two.loss - one.loss - up * (u - t)) / (down - up) if down < up else middle
        # Where the squares and one plane alone would be least.
        first, last = -np.inf, np.inf
        if self._bend > 0.0:  # it may underflow
            first, last = (-(self._flat + slope) / (2.0 * self._bend) for slope in (up, down))
        best = min(max(meet, first), last)
        room = 0.05 * (u - t)
        return min(max(best, t + room), u - room) if np.isfinite(best) else middle


def bundle(
    problem: Problem,
    *,
    start: Solution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Solution:
    """Solve a problem with a loss over rankings; an iteration is a mixture and a line search."""
    with one_blas_thread(), np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return _Bundle(problem, start, tol, max_iter, watch or Watch(problem.design)).run()


class _Bundle:
    """The planes, the best weights with their scores, and the bounds."""

    def __init__(
        self, problem: Problem, start: Solution | None, tol: float, max_iter: int, watch: Watch
    ) -> None:
        self.problem, self.loss = problem, cast(RankingLoss, problem.loss)
        n, d = problem.design.shape
        self._planes = _Planes(problem.design)
        self._proof: tuple[list[Ranking], Array] = ([], np.empty(0))
        self._inner = _INNER
        self._zero = ZeroTest(problem)
        self.progress = Progress(
            Solution(np.zeros(d), np.zeros(n), solver="bundle", alpha=problem.alpha),
            self.loss.at_zero,
            self.loss.infimum,
            close=within(tol),
            zero=lambda _: self._zero_is_best(),
            watch=watch,
            max_iter=max_iter,
            patience=100,
            falls=0.01,
        )
        self._scores = np.zeros(n)
        self._here = self._look(self._scores)
        perfect = self.loss.perfect
        self._add(perfect, self.loss.plane(perfect))
        self._add(self._here.ranking, self._here.plane)
        if start is not None:
            self._go_on(start)

    def _go_on(self, start: Solution) -> None:
        """Begin with the rankings of an earlier fit, and its weights where they are worth it.

        What a ranking says of scores holds whatever the matrix.
        """
        mixture = start.proof
        if isinstance(mixture, Mixture) and self.loss.fits(mixture):
            for ranking in mixture.rankings:
                self._add(ranking, self.loss.plane(ranking))
        begin = better_start(self.problem, start)
        if begin is not None:
            w, self._scores = begin
            self._here = self._look(self._scores)
            self._add(self._here.ranking, self._here.plane)
            self.progress.lower(self.problem.value(w, self._scores), w)

    def run(self) -> Solution:
        """Rounds, until the bounds are near each other."""
        progress, best = self.progress, self.progress.best
        while not progress.over():
            self._search(self._mix())
        best.gave_up = not best.converged
        rankings, weights = self._proof
        if rankings:
            best.proof = Mixture(np.array(rankings), weights)
        return best

    def _mix(self) -> Array:
        """The best mixture of the planes, and the weights it leads to."""
        planes, alpha, progress = self._planes, self.problem.alpha, self.progress
        gap, w = self._inner * progress.gap, None
        slopes = planes.narrow
        if slopes is not None:
            a, w = least_of_planes(slopes, planes.level, alpha, gap)
        else:
            a = best_weights(planes.gram / alpha, planes.level, gap)
        a = planes.keep_busy(a)
        g = planes.mixed(a)
        dual = float(a @ planes.level) - float(g @ g) / (2.0 * alpha)
        if dual > progress.dual:
            used = np.flatnonzero(a)
            progress.dual, self._proof = dual, ([planes.rankings[k] for k in used], a[used])
        return np.asarray(-g / alpha) if w is None else w

    def _search(self, w: Array) -> None:
        """From the best weights so far to these: the best on the way, and new planes."""
        progress, first = self.progress, self.progress.best.w
        s = self.problem.design.scores(w)
        step, move = w - first, s - self._scores
        line = _Line(self.problem.alpha, first, step, move)
        low, high = (0.0, self._here), (1.0, self._look(s))
        seen = [high]
        if line.slope(*high) > 0.0 and step.any():
            for _ in range(_LOOKS):
                t = line.between(low, high)
                here = t, self._look(self._scores + t * move)
                seen.append(here)
                low, high = (here, high) if line.slope(*here) < 0.0 else (low, here)
        about = {t: look for t, look in (seen[0], low, high) if t > 0.0}
        new = [self._add(look.ranking, look.plane) for look in about.values()]
        t, look = min(seen, key=lambda one: line.value(*one))
        value = line.value(t, look)
        if self._is_better(value):
            self._here = look
            self._scores = s if t == 1.0 else self._scores + t * move
            progress.lower(value, w if t == 1.0 else first + t * step)
        elif not any(new):  # the mixture may have to be better, and is then as good as it can be
            progress.stuck, self._inner = self._inner == 0.0, 0.0

    def _is_better(self, value: float) -> bool:
        """Whether weights of this value take the place of the best ones.

        At a huge alpha the best w improves on zero by less than rounding shows. So weights that
        are as good as zero are better, unless zero is the best.
        """
        if self.progress.best.w.any():
            return value < self.progress.primal
        return value <= self.progress.primal and not self._zero_is_best()

    def _look(self, s: Array) -> _Look:
        ranking = self.loss.worst_ranking(s)
        plane = self.loss.plane(ranking)
        return _Look(ranking, plane, plane.level + float(plane.v @ s))

    def _add(self, ranking: Ranking, plane: Plane) -> bool:
        return self._planes.add(ranking, plane)

    def _zero_is_best(self) -> bool:
        """By the rankings of the proof that are among the worst at w = 0."""
        v = np.zeros(self.problem.design.shape[0])
        for ranking, weight in zip(*self._proof, strict=True):
            level, slope = self.loss.plane(ranking)
            if level >= (1.0 - _SAME_LEVEL) * self.loss.at_zero:
                v += weight * slope
        return self._zero.holds(v)
