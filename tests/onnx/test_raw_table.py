"""HeadRanker on raw tables: the graph takes raw columns and gives the same scores and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.support.raw_tables import raw_labels, raw_table

from toprank import HeadRanker

onnxruntime = pytest.importorskip("onnxruntime")

TABLE = raw_table(1000)
Y = raw_labels(TABLE)


def as_inputs(table: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in table:
        column = table[name]
        if name in ("job", "region", "currency", "insured"):
            cells = ["" if pd.isna(cell) else str(cell) for cell in column]
            made[name] = np.array(cells, dtype=object)[:, np.newaxis]
        elif name in ("since", "day"):
            since = pd.to_datetime(column) - pd.Timestamp("1970-01-01")
            made[name] = since.dt.total_seconds().to_numpy()[:, np.newaxis]
        else:
            made[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)[:, np.newaxis]
    return made


@pytest.mark.parametrize(
    "options",
    [
        {"candidates": "trees"},
        {"candidates": "trees", "trees": "lightgbm"},
        {"candidates": ["forest"], "trees": False},
        {"candidates": ["forest"], "trees": True},  # a blend
        {"candidates": ["bins"], "trees": False},
        {"candidates": ["nystroem"], "trees": False},
    ],
)
def test_the_graph_scores_raw_columns(options: dict[str, Any]) -> None:
    from toprank.onnx import to_onnx

    ranker = HeadRanker(random_state=0, pos_label="fraud", cv=3, **options).fit(TABLE, Y)
    session = onnxruntime.InferenceSession(to_onnx(ranker).SerializeToString())
    new = raw_table(300, seed=7)
    new.loc[3, "job"] = "new"
    new.loc[5, "region"] = None
    inputs = as_inputs(new)
    scores, labels = session.run(None, {one.name: inputs[one.name] for one in session.get_inputs()})
    # Kernel columns are rounded to float32, where the last bits of other processors show.
    atol = 1e-8 if options["candidates"] == ["nystroem"] else 1e-11
    assert_allclose(scores, ranker.decision_function(new), rtol=0, atol=atol)
    assert_array_equal(labels, ranker.predict(new))
