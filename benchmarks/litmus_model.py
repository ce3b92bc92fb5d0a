"""What the memory consistency model of PTX allows of a small program without loops or branches, by enumeration.

`outcomes` goes through all executions of a program: which write each read reads, in which order the writes of a place
are, and in which order ``fence.sc`` are; those that keep the axioms of the PTX ISA's chapter *Memory Consistency Model*
(coherence, Fence-SC, SC per location, causality) give the values that reads may return. All accesses are ``.relaxed``
at one scope and of one size, so that they are morally strong with each other where the scope covers both threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Final, Literal

Scope = Literal["cta", "gpu", "sys"]
Edges = frozenset[tuple[int, int]]
INITIAL: Final = -1
"""The thread of the writes that memory begins with."""


@dataclass(frozen=True, slots=True)
class Write:
    """``st.relaxed``."""

    place: str
    value: int


@dataclass(frozen=True, slots=True)
class Read:
    """``ld.relaxed``."""

    place: str
    register: str


@dataclass(frozen=True, slots=True)
class Fence:
    """``fence.sc``, which ``membar`` stands for, or ``fence.acq_rel``."""

    scope: Scope
    sequential: bool = True


Operation = Write | Read | Fence


@dataclass(frozen=True, slots=True)
class Program:
    """Straight-line threads; thread n is in block ``blocks[n]``."""

    threads: tuple[tuple[Operation, ...], ...]
    blocks: tuple[int, ...]
    scope: Scope = "gpu"
    """Of all accesses."""


@dataclass(frozen=True, slots=True)
class _Event:
    thread: int
    operation: Operation


def outcomes(program: Program) -> frozenset[tuple[tuple[str, int], ...]]:
    """The values of the registers after executions that the model allows, sorted by name."""
    return frozenset(_Model(program).allowed())


class _Model:
    def __init__(self, program: Program) -> None:
        self.program = program
        places = {op.place for thread in program.threads for op in thread if not isinstance(op, Fence)}
        self.events = [_Event(INITIAL, Write(place, 0)) for place in sorted(places)]
        self.events += [_Event(n, op) for n, thread in enumerate(program.threads) for op in thread]
        numbers = range(len(self.events))
        self.order: Edges = frozenset(
            (a, b)
            for a, b in combinations(numbers, 2)
            if self.events[a].thread == self.events[b].thread or self.events[a].thread == INITIAL
            if self.events[b].thread != INITIAL
        )
        self.writes = [n for n in numbers if isinstance(self.events[n].operation, Write)]
        self.reads = [n for n in numbers if isinstance(self.events[n].operation, Read)]
        self.fences = [n for n in numbers if isinstance(self.events[n].operation, Fence)]

    def allowed(self) -> Iterator[tuple[tuple[str, int], ...]]:
        sequential = [n for n in self.fences if getattr(self.events[n].operation, "sequential", False)]
        sources = [[w for w in self.writes if self.place(w) == self.place(r)] for r in self.reads]
        for chosen in product(*sources):
            reads_from = frozenset(zip(chosen, self.reads, strict=True))
            values = tuple(sorted((self.register(r), self.value(w)) for w, r in reads_from))
            if any(self.keeps(reads_from, c, f) for c in self.coherence() for f in self.fence_orders(sequential)):
                yield values

    def coherence(self) -> Iterator[Edges]:
        """Orders of the writes of each place, the first write first."""
        places = sorted({self.place(w) for w in self.writes})
        groups = [[w for w in self.writes if self.place(w) == place] for place in places]
        for orders in product(*(permutations(group[1:]) for group in groups)):
            lines = [(group[0], *order) for group, order in zip(groups, orders, strict=True)]
            yield frozenset(pair for line in lines for pair in combinations(line, 2))

    def fence_orders(self, sequential: Sequence[int]) -> Iterator[Edges]:
        """Fence-SC orders: of the pairs of ``fence.sc`` that are morally strong."""
        found: set[Edges] = set()
        for line in permutations(sequential):
            found.add(frozenset(pair for pair in combinations(line, 2) if self.strong(*pair)))
        yield from found

    def keeps(self, reads_from: Edges, coherence: Edges, fence_order: Edges) -> bool:
        synchronizes = fence_order | self.synchronized(reads_from)
        base = closure(self.order | synchronizes)
        observed = {(w, r) for w, r in reads_from if self.strong(w, r)}
        causality = base | {(a, d) for a, b in observed for c, d in base if b == c}
        from_reads = frozenset((r, w2) for w, r in reads_from for w1, w2 in coherence if w1 == w)
        if any((b, a) in causality for a, b in fence_order):
            return False
        # Coherence: overlapping writes in causality order are in this order.
        if any((b, a) in coherence for a, b in causality if (a, b) in coherence or (b, a) in coherence):
            return False
        # Causality: a read does not read from a write behind it, nor one that another, which precedes it, has replaced.
        if any((r, w) in causality for w, r in reads_from) or any((w, r) in causality for r, w in from_reads):
            return False
        # SC per location, where accesses are morally strong.
        communication = reads_from | coherence | from_reads
        strong = frozenset((a, b) for a, b in communication if self.strong(a, b))
        here = frozenset((a, b) for a, b in self.order if self.place(a) and self.place(a) == self.place(b))
        together = closure(strong | here)
        return not any((n, n) in together for n in range(len(self.events)))

    def synchronized(self, reads_from: Edges) -> Edges:
        """Release patterns that an acquire pattern of another thread has seen: the pairs of their fences."""
        found: set[tuple[int, int]] = set()
        for write, read in reads_from:
            if self.events[write].thread in (INITIAL, self.events[read].thread) or not self.strong(write, read):
                continue
            before = [f for f in self.fences if (f, write) in self.order]
            behind = [f for f in self.fences if (read, f) in self.order]
            found |= {(a, b) for a in before for b in behind if self.strong(a, b)}
        return frozenset(found)

    def strong(self, a: int, b: int) -> bool:
        """Whether two events of different threads are morally strong: each one's scope covers the other's thread."""
        first, second = self.events[a], self.events[b]
        if INITIAL in (first.thread, second.thread) or first.thread == second.thread:
            return True
        blocks = self.program.blocks
        together = blocks[first.thread] == blocks[second.thread]
        return together or "cta" not in (self.scope(a), self.scope(b))

    def scope(self, n: int) -> Scope:
        operation = self.events[n].operation
        return operation.scope if isinstance(operation, Fence) else self.program.scope

    def place(self, n: int) -> str:
        """Of an access; a fence is at no place."""
        operation = self.events[n].operation
        return "" if isinstance(operation, Fence) else operation.place

    def register(self, n: int) -> str:
        operation = self.events[n].operation
        assert isinstance(operation, Read)
        return operation.register

    def value(self, n: int) -> int:
        operation = self.events[n].operation
        assert isinstance(operation, Write)
        return operation.value


def closure(edges: Edges) -> Edges:
    """The transitive closure."""
    found = set(edges)
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return frozenset(found)
        found |= more
