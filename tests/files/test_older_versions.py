"""Models that earlier versions wrote are read, and give the scores that they gave then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import toprank

WRITTEN = Path(__file__).parent / "written"
ROWS = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [2.0, -2.0, 0.0]])
#: By file: the scores of ROWS when it was written.
SCORES = {
    "0.1.0-toppush": [
        -0.2229061691100861,
        -0.3187429865393747,
        -0.44367312354541116,
        0.1809775614847723,
    ],
    "0.1.0-rankboost": [
        3.806562773492301,
        -9.553499828015568,
        -11.815446951492314,
        7.851045115853395,
    ],
    # Two models, blended with one weight of the first.
    "0.2.0-headranker": [
        -0.2869648397954545,
        0.6764169902055299,
        -0.7558310401328928,
        3.572805480314427,
    ],
}


def test_every_file_is_known() -> None:
    assert {path.stem for path in WRITTEN.iterdir()} == set(SCORES)


@pytest.mark.parametrize("name", SCORES)
def test_a_model_of_an_earlier_version(name: str) -> None:
    model = toprank.load(WRITTEN / f"{name}.toprank")
    np.testing.assert_allclose(model.decision_function(ROWS), SCORES[name], rtol=1e-13)
