"""The feature sets that race: by name, for rows of a given number and width."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, Normalizer, StandardScaler

from ...features import BinsAndPairs, KernelColumns, Squash

#: The most columns of Nystroem's method: half as many gain less, twice as many little more.
_NYSTROEM = 600


class FeatureSet(Protocol):
    """Makes the transformer for so many rows and columns."""

    def __call__(self, n: int, d: int, seed: int) -> Any:
        """The transformer, not fitted."""


def _columns(n: int, d: int, seed: int) -> Any:
    return StandardScaler()


def _squashed(n: int, d: int, seed: int) -> Any:
    return Squash()


def _bins(n: int, d: int, seed: int) -> Any:
    return make_pipeline(Squash(), BinsAndPairs())


def _nystroem(n: int, d: int, seed: int) -> Any:
    # Half the digits take half the time of a fit, and the order of the rows does not see the rest.
    narrow = FunctionTransformer(np.float32, feature_names_out="one-to-one")
    kernel = KernelColumns(_NYSTROEM, random_state=seed)
    return Pipeline([("squash", Squash()), ("kernel", kernel), ("narrow", narrow)])


def _as_given(n: int, d: int, seed: int) -> Any:
    return FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")


def _unit_rows(n: int, d: int, seed: int) -> Any:
    return Normalizer()


def _largest_one(n: int, d: int, seed: int) -> Any:
    return MaxAbsScaler()


#: For dense rows, the cheap ones first.
DENSE: dict[str, FeatureSet] = {
    "columns": _columns,
    "squashed": _squashed,
    "bins": _bins,
    "nystroem": _nystroem,
}
#: Those that go by the labels: each fold makes its own.
SUPERVISED = {"bins"}
#: For sparse rows, which stay sparse: ways to scale them. Each column stays a column.
SPARSE: dict[str, FeatureSet] = {
    "as given": _as_given,
    "unit rows": _unit_rows,
    "largest 1": _largest_one,
}
#: What they are, for people.
WORDS = {
    "columns": "standardised columns",
    "squashed": "squashed columns",
    "bins": "squashed columns, their bins and pairs",
    "nystroem": "squashed columns and Nystroem's kernel columns",
    "as given": "columns as given",
    "unit rows": "rows of length 1",
    "largest 1": "columns with largest entry 1",
}

__all__ = ["DENSE", "SPARSE", "SUPERVISED", "WORDS", "FeatureSet"]
