"""Save, load and summarise a fitted model in one file, without pickle."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from .._atomic import replacing
from ..exceptions import warn_caller
from ..features.table import is_of_table
from .archive import Reader, Writer
from .decode import Decoder
from .encode import KIND, Encoder
from .errors import ModelFileError

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


#: What a model file says it is.
_FORMAT = "toprank model"
#: Raised whenever a version before could not read what is written.
_VERSION = 1


def save(
    model: Any,
    path: str | PathLike[str],
    *,
    metadata: dict[str, Any] | None = None,
    folds: bool = False,
) -> None:
    """Write a model to a file that holds no code: JSON and arrays in a zip.

    The file is written beside `path` and then renamed: whatever happens, `path` is the whole new
    model or what it was before.

    Parameters
    ----------
    model : estimator or Pipeline
        A ranker of toprank, or a pipeline that ends in one, with the transformers of
        `toprank.features` and scikit-learn's pipelines, column transformers, scalers, encoders,
        imputers and kernel features. Boosted trees and functions of your own are refused, for
        they cannot be kept without pickle; callbacks are left out.
    path : str or path-like
        Where to.
    metadata : dict, optional
        What else to keep: numbers, texts, arrays, and lists and dicts of them.
    folds : bool, default=False
        Whether to keep the fold models, the rows of the folds and the out-of-fold scores of
        `HeadRanker` and `RankerCV`. They can be far larger than the model, and only
        `HeadRanker.promise` without `calibrate` needs them.

    See Also
    --------
    load : Read it again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import toprank
    >>> from toprank.datasets import load_mammography
    >>> X, y = load_mammography(return_X_y=True)
    >>> model = toprank.RectPushApp(1e-2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mammograms.toprank"
    ...     toprank.save(model, path)
    ...     again = toprank.load(path)
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    with replacing(path) as file, Writer(file) as writer:
        try:
            encoder = Encoder(writer.add, folds=folds)
            node = encoder.node(model)
            if not isinstance(node, dict) or node.get(KIND) != "estimator":
                raise ModelFileError("it is no estimator")
            more = encoder.node(dict(metadata or {}), "metadata")
            writer.tell(
                {
                    "format": _FORMAT,
                    "version": _VERSION,
                    "toprank": version("toprank"),
                    "written_with": _versions(),
                    "summary": summary_of(model),
                    "metadata": more,
                    "model": node,
                }
            )
        except ModelFileError as error:
            raise ModelFileError(
                f"This {type(model).__name__} cannot be saved: {error}."
            ) from error


def load(path: str | PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is run, and no class is imported but those of a list inside toprank. A file
    that is truncated, of another kind, of a newer version or made to do harm is refused with a
    `toprank.files.ModelFileError`, a ValueError.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator or Pipeline
        Fitted as it was, with the same scores to the last bit on the same machine.

    See Also
    --------
    save : Write it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import toprank
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.toprank"
    ...     toprank.save(toprank.TopPush(alpha=0.5), path)
    ...     toprank.load(path)
    TopPush(alpha=0.5)
    """
    return load_with_metadata(path)[0]


def load_with_metadata(path: str | PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """The model, and what was kept beside it."""
    try:
        with Reader(path) as reader:
            text = _checked(reader.text)
            decoder = Decoder(reader.array)
            model, metadata = decoder.value(text["model"]), decoder.value(text["metadata"])
            if not hasattr(model, "get_params") or not isinstance(metadata, dict):
                raise ModelFileError("it holds no estimator")
    except (ModelFileError, RecursionError, MemoryError) as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {error}.") from error
    _tell_versions(text)
    return model, metadata


def read_summary(path: str | PathLike[str]) -> dict[str, Any]:
    """What a file says of itself, without the model being made."""
    try:
        with Reader(path) as reader:
            text = _checked(reader.text)
            metadata = Decoder(reader.array).value(text["metadata"])
    except (ModelFileError, RecursionError, MemoryError) as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {error}.") from error
    kept = ("format", "version", "toprank", "written_with", "summary")
    return {**{name: text.get(name) for name in kept}, "metadata": metadata}


def _checked(text: dict[str, Any]) -> dict[str, Any]:
    if text.get("format") != _FORMAT or type(text.get("version")) is not int:
        raise ModelFileError("it is no model file of toprank")
    if text["version"] > _VERSION:
        raise ModelFileError(
            f"toprank {str(text.get('toprank'))[:40]} wrote it, in a form that is newer than this "
            "version knows: update toprank"
        )
    if "model" not in text or "metadata" not in text:
        raise ModelFileError("it holds no model")
    return text


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"python": platform.python_version(), **packages}


def _tell_versions(text: dict[str, Any]) -> None:
    """Warn where transformers of another scikit-learn were read: their attributes may differ."""
    written = text.get("written_with")
    then = str(written.get("scikit-learn")) if isinstance(written, dict) else ""
    now = version("scikit-learn")
    if then.split(".")[:2] != now.split(".")[:2] and "'sklearn." in str(text["model"]):
        warn_caller(
            f"The model was written with scikit-learn {then[:40]}, and this is {now}, whose "
            "transformers may differ: compare a few scores, or fit it again.",
            UserWarning,
            about="scikit-learn",
        )


def summary_of(model: Any) -> dict[str, Any]:
    """A fitted model in plain words and numbers, for people and other programs."""
    last = model.steps[-1][1] if hasattr(model, "steps") and model.steps else model
    names = getattr(model, "feature_names_in_", None)
    classes = getattr(last, "classes_", None)
    certificate = vars(last).get("certificate_")
    plain = {
        name: value if isinstance(value, bool | int | float | str) else repr(value)[:200]
        for name, value in last.get_params(deep=False).items()
        if value is not None and not isinstance(value, np.ndarray)
    }
    return {
        "class": type(last).__name__,
        "steps": [type(step).__name__ for _, step in getattr(model, "steps", [])],
        "parameters": {
            name: value
            for name, value in plain.items()
            if not isinstance(value, float) or np.isfinite(value)
        },
        "classes": None if classes is None else [str(label) for label in classes],
        "n_features": _count(getattr(model, "n_features_in_", None)),
        "feature_names": None if names is None else [str(name) for name in names],
        "preprocessing": preprocessing_of(model),
        "certificate": None
        if certificate is None
        else {
            name: repr(float(getattr(certificate, name)))
            for name in ("primal", "dual", "relative_gap")
        },
    }


def _count(number: Any) -> int | None:
    return None if number is None else int(number)


__all__ = ["load", "load_with_metadata", "preprocessing_of", "read_summary", "save", "summary_of"]
