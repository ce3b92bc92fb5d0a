"""Objects that host expressions make: initialiser lists, ``new``, lambdas."""

from __future__ import annotations

import re
from collections.abc import Callable

from analyzers.frontend import cindex
from analyzers.frontend.captures import THIS, Capture, captures
from analyzers.frontend.cindex import Cursor, CursorKind, Type, TypeKind
from analyzers.hostguide.hosttypes import (
    OTHER,
    ArrayOf,
    HostType,
    PointerTo,
    RecordType,
    ReferenceTo,
)
from analyzers.hostguide.places import Frame, Places, pointee_size
from analyzers.hostguide.source import extent
from analyzers.hostguide.specials import Run
from analyzers.hostguide.tree import Declaration, Node
from analyzers.hostguide.values import (
    Closure,
    FunctionValue,
    NoteSource,
    Pointer,
    Record,
    Unknown,
    Value,
    Variable,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import I64, Expr, FloatType, IntType

_PLACED = re.compile(r"(?:::\s*)?new\s*\(")
"""An object is made where others may lie."""
_LITERALS = frozenset({CursorKind.INTEGER_LITERAL, CursorKind.CXX_BOOL_LITERAL_EXPR})


class Makers(Places):
    """Objects that expressions make."""

    def converted(self, value: Value, ty: HostType) -> Value:
        raise NotImplementedError

    def unfollowed(self, value: Value, seen: frozenset[Variable] = frozenset(), later: bool = True) -> None:
        """A function or closure goes where its calls cannot be seen, by itself or in an object. ``later``: it may be
        kept there, and called after what follows here."""
        raise NotImplementedError

    def elide(self, node: Node | None) -> None:
        """The object that an expression gives is no temporary."""
        raise NotImplementedError

    def _list(self, node: Node) -> Value:
        """An initialiser list. libclang shows it as written: members are converted here, those left out are zero."""
        ty = node.ty
        nodes = [a for a in node.args if a is not None]
        if isinstance(ty, (IntType, FloatType, PointerTo)):
            if nodes:
                return self.converted(self.evaluate(nodes[0]), ty)
            return ex.const(0, ty) if isinstance(ty, IntType) else self.fresh("value", ty)
        parts: dict[str | int, Value] = {}
        members = self._members(node, len(nodes))
        for index, item in enumerate(nodes):
            key, member = members[index] if index < len(members) else (index, OTHER)
            if not isinstance(member, ReferenceTo):
                self.elide(item)
            parts[key] = self.bound_member(item, member)
        defaults = self.defaults(node.cursor.type) if isinstance(ty, RecordType) and len(members) > len(nodes) else {}
        for key, member in members[len(nodes) :]:
            if key in defaults:
                known = defaults[key]
                if known is not None:
                    parts[key] = known
            elif isinstance(member, IntType) and key not in parts:
                parts[key] = ex.const(0, member)
        return Record(parts, Unknown(self.number("aggregate"), "aggregate", ty))

    def bound_member(self, item: Node, member: HostType) -> Value:
        """The initial value of a member: for a reference, the address of what it refers to."""
        if isinstance(item.ty, ArrayOf) and not isinstance(member, (ArrayOf, ReferenceTo)):
            # The member points to the elements from now on.
            array = self.place(item)
            if array is not None:
                self.escape((array.variable,))
            return self.fresh("elements", member)
        if not isinstance(member, ReferenceTo):
            value = self.evaluate(item)
            if isinstance(value, (Closure, FunctionValue)) and isinstance(member, RecordType) and item.ty != member:
                self.unfollowed(value)  # a library object holds it
                self.given(value)
                return self.fresh("object", member)
            return self.converted(value, member)
        place = self.place(item)
        if place is None:
            return self.fresh("reference", PointerTo(member.target, None, member.const))
        self.escape((place.variable,))
        return place

    def _members(self, node: Node, count: int) -> list[tuple[str | int, HostType]]:
        """Names and types of the members that a list initialises, in order; empty where they cannot be told."""
        ty = node.ty
        if isinstance(ty, ArrayOf):
            length = ty.count if ty.count is not None and ty.count <= 64 else count
            return [(n, ty.element) for n in range(max(length, count))]
        if not isinstance(ty, RecordType):
            return []
        declaration = node.cursor.type.get_canonical().get_declaration()
        children = cindex.class_members(declaration)
        if any(c.kind == CursorKind.CXX_BASE_SPECIFIER for c in children):
            return []
        if declaration.kind == CursorKind.UNION_DECL:
            return []
        fields = [c for c in children if c.kind == CursorKind.FIELD_DECL]
        types = {f.spelling: self.builder.types.of(f.type) for f in node.cursor.type.get_canonical().get_fields()}
        if node.value:
            named = list(node.value)
            rest = [n for n in types if n not in named]
            return [(n, types.get(n, OTHER)) for n in [*named, *rest]]
        return [(f.spelling, types.get(f.spelling, OTHER)) for f in fields]

    def defaults(self, ty: Type) -> dict[str | int, Value | None]:
        """The members of a class with an initialiser of their own; its value where that is a number, else None."""
        declaration = ty.get_canonical().get_declaration()
        instance = not cindex.children(declaration)
        types = {f.spelling: self.builder.types.of(f.type) for f in ty.get_canonical().get_fields()}
        found: dict[str | int, Value | None] = {}
        for field in cindex.class_members(declaration):
            parts = [c for c in field.get_children() if c.kind.is_expression()]
            if field.kind != CursorKind.FIELD_DECL or not parts:
                continue
            member = types.get(field.spelling, OTHER)
            # What stands in a template may depend on its parameters: libclang evaluates nothing of that kind.
            plain = len(parts) == 1 and not field.is_bitfield() and (not instance or parts[0].kind in _LITERALS)
            value = cindex.evaluate(parts[0]) if plain and isinstance(member, IntType) else None
            found[field.spelling] = None
            if isinstance(value, int) and abs(value) < 1 << 62:
                found[field.spelling] = self.converted(ex.const(value, I64), member)
        return found

    def _new(self, node: Node) -> Value:
        for item in node.args:
            self.elide(item)
        values = [self.evaluate(a) for a in node.args if a is not None]
        made = Pointer(self.number("new"), "new")
        self.allocations.add(made.id)
        pointee = node.ty.target if isinstance(node.ty, PointerTo) else OTHER
        path, start, end = extent(node.cursor)
        if _PLACED.match(self.builder.sources.slice(path, start, end)) is not None:
            for value in values[: -1 if len(values) > 1 else None]:
                self.forget_behind(value)
        is_array = "[" in self.builder.sources.slice(path, start, end)
        if is_array and values and isinstance(values[0], Expr) and isinstance(values[0].ty, IntType):
            count = values[0]
            note = NoteSource("allocation", node.cursor)
            self.learn(ex.compare("le", ex.const(0, I64), ex.cast(count, I64)), note)
            inner = count.args[0] if count.op == "cast" else count
            if isinstance(inner.ty, IntType) and inner.ty.signed:
                self.learn(ex.compare("le", ex.const(0, inner.ty), inner), note)
            size = pointee_size(node.ty)
            if size is not None:
                return Pointer(made.id, "new", made.offset, ex.mul(ex.cast(count, I64), ex.const(size, I64)))
        elif values and not is_array and not isinstance(pointee, (IntType, FloatType)):
            place = self.pointee(made, pointee)
            if place is not None:
                self.state.store[place.variable] = values[-1]
        return made

    def _lambda(self, node: Node) -> Value:
        path, start, end = extent(node.cursor)
        text = self.builder.sources.text(path)[start:end]
        made: dict[str, Value] = {}
        if self.builder.refers_anew(node.cursor):
            self.forget_words(node.cursor)
        for child in node.cursor.get_children():
            variable = child.referenced if child.kind == CursorKind.VARIABLE_REF else None
            init = cindex.initializer(variable) if variable is not None else None
            if variable is None or init is None or self.find(self.builder.declaration(variable)) is not None:
                continue
            ty = self.builder.declaration(variable).ty
            if not isinstance(ty, ReferenceTo):
                made[variable.spelling] = self.converted(self.evaluate(self.builder.expression(init)), ty)
        return Closure(node.cursor, self.frame, dict(self.state.store), capture_modes(text, node.cursor), made)

    def carried(self, value: Value) -> Value:
        """A value as a kernel gets it: a lambda as an object with its captures for parts."""
        if isinstance(value, Record):
            parts = {key: self.carried(part) for key, part in value.parts.items()}
            changed = any(parts[key] is not part for key, part in value.parts.items())
            return Record(parts, value.base) if changed else value
        if not isinstance(value, Closure):
            return value
        ty = self.builder.types.of(value.cursor.type)
        held = {c.name: self._held(value, c) for c in captures(value.cursor.type) or ()}
        return Record(
            {name: part for name, part in held.items() if part is not None},
            Unknown(self.number("lambda"), "lambda", ty),
        )

    def _held(self, closure: Closure, capture: Capture) -> Value | None:
        """What a lambda holds for one capture; any value where that is not known, None for a copy of `*this`."""
        ty = self.builder.types.of(capture.field.type)
        if capture.name == THIS:
            frame: Frame | None = closure.frame
            while frame is not None and frame.this is None:
                frame = frame.enclosing.frame if frame.enclosing is not None else None
            known = frame.this if frame is not None and isinstance(ty, PointerTo) else None
            return known if known is not None or not isinstance(ty, PointerTo) else self.fresh(THIS, ty)
        held = self._captured_copy(closure, capture)
        return self.carried(held) if held is not None else self.fresh(capture.name, ty)

    def _captured_copy(self, closure: Closure, capture: Capture) -> Value | None:
        if capture.variable is None or self.writes_captured(closure, capture.name):
            return None
        if self.copied_object(self.builder.declaration(capture.variable)):
            return None
        made = closure.made.get(capture.name)
        if made is not None:
            return made
        outer = self.frame
        self.frame = closure.frame
        variable = self.find(self.builder.declaration(capture.variable))
        self.frame = outer
        return closure.copies.get(variable) if variable is not None else None

    def copied_object(self, declared: Declaration) -> Run:
        """What a copy of a variable runs."""
        raise NotImplementedError

    def forget_words(self, cursor: Cursor) -> None:
        """Whatever has a name that stands in some code may be written by it, now and at any later time."""
        raise NotImplementedError

    def writes_captured(self, closure: Closure, name: str) -> bool:
        """Whether the body of a lambda writes what it captured under a name, so that calls change what it holds."""
        raise NotImplementedError


def capture_modes(text: bytes, cursor: Cursor) -> Callable[[str], bool | None]:
    """How the lambda written ``text`` captures a name: True by reference, False by copy, None: cannot be told."""
    if not text.startswith(b"["):
        return _modes_of_class(cursor.type)
    inside = text[1 : text.find(b"]")].decode("utf-8", "replace")
    parts = [part.strip() for part in inside.split(",") if part.strip()]
    default = True if "&" in parts else False if "=" in parts else None

    def mode(name: str) -> bool | None:
        if name == "*this":
            return name not in parts
        if f"&{name}" in parts:
            return True
        if name in parts:
            return False
        return None if any(part.startswith((f"{name}=", f"{name} ")) for part in parts) else default

    return mode


def _modes_of_class(ty: Type) -> Callable[[str], bool | None]:
    """The same by the data members of the lambda's class, where the text is that of a macro."""
    held = captures(ty)
    if held is None:
        # What is captured by copy, or `this`, is no reference.
        kinds = [field.type.kind for field in ty.get_fields()]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]
        by_reference = bool(kinds) and all(kind == TypeKind.LVALUEREFERENCE for kind in kinds)
        return lambda _name: True if by_reference else None
    modes = {c.name: c.field.type.kind == TypeKind.LVALUEREFERENCE for c in held if c.name != THIS}
    around = next((c.field.type.kind == TypeKind.POINTER for c in held if c.name == THIS), None)
    default = True if modes and all(modes.values()) else None
    return lambda name: around if name == "*this" else modes.get(name, default)
