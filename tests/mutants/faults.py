"""Small faults of a module's source: one comparison, sign, number or truth value is another."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

#: What stands in for an operator.
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Fault:
    """The `number`-th fault that a source can have, and what it looks like."""

    number: int
    #: Of what is changed, and those of the statement that it is in.
    line: int
    lines: tuple[int, ...]
    before: str
    after: str
    #: The function, or the class and the method; empty outside of them.
    inside: str
    #: Whether it is run when a test runs, and not when the module is imported.
    in_function: bool

    def __str__(self) -> str:
        return f"line {self.line}: {self.before}  ->  {self.after}"


def faults_of(source: str) -> list[Fault]:
    """All of them."""
    tree = ast.parse(source)
    around = _Around(tree)
    found = []
    for number, (node, change) in enumerate(_changes(tree)):
        shown = around.shown(node)
        before = ast.unparse(shown)
        undo = change()
        after = ast.unparse(shown)
        undo()
        names = around.names(node)
        found.append(Fault(number, node.lineno, around.lines(node), before, after, *names))
    return found


def faulty(source: str, number: int) -> str:
    """The source with one of them."""
    return ast.unparse(faulty_tree(source, number))


def faulty_tree(source: str, number: int) -> ast.Module:
    """The same as a tree, which keeps its line numbers."""
    tree = ast.parse(source)
    for k, (_, change) in enumerate(_changes(tree)):
        if k == number:
            change()
            return ast.fix_missing_locations(tree)
    raise IndexError(number)


class _Around:
    """What the nodes of a tree are in."""

    def __init__(self, tree: ast.Module) -> None:
        self._parent = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }

    def shown(self, node: Any) -> Any:
        """What a change is told by: a number says little without what is around it."""
        return self._parent[node] if isinstance(node, ast.Constant) else node

    def lines(self, node: Any) -> tuple[int, ...]:
        """Those of the statement, without statements in it."""
        while not isinstance(node, ast.stmt):
            node = self._parent[node]
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno
        return tuple(range(node.lineno, max(last, node.lineno) + 1))

    def names(self, node: Any) -> tuple[str, bool]:
        """The names of functions and classes, the outermost first; whether it is in a body."""
        names, runs = [], False
        while parent := self._parent.get(node):
            if isinstance(parent, ast.FunctionDef | ast.ClassDef):
                names.append(parent.name)
            # Defaults and decorators are run with what is around the function.
            in_body = isinstance(parent, ast.FunctionDef) and node in parent.body
            runs = runs or in_body or (isinstance(parent, ast.Lambda) and node is parent.body)
            node = parent
        return ".".join(reversed(names)), runs


def _changes(tree: ast.Module) -> Iterator[tuple[Any, Callable[[], Callable[[], None]]]]:
    """Each node that can be changed, and a call that does it, which gives one that undoes it."""
    counted = set(_counts_of_roundings(tree))
    for node in ast.walk(tree):
        for field, index, new in _of_node(node) if node not in counted else ():
            old = getattr(node, field)
            value = new if index is None else [*old[:index], new, *old[index + 1 :]]
            if value != old:  # a huge number and one are the same

                def change(n: Any = node, f: str = field, v: Any = value, o: Any = old) -> Any:
                    setattr(n, f, v)
                    return lambda: setattr(n, f, o)

                yield node, change


def _counts_of_roundings(tree: ast.Module) -> Iterator[ast.AST]:
    """What is in the arguments of gamma(n), a bound of n roundings in a row, and n of n * UNIT.

    Whether one more is counted or one less, no test can see: a sum hardly ever comes near its
    bound. That the bounds are enough is what `make fuzz` asks.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "gamma":
            for argument in node.args:
                yield from ast.walk(argument)
        elif isinstance(node, ast.BinOp) and getattr(node.right, "id", "") == "UNIT":
            yield node.left


def _of_node(node: ast.AST) -> Iterator[tuple[str, int | None, object]]:
    """The field, the place in it, and what it becomes."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            yield "ops", k, _OTHER[type(operator)]()
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _OTHER:
        if not _is_type(node):
            yield "op", None, _OTHER[type(node.op)]()
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "value", None, not node.value
        elif isinstance(node.value, int | float):
            yield "value", None, node.value + 1
    elif isinstance(node, ast.IfExp | ast.If | ast.While):
        yield "test", None, ast.UnaryOp(ast.Not(), node.test)


def _is_type(node: ast.AST) -> bool:
    """Array | None is no arithmetic."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)


__all__ = ["Fault", "faults_of", "faulty", "faulty_tree"]
