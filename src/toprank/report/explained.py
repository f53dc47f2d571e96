"""What each check is, in a few sentences, and where the documentation says more."""

from __future__ import annotations

from html import escape
from importlib.metadata import metadata
from typing import Any

EXPLAINED = {
    "TR001": "Some methods have data on which the best score is zero for every row. Their figures "
    "are then those of a random order, and say nothing of how the method does elsewhere.",
    "TR002": "A fit ends with a certificate, two numbers that bracket the optimum. Where they are "
    "further apart than the tolerance, a better score of the same form may exist.",
    "TR003": "The strength of regularisation is chosen from a grid, by folds inside the training "
    "rows. At an end of the grid where the measure still rises, a better one may lie beyond.",
    "TR004": "Figures of the head rest on the positives alone. With fewer than 20 of them, or five "
    "in a fold, intervals are too narrow or too wide, and tests find what is not there.",
    "TR005": "Where many rows share the score at the cut, the score does not say which of them to "
    "take. Metrics count what is expected over all their orders.",
    "TR006": "One column that orders the rows by itself, with an AUC of .99 or more, is more often "
    "a trace of the outcome than a discovery: a code that is set, or a gap that is filled, later. "
    "So is a column that is filled in for positives and hardly for others.",
    "TR007": "A row that is in the training part and, again, among the rows held out is no test of "
    "a model. All columns are compared, the label not.",
    "TR008": "Every column of the new rows is compared with that of the rows compared: numbers by "
    "the test of Kolmogorov and Smirnov, categories and gaps by the chi-squared test. It fires "
    "where the difference is sure and more than a tenth of the rows.",
    "TR009": "Logistic regression, tuned, runs on the same folds as every other model. One that "
    "is not surely better costs more than it gives.",
    "TR010": "If there is room for more rows than are positive, precision cannot reach one, and "
    "recall says more.",
}


def link_of(check: dict[str, Any]) -> str:
    """A link to the section of the documentation, where its address is known."""
    found = docs_address()
    if found is None:
        return f"More: docs/checks.md, section {escape(check['code'])}."
    return f'<a href="{escape(found)}/{escape(check["link"])}">More on {escape(check["code"])}</a>'


def docs_address() -> str | None:
    """The address of the documentation that the package was built with."""
    for entry in metadata("toprank").get_all("Project-URL") or []:
        name, _, address = entry.partition(",")
        if name.strip().lower() == "documentation":
            return str(address.strip().rstrip("/"))
    return None


__all__ = ["EXPLAINED", "docs_address", "link_of"]
