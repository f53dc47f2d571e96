"""What a model does to the columns of a table before it ranks, in plain words and numbers."""

from __future__ import annotations

from typing import Any

from ..features.made import is_of_table

#: Categories that are listed by name.
_LISTED = 20


def preprocessing_of(model: Any) -> list[dict[str, Any]] | None:
    """A line for each column of a table; None where there is no `table_pipeline`."""
    steps = getattr(model, "steps", [])
    if not steps or not is_of_table(steps[0][1]):
        return None
    lines = []
    for kind, pipe, columns in steps[0][1].transformers_:
        if kind == "number":
            lines += _filled(columns, pipe[-1], kind)
        elif kind == "category":
            lines += _encoded(columns, pipe[-1])
        elif kind == "date":
            lines += [
                {"column": str(own), "kind": kind, "parts": list(parts)}
                for own, parts in zip(columns, pipe[0].parts_ if len(columns) else [], strict=True)
            ]
    return lines


def _filled(columns: Any, imputer: Any, kind: str) -> list[dict[str, Any]]:
    if not len(columns):
        return []
    flagged = set(imputer.indicator_.features_.tolist())
    return [
        {"column": str(own), "kind": kind, "filled_with": float(fill), "flagged": j in flagged}
        for j, (own, fill) in enumerate(zip(columns, imputer.statistics_, strict=True))
    ]


def _encoded(columns: Any, encoder: Any) -> list[dict[str, Any]]:
    if not len(columns):
        return []
    rare = encoder.infrequent_categories_
    lines = []
    for own, known, pooled in zip(columns, encoder.categories_, rare, strict=True):
        alone = [str(word) for word in known if pooled is None or word not in set(pooled)]
        lines.append(
            {
                "column": str(own),
                "kind": "category",
                "categories": alone[:_LISTED],
                "n_categories": len(alone),
                "n_pooled": 0 if pooled is None else len(pooled),
            }
        )
    return lines


__all__ = ["preprocessing_of"]
