"""The program IR: one kernel instance as a structured program of one thread, all device calls inlined.

The front end produces it, the reference interpreter executes it, the symbolic pass turns it into guarded events.
Every C subtlety (evaluation order, conversions, sequence points, operator widths) is explicit here: expressions have
no
side effects, loads are statements, conversions are ``cast`` nodes.

Control flow is structured: ``If``, ``Loop``, labelled ``Block``, and the two multi-level exits ``Exit`` (break out of
the
named Block or Loop; ``return`` leaves the Block of its function body) and ``Continue``. A switch is a Block of guarded
pieces. Labels are unique within a kernel.

Variables are mutable scalars and pointers of the thread, referred to by ``var`` nodes and unique by name within a
kernel (inlining renames). A variable read before it is written holds an arbitrary value. Aggregates, address-taken
locals and
local arrays are :class:`MemObject` in space ``local`` accessed by Load/Store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from analyzers.ir.expr import I32, U64, Expr, IntType, Type
from analyzers.model import SourceSpan

Space = Literal["shared", "global", "local", "param", "constant"]
Scope = Literal["thread", "warp", "block", "cluster", "grid", "system"]
Lanes = Literal["", "rows", "columns"]
"""Who touches the bytes at an address: the thread that gives it; or several lanes of its warp, those that hold the row
of a matrix of 8 times 8, or the column of its number in the transposed matrix (PTX ISA, ldmatrix). At least one is
another lane than the one that names the row."""
Order = Literal["relaxed", "acquire", "release", "acq_rel", "seq_cst", "weak", "volatile"]


Gaps: TypeAlias = tuple[tuple[int, int], ...]
"""(first byte, end) within an element of what no member has, which is copied with it all the same."""


@dataclass(frozen=True, slots=True)
class Recast:
    """A cast that takes memory for elements of a class with gaps."""

    size: int
    """Bytes of an element."""
    align: int
    """Every element is at a multiple of so many bytes."""
    gaps: Gaps
    offset: int | None = None
    """Where one begins, in bytes from the beginning of the object; None where that is not a number."""


@dataclass(frozen=True, slots=True)
class MemObject:
    """A region of memory that pointers can point into.

    ``kind``: ``declared`` a variable; ``dynamic`` the kernel's extern shared memory (one object for all such arrays);
    ``pointee`` what a pointer parameter points to; ``unknown`` what an untracked pointer points to.
    """

    name: str
    space: Space
    kind: Literal["declared", "dynamic", "pointee", "unknown"]
    size: int | None
    """Bytes, where the declaration says."""
    element: int = 1
    """Bytes of one element, for display."""
    extents: tuple[int, ...] = ()
    """Declared array extents, for display."""
    display: str = ""
    """The name as the user wrote it."""
    read_only: bool = False
    """``__constant__``, ``const __restrict__`` or otherwise never written during the kernel."""
    span: SourceSpan | None = None
    preset: bool = False
    """Declared with an initialiser that is not known to be zero."""
    gaps: Gaps = ()
    recast: tuple[Recast, ...] = ()
    """Of shared memory without gaps: what it is taken for, cast by cast."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter. Scalars appear as the symbol ``param:NAME``; a pointer parameter is ``addr`` of the object
    ``NAME``; fields of by-value struct parameters are parameters of their own, ``NAME.field``."""

    name: str
    ty: Type
    type_text: str
    restrict: bool = False
    object: str | None = None
    """For pointers: the name of its ``pointee`` object."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a parameter is passed: of class type with its scalars, by name (``NAME.field``), byte offset and type as
    written; of another type without."""

    name: str
    type_text: str
    size: int = 0
    parts: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """Where a statement stands: its own range and the call sites that lead to it, outermost first."""

    span: SourceSpan
    text: str = ""
    """The access or call as written."""
    calls: tuple[SourceSpan, ...] = ()
    modelled: bool = False
    """In what stands for code of a library: of its objects it may touch other bytes."""


@dataclass(frozen=True, slots=True)
class Assign:
    """``var := value``; reads of the old values happen first."""

    var: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Alignment:
    """The address is ``phase`` modulo ``grain`` bytes (a power of two) wherever the access executes: it goes to an
    object of a type so aligned, or to a part of one, and the hardware stops at any other address."""

    grain: int
    phase: int = 0

    def moved(self, offset: int) -> Alignment:
        """That of an address ``offset`` bytes on."""
        return Alignment(self.grain, (self.phase + offset) % self.grain)

    def coarse(self, step: int) -> Alignment:
        """That of an address any multiple of ``step`` bytes on."""
        grain = min(self.grain, step & -step) if step else self.grain
        return Alignment(grain, self.phase % grain)


UNALIGNED = Alignment(1)


@dataclass(frozen=True, slots=True)
class Load:
    """``var := *pointer``. ``in_bounds`` lists (index, extent) of declared-array subscripts on the way, assumed in
    bounds. ``volatile``/atomic loads through ``cuda::atomic`` are :class:`Atomic`."""

    id: int
    var: str
    ty: Type
    pointer: Expr
    width: int
    site: Site
    in_bounds: tuple[tuple[Expr, int], ...] = ()
    volatile: bool = False
    alignment: Alignment = UNALIGNED
    linked: int = 0
    """For a pointer that leads to objects of the type it was found in, as in a list or tree: their size."""
    asynchronous: bool = False
    """Made by a copy that runs beside its thread: no fence or atomic of the thread waits for it."""
    lanes: Lanes = ""


@dataclass(frozen=True, slots=True)
class Store:
    """``*pointer := value``."""

    id: int
    pointer: Expr
    value: Expr
    width: int
    site: Site
    in_bounds: tuple[tuple[Expr, int], ...] = ()
    volatile: bool = False
    alignment: Alignment = UNALIGNED
    asynchronous: bool = False
    """As for a load."""
    lanes: Lanes = ""


@dataclass(frozen=True, slots=True)
class Atomic:
    """``var := old value; *pointer := op(old, operands)`` as one step. ``op``: add sub exch min max inc dec cas and
    or xor
    load store. For ``cas`` the operands are (compare, value). Its address is a multiple of ``width``."""

    id: int
    var: str | None
    op: str
    ty: Type
    pointer: Expr
    operands: tuple[Expr, ...]
    width: int
    scope: Scope
    order: Order
    site: Site
    in_bounds: tuple[tuple[Expr, int], ...] = ()
    failure: Order | None = None
    """For ``cas`` that finds another value; None: as ``order``."""


BarrierScope = Literal["warp", "tile", "block", "grid", "cluster", "meeting"]


Half = Literal["both", "arrive", "wait"]
"""Of a barrier: to arrive at it, to wait for the others, or to do the one and then the other."""


@dataclass(frozen=True, slots=True)
class Phase:
    """Of a half of a barrier in memory (``mbarrier``): which barrier, and which of its phases."""

    place: Expr
    """The address of the barrier."""
    token: str | None = None
    """The variable, a U64, that an arrival leaves its phase in."""
    awaited: Expr | None = None
    """Of a wait: such a token; with ``parity`` the parity of the phase."""
    parity: bool = False


@dataclass(frozen=True, slots=True)
class Barrier:
    """Execution and memory barrier of a group. ``mask`` (warp scope): the lanes named, None for all 32; ``tile``:
    threads per
    cooperative-groups tile, in linear thread order. ``reduce``: (and|or|count, operand, result variable).

    ``meeting``: at a number, or at a barrier in memory, where threads of a group of ``tile`` come together from several
    places, some of which only arrive; None for the whole block."""

    id: int
    scope: BarrierScope
    site: Site
    mask: Expr | None = None
    tile: int | None = None
    reduce: tuple[Literal["and", "or", "count"], Expr, str] | None = None
    statement: SourceSpan | None = None
    """The whole expression statement with its semicolon, when the barrier is one: what a removal deletes."""
    in_macro: bool = False
    within: bool = False
    """Orders only what the collective does to its own storage: shuffles make no order of memory."""
    number: int | None = None
    """Of a barrier that has one, where threads that come from several places meet; negative where it is computed."""
    half: Half = "both"
    """Of a meeting."""
    phase: Phase | None = None
    """Of a meeting in memory, instead of a number."""

    @property
    def operands(self) -> tuple[Expr, ...]:
        """What it reads."""
        reduced = None if self.reduce is None else self.reduce[1]
        phase = () if self.phase is None else (self.phase.place, self.phase.awaited)
        return tuple(e for e in (self.mask, reduced, *phase) if e is not None)

    @property
    def result(self) -> tuple[str, IntType] | None:
        """The variable that it sets, if any."""
        if self.reduce is not None:
            return self.reduce[2], I32
        return None if self.phase is None or self.phase.token is None else (self.phase.token, U64)


@dataclass(frozen=True, slots=True)
class Fence:
    """``__threadfence*`` or ``cuda::atomic_thread_fence``."""

    id: int
    scope: Scope
    order: Order
    site: Site


@dataclass(frozen=True, slots=True)
class Collective:
    """A warp exchange: ``var := name(mask, operands)`` over the lanes of a warp (shuffles, votes, match, reduce).
    Orders no
    memory accesses."""

    id: int
    var: str
    ty: Type
    name: str
    operands: tuple[Expr, ...]
    site: Site
    group: int | None = None
    """The threads of each tile of so many come together, not those that the mask names."""
    stands_for: str = ""
    """The exchange in the place of which it is made."""


@dataclass(frozen=True, slots=True)
class Havoc:
    """``var := anything``; ``reason`` says what was not modelled (a value, never a memory effect)."""

    var: str
    ty: Type
    reason: str
    site: Site
    tile: int | None = None
    """The threads of a warp, of each tile of so many, give it to each other, as in a `Collective`."""


ObservationKind = Literal["output", "time", "free", "signal"]


@dataclass(frozen=True, slots=True)
class Observe:
    """What the thread does here shows, though no memory is touched: it writes ``output``, reads the ``time`` or waits
    for some, has the memory of an object taken back (``free``), or tells other grids or tools where it is (``signal``).
    """

    kind: ObservationKind
    site: Site


@dataclass(frozen=True, slots=True)
class Assume:
    """The thread goes on only where ``condition`` holds (``__builtin_assume``, ``__trap`` guards, device ``assert``,
    user
    comments)."""

    condition: Expr
    source: Literal["assume", "assert", "trap", "user"]
    site: Site


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Code with unknown effects. A kernel in which one is reachable is ``unknown(kind)``."""

    kind: str
    """Stable slug: ``recursion``, ``call-to-unknown-function``, ``goto``, ``asm``, ``parse-error``, ..."""
    text: str
    site: Site


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    site: Site


@dataclass(frozen=True, slots=True)
class Loop:
    """``for(;;) { head; if (!condition) break; body; latch; }``. ``Continue(label)`` goes to ``latch``; the test of a
    do-while is an
    ``If … Exit`` at the end of ``latch`` with ``condition`` TRUE. ``head`` computes what the condition needs."""

    label: str
    head: tuple[Stmt, ...]
    condition: Expr
    body: tuple[Stmt, ...]
    latch: tuple[Stmt, ...]
    site: Site
    """``text``: the loop header for display, e.g. ``for (int s = n / 2; s > 0; s >>= 1)``."""
    own: tuple[str, ...] = ()
    """Variables that come to life in it: they have no value from the iteration before."""


@dataclass(frozen=True, slots=True)
class Block:
    label: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave the Block or Loop ``label``. ``kind`` says what the user wrote."""

    label: str
    kind: Literal["return", "break", "switch-break"]
    site: Site


@dataclass(frozen=True, slots=True)
class Continue:
    label: str
    site: Site


Stmt: TypeAlias = (
    Assign
    | Load
    | Store
    | Atomic
    | Barrier
    | Fence
    | Collective
    | Havoc
    | Observe
    | Assume
    | Unsupported
    | If
    | Loop
    | Block
    | Exit
    | Continue
)


@dataclass(frozen=True, slots=True)
class LaunchBounds:
    max_threads: int | None = None
    cluster: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline shared by the threads of a block, and the variables in which a thread counts its own steps (I32), and
    keeps its roles (BOOL)."""

    name: str
    stages: int
    acquired: str
    committed: str
    waited: str
    released: str
    producer: str
    consumer: str


KERNEL_BLOCK = "kernel"
"""Label of the outermost Block: ``Exit(KERNEL_BLOCK)`` ends the thread."""


@dataclass(frozen=True, slots=True)
class Instances:
    """What functions are instances for, by the names of their templates."""

    for_classes: frozenset[str] = frozenset()
    """Functions with an instance for a type that is no number and no pointer, or for what is not to be told."""
    values: frozenset[tuple[str, str, int]] = frozenset()
    """Function, parameter and value of the integers."""
    with_code: frozenset[str] = frozenset()
    """Those of `for_classes` with an instance for more than CUDA's vectors and classes that only hold numbers."""

    @staticmethod
    def of(parts: Iterable[Instances]) -> Instances:
        """Those of several kernels."""
        found = list(parts)
        for_classes = frozenset(name for part in found for name in part.for_classes)
        with_code = frozenset(name for part in found for name in part.with_code)
        return Instances(for_classes, frozenset(value for part in found for value in part.values), with_code)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel instance (one per template instantiation)."""

    name: str
    """``scale<float, 256>``."""
    base_name: str
    """``scale``."""
    mangled: str
    span: SourceSpan
    """The name at the definition."""
    extent: SourceSpan
    """The whole definition."""
    body_span: SourceSpan
    parameters: tuple[Parameter, ...]
    objects: tuple[MemObject, ...]
    body: tuple[Stmt, ...]
    """A single ``Block(KERNEL_BLOCK, ...)``."""
    bounds: LaunchBounds = LaunchBounds()
    functions: tuple[tuple[str, SourceSpan], ...] = ()
    """Device functions inlined: (qualified name, extent of the definition)."""
    instances: Instances = Instances()
    """Of templates, among the functions that it runs."""
    assumptions: tuple[str, ...] = ()
    """What the lowering assumed, in words, e.g. distinct pointers loaded from read-only memory are disjoint."""
    pipelines: tuple[Pipeline, ...] = ()
    declared: tuple[tuple[str, SourceSpan], ...] = ()
    """Parameters as they are declared, those of class type whole: name and declaration."""
    layouts: tuple[Layout, ...] = ()
    """The same parameters as they are passed, unnamed ones included."""

    def object(self, name: str) -> MemObject:
        for o in self.objects:
            if o.name == name:
                return o
        raise KeyError(name)


def statements(body: tuple[Stmt, ...]) -> list[Stmt]:
    """Every statement below ``body`` in source order, nested ones included."""
    out: list[Stmt] = []
    for s in body:
        out.append(s)
        if isinstance(s, If):
            out += statements(s.then) + statements(s.orelse)
        elif isinstance(s, Loop):
            out += statements(s.head) + statements(s.body) + statements(s.latch)
        elif isinstance(s, Block):
            out += statements(s.body)
    return out


def with_parts(s: Stmt, change: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Stmt:
    """The statement with each list of statements in it changed."""
    if isinstance(s, If):
        return replace(s, then=change(s.then), orelse=change(s.orelse))
    if isinstance(s, Loop):
        return replace(s, head=change(s.head), body=change(s.body), latch=change(s.latch))
    if isinstance(s, Block):
        return replace(s, body=change(s.body))
    return s
