"""Host expressions to values, with C's conversions, effects included.

Takes :class:`~analyzers.hostguide.tree.Node` trees and the current state, gives values; what has no meaning here
becomes a fresh symbol of its type. Calls are in ``calls``, statements in ``execute``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzers.frontend.cindex import Cursor, evaluate, initializer
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.conversions import Conversions
from analyzers.hostguide.hosttypes import (
    ArrayOf,
    HostType,
    PointerTo,
    ReferenceTo,
    promoted,
)
from analyzers.hostguide.library import device_property
from analyzers.hostguide.memory import Stop
from analyzers.hostguide.places import Frame, is_scalar, pointee_size, target_of
from analyzers.hostguide.tree import ANY_PART, Declaration, Node
from analyzers.hostguide.values import (
    ZERO,
    Address,
    Choice,
    Closure,
    FunctionValue,
    NoteSource,
    Null,
    Pointer,
    Record,
    State,
    Unknown,
    Value,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import BOOL, F64, FALSE, I64, TRUE, Expr, FloatType, IntType

ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "<<": "shl", ">>": "shr", "&": "and", "|": "or",
    "^": "xor",
}  # fmt: skip
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


class Evaluator(Conversions):
    """Symbolic values of host expressions in the current state and frame."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self.statement: Node | None = None
        """What is being executed: facts from inside an expression are cited as the whole statement."""
        self.read_as: dict[Expr, Cursor] = {}
        """The member of an unknown object that an integer was read from, where it was read first."""
        self.gives_properties = False
        """Whether host code writes to what a device property is read from."""
        self._rules: dict[str, Callable[[Node], Value]] = {
            "const": self._const,
            "real": self._real,
            "string": self._fresh,
            "null": self._null,
            "ref": self._ref,
            "fn": self._fn,
            "this": self._this,
            "member": self._member,
            "index": self._index,
            "deref": self._deref,
            "addr": self._addr,
            "unary": self._unary,
            "binary": self._binary,
            "assign": self._assign,
            "compound": self._compound,
            "step": self._step,
            "choose": self._choose,
            "cast": self._cast,
            "call": self._call,
            "method": self._call,
            "construct": self._call,
            "launch": self._launch,
            "list": self._list,
            "lambda": self._lambda,
            "new": self._new,
            "throw": self._throw,
            "body": self._body,
            "unknown": self._unknown,
        }
        self._constants: dict[Declaration, Value | None] = {}

    def call(self, node: Node) -> Value:
        raise NotImplementedError

    def launch(self, node: Node) -> Value:
        raise NotImplementedError

    def run_statement(self, node: Node) -> None:
        raise NotImplementedError

    def run_unknown(self, node: Node) -> None:
        raise NotImplementedError

    def evaluate(self, node: Node) -> Value:
        if node.effects and self.frame.pending:
            known = self.frame.pending.pop(id(node), None)
            if known is not None:
                return known
        return self._rules[node.op](node)

    def integer(self, node: Node, ty: IntType | None = None) -> Expr:
        """The value converted to an integer type, the node's own by default."""
        wanted = ty if ty is not None else node.ty if isinstance(node.ty, IntType) else I64
        return self.to_int(self.evaluate(node), wanted, "value")

    def condition(self, node: Node) -> Expr:
        """A branch condition as BOOL; one that cannot be expressed is a symbol of its own."""
        return self.truth(self.evaluate(node))

    def _const(self, node: Node) -> Value:
        assert isinstance(node.ty, IntType)
        return ex.const(node.value, node.ty)

    def _real(self, node: Node) -> Value:
        return ex.fconst(node.value, node.ty if isinstance(node.ty, FloatType) else F64)

    def _fresh(self, node: Node) -> Value:
        return self.fresh("value", node.ty)

    def _null(self, _node: Node) -> Value:
        return Null()

    def named_here(self, node: Node) -> None:
        """A function is named otherwise than to be called."""
        raise NotImplementedError

    def _fn(self, node: Node) -> Value:
        self.named_here(node)
        return FunctionValue(node.value, node.value.canonical.get_usr())

    def _this(self, _node: Node) -> Value:
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.this is not None:
                return frame.this
            if frame.enclosing is not None and frame.enclosing.by_reference("*this") is False:
                break  # a copy of the object
            frame = frame.enclosing.frame if frame.enclosing is not None else None
        self.frame.this = Pointer(self.number("this"), "this")
        return self.frame.this

    def _ref(self, node: Node) -> Value:
        declared: Declaration = node.value
        if declared.storage in ("global", "static", "field"):
            known = self._constant(declared)
            if known is not None:
                return known
        elif self.frame.enclosing is not None and declared not in self.frame.variables:
            return self._captured(declared)
        if declared.volatile:
            return self.fresh(declared.name, node.ty)
        place = self.place_of(declared)
        return self.typed(place, node) if place is not None else self.fresh(declared.name, node.ty)

    def _captured(self, declared: Declaration) -> Value:
        """A variable of the function around a lambda: as it is now, or as it was when the lambda was made."""
        inner = self.frame.enclosing
        made = inner.made.get(declared.name) if inner is not None else None
        if inner is not None and made is not None and self.find(declared) is None:
            written = self.writes_captured(inner, declared.name)
            return self.fresh(declared.name, declared.ty) if written else made
        place = self.place_of(declared)
        now = self.read(place, target_of(declared.ty)) if place is not None else None
        closure = self.frame.enclosing
        while closure is not None:
            variable = self.find(declared)
            then = closure.copies.get(variable) if variable is not None else None
            if isinstance(declared.ty, ReferenceTo):
                # The copy is one of what it refers to.
                then = closure.copies.get(then.variable) if isinstance(then, Address) and not then.path else None
            same = then is now or (not isinstance(then, Record) and then == now)
            if now is not None and same:
                return now
            by_reference = closure.by_reference(declared.name)
            if by_reference is False and then is not None:
                return then
            copied = by_reference is False and isinstance(declared.ty, ReferenceTo)
            if by_reference is None or now is None or copied:
                return self.fresh(declared.name, declared.ty)
            closure = closure.frame.enclosing
        assert now is not None
        return now

    def _constant(self, declared: Declaration) -> Value | None:
        """The value of a ``const`` or ``constexpr`` variable of namespace, class or static scope."""
        if declared in self._constants:
            return self._constants[declared]
        self._constants[declared] = None
        found: Value | None = None
        known = declared.const and declared.name not in self.builder.replaceable
        if known and not self.builder.sources.is_broken(declared.cursor):
            ty = declared.ty
            if isinstance(ty, IntType):
                value = evaluate(declared.cursor)
                found = ex.const(value, ty) if isinstance(value, int) else None
            if found is None:
                found = self._initialised(declared)
        self._constants[declared] = found
        return found

    def _initialised(self, declared: Declaration) -> Value | None:
        """What the initialiser gives when nothing else is known: it ran once, long ago, in an unknown state."""
        cursor = initializer(declared.cursor)
        if cursor is None:
            return None
        state, frame = self.state, self.frame
        self.state, self.frame = State({}, None, frozenset(), self.next_epoch()), Frame(None, None)
        try:
            return self.evaluate(self.builder.expression(cursor))
        except Stop:
            return None
        finally:
            self.state, self.frame = state, frame

    def _member(self, node: Node) -> Value:
        value = self._read_member(node)
        known = device_property(node)
        asked = isinstance(value, Expr) and self.part_of.get(value, (0, ""))[1] == node.value
        return known if known is not None and asked and not self.gives_properties else value

    def _read_member(self, node: Node) -> Value:
        place = self.place(node)
        if place is not None and ANY_PART not in place.path:
            value = self.typed(place, node)
            if isinstance(value, Expr):
                self._note_member(value, node)
            return self._first_element(place, value)
        inside = self._member_of_element(node) if isinstance(node.ty, PointerTo) and not node.volatile else None
        if inside is not None:
            return inside
        if place is not None:
            return self.typed(place, node)
        base = node.arg(0)
        if isinstance(base.ty, PointerTo) or base.op in ("this", "deref", "index"):
            pointer = base.arg(0) if base.op == "deref" else base
            through = isinstance(pointer.ty, PointerTo) and node.value != ANY_PART
            found = self._through_either(self.peek(pointer), node, (node.value,)) if through else None
            return found if found is not None else self.fresh(str(node.value), node.ty)
        return self.part(self.evaluate(base), node.value, node.ty, str(node.value))

    def _through_either(self, pointer: Value, node: Node, path: tuple[str | int, ...] = ()) -> Value | None:
        """What lies at a path in the one of several objects that a pointer points to; None where they are not
        known."""
        if isinstance(pointer, Choice):
            first, second = (self._through_either(p, node, path) for p in (pointer.first, pointer.second))
            if first is None or second is None:
                return None
            return self.combine(pointer.guard, first, second, str(node.value))
        outer = self.pointee(pointer) if path else self.pointee(pointer, node.ty)
        return self.typed(Address(outer.variable, (*outer.path, *path)), node) if outer is not None else None

    def _note_member(self, value: Expr, node: Node) -> None:
        for leaf in ex.symbols(value):
            if leaf not in self.read_as and self.part_of.get(leaf, (0, ""))[1] == node.value:
                self.read_as[leaf] = node.cursor

    def _member_of_element(self, node: Node) -> Value | None:
        """A pointer in ``p[i].field``: the same for the same index."""
        fields: list[str] = []
        base = node
        while base.op == "member" and base.value != ANY_PART:
            fields.append(base.value)
            base = base.arg(0)
        if base.op == "method":
            inside = self.inside_container(base)
            if inside is None:
                return None
            container, state, at, held = inside
            return self.element((container, *fields), state, at, node.ty, "element", held)
        if base.op != "index" or base.effects:
            return None
        if isinstance(base.arg(0).ty, ArrayOf):
            where = self._in_array(base)
            if where is None:
                return None
            array, held, at = where
            return self.element((array, *fields), held, at, node.ty, "element", held)
        start, index = self.evaluate(base.arg(0)), self.evaluate(base.arg(1))
        moved = self._moved(start, index, 1, pointee_size(base.arg(0).ty))
        if not isinstance(moved, Pointer):
            return None
        container = ("behind", moved.id, *fields)
        return self.element(container, self.state.epoch, moved.offset, node.ty, "element", Null())

    def _index(self, node: Node) -> Value:
        place = self._element(node)
        if place is None or ANY_PART in place.path or self._in_constant_table(node.arg(0)):
            chosen = self._any_element(node)
            if chosen is None and isinstance(node.ty, PointerTo) and not node.volatile:
                chosen = self._pointer_element(node)
            if chosen is not None or place is None or ANY_PART in place.path:
                return chosen if chosen is not None else self.fresh("element", node.ty)
        value = self._first_element(place, self.typed(place, node))
        if isinstance(value, Pointer) and isinstance(node.arg(0).ty, ArrayOf) and value.id not in self.elements:
            where = self._in_array(node)
            if where is not None and value.id not in self.pointers_in(where[1]):
                array, held, at = where
                self.enlist(value, array, held, at, held)
        return value

    def _in_constant_table(self, base: Node) -> bool:
        """Whether an array holds for good what it was initialised with."""
        return base.op == "ref" and base.value.storage in ("global", "static") and base.value.const

    def _in_array(self, node: Node) -> tuple[object, Value, Expr] | None:
        """(array, what it holds, index as if it had one dimension) of an element."""
        at = ex.const(0, I64)
        extent = 1
        while node.op == "index" and isinstance(node.arg(0).ty, ArrayOf):
            index = self.to_int(self.peek(node.arg(1)), I64, "index")
            at = ex.add(at, ex.mul(index, ex.const(extent, I64)))
            node = node.arg(0)
            if not isinstance(node.ty, ArrayOf) or node.ty.count is None:
                return None
            extent *= node.ty.count
        place = self.place(node)
        if place is None or ANY_PART in place.path:
            return None
        held = self.read(place, node.ty)
        known = isinstance(held, (Unknown, Record, Choice))
        return ((place.variable, place.path), held, at) if known else None

    def _pointer_element(self, node: Node) -> Value | None:
        """A pointer at an index that is not a known one."""
        base, index = node.arg(0), self._last_index
        if isinstance(base.ty, ArrayOf):
            where = self._in_array(node)
            if where is None:
                return None
            array, held, at = where
            return self.element(array, held, at, node.ty, "element", held)
        return self._loaded(self._moved(self.evaluate(base), index, 1, pointee_size(base.ty)), node)

    def _loaded(self, pointer: Value, node: Node) -> Value | None:
        """A pointer read through a pointer that does not point to the start of an object."""
        if not isinstance(pointer, Pointer) or node.volatile:
            return None
        first = self.pointee(Pointer(pointer.id, pointer.name), node.ty)
        assert first is not None
        held = self.state.store.get(first.variable, Null())
        return self.element(("behind", pointer.id), self.state.epoch, pointer.offset, node.ty, "element", held)

    def _first_element(self, place: Address, value: Value) -> Value:
        """What ``p[0]`` and ``*p`` give is one of the elements that ``p[i]`` gives; so with ``p->d`` and ``p[i].d``."""
        pointer = self.pointer_to.get(place.variable)
        if pointer is None or not isinstance(value, Pointer) or value.id in self.elements:
            return value
        start = self.known_initial(place.variable, self.state.epoch)
        untouched = value == start or (start is not None and self.state.store.get(place.variable) is start)
        if untouched and all(isinstance(key, str) for key in place.path):
            self.enlist(value, ("behind", pointer, *reversed(place.path)), self.state.epoch, ZERO, Null())
        return value

    def _any_element(self, node: Node) -> Value | None:
        """One of the elements of a short array, for tables of kernels indexed by a variable."""
        base = node.arg(0)
        if not isinstance(base.ty, ArrayOf) or base.ty.count is None or not 0 < base.ty.count <= 32:
            return None
        subscript = self._last_index
        held = self.evaluate(base)
        if not isinstance(held, Record) or len(held.parts) != base.ty.count:
            return None
        index = self.to_int(subscript, I64, "index")
        elements = [held.parts[n] for n in range(base.ty.count) if n in held.parts]
        if len(elements) != base.ty.count:
            return None
        chosen = elements[-1]
        for n in range(len(elements) - 2, -1, -1):
            chosen = self.combine(ex.compare("eq", index, ex.const(n, I64)), elements[n], chosen, "element")
        return chosen

    def _deref(self, node: Node) -> Value:
        pointer = self.evaluate(node.arg(0))
        if isinstance(pointer, (FunctionValue, Closure)):
            return pointer
        place = self.pointee(pointer, node.ty)
        if place is not None:
            return self._first_element(place, self.typed(place, node))
        found = self._through_either(pointer, node)
        if found is None and isinstance(node.ty, PointerTo):
            found = self._loaded(pointer, node)
        return found if found is not None else self.fresh("value", node.ty)

    def _addr(self, node: Node) -> Value:
        inner = node.arg(0)
        if inner.op == "index" and not isinstance(inner.arg(0).ty, ArrayOf):
            base, index = self.evaluate(inner.arg(0)), self.evaluate(inner.arg(1))
            return self._moved(base, index, 1, pointee_size(inner.arg(0).ty))
        if inner.op == "method" and not any(a is not None and a.effects for a in inner.args):
            inside = self.address_inside(inner)
            if inside is not None:
                return inside
        place = self.place(inner)
        if place is None:
            around = inner
            while around.op in ("member", "cast"):
                around = around.arg(0)
            if around.op in ("index", "deref") and not around.effects and not isinstance(around.arg(0).ty, ArrayOf):
                return self.related("address", self.evaluate(around.arg(0)))
            return self.fresh("address", node.ty)
        self.escape((place.variable,))
        return place

    def address_inside(self, node: Node) -> Value | None:
        """``&v[i]``, in terms of the data of ``v``; None where that has no meaning."""
        raise NotImplementedError

    def inside_container(self, node: Node) -> tuple[object, object, Expr, Value] | None:
        """(container, its state, index, what it holds) of ``v[i]``; None for any other method."""
        raise NotImplementedError

    def _unary(self, node: Node) -> Value:
        operator = node.value
        if operator == "!":
            return (
                ex.cast(ex.lnot(self.condition(node.arg(0))), node.ty)
                if isinstance(node.ty, IntType)
                else (self.fresh("value", node.ty))
            )
        value = self.evaluate(node.arg(0))
        if not isinstance(value, Expr) or not isinstance(value.ty, IntType):
            return value if operator == "+" else self.fresh("value", node.ty)
        value = ex.cast(value, promoted(value.ty))
        return ex.neg(value) if operator == "-" else ex.bitnot(value) if operator == "~" else value

    def _binary(self, node: Node) -> Value:
        operator = node.value
        if operator in ("&&", "||"):
            return self._short_circuit(node)
        if operator == ",":
            self.evaluate(node.arg(0))
            return self.evaluate(node.arg(1))
        left, right = self.evaluate(node.arg(0)), self.evaluate(node.arg(1))
        comparison = COMPARISONS.get(operator)
        if comparison is not None:
            return self.compared(comparison, left, right)
        arithmetic = ARITHMETIC.get(operator)
        if arithmetic is None:
            return self.fresh("value", node.ty)
        return self.arithmetic(arithmetic, left, right, node.ty, node)

    def _short_circuit(self, node: Node) -> Value:
        conjunction = node.value == "&&"
        left = self.condition(node.arg(0))
        if left is (FALSE if conjunction else TRUE):
            return left
        if not node.arg(1).effects:
            right = self.condition(node.arg(1))
            return self.bounded(ex.land(left, right) if conjunction else ex.lor(left, right), "condition")
        note = NoteSource("assert", self._cited(node), "statement")
        goes_on = left if conjunction else ex.lnot(left)

        def right_side() -> Value:
            return self.condition(node.arg(1))

        def skipped() -> Value:
            return FALSE if conjunction else TRUE

        return self.branch(goes_on, note, note, right_side, skipped, BOOL)

    def _choose(self, node: Node) -> Value:
        condition = self.condition(node.arg(0))
        note = NoteSource("assert", self._cited(node), "statement")
        first, second = node.arg(1), node.arg(2)
        if not first.effects and not second.effects:
            a, b = self.evaluate(first), self.evaluate(second)
            return self.combine(condition, a, b, "value")
        return self.branch(condition, note, note, lambda: self.evaluate(first), lambda: self.evaluate(second), node.ty)

    def branch(
        self,
        condition: Expr,
        yes: NoteSource,
        no: NoteSource,
        then: Callable[[], Value | None],
        orelse: Callable[[], Value | None],
        ty: HostType,
    ) -> Value:
        """Run both sides on states of their own and join them. Raises Stop when neither goes on."""
        before = self.state
        ends: list[tuple[State, Value | None]] = []
        for side, holds, note in ((then, condition, yes), (orelse, ex.lnot(condition), no)):
            self.state = before.copy()
            try:
                self.learn(holds, note)
                value = side()
                ends.append((self.state, value))
            except Stop:
                continue
        joined = self.join_all(ends)
        if joined is None:
            raise Stop
        self.state = joined[0]
        return joined[1] if joined[1] is not None else self.fresh("value", ty)

    def _cited(self, node: Node) -> Any:
        return self.statement.cursor if self.statement is not None else node.cursor

    def _cast(self, node: Node) -> Value:
        inner = node.arg(0)
        ty = node.ty
        if isinstance(inner.ty, ArrayOf) and isinstance(ty, PointerTo):
            place = self.place(inner)
            if place is not None:
                self.escape((place.variable,))
                return Address(place.variable, (*place.path, 0))
            return self.fresh("array", ty)
        value = self.evaluate(inner)
        return self.converted(value, ty)

    def _note_target(self, target: Node) -> None:
        """What the host writes to any object a device property is not that of a device any more, in any of them."""
        if target.op == "member" and device_property(target) is not None:
            self.gives_properties = True

    def _assign(self, node: Node) -> Value:
        self._note_target(node.arg(0))
        value = self.evaluate(node.arg(1))
        ty = node.arg(0).ty
        value = self.converted(value, ty)
        place = self.place(node.arg(0))
        if place is None or place.variable.outside:
            self.unfollowed(value)
        if place is None:
            self.given(value)
        self.write(place, value, scalar=is_scalar(ty))
        return value

    def _compound(self, node: Node) -> Value:
        target = node.arg(0)
        self._note_target(target)
        operand = self.evaluate(node.arg(1))
        place = self.place(target)
        old = self._before(place, target)
        value = self.arithmetic(ARITHMETIC.get(node.value, "?"), old, operand, target.ty, node)
        value = self.converted(value, target.ty)
        self.write(place, value, scalar=is_scalar(target.ty))
        return value

    def _step(self, node: Node) -> Value:
        target = node.arg(0)
        self._note_target(target)
        place = self.place(target)
        old = self._before(place, target)
        operator = "sub" if "--" in node.value else "add"
        new = self.converted(self.arithmetic(operator, old, ex.const(1), target.ty, node), target.ty)
        self.write(place, new, scalar=is_scalar(target.ty))
        return old if node.value.startswith("post") else new

    def _before(self, place: Address | None, target: Node) -> Value:
        """The value that an update starts from."""
        if place is None or target.volatile:
            return self.fresh("value", target.ty)
        return self.read(place, target.ty)

    def _throw(self, node: Node) -> Value:
        for a in node.args:
            if a is not None:
                self.evaluate(a)
        raise Stop

    def _body(self, node: Node) -> Value:
        """A statement expression: the value of its last statement."""
        value: Value | None = None
        pending, self.frame.pending = self.frame.pending, {}
        temporaries, self.frame.temporaries = self.frame.temporaries, []
        for part in node.args:
            if part is None:
                continue
            statements = part.args if part.op == "block" else (part,)
            for index, statement in enumerate(statements):
                if statement is None:
                    continue
                if index == len(statements) - 1 and is_expression(statement):
                    value = self.evaluate(statement)
                else:
                    self.run_statement(statement)
        self.frame.pending = pending
        self.frame.temporaries += temporaries
        return value if value is not None else self.fresh("value", node.ty)

    def _unknown(self, node: Node) -> Value:
        if node.args and node.effects:
            pending, self.frame.pending = self.frame.pending, {}
            self.run_unknown(node)
            self.frame.pending = pending
        return self.fresh("value", node.ty)

    def _call(self, node: Node) -> Value:
        return self.call(node)

    def _launch(self, node: Node) -> Value:
        return self.launch(node)


_STATEMENTS = frozenset(
    {
        "block", "declare", "if", "for", "while", "do", "each", "switch", "case", "default", "break", "continue",
        "return", "goto", "label", "try", "lost", "empty",
    }
)  # fmt: skip


def is_expression(node: Node) -> bool:
    return node.op not in _STATEMENTS
