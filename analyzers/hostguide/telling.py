"""Whether objects of a class give their address to others while they are made.

An object that registers itself, in its constructor or in that of a base or member, is known to others from then on, and
code that it is never handed to may change it. Takes clang's types; looks at the code of constructors and of members'
initialisers. What is not in sight may give the address away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzers.frontend import cindex
from analyzers.frontend.cindex import CursorKind, TypeKind
from analyzers.hostguide.build import TreeBuilder, is_written_by_compiler
from analyzers.hostguide.hosttypes import ArrayOf, PointerTo, RecordType, ReferenceTo
from analyzers.hostguide.tree import HostFunction, Node, identity, names_this

_ARRAYS = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY)
_INSIDE = frozenset({"array", "pair", "tuple", "optional", "variant"})
"""Library classes that hold objects of the types they are a template of in themselves."""


class Telling:
    """Answers for classes and member functions, each found once."""

    def __init__(self, builder: TreeBuilder, bundled: Callable[[Any], bool]) -> None:
        """``bundled``: whether a declaration stands in a bundled header."""
        self._builder = builder
        self._bundled = bundled
        self._types: dict[str, bool] = {}
        self._functions: dict[int, bool] = {}

    def of_type(self, ty: Any) -> bool:
        """Whether making an object of a type may tell others where it is."""
        ty = ty.get_canonical()
        while ty.kind in _ARRAYS:
            ty = ty.element_type.get_canonical()
        if ty.kind != TypeKind.RECORD:
            return False
        key = ty.spelling.removeprefix("const ").removeprefix("volatile ")
        found = self._types.get(key)
        if found is None:
            self._types[key] = False  # ends a recursion
            found = self._types[key] = self._of_class(ty)
        return found

    def _of_class(self, ty: Any) -> bool:
        declaration = ty.get_declaration()
        if self._bundled(declaration):
            count = max(0, ty.get_num_template_arguments()) if declaration.spelling in _INSIDE else 0
            return any(self.of_type(ty.get_template_argument_type(n)) for n in range(count))
        for member in cindex.class_members(declaration):
            kind = member.kind
            if kind == CursorKind.CONSTRUCTOR and not is_written_by_compiler(member) and self.by(member):
                return True
            if kind == CursorKind.FUNCTION_TEMPLATE and member.spelling.partition("<")[0] == declaration.spelling:
                return True
            if kind == CursorKind.CXX_BASE_SPECIFIER:
                base = member.type.get_canonical()
                if base.kind != TypeKind.RECORD or self.of_type(base):
                    return True
            given = (
                [c for c in member.get_children() if c.kind.is_expression()] if kind == CursorKind.FIELD_DECL else []
            )
            if any(self._leads_out(self._builder.expression(c)) for c in given):
                return True
        return any(self.of_type(field.type) for field in ty.get_fields())

    def by(self, target: Any) -> bool:
        """Whether a member function may tell others where its object is, or a part of that."""
        key = identity(target)
        found = self._functions.get(key)
        if found is None:
            self._functions[key] = False  # ends a recursion
            function = None if target.is_deleted_method() else self._builder.function(target)
            found = function is None and not target.is_deleted_method()
            found = self._functions[key] = found or (function is not None and self._by_body(function))
        return found

    def _by_body(self, function: HostFunction) -> bool:
        given = (value for _, ty, value in function.initialisers if not isinstance(ty, ReferenceTo))
        bound = (value for _, ty, value in function.initialisers if isinstance(ty, ReferenceTo))
        return (
            any(self._leads_out(node) for node in (function.body, *function.bases, *given))
            or any(_is_part(node) or self._leads_out(node) for node in bound)
        )  # fmt: skip

    def _leads_out(self, node: Node) -> bool:
        """Whether code may keep the address of the object that it runs for, or of a part of it."""
        op = node.op
        if op in ("this", "lost"):
            return True
        if op == "lambda":
            inner = self._builder.lambda_body(node.cursor)
            return inner is None or names_this(inner.body)
        if op == "member" and node.arg(0).op == "this":
            return False
        parts = [a for a in node.args if a is not None]
        if op == "addr" or (op == "declare" and isinstance(node.value.ty, ReferenceTo)):
            return any(_is_part(a) or self._leads_out(a) for a in parts)
        if op == "cast" and isinstance(node.ty, PointerTo) and isinstance(node.arg(0).ty, ArrayOf):
            return _is_part(node.arg(0)) or self._leads_out(node.arg(0))
        if op == "assign" and _is_whole(node.arg(0)):
            return self._leads_out(node.arg(1))
        if op in ("call", "construct", "method"):
            return self._by_call(node, parts)
        return any(self._leads_out(a) for a in parts)

    def _by_call(self, node: Node, parts: list[Node]) -> bool:
        target = node.value
        if target is None:
            return any(_is_part(a) or self._leads_out(a) for a in parts)
        bundled = self._bundled(target)
        if node.op == "method":
            base, *parts = parts
            if _is_whole(base) or _is_part(base):
                if not bundled and self.by(target):
                    return True
            elif self._leads_out(base):
                return True
        if bundled and node.op == "call" and not isinstance(node.ty, RecordType):
            # The C library and the runtime use addresses while they are called; objects keep them.
            parts = [a for a in map(_pointed, parts) if not (_is_whole(a) or _is_part(a))]
        return any((not bundled and _is_part(a)) or self._leads_out(a) for a in parts)


def _is_whole(node: Node) -> bool:
    return node.op == "this" or (node.op == "deref" and node.arg(0).op == "this")


def _is_part(node: Node) -> bool:
    """Whether an expression names a member of the object, an element of one, and so on."""
    depth = 0
    while node.op in ("member", "index", "cast"):
        if node.op == "member" and isinstance(node.arg(0).ty, PointerTo) and node.arg(0).op != "this":
            return False
        if node.op == "index" and not isinstance(node.arg(0).ty, ArrayOf):
            return False
        depth += 1
        node = node.arg(0)
    return depth > 0 and _is_whole(node)


def _pointed(argument: Node) -> Node:
    """What an argument points to, where that shows."""
    while argument.op in ("cast", "addr"):
        argument = argument.arg(0)
    return argument
