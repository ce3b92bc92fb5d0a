"""Reading, writing, forgetting and joining host values.

The part of the symbolic interpreter that knows nothing of syntax: fresh symbols, parts of values, writes through known
and unknown places, what a call to unknown code may change, and the join of two paths.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.hostguide.hosttypes import OTHER, VOID, HostType, PointerTo, RecordType, ReferenceTo
from analyzers.hostguide.provenance import A_STEP, Provenance
from analyzers.hostguide.tree import ANY_PART
from analyzers.hostguide.values import (
    Address,
    Choice,
    Closure,
    FactLink,
    FunctionValue,
    NoteSource,
    Null,
    Pointer,
    Record,
    State,
    Unknown,
    Value,
    Variable,
    common_ancestor,
    facts_since,
)
from analyzers.ir import expr as ex
from analyzers.ir.expr import BOOL, FALSE, TRUE, Expr, FloatType, IntType

_LARGEST = 300
"""Operators in the tree of one host expression; beyond it the value is an unknown of its own."""
_DEEPEST_CHOICE = 24
_MOST_FUNCTIONS = 1024
"""The same where the choice is among functions: what picks a kernel by its template arguments has hundreds, and without
it the launch is lost for all of them. Only a guard against what grows without end."""


class Stop(Exception):
    """Control does not go on here: a return, a break, an exception, a call that never returns."""


class Memory(Provenance):
    """The values of a symbolic execution and the current :class:`State`."""

    def __init__(self) -> None:
        super().__init__()
        self.state: State = State({}, None, frozenset(), 0)
        self._sizes: dict[int, int] = {}
        self._epochs = 0
        self.allocations: set[int] = set()
        """Pointers to memory that the code in sight allocated: nothing else points there."""
        self._begun: dict[object, int] = {}
        self.named: set[Variable] = set()
        """Global variables: two of them never overlap."""
        self._parts_of: dict[int, list[tuple[str | int, HostType, Value]]] = {}
        self.in_flight: set[int] = set()
        """Pointers to memory that kernels or asynchronous copies may still be writing."""
        self.part_of: dict[Expr, tuple[int, str | int]] = {}
        """For an integer that was a member of an unknown object, the object and the member."""

    def new_variable(self, name: str, ty: HostType) -> Variable:
        """A variable of its own, whose life begins here."""
        return Variable(name, ty, born=len(self.names) + 1)

    # --- symbols

    def fresh(self, name: str, ty: HostType) -> Value:
        """An arbitrary value of a type, different from every other."""
        if isinstance(ty, ReferenceTo):
            ty = ty.target
        if isinstance(ty, IntType):
            return self.symbol(name, ty)
        if isinstance(ty, PointerTo):
            return Pointer(self.number(name), name)
        return Unknown(self.number(name), name, ty)

    def symbol(self, name: str, ty: IntType) -> Expr:
        return ex.sym(f"host:{self.number(name)}:{name}", ty)

    def derive(self, source: object, key: tuple[object, ...], name: str, ty: HostType) -> Value:
        """A part or property of an unknown value: the same one whenever asked for again."""
        full = (source, *key, ty)
        found = self._derived.get(full)
        if found is None:
            found = self._derived[full] = self.fresh(name, ty)
            if isinstance(found, (Pointer, Unknown)):
                if isinstance(source, int):
                    self.age[found.id] = self.age.get(source, source)
                elif key[0] == "initial":
                    self.age[found.id] = self._begun.get(key[1], 0)
            if isinstance(source, int) and isinstance(found, (Pointer, Unknown)):
                self.holders.add(source)
                self.origins[found.id] = frozenset((source,))
            if isinstance(source, int) and key[0] == "part" and isinstance(key[1], (str, int)):
                self._parts_of.setdefault(source, []).append((key[1], ty, found))
                if isinstance(found, Expr):
                    self.part_of[found] = (source, key[1])
        return found

    def parts_asked(self, value: Value) -> list[tuple[str | int, HostType, Value]]:
        """The parts of an unknown value that were read: (key, type, value)."""
        return self._parts_of.get(value.id, []) if isinstance(value, Unknown) else []

    def known_parts(self, source: int) -> list[tuple[str | int, HostType, Value]]:
        """The parts of an unknown object that were read: (key, type, value)."""
        return self._parts_of.get(source, [])

    def derived(self, source: int, key: tuple[object, ...], ty: HostType) -> Value | None:
        return self._derived.get((source, *key, ty))

    def define(self, source: int, key: tuple[object, ...], ty: HostType, value: Value) -> None:
        """Say what a part of an unknown value is."""
        self._derived[(source, *key, ty)] = value

    def size(self, e: Expr) -> int:
        """Operators of the expression written out as a tree."""
        found = self._sizes.get(e.key)
        if found is None:
            for node in ex.walk((e,), self._sizes):
                self._sizes[node.key] = 1 + sum(self._sizes[a.key] for a in node.args)
            found = self._sizes[e.key]
        return found

    def bounded(self, e: Expr, name: str) -> Expr:
        if self.size(e) <= _LARGEST or not isinstance(e.ty, IntType):
            return e
        return self.symbol(name, e.ty)

    # --- facts

    def learn(self, condition: Expr, note: NoteSource) -> None:
        """From here on the condition holds; where it cannot, control does not come here."""
        if condition is FALSE:
            raise Stop
        if condition is not TRUE:
            self.state.facts = FactLink(self.state.facts, condition, note)

    # --- parts of values

    def part(self, value: Value, key: str | int, ty: HostType, name: str) -> Value:
        if isinstance(value, Record):
            found = value.parts.get(key)
            if found is not None:
                return found
            return self.derive(value.base.id, ("part", key), name, ty)
        if isinstance(value, Unknown):
            return self.derive(value.id, ("part", key), name, ty)
        if isinstance(value, Choice):
            first = self.part(value.first, key, ty, name)
            return self.combine(value.guard, first, self.part(value.second, key, ty, name), name)
        return self.fresh(name, ty)

    def _updated(self, value: Value, path: tuple[str | int, ...], new: Value, name: str) -> Value:
        if not path:
            return new
        key, rest = path[0], path[1:]
        if key == ANY_PART or isinstance(value, Choice):
            self.given(new)
            made = Unknown(self.number(name), name, OTHER)
            self.now_holds(made, value, [new])
            return made
        parts = dict(value.parts) if isinstance(value, Record) else {}
        base = value.base if isinstance(value, Record) else value
        if not isinstance(base, Unknown):
            base = Unknown(self.number(name), name, OTHER)
        inner = new
        if rest:
            held = parts.get(key)
            if held is None:
                held = self.derive(base.id, ("part", key), f"{name}.{key}", OTHER)
            inner = self._updated(held, rest, new, name)
        parts[key] = inner
        return Record(parts, base)

    # --- places

    def pointee(self, pointer: Value, target: HostType = OTHER) -> Address | None:
        """The object a pointer points to; None when which one is not known."""
        if isinstance(pointer, Address):
            return pointer
        if isinstance(pointer, Pointer) and pointer.offset.op == "const" and pointer.offset.value == 0:
            found = self._pointees.get(pointer.id)
            if found is None:
                found = self._pointees[pointer.id] = Variable(f"*{pointer.name}", target, True)
                self.pointer_to[found] = pointer.id
            return Address(found)
        return None

    def read(self, place: Address, ty: HostType) -> Value:
        variable = place.variable
        value = self.state.store.get(variable)
        if value is None:
            value = self.initial(variable, self.state.epoch)
            self.state.store[variable] = value
        name = variable.name
        for key in place.path[:-1]:
            value = self.part(value, key, OTHER, f"{name}.{key}")
        if place.path:
            last = place.path[-1]
            if ANY_PART in place.path:
                return self.fresh(f"{name}[]", ty)
            shown = f"{name}[{last}]" if isinstance(last, int) else f"{name.removeprefix('*')}.{last}"
            value = self.part(value, last, ty, shown)
            if isinstance(value, Pointer) and value.id not in self._placed and value.id not in self.allocations:
                self._read_from(variable, place.path, value)
        return value

    def _read_from(self, variable: Variable, path: tuple[str | int, ...], value: Pointer) -> None:
        """``p->d`` and ``q->d`` are one pointer where ``p`` and ``q`` are, and so are two reads of ``p->d``."""
        pointer = self.pointer_to.get(variable)
        roots: Iterable[object] = [variable] if pointer is None else sorted(self.roots(pointer))
        self._placed.add(value.id)
        tokens = [self._token((root, path)) for root in roots if variable.outside]
        self.origins[value.id] = self.origins.get(value.id, frozenset()) | frozenset(tokens)

    def initial(self, variable: Variable, epoch: int) -> Value:
        """What a variable nobody has written since ``epoch`` began holds."""
        return self.derive(variable, ("initial", epoch if variable.outside else 0), variable.name, variable.ty)

    def known_initial(self, variable: Variable, epoch: int) -> Value | None:
        """The same, if anybody asked for it."""
        return self._derived.get((variable, "initial", epoch if variable.outside else 0, variable.ty))

    def write(self, place: Address | None, value: Value, scalar: bool = False) -> None:
        """Store a value. A ``scalar`` written to an unknown place leaves objects of library classes as they are."""
        if place is None:
            self.forget_outside(scalar=scalar)
            return
        variable = place.variable
        if place.path:
            held = self.state.store.get(variable)
            if held is None:
                held = self.initial(variable, self.state.epoch)
            value = self._updated(held, place.path, value, variable.name)
        elif isinstance(variable.ty, (IntType, RecordType)) and isinstance(value, Expr) and value.ty != variable.ty:
            value = self.fresh(variable.name, variable.ty)  # written through a pointer to another type
        if variable.outside or variable in self.state.escaped:
            self.given(value)
            self.forget_outside(variable, scalar)
            self.escape(held.variable for held in self.reachable(value))
        self.state.store[variable] = value

    def forget(self, place: Address | None, ty: HostType | None = None) -> None:
        """The place holds an arbitrary value from now on."""
        if place is None:
            self.forget_outside()
            return
        if place.variable.fixed or (not place.path and self.is_lambda(place.variable)):
            return
        kind = ty if ty is not None else place.variable.ty if not place.path else OTHER
        self.write(place, self.fresh(place.variable.name, kind))

    def is_lambda(self, variable: Variable) -> bool:
        """Whether a variable is a known lambda: nothing can be assigned to one, and what it copied is not looked at."""
        named = isinstance(variable.ty, RecordType) and variable.ty.name.startswith("(lambda at")
        return named and isinstance(self.state.store.get(variable), Closure)

    def forget_outside(self, keep: Variable | None = None, scalar: bool = False) -> None:
        """Everything that other code can reach may have changed; a ``scalar`` write changes no library object.

        ``keep``: what was written. Variables with storage of their own stay apart when others know their addresses."""
        state = self.state
        state.epoch = self.next_epoch()
        own = keep is not None and (keep in self.named or not keep.outside)
        apart = self.named if own else frozenset[Variable]()
        for variable in [v for v in state.store if v.outside and v is not keep and v not in apart]:
            if keep is not None and keep.born and not keep.outside and self._is_older(variable, keep):
                continue
            if not (scalar and _is_opaque(variable.ty)):
                del state.store[variable]
        reached = () if own else sorted(state.escaped, key=lambda v: v.name)
        for variable in reached:
            if variable is keep or variable.fixed or variable not in state.store:
                continue
            if not (scalar and _is_opaque(variable.ty)):
                state.store[variable] = self.fresh(variable.name, variable.ty)

    def _is_older(self, variable: Variable, than: Variable) -> bool:
        """Whether a variable, or the pointer that it was reached through, was there before another one's life began."""
        pointer = self.pointer_to.get(variable)
        if pointer is not None:
            return self.age.get(pointer, pointer) < than.born
        return 0 < variable.born < than.born

    def forget_behind(self, pointer: Value, later: bool = False) -> None:
        """Library code or a kernel writes through a pointer. ``later``: it may go on until the next wait."""
        stack = [pointer]
        while stack:
            top = stack.pop()
            if isinstance(top, Choice):
                stack += [top.first, top.second]
            elif isinstance(top, Record):
                stack.extend(top.parts.values())
            elif isinstance(top, Address):
                whole = top.path[:-1] if top.path and isinstance(top.path[-1], int) else top.path
                if top.variable.outside or top.variable in self.state.escaped:
                    self.refresh(top.variable)
                else:
                    self.forget(Address(top.variable, whole))
            elif isinstance(top, Pointer):
                for other in self.same_memory(top.id):
                    if later:
                        self.in_flight.add(other)
                    if other in self._pointees:
                        self.refresh(self._pointees[other])

    def refresh(self, variable: Variable) -> None:
        if not variable.fixed:
            self.state.store[variable] = self.fresh(variable.name, variable.ty)

    def forget_pointees(self, target: HostType) -> None:
        """Something is written through pointers of one type, which ones is not known yet."""
        self.steps += len(self._pointees) // A_STEP
        for variable in self._pointees.values():
            if target in (VOID, OTHER) or variable.ty in (OTHER, target):
                self.refresh(variable)

    def forget_escaped(self) -> None:
        """Variables whose address somebody has may have been written."""
        for variable in sorted(self.state.escaped, key=lambda v: v.name):
            if variable in self.state.store:
                self.refresh(variable)

    def arrived(self) -> None:
        """The device has been waited for: what it wrote is there."""
        for pointer in sorted(self.in_flight):
            if pointer in self._pointees:
                self.refresh(self._pointees[pointer])

    def next_epoch(self) -> int:
        """A number for a moment at which every outside variable may have changed."""
        self._epochs += 1
        self._begun[self._epochs] = len(self.names)
        return self._epochs

    def escape(self, variables: Iterable[Variable]) -> None:
        self.state.escaped |= frozenset(v for v in variables if not v.outside)

    def reachable(self, value: Value) -> list[Address]:
        """The host variables that code holding this value can get at."""
        out: list[Address] = []
        seen: set[int] = set()
        stack = [value]
        while stack:
            top = stack.pop()
            if isinstance(top, Address):
                if id(top.variable) in seen:
                    continue
                seen.add(id(top.variable))
                out.append(top)
                held = self.state.store.get(top.variable)
                if held is not None:
                    stack.append(held)
            elif isinstance(top, Record):
                stack.extend(top.parts.values())
            elif isinstance(top, Choice):
                stack += [top.first, top.second]
            elif isinstance(top, Closure) and id(top) not in seen:
                seen.add(id(top))
                stack += self.captured(top)
        return out

    def given(self, value: Value, how: str = "") -> None:
        """Kernels in a value can be launched where that is not seen. ``how``: by code out of sight that is given them,
        empty where it is only possible that some gets at them."""
        raise NotImplementedError

    def captured(self, closure: Closure) -> list[Value]:
        """What a lambda holds through which it may write: addresses of variables, and values that it copied."""
        raise NotImplementedError

    # --- joining paths

    def combine(self, guard: Expr, a: Value, b: Value, name: str) -> Value:
        """``guard ? a : b``."""
        if guard is TRUE or a is b or (not isinstance(a, Record) and a == b):
            return a
        if guard is FALSE:
            return b
        if isinstance(a, Expr) and isinstance(b, Expr):
            if a.ty == b.ty and isinstance(a.ty, IntType):
                return self.bounded(ex.select(guard, a, b), name)
            return self.fresh(name, a.ty if isinstance(a.ty, (IntType, FloatType)) and a.ty == b.ty else OTHER)
        if isinstance(a, Expr) or isinstance(b, Expr):
            return self.fresh(name, OTHER)
        if isinstance(a, Record) or isinstance(b, Record):
            return self._combine_records(guard, a, b, name)
        leaves = [*_leaves(a), *_leaves(b)]
        functions = sum(isinstance(leaf, (FunctionValue, Null)) for leaf in leaves)
        if functions > _MOST_FUNCTIONS or len(leaves) - functions > _DEEPEST_CHOICE:
            return self.blurred(name, a, b)
        return Choice(guard, a, b)

    def _combine_records(self, guard: Expr, a: Value, b: Value, name: str) -> Value:
        if not (_is_object(a) and _is_object(b)):
            return self.blurred(name, a, b)
        parts: dict[str | int, Value] = {}
        for value in (a, b):
            for key, known in value.parts.items() if isinstance(value, Record) else ():
                if key not in parts:
                    ty = known.ty if isinstance(known, Expr) and isinstance(known.ty, IntType) else OTHER
                    first, second = (self.part(v, key, ty, f"{name}.{key}") for v in (a, b))
                    parts[key] = self.combine(guard, first, second, f"{name}.{key}")
        bases = [v.base if isinstance(v, Record) else v for v in (a, b)]
        same = bases[0] if bases[0] == bases[1] else None
        return Record(parts, same if isinstance(same, Unknown) else self.blurred(name, a, b))

    def join(self, a: State, b: State) -> tuple[State, Expr]:
        """The state after two paths meet, and the condition under which the first one was taken."""
        ancestor = common_ancestor(a.facts, b.facts)
        mine, theirs = facts_since(a.facts, ancestor), facts_since(b.facts, ancestor)
        guard = self._guard(mine, theirs)
        out = State({}, ancestor, a.escaped | b.escaped, a.epoch)
        if a.epoch != b.epoch:
            out.epoch = self.next_epoch()
        for links, unless in ((mine, ex.lnot(guard)), (theirs, guard)):
            for link in links:
                condition = ex.lor(unless, link.condition)
                if condition is not TRUE and self.size(condition) <= _LARGEST:
                    out.facts = FactLink(out.facts, condition, link.note)
        for variable in [*a.store, *(v for v in b.store if v not in a.store)]:
            first, second = a.store.get(variable), b.store.get(variable)
            if first is second and first is not None:
                out.store[variable] = first
                continue
            if first is None or second is None:
                if not variable.outside:
                    continue
                first = first if first is not None else self.initial(variable, a.epoch)
                second = second if second is not None else self.initial(variable, b.epoch)
            out.store[variable] = self.combine(guard, first, second, variable.name)
        return out, guard

    def _guard(self, mine: list[FactLink], theirs: list[FactLink]) -> Expr:
        """The condition that told the paths apart, else a symbol for "the first one"."""
        if mine and theirs and mine[0].condition is ex.lnot(theirs[0].condition):
            return mine[0].condition
        return self.symbol("path", BOOL)

    def join_all(self, paths: list[tuple[State, Value | None]]) -> tuple[State, Value | None] | None:
        """All paths that arrive at one point, in source order, each with the value it brings along."""
        paths = list(paths)
        while len(paths) > 1:
            depths = [_shared_depth(paths[i][0], paths[i + 1][0]) for i in range(len(paths) - 1)]
            at = max(range(len(depths)), key=lambda i: (depths[i], i))
            (a, va), (b, vb) = paths[at], paths[at + 1]
            joined, guard = self.join(a, b)
            value = None
            if va is not None and vb is not None:
                value = self.combine(guard, va, vb, "result")
            paths[at : at + 2] = [(joined, value)]
        return paths[0] if paths else None


_OPAQUE = frozenset({"vector", "Tensor", "basic_string", "map", "unordered_map", "deque"})


def _is_opaque(ty: HostType) -> bool:
    """A class whose state cannot be reached as a scalar of the program."""
    return isinstance(ty, RecordType) and ty.head in _OPAQUE


def _shared_depth(a: State, b: State) -> int:
    ancestor = common_ancestor(a.facts, b.facts)
    return ancestor.depth if ancestor is not None else 0


def _leaves(value: Value) -> list[Value]:
    out: list[Value] = []
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, Choice):
            stack += [top.first, top.second]
        else:
            out.append(top)
    return out


def _is_object(value: Value) -> bool:
    """Whether a value has parts that can be asked for."""
    while isinstance(value, Choice):
        if not _is_object(value.second):
            return False
        value = value.first
    return isinstance(value, (Record, Unknown))


def alternatives(value: Value, guard: Expr = TRUE) -> list[tuple[Expr, Value]]:
    """The leaves of a choice, each with the condition under which it is meant."""
    if isinstance(value, Choice):
        first = alternatives(value.first, ex.land(guard, value.guard))
        return first + alternatives(value.second, ex.land(guard, ex.lnot(value.guard)))
    return [(guard, value)]
