"""What a model does to the columns of a table before it ranks, in plain words and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..features.made import is_of_table

#: Categories that are listed by name.
_LISTED = 20


def preprocessing_of(model: Any) -> list[dict[str, Any]] | None:
    """Return a line for each column of a table; None where the model takes numbers only."""
    coder = vars(model).get("_coder")
    if coder is not None:
        return list(_coded(coder, model.medians_))
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


def _coded(coder: Any, typical: Any) -> Iterator[dict[str, Any]]:
    """Return lines on the columns that a `TableCoder` has seen."""
    for j, (name, kind, group) in enumerate(
        zip(coder.names, coder.kinds, coder.groups(), strict=True)
    ):
        line = {"column": str(name), "kind": kind}
        if kind == "number":
            yield line | {"filled_with": float(typical[group[0]]), "flagged": j in coder.gaps}
        elif kind == "category":
            words = coder.words[j]
            listed = {"categories": words[:_LISTED], "n_categories": len(words)}
            yield line | listed | {"n_pooled": coder.pooled[j]}
        elif kind is not None:
            yield line | {"kind": "date", "parts": list(coder.parts[j])}


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
