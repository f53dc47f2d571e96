"""`toprank inspect`: models in words, after a fit or from a file."""

from __future__ import annotations

from typing import Any

from ..files.model import read_summary, summary_of
from ..inputs.printable import printable
from .models import KEY, FitRecord


def of_fit(model: Any, record: FitRecord, output: str) -> dict[str, Any]:
    """Return the result of `fit` for programs: first the choice, and how good it is."""
    return {
        "model": output,
        "why": getattr(_last(model), "why_", None),
        "metrics": record.metrics,
        "rows": record.n_rows,
        "positives": record.n_positive,
        "positive": record.positive,
        "leaks": list(record.leaks or ()),
        "calibration_rows": _calibrated(record.calibration_scores),
        "alpha": getattr(_last(model), "alpha_", None),
        "fingerprint": record.fingerprint,
        **summary_of(model),
    }


def lines_of_fit(model: Any, record: FitRecord, output: str) -> list[str]:
    """Return lines on the result of `fit`."""
    last = _last(model)
    lines = [
        f"{record.n_rows:,} rows of {record.table}, "
        f"{record.n_positive:,} of them {record.positive!r}"
    ]
    if top := (record.metrics or {}).get("top"):
        lines.append(_top(top, record.positive))
    if hasattr(last, "why_"):
        lines.append(str(last.why_))
    if hasattr(last, "alpha_"):
        lines.append(f"alpha {last.alpha_:.3g}, chosen by cross-validation")
    if hasattr(last, "certificate_"):
        lines.append(f"solved to a relative gap of {last.certificate_.relative_gap:.1g}")
    if rows := _calibrated(record.calibration_scores):
        held_out = (record.metrics or {}).get("held_out", {})
        auc = f": AUC {held_out['auc']:.3f} there" if "auc" in held_out else ""
        lines.append(f"{rows:,} rows held out, for promises by `toprank top`{auc}")
    return [*lines, f"written: {output}"]


def _top(found: dict[str, Any], positive: str) -> str:
    about, low, high = (f"{found[name]:,.0f}" for name in ("positives", "low", "high"))
    between = f" ({low} to {high})" if low != high else ""
    return (
        f"about {about}{between} of the first {found['k']:,} of {found['of']:,} rows are "
        f"{positive!r}, by {found['by']}"
    )


def of_file(path: str) -> dict[str, Any]:
    """Return the facts in a model file, for programs."""
    found = read_summary(path)
    metadata = dict(found.pop("metadata"))
    record = dict(metadata.pop(KEY, {}))
    scores, positive = (
        record.pop("calibration_scores", None),
        record.pop("calibration_positive", None),
    )
    record["calibration_rows"] = _calibrated(scores)
    if scores is not None and positive is not None:
        record["calibration"] = {
            "positives": int(positive.sum()),
            "lowest_score": float(scores.min()),
            "highest_score": float(scores.max()),
        }
    more = {str(name): _plain(value) for name, value in metadata.items()}
    return {**found, "fit": record, "metadata": more}


def rows_of_file(found: dict[str, Any]) -> list[list[str]]:
    """Return the facts in a model file as rows of a table."""
    summary, record = found["summary"], found["fit"]
    names = summary["feature_names"] or []
    kinds = record.get("kinds") or {}
    columns = [f"{name} ({kinds[name]})" if name in kinds else name for name in names]
    made = summary.get("preprocessing") or []
    rows = [
        ["model", str(summary["class"])],
        ["steps", ", ".join(summary["steps"])],
        ["parameters", ", ".join(f"{key}={value}" for key, value in summary["parameters"].items())],
        ["columns", ", ".join(columns) or str(summary["n_features"])],
    ]
    if "positive" in record:
        label = f" in {record['label']!r}" if record["label"] else ""
        rows += [
            ["label", f"{record['positive']!r} above {record['negative']!r}{label}"],
            ["made of them", "\n".join(map(printable, filter(None, map(_made, made))))],
            ["trained on", _trained_on(record)],
            ["gives the label away", ", ".join(record.get("leaks") or ())],
            ["fingerprint", str(record.get("fingerprint") or "")],
            ["in time of", str(record.get("time") or "")],
            ["in groups of", str(record.get("group") or "")],
            ["capacity", _capacity(record["capacity"])],
            ["calibration", _calibration(record)],
            ["measured", "\n".join(_measured(record.get("metrics") or {}, record["positive"]))],
        ]
    if summary["certificate"]:
        gap = float(summary["certificate"]["relative_gap"])
        rows.append(["relative gap", f"{gap:.1g}"])
    versions = ", ".join(f"{name} {number}" for name, number in found["written_with"].items())
    rows.append(["written with", f"toprank {found['toprank']}, {versions}"])
    rows += [[name, str(value)] for name, value in found["metadata"].items()]
    return [row for row in rows if row[1]]


def of_onnx(path: str) -> dict[str, str]:
    """The inputs of an ONNX file, and what they are."""
    import onnx

    words = {onnx.TensorProto.STRING: "words", onnx.TensorProto.DOUBLE: "doubles"}
    inputs = onnx.load(path).graph.input
    return {one.name: words[one.type.tensor_type.elem_type] for one in inputs}


def _made(line: dict[str, Any]) -> str:
    """Return a line on the preprocessing of a column, "" for numbers without gaps."""
    own = line["column"]
    if line["kind"] == "number":
        return f"{own}: {line['filled_with']:.6g} where missing" if line["flagged"] else ""
    if line["kind"] == "date":
        return f"{own}: {', '.join(line['parts'])}"
    pooled = f", {line['n_pooled']} rare ones pooled" if line["n_pooled"] else ""
    shown = ", ".join(line["categories"][:6]) + (", ..." if line["n_categories"] > 6 else "")
    return f"{own}: {line['n_categories']} categories ({shown}){pooled}"


def _trained_on(record: dict[str, Any]) -> str:
    """The rows that were fitted on; those held out were not."""
    every, held_out = record["n_rows"], record["calibration_rows"]
    rows = f"{every - held_out:,} of the {every:,} rows" if held_out else f"{every:,} rows"
    return f"{rows} of {record['table']}"


def _capacity(capacity: int | float | None) -> str:
    if capacity is None:
        return "not given"
    return (
        f"{capacity:,} rows" if isinstance(capacity, int) else f"{100 * capacity:.4g} % of a list"
    )


def _calibration(record: dict[str, Any]) -> str:
    rows = f"{record['calibration_rows']:,} rows"
    if found := record.get("calibration"):
        low, high = found["lowest_score"], found["highest_score"]
        return f"{rows}, {found['positives']:,} positive, scores from {low:.4g} to {high:.4g}"
    return rows


def _measured(metrics: dict[str, Any], positive: str) -> list[str]:
    lines = [_top(metrics["top"], positive)] if "top" in metrics else []
    if folds := metrics.get("folds"):
        lines.append(f"{folds['measure']} {folds['mean']:.4f} +- {folds['error']:.4f} in the folds")
    if held_out := metrics.get("held_out"):
        shown = [f"{name} {own:.4f}" for name, own in held_out.items() if name != "rows"]
        lines.append(f"{', '.join(shown[:4])} on {held_out['rows']:,} rows held out")
    return lines


def _last(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _calibrated(scores: Any) -> int:
    return 0 if scores is None else len(scores)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it, or its text."""
    return value if value is None or isinstance(value, bool | int | str) else repr(value)[:200]


__all__ = ["lines_of_fit", "of_file", "of_fit", "of_onnx", "rows_of_file"]
