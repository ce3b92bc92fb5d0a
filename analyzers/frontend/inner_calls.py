"""The calls inside of a larger statement that may as well be made in front of it.

Takes the cursor of a statement, gives each call that is made whenever the statement is executed. What is evaluated in
front of it is plain: numbers of the thread; what is evaluated behind it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from analyzers.frontend.cindex import binary_operator, children, initializer, unary_operator
from analyzers.frontend.lowering.nodes import CASTS, Kinds
from analyzers.frontend.plain import is_idle, is_plain

_AROUND: Final = frozenset({Kinds.UNEXPOSED, Kinds.PAREN, *CASTS})
_FIRST_ONLY: Final = frozenset({"&&", "||", ","})
"""Operators whose second operand comes after the first one, if at all."""
_REFERENCES: Final = frozenset({Kinds.TYPE_REF, Kinds.TEMPLATE_REF, Kinds.NAMESPACE_REF})


def inner_calls(statement: Any, numbers: bool) -> Iterator[Any]:
    """The cursors of the calls. `numbers`: as in `plain`."""
    kind: int = statement._kind_id
    if kind == Kinds.DECL_STMT:
        variables = children(statement)
        value = initializer(variables[0]) if len(variables) == 1 and variables[0]._kind_id == Kinds.VAR else None
        if value is not None:
            yield from _within(value, numbers)
    elif kind in (Kinds.BINARY, Kinds.COMPOUND_ASSIGN, Kinds.CALL, *_AROUND):
        yield from _within(statement, numbers)


def _within(expression: Any, numbers: bool) -> Iterator[Any]:
    kind: int = expression._kind_id
    if kind == Kinds.CALL:
        yield expression
        arguments = [a for a in expression.get_arguments() if a is not None]
        for index, argument in enumerate(arguments):
            others = all(is_plain(a, numbers) for a in arguments[:index]) and all(map(is_idle, arguments[index + 1 :]))
            if others:
                yield from _within(argument, numbers)
        return
    parts = [c for c in children(expression) if c._kind_id not in _REFERENCES]
    if (kind in _AROUND and len(parts) == 1) or (
        kind == Kinds.UNARY and unary_operator(expression) in ("+", "-", "~", "!")
    ):
        yield from _within(parts[-1], numbers)
    elif kind == Kinds.CONDITIONAL and parts:
        yield from _within(parts[0], numbers)
    elif kind in (Kinds.BINARY, Kinds.COMPOUND_ASSIGN) and len(parts) == 2:
        left, right = parts
        operator = binary_operator(expression)
        if operator in _FIRST_ONLY:
            yield from _within(left, numbers)
        elif operator == "=" or kind == Kinds.COMPOUND_ASSIGN:
            if is_idle(left):
                yield from _within(right, numbers)
        elif operator:
            if is_idle(right):
                yield from _within(left, numbers)
            if is_plain(left, numbers):
                yield from _within(right, numbers)
