"""What an execution leaves behind: every access, every barrier, what went wrong, and the final memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from analyzers.ir.kernel import Kernel, Lanes, Scope
from analyzers.model import Dim3
from analyzers.reference.launch import ConcreteLaunch, coordinate
from analyzers.reference.memory import Memory

Outcome = Literal["finished", "step-limit", "unsupported", "assumption-violated"]


class AccessRecord(NamedTuple):
    """One executed access to shared or global memory."""

    event: int
    object: str
    instance: int
    """Linear block number for shared objects, 0 for global ones."""
    offset: int
    width: int
    kind: Literal["read", "write", "atomic"]
    writes: bool
    scope: Scope | None
    """Of an atomic, ``system`` for volatile accesses; None for plain ones."""
    thread: int
    """Linear block number times threads per block, plus linear thread number."""
    sync: int
    """How many barriers of any scope the thread has been released from, fences it has executed and signals it has
    received."""
    epoch: int
    """How many block barriers."""
    warp_epoch: int
    """How many warp or tile barriers."""
    iterations: tuple[tuple[str, int], ...]
    """(loop label, 0-based iteration), outermost first."""
    value: int
    """The bits read or written."""
    in_bounds: bool
    """False where the access leaves the array that the source names, which the analysis assumes away."""
    lanes: Lanes = ""
    """Which lanes of the warp of ``named`` touch the bytes, where it is not ``thread`` for itself."""
    named: int = -1
    """The thread that gives the address, where ``lanes`` says so."""


class SyncRecord(NamedTuple):
    """The release of one barrier. ``participants``: (thread, barrier event id). ``ended``: members of the group that
    had ended; CUDA waits for the others only, after these. ``arrivals``: (thread, interval that ended with its
    arrival) of those that arrived and went on."""

    scope: str
    participants: tuple[tuple[int, int], ...]
    ended: tuple[int, ...] = ()
    arrivals: tuple[tuple[int, int], ...] = ()


class FenceRecord(NamedTuple):
    """A thread begins a new interval: what it did up to now is behind a fence, or was released."""

    thread: int
    sequential: Scope | None = None
    """The scope of a sequentially consistent fence."""


class SignalRecord(NamedTuple):
    """A thread has read what another wrote in ``interval`` or behind it.

    ``acquired``: all that the other did up to that interval comes before all that follows. ``strong``: before the
    strong accesses that follow, which are performed after the read without a fence. ``observed``: nothing by itself;
    but of two sequentially consistent fences, one before the write and one behind the read, the first comes first."""

    source: int
    interval: int
    target: int
    kind: Literal["acquired", "strong", "observed"]


class Divergence(NamedTuple):
    """A barrier that one thread waits at and another one of its group misses."""

    kind: Literal["divergence", "after-exit"]
    """``after-exit``: the other had returned before it came to the barrier."""
    barrier: int
    scope: str
    waiting: int
    missing: int
    elsewhere: int | None
    """The barrier or collective at which the missing thread waits, None when it has ended."""
    iterations: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class RunResult:
    kernel: Kernel
    launch: ConcreteLaunch
    outcome: Outcome = "finished"
    reason: str = ""
    accesses: list[AccessRecord] = field(default_factory=list[AccessRecord])
    syncs: list[SyncRecord | FenceRecord | SignalRecord] = field(
        default_factory=list["SyncRecord | FenceRecord | SignalRecord"]
    )
    """In the order of execution."""
    divergences: list[Divergence] = field(default_factory=list[Divergence])
    undefined: set[str] = field(default_factory=set[str])
    """What C leaves undefined and was executed: ``signed-overflow``, ``division-by-zero``, ``shift-count``,
    ``uninitialised``, ``mask-without-caller``."""
    stopped: dict[int, str] = field(default_factory=dict[int, str])
    """Threads that ended in a failed assert or trap."""
    steps: int = 0
    memory: Memory | None = None

    def place(self, thread: int) -> tuple[Dim3, Dim3]:
        """(block, thread) coordinates of a thread number."""
        block, rank = divmod(thread, self.launch.threads_per_block)
        return coordinate(block, self.launch.grid), coordinate(rank, self.launch.block)

    def read(self, name: str, offset: int, width: int, instance: int = 0) -> int:
        """The final value of ``width`` bytes of an object."""
        assert self.memory is not None
        return self.memory.read(self.memory.space.by_name[name], instance, offset, width)
