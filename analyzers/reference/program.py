"""A kernel as a linear list of operations with explicit jumps: what both the interpreter and the replay step through.

Structured control flow becomes :class:`Branch`, :class:`Jump` and :class:`Halt`; every statement with an effect stays
what it is. A *region* is a construct (conditional, loop, labelled block, one pass through a loop body) together with
its :class:`Join`, the place where all ways through it meet again: when a condition depends on data, everything until
the join of its region does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from analyzers.ir import kernel as k
from analyzers.ir.expr import TRUE, Expr

PathStep = tuple[str, str, int]
"""(``if``, number, branch) or (``loop``, label, 0)."""

Effect = (
    k.Assign
    | k.Load
    | k.Store
    | k.Atomic
    | k.Barrier
    | k.Fence
    | k.Collective
    | k.Havoc
    | k.Observe
    | k.Assume
    | k.Unsupported
)


@dataclass(slots=True)
class Region:
    """What executing a construct, or not, can change. ``number`` identifies it within the program."""

    number: int
    assigned: set[str] = field(default_factory=set[str])
    """Variables assigned inside."""
    stores: set[str] = field(default_factory=set[str])
    """Private objects that may be written inside; ``*`` through a pointer that is not followed."""
    barriers: bool = False


@dataclass(slots=True)
class Branch:
    """Go on if the condition holds, else to ``otherwise``. ``region`` ends where both ways have surely met."""

    condition: Expr
    otherwise: int
    region: int


@dataclass(slots=True)
class Jump:
    target: int


@dataclass(slots=True)
class LoopStart:
    """Sets the 0-based iteration number ``counter`` (a key of the frame) to zero."""

    counter: str


@dataclass(slots=True)
class LoopNext:
    """Counts one iteration and jumps back."""

    counter: str
    target: int


@dataclass(slots=True)
class Join:
    region: int


@dataclass(slots=True)
class Halt:
    """The thread ends: by ``return``, or at the end of the kernel."""


Operation = Effect | Branch | Jump | LoopStart | LoopNext | Join | Halt


@dataclass(slots=True)
class Program:
    """``operations[i]`` stands at ``paths[i]``, in the loops ``loops[i]`` (label, counter key; outermost first)."""

    kernel: k.Kernel
    operations: list[Operation] = field(default_factory=list[Operation])
    loops: list[tuple[tuple[str, str], ...]] = field(default_factory=list[tuple[tuple[str, str], ...]])
    paths: list[tuple[PathStep, ...]] = field(default_factory=list[tuple[PathStep, ...]])
    regions: list[Region] = field(default_factory=list[Region])


def counter_key(label: str) -> str:
    """The frame key that holds a loop's iteration number."""
    return f"#{label}"


@dataclass(slots=True)
class _Open:
    """A labelled construct being translated, and the jumps that wait for its end."""

    label: str
    region: int
    exits: list[int]
    continues: list[int]
    body_region: int
    """Region of one pass through the body, for loops; else that of the construct."""


class _Flattener:
    def __init__(self, kernel: k.Kernel) -> None:
        self.program = Program(kernel)
        self.open: list[_Open] = []
        self.active: list[Region] = []
        self.loops: tuple[tuple[str, str], ...] = ()
        self.path: tuple[PathStep, ...] = ()
        self.conditionals = 0
        self.private = {o.name for o in kernel.objects if o.space in ("local", "param")}

    def emit(self, operation: Operation) -> int:
        p = self.program
        p.operations.append(operation)
        p.loops.append(self.loops)
        p.paths.append(self.path)
        return len(p.operations) - 1

    def here(self) -> int:
        return len(self.program.operations)

    def enter(self) -> Region:
        region = Region(len(self.program.regions))
        self.program.regions.append(region)
        self.active.append(region)
        return region

    def leave(self, region: Region) -> None:
        """Close the innermost region; what it may change, its parent may change."""
        assert self.active.pop() is region
        self.emit(Join(region.number))
        if self.active:
            parent = self.active[-1]
            parent.assigned |= region.assigned
            parent.stores |= region.stores
            parent.barriers |= region.barriers

    def body(self, statements: Iterable[k.Stmt]) -> None:
        for s in statements:
            if isinstance(s, k.If):
                self.conditional(s)
            elif isinstance(s, k.Loop):
                self.loop(s)
            elif isinstance(s, k.Block):
                self.block(s)
            elif isinstance(s, k.Exit):
                self.exit(s)
            elif isinstance(s, k.Continue):
                self.construct(s.label).continues.append(self.emit(Jump(-1)))
            else:
                self.effect(s)

    def effect(self, s: Effect) -> None:
        region = self.active[-1]
        if isinstance(s, (k.Assign, k.Load, k.Atomic, k.Collective, k.Havoc)) and s.var is not None:
            region.assigned.add(s.var)
        if isinstance(s, (k.Store, k.Atomic)):
            root = s.pointer
            while root.op == "ptradd":
                root = root.args[0]
            if root.op != "addr" or root.value in self.private:
                region.stores.add(root.value if root.op == "addr" else "*")
        if isinstance(s, k.Barrier):
            region.barriers = True
            if s.result is not None:
                region.assigned.add(s.result[0])
        self.emit(s)

    def construct(self, label: str) -> _Open:
        for o in reversed(self.open):
            if o.label == label:
                return o
        raise ValueError(f"no construct named {label} around an exit to it")

    def reconvergence(self, bodies: Iterable[k.Stmt], own: Region) -> int:
        """The region at whose end a thread that takes or does not take ``bodies`` is back on the common way."""
        depth, region = len(self.open), own.number
        inner: set[str] = set()
        for s in k.statements(tuple(bodies)):
            if isinstance(s, (k.Loop, k.Block)):
                inner.add(s.label)
        for s in k.statements(tuple(bodies)):
            if isinstance(s, (k.Exit, k.Continue)) and s.label not in inner:
                for i, o in enumerate(self.open):
                    # Of an exit and a continue to one loop, the exit reaches farther.
                    target = o.body_region if isinstance(s, k.Continue) else o.region
                    if o.label == s.label and (i < depth or (i == depth and target < region)):
                        depth, region = i, target
        return region

    def conditional(self, s: k.If) -> None:
        number = self.conditionals = self.conditionals + 1
        region = self.enter()
        branch = Branch(s.condition, -1, self.reconvergence(s.then + s.orelse, region))
        self.emit(branch)
        outer = self.path
        self.path = (*outer, ("if", str(number), 0))
        self.body(s.then)
        if s.orelse:
            jump = Jump(-1)
            self.emit(jump)
            branch.otherwise = self.here()
            self.path = (*outer, ("if", str(number), 1))
            self.body(s.orelse)
            jump.target = self.here()
        else:
            branch.otherwise = self.here()
        self.path = outer
        self.leave(region)

    def loop(self, s: k.Loop) -> None:
        region = self.enter()
        counter = counter_key(s.label)
        self.emit(LoopStart(counter))
        outer_loops, outer_path = self.loops, self.path
        self.loops = (*outer_loops, (s.label, counter))
        self.path = (*outer_path, ("loop", s.label, 0))
        top = self.here()
        one_pass = Region(len(self.program.regions))
        self.program.regions.append(one_pass)
        opened = _Open(s.label, region.number, [], [], one_pass.number)
        self.open.append(opened)
        self.body(s.head)
        branch = Branch(s.condition, -1, self.reconvergence(s.head + s.body + s.latch, region))
        if s.condition is not TRUE:
            self.emit(branch)
        self.active.append(one_pass)
        self.body(s.body)
        self.patch(opened.continues)
        self.leave(one_pass)
        self.body(s.latch)
        self.emit(LoopNext(counter, top))
        self.open.pop()
        self.loops, self.path = outer_loops, outer_path
        branch.otherwise = self.here()
        self.patch(opened.exits)
        self.leave(region)

    def block(self, s: k.Block) -> None:
        region = self.enter()
        opened = _Open(s.label, region.number, [], [], region.number)
        self.open.append(opened)
        self.body(s.body)
        self.open.pop()
        self.patch(opened.exits)
        self.leave(region)

    def exit(self, s: k.Exit) -> None:
        if s.label == k.KERNEL_BLOCK:
            self.emit(Halt())
        else:
            self.construct(s.label).exits.append(self.emit(Jump(-1)))

    def patch(self, jumps: list[int]) -> None:
        for j in jumps:
            jump = self.program.operations[j]
            assert isinstance(jump, Jump)
            jump.target = self.here()


def flatten(kernel: k.Kernel) -> Program:
    """The linear form of a kernel. Raises ValueError for an exit to a construct that does not surround it."""
    flattener = _Flattener(kernel)
    root = flattener.enter()
    flattener.body(kernel.body)
    flattener.leave(root)
    flattener.emit(Halt())
    return flattener.program


@dataclass(frozen=True, slots=True)
class Place:
    """A point in a thread's execution: an operation, and the iteration of each loop around it."""

    operation: int
    iterations: tuple[int, ...] = ()


def position(program: Program, where: Place, barrier: Place) -> Literal["before", "beside", "past"]:
    """Where a thread is that has ended or waits at ``where``, seen from ``barrier``. ``beside``: in the other branch of
    a conditional around the barrier."""
    iterations = 0
    for left, right in zip(program.paths[where.operation], program.paths[barrier.operation], strict=False):
        if left[:2] != right[:2]:
            break
        if left[0] == "loop":
            i, j = where.iterations[iterations], barrier.iterations[iterations]
            if i != j:
                return "past" if i > j else "before"
            iterations += 1
        elif left[2] != right[2]:
            return "beside"
    return "past" if where.operation > barrier.operation else "before"
