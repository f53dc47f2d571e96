"""What `table_pipeline` makes of raw columns: an input for each of them."""

from __future__ import annotations

import warnings
from typing import Any

from ..features.made import encoded_words, kinds_in
from ..features.table import MISSING
from .dates import date_parts
from .graph import Graph
from .transformers import imputed


def numbers_of_table(numbers: Any, graph: Graph) -> str:
    """The numbers of a table: doubles of numbers, words of categories, seconds of dates."""
    made = []
    for kind, pipe, columns in kinds_in(numbers):
        names = [str(own) for own in columns]
        if kind == "number":
            table = graph.beside([graph.input(own, 1) for own in names])
            made.append(imputed(pipe[-1], graph, table))
        elif kind == "category":
            made += _one_hot(pipe[-1], graph, names)
        else:
            both = zip(names, pipe[0].parts_, strict=True)
            parts = [one for own, wanted in both for one in date_parts(graph, own, wanted)]
            made.append(imputed(pipe[-1], graph, graph.beside(parts)))
    return graph.beside(made)


def _one_hot(encoder: Any, graph: Graph, names: list[str]) -> list[str]:
    """A row of a table for every word that is known, and one for all others."""
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of words that are not known, on purpose
        tables = encoded_words(encoder, [list(known) for known in encoder.categories_])
    for name, known, rows in zip(names, encoder.categories_, tables, strict=True):
        words = [str(word) for word in known]
        missing = words.index(MISSING) if MISSING in words else None  # an empty cell is one
        made.append(graph.rows_of_words(name, words, rows, missing))
    return made


__all__ = ["numbers_of_table"]
