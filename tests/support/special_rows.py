"""Small data with something odd about them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from truth import reference as truth

Array = NDArray[np.float64]


def all_rows_equal() -> tuple[Array, NDArray[np.bool_]]:
    return np.tile([0.3, -0.4], (6, 1)), np.arange(6) < 2


def one_positive() -> tuple[Array, NDArray[np.bool_]]:
    return truth.rows_of_two_classes(5, m=1, n=25, d=6)


def one_negative() -> tuple[Array, NDArray[np.bool_]]:
    return truth.rows_of_two_classes(6, m=8, n=1, d=6)


def one_of_each() -> tuple[Array, NDArray[np.bool_]]:
    return np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([True, False])


def duplicate_rows_and_a_zero_feature() -> tuple[Array, NDArray[np.bool_]]:
    X, positive = truth.rows_of_two_classes(7, m=8, n=25, d=6)
    twice = np.concatenate([np.arange(33), np.arange(33)[::2], np.arange(33)[::3]])
    return np.column_stack([X, np.zeros(33)])[twice], positive[twice]


def zero_rows() -> tuple[Array, NDArray[np.bool_]]:
    X, positive = truth.rows_of_two_classes(8, m=8, n=25, d=6)
    X[np.flatnonzero(positive)[:2]] = X[np.flatnonzero(~positive)[:3]] = 0.0
    return X, positive


def constant_feature() -> tuple[Array, NDArray[np.bool_]]:
    X, positive = truth.rows_of_two_classes(9, m=8, n=25, d=3)
    return np.column_stack([X, np.ones(33)]), positive


def the_same_row_in_both_classes() -> tuple[Array, NDArray[np.bool_]]:
    X, positive = truth.rows_of_two_classes(10, m=8, n=10, d=6)
    X[np.flatnonzero(positive)[0]] = X[np.flatnonzero(~positive)[0]]
    return X, positive


def one_feature() -> tuple[Array, NDArray[np.bool_]]:
    return np.array([[3.0], [1.0], [2.0], [0.0], [-1.0]]), np.arange(5) < 3


CASES = [
    all_rows_equal,
    one_positive,
    one_negative,
    one_of_each,
    duplicate_rows_and_a_zero_feature,
    zero_rows,
    constant_feature,
    the_same_row_in_both_classes,
    one_feature,
]
