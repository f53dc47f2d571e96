"""The commands and their options; what they do is imported when they are run."""

from __future__ import annotations

from typing import Any

import click

from .. import __version__
from . import early
from .options import (
    capacity_option,
    common,
    format_option,
    id_option,
    json_option,
    positive_option,
    strict_option,
)
from .targets import LIST_NAMES, check_list, check_model, force_option
from .telling import Refusal, command_of, print_json, print_table, say, speaking

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
@speaking
def fit(capacity: str | None, as_json: bool, **options: Any) -> None:
    """Learn a model from DATA and write it to a file."""
    early.check_fit(options)
    from . import fitting, showing

    wanted = fitting.Wanted(capacity=early.capacity_of(capacity), **options)
    model, kept = fitting.fit(wanted)
    if as_json:
        print_json(showing.of_fit(model, kept, wanted.output))
    else:
        for line in showing.lines_of_fit(model, kept, wanted.output):
            say(line)


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
@speaking
def convert(as_json: bool, **options: Any) -> None:
    """Make a data set of DATA, however large, for `fit` and for toprank.open_dataset."""
    early.check_convert(options)
    from . import converting

    data = converting.convert_table(**options)
    converting.tell(data)
    if as_json:
        print_json(converting.about(data))
    else:
        for line in converting.lines_of(data, options["output"]):
            say(line)


@toprank.command()
@click.argument("model")
@click.argument("data")
@id_option
@format_option
@click.option("-o", "--output", metavar="SCORES", help=f"{LIST_NAMES}. [CSV, printed]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a line a row without -o.")
@common
@speaking
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
    early.check_model_file(model)
    table = early.check_table(data, format)
    from . import models, scoring

    loaded, kept = models.load_model(model)
    rows = scoring.score(loaded, kept, table, id or kept.id, output, as_json=as_json)
    if output is None:
        return
    if as_json:
        print_json({"rows": rows, "output": output})
    else:
        say(f"{rows:,} rows scored: {output}")


@toprank.command()
@click.argument("model")
@click.argument("data")
@click.option(
    "-k",
    metavar="K",
    callback=early.check_capacity,
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
@speaking
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
    early.check_model_file(model)
    table = early.check_table(data, format)
    from . import listing, models, showing_lists

    loaded, kept = models.load_model(model)
    id = id or kept.id
    head = listing.top(loaded, kept, table, id, early.capacity_of(k), confidence, n_reasons)
    if output is not None:
        showing_lists.write(head, output, id, why=n_reasons > 0)
    if as_json:
        print_json(showing_lists.of_head(head, confidence, kept.positive))
        return
    if output is None:
        showing_lists.show(head, id, why=n_reasons > 0)
    else:
        say(f"{len(head.rows):,} rows of {head.n_rows:,}: {output}")
    if head.promise is not None:
        say(head.promise)


@toprank.command()
@click.argument("model")
@click.argument("data")
@click.option("--label", metavar="COLUMN", help="Column with the labels. [as for fit]")
@click.option(
    "-k",
    "ks",
    multiple=True,
    metavar="K",
    callback=early.check_capacity,
    help="For precision at K; may be repeated.",
)
@format_option
@json_option
@common
@speaking
def evaluate(
    model: str,
    data: str,
    label: str | None,
    ks: tuple[str, ...],
    format: str | None,
    as_json: bool,
) -> None:
    """Measure a model on DATA, whose labels are known and which it was not fitted on."""
    early.check_model_file(model)
    table = early.check_table(data, format)
    from . import models, scoring, showing

    loaded, kept = models.load_model(model)
    wanted = [number for k in ks if (number := early.capacity_of(k)) is not None]
    if not wanted:
        wanted = [0.01, 0.1] if kept.capacity is None else [kept.capacity]
    found = scoring.evaluate(loaded, kept, table, label, tuple(wanted))
    say(models.ranked_first(kept.positive, found["positives"], found["rows"]), always=True)
    if as_json:
        print_json(found)
        return
    for line in showing.lines_of_evaluation(found):
        click.echo(line)
    print_table(["metric", "value", ""], showing.rows_of_evaluation(found), numbers=(1,))


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
@speaking
def compare(capacity: str | None, as_json: bool, **options: Any) -> None:
    """Compare models on the same folds of DATA, and report which ranks best."""
    early.check_compare(options)
    from . import comparing

    wanted = comparing.Wanted(capacity=early.capacity_of(capacity), **options)
    report = comparing.compare(wanted, command_of(click.get_current_context()))
    if as_json:
        print_json(report.data)
    else:
        columns, rows = comparing.table_of(report)
        print_table(columns, rows, numbers=tuple(range(1, len(columns))))
        for line in comparing.lines_of(report):
            say(line)
    if wanted.strict:
        comparing.refuse_leaks(report)


@toprank.command()
@click.argument("model")
@json_option
@common
@speaking
def inspect(model: str, as_json: bool) -> None:
    """Say what is in a model file."""
    early.check_model_file(model)
    from . import showing

    found = showing.of_file(model)
    if as_json:
        print_json(found)
    else:
        print_table(["", ""], showing.rows_of_file(found))


@toprank.command()
@click.argument("model")
@click.option("-o", "--output", required=True, metavar="ONNX", help="ONNX file to write.")
@force_option
@json_option
@common
@speaking
def export(model: str, output: str, force: bool, as_json: bool) -> None:
    """Write a model as ONNX, in double precision, for other programs."""
    check_model(output, model, force=force, onnx=True)
    early.check_model_file(model)
    from ..files.model import load
    from ..onnx import export as write
    from . import showing

    write(load(model), output)
    inputs = showing.of_onnx(output)
    if as_json:
        print_json({"output": output, "inputs": inputs})
        return
    told = ", ".join(f"{name} ({kind})" for name, kind in inputs.items())
    say(f"inputs: {told}; outputs: score, label")
    say(f"written: {output}")


@toprank.command()
@json_option
@common
@speaking
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
@speaking
def demo(output: str, force: bool, as_json: bool) -> None:
    """Show the way on bundled data: fit, top, evaluate, compare; leaves report.html."""
    from .demonstrating import demonstrate

    found = demonstrate(output, force=force)
    if as_json:
        print_json(found)


__all__ = ["Refusal", "toprank"]
