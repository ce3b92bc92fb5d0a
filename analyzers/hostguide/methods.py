"""Methods and constructors in host code: of the unit's classes, run in place, and of library classes."""

from __future__ import annotations

from analyzers.frontend.cindex import Cursor
from analyzers.hostguide.build import is_written_by_compiler
from analyzers.hostguide.calls import Caller
from analyzers.hostguide.hosttypes import OTHER, ArrayOf, HostType, PointerTo, RecordType
from analyzers.hostguide.implicit import base_type
from analyzers.hostguide.implicit_copies import copies_members
from analyzers.hostguide.library import (
    PURE_METHODS,
    VECTOR_TYPES,
    construct_known,
    known_method,
)
from analyzers.hostguide.memory import Stop, alternatives
from analyzers.hostguide.tree import ANY_PART, Node
from analyzers.hostguide.values import (
    Address,
    Choice,
    Closure,
    Pointer,
    Record,
    Unknown,
    Value,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import I64, U32, Expr, FloatType, IntType

_CONCURRENT = frozenset(
    {
        "thread",
        "jthread",
        "future",
        "shared_future",
        "condition_variable",
        "packaged_task",
        "promise",
        "latch",
        "barrier",
    }
)
"""Their methods wait for code that ran meanwhile."""


class MethodCaller(Caller):
    """Methods and constructors."""

    def call_method(self, node: Node) -> Value:
        target: Cursor = node.value
        name = target.spelling
        base = node.arg(0)
        arguments = tuple(a for a in node.args[1:] if a is not None)
        place, held = self._object(base)
        if name == "operator()":
            leaves = alternatives(held)
            if len(leaves) == 1 and isinstance(leaves[0][1], Closure):
                body = target if target.get_definition() is not None and not self.bundled(target) else None
                return self.run_closure(leaves[0][1], list(arguments), node, body)
        for _, leaf in alternatives(held):
            if isinstance(leaf, Closure):
                self.unfollowed(leaf)  # it becomes a pointer to a function
        if not self.bundled(target) and self.never_returns(target):
            for a in arguments:
                self.evaluate(a)
            raise Stop
        function = None if self.bundled(target) else self.builder.function(target)
        receiver = place.variable if place is not None else None
        before = self.state.copy()
        if function is not None and not target.is_virtual_method() and self.may_run(function):
            this = place if place is not None else self._temporary(held, base.ty)
            result = self.run_function(function, arguments, this, node)
            self.keep_members(function, receiver, before)
            return result
        if name == "operator=" and len(arguments) == 1 and self._assigns_members(target):
            result = self._assigned(node, place, arguments[0])
            self.run_implied(self.copied_by(node))
            return result
        if self.bundled(target):
            return self._library_method(node, target, place, held, arguments)
        self.unfollowed(held)
        same = place is not None and not arguments and (self.keeps_object(target) or name in PURE_METHODS)
        if place is not None:
            if not self.keeps_object(target):
                self.forget(place)
            self.escape((place.variable,))
        result = self.unknown_call(node, target, arguments)
        certain = not target.is_virtual_method() and name not in self.builder.replaceable
        self.keep_members(function if certain else None, receiver, before)
        if same and place is not None and isinstance(result, Pointer):
            # A getter gives what it gave before, as far as anybody can tell from here.
            self.origins[result.id] = self.token((place.variable, place.path, name))
        return result

    def _object(self, base: Node) -> tuple[Address | None, Value]:
        if base.op == "this" or isinstance(base.ty, PointerTo):
            pointer = self.evaluate(base)
            place = self.pointee(pointer)
            ty = base.ty.target if isinstance(base.ty, PointerTo) else OTHER
            return place, self.read(place, ty) if place is not None else self.fresh("object", ty)
        place = self.place(base)
        if place is None:
            return None, self.evaluate(base)
        return place, self.evaluate(base) if base.op == "ref" else self.read(place, base.ty)

    def _temporary(self, value: Value, ty: HostType) -> Address:
        made = self.new_variable("temporary", ty)
        self.state.store[made] = value
        return Address(made)

    def _assigns_members(self, target: Cursor) -> bool:
        if self.bundled(target) or target.semantic_parent is None:
            return True
        return copies_members(target, target.semantic_parent.type)

    def _assigned(self, node: Node, place: Address | None, argument: Node) -> Value:
        value = self.evaluate(argument)
        if argument.ty != node.arg(0).ty and not isinstance(value, (Record, Closure)):
            value = self.fresh("value", node.arg(0).ty)
        self.write(place, value)
        return value

    def _library_method(
        self, node: Node, target: Cursor, place: Address | None, held: Value, arguments: tuple[Node, ...]
    ) -> Value:
        name = target.spelling
        if (
            name in PURE_METHODS
            and not any(a.effects for a in arguments)
            and isinstance(held, (Unknown, Record, Choice))
        ):
            values = tuple(self.evaluate(a) for a in arguments)
            result = known_method(self, node, held, name, values)
            if result is not None:
                return result
        inside = self.inside_container(node) if isinstance(node.ty, PointerTo) else None
        if inside is not None:
            container, state, at, _ = inside
            return self.element(container, state, at, node.ty, "element", held)
        if self.holds_references(node.arg(0)):
            for argument in arguments:
                self.escape(self.named_in(argument))
        added = [self.evaluate(a) for a in arguments if isinstance(a.ty, PointerTo) and not a.effects]
        result = self.unknown_call(node, target, arguments, harmless=not self.runs_held_code(target))
        if place is not None and not self.keeps_object(target):
            self.forget(place)
            now = self.state.store.get(place.variable)
            if isinstance(now, Unknown) and not place.path:
                self.now_holds(now, held, added)
        owner = base_type(node)
        if isinstance(owner, RecordType) and owner.head in _CONCURRENT:
            self.forget_outside()
        if name.endswith("_"):
            self.shapes += 1  # a tensor is a handle: other handles of it see the new shape
        return result

    def address_inside(self, node: Node) -> Value | None:
        target: Cursor = node.value
        if target.spelling not in ("operator[]", "at", "front") or not self.bundled(target) or len(node.args) > 2:
            return None
        _, held = self._object(node.arg(0))
        if not isinstance(held, (Unknown, Record)):
            return None
        start = known_method(self, node, held, "data", ())
        if start is None or len(node.args) < 2:
            return start
        index = self.evaluate(node.arg(1))
        ty = node.ty
        size = ty.width // 8 if isinstance(ty, (IntType, FloatType)) else None
        return self._moved(start, index, 1, size) if isinstance(index, Expr) else None

    def inside_container(self, node: Node) -> tuple[object, object, Expr, Value] | None:
        target: Cursor = node.value
        if target.spelling not in ("operator[]", "at") or len(node.args) != 2 or not self.bundled(target):
            return None
        if any(a is not None and a.effects for a in node.args):
            return None
        place, held = self._object(node.arg(0))
        index = self.evaluate(node.arg(1))
        if not isinstance(index, Expr):
            return None
        found = self.contents(place, held)
        return (*found, self.to_int(index, I64, "index"), held) if found is not None else None

    def contents(self, place: Address | None, held: Value) -> tuple[object, object] | None:
        """What identifies the elements of a library container."""
        if not isinstance(held, (Unknown, Record)):
            return None
        return place.variable if place is not None else held, (held, self.state.epoch, self.shapes)

    def construct(self, node: Node) -> Value:
        arguments = tuple(a for a in node.args if a is not None)
        ty = node.ty
        head = ty.head if isinstance(ty, RecordType) else ""
        target: Cursor = node.value
        if head in VECTOR_TYPES:
            return self._vector(node, arguments)
        copies = len(arguments) == 1 and arguments[0].ty == ty
        self.run_implied(self.parts(node)[1])
        if copies and (self.bundled(target) or copies_members(target, node.cursor.type)):
            self.elide(arguments[0])
            return self.evaluate(arguments[0])
        if self.bundled(target):
            return self._library_object(node, target, arguments)
        function = self.builder.function(target)
        made = self.new_variable("object", ty)
        blank = Unknown(self.number("object"), "object", ty)
        self.state.store[made] = blank
        if isinstance(ty, RecordType) and (function is not None or is_written_by_compiler(target)):
            defaults = {key: value for key, value in self.defaults(node.cursor.type).items() if value is not None}
            if defaults:
                self.state.store[made] = Record(defaults, blank)
        before = self.state.copy()
        if function is not None:
            if self.may_run(function):
                # One run stands for those of all elements of an array.
                this = Address(made, (ANY_PART,)) if isinstance(ty, ArrayOf) else Address(made)
                self.run_function(function, arguments, this, node)
                self.keep_members(function, made, before)
                if made in self.state.escaped:
                    self.told[id(node)] = made
                    return self.state.store[made]
                return self.state.store.pop(made)
            self.unknown_call(node, target, arguments)
            self.keep_members(function, None, before)
        elif not arguments:
            # An implicit default constructor: other members keep what they are, which is unknown.
            return self.state.store.pop(made)
        else:
            self.unknown_call(node, target, arguments)
        return self.fresh("object", ty)

    def construct_base(self, node: Node, this: Value | None) -> None:
        """A constructor runs that of a base, or another one of its class, for the object it makes."""
        if node.op != "construct" or not isinstance(this, Address):
            self.elide(node)
            self.evaluate(node)
            if isinstance(this, Address):
                self.forget(this)
            return
        self.run_implied(self.parts(node)[1])
        arguments = tuple(a for a in node.args if a is not None)
        function = None if self.bundled(node.value) else self.builder.function(node.value)
        before = self.state.copy()
        if function is not None and self.may_run(function):
            self.run_function(function, arguments, this, node)
            self.keep_members(function, this.variable, before)
            return
        if function is None and not arguments and is_written_by_compiler(node.value):
            return
        self.unknown_call(node, node.value, arguments, harmless=self.bundled(node.value))
        self.keep_members(function, this.variable, before)
        self.forget(this)

    def _vector(self, node: Node, arguments: tuple[Node, ...]) -> Value:
        values = [self.evaluate(a) for a in arguments]
        if len(values) == 1 and not isinstance(values[0], Expr):
            return values[0]
        names = "xyzw"
        parts: dict[str | int, Value] = {}
        for index, value in enumerate(values[:4]):
            parts[names[index]] = value
        if isinstance(node.ty, RecordType) and node.ty.head == "dim3":
            parts = {axis: parts.get(axis, ex.const(1, U32)) for axis in "xyz"}
        return Record(parts, Unknown(self.number("dim3"), "dim3", node.ty))

    def _library_object(self, node: Node, target: Cursor, arguments: tuple[Node, ...]) -> Value:
        if self.holds_references(node):
            for argument in arguments:
                self.escape(self.named_in(argument))
        values = [self.evaluate(a) for a in arguments]
        made = construct_known(self, node, values)
        if made is not None:
            return made
        for index, (argument, value) in enumerate(zip(arguments, values, strict=True)):
            self._handed_over(argument, value, self.parameter(target, index), True, target)
        return self.fresh(node.ty.head if isinstance(node.ty, RecordType) else "object", node.ty)
