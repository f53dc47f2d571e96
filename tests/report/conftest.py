"""A report of orders, made once."""

from __future__ import annotations

import pytest

from support.orders import orders
from toprank.report import Report, make
from toprank.selection import compare

#: What somebody might call a column or a row, to see what a page makes of it.
NASTY = "<script>alert(1)</script>&\"'|$x_1$"


@pytest.fixture(scope="session")
def report() -> Report:
    """Of two models; a column and an id are called what no page should believe."""
    table = orders(240)
    X = table.drop(columns=["fraud", "order"]).rename(columns={"items": NASTY})
    found = compare(
        {"logistic": "logistic", NASTY: "bbr"}, X, table["fraud"], cv=3, capacity=12, list_size=240
    )
    ids = [NASTY, *table["order"][1:]]
    ids = [f"{NASTY} {own}" for own in ids]
    return make(
        found, name=f"orders {NASTY}.csv", label="fraud", ids=ids, command=f"toprank {NASTY}"
    )
