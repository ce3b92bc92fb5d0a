"""Values inside of a larger statement that may as well be computed in front of it: of assignments in an assignment
(``u = s[t] = s[t + 1];``), a condition, an argument or a first value, and the first values of variables.

Takes what a statement evaluates, gives each value that is computed whenever the statement is executed, and that nothing
in front of it can tell from one computed earlier: it comes first, or it changes nothing and neither does what comes
before. Operands come in the order of the text, also where the language leaves that open, if the others change nothing.
An assignment computes its value first, then its target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, binary_operator, children, initializer, referenced, unary_operator
from analyzers.frontend.copies import class_assignment
from analyzers.frontend.lowering.nodes import CASTS, Kinds
from analyzers.frontend.plain import is_idle

_AROUND: Final = frozenset({Kinds.UNEXPOSED, Kinds.PAREN, Kinds.UNARY, Kinds.MEMBER, *CASTS})
_REFERENCES: Final = frozenset({Kinds.TYPE_REF, Kinds.TEMPLATE_REF, Kinds.NAMESPACE_REF})
_FIRST_ONLY: Final = frozenset({"&&", "||"})
"""Operators whose second operand is not always evaluated."""
_NUMBERS: Final = frozenset(
    {*range(TypeKind.BOOL.value, TypeKind.LONGDOUBLE.value + 1), TypeKind.HALF.value, TypeKind.ENUM.value}
)

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
        """Of operands in any order: those beside which the others change nothing, and which change nothing that one in
        front of them reads."""
        for index, operand in enumerate(operands):
            found = list(self.within(operand, first=first))
            others = [o for at, o in enumerate(operands) if at != index]
            if found and all(map(is_idle, others)):
                plain = all(map(self._is_plain, others))
                for each in found:
                    value = each[1][-1]
                    if is_idle(value) or (plain and (index == 0 or _keeps_variables(value))):
                        yield each


def _keeps_variables(value: Any) -> bool:
    """Whether an expression surely changes no variable of the function that it is in: what is called in it gets but
    numbers."""
    if is_idle(value):
        return True
    kind: int = value._kind_id
    parts = [c for c in children(value) if c._kind_id not in _REFERENCES]
    if kind == Kinds.CALL:
        function, arguments = referenced(value), [a for a in value.get_arguments() if a is not None]
        if function is None or function._kind_id != Kinds.FUNCTION or len(arguments) != len(_parameters(function)):
            return False
        return all(map(_is_number, _parameters(function))) and all(
            argument.extent.start.file is None or _keeps_variables(argument)  # a default one names no such variable
            for argument in arguments
        )
    if kind == Kinds.BINARY:
        inside = binary_operator(value) not in ("", "=")
    elif kind == Kinds.UNARY:
        inside = unary_operator(value) in ("+", "-", "~", "!", "*")
    else:
        inside = kind in (Kinds.UNEXPOSED, Kinds.PAREN, Kinds.CONDITIONAL, Kinds.SUBSCRIPT, *CASTS)
    return inside and bool(parts) and all(map(_keeps_variables, parts))


def _parameters(function: Any) -> list[Any]:
    return [c for c in children(function) if c._kind_id == Kinds.PARM]


def _is_number(parameter: Any) -> bool:
    return parameter.type.get_canonical().kind.value in _NUMBERS


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
