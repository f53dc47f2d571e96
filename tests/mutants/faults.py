"""Small faults of a module's source: one comparison, sign, number or truth value is another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

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
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.before}  ->  {self.after}"


def faults_of(source: str) -> list[Fault]:
    """All of them."""
    return [
        Fault(number, line, before, after)
        for number, (line, before, after, _) in enumerate(_changes(ast.parse(source)))
    ]


def faulty(source: str, number: int) -> str:
    """The source with one of them."""
    tree = ast.parse(source)
    for k, (*_, keep) in enumerate(_changes(tree)):
        if k == number:
            keep()
            return ast.unparse(ast.fix_missing_locations(tree))
    raise IndexError(number)


def plain(source: str) -> str:
    """The source without a fault, written in the same way."""
    return ast.unparse(ast.parse(source))


def _changes(tree: ast.Module) -> Iterator[tuple[int, str, str, object]]:
    """Each change, made and taken back: its line, before, after, and a call that makes it."""
    for node in ast.walk(tree):
        for field, index, new in _of_node(node):
            old = getattr(node, field)
            before = ast.unparse(node)
            value = new if index is None else [*old[:index], new, *old[index + 1 :]]
            setattr(node, field, value)
            after = ast.unparse(node)
            setattr(node, field, old)
            line = getattr(node, "lineno", 0)
            if before != after:
                yield line, before, after, lambda n=node, f=field, v=value: setattr(n, f, v)


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


__all__ = ["Fault", "faults_of", "faulty", "plain"]
