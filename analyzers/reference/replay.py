"""Executes two threads of a launch, each alone, to see whether they collide whatever memory holds.

This is how a witness is judged: two accesses that overlap in one barrier interval, with addresses that do not depend on
memory contents and reached under conditions that do not, collide for any contents. Only two threads run, so a block may
be large.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal

from analyzers.ir import kernel as k
from analyzers.ir.slicing import Slicer
from analyzers.model import Dim3
from analyzers.reference.evaluate import Frame, Key, arbitrary, text_number
from analyzers.reference.interpreter import CompiledKernel, symbol_value, typed
from analyzers.reference.launch import ConcreteLaunch, linear
from analyzers.reference.memory import AddressSpace, Memory
from analyzers.reference.program import Place, position
from analyzers.reference.trace import Data, Instance, Iterations, Tracer, Walk

ThreadAt = tuple[Dim3, Dim3]
"""(block, thread)."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one thread got to where it was looked at; barriers as (event, iterations, whether the other takes part)."""

    passed: int
    last: tuple[tuple[int, tuple[int, ...], bool], ...]
    """The last of the barriers passed, at most `SHOWN_ARRIVALS`."""
    next: tuple[int, tuple[int, ...], bool] | None
    ended: bool
    offset: int | None = None
    """Bytes into the object of the access."""
    iterations: tuple[int, ...] = ()
    """Of the loops around the access, outermost first."""


SHOWN_ARRIVALS = 8


@dataclass(frozen=True, slots=True)
class Replay:
    """``confirmed``: the two accesses collide for any memory contents; ``data-dependent``: they collide for those
    supposed; ``not-reached``: they were not seen to collide. ``after-exit`` and ``refuted``, that both threads come to
    the same for any memory contents, are answers about barriers."""

    outcome: Literal["confirmed", "data-dependent", "not-reached", "after-exit", "refuted"]
    object: str = ""
    address: int = 0
    """Byte offset of the first common byte."""
    epochs: tuple[int, int] = (0, 0)
    """Barriers passed before, of those that both threads take part in."""
    iterations: tuple[Iterations, Iterations] = ((), ())
    undefined: tuple[str, ...] = ()
    """Operations undefined in C that either thread executed on the way, e.g. ``signed-overflow``."""
    text: str = ""
    ways: tuple[Way, Way] | None = None
    """Of the two threads, where they were seen to collide or to miss one another."""


@dataclass(slots=True)
class _Traced:
    """A kernel with tracers for what decides how a thread comes to some of its accesses."""

    slicer: Slicer
    tracers: dict[frozenset[int], Tracer] = field(default_factory=dict[frozenset[int], Tracer])


_traced: dict[int, _Traced] = {}
"""By the identity of the kernel, for the few used last."""


def _tracer(kernel: k.Kernel, wanted: frozenset[int]) -> Tracer:
    """For what decides how a thread comes to the accesses ``wanted`` and to the barriers."""
    found = _traced.get(id(kernel))
    if found is None or found.slicer.kernel is not kernel:
        if len(_traced) >= 16:
            _traced.pop(next(iter(_traced)))
        found = _traced[id(kernel)] = _Traced(Slicer(kernel))
    if wanted not in found.tracers:
        found.tracers[wanted] = Tracer(CompiledKernel(found.slicer.to_accesses(wanted)))
    return found.tracers[wanted]


def _walk(
    tracer: Tracer, space: AddressSpace, launch: ConcreteLaunch, me: ThreadAt, other: ThreadAt, wanted: frozenset[int],
    data: Data | None,
) -> Walk:  # fmt: skip
    """One thread at the start of the kernel."""
    block, rank = linear(me[0], launch.grid), linear(me[1], launch.block)
    leaves = tracer.evaluator.leaves

    def resolve(key: Key) -> Any:
        e = leaves[key]
        if e.op == "sym":
            return typed(symbol_value(e.value, launch, block, rank), e)
        if e.op == "addr":
            return space.address(e.value)
        return arbitrary(e.ty, text_number(str(e.value)))

    return Walk(
        launch, space, Memory(space, launch), Frame(resolve, set()), block, rank,
        linear(other[0], launch.grid), linear(other[1], launch.block), wanted, data,
    )  # fmt: skip


_CHUNK = 512
"""Steps before the first look at what has collided; then twice as many, and so on."""

_MOST_PAIRS = 100_000

_FURTHER = 4 * _CHUNK
"""Steps behind an access in which the next barrier is looked for."""


class _Collisions:
    """The best pair of overlapping instances in one interval, found as instances come in."""

    def __init__(self, iterations: tuple[Iterations, Iterations] | None) -> None:
        self.wanted = iterations
        self.cells: dict[tuple[str, int, int, int], tuple[list[Instance], list[Instance]]] = {}
        self.best: tuple[Instance, Instance] | None = None
        self.rank = (True, True, True)
        self.pairs = 0

    @property
    def settled(self) -> bool:
        """No better pair can come."""
        return self.best is not None and not any(self.rank)

    def add(self, side: int, found: Instance) -> None:
        for cell in range(found.offset >> 4, (found.offset + found.width - 1 >> 4) + 1):
            sides = self.cells.setdefault((found.object, found.instance, found.interval, cell), ([], []))
            sides[side].append(found)
            for other in sides[1 - side]:
                if found.offset < other.offset + other.width and other.offset < found.offset + found.width:
                    self._rate((found, other) if side == 0 else (other, found))
                if self.settled or self.pairs > _MOST_PAIRS:
                    return

    def _rate(self, pair: tuple[Instance, Instance]) -> None:
        a, b = pair
        elsewhere = self.wanted is not None and (a.iterations, b.iterations) != self.wanted
        rank = (a.tainted or b.tainted, bool(a.undefined or b.undefined), elsewhere)
        self.pairs += 1
        if self.best is None or rank < self.rank:
            self.best, self.rank = pair, rank


def replay(
    kernel: k.Kernel,
    launch: ConcreteLaunch,
    thread1: ThreadAt,
    thread2: ThreadAt,
    event1: int,
    event2: int,
    data: Data | None = None,
    iterations: tuple[Iterations, Iterations] | None = None,
    steps: int = 100_000,
) -> Replay:
    """Execute two threads alone and look for a collision of ``event1`` in the first with ``event2`` in the second.

    Dynamic instances are looked at until one pair is certain, and at ``iterations`` where given. ``steps`` bounds each
    thread."""
    tracer = _tracer(kernel, frozenset({event1, event2}))
    space = AddressSpace(kernel, launch)
    left = _walk(tracer, space, launch, thread1, thread2, frozenset({event1}), data)
    right = _walk(tracer, space, launch, thread2, thread1, frozenset({event2}), data)
    found, seen, chunk = _Collisions(iterations), [0, 0], _CHUNK
    while not found.settled and not (left.finished and right.finished) and max(left.steps, right.steps) < steps:
        for side, w in enumerate((left, right)):
            if not w.finished:
                tracer.walk(w, min(chunk, steps - w.steps))
            for instance in w.instances[seen[side] :]:
                found.add(side, instance)
            seen[side] = len(w.instances)
        chunk *= 2
    if found.best is None:
        undefined = tuple(sorted(left.frame.undefined | right.frame.undefined))
        return Replay("not-reached", undefined=undefined, text=_why_not(left, right))
    a, b = found.best
    dependent = a.tainted or b.tainted
    return Replay(
        "data-dependent" if dependent else "confirmed", a.object, max(a.offset, b.offset), (a.epoch, b.epoch),
        (a.iterations, b.iterations), tuple(sorted(a.undefined | b.undefined)),
        "memory contents decide whether or where the accesses happen" if dependent else "",
        (_way(tracer, left, a), _way(tracer, right, b)),
    )  # fmt: skip


def _way(tracer: Tracer, w: Walk, instance: Instance) -> Way:
    """How a thread got to an access. It is followed a little further, for the barrier behind."""
    chunk, limit = _CHUNK, w.steps + _FURTHER
    while len(w.arrivals) <= instance.passed and not w.finished and w.steps < limit:
        tracer.walk(w, chunk)
    return replace(
        _way_to(w.arrivals, instance.passed, ended=w.ended is not None),
        offset=instance.offset,
        iterations=tuple(n for _, n in instance.iterations),
    )


def _way_to(arrivals: list[tuple[int, Place, bool]], passed: int, *, ended: bool) -> Way:
    """The way to behind the first ``passed`` barriers of a walk."""
    shown = tuple((event, place.iterations, common) for event, place, common in arrivals[: passed + 1])
    behind = shown[passed] if passed < len(shown) else None
    return Way(passed, shown[:passed][-SHOWN_ARRIVALS:], behind, ended and behind is None)


def replay_assertion(
    kernel: k.Kernel, launch: ConcreteLaunch, thread: ThreadAt, site: k.Site, steps: int = 100_000
) -> Replay:
    """Whether a thread comes to the assertion at ``site`` and finds it false, whatever memory holds (``confirmed``) or
    for some contents."""
    tracer = _tracer(kernel, frozenset())
    w = _walk(tracer, AddressSpace(kernel, launch), launch, thread, thread, frozenset(), None)
    tracer.walk(w, steps)
    undefined = tuple(sorted(w.frame.undefined))
    if w.violated is None or w.violated.site != site:
        return Replay("not-reached", undefined=undefined, text=_stopped(w) or "the assertion holds")
    return Replay("data-dependent" if w.active else "confirmed", undefined=undefined)


def replay_unnamed(
    kernel: k.Kernel, launch: ConcreteLaunch, thread: ThreadAt, event: int, steps: int = 100_000
) -> Replay:
    """Whether a thread comes to the barrier or exchange of a warp ``event`` with a mask that does not name its lane,
    whatever memory holds (``confirmed``) or for some contents."""
    tracer = _tracer(kernel, frozenset({event}))
    w = _walk(tracer, AddressSpace(kernel, launch), launch, thread, thread, frozenset({event}), None)
    while w.unnamed.get(event, True) and not w.finished and w.steps < steps:
        tracer.walk(w, min(_CHUNK, steps - w.steps))
    undefined = tuple(sorted(w.frame.undefined))
    if event not in w.unnamed:
        return Replay("not-reached", undefined=undefined, text=_stopped(w) or "the mask names the thread")
    return Replay("data-dependent" if w.unnamed[event] else "confirmed", undefined=undefined)


def _why_not(left: Walk, right: Walk) -> str:
    for number, w in ((1, left), (2, right)):
        if not w.instances:
            return f"thread {number} {_stopped(w) or 'does not come to the access'}"
    if any(
        a.object == b.object
        and a.instance == b.instance
        and a.offset < b.offset + b.width
        and b.offset < a.offset + a.width
        for a in left.instances[:1000]
        for b in right.instances[:1000]
    ):
        return "barriers separate the accesses"
    return "the accesses do not overlap"


def _stopped(w: Walk) -> str:
    return w.stop or ("" if w.finished else f"did not end within {w.steps} steps")


def replay_divergence(
    kernel: k.Kernel,
    launch: ConcreteLaunch,
    thread1: ThreadAt,
    thread2: ThreadAt,
    barrier: int,
    data: Data | None = None,
    steps: int = 100_000,
) -> Replay:
    """Whether the first thread waits at ``barrier`` while the second waits elsewhere or has ended (``confirmed``), or
    had returned before (``after-exit``); ``data-dependent`` when memory contents decide; ``refuted`` when they decide
    nothing, and both pass the same barriers to their end."""
    tracer = _tracer(kernel, frozenset())
    space = AddressSpace(kernel, launch)
    left = _walk(tracer, space, launch, thread1, thread2, frozenset(), data)
    right = _walk(tracer, space, launch, thread2, thread1, frozenset(), data)
    of_warps = {s.id: s.mask for s in k.statements(kernel.body) if isinstance(s, k.Barrier) and s.scope == "warp"}

    def meets(event: int, other: int) -> bool:
        """Barriers of all lanes of a warp meet wherever they stand: of two lanes none misses one, others may."""
        return all(e in of_warps and of_warps[e] is None for e in (event, other))

    shifted = False
    for i in count():
        # No further than to the first barrier that they do not pass together.
        if not _comes_to(tracer, left, i, steps):
            break
        event, place, tainted = left.barriers[i]
        comes = _comes_to(tracer, right, i, steps)
        undefined = tuple(sorted(left.frame.undefined | right.frame.undefined))
        if comes:
            other, other_place, other_tainted = right.barriers[i]
            if place == other_place:
                continue
            if meets(event, other):
                shifted = True
                continue
            tainted, text = tainted or other_tainted, f"the other thread waits at barrier {other}"
            if position(tracer.program, other_place, place) == "before":
                return Replay("not-reached", undefined=undefined, text=f"{text}, which comes before")
            outcome: Literal["confirmed", "after-exit"] = "confirmed"
        elif right.ended is not None:
            tainted, text = tainted or bool(right.active), "the other thread has ended"
            past = position(tracer.program, right.ended, place) == "past"
            outcome = "confirmed" if past else "after-exit"
        else:
            break
        if event != barrier:
            return Replay("not-reached", undefined=undefined, text=f"barrier {event} diverges before")
        labels = [label for label, _ in tracer.program.loops[place.operation]]
        where = tuple(zip(labels, place.iterations, strict=True))
        one, two = (
            _way_to([(e, p, True) for e, p, _ in w.barriers], i, ended=w.ended is not None) for w in (left, right)
        )
        return Replay(
            "data-dependent" if tainted else outcome,
            epochs=(i, i),
            iterations=(where, ()),
            undefined=undefined,
            text=text,
            ways=(one, two),
        )
    both = (left, right)
    through = all(w.ended is not None and not (w.stop or w.decisions or w.interval_tainted) for w in both)
    return Replay(
        "refuted" if through and not shifted else "not-reached",
        undefined=tuple(sorted(left.frame.undefined | right.frame.undefined)),
        text=_stopped(left) or _stopped(right) or "both threads pass the same barriers",
    )


def _comes_to(tracer: Tracer, w: Walk, number: int, steps: int) -> bool:
    """Whether a thread comes to so many common barriers and one more; it goes on until that is known."""
    while len(w.barriers) <= number and not w.finished and w.steps < steps:
        tracer.walk(w, min(_CHUNK, steps - w.steps))
    return number < len(w.barriers)
