"""What of a kernel bears on a question: the rest need be neither executed nor summarized.

A slice is the kernel without the statements that do not matter. It is a backward one that does not look at the order of
statements: whatever may define a variable that matters, matters, and so does what decides whether a statement that
matters is reached. A thread comes to what is kept, in the same iterations and behind the same barriers and
assumptions, as in the whole kernel. Loops without atomics, fences, output and volatile accesses end, says C++, and may
be left out; of others at least the way through them is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from analyzers.ir import kernel as k
from analyzers.ir.barrier_intervals import Apart, barrier_intervals, reaches_clusters
from analyzers.ir.expr import TRUE, Expr, walk
from analyzers.ir.pointers import pointed_objects, points_to, written_objects

_ANYTHING = "?"
"""In the place of an object, as in `analyzers.ir.pointers`."""

_STOPS = (k.Barrier, k.Assume, k.Unsupported)
"""What matters always: it may stop the thread, tells intervals apart, or does what is not known."""

_ORDERS = (k.Fence, k.Observe, k.Atomic)
"""What may order accesses, or shows: matters to verdicts, and keeps a loop from being taken to end."""

_NOTHING = frozenset[str]()
_ALL_LANES = 0xFFFFFFFF


class Slicer:
    """The dependences of one kernel.

    Statements are numbered as they stand in the source, before what they contain."""

    def __init__(self, kernel: k.Kernel) -> None:
        self.kernel = kernel
        self._statements: list[k.Stmt] = []
        self._around: list[int] = []
        """By statement: the construct it stands in, -1 for none."""
        self._defining = defaultdict[str, list[int]](list)
        self._leaving = defaultdict[str, list[int]](list)
        """Label -> the statements that leave or continue that construct."""
        self._variables: dict[int, frozenset[str]] = {}
        self._pointees = points_to(kernel)
        self._objects: dict[int, frozenset[str]] = {}
        self._enter(kernel.body, -1)
        self._accesses = [n for n, s in enumerate(self._statements) if isinstance(s, (k.Load, k.Store, k.Atomic))]

    def to_accesses(self, wanted: frozenset[int]) -> k.Kernel:
        """The kernel as far as it decides how a thread comes to its barriers and to the accesses and exchanges
        ``wanted`` (their ``id``), to which addresses these go and which lanes they name. Other effects are left out."""
        lasting = [n for n, s in enumerate(self._statements) if isinstance(s, k.Loop) and _may_last(s)]
        exchanges = [n for n, s in enumerate(self._statements) if isinstance(s, k.Collective) and s.id in wanted]
        return self._slice([*lasting, *exchanges, *(n for n in self._accesses if self._access(n).id in wanted)])

    def of_conflicts(self, one_memory: Iterable[frozenset[str]], *, ordered: bool = False) -> Conflicts:
        """The kernel as far as it decides which accesses of different threads conflict, and what each writes.
        ``one_memory``: objects that the launches let be parts of the same allocation; ``ordered``: with the conflicts
        that barriers order wherever the accesses go."""
        private = {o.name for o in self.kernel.objects if o.space in ("local", "param")}
        writing = [n for n in self._accesses if not isinstance(self._statements[n], k.Load)]
        written = set(written_objects(self.kernel, self._pointees) - private)
        for objects in one_memory:
            if objects & written:
                written |= objects
        wanted = [n for n, s in enumerate(self._statements) if isinstance(s, _ORDERS)]
        wanted += self._missed_exchanges() or self._exchanges_of_some()
        retries = any(isinstance(s, k.Atomic) and s.op == "cas" for s in self._statements)
        telling = [
            s for n in writing if self._touched((s := self._access(n)).pointer) - private and (retries or _tells(s))
        ]
        left_out: list[tuple[int, frozenset[str]]] = []
        kept_apart: list[int] = []
        is_kept_apart = _never if ordered else self._kept_apart(writing)
        for number in self._accesses:
            s = self._access(number)
            touched = self._touched(s.pointer)
            if isinstance(s, k.Atomic) or _is_special(s):
                wanted.append(number)
            elif isinstance(s, k.Load) and touched.isdisjoint({_ANYTHING, "*"} | written) and _ANYTHING not in written:
                left_out.append((s.id, touched))
            elif isinstance(s, k.Load) and is_kept_apart(number):
                left_out.append((s.id, touched))
                kept_apart.append(s.id)
            elif not touched <= private:
                wanted.append(number)
        counted = [v for p in self.kernel.pipelines for v in _variables_of(p)]
        kernel = self._slice(wanted, [e for s in telling for e in _written(s)], counted)
        return Conflicts(kernel, tuple(left_out), frozenset(kept_apart))

    def _missed_exchanges(self) -> list[int]:
        """The exchanges of warps, where a lane may miss one of them."""
        exchanges = [n for n, s in enumerate(self._statements) if _is_exchange(s)]
        return exchanges if any(map(self._may_be_missed, exchanges)) else []

    def _exchanges_of_some(self) -> list[int]:
        """The exchanges of warps that may leave a lane unnamed which comes to them."""
        found = [(n, s) for n, s in enumerate(self._statements) if isinstance(s, k.Collective) and _is_exchange(s)]
        return [n for n, s in found if s.group is None and s.operands and not self._is_whole(s.operands[0])]

    def _is_whole(self, mask: Expr) -> bool:
        """Whether a mask is known to name all lanes: as a number, or as a variable that has no other value."""
        seen, left = set[str](), [mask]
        while left:
            e = left.pop()
            while e.op in ("cast", "narrow"):
                e = e.args[0]
            if e.op == "const" and e.value & _ALL_LANES == _ALL_LANES:
                continue
            if e.op != "var":
                return False
            if e.value not in seen:
                seen.add(e.value)
                definitions = [self._statements[n] for n in self._defining[e.value]]
                values = [s.value for s in definitions if isinstance(s, k.Assign)]
                if not values or len(values) < len(definitions):
                    return False
                left += values
        return True

    def _may_be_missed(self, number: int) -> bool:
        """Whether a statement stands in a conditional, or in what other statements leave."""
        while (number := self._around[number]) >= 0:
            s = self._statements[number]
            if isinstance(s, k.If) or (isinstance(s, (k.Block, k.Loop)) and self._leaving[s.label]):
                return True
        return False

    def _kept_apart(self, writing: Sequence[int]) -> Callable[[int], bool]:
        """Tells of an access to shared memory whether it is in no barrier interval with a write of the same object."""
        intervals = barrier_intervals(self.kernel.body)
        if intervals is None or reaches_clusters(self._statements):
            return _never
        shared = {o.name for o in self.kernel.objects if o.space == "shared"}
        writes = ((n, s, self._touched(s.pointer)) for n in writing for s in (self._access(n),))
        # A copy beside the thread goes on behind barriers.
        apart = Apart.of(
            shared,
            intervals,
            ((n, touched, not isinstance(s, k.Atomic) and _is_special(s)) for n, s, touched in writes),
        )
        return lambda number: apart.holds(number, self._touched(self._access(number).pointer))

    # --- the index

    def _enter(self, body: tuple[k.Stmt, ...], around: int) -> None:
        for s in body:
            number = len(self._statements)
            self._statements.append(s)
            self._around.append(around)
            for part in _parts(s):
                self._enter(part, number)
            if isinstance(s, (k.Exit, k.Continue)):
                self._leaving[s.label].append(number)
            for name in _defined(s):
                self._defining[name].append(number)

    def _access(self, number: int) -> k.Load | k.Store | k.Atomic:
        s = self._statements[number]
        assert isinstance(s, (k.Load, k.Store, k.Atomic))
        return s

    def _read(self, e: Expr) -> frozenset[str]:
        """The variables in an expression."""
        found = self._variables.get(e.key)
        if found is None:
            for node in walk((e,), self._variables):
                below = [self._variables[a.key] for a in node.args]
                own = frozenset((node.value,)) if node.op == "var" else _NOTHING
                self._variables[node.key] = own.union(*below) if below else own
            found = self._variables[e.key]
        return found

    def _touched(self, pointer: Expr) -> frozenset[str]:
        """The objects that a pointer may point into."""
        found = self._objects.get(pointer.key)
        if found is None:
            objects = pointed_objects(pointer, self._pointees)
            found = self._objects[pointer.key] = objects or frozenset((_ANYTHING,))
        return found

    # --- a slice

    def _slice(self, wanted: Sequence[int], values: Sequence[Expr] = (), variables: Iterable[str] = ()) -> k.Kernel:
        kept = self._kept(wanted, values, variables)
        if all(kept):
            return self.kernel
        return replace(self.kernel, body=self._rebuilt(self.kernel.body, iter(kept)))

    def _kept(self, wanted: Sequence[int], values: Sequence[Expr], variables: Iterable[str]) -> list[bool]:
        """By statement: whether it matters, where the statements ``wanted`` are to be reached and the values and
        variables to be known."""
        kept = [False] * len(self._statements)
        work = [n for n, s in enumerate(self._statements) if isinstance(s, _STOPS) or _has_no_end(s)]
        work += wanted
        known, read = set[str](), set[str]()
        needed = [*values]

        def need(name: str) -> None:
            if name in known:
                return
            known.add(name)
            for definition in self._defining[name]:
                work.append(definition)
                needed.extend(_operands(self._statements[definition]))
                for writer in self._writers(definition, read):
                    work.append(writer)
                    needed.extend(_written(self._statements[writer]))

        for name in variables:
            need(name)
        while work or needed:
            while needed:
                for name in self._read(needed.pop()) - known:
                    need(name)
            if not work or kept[number := work.pop()]:
                continue
            kept[number] = True
            s = self._statements[number]
            if self._around[number] >= 0:
                work.append(self._around[number])
            if isinstance(s, (k.Block, k.Loop)):
                work += self._leaving[s.label]
            needed += _decisive(s)
        return kept

    def _writers(self, number: int, read: set[str]) -> list[int]:
        """What may write the contents that a statement reads, but for objects that were ``read`` before."""
        s = self._statements[number]
        if not isinstance(s, (k.Load, k.Atomic)):
            return []
        new = self._touched(s.pointer) - read
        read |= new
        if not new:
            return []
        found: list[int] = []
        for writer in self._accesses:
            access = self._access(writer)
            if not isinstance(access, k.Load):
                touched = self._touched(access.pointer)
                if new & touched or _ANYTHING in new or _ANYTHING in touched:
                    found.append(writer)
        return found

    def _rebuilt(self, body: tuple[k.Stmt, ...], kept: Iterator[bool]) -> tuple[k.Stmt, ...]:
        out: list[k.Stmt] = []
        for s in body:
            is_kept = next(kept)
            parts = [self._rebuilt(part, kept) for part in _parts(s)]
            if is_kept:
                out.append(_with_parts(s, parts))
        return tuple(out)


LeftOut = Sequence[tuple[int, frozenset[str]]]
"""Accesses by ``id``, with the objects they may go to."""


@dataclass(frozen=True, slots=True)
class Conflicts:
    """A kernel without the reads that conflict with nothing and decide nothing."""

    kernel: k.Kernel
    left_out: LeftOut
    """Reads of objects that nothing writes, or not without a barrier in between; some may be in the kernel, because
    they decide something else."""
    kept_apart: frozenset[int]
    """Those that only barriers keep apart from writes, by ``id``."""


def _parts(s: k.Stmt) -> tuple[tuple[k.Stmt, ...], ...]:
    match s:
        case k.If(then=then, orelse=orelse):
            return then, orelse
        case k.Loop(head=head, body=body, latch=latch):
            return head, body, latch
        case k.Block(body=body):
            return (body,)
        case _:
            return ()


def _with_parts(s: k.Stmt, parts: list[tuple[k.Stmt, ...]]) -> k.Stmt:
    match s:
        case k.If():
            return replace(s, then=parts[0], orelse=parts[1])
        case k.Loop():
            return replace(s, head=parts[0], body=parts[1], latch=parts[2])
        case k.Block():
            return replace(s, body=parts[0])
        case _:
            return s


def _has_no_end(s: k.Stmt) -> bool:
    """A loop that nothing in it leaves, so what stands behind is not reached."""
    if not isinstance(s, k.Loop) or s.condition is not TRUE:
        return False
    inside = k.statements(s.head + s.body + s.latch)
    within = {x.label for x in inside if isinstance(x, (k.Block, k.Loop))}
    return not any(isinstance(x, k.Exit) and x.label not in within for x in inside)


def _may_last(loop: k.Loop) -> bool:
    """It does what a loop may do for ever."""
    return any(
        isinstance(x, _ORDERS) or (isinstance(x, (k.Load, k.Store)) and x.volatile)
        for x in k.statements(loop.head + loop.body + loop.latch)
    )


def _defined(s: k.Stmt) -> tuple[str, ...]:
    if isinstance(s, k.Barrier):
        return () if s.result is None else (s.result[0],)
    if isinstance(s, (k.Assign, k.Load, k.Atomic, k.Collective, k.Havoc)) and s.var is not None:
        return (s.var,)
    return ()


def _is_exchange(s: k.Stmt) -> bool:
    """Lanes wait for each other there."""
    return (isinstance(s, k.Collective) and s.name.endswith("_sync")) or (isinstance(s, k.Havoc) and s.tile is not None)


def _decisive(s: k.Stmt) -> tuple[Expr, ...]:
    """What a statement that matters is decided by."""
    match s:
        case k.Assign(value=value):
            return (value,)
        case k.Load() | k.Store() | k.Atomic():
            return (s.pointer, *(index for index, _ in s.in_bounds))
        case k.Barrier():
            return s.operands
        case k.Collective(operands=operands) if _is_exchange(s):
            return operands[:1]
        case k.If(condition=condition) | k.Loop(condition=condition) | k.Assume(condition=condition):
            return (condition,)
        case _:
            return ()


def _written(s: k.Stmt) -> tuple[Expr, ...]:
    """What a write puts into memory: it matters only where that is read."""
    match s:
        case k.Store(value=value):
            return (value,)
        case k.Atomic(operands=operands):
            return operands
        case _:
            return ()


def _operands(s: k.Stmt) -> tuple[Expr, ...]:
    """What the result of an atomic tells of, besides memory, and that of an exchange."""
    return s.operands if isinstance(s, (k.Atomic, k.Collective)) else ()


def _is_special(s: k.Load | k.Store) -> bool:
    """More than the bytes of the thread's own address, or its own time, matters."""
    return s.volatile or s.asynchronous or bool(s.lanes)


def _tells(s: k.Load | k.Store | k.Atomic) -> bool:
    """A write of a value that others may compare or wait for; what a sum or the like adds is data."""
    return isinstance(s, k.Store) or (isinstance(s, k.Atomic) and s.op in ("cas", "exch", "store"))


def _variables_of(p: k.Pipeline) -> tuple[str, ...]:
    return (p.acquired, p.committed, p.waited, p.released, p.producer, p.consumer)


def _never(_: int) -> bool:
    return False
