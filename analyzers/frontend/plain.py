"""Which expressions may be evaluated once more, or by more threads, and nobody would know: they compute with numbers of
the thread.

Takes cursors; an expression is *plain* when it calls nothing, changes nothing, and reads literals, constants and
variables that no other thread can reach. What the tree does not show is not plain.
"""

from __future__ import annotations

from typing import Any, Final

from analyzers.frontend.cindex import TypeKind, binary_operator, children, referenced, unary_operator
from analyzers.frontend.lowering.nodes import Kinds

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


def is_plain(expression: Any) -> bool:
    """Whether an expression is; see the module."""
    kind: int = expression._kind_id
    if kind in _LITERALS:
        return True
    parts = [c for c in children(expression) if c._kind_id not in _REFERENCES]
    if kind == Kinds.DECL_REF:
        return _is_own(referenced(expression))
    if kind == Kinds.MEMBER:
        field = referenced(expression)
        own = len(parts) == 1 and not _is_pointer(parts[0]) and field is not None and _is_value(field)
        return own and is_plain(parts[0])
    if kind == Kinds.UNARY and unary_operator(expression) not in ("+", "-", "~", "!"):
        return False
    if kind == Kinds.BINARY and (binary_operator(expression).endswith("=") and not _compares(expression)):
        return False
    if kind == Kinds.BINARY and binary_operator(expression) in (",", ""):
        return False
    return kind in (*_WRAPPERS, Kinds.UNARY, Kinds.BINARY) and bool(parts) and all(map(is_plain, parts))


def is_plain_step(expression: Any) -> bool:
    """Whether an expression steps one variable of the thread by something plain: `i++`, `i += n`."""
    parts = children(expression)
    kind: int = expression._kind_id
    if kind == Kinds.UNARY:
        return unary_operator(expression).endswith(("++", "--")) and is_plain(parts[0])
    if kind == Kinds.COMPOUND_ASSIGN or (kind == Kinds.BINARY and binary_operator(expression) == "="):
        return len(parts) == 2 and all(map(is_plain, parts))
    return False


def _compares(expression: Any) -> bool:
    return binary_operator(expression) in ("==", "!=", "<=", ">=")


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
