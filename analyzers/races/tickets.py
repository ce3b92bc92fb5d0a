"""Atomic tickets and claims: what the values that atomics return say of the threads that got them.

*Tickets*: an atomic add of ``c`` to a counter that is only ever added to gives its caller a range ``[old, old + c)``
that no other addition gets. *Claims*: of all threads whose compare-and-swap expects one value, at most one sees it, if
the value it puts there is another; of all that exchange the cell for one constant, or clear the same bits of it, at
most one finds it otherwise; of two that set bits of it the second one finds those of the first.

Both hold while nothing else changes the cell. Additions of one kind may stand at several places. A plain write to the
object starts anew: it is a race itself unless something keeps it apart from the atomics. Where only barriers can, what
holds between two executions of one atomic holds in equal iterations of the loops that it shares with such writes; locks
and signals may put it between any two. Counters are assumed
not to wrap around (``NO_WRAP``, to be listed), unless a launch of known size makes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import prod

from analyzers.ir import expr as E
from analyzers.ir.events import AccessEvent
from analyzers.ir.expr import I64, Expr, IntType
from analyzers.races.others import may_have_waited, passage
from analyzers.races.scans import at_least
from analyzers.races.shared_counts import barrier_between, not_negative, reached_at, value_at, writes_to
from analyzers.races.threads import Launch, Mode, no_iteration, not_reached

NO_WRAP = "atomic counters do not wrap around"


def tickets(launch: Launch) -> dict[int, AccessEvent]:
    """Event id -> the atomic, for the atomics whose results tell threads apart."""
    out: dict[int, AccessEvent] = {}
    for a in launch.events.accesses:
        if a.atomic is None or not _tells_apart(launch, a):
            continue
        others = [o for o in writes_to(launch, a) if o.id != a.id]
        if all(_stays_apart(launch, a, o) for o in others) and not _wraps(launch, a):
            out[a.id] = a
    return out


def _starts_anew(o: AccessEvent) -> bool:
    return o.kind == "write" and not o.volatile


def _stays_apart(launch: Launch, a: AccessEvent, o: AccessEvent) -> bool:
    """Another change of the cell that no ticket is handed out twice by: an addition too, or a plain write that is never
    between two executions of the atomic in equal iterations. With locks or signals it may be, unless a barrier of the
    block is between the two."""
    if _both_add(launch, a, o):
        return True
    if not _starts_anew(o):
        return False
    if _space(launch, a) == "shared" and barrier_between(launch, *sorted((a, o), key=lambda x: x.order)):
        return True
    from_write = passage(launch.events, a.id, o.id)
    return not may_have_waited(launch, a) and (from_write is None or not may_have_waited(launch, o))


def _wraps(launch: Launch, a: AccessEvent) -> bool:
    """The threads of a launch of known size take more tickets than the counter has."""
    assert a.atomic is not None
    threads = [*launch.block, *(launch.grid if _space(launch, a) == "global" else ())]
    if a.atomic.op not in ("add", "sub") or a.atomic.constant is None or a.root.op != "addr" or a.offset.op != "const":
        return False
    always = all(c.kind == "assume" for c in a.guard)
    known = [n for n in threads if n is not None]
    return always and len(known) == len(threads) and prod(known) * abs(a.atomic.constant) > 1 << 8 * a.width


def _space(launch: Launch, a: AccessEvent) -> str:
    return launch.events.kernel.object(a.root.value).space if a.root.op == "addr" else "global"


def anew_in(launch: Launch, a: AccessEvent) -> tuple[str, ...]:
    """The loops around an atomic in which a plain write changes its cell."""
    changed = {loop for o in writes_to(launch, a) if o.id != a.id and _starts_anew(o) for loop in o.loops}
    return tuple(loop for loop in a.loops if loop in changed)


def _tells_apart(launch: Launch, a: AccessEvent) -> bool:
    assert a.atomic is not None
    if a.atomic.op in ("add", "sub"):
        return bool(a.atomic.constant) or adds(launch, a)
    if a.atomic.op in ("exch", "and"):
        return a.atomic.constant is not None
    if a.atomic.op == "or":
        return a.value is not None and isinstance(a.value.ty, IntType)
    if a.atomic.op != "cas" or a.atomic.expected is None or a.value is None:
        return False
    return isinstance(a.value.ty, IntType) and a.atomic.expected != a.atomic.constant


def adds(launch: Launch, a: AccessEvent) -> bool:
    """An addition that never makes the counter smaller (unless it wraps around) where its thread comes to it."""
    if a.atomic is None or a.atomic.op != "add" or a.value is None or not isinstance(a.value.ty, IntType):
        return False
    return at_least(launch, a.value, launch.once(not_negative), [c.condition for c in a.guard]) is not None


def _both_add(launch: Launch, a: AccessEvent, o: AccessEvent) -> bool:
    return a.width == o.width and adds(launch, a) and adds(launch, o)


def ticket_conditions(launch: Launch, conjuncts: Iterable[Expr], mode: Mode) -> list[Expr]:
    """For each two such results that the threads hold: how the values differ where they come from one cell."""
    known = launch.once(tickets)
    if not known:
        return []
    held: dict[str, dict[str, list[Expr]]] = {}
    given = set(conjuncts)
    for node in sorted((n for n in E.symbols(*given) if n.op == "opaque"), key=lambda n: n.rank):
        identity, _, side = node.value[0].rpartition("@")
        if side in ("1", "2") and identity.startswith("atomic:"):
            held.setdefault(identity, {}).setdefault(side, []).append(node)
    out: list[Expr] = []
    atomics = {i: known[n] for i in sorted(held) if (n := int(i.split(":")[1])) in known}
    for one, two in combinations_with_replacement(atomics, 2):
        a, b = atomics[one], atomics[two]
        if not _one_cell(launch, a, mode) or not (a is b or _one_counter(launch, a, b)):
            continue
        # Which thread holds which of two is open.
        for (i, first), (j, second) in {((one, a), (two, b)): None, ((two, b), (one, a)): None}:
            for left, right in product(held[i].get("1", ()), held[j].get("2", ())):
                if left.ty == right.ty and isinstance(left.ty, IntType):
                    mine, theirs = _Got(launch, first, left, 1, mode), _Got(launch, second, right, 2, mode)
                    same = [E.compare("eq", e, f) for e, f in zip(mine.cell(), theirs.cell(), strict=True)]
                    none = [*mine.not_taken(given), *theirs.not_taken(given)]
                    law = apart(a, (left, mine.step()), (right, theirs.step()))
                    out.append(E.lor(*none, E.lnot(E.land(*same)), law))
    return out


def _one_counter(launch: Launch, a: AccessEvent, b: AccessEvent) -> bool:
    """Whether two atomics take their tickets from one counter, which is not set anew between the two."""
    if a.root is not b.root or not _both_add(launch, a, b) or anew_in(launch, a) != anew_in(launch, b):
        return False
    early, late = sorted((a.order, b.order))
    return not any(_starts_anew(o) and early < o.order < late for o in writes_to(launch, a))


@dataclass(frozen=True, slots=True)
class _Got:
    """What an atomic gave a thread in the iterations that the arguments of its result name: those that the thread is
    in, or earlier ones."""

    launch: Launch
    atomic: AccessEvent
    result: Expr
    thread: int
    mode: Mode

    def cell(self) -> list[Expr]:
        """Where it was, and the iterations in which the cell is set anew."""
        turns = dict(zip(self.atomic.loops, self.result.args, strict=True))
        return [self._then(self.atomic.offset), *(turns[label] for label in anew_in(self.launch, self.atomic))]

    def step(self) -> Expr:
        """What the atomic added, without its sign where it is a constant; what else it put there."""
        kind = self.atomic.atomic
        assert kind is not None
        if kind.constant is not None and kind.op in ("add", "sub", "exch", "and"):
            return E.const(abs(kind.constant), I64)
        return self._then(self.atomic.value)

    def not_taken(self, given: Collection[Expr]) -> list[Expr]:
        """When there is no such result, where the conditions ``given`` hold."""
        guard = reached_at(self.launch, self.atomic, self.result, self.thread, self.mode)
        return [*no_iteration(self.result.args), *not_reached(guard, given)]

    def _then(self, e: Expr | None) -> Expr:
        return value_at(self.launch, e, self.atomic.loops, self.result, self.thread, self.mode)


def apart(a: AccessEvent, one: tuple[Expr, Expr], two: tuple[Expr, Expr]) -> Expr:
    """The tickets of two executions, each with what it added or put there, do not overlap."""
    assert a.atomic is not None
    (left, step), (right, other) = one, two
    if a.atomic.op == "cas":
        assert a.atomic.expected is not None
        assert isinstance(left.ty, IntType)
        expected = E.const(a.atomic.expected, left.ty)
        # Who puts there what was expected changes nothing, and the next one finds it again.
        idle = [E.compare("eq", E.cast(given, left.ty), expected) for given in (step, other)]
        return E.lor(E.compare("ne", left, expected), E.compare("ne", right, expected), *idle)
    if a.atomic.op == "or":
        # The bits of the first one are in what the second one finds.
        assert isinstance(left.ty, IntType)
        given = [E.cast(g, left.ty) for g in (step, other)]
        seen = [E.binary("and", v, g) for v, g in ((right, given[0]), (left, given[1]))]
        return E.lor(*(E.compare("eq", both, g) for both, g in zip(seen, given, strict=True)))
    if a.atomic.op in ("exch", "and"):
        return E.lor(_found_changed(a, left), _found_changed(a, right))
    x, y = E.cast(left, I64), E.cast(right, I64)
    if a.atomic.op == "sub" or (a.atomic.constant or 0) < 0:
        return E.lor(E.compare("le", E.add(x, step), y), E.compare("le", E.add(y, step), x))
    # That the counter does not wrap around holds of its value after the addition too.
    assert isinstance(left.ty, IntType)
    top = E.const(left.ty.high, I64) if left.ty.width < 64 else None
    fits = [E.compare("le", E.add(v, s), top) for v, s in ((x, step), (y, other))] if top is not None else []
    return E.land(E.lor(E.compare("le", E.add(x, step), y), E.compare("le", E.add(y, other), x)), *fits)


def _found_changed(a: AccessEvent, seen: Expr) -> Expr:
    """The cell was as this atomic leaves it already."""
    assert a.atomic is not None
    assert isinstance(seen.ty, IntType)
    given = E.const(a.atomic.constant or 0, seen.ty)
    if a.atomic.op == "exch":
        return E.compare("eq", seen, given)
    return E.compare("eq", E.binary("and", seen, E.bitnot(given)), E.const(0, seen.ty))


def _one_cell(launch: Launch, a: AccessEvent, mode: Mode) -> bool:
    """Both threads see the same object: a shared counter is one per block."""
    if a.root.op != "addr":
        return False
    return mode != "grid" or launch.events.kernel.object(a.root.value).space == "global"
