"""The shared vocabulary: what an analysis takes and what it gives, as plain frozen data.

Nothing here analyses. Everything that leaves ``analyzers`` (findings, verdicts, contexts) is made of these
classes, so that the editor layer, the command line, the repairs and the dynamic runs speak of the same things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

Dim3 = tuple[int, int, int]


class Verdict(str, Enum):
    """What is known about a kernel, a launch context or a finding. Declared worst first."""

    DATA_RACE = "data-race"
    BARRIER_DIVERGENCE = "barrier-divergence"
    ASSERTION_FAILURE = "assertion-failure"
    LANE_NOT_IN_MASK = "lane-not-in-mask"
    MISSING_LANES = "missing-lanes"
    POSSIBLE_DATA_RACE = "possible-data-race"
    UNKNOWN = "unknown"
    BENIGN_RACE = "benign-race"
    POSSIBLE_ASSERTION_FAILURE = "possible-assertion-failure"
    REDUNDANT_BARRIER = "redundant-barrier"
    BARRIER_AFTER_EXIT = "barrier-after-exit"
    RACE_FREE = "race-free"

    @property
    def rank(self) -> int:
        """Position in the order of severity, 0 being the worst."""
        return _RANKS[self]


_RANKS: dict[Verdict, int] = {verdict: rank for rank, verdict in enumerate(Verdict)}


class Severity(str, Enum):
    """How loudly a finding speaks in an editor."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


@dataclass(frozen=True, slots=True, order=True)
class SourceSpan:
    """A half-open range of one file.

    Lines and columns are 1-based, columns count UTF-8 bytes (as libclang does); offsets are 0-based UTF-8 bytes
    from the start of the file. For code written by a macro the span is the place where the macro is used.
    """

    path: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    start_offset: int
    end_offset: int

    @property
    def line(self) -> int:
        return self.start_line

    @property
    def mark(self) -> Mark:
        return Mark(self.start_line, self.start_column, self.end_offset - self.start_offset)


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """Where an access is written in its file: line and column (from 1, in bytes) of its first byte, and how many bytes
    it has."""

    line: int
    column: int
    length: int


@dataclass(frozen=True, slots=True, order=True)
class MarkedAccess:
    """An access by its place, and what it does: ``r``, a read, ``w``, a write, ``rw``, both, or ``a``, an atomic."""

    mark: Mark
    does: str


def marked_path(path: str, accesses: Sequence[MarkedAccess]) -> str:
    """A file's name that says of the code in it which access it is of, then those around it: ``a.cu@7.3.12r@7.1.15w``.
    Line information gives it back (`marks_in`), which otherwise tells lines apart at best."""
    marks = ((one.mark, one.does) for one in accesses)
    return path + "".join(f"@{mark.line}.{mark.column}.{mark.length}{does}" for mark, does in marks)


def marks_in(name: str) -> tuple[str, tuple[MarkedAccess, ...]]:
    """The file and the accesses, innermost first, that a name from line information stands for."""
    path, *marks = name.split("@") if _MARKED.search(name) else (name,)
    while marks and not _MARK.fullmatch(marks[0]):  # the file's own name has one
        path, marks = f"{path}@{marks[0]}", marks[1:]
    return path, tuple(_marked_access(mark) for mark in marks)


def _marked_access(text: str) -> MarkedAccess:
    numbers = text.rstrip("rwa")
    return MarkedAccess(Mark(*map(int, numbers.split("."))), text[len(numbers) :])


_MARK = re.compile(r"\d+\.\d+\.\d+[rwa]+")
_MARKED = re.compile(rf"@{_MARK.pattern}\Z")


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence that may name places. Its lines are told when it is shown: edits above the places move them."""

    texts: tuple[str, ...]
    """One more than there are places, which stand between them."""
    places: tuple[SourceSpan, ...] = ()

    @property
    def text(self) -> str:
        """With the places by their lines."""
        return self.told([f"line {place.line}" for place in self.places])

    @property
    def brief(self) -> str:
        """Without the places."""
        return "".join(self.texts)

    def told(self, places: Sequence[str]) -> str:
        """With these words for the places."""
        return self.texts[0] + "".join(f" in {a}{b}" for a, b in zip(places, self.texts[1:], strict=True))


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a verdict is ``unknown``: a stable machine-readable kind, a sentence, and where in the source."""

    kind: str
    text: str
    span: SourceSpan | None = None


@dataclass(frozen=True, slots=True)
class FactNote:
    """A host fact or user assumption that a proof or witness used, as the user wrote it."""

    text: str
    span: SourceSpan | None
    kind: Literal["assert", "dimension", "relation", "loop-bound", "allocation", "user"]


@dataclass(frozen=True, slots=True)
class ParameterFact:
    """What the host says of a scalar parameter at a launch, whether a proof has used it or not."""

    parameter: str
    """``n``; ``p.n`` for a member of a parameter of class type."""
    text: str
    """``n = rows``, ``n >= 1``."""
    span: SourceSpan | None = None


@dataclass(frozen=True, slots=True)
class LoopTurn:
    """In which turn of a loop a thread is."""

    span: SourceSpan
    """The loop."""
    iteration: int
    """0-based."""
    variable: str | None = None
    """The loop's variable, where its header names one."""
    value: int | None = None
    """What the variable holds in that turn, where that is certain."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A barrier that a thread comes to."""

    span: SourceSpan
    text: str
    """As written, e.g. ``__syncthreads()``."""
    scope: Literal["warp", "tile", "block", "grid", "cluster"]
    common: bool
    """Whether the finding's other thread takes part in it: one that it takes no part in orders nothing between them."""
    iterations: tuple[int, ...] = ()
    """0-based, of each loop around it, outermost first."""


@dataclass(frozen=True, slots=True)
class Route:
    """The barriers that a thread came to when it was executed with the values of a witness."""

    passed: int
    """How many lie before the access, or before the barrier that a finding is about."""
    last: tuple[Arrival, ...] = ()
    """The last few of those, in the order of execution."""
    next: Arrival | None = None
    """The first one behind."""
    ended: bool = False
    """The thread came to its end without another barrier."""


@dataclass(frozen=True, slots=True)
class Access:
    """One side of a finding: a memory access, barrier or assertion in the source, executed by one concrete thread."""

    id: int
    """Program event id, unique and stable within the lowered kernel; negative for an assertion."""
    span: SourceSpan
    kind: Literal["read", "write", "atomic", "barrier", "assertion"]
    width: int
    """Bytes."""
    text: str
    """The accessed expression as written, e.g. ``s[tid + 1]``."""
    block: Dim3 | None = None
    thread: Dim3 | None = None
    iterations: tuple[tuple[str, int], ...] = ()
    """(loop description, 0-based iteration) for each enclosing loop, outermost first."""
    calls: tuple[SourceSpan, ...] = ()
    """Call sites through which the access is reached, outermost first."""
    turns: tuple[LoopTurn, ...] = ()
    """The same as `iterations`, with the place and the variable of each loop."""
    offset: int | None = None
    """Bytes from where `Witness.address` counts to the first one accessed, where the thread was executed."""
    route: Route | None = None
    """How the thread got here, where it was executed."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Concrete values under which two threads collide."""

    grid: Dim3
    block: Dim3
    parameters: tuple[tuple[str, int], ...] = ()
    """Scalar kernel parameters and host values that matter."""
    address: str = ""
    """The cell both threads touch, e.g. ``s[5]`` or ``out + 20 bytes``."""
    data: tuple[tuple[str, int], ...] = ()
    """Memory contents the collision depends on, e.g. ``("idx[3]", 7)``. Empty: needs no particular contents."""
    iterations: tuple[tuple[str, int], ...] = ()
    replayed: bool = False
    """True when the reference interpreter executed both threads to the two accesses with these values."""
    element: int = 0
    """Bytes of one element of the array at `address`; 0 where that is not known."""
    extents: tuple[int, ...] = ()
    """The extents of that array as declared."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake, or one useless barrier, in one kernel under one launch context."""

    code: Verdict
    severity: Severity
    message: str
    """One line, for the squiggle."""
    span: SourceSpan
    """Where the squiggle goes (the first access or the barrier)."""
    accesses: tuple[Access, ...]
    """Two for races; for barrier findings the barrier as seen by the thread that reaches it and the one that does
    not; for an assertion the thread for which it fails."""
    group: str
    """Findings with the same group are one mistake (same code and accesses, or the same repair)."""
    scope: Literal["intra-warp", "intra-block", "inter-block"] | None = None
    space: Literal["shared", "global"] | None = None
    object: str | None = None
    witness: Witness | None = None
    explanation: tuple[Remark, ...] = ()
    """Further lines for the hover, in order."""
    relations: tuple[str, ...] = ()
    """Conditions on sizes that the host passes under which there is no such race, in the host's names: ``n % 2 == 0``.
    All are needed, and nothing in sight states them."""
    signalled: bool = False
    """The threads signal or lock between the accesses of the race; that this orders them was not proved."""


@dataclass(frozen=True, slots=True)
class LaunchSummary:
    """Which launch a context stands for. Symbolic dimensions print as their host expression."""

    source: Literal["launch", "user", "default"]
    span: SourceSpan | None
    grid: tuple[str, str, str]
    block: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ContextResult:
    """The verdict for one kernel under one launch context."""

    launch: LaunchSummary
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reasons: tuple[Reason, ...] = ()
    """Every cause of ``unknown``; empty otherwise."""
    assumptions: tuple[str, ...] = ()
    """What the verdict rests on and nobody proved, e.g. ``signed arithmetic does not overflow``."""
    facts: tuple[FactNote, ...] = ()
    milliseconds: float = 0.0
    rungs: tuple[tuple[str, int], ...] = ()
    """How many queries each rung of the ladder answered."""
    said: tuple[ParameterFact, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelResult:
    """The verdict for one kernel instance; a kernel's verdict is the worst of its contexts."""

    name: str
    """As shown to the user, with template arguments: ``scale<float, 256>``."""
    mangled: str
    span: SourceSpan
    """The kernel's name at its definition."""
    extent: SourceSpan
    """The whole definition."""
    verdict: Verdict
    contexts: tuple[ContextResult, ...]
    shared_accesses: int = 0
    global_accesses: int = 0
    barriers: int = 0
    files: tuple[str, ...] = ()
    """Files with code of this kernel, its own and those of the functions it calls."""
    needed: tuple[str, ...] = ()
    """Groups (as in `Finding.group`) of the claims that a barrier is redundant which do not hold in this kernel: other
    instances of a template, and other callers of a function, may make them."""
    barrier_sites: tuple[SourceSpan, ...] = ()
    """Where its barriers stand, in the order of the program; a function called twice counts once."""
    parameters: tuple[tuple[str, SourceSpan], ...] = ()
    """Names and declarations of its parameters."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something the analysis saw and could not take in, counted and named, never dropped."""

    what: str
    span: SourceSpan | None = None


@dataclass(frozen=True, slots=True)
class SyntaxIssue:
    """A compiler diagnostic of the unit (errors only)."""

    message: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class UnitResult:
    """Everything found in one translation unit."""

    path: str
    arch: int
    kernels: tuple[KernelResult, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    syntax: tuple[SyntaxIssue, ...] = ()
    dependencies: tuple[str, ...] = ()
    """Files that were read, the main file left out."""
    milliseconds: float = 0.0
    failure: Reason | None = None
    """Set when the unit could not be analysed at all."""
    linked: tuple[str, ...] = ()
    """Dependencies that are no part of the unit: other files of its program, and what only they include."""


@dataclass(frozen=True, slots=True)
class UserLaunch:
    """A launch context given by the user, on the command line or in a ``// cuda-lsp: launch`` comment."""

    grid: Dim3 | None = None
    block: Dim3 | None = None
    values: tuple[tuple[str, int], ...] = ()
    """Scalar kernel parameters by name."""
    dynamic_shared: int | None = None

    @property
    def notation(self) -> str:
        """The launch as ``--launch`` takes it."""
        parts = [f"{n}=({','.join(map(str, d))})" for n, d in (("grid", self.grid), ("block", self.block)) if d]
        if self.dynamic_shared is not None:
            parts.append(f"shared={self.dynamic_shared}")
        return ",".join([*parts, *(f"{n}={v}" for n, v in self.values)])


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What steers an analysis; part of every cache key."""

    use_host: bool = True
    """Use what the host code says about each launch (False: the hardware's limits only)."""
    warp_lockstep: bool = False
    """Model warps of 32 as executing in lock-step (targets before Volta)."""
    kernels: tuple[str, ...] = ()
    """Only kernels with these names, as people write them (`ir.names`) or as the linker sees them; empty: all."""
    launches: tuple[UserLaunch, ...] = ()
    """When given, only these contexts are checked."""
    wrap_around: bool = False
    """Report races that need unsigned sums and products of sizes that nobody limits to wrap around."""
    kernel_effort: int = 15_000
    """Units of work (``solve.effort``) for one kernel under one launch."""
    repair_effort: int = 80_000
    """The same for all searches for repairs of one unit together."""
    smt_budget: int = 1_000_000
    """Z3 resource units per query."""
    redundancy: bool = True
    """Look for barriers that order nothing."""
    every_pair: bool = False
    """Ask also about the pairs on an object on which many others collide already."""
    replays: bool = True
    """Execute the two threads of each witness. Without, the same pairs are found, no race is called definite, and the
    two may be of one warp where threads of different warps collide, too."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the bytes of ``span`` by ``new_text``."""

    span: SourceSpan
    new_text: str


@dataclass(frozen=True, slots=True)
class FixPart:
    """One of the repairs that were put together to one, in words about lines of the text that all of it edits."""

    title: str
    path: str
    """A file that it edits."""
    notes: tuple[str, ...] = ()


NOT_REPAIRED: Final = "Not repaired: "
"""How a note of a repair begins that says which race stays, and why."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair that the prover has accepted on the edited text."""

    title: str
    kind: Literal[
        "insert-barrier",
        "remove-barrier",
        "move-barrier",
        "restructure",
        "use-atomic",
        "insert-fence",
        "widen-scope",
        "assert-host",
    ]
    edits: tuple[TextEdit, ...]
    groups: tuple[str, ...]
    """Finding groups that disappear."""
    cost: str
    """What it costs at run time, in words: ``+1 barrier x 8 iterations``."""
    preferred: bool = True
    notes: tuple[str, ...] = field(default=())
    at: SourceSpan | None = None
    """Where a hint is offered that is about no finding."""
    heads: tuple[SourceSpan, ...] = ()
    """Where it is offered, too: the heads of the loops that a barrier may leave."""
    assumes: tuple[str, ...] = ()
    """What the proof takes for granted and the edited text does not enforce, a sentence each."""
    parts: tuple[FixPart, ...] = ()
    """The repairs that it was put together from, if it was."""
    beyond: bool = False
    """Whether other units were looked at, which may be others by now."""

    @property
    def applies_unasked(self) -> bool:
        """Whether it may be applied with others, by somebody who has not read its title: no choice, and nothing is
        taken for granted."""
        return self.preferred and not self.assumes


@dataclass(frozen=True, slots=True)
class FixRefusal:
    """Why there is no repair, as a sentence for the user."""

    text: str
    group: str = ""
    """The findings it is about (as in `Finding.group`), where it is about one group."""
