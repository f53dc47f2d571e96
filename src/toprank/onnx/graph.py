"""A graph of ONNX, built a node at a time; all numbers are doubles."""

from __future__ import annotations

from typing import Any

import numpy as np

import onnx
from onnx import TensorProto, helper, numpy_helper


class NotExportable(ValueError):
    """A model, or a part of it, that has no form in ONNX."""


#: The operators of this version are all there is; runtimes since the middle of 2023 have them.
OPSET, ML_OPSET = 19, 3
#: The version of the file format that goes with them.
_IR = 9


class Graph:
    """Nodes by the names of their results."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: dict[tuple[bytes, str, tuple[int, ...]], str] = {}
        self._tensors: list[Any] = []
        self.inputs: list[Any] = []
        #: The version of ai.onnx.ml; nodes that need a later one raise it.
        self.ml_opset = ML_OPSET

    def input(self, name: str, columns: int, *, words: bool = False) -> str:
        """A table of so many columns, of doubles or of words."""
        kind = TensorProto.STRING if words else TensorProto.DOUBLE
        self.inputs.append(helper.make_tensor_value_info(name, kind, [None, columns]))
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """An array; the same one twice is there once."""
        array = np.ascontiguousarray(value, dtype=dtype)
        key = (array.tobytes(), array.dtype.str, array.shape)
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = name
            self._tensors.append(numpy_helper.from_array(array, name))
        return self._constants[key]

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node, and what its result is called."""
        name = attributes.pop("name", f"{operator.lower()}_{len(self._nodes)}")
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return str(name)

    def column(self, table: str, place: int) -> str:
        """One column of a table, still two-dimensional."""
        return self.add("Gather", table, self.constant([place], np.int64), axis=1)

    def beside(self, tables: list[str]) -> str:
        """Tables side by side."""
        return tables[0] if len(tables) == 1 else self.add("Concat", *tables, axis=1)

    def double(self, name: str) -> str:
        """As doubles."""
        return self.add("Cast", name, to=TensorProto.DOUBLE)

    def rows_of_words(self, name: str, words: list[str], rows: Any, empty: int | None) -> str:
        """Rows of a table for the words of a raw column; unknown words have the row after theirs.

        An empty cell, unless that is a word, has the row `empty`, or counts as unknown.
        """
        places = list(range(len(words)))
        if empty is not None and "" not in words:
            places.append(empty)
        codes = self.add(
            "LabelEncoder",
            self.input(name, 1, words=True),
            domain="ai.onnx.ml",
            keys_strings=[*words, ""][: len(places)],
            values_int64s=places,
            default_int64=len(words),
        )
        return self.rows_at(rows, codes)

    def rows_at(self, rows: Any, places: str) -> str:
        """Rows of a table by a column of whole numbers."""
        flat = self.add("Reshape", places, self.constant([-1], np.int64))
        return self.add("Gather", self.constant(rows), flat, axis=0)

    def whole(self, name: str) -> str:
        """As whole numbers."""
        return self.add("Cast", name, to=TensorProto.INT64)

    def model(self, outputs: list[Any], about: str) -> Any:
        """The whole, checked."""
        graph = helper.make_graph(self._nodes, "toprank", self.inputs, outputs, self._tensors)
        imports = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", self.ml_opset)]
        made = helper.make_model(graph, opset_imports=imports, producer_name="toprank")
        made.ir_version = _IR
        made.doc_string = about
        onnx.checker.check_model(made)
        return made


__all__ = ["Graph", "NotExportable"]
