"""Whether a thread that is alone may stay in a loop: whether an iteration may leave what the loop goes by as it was.

``while (*flag == 0);`` stays until another thread writes; ``while (i < *count) i++;`` ends, whatever is read, and so do
the retries of a ``cas`` that takes what it saw for what it expects. Takes a loop and what flows in it (`spins`), goes
through one iteration symbolically, memory included, gives the condition under which everything is the same behind it.
What is not followed, as the loops within, may become anything. A variable that is computed from what the last
iteration left, as in ``i += step`` or a binary search, steps: it is taken to become something else; so is one that
follows a link, as in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.ir.expr import BOOL, TRUE, Expr, FloatType, IntType, Type
from analyzers.ir.spins import Iteration, objects_of, readable

_MEMORY = "memory"
"""Identity of what is at an address when the iteration begins."""
_ANY = "any"
"""How identities of what is not followed begin."""

_MAY_KEEP = frozenset({"and", "or", "min", "max"})
"""Operators that may give one of their operands, as where values are gathered."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a load or atomic found in the iteration."""

    condition: Expr
    """When it was executed."""
    content: Expr | None
    """What was there, and is as long as nobody writes; None where the loop itself may have written it before."""
    pointer: Expr


@dataclass(frozen=True, slots=True)
class Staying:
    """Of an iteration of a thread that is alone, in terms of what it began with."""

    going: Expr
    """That another iteration follows."""
    still: Expr
    """That one follows with what it goes by as before."""
    around: Expr
    """The same, but for variables that step or follow links."""
    steps: frozenset[Expr]
    """The variables that may step."""
    links: frozenset[Expr]
    """The variables that may follow a link."""
    reads: Mapping[int, Read]
    """By id, but for those in loops within."""
    kept: Sequence[tuple[frozenset[Expr], Expr]]
    """Of each value that it leaves to the next one: what it is made of where it is not as before, and when that is."""

    def stays_with(self, read: int) -> Expr:
        """That the thread stays in the loop with a certain read."""
        found = self.reads.get(read)
        return self.still if found is None else E.land(self.still, found.condition)

    def comes_around_with(self, read: int) -> Expr:
        """The same, where variables may step and follow links; of reads in loops within it is not said."""
        found = self.reads.get(read)
        return E.FALSE if found is None else E.land(self.around, found.condition)

    def goes_on_with(self, read: int) -> Expr:
        """The same of a read at one place, wherever the variables that step have come to: at the lowest of their values
        and at the highest, and where the loop asks whether one is a certain value, there."""
        lowest, highest = dict[Expr, Expr](), dict[Expr, Expr]()
        for variable in self.steps:
            if not isinstance(variable.ty, IntType):
                return E.FALSE
            lowest[variable], highest[variable] = (E.const(n, variable.ty) for n in (variable.ty.low, variable.ty.high))
        ends = [lowest, highest]
        for asked in E.walk((self.going,)):
            if asked.op not in ("eq", "ne") or self.steps.isdisjoint(E.walk((asked,))):
                continue
            one, two = asked.args
            variable, value = (one, two) if one in self.steps else (two, one)
            if variable not in self.steps or not self.steps.isdisjoint(E.walk((value,))):
                return E.FALSE
            ends.append({variable: value})
        if self.moves(read, self.steps | self.links):
            return E.FALSE
        return E.land(self.comes_around_with(read), *(E.substitute(self.going, end) for end in ends))

    def moves(self, read: int, variables: Collection[Expr]) -> bool:
        """Whether a read goes to other places as one of these variables changes."""
        found = self.reads.get(read)
        return found is not None and any(e in variables for e in E.walk((found.pointer,)))

    def ends_with(self, read: int, value: Expr) -> Expr:
        """That the loop would go on, and ends because a certain read gives another value, this one, or goes on with
        something that comes of it. True also where what is not followed has a part in it."""
        found = self.reads.get(read)
        content = found.content if found is not None else None
        if content is None or not (isinstance(content.ty, IntType) and isinstance(value.ty, IntType)):
            return TRUE
        changes = [changed for made_of, changed in self.kept if content in made_of]
        if any(e.op == "opaque" and not _is_memory(e) for e in E.walk((self.going, *changes))):
            return TRUE
        then = E.land(self.going, *map(E.lnot, changes))
        return E.land(self.going, E.lnot(E.substitute(then, {content: E.cast(value, content.ty)})))


def staying(loop: K.Loop, flow: Iteration) -> Staying:
    """``flow``: that of the same loop."""
    return _Alone(flow).staying(loop)


@dataclass
class _State:
    """Variables by name, and memory by address, both as of the beginning of the iteration."""

    variables: dict[str, Expr] = field(default_factory=dict[str, Expr])
    cells: dict[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    written: frozenset[Expr] = frozenset()
    """Addresses; what may be there, too, is not known any more."""

    def copy(self) -> _State:
        return _State(dict(self.variables), dict(self.cells), self.written)


@dataclass
class _Alone:
    flow: Iteration
    state: _State = field(default_factory=_State, init=False)
    arrivals: dict[str, list[tuple[Expr, _State]]] = field(
        default_factory=dict[str, list[tuple[Expr, _State]]], init=False
    )
    """By label of a block: under which conditions it is left, and how."""
    jumps: list[str] = field(default_factory=list[str], init=False)
    """The labels of the jumps so far."""
    reads: dict[int, Read] = field(default_factory=dict[int, Read], init=False)
    unknown: int = field(default=0, init=False)

    def staying(self, loop: K.Loop) -> Staying:
        following = f"{loop.label}:continue"
        self.arrivals[following] = []
        going = self._body(loop.head, TRUE)
        going = E.land(going, self._value(loop.condition))
        going = self._joined(following, self._body(loop.body, going))
        going = self._body(loop.latch, going)
        return self._unchanged(going)

    # --- one iteration ----------------------------------------------------------------------------------

    def _body(self, body: Iterable[K.Stmt], condition: Expr) -> Expr:
        """Executes statements; gives the condition under which the end is reached."""
        for s in body:
            if condition is E.FALSE:
                break
            if isinstance(s, K.If):
                condition = self._if(s, condition)
            elif isinstance(s, K.Loop):
                condition = self._loop(s, condition)
            elif isinstance(s, K.Block):
                before, self.arrivals[s.label] = len(self.jumps), []
                behind = self._joined(s.label, self._body(s.body, condition))
                condition = condition if set(self.jumps[before:]) <= {s.label} else behind
            elif isinstance(s, (K.Exit, K.Continue)):
                self.jumps.append(_label(s))
                arrivals = self.arrivals.get(_label(s))
                if arrivals is not None:
                    arrivals.append((condition, self.state.copy()))
                condition = E.FALSE
            else:
                self._simple(s, condition)
        return condition

    def _if(self, s: K.If, condition: Expr) -> Expr:
        c, before, jumps = self._value(s.condition), self.state, len(self.jumps)
        self.state = before.copy()
        then, after_then = self._body(s.then, E.land(condition, c)), self.state
        self.state = before.copy()
        orelse = self._body(s.orelse, E.land(condition, E.lnot(c)))
        if orelse is E.FALSE:
            self.state = after_then
        elif then is not E.FALSE:
            self.state = self._merged(c, after_then, self.state)
        return condition if len(self.jumps) == jumps else E.lor(then, orelse)

    def _joined(self, label: str, condition: Expr) -> Expr:
        """Behind a block: who came to its end, and who left it before."""
        for arriving, state in self.arrivals.pop(label):
            self.state = state if condition is E.FALSE else self._merged(arriving, state, self.state)
            condition = E.lor(condition, arriving)
        return condition

    def _merged(self, condition: Expr, one: _State, two: _State) -> _State:
        merged = _State(written=one.written | two.written)
        for name in dict.fromkeys((*one.variables, *two.variables)):
            ty = (one.variables.get(name) or two.variables[name]).ty
            merged.variables[name] = E.select(condition, *(s.variables.get(name, E.var(name, ty)) for s in (one, two)))
        for cell in dict.fromkeys((*one.cells, *two.cells)):
            ty = (one.cells.get(cell) or two.cells[cell]).ty
            sides = [self._content(s, cell, ty) for s in (one, two)]
            merged.cells[cell] = E.select(condition, *sides)
        return merged

    def _loop(self, s: K.Loop, condition: Expr) -> Expr:
        """A loop within: what it changes may be anything that can come of what it is made of, and so may whether it is
        left by a jump further out."""
        inside = K.statements((s,))
        labels = {each.label for each in inside if isinstance(each, (K.Block, K.Loop))}
        labels |= {f"{label}:continue" for label in labels}
        flow, before = Iteration.of(s), self.state.copy()
        for name in flow.assigned:
            self.state.variables[name] = self._any(flow.types[name], _made_of(flow, flow.reached({name}), before))
        decided_by = _made_of(flow, flow.needed, before)
        for each in inside:
            if isinstance(each, (K.Store, K.Atomic)):
                self._write(self._value(each.pointer), None)
            elif isinstance(each, (K.Exit, K.Continue)) and _label(each) not in labels:
                self.jumps.append(_label(each))
                arrivals, left = self.arrivals.get(_label(each)), self._any(BOOL, decided_by)
                if arrivals is not None:
                    arrivals.append((E.land(condition, left), self.state.copy()))
                condition = E.land(condition, E.lnot(left))
        return condition

    # --- statements without others in them ----------------------------------------------------------------

    def _simple(self, s: K.Stmt, condition: Expr) -> None:
        known = self.state.variables
        if isinstance(s, K.Assign):
            known[s.var] = self._value(s.value)
        elif isinstance(s, K.Load):
            found = self._content(self.state, self._value(s.pointer), s.ty)
            self._read(s, condition, found)
            known[s.var] = found
        elif isinstance(s, K.Store):
            self._write(self._value(s.pointer), self._value(s.value))
        elif isinstance(s, K.Atomic):
            pointer = self._value(s.pointer)
            old = self._content(self.state, pointer, s.ty)
            self._read(s, condition, old)
            self._write(pointer, _changed(s, old, [self._value(o) for o in s.operands]))
            if s.var is not None:
                known[s.var] = old
        elif isinstance(s, K.Collective):
            known[s.var] = self._any(s.ty, tuple(self._value(o) for o in s.operands))
        elif isinstance(s, K.Havoc):
            known[s.var] = self._any(s.ty)
        elif isinstance(s, K.Barrier) and s.result is not None:
            name, ty = s.result
            known[name] = self._any(self.flow.types.get(name, ty), tuple(self._value(o) for o in s.operands))

    def _read(self, s: K.Load | K.Atomic, condition: Expr, found: Expr) -> None:
        content = _named(found) if _is_memory(found) else None
        self.reads[s.id] = Read(_named(condition), content, _named(self._value(s.pointer)))

    def _value(self, e: Expr) -> Expr:
        return E.rewrite(e, self._known)

    def _known(self, node: Expr) -> Expr | None:
        return self.state.variables.get(node.value, node) if node.op == "var" else None

    def _content(self, state: _State, pointer: Expr, ty: Type) -> Expr:
        found = state.cells.get(pointer)
        if found is None and not any(_may_be(pointer, w) for w in state.written):
            found = E.opaque(_MEMORY, ty, (pointer,))
        if found is None or found.ty != ty:
            found = self._any(ty)
        state.cells[pointer] = found
        return found

    def _write(self, pointer: Expr, value: Expr | None) -> None:
        cells = self.state.cells
        for other, content in cells.items():
            if other is not pointer and _may_be(other, pointer):
                cells[other] = self._any(content.ty)
        self.state.written |= {pointer}
        if value is not None:
            cells[pointer] = value
        elif pointer in cells:
            cells[pointer] = self._any(cells[pointer].ty)

    def _any(self, ty: Type, made_of: tuple[Expr, ...] = ()) -> Expr:
        self.unknown += 1
        return E.opaque(f"{_ANY}:{self.unknown}", ty, made_of)

    # --- what the loop goes by ------------------------------------------------------------------------------

    def _unchanged(self, going: Expr) -> Staying:
        carried = self._carried(going)
        steps = {b for b, after in carried.items() if any(_steps(b, e, carried) for e in _last(after))}
        links = {b for b, after in carried.items() if any(_follows(b, e) for e in _last(after))}
        still = [_same(b, after, carried, E.FALSE) for b, after in carried.items()]
        around = [_same(b, after, carried, TRUE) for b, after in carried.items()]
        made_of = (frozenset(E.walk(map(_named, _sources(b, after)))) for b, after in carried.items())
        return Staying(
            _named(going),
            _named(E.land(going, *still)),
            _named(E.land(going, *around)),
            frozenset(map(_named, steps)),
            frozenset(map(_named, links)),
            self.reads,
            [(parts, _named(E.lnot(same))) for parts, same in zip(made_of, still, strict=True)],
        )

    def _carried(self, going: Expr) -> dict[Expr, Expr]:
        """What one iteration leaves to the next that it goes by, directly or not, and what it becomes."""
        found, left, seen = dict[Expr, Expr](), [going], set[int]()
        while left:
            for node in E.walk((left.pop(),), seen):
                seen.add(node.key)
                after = self._after(node)
                if after is not None and after is not node:
                    found[node] = after
                    left.append(after)
        return found

    def _after(self, before: Expr) -> Expr | None:
        if before.op == "var" and before.value in self.flow.needed:
            return self.state.variables.get(before.value)
        if _is_memory(before) and self.flow.depends_on_memory(before.args[0]):
            after = self.state.cells.get(before.args[0])
            return after if after is not None and after.ty == before.ty else None
        return None


def _label(s: K.Exit | K.Continue) -> str:
    return s.label if isinstance(s, K.Exit) else f"{s.label}:continue"


def _is_memory(e: Expr) -> bool:
    return e.op == "opaque" and e.value[0] == _MEMORY


def _may_be(one: Expr, two: Expr) -> bool:
    """Whether two addresses may be the same, by the objects they are of alone."""
    first, second = objects_of(one), objects_of(two)
    return not first or not second or not first.isdisjoint(second)


def _changed(s: K.Atomic, old: Expr, operands: Sequence[Expr]) -> Expr | None:
    """What an atomic leaves; None where that is not followed."""
    if s.op == "load":
        return old
    if s.op in ("exch", "store"):
        return operands[0]
    if s.op == "cas":
        return E.select(E.compare("eq", old, operands[0]), operands[1], old)
    if isinstance(s.ty, FloatType) or s.op in ("inc", "dec"):
        return None
    return E.binary(s.op, old, operands[0])


def _made_of(flow: Iteration, names: Collection[str], before: _State) -> tuple[Expr, ...]:
    """What these, variables and memory, are in front of a loop."""
    variables = [before.variables.get(v, E.var(v, ty)) for v, ty in sorted(flow.types.items()) if v in names]
    cells = [content for pointer, content in before.cells.items() if not readable(pointer).isdisjoint(names)]
    return (*variables, *cells)


def _follows(before: Expr, after: Expr) -> bool:
    """Whether a value is what is found in memory where the one before leads to."""
    return any(before in set(E.walk(e.args)) for e in _reached(after, _operands) if _is_memory(e))


def _steps(before: Expr, after: Expr, carried: Collection[Expr]) -> bool:
    """Whether a variable is computed from what the last iteration left alone."""
    plain = _plain(after)
    if _is_memory(before) or plain in carried:
        return False
    operands = _reached(plain, _operands)
    return any(e in carried for e in operands) and all(e.op != "opaque" or e in carried for e in operands)


def _same(before: Expr, after: Expr, carried: Collection[Expr], moved: Expr) -> Expr:
    """That a value is what it was; ``moved`` where it steps or follows a link."""
    known: dict[Expr, Expr] = {}
    for e in reversed(_reached(after, _sides)):
        sides = _sides(e)
        if sides:
            known[e] = E.select(e.args[0], *(known[s] for s in sides))
        else:
            moves, equal = _follows(before, e), E.compare("eq", e, before)
            if not moves and _steps(before, e, carried):
                known[e] = E.lor(moved, equal) if _plain(e).op in _MAY_KEEP else moved
            else:
                known[e] = moved if moves else equal
    return known[after]


def _plain(e: Expr) -> Expr:
    return e.args[0] if e.op in ("cast", "narrow") else e


def _last(e: Expr) -> Iterator[Expr]:
    """What a value may be, without choices."""
    return (part for part in _reached(e, _sides) if part.op != "select")


def _sources(before: Expr, after: Expr) -> Iterator[Expr]:
    """What a value is made of where it is not as before, and when that is."""
    for e in _reached(after, _sides):
        if e.op == "select":
            yield e.args[0]
        elif e is not before:
            yield e


def _sides(e: Expr) -> tuple[Expr, ...]:
    return e.args[1:] if e.op == "select" else ()


def _operands(e: Expr) -> tuple[Expr, ...]:
    """What a value is made of, whatever decides between several, up to what is not followed."""
    return () if e.op == "opaque" else _sides(e) or e.args


def _reached(e: Expr, parts: Callable[[Expr], Sequence[Expr]]) -> list[Expr]:
    """An expression and its parts, and theirs, each once and in front of its own."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    left = [(e, False)]
    while left:
        node, done = left.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            left.append((node, True))
            left += [(part, False) for part in parts(node)]
    return order[::-1]


def _named(e: Expr) -> Expr:
    """With symbols for the variables that an iteration begins with."""
    return E.rewrite(e, lambda node: E.sym(f"carried:{node.value}", node.ty) if node.op == "var" else None)
