"""Orders, some of them fraud: names, categories, dates, truth values, gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def orders(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "order": [f"{seed}{k:05d}" for k in range(n)],
            "amount": rng.lognormal(4, 1, n).round(2),
            "items": rng.integers(1, 9, n),
            "country": rng.choice(["AT", "DE", "FR"], n),
            "placed": np.datetime_as_string(
                np.datetime64("2025-01-01") + rng.integers(0, 300, n).astype("timedelta64[D]")
            ),
            "member": rng.random(n) < 0.4,
        }
    )
    risk = 3 * (table["country"] == "FR") + 0.6 * table["items"] + rng.logistic(size=n)
    table["fraud"] = (risk > 5.5).astype(int)
    table.loc[::9, "amount"] = np.nan
    table.loc[::11, "country"] = None
    return table


def read_scores(file: Any, sep: str = ",") -> pd.DataFrame:
    """Scores that the program wrote, every digit of them: older pandas reads most only."""
    table = pd.read_csv(file, sep=sep, dtype=str)
    return table.assign(score=table["score"].map(float))
