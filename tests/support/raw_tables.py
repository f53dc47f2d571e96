"""A table as it comes: texts, categories, dates, truth values and gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def raw_table(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Return a table with a column of each kind, one empty and one constant."""
    rng = np.random.default_rng(seed)
    seconds = rng.integers(0, 900 * 86400, n)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(20, 80, n)),
            "job": rng.choice(np.array(["clerk", "nurse", "smith", None], dtype=object), n),
            "insured": rng.random(n) < 0.5,
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(seconds, unit="s"),
            "day": [f"2021-0{month}-11" for month in rng.integers(1, 9, n)],
            "region": pd.Categorical(rng.choice(list("abc"), n)),
            "visits": pd.array(rng.integers(0, 3, n), dtype="Int64"),
            "empty": [None] * n,
            "currency": ["EUR"] * n,
        }
    )
    table.loc[3, "visits"] = pd.NA
    table.loc[4, "since"] = pd.NaT
    return table


def raw_labels(table: Any, seed: int = 1) -> Any:
    """Return labels that depend on numbers, categories and gaps; the rarer one is "fraud"."""
    nurse = (table["job"] == "nurse").to_numpy()
    old = table["age"].fillna(90).to_numpy() > 60
    pair = (table["region"] == "a").to_numpy() & table["insured"].to_numpy()
    logit = 2.0 * nurse + 1.5 * old + 2.0 * pair - 4.0
    chance = np.random.default_rng(seed).random(len(table))
    return np.where(chance < 1 / (1 + np.exp(-logit)), "fraud", "ok")
