"""Columns that give the label away: found where they do, and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from toprank.datasets import load_german, load_mammography, load_spambase
from toprank.inputs.leaks import find_leaks, row_names

N = 4000
NEVER = np.datetime64("NaT", "us")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def fraud(rng: np.random.Generator) -> Any:
    return rng.random(N) < 0.03


def found(columns: dict[str, Any], positive: Any) -> list[str]:
    return [leak.column for leak in find_leaks(pd.DataFrame(columns), positive)]


def days(rng: np.random.Generator, first: str = "2025-01-01", most: int = 300) -> Any:
    return np.datetime64(first, "us") + rng.integers(0, most, N).astype("timedelta64[D]")


def test_numbers_words_gaps_and_codes(rng: np.random.Generator, fraud: Any) -> None:
    code = np.where(fraud, 5, rng.choice([1, 3, 7, 9], N))
    columns = {
        "name": [f"row {k}" for k in range(N)],  # says nothing of other rows
        "status": np.where(fraud, "charged back", rng.choice(["paid", "open"], N)),
        "code": code,  # neither high nor low
        "loss": np.where(fraud, 10.0, 0.0) + rng.normal(size=N),
        "gain": np.where(fraud, -10.0, 0.0) + rng.normal(size=N),
        "gap": np.where(fraud, np.nan, rng.normal(size=N)),
        "noise": rng.normal(size=N),
        "flag": rng.random(N) < 0.5,
    }
    assert roc_auc_score(fraud, code) < 0.6
    assert set(found(columns, fraud)) == {"status", "code", "loss", "gain", "gap"}


def test_the_auc_is_that_of_the_column(rng: np.random.Generator, fraud: Any) -> None:
    loss = np.where(fraud, 4.0, 0.0) + rng.normal(size=N)
    (leak,) = find_leaks(pd.DataFrame({"loss": loss}), fraud)
    assert leak.auc == pytest.approx(roc_auc_score(fraud, loss), abs=1e-12)
    (other,) = find_leaks(-loss[:, None], fraud)
    assert (other.column, other.auc) == ("x0", pytest.approx(leak.auc, abs=1e-12))
    assert leak.words == f"'loss' (AUC {leak.auc:.4f})"


def test_rare_categories_are_no_leak(rng: np.random.Generator) -> None:
    """Each of them is pure by chance: judged by their own rows they would have an AUC of 1."""
    y = rng.random(N) < 0.5
    merchant = rng.integers(0, 3 * N, N).astype(str)
    own = pd.Series(y).groupby(merchant).transform("mean")
    assert roc_auc_score(y, own) > 0.95
    assert found({"merchant": merchant.astype(object)}, y) == []


def test_a_column_filled_in_for_positives_only(rng: np.random.Generator, fraud: Any) -> None:
    known = fraud & (rng.random(N) < 0.6)
    columns = {
        "chargeback": np.where(known, days(rng), NEVER),
        "refund": np.where(known, rng.normal(size=N), np.nan),
        "desk": np.where(known, rng.choice(["A", "B"], N), None),
        # Filled in often for positives, but not for them alone.
        "phone": np.where(known | (rng.random(N) < 0.3), rng.normal(size=N), np.nan),
        "rare": np.where(rng.random(N) < 0.01, 1.0, np.nan),
    }
    assert set(found(columns, fraud)) == {"chargeback", "refund", "desk"}
    leak = find_leaks(pd.DataFrame(columns)[["chargeback"]], fraud)[0]
    assert 0.7 < leak.auc < 0.9
    share = 100 * known.sum() / fraud.sum()
    assert leak.words == (
        f"'chargeback' (filled in for {share:.3g} % of the positives and 0 % of the others)"
    )


def test_a_date_later_than_all_others(rng: np.random.Generator, fraud: Any) -> None:
    placed = days(rng)
    day = np.timedelta64(1, "D")
    slow = np.where(fraud, rng.integers(20, 90, N), rng.integers(1, 25, N))
    columns = {
        "born": days(rng, "1950-01-01", 18_000),
        "placed": placed,
        "closed": placed + slow * day,  # later for fraud
        "due": placed + rng.integers(14, 60, N) * day,  # later for all alike
    }
    assert found({name: columns[name] for name in ("born", "placed", "due")}, fraud) == []
    without = {name: columns[name] for name in ("born", "placed", "closed")}
    (leak,) = find_leaks(pd.DataFrame(without), fraud)
    assert (leak.column, leak.late) == ("closed", True)
    delay = (columns["closed"] - placed).astype(np.int64)
    assert leak.auc == pytest.approx(roc_auc_score(fraud, delay), abs=1e-12)
    assert leak.words.endswith("later than the other dates of its row)")


def test_a_date_with_gaps_needs_less(rng: np.random.Generator, fraud: Any) -> None:
    opened = np.where(fraud | (rng.random(N) < 0.1), days(rng), NEVER)
    (leak,) = find_leaks(pd.DataFrame({"placed": days(rng), "opened": opened}), fraud)
    assert leak.column == "opened"
    assert 0.9 < leak.auc < 0.99
    seen = ~np.isnat(opened)
    assert found({"seen": np.where(seen, 1.0, np.nan), "flag": seen}, fraud) == []


def test_sparse_columns(rng: np.random.Generator, fraud: Any) -> None:
    X = sparse.csr_array(np.column_stack([rng.random(N) < 0.2, fraud]).astype(float))
    assert [leak.column for leak in find_leaks(X, fraud)] == ["x1"]


def test_few_rows_of_a_class_are_luck(rng: np.random.Generator) -> None:
    y = np.arange(60) < 4
    assert found({"x": -np.arange(60.0)}, y) == []
    assert found({"x": -np.arange(60.0)}, np.arange(60) < 5) == ["x"]


def test_large_tables_are_sampled_evenly(rng: np.random.Generator) -> None:
    """Neither the first rows nor the last are all that is looked at."""
    n = 120_000
    y = np.arange(n) % 100 == 7
    leak = np.where(y, 1.0, 0.0)
    leak[: n // 2] = rng.random(n // 2) < 0.5
    assert found({"all": y.astype(float), "half": leak}, y) == ["all"]


@pytest.mark.parametrize("load", [load_german, load_mammography, load_spambase])
@pytest.mark.parametrize("turned", [False, True])
def test_no_false_alarm_on_real_data(load: Any, turned: bool) -> None:
    X, y = load(return_X_y=True)
    assert find_leaks(X, (y == y.max()) ^ turned) == []
    assert row_names(X) == {}


def test_names_of_rows(rng: np.random.Generator) -> None:
    table = pd.DataFrame(
        {
            "case": 10_000 + rng.permutation(N),
            "order": [f"{k:08x}" for k in rng.permutation(N)],
            "customer_id": rng.integers(1, 500, N),
            "terminalId": rng.integers(1, 500, N),
            "branch_id": rng.integers(1, 20, N),  # few enough to be read as codes
            "paid": rng.integers(1, 500, N),
            "income": rng.integers(10_000, 10**9, N),  # hardly any repeat, in a wide range
            "drawn": rng.integers(0, 2 * N, N),
            "amount": rng.lognormal(size=N),
            "word": rng.choice(["a", "b"], N),
            "placed": days(rng),
        }
    )
    assert row_names(table) == {
        "case": "rows",
        "order": "rows",
        "customer_id": "numbers",
        "terminalId": "numbers",
    }
    assert row_names(sparse.csr_array(table[["case"]].to_numpy(float))) == {}
