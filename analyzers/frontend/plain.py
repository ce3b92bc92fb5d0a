"""Which expressions may be evaluated once more, or by more threads, and nobody would know: they compute with numbers of
the thread.

Takes cursors; an expression is *plain* when it calls nothing, changes nothing, and reads literals, constants and
variables that no other thread can reach; it is *idle* when it calls nothing and changes nothing, whatever it
reads. What the tree does not show is neither. `test_of` tells what a condition is made of, macros included.

In the pattern of a template clang leaves open what operators and members mean. An expression there is plain when it is
in every instance: what it computes with has a type without operators of its own (`settled`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, binary_operator, children, evaluate, referenced, unary_operator
from analyzers.frontend.lowering.nodes import Kinds
from analyzers.frontend.settled import field_of, has_value_type, is_number, is_open, operator_of

_REFERENCES: Final = frozenset({Kinds.TYPE_REF, Kinds.TEMPLATE_REF, Kinds.NAMESPACE_REF})
_LITERALS: Final = frozenset({Kinds.INTEGER, Kinds.FLOATING, Kinds.CHARACTER, Kinds.BOOLEAN, Kinds.NULLPTR})
_WRAPPERS: Final = frozenset(
    {Kinds.UNEXPOSED, Kinds.PAREN, Kinds.C_CAST, Kinds.STATIC_CAST, Kinds.FUNCTIONAL_CAST, Kinds.CONDITIONAL}
)
_TEMPLATE_VALUE: Final = 28
_STATIC: Final = 3
"""`CX_SC_Static`."""
_NO_LINKAGE: Final = 1
"""`CXLinkage_NoLinkage`: a variable of a function."""
_ARRAYS: Final = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY)
_OUTSIDE: Final = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


_INTEGERS: Final = range(TypeKind.BOOL.value, TypeKind.INT128.value + 1)
COMPARES: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})
_COMPUTES: Final = (
    frozenset[str](),
    frozenset({"+", "-", "~", "!"}),
    frozenset({*COMPARES, "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||"}),
)
"""Operators that change nothing and read no memory, by the number of their operands."""


@dataclass(frozen=True, slots=True)
class Test:
    """The condition of an `if` or a loop."""

    operator: str
    """The outermost one: `&&`, `<`, `!`, `?`, `=`; empty where all is in one piece, as a name, a call, parentheses."""
    integers: bool = False
    """It compares two integers: if one comparison does not hold, the opposite one does."""
    types: tuple[str, ...] = ()
    """Of the two sides of a comparison as they are written, canonical."""


UNKNOWN_TEST: Final = Test(",")


def test_of(expression: Any) -> Test:
    """What a condition is made of."""
    expression = _written(expression)
    kind: int = expression._kind_id
    if kind in (Kinds.DECL_REF, Kinds.MEMBER, Kinds.SUBSCRIPT, Kinds.PAREN, *_LITERALS):
        return Test("")
    if kind == Kinds.UNARY:
        return Test(unary_operator(expression))
    if kind == Kinds.BINARY:
        operator = binary_operator(expression)
        if operator not in COMPARES:
            return Test(operator or ",")
        sides = children(expression)
        whole = all(side.type.get_canonical().kind.value in _INTEGERS for side in sides)
        return Test(operator, whole, tuple(_written(side).type.get_canonical().spelling for side in sides))
    if kind == Kinds.CALL:
        # What an operator that somebody wrote calls looks the same, and binds as it does.
        function = referenced(expression)
        return UNKNOWN_TEST if function is None or function.spelling.startswith("operator") else Test("")
    return Test("?") if kind == Kinds.CONDITIONAL else UNKNOWN_TEST


def _written(expression: Any) -> Any:
    """Without implicit conversions."""
    while expression._kind_id == Kinds.UNEXPOSED:
        inner = children(expression)
        if len(inner) != 1:
            break
        expression = inner[0]
    return expression


def is_idle(expression: Any) -> bool:
    """Whether an expression is; see the module."""
    kind: int = expression._kind_id
    if kind in _LITERALS:
        return True
    parts = [c for c in children(expression) if c._kind_id not in _REFERENCES]
    if kind in (Kinds.DECL_REF, Kinds.MEMBER):
        declaration = referenced(expression)
        still = declaration is not None and not declaration.type.get_canonical().is_volatile_qualified()
        return still and not expression.type.get_canonical().is_volatile_qualified() and all(map(is_idle, parts))
    if expression.type.get_canonical().is_volatile_qualified():
        return False
    if kind == Kinds.UNARY and unary_operator(expression) not in ("+", "-", "~", "!", "*", "&"):
        return False
    if kind == Kinds.BINARY and (binary_operator(expression) in ("", "=", ",")):
        return False
    inner = kind in (*_WRAPPERS, Kinds.UNARY, Kinds.BINARY, Kinds.SUBSCRIPT)
    return kind in (Kinds.SIZEOF, Kinds.THIS) or (inner and bool(parts) and all(map(is_idle, parts)))


def is_plain(expression: Any, numbers: bool) -> bool:
    """Whether an expression is; see the module. `numbers`: as in `settled`."""
    return _is_own_value(expression, numbers) and (not is_open(expression) or is_number(expression, numbers))


def _is_own_value(expression: Any, numbers: bool) -> bool:
    """The same of the place of a value, whose type may be a class of the template's."""
    kind: int = expression._kind_id
    if kind in _LITERALS:
        return True
    parts = [c for c in children(expression) if c._kind_id not in _REFERENCES]
    if kind == Kinds.DECL_REF:
        return _is_own(referenced(expression))
    if kind == Kinds.MEMBER:
        field = referenced(expression) or field_of(expression)
        own = len(parts) == 1 and not _is_pointer(parts[0]) and field is not None and _is_value(field)
        return own and _is_own_value(parts[0], numbers)
    if kind == Kinds.CALL:
        operator, operands = operator_of(expression)
        return operator in _COMPUTES[len(operands)] and all(is_plain(c, numbers) for c in operands)
    if kind == Kinds.UNARY and unary_operator(expression) not in _COMPUTES[1]:
        return False
    if kind == Kinds.BINARY and binary_operator(expression) not in _COMPUTES[2]:
        return False
    if kind not in (*_WRAPPERS, Kinds.UNARY, Kinds.BINARY) or not parts:
        return False
    # One operand of an open type is enough for the operator to be another one, and a conversion to call a function.
    settled = not any(map(is_open, parts)) or all(is_number(c, numbers) for c in parts)
    return settled and has_value_type(expression, numbers) and all(is_plain(c, numbers) for c in parts)


def is_plain_step(expression: Any, numbers: bool) -> bool:
    """Whether an expression steps one variable of the thread by something plain: `i++`, `i += n`."""
    parts = children(expression)
    kind: int = expression._kind_id
    if kind == Kinds.UNARY:
        return unary_operator(expression).endswith(("++", "--")) and is_plain(parts[0], numbers)
    if kind == Kinds.COMPOUND_ASSIGN or (kind == Kinds.BINARY and binary_operator(expression) == "="):
        settled = not any(map(is_open, parts)) or all(is_number(c, numbers) for c in parts)
        return len(parts) == 2 and settled and all(is_plain(c, numbers) for c in parts)
    return False


def constant_step(expression: Any, values: Mapping[str, Collection[int]]) -> tuple[int | None, bool]:
    """The constant that a step adds, subtracts, multiplies or shifts by, and whether it has a sign; None where there is
    none. `values`: those of template parameters in all instances; of several the greatest, if none is below one."""
    parts = children(expression)
    if expression._kind_id != Kinds.COMPOUND_ASSIGN or len(parts) != 2:
        return None, False
    given = _written(parts[1])
    value, signed = evaluate(parts[1]), not given.type.get_canonical().spelling.startswith(("unsigned", "bool"))
    declaration = referenced(given) if given._kind_id == Kinds.DECL_REF else None
    if declaration is not None and declaration._kind_id == _TEMPLATE_VALUE:
        found = values.get(declaration.spelling, ())
        value = max(found) if found and min(found) > 0 else None
    return value if isinstance(value, int) else None, signed


def _is_pointer(expression: Any) -> bool:
    return expression.type.get_canonical().kind == TypeKind.POINTER


def _is_value(declaration: Any) -> bool:
    """Neither volatile nor a reference to what may lie elsewhere."""
    ty = declaration.type.get_canonical()
    return ty.kind not in _OUTSIDE and not ty.is_volatile_qualified()


def _is_own(declaration: Any) -> bool:
    """A variable that no other thread writes."""
    if declaration is None:
        return False
    kind: int = declaration._kind_id
    if kind in (Kinds.ENUM_CONSTANT, _TEMPLATE_VALUE):
        return True
    if kind not in (Kinds.VAR, Kinds.PARM) or not _is_value(declaration):
        return False
    if declaration.type.get_canonical().kind in _ARRAYS:
        return True  # its address: what takes an element out of it is not plain
    attributes = {c._kind_id for c in children(declaration)}
    if declaration.type.get_canonical().is_const_qualified() or Kinds.CONSTANT_ATTR in attributes:
        return Kinds.SHARED_ATTR not in attributes
    local = declaration.linkage.value == _NO_LINKAGE and declaration.storage_class.value != _STATIC
    return kind == Kinds.PARM or (local and attributes.isdisjoint((Kinds.SHARED_ATTR, Kinds.DEVICE_ATTR)))
