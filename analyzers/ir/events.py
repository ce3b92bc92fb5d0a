"""The symbolic form of a kernel: accesses and barriers of one arbitrary thread, in program order, under guards.

This is the lock-step view of the program: a linear order of guarded events in which a loop stands once, at an
arbitrary
iteration named by its counter symbol. Expressions range over thread coordinates, dimensions, parameters, loop
counters and
opaque values; no program variables are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from analyzers.ir.expr import Expr
from analyzers.ir.kernel import (
    UNALIGNED,
    Alignment,
    BarrierScope,
    Half,
    Kernel,
    Lanes,
    ObservationKind,
    Order,
    Scope,
    Site,
)
from analyzers.model import SourceSpan

ConjunctKind = Literal["branch", "loop", "break", "return", "assume"]


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One condition on the way to an event.

    ``branch``: taken side of a conditional; ``loop``: the loop's own test at the current iteration; ``break``: the
    thread has not
    left the loop or inlined function; ``return``: the thread has not left the kernel; ``assume``: holds for every
    thread that goes on."""

    condition: Expr
    kind: ConjunctKind
    depth: int
    """Number of loops around the place where it arises."""


Guard = tuple[Conjunct, ...]


@dataclass(frozen=True, slots=True)
class LoopInstance:
    """A loop on the way to an event. ``counter`` is its 0-based iteration (I64 symbol)."""

    label: str
    counter: Expr
    site: Site
    first: int = 0
    """Order number of the first event slot inside."""
    last: int = 0
    """That of the last one."""
    limit: int = 1 << 40
    """Upper bound of the counter (inclusive), where known."""


@dataclass(frozen=True, slots=True)
class AtomicInfo:
    op: str
    scope: Scope
    order: Order
    constant: int | None = None
    """The value added, subtracted, exchanged or put there by ``cas``, where it is a constant."""
    expected: int | None = None
    """The value ``cas`` compares with, where it is a constant."""


@dataclass(frozen=True, slots=True)
class Staged:
    """How many stages of a shared pipeline the thread has acquired, committed, waited for and released at an access
    (I32), and its roles (BOOL)."""

    pipeline: str
    stages: int
    acquired: Expr
    committed: Expr
    waited: Expr
    released: Expr
    producer: Expr
    consumer: Expr


@dataclass(frozen=True, slots=True)
class AccessEvent:
    """A load, store or atomic. ``root`` names the object: ``addr`` of a declared object or pointee, an opaque pointer,
    or an object of another block of the cluster (``clusters``)."""

    id: int
    order: int
    kind: Literal["read", "write", "atomic"]
    root: Expr
    offset: Expr
    width: int
    guard: Guard
    loops: tuple[str, ...]
    site: Site
    atomic: AtomicInfo | None = None
    value: Expr | None = None
    volatile: bool = False
    alignment: Alignment = UNALIGNED
    asynchronous: bool = False
    """Made by a copy that runs beside its thread."""
    staged: tuple[Staged, ...] = ()
    """By pipeline of the block."""
    lanes: Lanes = ""
    """Which lanes of the warp touch the bytes, where it is not the thread itself."""
    succeeds: Expr | None = None
    """That a compare-and-swap finds what it compares with; otherwise it only reads."""

    @property
    def writes(self) -> bool:
        return self.kind != "read" and not (self.atomic is not None and self.atomic.op == "load")

    @property
    def loaded(self) -> str:
        """What the value is called that a plain load of memory gives which is written (``loaded_name``)."""
        return loaded_name(self.id, self.root)


def loaded_name(number: int, root: Expr) -> str:
    """The name of what the load of a number finds in the object ``root``, or in what that opaque pointer leads to.
    One load has several such names where it goes to one of several objects, of which some may be no events."""
    return f"load:{number}:{root.value if isinstance(root.value, str) else root.value[0]}"


def without_thread(name: str) -> str:
    """The name of a value as the kernel has it, where ``name`` may say which thread of a question has it (``@1``)."""
    return name.partition("@")[0]


ARRIVAL: Final = "arrival:"
"""How the name of a token begins, in front of the id of the half that it was got from."""


@dataclass(frozen=True, slots=True)
class PhaseOf:
    """`kernel.Phase` as a thread comes to it."""

    root: Expr
    """The address of the object that the barrier is in; what is not known is a place of its own."""
    offset: Expr
    """In bytes; I64."""
    awaited: Expr | None = None
    """A token is an opaque value, `ARRIVAL` with the counters of its loops."""
    parity: bool = False


@dataclass(frozen=True, slots=True)
class BarrierEvent:
    id: int
    order: int
    scope: BarrierScope
    guard: Guard
    loops: tuple[str, ...]
    site: Site
    mask: Expr | None = None
    tile: int | None = None
    statement: SourceSpan | None = None
    in_macro: bool = False
    formed: Guard = ()
    """The conditions under which the threads named by ``mask`` came together: all of them met these."""
    departures: tuple[tuple[int, Conjunct], ...] = ()
    """For the conditions of ``guard``, by their places, whose other side returns from the kernel: that a thread has not
    returned there, which holds for all that come here."""
    within: bool = False
    """Orders only accesses of its own collective call."""
    number: int | None = None
    """See `Barrier`."""
    exchange: str = ""
    """Of an exchange: which one, by the name of the intrinsic."""
    half: Half = "both"
    """See `Barrier`."""
    phase: PhaseOf | None = None
    """Of a meeting in memory."""


@dataclass(frozen=True, slots=True)
class FenceEvent:
    id: int
    order: int
    scope: Scope
    memory_order: Order
    guard: Guard
    loops: tuple[str, ...]
    site: Site


@dataclass(frozen=True, slots=True)
class WaitEvent:
    """A loop that ended because of what an atomic or a volatile load in it gave: what the thread knows then.

    ``fact`` holds behind the loop; in it the loop's last iteration is ``last:LABEL``."""

    order: int
    fact: Expr
    guard: Guard
    """Without the fact."""
    loops: tuple[str, ...]
    """Around the loop."""
    label: str
    """Of the loop itself."""
    site: Site


@dataclass(frozen=True, slots=True)
class AssertionEvent:
    """A device ``assert``: threads that come to it go on only where ``condition`` holds."""

    order: int
    condition: Expr
    guard: Guard
    loops: tuple[str, ...]
    site: Site


@dataclass(frozen=True, slots=True)
class ObservationEvent:
    """Something that shows without touching memory (``kernel.Observe``)."""

    order: int
    kind: ObservationKind
    loops: tuple[str, ...]
    site: Site


@dataclass(frozen=True, slots=True)
class UnsupportedEvent:
    kind: str
    text: str
    guard: Guard
    site: Site


@dataclass(frozen=True, slots=True)
class Broadcast:
    """What all threads of a warp, or all lanes in a mask, got from one of them by a shuffle."""

    result: Expr
    """An opaque value, the same for all of them."""
    lane: Expr
    value: Expr
    """What that lane gave, as any thread sees its own."""
    conditions: frozenset[Expr]
    """Those under which the shuffle stands: all of them met these."""
    mask: Expr | None = None
    """The lanes, where it is not the whole warp: those that were active, or voted for something, together."""
    voted: frozenset[Expr] = frozenset()
    """Where the whole warp takes part and the lane is one of ``mask``: what those have voted for. Others may get
    anything."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a thread got from a sum over its group: of the values of the threads before it, or of all."""

    result: Expr
    """An opaque value."""
    value: Expr
    """What the thread itself gave."""
    group: Literal["block", "warp"]
    size: tuple[int, ...]
    """Of a block: its dimensions. Otherwise the number of lanes."""
    total: bool
    steps: tuple[tuple[Expr, int], ...] = ()
    """The conditions under which shuffles were added up, each with its distance: that many lanes are below."""
    reached: tuple[Expr, ...] = ()
    """The conditions under which the sum is made."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a lane got from ``__match_any_sync``: the lanes among those of ``mask`` that gave what it did."""

    result: Expr
    """An opaque value."""
    mask: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Definition:
    """What is known about the opaque values of one identity: ``conditions`` hold when its arguments are
    ``parameters``."""

    parameters: tuple[Expr, ...]
    conditions: tuple[Expr, ...]
    reached: tuple[Expr, ...] = ()
    """Under which there is such a value. Where they do not hold, the conditions need not even be defined."""


@dataclass(frozen=True, slots=True)
class KernelEvents:
    """Everything one thread of the kernel does to memory and barriers."""

    kernel: Kernel
    accesses: tuple[AccessEvent, ...]
    barriers: tuple[BarrierEvent, ...]
    fences: tuple[FenceEvent, ...]
    unsupported: tuple[UnsupportedEvent, ...]
    loops: Mapping[str, LoopInstance]
    definitions: Mapping[str, Definition] = field(default_factory=dict[str, Definition])
    """By opaque identity."""
    assumptions: tuple[str, ...] = ()
    sized: Mapping[Expr, Site] = field(default_factory=dict[Expr, Site])
    """What the kernel is given that is assumed to be a size, with a loop that begins there."""
    waits: tuple[WaitEvent, ...] = ()
    assertions: tuple[AssertionEvent, ...] = ()
    observations: tuple[ObservationEvent, ...] = ()
    broadcasts: Mapping[str, Broadcast] = field(default_factory=dict[str, Broadcast])
    """By the identity of the result."""
    scans: Mapping[str, Scan] = field(default_factory=dict[str, Scan])
    """By the identity of the result: those in which all threads of each group take part."""
    matches: Mapping[str, Match] = field(default_factory=dict[str, Match])
    """By the identity of the result."""
    retried: Mapping[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """Loads that only start compare-and-swap loops, by id, with the atomics that their values go into."""
    private: frozenset[int] = frozenset()
    """Stores and atomics, by id, that may be to memory of the thread's own: those are no accesses."""
    exchanges: tuple[BarrierEvent, ...] = ()
    """Shuffles, votes, matches and reductions of a warp: they wait for the lanes that their mask names, and order
    nothing. Those of a part of a warp (``tile``) may be of a group, which names no lanes."""
    meetings: tuple[BarrierEvent, ...] = ()
    """Barriers at numbers where threads only arrive at some places."""
    wraps: bool = False
    """Variables that wait at an open limit were taken to wrap around where they would: see `summarize`."""
