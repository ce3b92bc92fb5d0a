"""Values inside of a larger statement that may as well be computed in front of it: of assignments in an assignment
(``u = s[t] = s[t + 1];``), a condition, an argument or a first value, and the first values of variables.

Takes what a statement evaluates, gives each value that is computed whenever the statement is executed, and that nothing
in front of it can tell from one computed earlier: it comes first, or it changes nothing and neither does what comes
before. Operands of which the language leaves the order open come in that of the text, if the other one changes nothing.
An assignment computes its value first, then its target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from analyzers.frontend.cindex import binary_operator, children, initializer, referenced
from analyzers.frontend.copies import class_assignment
from analyzers.frontend.lowering.nodes import CASTS, Kinds
from analyzers.frontend.plain import is_idle

_AROUND: Final = frozenset({Kinds.UNEXPOSED, Kinds.PAREN, Kinds.UNARY, Kinds.MEMBER, *CASTS})
_REFERENCES: Final = frozenset({Kinds.TYPE_REF, Kinds.TEMPLATE_REF, Kinds.NAMESPACE_REF})
_FIRST_ONLY: Final = frozenset({"&&", "||"})
"""Operators whose second operand is not always evaluated."""

InnerValue = tuple[Any, tuple[Any, ...]]
"""An assignment and its two sides, or a variable and its first value."""


def inner_values(evaluated: Any, is_plain: Callable[[Any], bool]) -> Iterator[InnerValue]:
    """Those around others first. `evaluated`: the cursor of an expression or a declaration; `is_plain`: whether an
    expression computes with numbers of the thread."""
    if evaluated._kind_id != Kinds.DECL_STMT:
        yield from _Reader(is_plain).within(evaluated, first=True)
        return
    first, variables = True, [c for c in children(evaluated) if c._kind_id == Kinds.VAR]
    declared = {c.hash for c in variables}
    for variable in variables:
        value = initializer(variable)
        if value is None:
            continue
        found = [(variable, (value,))] if first or is_idle(value) else []
        found += _Reader(is_plain).within(value, first=first)
        yield from (each for each in found if not _mentions(each[1][-1], declared))
        if not is_idle(value):
            return
        first = False


def _mentions(expression: Any, declared: set[int]) -> bool:
    """Whether an expression names one of the variables."""
    if expression._kind_id == Kinds.DECL_REF:
        declaration = referenced(expression)
        return declaration is not None and declaration.hash in declared
    return any(_mentions(c, declared) for c in children(expression))


class _Reader:
    def __init__(self, is_plain: Callable[[Any], bool]) -> None:
        self._is_plain = is_plain

    def within(self, expression: Any, *, first: bool) -> Iterator[InnerValue]:
        """Those of an expression that is always evaluated; `first`: before all else, else behind what changes
        nothing."""
        kind: int = expression._kind_id
        sides = _sides(expression)
        if sides is not None:
            target, value = sides
            if first or is_idle(value):
                yield expression, sides
            yield from self.within(value, first=first)
            if is_idle(value):
                yield from self.within(target, first=False)
            return
        parts = [c for c in children(expression) if c._kind_id not in _REFERENCES]
        if kind == Kinds.CALL:
            arguments = [a for a in expression.get_arguments() if a is not None]
            own = {a.hash for a in arguments}
            if all(is_idle(c) for c in parts if c.hash not in own):
                yield from self._operands(arguments, first=first)
        elif _is_around_first(expression, parts):
            yield from self.within(parts[0], first=first)
        elif kind == Kinds.BINARY and binary_operator(expression) == ",":
            yield from self.within(parts[0], first=first)
            if is_idle(parts[0]):
                yield from self.within(parts[1], first=False)
        elif kind in (Kinds.BINARY, Kinds.SUBSCRIPT):
            yield from self._operands(parts, first=first)

    def _operands(self, operands: list[Any], *, first: bool) -> Iterator[InnerValue]:
        """Of operands in any order: those beside which the others change nothing."""
        for index, operand in enumerate(operands):
            found = list(self.within(operand, first=first))
            others = [o for at, o in enumerate(operands) if at != index]
            if found and all(map(is_idle, others)):
                same = not first or all(map(self._is_plain, others))
                yield from found if same else self.within(operand, first=False)


def _is_around_first(expression: Any, parts: list[Any]) -> bool:
    """Whether all that is evaluated always, and first, is the first part."""
    kind: int = expression._kind_id
    if kind == Kinds.BINARY:
        return binary_operator(expression) in _FIRST_ONLY
    return (kind == Kinds.CONDITIONAL and bool(parts)) or (kind in _AROUND and len(parts) == 1)


def _sides(expression: Any) -> tuple[Any, Any] | None:
    """The target and the value of an assignment; None of what is none."""
    kind: int = expression._kind_id
    if kind == Kinds.CALL:
        return class_assignment(expression)
    if kind != Kinds.COMPOUND_ASSIGN and (kind != Kinds.BINARY or binary_operator(expression) != "="):
        return None
    target, value = children(expression)
    return target, value
