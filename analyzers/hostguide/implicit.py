"""Calls that C++ makes without naming the function: what they change is unknown afterwards, and nothing else is.

Constructors of bases and members, destructors of temporaries, of what goes out of scope and of what containers and
smart pointers hold, what library templates apply to the objects and functions that they are given. Which functions run
comes from ``specials``; what one of them may change is found in its body and those of the functions that it calls.
Where that is not all in sight, it may change whatever others can reach, as an ordinary call that is not looked into.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from analyzers.frontend.cindex import Cursor, CursorKind
from analyzers.hostguide.build import TreeBuilder, is_written_by_compiler
from analyzers.hostguide.build_expressions import LEFT_OUT
from analyzers.hostguide.declared import FUNCTIONS
from analyzers.hostguide.hosttypes import (
    FUNCTION,
    ArrayOf,
    HostType,
    PointerTo,
    RecordType,
    ReferenceTo,
)
from analyzers.hostguide.library import CONTAINER_ACCESS, PURE_METHODS
from analyzers.hostguide.loops import Path, Writes, writes_of
from analyzers.hostguide.memory import alternatives
from analyzers.hostguide.places import SAME_OBJECT, target_of
from analyzers.hostguide.source import extent
from analyzers.hostguide.specials import NOTHING, UNSEEN, Run, Specials
from analyzers.hostguide.targets import Targets
from analyzers.hostguide.telling import Telling
from analyzers.hostguide.tree import Declaration, HostFunction, Node, identity
from analyzers.hostguide.values import Address, Closure, FunctionValue, Value, Variable

_LARGEST = 4000
"""Bytes of a function that is looked into."""
_MOST = 60
"""Functions that one call may lead to."""
_ORDERED = frozenset({"map", "set", "multimap", "multiset", "unordered_map", "unordered_set", "priority_queue"})
"""Containers that compare or hash what they hold at each access."""
_HELD = frozenset({"function", "move_only_function", "packaged_task", "copyable_function", "function_ref"})
"""Library classes whose objects can be called, and hold code that their type does not tell."""
_CREATING = frozenset({"construct", "call", "method", "list"})


@dataclass(slots=True)
class Effect:
    """What a function that runs by itself may change."""

    anything: bool = False
    """All that others can reach."""
    own: bool = False
    """The objects that it runs for."""
    places: dict[tuple[Declaration, Path], HostType] = field(default_factory=dict[tuple[Declaration, Path], "HostType"])
    """Variables with a lifetime beyond the call."""
    launches: bool = False


class Implicit(Targets):
    """Calls without a name."""

    def __init__(self, builder: TreeBuilder) -> None:
        super().__init__(builder)
        self.specials = Specials(self.bundled)
        self.telling = Telling(builder, self.bundled)
        self._found_effects: dict[int, Effect] = {}
        self._direct: dict[int, Writes | None] = {}
        self._kinds_of: dict[tuple[str, RecordType], Run] = {}
        self._implied: dict[int, tuple[Node, tuple[Run, Run, Run, Run]]] = {}
        """With the node, so that no other one gets its number."""
        self._around: dict[int, tuple[HostFunction, tuple[Declaration, ...]]] = {}
        """With the function, so that no other one gets its number."""
        self._elided: set[int] = set()
        """Expressions whose objects are no temporaries: they become a variable, a part or a result."""
        self.shapes: int = 0
        """Counts what may have resized a tensor or container through another handle."""

    def _forget_place(
        self, declared: Declaration, path: Path, ty: HostType, others: frozenset[int] = frozenset()
    ) -> None:
        raise NotImplementedError

    def tells_itself(self, declared: Declaration, value: Node | None) -> bool:
        """Whether a variable is known to others from its initialisation on, by what its class does."""
        ty = declared.ty.element if isinstance(declared.ty, ArrayOf) else declared.ty
        if not isinstance(ty, RecordType):
            return False
        if value is not None and value.op == "construct" and is_written_by_compiler(value.value):
            given = value.args[0] if len(value.args) == 1 else None
            if given is not None and given.ty == declared.ty and given.op not in _CREATING:
                return False  # a copy of the members
        return self.telling.of_type(declared.cursor.type)

    def _list(self, node: Node) -> Value:
        self.run_implied(self.parts(node)[1])
        if self.holds_references(node):
            self.escape(variable for item in node.args if item is not None for variable in self.named_in(item))
        result = super()._list(node)
        if isinstance(node.ty, RecordType):
            self.made_temporary(node, result)
        return result

    def _new(self, node: Node) -> Value:
        self.run_implied(self.parts(node)[2])
        return super()._new(node)

    def _unknown(self, node: Node) -> Value:
        temporaries, self.frame.temporaries = self.frame.temporaries, []
        result = super()._unknown(node)
        self.run_implied(self.parts(node)[2])
        self.frame.temporaries += temporaries
        return result

    # --- what runs

    def implied(self, node: Node) -> tuple[Run, Run]:
        """What evaluating a node runs by itself, and what library functions in it may run for what they are given."""
        if node.op not in _RUNNING:
            return NOTHING, NOTHING
        destroyed, made, ran, applied = self.parts(node)
        return destroyed | made | ran, applied

    def parts(self, node: Node) -> tuple[Run, Run, Run, Run]:
        """(the destructors of the object that an expression gives, what constructs its bases and members, what else
        runs by itself, what library functions may run)."""
        found = self._implied.get(id(node))
        if found is None:
            parts = self._destroyed_after(node), self._made_by(node), self._of_objects(node), self._applied_by(node)
            found = self._implied[id(node)] = node, parts
        return found[1]

    def _destroyed_after(self, node: Node) -> Run:
        """The destructors of the object that an expression gives, if it is a new one."""
        if node.op not in _CREATING or not isinstance(node.ty, RecordType):
            return NOTHING
        if node.op in ("call", "method") and node.value is not None and self.refers(node):
            return NOTHING
        return self._kind("destroyed", node.ty, node.cursor)

    def _made_by(self, node: Node) -> Run:
        """The constructors of bases and members of the object that an expression makes."""
        if not isinstance(node.ty, RecordType) or node.op not in ("construct", "list"):
            return NOTHING
        whole = self._kind("made", node.ty, node.cursor)
        if node.op == "list":
            return whole
        target: Cursor = node.value
        if self.bundled(target) or is_written_by_compiler(target):
            copies = len(node.args) == 1 and node.arg(0).ty == node.ty
            return self._kind("copied", node.ty, node.cursor) if copies else whole
        if not whole:
            return whole
        defined = self.builder.definition(target)
        named = frozenset(c.spelling for c in defined.get_children() if c.kind in _INITIALISED)
        return self.specials.made(node.cursor.type, named) if named else whole

    def copied_by(self, node: Node) -> Run:
        """What a copy or assignment by the compiler, or of a library class, runs."""
        ty = node.ty if node.op == "construct" else base_type(node)
        cursor = node.cursor if node.op == "construct" else node.arg(0).cursor
        return self._kind("copied", ty, cursor) if isinstance(ty, RecordType) else NOTHING

    def _of_objects(self, node: Node) -> Run:
        op, target = node.op, node.value
        if op == "declare":
            apart = UNSEEN if self.builder.takes_apart(node.value) else NOTHING
            return self.destroyed_with(node.value) | apart
        if op == "each":
            declared: Declaration = node.value
            return self.specials.used(declared.cursor.type) if isinstance(declared.ty, RecordType) else NOTHING
        if op == "new":
            return self.specials.allocated(node.cursor.type.get_canonical().get_pointee())
        if op == "unknown":
            return self._deleted_by(node)
        if op not in ("call", "method", "construct") or target is None or self.bundled(target):
            return NOTHING
        found = NOTHING
        if any(a is not None and a.value is LEFT_OUT for a in node.args):
            found |= UNSEEN
        if is_written_by_compiler(target):
            found |= self.copied_by(node)
        else:
            for index, argument in enumerate(node.args if node.op == "construct" else node.args[1:]):
                ty = self.parameter(target, index)
                if argument is not None and isinstance(ty, RecordType) and argument.ty == ty:
                    found |= self._kind("destroyed", ty, argument.cursor)
        return found

    def destroyed_parameters(self, function: HostFunction | None) -> Run:
        found = NOTHING
        for parameter in function.parameters if function is not None else ():
            if isinstance(parameter.ty, RecordType):
                found |= self._kind("destroyed", parameter.ty, parameter.cursor)
        return found

    def destroyed_with(self, declared: Declaration) -> Run:
        """The destructors that run at the end of a variable's life."""
        ty = declared.ty.element if isinstance(declared.ty, ArrayOf) else declared.ty
        if isinstance(ty, ReferenceTo):
            ty = ty.target
            cursor = declared.cursor
            return self.specials.destroyed(cursor.type.get_canonical().get_pointee())
        return self._kind("destroyed", ty, declared.cursor) if isinstance(ty, RecordType) else NOTHING

    def _deleted_by(self, node: Node) -> Run:
        found = NOTHING
        if node.cursor.kind == CursorKind.CXX_DELETE_EXPR:
            for part in node.args:
                if part is not None:
                    found |= self.specials.deleted(part.cursor.type.get_canonical().get_pointee())
        return found

    def _applied_by(self, node: Node) -> Run:
        """What a library function may run for what it is given."""
        target: Cursor | None = node.value
        if node.op not in ("call", "method", "construct") or target is None or not self.bundled(target):
            return NOTHING
        name = target.spelling
        if name in SAME_OBJECT:
            return NOTHING
        if node.op == "method" and (name in PURE_METHODS or name in CONTAINER_ACCESS):
            owner = base_type(node)
            if not isinstance(owner, RecordType) or owner.head not in _ORDERED:
                return NOTHING
        found = self._used(node.ty, node.cursor)
        if node.op != "call" or any(isinstance(a.ty, RecordType) for a in (node, *node.args) if a is not None):
            found |= self.specials.allocators()  # the C library and the runtime have no use for them
        for argument in node.args:
            if argument is None:
                continue
            given = argument
            while given.op in ("cast", "addr"):
                given = given.arg(0)
            if given.op == "fn":
                found |= self.called_back(given.value)
            elif isinstance(given.ty, PointerTo) and given.ty.target is FUNCTION:
                found |= UNSEEN
            else:
                found |= self._used(argument.ty, argument.cursor)
        return found

    def called_back(self, function: Cursor) -> Run:
        """A function that is handed to a library function."""
        kinds = {c.kind for c in function.get_children() if c.kind.is_attribute()}
        on_device = CursorKind.CUDADEVICE_ATTR in kinds and CursorKind.CUDAHOST_ATTR not in kinds
        if CursorKind.CUDAGLOBAL_ATTR in kinds or on_device or self.bundled(function):
            return NOTHING
        return Run((self.builder.definition(function),))

    def runs_held_code(self, target: Cursor) -> bool:
        """Whether a library function calls what an object holds, of which its type says nothing."""
        owner = target.semantic_parent
        held = target.spelling == "operator()" and owner is not None and owner.spelling in _HELD
        return held and self.bundled(target)

    def _used(self, ty: HostType, cursor: Cursor) -> Run:
        while isinstance(ty, (PointerTo, ReferenceTo, ArrayOf)):
            ty = ty.element if isinstance(ty, ArrayOf) else ty.target
        return self._kind("used", ty, cursor) if isinstance(ty, RecordType) else NOTHING

    def _kind(self, what: str, ty: RecordType, cursor: Cursor) -> Run:
        """``cursor``: something of the type, or of one that leads there by pointers."""
        key = what, ty
        found = self._kinds_of.get(key)
        if found is None:
            found = self._kinds_of[key] = getattr(self.specials, what)(cursor.type)
        return found

    # --- what it changes

    def effect_of(self, cursor: Cursor) -> Effect:
        """Of a function, or of an expression that initialises a member."""
        found = self._found_effects.get(identity(cursor))
        if found is None:
            found = self._found_effects[identity(cursor)] = self._effect(cursor)
        return found

    def _effect(self, cursor: Cursor) -> Effect:
        found = Effect()
        waiting: list[Cursor] = [cursor]
        seen: set[int] = set()
        while waiting:
            at = waiting.pop()
            if identity(at) in seen:
                continue
            seen.add(identity(at))
            if len(seen) > 1 and at.kind in FUNCTIONS and at.is_virtual_method() and at.kind != CursorKind.DESTRUCTOR:
                found.anything = True
            direct = self._changes(at)
            ran = (direct.ran | direct.applied) if direct is not None else NOTHING
            if direct is None or direct.beyond or direct.behind or ran.unseen or len(seen) > _MOST:
                found.anything = True
            if direct is None or found.anything:
                return found
            found.own |= direct.own
            found.launches |= direct.launches
            for (declared, path), ty in direct.places.items():
                if isinstance(declared.ty, ReferenceTo):
                    # What it refers to was counted where it was bound, unless that is a constant.
                    found.own |= declared.storage == "parameter"
                    found.anything |= declared.ty.const or declared.storage not in ("local", "parameter")
                elif declared.storage not in ("local", "parameter"):
                    found.places[declared, path] = ty
                elif at.spelling == "operator()" and _is_captured(declared, at):
                    found.anything = True  # whoever has the object of the lambda's class knows which variable it is
            waiting += direct.called.values()
            waiting += [*ran.functions, *ran.initialisers]
        return found

    def _changes(self, cursor: Cursor) -> Writes | None:
        """What the body of one function changes by itself; None where that is not in sight."""
        key = identity(cursor)
        if key not in self._direct:
            self._direct[key] = self._read_changes(cursor)
        return self._direct[key]

    def _read_changes(self, cursor: Cursor) -> Writes | None:
        if cursor.kind not in FUNCTIONS:
            return writes_of(self, self.builder.expression(cursor))
        if is_written_by_compiler(cursor):
            return Writes()
        if cursor.spelling in self.builder.replaceable:
            return None
        defined = self.builder.definition(cursor)
        _, start, end = extent(defined)
        if end - start > _LARGEST:
            return None
        function = self.builder.function(defined)
        if function is None:
            return None
        return writes_of(self, function.body, *(value for _, _, value in function.initialisers), *function.bases)

    def resolve(self, writes: Writes) -> None:
        """Add what runs by itself in some code to what that code changes."""
        for run, applied in ((writes.ran, False), (writes.applied, True)):
            writes.outside |= run.unseen
            for part in (*run.functions, *run.initialisers):
                effect = self.effect_of(part)
                writes.outside |= effect.anything or (applied and self._changes_objects(part))
                writes.launches |= effect.launches
                for (declared, path), ty in effect.places.items():
                    writes.places[declared, path] = ty
                    writes.steps[declared] = None

    # --- what lambdas copy

    def objects_around(self, function: HostFunction) -> tuple[Declaration, ...]:
        """The objects and arrays of the functions around that a lambda names."""
        found = self._around.get(id(function))
        if found is None:
            named: dict[Declaration, None] = {}
            own: set[Declaration] = set(function.parameters)
            waiting: list[Node] = [function.body]
            while waiting:
                node = waiting.pop()
                if node.op == "declare":
                    own.add(node.value)
                elif node.op == "ref" and isinstance(target_of(node.value.ty), (RecordType, ArrayOf)):
                    named[node.value] = None
                elif node.op == "lambda":
                    inner = self.builder.lambda_body(node.cursor)
                    waiting += [inner.body] if inner is not None else []
                    own.update(inner.parameters if inner is not None else ())
                waiting += [a for a in node.args if a is not None]
            local = [d for d in named if d.storage in ("local", "parameter") and d not in own]
            found = self._around[id(function)] = function, tuple(local)
        return found[1]

    def copied_object(self, declared: Declaration) -> Run:
        """What a copy of a variable runs."""
        ty = target_of(declared.ty)
        while isinstance(ty, ArrayOf):
            ty = ty.element
        if not isinstance(ty, RecordType):
            return NOTHING
        shown = declared.cursor.type.get_canonical()
        return self.specials.copied(shown.get_pointee() if isinstance(declared.ty, ReferenceTo) else shown)

    def _lambda(self, node: Node) -> Value:
        made = super()._lambda(node)
        function = self.builder.lambda_body(node.cursor)
        if isinstance(made, Closure) and function is not None:
            for declared in self.objects_around(function):
                if made.by_reference(declared.name) is not True:
                    self.run_implied(self.copied_object(declared))
        return made

    # --- when it happens

    def run_implied(self, run: Run, objects: Iterable[Value] = ()) -> None:
        """``objects``: what it runs for, or holds what it can reach."""
        if not run:
            return
        objects = tuple(objects)
        for part in (*run.functions, *run.initialisers):
            effect = self.effect_of(part)
            if effect.anything:
                function = self.builder.function(part) if part.kind in FUNCTIONS else None
                certain = function is not None and function.name not in self.builder.replaceable
                self._changes_anything(function if certain else None, objects)
                continue
            for (declared, path), ty in effect.places.items():
                self._forget_place(declared, path, ty)
            if effect.launches:
                self.forget_device_variables()
        if run.unseen:
            self._changes_anything(None, objects)

    def _changes_anything(self, function: HostFunction | None, objects: tuple[Value, ...]) -> None:
        before = self.state.copy()
        for held in objects:
            self.unfollowed(held, later=False)
            for place in self.reachable(held):
                self.forget(place)
        self.forget_outside()
        self.shapes += 1
        self.keep_members(function, None, before)

    def apply(self, node: Node) -> None:
        """After a library function was called: what it may have run."""
        run = self.parts(node)[3]
        if not run:
            return
        changed: list[Address] = []
        if run.unseen or any(self._changes_objects(part) for part in run.functions):
            for argument in node.args:
                if argument is not None and isinstance(argument.ty, RecordType) and not argument.effects:
                    place = self.place(argument)
                    changed += [place] if place is not None else []
        for place in changed:
            self.unfollowed(place)
        self.run_implied(run)
        for place in changed:
            self.forget(place)

    def _changes_objects(self, function: Cursor) -> bool:
        """Whether a function that a library template applies may change objects that are there before and after."""
        if function.kind in (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR):
            return False
        effect = self.effect_of(function)
        return effect.anything or effect.own

    def called_back_later(self, value: Value) -> None:
        """A library function is given a value that may be a function of the program."""
        for _, leaf in alternatives(value):
            if isinstance(leaf, FunctionValue):
                self.run_implied(self.called_back(leaf.cursor))

    # --- temporaries

    def elide(self, node: Node | None) -> None:
        """The object that an expression gives is no temporary."""
        while node is not None and (node.op == "cast" or (node.op == "binary" and node.value == ",")):
            node = node.args[0 if node.op == "cast" else 1]
        if node is not None and node.op == "choose":
            self.elide(node.arg(1))
            self.elide(node.arg(2))
        elif node is not None and node.op in _CREATING and isinstance(node.ty, RecordType):
            self._elided.add(id(node))

    def made_temporary(self, node: Node, value: Value) -> None:
        """An expression has given an object, which dies at the end of the full expression."""
        if id(node) in self._elided:
            self._elided.discard(id(node))
            return
        run = self.parts(node)[0]
        if run:
            self.frame.temporaries.append((run, value))

    def end_expression(self) -> None:
        """The end of a full expression: temporaries die, the last one first."""
        dying = self.frame.temporaries
        if dying:
            self.frame.temporaries = []
            for run, value in reversed(dying):
                self.run_implied(run, (value,))


def _is_captured(declared: Declaration, function: Cursor) -> bool:
    """Whether a local variable that a lambda's call writes is one of the function around the lambda."""
    around = declared.cursor.semantic_parent
    return around is not None and identity(around) != identity(function)


def base_type(node: Node) -> HostType:
    ty = node.arg(0).ty
    return ty.target if isinstance(ty, PointerTo) else ty


_INITIALISED = (CursorKind.MEMBER_REF, CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF)
"""What stands in the list of a constructor: members and bases."""
_RUNNING = frozenset({*_CREATING, "declare", "each", "new", "unknown"})

__all__ = ["Effect", "Implicit", "Variable", "base_type"]
