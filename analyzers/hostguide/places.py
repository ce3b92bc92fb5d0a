"""Where host variables and lvalues lie: frames of activations, variables by name, places of expressions.

The layer between ``memory``, which knows no names, and ``evaluate``, which knows all expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.frontend.parse import is_bundled
from analyzers.hostguide.build import TreeBuilder
from analyzers.hostguide.build_expressions import OBJECT
from analyzers.hostguide.declared import FUNCTIONS
from analyzers.hostguide.hosttypes import (
    OTHER,
    ArrayOf,
    HostType,
    PointerTo,
    RecordType,
    ReferenceTo,
)
from analyzers.hostguide.memory import Memory
from analyzers.hostguide.specials import Run
from analyzers.hostguide.tree import ANY_PART, Declaration, HostFunction, Node
from analyzers.hostguide.values import (
    Address,
    Choice,
    Closure,
    Pointer,
    State,
    Value,
    Variable,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import I64, TRUE, Expr, FloatType, IntType

SAME_OBJECT = frozenset({"move", "forward", "as_const", "move_if_noexcept"})
"""Library functions that give the object which they are given."""

_DEVICE_ATTRIBUTES = frozenset({CursorKind.CUDADEVICE_ATTR, CursorKind.CUDACONSTANT_ATTR})


@dataclass(slots=True)
class Exits:
    """The states in which control left a loop or switch. ``kind``: ``loop``, ``switch``, or ``once`` for a loop whose
    body runs exactly once, where ``continue`` leaves too."""

    kind: str
    states: list[tuple[State, Value | None]] = field(default_factory=list[tuple[State, "Value | None"]])
    continued: list[State] = field(default_factory=list[State])
    """The states in which an iteration of a loop ended early."""


class Frame:
    """One activation: its variables, and the states in which control left it."""

    def __init__(
        self,
        function: HostFunction | None,
        caller: Frame | None,
        this: Value | None = None,
        enclosing: Closure | None = None,
        call: Node | None = None,
    ) -> None:
        self.function = function
        self.result: HostType = function.result if function is not None else OTHER
        if self.result is OTHER and call is not None:
            self.result = call.ty
        self.pending: dict[int, Value] = {}
        """Values of expressions with effects that were evaluated to find a place, for whoever needs the value next."""
        self.guards: list[tuple[Variable, Run]] = []
        """Variables in scope with destructors, and those."""
        self.temporaries: list[tuple[Run, Value]] = []
        """The destructors of temporaries that are alive, with their objects."""
        self.caller = caller
        self.this = this
        self.enclosing = enclosing
        self.call = call
        self.variables: dict[Declaration, Variable] = {}
        self.returns: list[tuple[State, Value | None]] = []
        self.exits: list[Exits] = []
        """Of the loops and switches around the current statement, innermost last."""
        self.depth: int = caller.depth + 1 if caller is not None else 0


class Places(Memory):
    """Variables by name, and where lvalues lie."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__()
        self.builder = builder
        self.frame = Frame(None, None)
        self.returned: tuple[Node, Address] | None = None
        """The call that last returned a reference, and to what."""
        self._last_index: Value = ex.const(0, I64)
        self._globals: dict[Declaration, Variable] = {}
        self._linked: dict[str, Variable] = {}
        self._on_device: dict[Declaration, bool] = {}

    def evaluate(self, node: Node) -> Value:
        raise NotImplementedError

    def condition(self, node: Node) -> Expr:
        raise NotImplementedError

    def truth(self, value: Value) -> Expr:
        raise NotImplementedError

    def peek(self, node: Node) -> Value:
        """The value of an expression that will be asked for again in the same statement: effects happen once."""
        value = self.evaluate(node)
        if node.effects:
            self.frame.pending[id(node)] = value
        return value

    def find(self, declared: Declaration) -> Variable | None:
        """The variable a name means here; None when its declaration has not been executed."""
        frame: Frame | None = self.frame
        while frame is not None:
            found = frame.variables.get(declared)
            if found is not None:
                return found
            frame = frame.enclosing.frame if frame.enclosing is not None else None
        if declared.storage in ("global", "static", "field"):
            found = self._globals.get(declared)
            if found is None:
                found = self._globals[declared] = self._shared(declared)
                if not isinstance(declared.ty, ReferenceTo):
                    self.named.add(found)
            return found
        return None

    def _shared(self, declared: Declaration) -> Variable:
        """The variable behind a declaration; what all translation units share is one for all declarations of it."""
        key = shared_name(declared.cursor)
        found = self._linked.get(key) if key else None
        if found is None:
            found = Variable(declared.name, target_of(declared.ty), True)
            if key:
                self._linked[key] = found
        return found

    def forget_device_variables(self) -> None:
        """A kernel may write what the host can read by name too: managed variables."""
        for declared, variable in self._globals.items():
            if variable in self.state.store and self.on_device(declared):
                self.refresh(variable)

    def on_device(self, declared: Declaration) -> bool:
        """Whether a variable lies in device, constant or managed memory."""
        found = self._on_device.get(declared)
        if found is None:
            kinds = {c.kind for c in declared.cursor.get_children() if c.kind.is_attribute()}
            found = self._on_device[declared] = not kinds.isdisjoint(_DEVICE_ATTRIBUTES)
        return found

    def variable(self, declared: Declaration) -> Variable:
        found = self.find(declared)
        if found is None:
            found = self.frame.variables[declared] = Variable(declared.name, target_of(declared.ty))
            self.state.store.setdefault(found, self.fresh(declared.name, declared.ty))
        return found

    def declare(self, declared: Declaration, value: Value) -> Variable:
        made = self.new_variable(declared.name, target_of(declared.ty))
        made.fixed = declared.is_fixed
        self.frame.variables[declared] = made
        self.state.store[made] = value
        return made

    def place_of(self, declared: Declaration) -> Address | None:
        variable = self.variable(declared)
        if isinstance(declared.ty, ReferenceTo):
            held = self.state.store.get(variable)
            if isinstance(held, Address):
                return held
            if isinstance(held, Choice):
                return None
        return Address(variable)

    def place(self, node: Node) -> Address | None:
        """Where an lvalue lies; None when that is not known."""
        op = node.op
        if op == "ref":
            return self.place_of(node.value)
        if op == "member":
            base = node.arg(0)
            if base.op == "this" or isinstance(base.ty, PointerTo):
                outer = self.pointee(self.peek(base))
            else:
                outer = self.place(base)
            return Address(outer.variable, (*outer.path, node.value)) if outer is not None else None
        if op == "index":
            return self._element(node)
        if op == "deref":
            return self.pointee(self.peek(node.arg(0)), node.ty)
        if op == "cast":
            return self.place(node.arg(0)) if node.value == OBJECT else None
        if op in ("assign", "compound", "step"):
            self.peek(node)
            return None if str(node.value).startswith("post") else self.place(node.arg(0))
        if op in ("call", "method"):
            return self._place_called(node)
        if op == "binary" and node.value == ",":
            self.peek(node.arg(0))
            return self.place(node.arg(1))
        if op == "binary" and node.value in (".*", "->*"):
            base = node.arg(0)
            outer = self.place(base) if node.value == ".*" else self.pointee(self.peek(base))
            return Address(outer.variable, (*outer.path, ANY_PART)) if outer is not None else None
        if op == "choose":
            return self._either_place(node)
        return None

    def _place_called(self, node: Node) -> Address | None:
        """What the reference that a call returns refers to."""
        target: Cursor | None = node.value
        arguments = [a for a in node.args[1:] if a is not None]
        if node.op == "call" and target is not None and target.spelling in SAME_OBJECT and len(arguments) == 1:
            file = target.location.file
            if file is None or is_bundled(file.name):
                return self.place(arguments[0])
        self.peek(node)
        if self.returned is not None and self.returned[0] is node:
            return self.returned[1]
        if self.refers(node):
            # It may be one of the arguments, as for ``std::min``: which one is not followed.
            whole = target is not None and self._gives_object(target)
            named = (v for a in arguments for v in self.named_in(a))
            self.escape(v for v in named if not (whole and isinstance(v.ty, (IntType, FloatType))))
        return None

    def refers(self, node: Node) -> bool:
        """Whether a call returns a reference, or may."""
        target: Cursor | None = node.value
        if target is None or target.kind not in FUNCTIONS:
            return True
        return isinstance(self.builder.types.of(target.result_type), ReferenceTo)

    def _gives_object(self, target: Cursor) -> bool:
        """Whether a function returns a reference to an object of a class: no number is one or has one in it."""
        ty = self.builder.types.of(target.result_type)
        return isinstance(ty, ReferenceTo) and isinstance(ty.target, RecordType)

    def named_in(self, node: Node) -> Iterator[Variable]:
        """The variables that an expression names."""
        if node.op == "ref":
            place = self.place_of(node.value)
            if place is not None:
                yield place.variable
        for part in node.args:
            if part is not None:
                yield from self.named_in(part)

    def may_refer(self, node: Node) -> bool:
        """Whether an expression whose place is not known may be an object that has another name too."""
        while (node.op == "cast" and node.value == OBJECT) or (node.op == "binary" and node.value == ","):
            node = node.arg(0 if node.op == "cast" else 1)
        if node.op in ("call", "method"):
            return self.refers(node)
        return node.op in ("index", "deref", "choose", "binary", "unknown", "member", "ref")

    def _either_place(self, node: Node) -> Address | None:
        """``(c ? a : b) = …``: which one is written is not followed, so both are given away."""
        condition = self.truth(self.peek(node.arg(0)))
        if condition.op == "const":
            return self.place(node.arg(1 if condition is TRUE else 2))
        for side in (node.arg(1), node.arg(2)):
            place = self.place(side)
            if place is not None:
                self.escape((place.variable,))
        return None

    def _element(self, node: Node) -> Address | None:
        base, index = node.arg(0), self.peek(node.arg(1))
        at: int | str = index.value if isinstance(index, Expr) and index.op == "const" else ANY_PART
        if isinstance(base.ty, ArrayOf):
            outer = self.place(base)
            self._last_index = index
            return Address(outer.variable, (*outer.path, at)) if outer is not None else None
        self._last_index = index
        moved = self._moved(self.peek(base), index, 1, pointee_size(base.ty))
        return self.pointee(moved, node.ty) if at != ANY_PART else None

    def typed(self, place: Address, node: Node) -> Value:
        """The value at a place, read as the type of the expression."""
        ty = node.ty
        if node.volatile:
            return self.fresh(place.variable.name, ty)
        value = self.read(place, ty)
        if isinstance(ty, IntType) and isinstance(value, Expr) and value.ty != ty:
            if isinstance(value.ty, IntType) and value.ty.width == ty.width:
                return ex.cast(value, ty)
            return self.fresh(place.variable.name, ty)
        return value

    def _moved(self, pointer: Value, by: Value, sign: int, size: int | None) -> Value:
        """Pointer arithmetic."""
        if isinstance(pointer, Choice):
            first, second = (self._moved(p, by, sign, size) for p in (pointer.first, pointer.second))
            return Choice(pointer.guard, first, second)
        if not isinstance(by, Expr) or not isinstance(by.ty, IntType):
            return self.related("pointer", pointer)
        if isinstance(pointer, Pointer) and size is not None:
            bytes_ = ex.mul(ex.cast(by, I64), ex.const(sign * size, I64))
            return Pointer(
                pointer.id, pointer.name, self.bounded(ex.add(pointer.offset, bytes_), "offset"), pointer.size
            )
        if isinstance(pointer, Address) and by.op == "const":
            if by.value == 0:
                return pointer
            if pointer.path and isinstance(pointer.path[-1], int):
                return Address(pointer.variable, (*pointer.path[:-1], pointer.path[-1] + sign * by.value))
        if isinstance(pointer, Address):
            # From one member the next one is reached.
            inside = pointer.path[:-1]
            return Address(pointer.variable, (*inside, ANY_PART))
        return self.related("pointer", pointer)


def shared_name(cursor: Cursor) -> str:
    """What names a variable in all translation units; empty for one that each unit has to itself."""
    around = cursor.semantic_parent
    linkage = cursor.linkage if around is None or around.kind not in FUNCTIONS else around.linkage
    # Variables of functions have no linkage of their own, but are as shared as the function is.
    return cursor.get_usr() if linkage.name == "EXTERNAL" else ""


def is_scalar(ty: HostType) -> bool:
    return isinstance(ty, (IntType, FloatType, PointerTo))


def target_of(ty: HostType) -> HostType:
    return ty.target if isinstance(ty, ReferenceTo) else ty


def pointee_size(ty: HostType) -> int | None:
    return ty.size if isinstance(ty, PointerTo) else None
