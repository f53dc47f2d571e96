"""The commands and their options; what they do is imported when they are run."""

from __future__ import annotations

from typing import Any

import click

from .. import __version__
from . import checks
from .checks import LIST_NAMES, check_list, check_model, force_option
from .options import (
    capacity_option,
    common,
    format_option,
    id_option,
    json_option,
    positive_option,
    strict_option,
)
from .output import command_of, print_json, print_line, print_table, report_errors

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_ABOVE_ZERO = click.FloatRange(min=0, min_open=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="toprank", message="toprank %(version)s")
def toprank() -> None:
    """Learn from yes/no labels which rows to look at first.

    DATA is a table: .csv, .tsv, .parquet, .feather, .svmlight or .npz; texts may be .gz or .zst; -
    is standard input. Exit codes: 0 done, 2 bad input, 3 a column gives the label away and
    --strict was given, 130 stopped by Ctrl-C.
    """


@toprank.command()
@click.argument("data")
@click.option("--label", metavar="COLUMN", help="Column with the two labels.")
@positive_option
@click.option("--model", default="head", show_default=True, help="One of `toprank models`.")
@click.option("--alpha", type=_ABOVE_ZERO, help="Regularisation.")
@click.option("--cv", "folds", type=click.IntRange(min=2), help="Choose alpha by so many folds.")
@click.option("--time", metavar="COLUMN", help="Later rows are held out of folds; not learnt from.")
@click.option("--group", metavar="COLUMN", help="Rows kept together in folds; not learnt from.")
@capacity_option
@click.option("--list-size", type=click.IntRange(min=1), help="Rows that the K are taken of.")
@click.option(
    "--effort",
    type=click.Choice(["fast", "default", "best"]),
    help="How much head tries: about 0.1, 1 or 5 times the cost of tuned LightGBM.",
)
@click.option("--budget", type=_ABOVE_ZERO, help="Seconds for head.")
@click.option("--no-trees", is_flag=True, help="Leave boosted trees out of head.")
@click.option(
    "--calibrate",
    type=_SHARE,
    metavar="SHARE",
    help="Hold out this share of the rows, for promises by `top`.",
)
@id_option
@click.option("--ignore", "ignored", multiple=True, metavar="COLUMN", help="Not learnt from.")
@click.option(
    "--category", "categories", multiple=True, metavar="COLUMN", help="Numbers that are names."
)
@format_option
@click.option("-o", "--output", required=True, metavar="MODEL", help="Model file to write.")
@force_option
@strict_option
@json_option
@common
@report_errors
def fit(capacity: str | None, as_json: bool, **options: Any) -> None:
    """Learn a model from DATA and write it to a file."""
    checks.check_fit(options)
    from . import inspect
    from .fit import FitOptions, fit_table

    given = FitOptions(capacity=checks.capacity_of(capacity), **options)
    model, record = fit_table(given)
    if as_json:
        print_json(inspect.of_fit(model, record, given.output))
    else:
        for line in inspect.lines_of_fit(model, record, given.output):
            print_line(line)


@toprank.command()
@click.argument("data")
@click.option("--label", metavar="COLUMN", help="Column with the two labels.")
@positive_option
@id_option
@click.option("--weight", metavar="COLUMN", help="Column with the weights of rows.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Left out.")
@click.option("--category", multiple=True, metavar="COLUMN", help="Numbers that are names.")
@click.option(
    "--dtype", type=click.Choice(["float32", "float64"]), default="float32", show_default=True
)
@click.option(
    "--scale/--no-scale", default=True, show_default=True, help="Columns of mean 0 and deviation 1."
)
@format_option
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Data set to write.")
@json_option
@common
@report_errors
def convert(as_json: bool, **options: Any) -> None:
    """Make a data set of DATA, however large, for `fit` and for toprank.open_dataset."""
    checks.check_convert(options)
    from .convert import convert_table, facts_of, lines_of, print_notes

    data = convert_table(**options)
    print_notes(data)
    if as_json:
        print_json(facts_of(data))
    else:
        for line in lines_of(data, options["output"]):
            print_line(line)


@toprank.command()
@click.argument("model")
@click.argument("data")
@id_option
@format_option
@click.option("-o", "--output", metavar="SCORES", help=f"{LIST_NAMES}. [CSV, printed]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a line a row without -o.")
@common
@report_errors
def score(
    model: str,
    data: str,
    id: str | None,
    format: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Score every row of DATA, some at a time."""
    check_list(output, model, data)
    checks.check_model_file(model)
    table = checks.check_table(data, format)
    from .models import load_model
    from .score import score_table

    loaded, record = load_model(model)
    rows = score_table(loaded, record, table, id or record.id, output, as_json=as_json)
    if output is None:
        return
    if as_json:
        print_json({"rows": rows, "output": output})
    else:
        print_line(f"{rows:,} rows scored: {output}")


@toprank.command()
@click.argument("model")
@click.argument("data")
@click.option(
    "-k",
    metavar="K",
    callback=checks.check_capacity,
    help="How many rows: 200, or 2%. [the model's capacity]",
)
@click.option(
    "--why",
    "n_reasons",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Columns that put a row there, at most so many; 0 for none.",
)
@click.option(
    "--confidence",
    type=_SHARE,
    default=0.95,
    show_default=True,
    help="Of the promise, for a model made with --calibrate.",
)
@id_option
@format_option
@click.option("-o", "--output", metavar="LIST", help=f"{LIST_NAMES}. [printed]")
@json_option
@common
@report_errors
def top(
    model: str,
    data: str,
    k: str | None,
    n_reasons: int,
    confidence: float,
    id: str | None,
    format: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """List the K rows of DATA to look at first, why, and how many are sure to be real."""
    check_list(output, model, data)
    checks.check_model_file(model)
    table = checks.check_table(data, format)
    from .models import load_model
    from .top import of_head, show, top_rows, write

    loaded, record = load_model(model)
    id = id or record.id
    head = top_rows(loaded, record, table, id, checks.capacity_of(k), confidence, n_reasons)
    if output is not None:
        write(head, output, id, why=n_reasons > 0)
    if as_json:
        print_json(of_head(head, confidence, record.positive))
        return
    if output is None:
        show(head, id, why=n_reasons > 0)
    else:
        print_line(f"{len(head.rows):,} rows of {head.n_rows:,}: {output}")
    if head.promise is not None:
        print_line(head.promise)


@toprank.command()
@click.argument("model")
@click.argument("data")
@click.option("--label", metavar="COLUMN", help="Column with the labels. [as for fit]")
@click.option(
    "-k",
    "ks",
    multiple=True,
    metavar="K",
    callback=checks.check_capacity,
    help="For precision at K; may be repeated.",
)
@format_option
@json_option
@common
@report_errors
def evaluate(
    model: str,
    data: str,
    label: str | None,
    ks: tuple[str, ...],
    format: str | None,
    as_json: bool,
) -> None:
    """Measure a model on DATA, whose labels are known and which it was not fitted on."""
    checks.check_model_file(model)
    table = checks.check_table(data, format)
    from .evaluate import evaluate_table, lines_of, table_of
    from .models import load_model, ranked_first

    loaded, record = load_model(model)
    lengths = [number for k in ks if (number := checks.capacity_of(k)) is not None]
    if not lengths:
        lengths = [0.01, 0.1] if record.capacity is None else [record.capacity]
    found = evaluate_table(loaded, record, table, label, tuple(lengths))
    print_line(ranked_first(record.positive, found["positives"], found["rows"]), always=True)
    if as_json:
        print_json(found)
        return
    for line in lines_of(found):
        click.echo(line)
    print_table(["metric", "value", ""], table_of(found), numbers=(1,))


@toprank.command()
@click.argument("data")
@click.option("--label", metavar="COLUMN", help="Column with the two labels.")
@positive_option
@click.option(
    "--models",
    multiple=True,
    metavar="NAMES",
    help="Some of `toprank models`, as head,trees,toppush. [head]",
)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="The first decides.")
@click.option("--cv", "folds", type=click.IntRange(min=2), default=5, show_default=True)
@click.option("--repeats", type=click.IntRange(min=1), default=1, help="Times the folds are made.")
@capacity_option
@click.option("--list-size", type=click.IntRange(min=1), help="Rows that the K are taken of.")
@click.option("--new", metavar="LIST", help="A table of new rows, whose top is to be shown.")
@click.option("--time", metavar="COLUMN", help="Folds hold out later rows; not learnt from.")
@click.option("--group", metavar="COLUMN", help="Rows kept together in folds; not learnt from.")
@click.option("--ignore", multiple=True, metavar="WHAT", help="A check, as TR006, or a column.")
@click.option(
    "--category", "categories", multiple=True, metavar="COLUMN", help="Numbers that are names."
)
@click.option("--jobs", type=int, metavar="N", help="Fits at a time. [1]")
@click.option("--resume", metavar="FOLDER", help="Keeps finished fits, to go on after a stop.")
@click.option("--report", metavar="PAGE", help="Write report.html, and report.json beside it.")
@click.option("--markdown", metavar="FILE", help="Write the report as Markdown too.")
@id_option
@format_option
@strict_option
@json_option
@common
@report_errors
def compare(capacity: str | None, as_json: bool, **options: Any) -> None:
    """Compare models on the same folds of DATA, and report which ranks best."""
    checks.check_compare(options)
    from .compare import CompareOptions, compare_models, lines_of, refuse_leaks, table_of

    given = CompareOptions(capacity=checks.capacity_of(capacity), **options)
    report = compare_models(given, command_of(click.get_current_context()))
    if as_json:
        print_json(report.data)
    else:
        columns, rows = table_of(report)
        print_table(columns, rows, numbers=tuple(range(1, len(columns))))
        for line in lines_of(report):
            print_line(line)
    if given.strict:
        refuse_leaks(report)


@toprank.command()
@click.argument("model")
@json_option
@common
@report_errors
def inspect(model: str, as_json: bool) -> None:
    """Say what is in a model file."""
    checks.check_model_file(model)
    from .inspect import of_file, rows_of_file

    found = of_file(model)
    if as_json:
        print_json(found)
    else:
        print_table(["", ""], rows_of_file(found))


@toprank.command()
@click.argument("model")
@click.option("-o", "--output", required=True, metavar="ONNX", help="ONNX file to write.")
@force_option
@json_option
@common
@report_errors
def export(model: str, output: str, force: bool, as_json: bool) -> None:
    """Write a model as ONNX, in double precision, for other programs."""
    check_model(output, model, force=force, onnx=True)
    checks.check_model_file(model)
    from ..files.model import load
    from ..onnx import export as write
    from .inspect import of_onnx

    write(load(model), output)
    inputs = of_onnx(output)
    if as_json:
        print_json({"output": output, "inputs": inputs})
        return
    named = ", ".join(f"{name} ({kind})" for name, kind in inputs.items())
    print_line(f"inputs: {named}; outputs: score, label")
    print_line(f"written: {output}")


@toprank.command()
@json_option
@common
@report_errors
def models(as_json: bool) -> None:
    """List the models that `fit --model` and `compare --models` know."""
    from ..selection.named_models import named_models

    lines = {name: model.help for name, model in named_models().items()}
    if as_json:
        print_json(lines)
    else:
        print_table(["model", ""], [list(row) for row in lines.items()])


@toprank.command()
@click.option(
    "-o", "--output", default=".", show_default="here", metavar="FOLDER", help="Where files go."
)
@force_option
@json_option
@common
@report_errors
def demo(output: str, force: bool, as_json: bool) -> None:
    """Show the way on bundled data: fit, top, evaluate, compare; leaves report.html."""
    from .demo import demonstrate

    found = demonstrate(output, force=force)
    if as_json:
        print_json(found)


__all__ = ["toprank"]
