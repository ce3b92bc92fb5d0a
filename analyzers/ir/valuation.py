"""Expressions over the state of one arbitrary thread: the first layer of the symbolic execution.

Holds what is known of the thread so far and turns program expressions into ones without variables. What depends on
floating point, or asks something of pointers that is not known, becomes an opaque datum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Final

from analyzers.ir import expr as E
from analyzers.ir import kernel as K
from analyzers.ir.bittricks import is_count
from analyzers.ir.closedforms import Rings
from analyzers.ir.events import (
    AccessEvent,
    BarrierEvent,
    Broadcast,
    Conjunct,
    ConjunctKind,
    Definition,
    FenceEvent,
    Guard,
    LoopInstance,
    Match,
    UnsupportedEvent,
    WaitEvent,
)
from analyzers.ir.expr import Expr, FloatType, IntType, PointerType
from analyzers.ir.memory_state import Cell, State, overlap
from analyzers.ir.pointers import (
    address_number,
    pointed_objects,
    pointer_targets,
    points_to,
    rewritten_objects,
    written_objects,
)
from analyzers.ir.uniformity import narrower, varying
from analyzers.ir.warp_scans import WarpScans

MAX_TERMS = 1_000
"""Operations of an integer, repeated ones counted again, beyond which it is taken for a hash: nothing is known of it
but that equal inputs give equal values."""

STAND_INS: Final = ("datum", "chosen", "hash:")
"""How the names of opaque values begin that stand for what nothing is computed of: floats, and what takes too many
operations."""


_HASH: Final = STAND_INS[2]


def _names_lanes(s: K.Stmt) -> bool:
    """A barrier or an exchange of computed lanes, or the number of lanes in a mask."""
    if isinstance(s, K.Barrier):
        return s.mask is not None and s.mask.op != "const"
    if isinstance(s, K.Collective) and s.name.endswith("_sync") and s.operands[0].op != "const":
        return True
    values = (getattr(s, name, None) for name in ("value", "pointer", "condition"))
    return any(is_count(n) for n in E.walk(v for v in values if isinstance(v, Expr)))


def _behind_observations(body: Iterable[K.Stmt], seen: bool) -> tuple[list[K.Stmt], bool]:
    """Stores and atomics that may come after an atomic or a volatile load of their thread, where ``seen`` says whether
    one may come before ``body``; and whether one may be behind it."""
    out: list[K.Stmt] = []
    for s in body:
        if isinstance(s, K.If):
            (then, one), (orelse, two) = _behind_observations(s.then, seen), _behind_observations(s.orelse, seen)
            out += then + orelse
            seen = one or two
        elif isinstance(s, K.Block):
            inner, seen = _behind_observations(s.body, seen)
            out += inner
        elif isinstance(s, K.Loop):
            inside = (*s.head, *s.body, *s.latch)
            seen = seen or any(_observes(x) for x in K.statements(inside))
            out += _behind_observations(inside, seen)[0]
        else:
            if seen and isinstance(s, (K.Store, K.Atomic)):
                out.append(s)
            seen = seen or _observes(s)
    return out, seen


def _observes(s: K.Stmt) -> bool:
    return isinstance(s, K.Atomic) or (isinstance(s, K.Load) and s.volatile)


def _indexed(kernel: K.Kernel, targets: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Local objects of which more than single cells is to be known: those with computed places, those that loops
    write, and those of which bytes are in several cells, as after a copy of the whole."""
    local = [o.name for o in kernel.objects if o.space == "local" and o.kind != "unknown"]
    if not local:
        return ()
    found: set[str] = set()
    cells: set[Cell] = set()
    inside = {id(s) for loop in K.statements(kernel.body) if isinstance(loop, K.Loop) for s in K.statements((loop,))}
    for s in K.statements(kernel.body):
        if isinstance(s, (K.Load, K.Store)):
            base, *place = s.pointer.args if s.pointer.op == "ptradd" else (s.pointer,)
            fixed = base.op == "addr" and all(x.op == "const" for x in place)
            if fixed:
                cells.add(Cell(base.value, sum(x.value for x in place), s.width))
            if not fixed or (isinstance(s, K.Store) and id(s) in inside):
                found |= pointed_objects(s.pointer, targets)
    found |= {one.object for one, two in pairwise(sorted(cells)) if overlap(one, two)}
    return tuple(name for name in local if name in found or "?" in found)


class Valuation:
    """The state of the execution, and expressions in it."""

    def __init__(self, kernel: K.Kernel, changed: frozenset[str]) -> None:
        self.kernel = kernel
        self.objects = {o.name: o for o in kernel.objects}
        self.accesses: list[AccessEvent] = []
        self.barriers: list[BarrierEvent] = []
        self.exchanges: list[BarrierEvent] = []
        self.private: set[int] = set()
        self.quiet = frozenset[int]()
        """Volatile loads that give what others do: `quiet_loads`."""
        self.fences: list[FenceEvent] = []
        self.waits: list[WaitEvent] = []
        self.unsupported: list[UnsupportedEvent] = []
        self.loops: dict[str, LoopInstance] = {}
        self.definitions: dict[str, Definition] = {}
        self.assumptions: dict[str, None] = dict.fromkeys(kernel.assumptions)
        self.data: dict[int, Expr] = {}
        self.guard: Guard = ()
        self.active: list[LoopInstance] = []
        self.state = State()
        self.order = 0
        self.recording = True
        self.points_to = points_to(kernel)
        self.written = written_objects(kernel, self.points_to) | changed
        self.rewritten = rewritten_objects(kernel, self.points_to) | changed
        behind, _ = _behind_observations(kernel.body, False)
        self.answered = written_objects(replace(kernel, body=tuple(behind)), self.points_to) | changed
        """Objects that a thread may write after it saw what another one did."""
        self.indexed = _indexed(kernel, self.points_to)
        """Local objects that are not only read and written at fixed places, one after the other."""
        self.names_lanes = any(_names_lanes(s) for s in K.statements(kernel.body))
        self.broadcasts: dict[str, Broadcast] = {}
        self.matches: dict[str, Match] = {}
        self.warp_scans = WarpScans()
        self.settled: list[tuple[Guard, tuple[str, ...], frozenset[Expr]]] = []
        """Of barriers of the block so far: their conditions, loops, and what these say of what was seen in atomics."""
        self.formations: dict[Expr, Guard] = {}
        """Masks of the active threads: the conditions that all of them met."""
        self.votes: dict[Expr, tuple[frozenset[Expr], frozenset[Expr]]] = {}
        """Masks of the lanes of a whole warp that voted for something: the conditions that all of these met, and what
        they voted for."""
        self.public: set[int] = set()
        """Keys of expressions without an address of the thread's own objects."""
        self._below: dict[int, tuple[Expr, ...]] = {}
        """Key of an expression of the program -> its nodes, operands first: in loops it is evaluated many times."""
        self._terms: dict[int, int] = {}
        """Key of a value -> how many operations it takes, up to the most."""
        self.placeholder_level: dict[Expr, str] = {}
        self.placeholders_read: set[Expr] = set()
        self.rings = Rings()

    def value(self, e: Expr) -> Expr:
        """``e`` over the current state, without variables, and with floating-point decisions made opaque."""
        memo: dict[int, Expr] = {}
        nodes = self._below.get(e.key)
        if nodes is None:
            nodes = self._below[e.key] = tuple(E.walk((e,)))
        for node in nodes:
            if node.op == "var":
                memo[node.key] = self.read_variable(node.value, node.ty)
                continue
            args = tuple([memo[a.key] for a in node.args])
            built = node if args == node.args else E.rebuild(node, args)
            if isinstance(built.ty, IntType) and built.args and built.op != "opaque":
                built = self._integer_of(built)
            memo[node.key] = built
        return memo[e.key]

    def _integer_of(self, e: Expr) -> Expr:
        kinds = [a.ty for a in e.args]
        if any(isinstance(t, PointerType) for t in kinds):
            return self._pointer_question(e)
        if any(isinstance(t, FloatType) for t in kinds):
            return self.datum(e)
        return e

    def _pointer_question(self, e: Expr) -> Expr:
        if e.op == "call" and e.value == "ptrtoint":
            number = address_number(e.args[0])
            return self.datum(e) if number is None else number
        if len(e.args) == 2:
            left, right = (self._single_root(a) for a in e.args)
            if left is not None and right is not None and left[0] is right[0]:
                if e.op == "ptrdiff":
                    return E.sub(left[1], right[1])
                if e.op in ("eq", "ne", "lt", "le"):
                    return E.compare(e.op, left[1], right[1])
            if e.op in ("eq", "ne") and (E.NULL in e.args):
                other = e.args[0] if e.args[1] is E.NULL else e.args[1]
                root = self._single_root(other)
                if (
                    root is not None
                    and root[0].op == "addr"
                    and self.objects[root[0].value].kind in ("declared", "dynamic")
                ):
                    return E.TRUE if e.op == "ne" else E.FALSE
        return self.datum(e)

    def _single_root(self, p: Expr) -> tuple[Expr, Expr] | None:
        roots = pointer_targets(p)
        return (roots[0][1], roots[0][2]) if len(roots) == 1 and roots[0][0] is E.TRUE else None

    def datum(self, e: Expr) -> Expr:
        """An opaque stand-in for a value computed from data: the same expression always gives the same stand-in.

        It is named ``chosen`` where not all that it is computed from need have a value: ``c ? in[n / c] : 0.0f``."""
        inputs: dict[int, Expr] = {}
        scope = "grid"
        studied = is_choice = False
        certain, arms = list(e.args), list[Expr]()
        seen = set[int]()
        while certain or arms:
            in_arm = not certain
            node = (certain or arms).pop()
            if node.key in seen:
                continue
            seen.add(node.key)
            if isinstance(node.ty, IntType):
                if not E.is_const(node):
                    inputs[node.key] = node
                    is_choice |= in_arm
                continue
            if node.op == "opaque":
                scope = narrower(scope, node.value[1])
            if node in self.placeholder_level:
                # What stands for it is put in later, but not here: it is the value of this iteration.
                studied = True
                scope = narrower(scope, self.placeholder_level[node])
            needed = 0 if in_arm else 1 if node.op == "select" else len(node.args)
            certain.extend(node.args[:needed])
            arms.extend(node.args[needed:])
        key = e.key
        if key not in self.data:
            given = tuple(inputs[k] for k in sorted(inputs))
            if studied:
                given += tuple(c for c in self.counters() if c not in given)
            name = f"{STAND_INS[is_choice]}{len(self.data)}"
            self.data[key] = E.opaque(name, e.ty, given, scope)
        return self.data[key]

    def limited(self, e: Expr) -> Expr:
        """``e``, or the stand-in for it where it takes too many operations to say anything about."""
        if not isinstance(e.ty, IntType):
            return e
        for n in E.walk((e,), self._terms):
            is_input = n.op in ("sym", "opaque", "const")
            terms = 1 if is_input else min(1 + sum(self._terms[a.key] for a in n.args), MAX_TERMS)
            self._terms[n.key] = terms
        if self._terms[e.key] < MAX_TERMS:
            return e
        if e.key not in self.data:
            # What a hash is made into is a function of what that one is made of.
            inputs = dict.fromkeys(i for s in _atoms(e) for i in (s.args if _is_hash(s) else (s,)))
            self.data[e.key] = E.opaque(f"{_HASH}{len(self.data)}", e.ty, tuple(inputs), "grid")
        return self.data[e.key]

    def counters(self) -> tuple[Expr, ...]:
        return tuple(loop.counter for loop in self.active)

    def read_variable(self, name: str, ty: E.Type) -> Expr:
        found = self.state.variables.get(name)
        if found is None:
            found = E.opaque(f"undefined:{name}", ty, self.counters())
            self.state.variables[name] = found
        else:
            self.note_read(found)
        return found

    def note_read(self, value: Expr) -> None:
        """What a value is made of is read: a variable that a branch has set may still hold what it had before, where
        the thread has not come here by that branch."""
        if not self.placeholder_level or self.placeholder_level.keys().isdisjoint(E.symbols(value)):
            return
        known = {c.condition for c in self.guard}
        left = [value]
        while left:
            part = left.pop()
            if part.op != "select":
                self.placeholders_read.update(self.placeholder_level.keys() & E.symbols(part))
                continue
            chosen, then, other = part.args
            if known.issuperset(E.conjuncts(chosen)):
                left.append(then)
            elif known.issuperset(E.conjuncts(E.lnot(chosen))):
                left.append(other)
            else:
                left += part.args

    def level(self, e: Expr) -> str:
        """The largest group that agrees on ``e``, placeholders of the loops under study taken at their assumed
        level."""
        found = varying(e)
        if self.placeholder_level:
            for placeholder in E.symbols(e) & self.placeholder_level.keys():
                found = narrower(found, self.placeholder_level[placeholder])
        return found

    def assign(self, name: str, value: Expr) -> None:
        self.state.variables[name] = value

    def _extend(self, condition: Expr, kind: ConjunctKind) -> None:
        for part in E.conjuncts(condition):
            self.guard = (*self.guard, Conjunct(part, kind, len(self.active)))

    def _reject(self, kind: str, text: str, site: K.Site) -> None:
        if self.recording and all(c.condition is not E.FALSE for c in self.guard):
            self.unsupported.append(UnsupportedEvent(kind, text, self.guard, site))

    def _tick(self) -> int:
        self.order += 1
        return self.order

    def _labels(self) -> tuple[str, ...]:
        return tuple(loop.label for loop in self.active)


def _is_hash(e: Expr) -> bool:
    return e.op == "opaque" and e.value[0].startswith(_HASH)


def _atoms(e: Expr) -> Iterator[Expr]:
    """The symbols and opaque values that an integer is computed from, from left to right."""
    seen: set[int] = set()
    stack = [e]
    while stack:
        node = stack.pop()
        if node.key in seen:
            continue
        seen.add(node.key)
        if node.op in ("sym", "opaque"):
            yield node
        else:
            stack.extend(reversed(node.args))
