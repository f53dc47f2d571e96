"""The first problems of a fixed seed of `make fuzz`."""

from __future__ import annotations

import pytest

from fuzz.judge import ESTIMATORS, estimator_of, try_one

#: All estimators are among them, and none takes long.
SEED, PROBLEMS = 638, 50


def test_every_estimator_has_its_turn() -> None:
    drawn = {estimator_of(SEED, index) for index in range(PROBLEMS)}
    assert drawn == set(ESTIMATORS)


@pytest.mark.parametrize("index", range(PROBLEMS))
def test_certificates_hold(index: int) -> None:
    assert [str(one) for one in try_one(SEED, index).findings] == []
