"""Report: what a comparison found, as JSON first, then as a page or as Markdown."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._atomic import replacing
from ..inputs.cells import names_of
from ..inputs.printable import printable, printable_json
from ..selection import Comparison
from .answer import answer_of, head_of, next_steps, with_leaks
from .checks import Evidence, codes_of, run_checks
from .head_rows import top_rows
from .pictures import curves_of
from .words import metric_words, title_of

#: What a report says it is.
FORMAT = "toprank report"
#: Raised whenever a field changes its meaning or goes.
VERSION = 1


class Report:
    """What a comparison found, made by `make`.

    Attributes
    ----------
    data : dict
        All of it, as JSON has it; docs/report.md says what each field is.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        if data.get("format") != FORMAT:
            raise ValueError("This is no report of toprank: its 'format' says otherwise.")
        if data.get("version") != VERSION:
            raise ValueError(f"This report is of version {data.get('version')}, not {VERSION}.")
        self.data = data

    @property
    def fired(self) -> list[str]:
        """The codes of the checks that fired."""
        return [check["code"] for check in self.data["checks"] if check["status"] == "fired"]

    def __repr__(self) -> str:
        fired = ", ".join(self.fired) or "none"
        return f"<Report: {self.data['answer']['headline']} Checks that fired: {fired}.>"

    def json(self) -> str:
        """The report as JSON."""
        text = json.dumps(self.data, ensure_ascii=False, indent=1, allow_nan=False)
        return printable_json(text) + "\n"

    def html(self) -> str:
        """The report as one page that needs nothing else."""
        from .page import page

        return page(_printable(self.data))

    def markdown(self) -> str:
        """The report as Markdown."""
        from .markdown import markdown

        return markdown(_printable(self.data))

    def write(self, path: str | PathLike[str]) -> None:
        """Write the report, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The ending decides the form: .html, .json or .md.
        """
        forms = {".html": self.html, ".htm": self.html, ".json": self.json, ".md": self.markdown}
        form = forms.get(Path(path).suffix.lower())
        if form is None:
            raise ValueError(
                f"{fspath(path)}: a report is written as .html, .json or .md, by its ending."
            )
        text = form().encode("utf-8")
        with replacing(path) as file:
            file.write(text)


def make(
    comparison: Comparison,
    *,
    name: str = "the data",
    label: str | None = None,
    positive: str = "1",
    ids: Sequence[Any] | NDArray[Any] | None = None,
    new: Any = None,
    new_ids: Sequence[Any] | NDArray[Any] | None = None,
    new_name: str | None = None,
    ignore: Collection[str] = (),
    command: str | None = None,
) -> Report:
    """Make a report of a comparison; the best model is fitted once more, on all rows.

    Parameters
    ----------
    comparison : Comparison
        What `toprank.selection.compare` found.
    name : str, default="the data"
        What the data are called.
    label, positive : str, optional
        The column of labels, and the label that is ranked first.
    ids : sequence, optional
        What the rows are called; their numbers, from 1, without it.
    new : array-like, sparse matrix or frame, optional
        A list of new rows with the same columns: the report then shows its top, and whether it is
        like the rows compared.
    new_ids, new_name
        What its rows, and the list, are called.
    ignore : collection of str, default=()
        Codes of checks to silence, such as "TR006".
    command : str, optional
        What made the report, to be made again by.

    Returns
    -------
    Report
        With `json`, `html`, `markdown` and `write`.

    Examples
    --------
    >>> from toprank.datasets import load_mammography
    >>> from toprank.report import make
    >>> from toprank.selection import compare
    >>> X, y = load_mammography(return_X_y=True)
    >>> report = make(compare(["bbr"], X[:3000], y[:3000], cv=3, capacity=0.02))
    >>> report.data["answer"]["expect"]["k"]
    60
    """
    for given, rows, called in ((ids, comparison.data.X, "ids"), (new_ids, new, "new_ids")):
        if given is not None and rows is not None and len(given) != rows.shape[0]:
            raise ValueError(f"{called} has {len(given)} names for {rows.shape[0]} rows.")
    if new is not None:
        _check_new(comparison.data.X, new)
    head = head_of(comparison)
    answer = answer_of(comparison, head)
    evidence = Evidence(comparison, head, answer, new)
    words = partial(metric_words, capacity=comparison.capacity)
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "with": {
            "toprank": version("toprank"),
            "python": platform.python_version(),
            **{one: version(one) for one in ("numpy", "scikit-learn")},
        },
        "command": command,
        "data": _data(comparison, name, label, positive),
        "new": None if new is None else {"name": new_name or "new rows", "rows": new.shape[0]},
        "folds": {"count": len(comparison.folds), "test_share": comparison.test_share},
        "confidence": comparison.confidence,
        "metrics": [
            dict(zip(("name", "title", "meaning"), (one, *words(one)), strict=True))
            for one in comparison.metrics
        ],
        "answer": answer,
        "models": _models(comparison),
        "tests": _tests(comparison),
        "curves": curves_of(comparison, head),
        "top": top_rows(comparison, head, ids=ids, new=new, new_ids=new_ids),
        "checks": run_checks(evidence, ignore),
        "warnings": [
            {"model": model, "kind": kind, "message": message}
            for (model, kind), message in comparison.notes.items()
        ],
    }
    data["answer"] = with_leaks(answer, [] if "TR006" in codes_of(ignore) else evidence.leaks)
    data["next"] = next_steps(data)
    return Report(data)


def _printable(value: Any) -> Any:
    """Return a part of a report with control and bidirectional characters of data escaped."""
    if isinstance(value, dict):
        return {_printable(key): _printable(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_printable(own) for own in value]
    return printable(value) if isinstance(value, str) else value


def _check_new(X: Any, new: Any) -> None:
    """Refuse a list that is no list of such rows."""
    if not hasattr(new, "shape") or len(new.shape) != 2 or not new.shape[0]:
        raise ValueError("new must be a table of one row or more, with the columns of X.")
    old, own = names_of(X), names_of(new)
    if old != own:
        missing = [name for name in old if name not in own]
        what = f"lacks the column {missing[0]!r}" if missing else f"has {len(own)} columns"
        raise ValueError(f"new {what}: it must have the {len(old)} columns of X, in their order.")


def _data(comparison: Comparison, name: str, label: str | None, positive: str) -> dict[str, Any]:
    return {
        "name": name,
        "rows": len(comparison.positive),
        "columns": int(comparison.data.X.shape[1]),
        "positives": int(comparison.positive.sum()),
        "label": label,
        "positive": positive,
    }


def _models(comparison: Comparison) -> list[dict[str, Any]]:
    """The models, the best first, with every metric."""
    ranked = sorted(comparison.models, key=lambda model: -comparison.interval(model)[0])
    found = []
    for model in ranked:
        metrics = {}
        for j, metric in enumerate(comparison.metrics):
            mean, low, high = comparison.interval(model, metric)
            folds = comparison.figures[comparison.models.index(model), :, j]
            metrics[metric] = {"mean": mean, "low": low, "high": high, "folds": folds.tolist()}
        settings = [one for one in comparison.facts(model, "setting") if one]
        found.append(
            {
                "name": model,
                "title": title_of(model),
                "reference": model == comparison.reference,
                "seconds": comparison.seconds[model],
                "settings": list(dict.fromkeys(settings)),
                "metrics": metrics,
            }
        )
    return found


def _tests(comparison: Comparison) -> list[dict[str, Any]]:
    """Every model against logistic regression, by every metric."""
    found = []
    for metric in comparison.metrics:
        tests = comparison.tests(metric)
        names = ("model", "against", "metric", "difference", "low", "high", "p", "p_adjusted")
        columns = [np.asarray(tests[one]).tolist() for one in names]
        found += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return found


__all__ = ["FORMAT", "VERSION", "Report", "make"]
