"""A race for rows on a cluster: who can, races there; who cannot, is fitted to a sample of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing

from ..._compat import cached_property
from ...estimators.ranker import Ranker
from ...estimators.validation import LabelledRows
from ...features.bin_edges import case_control_edges
from ...inputs.folds import Folds
from ...solvers.watch import Watch
from ..fold_path import FoldFit, Judge, Rows
from ..path import follow
from .blocks import bytes_of
from .case_control import counts_to_draw
from .contenders import Data, Given, LeftOut
from .forest import Forest
from .linear import Linear, falling, piped
from .making import Making
from .trees import N_EDGES, Trees

Array = NDArray[np.float64]

#: Rows drawn for quantiles, bins and estimators that need their rows in one place.
_DRAWN = 200_000
#: Bytes of rows drawn, for those and for trees: fitting trees takes five times as many in the
#: driver, for the training rows, their codes and their bins.
_DRAWN_BYTES = 256_000_000
#: Rows held out whose scores come to one place, at the most; of more, so many drawn by chance.
_JUDGED = 5_000_000
#: Features of a part may take so many bytes on a worker,
_PART = 250_000_000
#: or so many times what its rows take.
_TIMES = 4.0
#: Rows by which that is told.
_PROBE = 500
#: Feature sets whose scales are those of all rows.
_SCALERS = {"columns": "standard", "largest 1": "largest"}


@dataclass(frozen=True)
class DrawnData(Data):
    """Rows drawn from a cluster. Their weights make up for the rows that were not drawn."""

    #: The weights without that; None if all are equal.
    given: Array | None = None
    #: Whether fits get the weights that make up, as measures do, or the weights as given.
    corrects: bool = True

    def part(self, rows: Rows) -> tuple[Any, NDArray[np.int64], dict[str, Array]]:
        """Return rows, labels, and options of a fit on them: their weights, if any."""
        X, y, options = super().part(rows)
        if not self.corrects:
            options = {} if self.given is None else {"sample_weight": self.given[rows]}
        return X, y, options


@dataclass(frozen=True)
class ClusterData(Data):
    """Rows on a cluster. X and `drawn` are rows that were drawn, `y` and folds of those judged."""

    rows: Any = None
    drawn: Any = None
    judged: tuple[float, int, int] = (1.0, 0, 1)
    #: The last case-control rows, by their seed and shares.
    _draws: dict[tuple[int, tuple[float, float]], DrawnData] = field(default_factory=dict)

    @property
    def design(self) -> Any:
        """All rows, where they are."""
        return self.rows.design

    @property
    def n_drawn(self) -> int:
        """Rows that were drawn."""
        return len(self.drawn.y)

    def case_control(
        self, seed: int, most: int | None, *, in_folds: bool
    ) -> tuple[DrawnData, tuple[float, float]]:
        """Return rows drawn as in memory, and the shares of the two classes that they are.

        Their weights make up for the shares. The training rows of a fold, or all rows without
        folds, are about `most`. If not even the positives fit into that or into memory, they are
        drawn too.
        """
        part = 1.0 - 1.0 / self.folds.count if in_folds else 1.0
        fits = int(part * _DRAWN_BYTES / (8 * self.design.shape[1]))
        most = fits if most is None else min(most, fits)
        n_pos, n_neg = self.rows.split.counts
        trained = max(round(part * n_pos), 1), max(round(part * n_neg), 1)
        counts = counts_to_draw(*trained, most=most)
        shares = counts[0] / trained[0], counts[1] / trained[1]
        if (seed, shares) not in self._draws:
            self._draws.clear()  # one draw is in memory at a time
            self._draws[seed, shares] = _drawn(self, shares, seed)
        return self._draws[seed, shares], shares

    @cached_property
    def sketches(self) -> Any:
        """Summaries of the negatives' columns, for the rows that each fold holds out."""
        return self.design.sketches(self.folds.count)

    def edges(self, drawn: DrawnData, fold: int | None) -> list[Array]:
        """Return the edges for the training rows of a fold, or for all rows if `fold` is None.

        Quantiles of the positives are those of the rows drawn, and quantiles of the negatives
        those of the sketches. Where most negatives are equal, few values are left in the sketches,
        and all of them become edges: up to `N_EDGES`, which may be more than in memory.
        """
        rows = drawn.used(drawn.all_rows if fold is None else drawn.folds.training(fold))
        positive = rows[drawn.y[rows] == 1]
        weight = np.ones(len(positive)) if drawn.weight is None else drawn.weight[positive]
        sketches = [own for k, own in enumerate(self.sketches) if k != fold]
        edges = []
        for j in range(self.design.shape[1]):
            own = [sketch[j] for sketch in sketches]
            values = np.concatenate([drawn.X[positive, j], *(one.values for one in own)])
            weights = np.concatenate([weight, *(one.weights for one in own)])
            is_positive = np.arange(len(values)) < len(positive)
            edges += case_control_edges(values[:, np.newaxis], is_positive, N_EDGES, weights)
        return edges

    def seated(self, contender: Any) -> Any:
        """The contender as it races on a cluster, or on rows drawn from it."""
        if isinstance(contender, Linear):
            first = contender.making
            making = ClusterMaking(
                first.maker, first.supervised, first.most, first.seed, name=contender.features
            )
            own = vars(contender) | {"making": making}
            return ClusterLinear(**own)
        if isinstance(contender, Given) and _is_able(_last(contender.estimator)):
            return ClusterGiven(contender.name, contender.estimator)
        if isinstance(contender, Trees | Forest):
            return CaseControl(contender)
        n = self.design.shape[0]
        note = f"fitted to {self.n_drawn} of {n} rows, drawn by chance" if self.n_drawn < n else ""
        return Sampled(contender, [note])

    def fits_of(
        self, models: list[Any], scorers: list[Any], design: Any, fold: int, began: float
    ) -> list[FoldFit]:
        """Models of a fold, judged where the rows are; `scorers` are what is sent there of them."""
        test = self.folds.held_out(fold)
        decisions = design.decisions(scorers, fold, self.judged)
        return [
            self.fit_of(model, own, test, began)
            for model, own in zip(models, decisions.T, strict=True)
        ]


def cluster_data(rows: LabelledRows, n_folds: int, judge: Judge, seed: int) -> tuple[Data, str]:
    """The rows of a race that are on a cluster, and what there is to say of them."""
    design: Any = rows.design
    n, d = design.shape
    judged = min(1.0, _JUDGED / n), seed, n_folds
    positive, weight, fold = design.judged(judged)
    labels, weighs = positive.astype(np.int64), _if_they_differ(weight)
    data = ClusterData(
        None,
        labels,
        weighs,
        Folds(n_folds, fold),
        judge,
        exchangeable=True,
        rows=rows,
        judged=judged,
    )
    a_row = 12.0 * design.n_entries / n if design.n_entries < n * d else 8.0 * d
    share = min(1.0, _DRAWN / n, _DRAWN_BYTES / (a_row * n))
    drawn = _drawn(data, (share, share), seed)
    told = ""
    if judged[0] < 1.0:
        told = f"Judged on {len(labels)} of {n} rows, drawn by chance. "
    return replace(data, X=drawn.X, drawn=drawn), told


def _drawn(data: ClusterData, shares: tuple[float, float], seed: int) -> DrawnData:
    """Return rows drawn from the cluster, weighted for those that were not drawn."""
    n_folds = data.folds.count
    X, positive, weight, fold = data.design.draw(shares, seed, n_folds)
    if not 0 < positive.sum() < len(positive):
        raise ValueError(
            f"Of {len(positive)} rows drawn by chance all are of one class: the other is too rare "
            "for this race. Fit one ranker to all rows, such as LogisticRank."
        )
    corrected = weight / np.where(positive, *shares)
    return DrawnData(
        X,
        positive.astype(np.int64),
        _if_they_differ(corrected),
        Folds(n_folds, fold),
        data.judge,
        exchangeable=True,
        given=_if_they_differ(weight),
    )


def _if_they_differ(weight: Array) -> Array | None:
    return None if np.ptp(weight) == 0.0 else weight


@dataclass
class ClusterMaking(Making):
    """Makes a feature set: fitted to rows that were drawn, but for scales, and made on workers."""

    name: str = ""
    #: Of which fold the features on the workers are, and their rows.
    last: tuple[int, Any] | None = None

    def of_fold(self, data: Any, fold: int) -> tuple[Any, Any]:
        """The transformer of a fold, and all rows with its columns, where they are."""
        if not self.supervised:
            return self.of_all(data)
        if self.last is None or self.last[0] != fold:
            self.last = None  # the workers need not hold two
            if fold not in self.known:
                self.known[fold] = self._fitted(data, data.drawn.folds.training(fold))
            self.last = fold, self._rows(data, self.known[fold])
        return self.known[fold], self.last[1]

    def of_all(self, data: Any) -> tuple[Any, Any]:
        """The transformer of all rows, and these with its columns."""
        if self.whole is None:
            self.last = None
            features = self._fitted(data, data.drawn.all_rows)
            self.whole = features, self._rows(data, features)
        return self.whole

    def release(self) -> None:
        """Keep everything: the features are in the memory of the workers."""

    def forget(self) -> None:
        """Let go of what was made; it can be made again."""
        super().forget()
        self.last = None

    def _fitted(self, data: Any, rows: Any) -> Any:
        if self.name in _SCALERS:
            return data.design.scaler(_SCALERS[self.name])
        rows = self._few(rows)
        features = self.maker(len(rows), data.X.shape[1])
        return features.fit(_safe_indexing(data.X, rows), data.drawn.y[rows])

    def _rows(self, data: Any, features: Any) -> Any:
        if isinstance(features, FunctionTransformer) and features.func is None:
            return data.design
        probe = data.X[: min(_PROBE, data.X.shape[0])]
        made = features.transform(probe)
        of_part = bytes_of(made) / probe.shape[0] * data.design.shape[0] / data.design.n_parts
        times = bytes_of(made) / bytes_of(probe)
        if times > _TIMES and of_part > _PART:
            raise LeftOut(
                f"on the workers its {made.shape[1]} columns would take {times:.0f} times the "
                f"memory of the rows, {of_part / 1e6:.0f} MB a part"
            )
        return data.design.featured(features, made.shape[1])


@dataclass(frozen=True)
class ClusterLinear(Linear):
    """A linear score of a feature set, fitted where the rows are."""

    def path(
        self, data: Any, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold along alpha, the largest first."""
        features, design = self.making.of_fold(data, fold)
        training = design.without_fold(fold, data.folds.count)
        scores: list[float] = []
        alphas: Any = settings
        if alphas is None:
            alphas = falling(design.mean_square(), scores)
        found, began = [], time.perf_counter()
        for ranker, _ in follow(_seen(self.ranker, design), training, alphas):
            sent = ranker.coef_[0], float(ranker.intercept_[0])
            found += data.fits_of([piped(features, ranker)], [sent], design, fold, began)
            scores.append(found[-1].score)
            began = time.perf_counter()
        return np.array([fit.ranker["ranker"].alpha for fit in found]), found

    def final(self, data: Any, setting: float) -> Any:
        """The features and the score of all rows."""
        features, design = self.making.of_all(data)
        ranker = clone(self.ranker).set_params(alpha=setting)
        return piped(features, _fitted(ranker, replace(data.rows, design=design)))


@dataclass(frozen=True)
class ClusterGiven(Given):
    """A ranker of the user's that can be fitted where the rows are, alone or behind features."""

    def path(
        self, data: Any, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold."""
        began, rows = time.perf_counter(), data.drawn.folds.training(fold)
        features, design = self._features(data, rows)
        ranker = _fitted(_last(self.estimator), design.without_fold(fold, data.folds.count))
        sent = ranker.coef_[0], float(ranker.intercept_[0])
        model = ranker if features is None else piped(features, ranker)
        return np.array([0.0]), data.fits_of([model], [sent], design, fold, began)

    def final(self, data: Any, setting: float) -> Any:
        """The estimator fitted on all rows."""
        features, design = self._features(data, data.drawn.all_rows)
        ranker = _fitted(_last(self.estimator), replace(data.rows, design=design))
        return ranker if features is None else piped(features, ranker)

    def _features(self, data: Any, rows: Any) -> tuple[Any, Any]:
        """What comes before the ranker, fitted to rows that were drawn, and all rows behind it."""
        if not isinstance(self.estimator, Pipeline):
            return None, data.design
        making = ClusterMaking(lambda *_: clone(self.estimator[:-1]))
        features = making._fitted(data, rows)
        return features, making._rows(data, features)


@dataclass(frozen=True)
class Sampled:
    """A contender that needs its rows in one place: fitted to some, judged as the others are."""

    inner: Any
    _note: list[str] = field(default_factory=list)

    def path(
        self, data: Any, fold: int, settings: Array | None, after: FoldFit | None = None
    ) -> tuple[Array, list[FoldFit]]:
        """Fit a fold of the rows that were drawn."""
        began = time.perf_counter()
        inner, rows = self._with_rows(data, fold)
        settings, fits = inner.path(rows, fold, settings, after)
        models = [fit.ranker for fit in fits]
        return settings, data.fits_of(models, models, data.design, fold, began)

    def final(self, data: Any, setting: float) -> Any:
        """Return the model of all rows that were drawn."""
        inner, rows = self._with_rows(data, None)
        return inner.final(rows, setting)

    def beyond(self, setting: float) -> float | None:
        """Return the setting after one that seems to be the best."""
        return self.inner.beyond(setting)  # type: ignore[no-any-return]

    def _with_rows(self, data: Any, fold: int | None) -> tuple[Any, Data]:
        """Return the contender and its rows, for a fold or for the final fit if None."""
        return self.inner, data.drawn

    @property
    def note(self) -> str:
        """Return what the leaderboard says of the rows."""
        return "".join(self._note)

    @property
    def family(self) -> str:
        """Return the kind of model."""
        return str(self.inner.family)

    @property
    def name(self) -> str:
        """What the leaderboard calls it."""
        return str(self.inner.name)

    @property
    def features(self) -> str:
        """Its feature set."""
        return str(self.inner.features)

    @property
    def loss(self) -> str:
        """What it minimises."""
        return str(self.inner.loss)

    @property
    def setting(self) -> str:
        """What is chosen of it."""
        return str(self.inner.setting)


@dataclass(frozen=True)
class CaseControl(Sampled):
    """Boosted trees or a forest, fitted to case-control rows drawn where the rows are."""

    def _with_rows(self, data: Any, fold: int | None) -> tuple[Any, Data]:
        inner, in_folds = self.inner, fold is not None
        if isinstance(inner, Trees):
            most = inner.most if in_folds else inner.most_in_the_end
        else:
            most = inner.most
        rows, shares = data.case_control(inner.seed, most, in_folds=in_folds)
        if shares != (1.0, 1.0) and not self._note:
            drawn, part = len(rows.y), 1.0
            if fold is not None:
                drawn, part = len(rows.folds.training(fold)), 1.0 - 1.0 / rows.folds.count
            n = round(part * sum(data.rows.split.counts))
            self._note.append(f"learnt from {drawn} of about {n} rows")
        if not isinstance(inner, Trees):
            return replace(inner, most=None), rows
        inner = replace(inner, most=None, most_in_the_end=None, shares=shares)
        if shares[1] < 1.0:
            inner = replace(inner, edges=data.edges(rows, fold))
        return inner, replace(rows, corrects=False)


def _last(estimator: Any) -> Any:
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def _is_able(ranker: Any) -> bool:
    """Whether a ranker is fitted by sums; one that makes folds would hold out the same rows."""
    able = isinstance(ranker, Ranker) and ranker._on_clusters and not ranker._gathers_scores
    return able and not hasattr(ranker, "cv")


def _seen(ranker: Any, design: Any) -> Any:
    """A copy of a ranker that knows of its classes and columns."""
    made = clone(ranker)
    made._validate_params()
    made.classes_, made.n_features_in_ = np.array([0, 1]), design.shape[1]
    return made


def _fitted(ranker: Any, rows: LabelledRows) -> Any:
    """A ranker fitted where the rows are."""
    made = _seen(ranker, rows.design)
    made._keep(made._learn(rows, Watch(rows.design)))
    return made


__all__ = ["ClusterData", "ClusterLinear", "Sampled", "cluster_data"]
