"""One thread of a launch executed alone, with everything marked that depends on what memory holds.

Values read from memory that other threads can reach, results of atomics and warp exchanges are *tainted*; so is what is
computed from them, and every assignment under a decision by them, up to the place where both ways of the decision have
met. Barriers are only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzers.ir import kernel as k
from analyzers.ir.expr import PTR, Expr
from analyzers.reference.data import decode, encode, modify
from analyzers.reference.evaluate import Frame, Shadow, arbitrary, text_number
from analyzers.reference.exchange import exchange, takes_mask
from analyzers.reference.interpreter import CompiledKernel
from analyzers.reference.launch import WARP, ConcreteLaunch, cluster_of
from analyzers.reference.memory import AddressSpace, Memory, ObjectEntry, shared_instance
from analyzers.reference.program import Branch, Place
from analyzers.reference.stepping import LEAVE, Stepper

Data = Callable[[str, int, int], "int | None"]
"""(object, byte offset, width) -> contents that a witness supposes."""

Iterations = tuple[tuple[str, int], ...]

_PATIENCE = 300
"""A loop whose end is decided by data is left after so many decisions: some contents let it end."""


@dataclass(slots=True)
class Instance:
    """One execution of an event of interest."""

    object: str
    instance: int
    offset: int
    width: int
    interval: int
    """Equal for two threads in the same interval of their common barriers."""
    epoch: int
    iterations: Iterations
    tainted: bool
    undefined: frozenset[str]
    """What was executed before that C leaves undefined."""
    passed: int = 0
    """Barriers of any group before it."""


@dataclass(slots=True)
class Walk:
    """One thread on its way."""

    launch: ConcreteLaunch
    space: AddressSpace
    memory: Memory
    frame: Frame
    block: int
    rank: int
    other_block: int
    other_rank: int
    wanted: frozenset[int]
    data: Data | None
    pc: int = 0
    steps: int = 0
    finished: bool = False
    shadow: Shadow = field(default_factory=dict[str, bool])
    active: dict[int, int] = field(default_factory=dict[int, int])
    """Regions entered by a tainted decision -> barrier interval at that time."""
    interval: int = 0
    interval_tainted: bool = False
    epoch: int = 0
    decisions: dict[int, int] = field(default_factory=dict[int, int])
    """Tainted decisions made so far: place -> how often."""
    private: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])
    """(object, byte) of private memory -> tainted."""
    smeared: set[str] = field(default_factory=set[str])
    """Private objects of which nothing is known any more; ``*``: none is."""
    instances: list[Instance] = field(default_factory=list[Instance])
    barriers: list[tuple[int, Place, bool]] = field(default_factory=list[tuple[int, Place, bool]])
    """Common barriers passed: event, place, whether that depends on data."""
    arrivals: list[tuple[int, Place, bool]] = field(default_factory=list[tuple[int, Place, bool]])
    """All barriers: event, place, whether the other thread takes part."""
    unnamed: dict[int, bool] = field(default_factory=dict[int, bool])
    """Events of interest that the thread came to with a mask that does not name its own lane: whether that depends on
    data, each time."""
    ended: Place | None = None
    stop: str = ""
    violated: k.Assume | None = None
    """The condition that made it stop."""

    def private_tainted(self, entry: ObjectEntry, offset: int, width: int) -> bool:
        if entry.name in self.smeared or "*" in self.smeared:
            return True
        return any(self.private.get((entry.number, offset + i), True) for i in range(width))

    def contents(self, entry: ObjectEntry, offset: int, width: int) -> int:
        """What a read of reachable memory gives: supposed contents, own writes, the launch's contents, else zero."""
        supposed = self.data(entry.name, offset, width) if self.data is not None else None
        if supposed is not None:
            return supposed & ((1 << 8 * width) - 1)
        cells = self.memory.instance(entry, 0)
        value = 0
        for i in range(width):
            byte = cells.get(offset + i)
            if byte is None and entry.initial is not None:
                byte = self.memory.initial.byte(entry, offset + i, 0)
            value |= (byte or 0) << 8 * i
        return value

    def note_mask(self, event: int, mask: int, tainted: bool) -> None:
        """The thread is at a barrier or an exchange of the lanes in ``mask``."""
        if event in self.wanted and not mask >> self.rank % WARP & 1:
            self.unnamed[event] = self.unnamed.get(event, True) and (tainted or bool(self.active))

    def shares(self, s: k.Barrier, mask: int) -> bool:
        """Whether the other thread belongs to the group of a barrier executed here."""
        if s.scope == "grid":
            return True
        if s.scope == "cluster":
            return cluster_of(self.block, self.launch) == cluster_of(self.other_block, self.launch)
        if self.block != self.other_block:
            return False
        if s.scope == "block":
            return True
        if s.scope == "tile":
            size = s.tile or WARP
            return self.rank // size == self.other_rank // size
        if self.rank // WARP != self.other_rank // WARP:
            return False
        return bool(mask >> self.rank % WARP & 1 and mask >> self.other_rank % WARP & 1)


Step = Callable[[Walk], "int | None"]


class Tracer(Stepper[Walk]):
    """The operations of a kernel as closures over a :class:`Walk`."""

    def __init__(self, shared: CompiledKernel) -> None:
        super().__init__(shared.program, shared.evaluator)

    def walk(self, w: Walk, steps: int) -> None:
        """Go on for up to ``steps`` operations."""
        w.steps += steps
        w.pc, _, goes_on = self.execute(w, w.pc, steps)
        w.finished = not goes_on

    def _taint(self, e: Expr) -> Callable[[Frame, Shadow], bool]:
        return self.evaluator.taint(e) or _untainted

    def branch(self, pc: int, s: Branch) -> Step:
        test, taint, otherwise, region = (
            self.evaluator.value(s.condition),
            self.evaluator.taint(s.condition),
            s.otherwise,
            s.region,
        )
        if taint is None:
            return lambda w: None if test(w.frame) else otherwise

        def branch(w: Walk) -> int | None:
            taken = test(w.frame)
            if taint(w.frame, w.shadow):
                w.active.setdefault(region, w.interval)
                visits = w.decisions[pc] = w.decisions.get(pc, 0) + 1
                if visits > _PATIENCE:
                    taken = visits & 1
            return None if taken else otherwise

        return branch

    def halt(self, pc: int) -> Step:
        def halt(w: Walk) -> int:
            w.ended = self.place(w, pc)
            return LEAVE

        return halt

    def assign(self, s: k.Assign) -> Step:
        name, value, taint = s.var, self.evaluator.value(s.value), self.evaluator.taint(s.value)
        if taint is None:

            def assign(w: Walk) -> None:
                w.frame[name] = value(w.frame)
                w.shadow[name] = bool(w.active)

            return assign

        def assign_tainted(w: Walk) -> None:
            f = w.frame
            tainted = bool(w.active) or taint(f, w.shadow)
            f[name] = value(f)
            w.shadow[name] = tainted

        return assign_tainted

    def recorder(self, pc: int, s: k.Load | k.Store | k.Atomic) -> Callable[[Walk, ObjectEntry, int, int, bool], None]:
        loops = self.program.loops[pc]
        bounds = [(self.evaluator.value(index), extent) for index, extent in s.in_bounds]
        event, width = s.id, s.width

        def record(w: Walk, entry: ObjectEntry, at: int, offset: int, tainted: bool) -> None:
            if event not in w.wanted:
                return
            f = w.frame
            if entry.size is not None and not 0 <= offset <= entry.size - width:
                return
            if any(not 0 <= index(f) < extent for index, extent in bounds):
                return
            number = shared_instance(at, w.block, w.launch) if entry.space == "shared" else 0
            w.instances.append(
                Instance(
                    entry.name, number, offset, width, w.interval, w.epoch,
                    tuple([(label, f[key]) for label, key in loops]),
                    tainted or bool(w.active) or w.interval_tainted, frozenset(f.undefined), len(w.arrivals),
                )
            )  # fmt: skip

        return record

    def load(self, pc: int, s: k.Load) -> Step:
        pointer, taint, record = self.evaluator.value(s.pointer), self._taint(s.pointer), self.recorder(pc, s)
        name, ty, width = s.var, s.ty, s.width

        def load(w: Walk) -> None:
            f = w.frame
            tainted = taint(f, w.shadow)
            at = pointer(f)
            entry, offset = w.space.find(at)
            if entry.private:
                tainted = tainted or bool(w.active) or w.private_tainted(entry, offset, width)
                f[name] = decode(w.memory.read(entry, 0, offset, width), ty, width)
            else:
                record(w, entry, at, offset, tainted)
                bits = w.contents(entry, offset, width)
                if ty == PTR and bits == 0:
                    # Equal cells of memory that nobody writes hold equal pointers, different ones are disjoint.
                    bits = w.space.pointee(entry, offset)
                    tainted = tainted or bool(w.active) or not entry.read_only
                else:
                    tainted = True
                f[name] = decode(bits, ty, width)
            w.shadow[name] = tainted

        return load

    def store(self, pc: int, s: k.Store) -> Step:
        pointer, address_taint = self.evaluator.value(s.pointer), self._taint(s.pointer)
        value, taint, record = self.evaluator.value(s.value), self._taint(s.value), self.recorder(pc, s)
        ty, width = s.value.ty, s.width

        def store(w: Walk) -> None:
            f = w.frame
            at = pointer(f)
            entry, offset = w.space.find(at)
            bits = encode(value(f), ty, width)
            if not entry.private:
                record(w, entry, at, offset, address_taint(f, w.shadow))
            elif address_taint(f, w.shadow):
                w.smeared.add(entry.name)
            else:
                tainted = bool(w.active) or taint(f, w.shadow)
                for i in range(width):
                    w.private[entry.number, offset + i] = tainted
            w.memory.write(entry, 0, offset, width, bits)

        return store

    def atomic(self, pc: int, s: k.Atomic) -> Step:
        pointer, taint, record = self.evaluator.value(s.pointer), self._taint(s.pointer), self.recorder(pc, s)
        operands = [self.evaluator.value(e) for e in s.operands]
        name, ty, width = s.var, s.ty, s.width

        def atomic(w: Walk) -> int | None:
            f = w.frame
            at = pointer(f)
            entry, offset = w.space.find(at)
            record(w, entry, at, offset, taint(f, w.shadow))
            old = decode(w.contents(entry, offset, width), ty, width)
            try:
                new = modify(s.op, ty, old, [o(f) for o in operands])
            except ValueError as error:
                w.stop = f"came to unsupported code ({error})"
                return LEAVE
            w.memory.write(entry, 0, offset, width, encode(new, ty, width))
            if entry.private:
                w.smeared.add(entry.name)
            if name is not None:
                f[name] = old
                w.shadow[name] = True
            return None

        return atomic

    def barrier(self, pc: int, s: k.Barrier) -> Step:
        mask = None if s.mask is None else self.evaluator.value(s.mask)
        mask_taint = _untainted if s.mask is None else self._taint(s.mask)
        reduce = None if s.reduce is None else (s.reduce[2], self.evaluator.value(s.reduce[1]))
        named = text_number(s.scope) if s.scope in ("warp", "tile") else s.id

        if s.scope == "meeting":

            def meeting(w: Walk) -> int:
                w.stop = "comes to a barrier where some threads only arrive"
                return LEAVE

            return meeting

        def barrier(w: Walk) -> None:
            f = w.frame
            value = 0xFFFFFFFF if mask is None else mask(f) & 0xFFFFFFFF
            tainted = mask_taint(f, w.shadow)
            if tainted:
                w.interval_tainted = True
            w.note_mask(s.id, value, tainted)
            place, common = self.place(w, pc), w.shares(s, value)
            w.arrivals.append((s.id, place, common))
            if common:
                w.barriers.append((s.id, place, bool(w.active)))
                w.interval = hash((w.interval, named, value))
                w.epoch += 1
            if reduce is not None:
                target, operand = reduce
                f[target] = 1 if operand(f) else 0
                w.shadow[target] = True

        return barrier

    def fence(self, s: k.Fence) -> Step:
        return lambda w: None

    def collective(self, pc: int, s: k.Collective) -> Step:
        operands, first = [self.evaluator.value(e) for e in s.operands], 1 if takes_mask(s.name) else 0
        mask_taint = self._taint(s.operands[0]) if first else _untainted
        name, ty = s.var, s.ty

        def collective(w: Walk) -> None:
            lane = w.rank % WARP
            given = [o(w.frame) for o in operands]
            if first:
                w.note_mask(s.id, given[0], mask_taint(w.frame, w.shadow))
            arguments: Sequence[Any] = given[first:]
            found = exchange(s.name, {lane: arguments}, ty, lambda _: arguments[0])
            w.frame[name] = arbitrary(ty) if found is None else found[lane]
            w.shadow[name] = True

        return collective

    def assume(self, pc: int, s: k.Assume) -> Step:
        condition, taint = self.evaluator.value(s.condition), self._taint(s.condition)

        def assume(w: Walk) -> int | None:
            if condition(w.frame) or taint(w.frame, w.shadow):
                return None
            w.stop = f"violates an assumption ({s.source})"
            w.violated = s
            return LEAVE

        return assume

    def join(self, region: int) -> Step:
        """After a construct that data steered, what it may have changed depends on data."""
        number, changed = region, self.program.regions[region]

        def join(w: Walk) -> None:
            before = w.active.pop(number, None)
            if before is None:
                return
            for name in changed.assigned:
                w.shadow[name] = True
            w.smeared |= changed.stores
            if changed.barriers:
                # Threads that do not diverge have passed the same barriers, however many.
                w.interval = hash((before, number))

        return join

    def havoc(self, s: k.Havoc) -> Step:
        def havoc(w: Walk) -> None:
            w.frame[s.var] = arbitrary(s.ty, text_number(s.var))
            w.shadow[s.var] = True

        return havoc

    def unsupported(self, s: k.Unsupported) -> Step:
        text = f"came to unsupported code ({s.kind})"

        def stop(w: Walk) -> int:
            w.stop = text
            return LEAVE

        return stop


def _untainted(f: Frame, s: Shadow) -> bool:
    return False
