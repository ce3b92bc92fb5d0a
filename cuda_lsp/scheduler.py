"""Which job runs when and on which worker: newest text first, a unit always on the same worker, work survives crashes.

Takes jobs from the session and gives them to at most `size` worker processes, one job at a time each. A newer check of
a unit supersedes what is queued or running for it; repairs that a user waits for go first, background work gives way
and starts again later. A worker that crashes or hangs is replaced and its job runs once more. Everything here happens
on the event loop and returns at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Protocol

from cuda_lsp.exit_status import exit_reason
from cuda_lsp.frames import Frame
from cuda_lsp.process_figures import SilentWork

_MAXIMAL_ATTEMPTS = 2
_DEATHS_PER_KERNEL = 2
_KEPT_HOPELESS = 1000
_CRASHES_PER_WINDOW = 5
_CRASH_WINDOW_S = 60.0
_RECYCLE_INTERVAL_S = 60.0
_CLOSING_GRACE_S = 1.0
_STARTING_GRACE_S = 60.0

_log = logging.getLogger(__name__)


class JobKind(IntEnum):
    """What a worker is asked to do, most urgent first."""

    FIX = 0
    CHECK = 1
    OFFERS = 2
    WARM = 3


class Outcome(str, Enum):
    """How a job ended."""

    OK = "ok"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """The worker reported an error; it goes on."""
    CRASHED = "crashed"
    """The worker died of it, twice."""


@dataclass(eq=False, slots=True)
class Job:
    """One request to a worker about one unit."""

    kind: JobKind
    unit: str
    frame: Mapping[str, Any]
    """The request, without its id."""
    texts: Mapping[str, tuple[str, str]]
    """(hash, text) of the documents that the request names, by path."""
    on_frame: Callable[[Frame], None]
    """Called with each answer but the last."""
    on_done: Callable[[Outcome, str], None]
    """Called once, with the error if there was one."""
    attention: int = 0
    """The higher, the sooner among jobs of one kind."""
    attempts: int = 0
    id: int = field(default=0)


class Process(Protocol):
    """A worker process, as `WorkerProcess` or a test gives it."""

    @property
    def pid(self) -> int | None: ...
    def send(self, frame: Frame) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


Start = Callable[[Callable[[Frame], None], Callable[[int, str], None]], Process]


@dataclass(frozen=True, slots=True)
class Limits:
    size: int = 2
    hang_s: float = 60.0
    """A running job whose worker says nothing for this long is taken to hang, unless it is at work all the while on a
    machine that is busy with other things."""
    memory_bytes: int = 420 << 20
    """For all workers together; the server itself needs about 60 MB more."""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    pid: int | None
    running: str | None
    resident_bytes: int


@dataclass(eq=False, slots=True)
class _Slot:
    process: Process | None = None
    running: Job | None = None
    progress: str = ""
    kernel: str = ""
    """The content key of the kernel that is being decided."""
    ready: bool = False
    """The process has loaded what it needs; before that it may be silent for longer."""
    stopping: bool = False
    """The running job was told to stop; what it still says does not count."""
    again: bool = False
    """The running job goes back into the queue when it has stopped."""
    known_texts: dict[str, str] = field(default_factory=dict[str, str])
    heard_at: float = 0.0
    silent_work: SilentWork = field(default_factory=SilentWork)
    resident_bytes: int = 0
    crashes: deque[float] = field(default_factory=lambda: deque[float](maxlen=_CRASHES_PER_WINDOW))
    hung: bool = False
    recycled_at: float = float("-inf")
    down: bool = False
    """Crashed too often; starts again only on `revive`."""


class Scheduler:
    """Owns the workers. `on_trouble` gets one sentence for the user for each crash or hang."""

    def __init__(self, start: Start, limits: Limits, on_trouble: Callable[[str], None]) -> None:
        self._start = start
        self._limits = limits
        self._on_trouble = on_trouble
        self._loop = asyncio.get_running_loop()
        self._slots: list[_Slot] = []
        self._homes: dict[str, _Slot] = {}
        self._seen: set[str] = set()
        """Units that their worker has begun to know."""
        self._queue: list[Job] = []
        self._ids = itertools.count(1)
        self._deaths: Counter[str] = Counter()
        self._hopeless: dict[str, tuple[str, str]] = {}
        """Kind and text of the reason, by the content key of kernels over which a worker hung or died: the same kernel
        would do it again at every save."""
        self._closing = False
        self._gone = asyncio.Event()

    # What the session asks for

    def set_limits(self, limits: Limits) -> None:
        self._limits = limits

    def prestart(self) -> None:
        """Start the first worker before there is work for it."""
        if not self._slots:
            self._launch(self._add_slot())

    def submit(self, job: Job) -> None:
        if self._closing:
            job.on_done(Outcome.CANCELLED, "")
            return
        job.id = next(self._ids)
        if job.kind is JobKind.CHECK:
            self._supersede(job.unit)
        self._queue.append(job)
        slot = self._home(job.unit)
        if slot.down:
            self._finish_queued(slot, Outcome.FAILED, "the analysis is stopped")
            return
        running = slot.running
        if running is not None and running.kind > job.kind and not slot.stopping:
            self._stop(slot, again=True)
        self._pump()

    def cancel(self, job: Job) -> None:
        """Give a job up; its `on_done` is called with `CANCELLED`."""
        if job in self._queue:
            self._queue.remove(job)
            job.on_done(Outcome.CANCELLED, "")
            return
        for slot in self._slots:
            if slot.running is job:
                self._stop(slot, again=False)

    def forget(self, unit: str) -> None:
        """The unit is not needed any more: drop its jobs and what a worker keeps for it."""
        self._supersede(unit)
        self._homes.pop(unit, None)
        self._seen.discard(unit)
        for slot in self._slots:
            if slot.process is not None and unit in slot.known_texts:
                slot.process.send({"op": "forget", "path": unit})
            slot.known_texts.pop(unit, None)

    def revive(self) -> None:
        """Try workers again that had crashed too often, and kernels that were given up."""
        self._deaths.clear()
        self._hopeless.clear()
        for slot in self._slots:
            if slot.down:
                slot.down = False
                slot.crashes.clear()
                self._launch(slot)

    def is_busy(self, unit: str) -> bool:
        """Whether a check of the unit is queued or running."""
        return any(
            job.unit == unit and job.kind is JobKind.CHECK
            for job in (*self._queue, *(slot.running for slot in self._slots if slot.running and not slot.stopping))
        )

    @property
    def queued(self) -> int:
        """How many jobs wait for a worker."""
        return len(self._queue)

    def status(self) -> list[WorkerStatus]:
        return [
            WorkerStatus(
                slot.process.pid if slot.process else None,
                f"{slot.running.kind.name.lower()} {slot.running.unit}" if slot.running else None,
                slot.resident_bytes,
            )
            for slot in self._slots
        ]

    async def close(self) -> None:
        """End all workers: by closing their input, and after a moment by force."""
        self._closing = True
        waiting, self._queue = self._queue, []
        for job in waiting:
            job.on_done(Outcome.CANCELLED, "")
        for slot in self._slots:
            if slot.process is not None:
                slot.process.close()
        self._note_gone()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._gone.wait(), _CLOSING_GRACE_S)
        for slot in self._slots:
            if slot.process is not None:
                slot.process.kill()

    # Queue

    def _supersede(self, unit: str) -> None:
        """Drop what is queued for a unit and stop what runs for it."""
        dropped = [job for job in self._queue if job.unit == unit]
        self._queue = [job for job in self._queue if job.unit != unit]
        for job in dropped:
            job.on_done(Outcome.CANCELLED, "")
        for slot in self._slots:
            if slot.running is not None and slot.running.unit == unit:
                self._stop(slot, again=False)

    def _stop(self, slot: _Slot, *, again: bool) -> None:
        """Tell the running job to stop; whether it runs again, the last call decides."""
        slot.again = again
        if not slot.stopping and slot.process is not None and slot.running is not None:
            slot.stopping = True
            slot.process.send({"op": "cancel", "id": slot.running.id})

    def _home(self, unit: str) -> _Slot:
        """The worker of a unit, so that its translation units stay warm. A new unit goes where nothing runs."""
        home = self._homes.get(unit)
        if home is None:
            queued = [self._homes.get(job.unit) for job in self._queue]
            idle = [slot for slot in self._slots if slot.running is None and not slot.down and slot not in queued]
            homes = list(self._homes.values())
            if idle:
                home = min(idle, key=homes.count)
            elif len(self._slots) < self._limits.size:
                home = self._add_slot()
            else:
                home = min(self._slots[: self._limits.size], key=lambda slot: (slot.down, homes.count(slot)))
            self._homes[unit] = home
        return home

    def _add_slot(self) -> _Slot:
        slot = _Slot()
        self._slots.append(slot)
        return slot

    def _pump(self) -> None:
        """Give every idle worker the most urgent job of its units."""
        for slot in self._slots:
            if slot.running is not None or slot.down or self._closing:
                continue
            waiting = [job for job in self._queue if self._home(job.unit) is slot]
            if not waiting:
                # A unit that no worker has seen yet need not wait for the busy one it was given to.
                waiting = [job for job in self._queue if job.unit not in self._seen]
                self._homes.update((job.unit, slot) for job in waiting[:1])
                waiting = waiting[:1]
            if waiting:
                if slot.process is None:
                    self._launch(slot)
                self._dispatch(slot, min(waiting, key=lambda job: (job.kind, -job.attention, job.id)))

    def _dispatch(self, slot: _Slot, job: Job) -> None:
        assert slot.process is not None
        self._queue.remove(job)
        self._seen.add(job.unit)
        slot.running, slot.stopping, slot.again = job, False, False
        slot.progress = slot.kernel = ""
        for path, (digest, text) in job.texts.items():
            if slot.known_texts.get(path) != digest:
                slot.process.send({"op": "text", "path": path, "digest": digest, "text": text})
                slot.known_texts[path] = digest
        slot.process.send({"op": job.kind.name.lower(), "id": job.id, **job.frame, "hopeless": self._hopeless})
        slot.heard_at = self._loop.time()
        self._watch(slot, job)

    # Workers

    def _launch(self, slot: _Slot) -> None:
        slot.known_texts.clear()
        slot.hung = slot.ready = False
        slot.silent_work = SilentWork()
        process: Process | None = None

        def on_frame(frame: Frame) -> None:
            if slot.process is process:
                self._hear(slot, frame)

        def on_exit(status: int, last_words: str) -> None:
            if slot.process is process:
                self._bury(slot, status, last_words)
            self._note_gone()

        slot.process = process = self._start(on_frame, on_exit)

    def _hear(self, slot: _Slot, frame: Frame) -> None:
        slot.heard_at = self._loop.time()
        slot.silent_work.heard(slot.process.pid if slot.process is not None else None)
        job = slot.running
        if not slot.ready:
            slot.ready = True
            if job is not None:
                self._watch(slot, job)
        if job is None or frame.get("id") != job.id or "alive" in frame:
            return
        if "done" not in frame:
            if "progress" in frame:
                slot.progress, slot.kernel = frame["progress"][2], frame.get("key", "")
            elif "kernel" in frame:
                slot.kernel = ""
            if not slot.stopping:
                job.on_frame(frame)
            return
        slot.running = None
        slot.resident_bytes = frame.get("rss", 0)
        if slot.again:
            job.id = next(self._ids)
            self._queue.append(job)
        else:
            outcome = Outcome.CANCELLED if slot.stopping else Outcome(frame["done"])
            job.on_done(outcome, frame.get("error", ""))
        self._limit_memory(slot)
        self._pump()

    def _watch(self, slot: _Slot, job: Job) -> None:
        """Look again when the worker would have been silent for too long."""

        def look() -> None:
            if slot.running is not job or slot.process is None:
                return
            if self._loop.time() < self._patience_ends(slot):
                self._watch(slot, job)
            elif slot.silent_work.goes_on(slot.process.pid, self._limits.hang_s):
                slot.heard_at = self._loop.time()
                self._watch(slot, job)
            else:
                slot.hung = True
                slot.process.kill()

        self._loop.call_at(self._patience_ends(slot), look)

    def _patience_ends(self, slot: _Slot) -> float:
        return slot.heard_at + self._limits.hang_s + (0.0 if slot.ready else _STARTING_GRACE_S)

    def _bury(self, slot: _Slot, status: int, last_words: str) -> None:
        """A worker has ended: say so, put its job back or give it up, start another."""
        slot.process = None
        slot.resident_bytes = 0
        if self._closing:
            return
        job, slot.running = slot.running, None
        cause = f"did not answer for {self._limits.hang_s:g} s" if slot.hung else f"ended: {exit_reason(status)}"
        _log.error("worker %s while %s\n%s", cause, _doing(job, slot), last_words)
        slot.crashes.append(self._loop.time())
        given_up = left_out = False
        if job is not None:
            left_out = self._blame(slot, cause)
            job.attempts += 1
            given_up = job.attempts >= _MAXIMAL_ATTEMPTS and not left_out
            if slot.stopping and not slot.again:
                job.on_done(Outcome.CANCELLED, "")
            elif given_up:
                job.on_done(Outcome.CRASHED, cause)
            else:
                job.id = next(self._ids)
                self._queue.insert(0, job)
        slot.stopping = False
        often = len(slot.crashes) == _CRASHES_PER_WINDOW and slot.crashes[-1] - slot.crashes[0] < _CRASH_WINDOW_S
        sentence = f"The analysis process {cause}" + (f" (while {_doing(job, slot)})" if job is not None else "")
        if often:
            slot.down = True
            self._on_trouble(f"{sentence}. It is not started again before the next “Re-check”.")
            self._finish_queued(slot, Outcome.FAILED, "the analysis process keeps ending")
        else:
            what = "That check is given up; earlier results stay." if given_up else "It was started again."
            if left_out:
                what += " That kernel is left out until it changes, or until the next “Re-check”."
            self._on_trouble(f"{sentence}. {what}")
            self._launch(slot)
            self._pump()

    def _blame(self, slot: _Slot, cause: str) -> bool:
        """Whether the kernel at hand is to be left out from now on: a worker hung over it, or died more than once."""
        if not slot.kernel:
            return False
        self._deaths[slot.kernel] += 1
        if not slot.hung and self._deaths[slot.kernel] < _DEATHS_PER_KERNEL:
            return False
        while len(self._hopeless) >= _KEPT_HOPELESS:
            del self._hopeless[next(iter(self._hopeless))]
        kind = "wall-clock" if slot.hung else "worker-died"
        self._hopeless[slot.kernel] = (kind, f"the analysis process {cause} while it checked this kernel")
        return True

    def _finish_queued(self, slot: _Slot, outcome: Outcome, error: str) -> None:
        mine = [job for job in self._queue if self._homes.get(job.unit) is slot]
        self._queue = [job for job in self._queue if job not in mine]
        for job in mine:
            job.on_done(outcome, error)

    def _limit_memory(self, slot: _Slot) -> None:
        """Over the budget, end an idle worker, rather another than the one just used; it starts again when needed."""
        if sum(each.resident_bytes for each in self._slots) <= self._limits.memory_bytes:
            return
        now = self._loop.time()
        for each in sorted(self._slots, key=lambda candidate: candidate is slot):
            wanted = any(self._homes.get(job.unit) is each for job in self._queue)
            if each.process is None or each.running is not None or wanted:
                continue
            if now - each.recycled_at >= _RECYCLE_INTERVAL_S:
                each.recycled_at = now
                each.process.close()
                each.process, each.resident_bytes = None, 0
                _log.info("ended an idle worker to stay within %d MB", self._limits.memory_bytes >> 20)
                return

    def _note_gone(self) -> None:
        if self._closing and not any(slot.process is not None for slot in self._slots):
            self._gone.set()


def _doing(job: Job | None, slot: _Slot) -> str:
    if job is None:
        return "idle"
    return f"{_VERBS[job.kind]} {job.unit}" + (f", kernel {slot.progress}" if slot.progress else "")


_VERBS = {
    JobKind.FIX: "repairing",
    JobKind.CHECK: "checking",
    JobKind.OFFERS: "looking for repairs in",
    JobKind.WARM: "preparing",
}
