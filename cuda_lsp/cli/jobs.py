"""Analysis in worker processes: one file at a time each, and a process that dies costs one kernel only.

A `Pool` takes tasks and gives their outcomes in the order of the tasks. Workers are started afresh (never forked) and
use the backend that `cuda_lsp.backend` names. libclang prints to standard output, which belongs to the results: a
worker's goes to standard error.

A worker that dies, or says nothing for too long, while it decides a kernel is replaced, and the file is checked again
without that kernel, which is then unknown. One that ends while it looks for repairs costs the repairs that were not yet
found.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Literal

from analyzers.model import Fix, FixRefusal, Reason, UnitResult
from analyzers.requests import PARSE_ERROR, CheckRequest, Including, Progress, UnitFinished
from cuda_lsp.cache import DiskCache
from cuda_lsp.exit_status import exit_reason
from cuda_lsp.process_figures import SilentWork
from cuda_lsp.workspace.programs import Programs
from cuda_lsp.workspace.project import Workspace

if TYPE_CHECKING:
    from analyzers.explain import Launchable

HANG_SECONDS = 120.0
"""How long a worker may say nothing while it works before it is given up. One that gets on with its work says so."""

MAXIMAL_ATTEMPTS = 5
"""Workers that a file may cost."""

_SAFE_PATH = "PYTHONSAFEPATH"
_ALIVE_SECONDS = 2.0
_STARTING_SECONDS = 60.0
_MAXIMAL_BY_DEFAULT = 8


Answer = Fix | FixRefusal
"""What became of the search for a repair."""

Message = Progress | UnitResult | Answer | None
"""What a worker says; None: that it is alive."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to do with one file: check it, also look for repairs, put those of some groups of findings together to one,
    describe a stage of one kernel's analysis, or say what it takes to launch it."""

    kind: Literal["check", "check-and-repair", "repair-all", "explain", "launchable"]
    request: CheckRequest
    kernel: str = ""
    stage: str = ""
    attempt: int = 1
    groups: tuple[str, ...] = ()
    workspace: Workspace | None = None
    """Where other units may lie that include what repairs edit."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`unit` is None only for repairs that were put together and for an explanation, which is in `text`; `refusal` says
    what was wrong with the question."""

    task: Task
    unit: UnitResult | None
    answers: tuple[Answer, ...] = ()
    text: str = ""
    refusal: str = ""
    launchable: Launchable | None = None


Report = Callable[[Task, Progress], None]
"""Called in this process while a task runs."""


def by_default() -> int:
    """How many processes use the machine well: one for each processor that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return min(processors, _MAXIMAL_BY_DEFAULT)


class Pool:
    """Up to `jobs` worker processes, started when they are needed; a context manager that stops them in the end."""

    def __init__(self, jobs: int, backend: str, hang_seconds: float = HANG_SECONDS) -> None:
        self._jobs = jobs
        self._backend = backend
        self._hang_seconds = hang_seconds
        self._workers: list[_Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    def outcomes(self, tasks: Sequence[Task], report: Report) -> Iterator[Outcome]:
        """The outcomes of the tasks, in their order, each as soon as it and those before it are known."""
        waiting = deque(enumerate(tasks))
        known: dict[int, Outcome] = {}
        given = 0
        while given < len(tasks):
            while waiting and (worker := self._free()) is not None:
                worker.begin(*waiting.popleft())
            for worker in _ready(self._workers):
                done = worker.receive(report)
                if done is not None:
                    number, outcome = done
                    if isinstance(outcome, Task):
                        waiting.appendleft((number, outcome))
                    else:
                        known[number] = outcome
                if worker.is_dead:
                    self._workers.remove(worker)
            while given in known:
                yield known.pop(given)
                given += 1

    def _free(self) -> _Worker | None:
        for worker in self._workers:
            if worker.task is None:
                return worker
        if len(self._workers) < self._jobs:
            self._workers.append(_Worker(self._backend, self._hang_seconds))
            return self._workers[-1]
        return None


def _ready(workers: list[_Worker]) -> list[_Worker]:
    """Workers that have said something, have died or have been silent for too long; waits a little for the first."""
    handles: dict[Any, _Worker] = {worker.connection: worker for worker in workers if worker.task is not None}
    spoken = {id(handles[handle]) for handle in wait(list(handles), timeout=0.5)}
    return [worker for worker in workers if id(worker) in spoken or (worker.task is not None and worker.is_overdue())]


@contextmanager
def _safe_path() -> Generator[None]:
    """Processes started inside do not search the working directory, a project with modules of its own, for those of
    Python (3.11 and later)."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


class _Worker:
    """The parent's end of one process."""

    def __init__(self, backend: str, hang_seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=_work, args=(theirs, backend), daemon=True)
        with _safe_path():
            self._process.start()
        theirs.close()
        self.task: tuple[int, Task] | None = None
        """What it works on, with its number."""
        self.is_dead = False
        self._is_ready = False
        """It has loaded what it needs; before that it may be silent for longer."""
        self._kernel = ""
        """The content key of the kernel that is being decided."""
        self._unit: UnitResult | None = None
        """The result, once only repairs are looked for."""
        self._answers: list[Answer] = []
        self._heard = time.monotonic()
        self._limit = hang_seconds
        self._silent_work = SilentWork()

    def is_overdue(self) -> bool:
        """Whether it is stuck: silent for too long, and not because the machine is busy."""
        grace = 0.0 if self._is_ready else _STARTING_SECONDS
        if time.monotonic() - self._heard <= self._limit + grace:
            return False
        if self._silent_work.goes_on(self._process.pid, self._limit):
            self._heard = time.monotonic()
            return False
        return True

    def begin(self, number: int, task: Task) -> None:
        self.task = (number, task)
        self._kernel, self._unit, self._answers = "", None, []
        self._heard = time.monotonic()
        # A worker that has died since is noticed when its answer is waited for.
        with contextlib.suppress(OSError):
            self.connection.send(task)

    def receive(self, report: Report) -> tuple[int, Outcome | Task] | None:
        """Take one message; an outcome with its number when the task has ended, one way or the other, or the task that
        is to be done instead."""
        assert self.task is not None
        number, task = self.task
        try:
            if self.connection.poll():
                message = self.connection.recv()
                self._heard = time.monotonic()
                self._is_ready = True
                self._silent_work.heard(self._process.pid)
                if isinstance(message, Outcome):
                    self.task = None
                    return number, message
                self._take(task, message, report)
                return None
            if not self.is_overdue():
                return None
            kind, text = "wall-clock", f"the analysis said nothing for {self._limit:.0f} s and was given up"
            self._process.kill()
        except (EOFError, OSError):
            self._process.join(5)
            kind, text = "worker-died", f"the analysis process died ({_exit_reason(self._process.exitcode)})"
        self.is_dead = True
        self.connection.close()
        return number, self._saved(task, kind, text)

    def _take(self, task: Task, message: Message, report: Report) -> None:
        match message:
            case Progress():
                self._kernel = message.key
                report(task, message)
            case UnitResult():
                self._kernel, self._unit = "", message
            case Fix():
                assert self._unit is not None
                self._answers.append(message)
                kernels = len(self._unit.kernels)
                report(task, Progress(kernels, kernels, message.title))
            case FixRefusal():
                self._answers.append(message)
            case None:
                pass

    def _saved(self, task: Task, kind: str, text: str) -> Outcome | Task:
        """What becomes of a task whose worker is gone."""
        if self._unit is not None:
            return Outcome(task, self._unit, tuple(self._answers))
        if self._kernel and task.attempt < MAXIMAL_ATTEMPTS:
            hopeless = {**task.request.hopeless, self._kernel: (kind, text)}
            return replace(task, request=replace(task.request, hopeless=hopeless), attempt=task.attempt + 1)
        return _lost(task, text)

    def stop(self) -> None:
        self.connection.close()
        if self.task is not None:
            self._process.kill()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()


def _exit_reason(status: int | None) -> str:
    return "no exit status" if status is None else exit_reason(status)


def _lost(task: Task, text: str, kind: str = "worker-died") -> Outcome:
    request = task.request
    return Outcome(task, UnitResult(request.path, request.flags.arch, failure=Reason(kind, text)))


# --- in the worker --------------------------------------------------------------------------------------------


def _work(connection: Connection, backend_name: str) -> None:
    """Serve tasks until the parent closes its end."""
    os.dup2(2, 1)
    from cuda_lsp import backend

    analysis = backend.load(backend_name)
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        connection.send(None)
        path, programs = "", Programs()
        while True:
            task: Task = connection.recv()
            if task.request.path != path:
                # Nothing asks for the file before again, and a run may have thousands.
                analysis.forget(path)
            path = task.request.path
            outcome = _outcome(analysis, _with_units(task, programs), connection.send)
            connection.send(replace(outcome, task=task))


def _with_units(task: Task, programs: Programs) -> Task:
    """The task with a request that knows of the other units of its workspace."""
    request, workspace = task.request, task.workspace
    if workspace is None:
        return task
    texts = {**request.unsaved, request.path: request.text}

    def including(files: Collection[str], names: Collection[str]) -> Including:
        return programs.including(workspace, request.path, files, names, texts, request.options, DiskCache(None))

    return replace(task, request=replace(request, including=including))


class _Alive:
    """The `stop` that the analysis polls: it never stops, and tells the parent now and then that it is at work."""

    def __init__(self, tell: Callable[[None], None]) -> None:
        self._tell = tell
        self._told = time.monotonic()

    def __call__(self) -> bool:
        now = time.monotonic()
        if now - self._told >= _ALIVE_SECONDS:
            self._told = now
            self._tell(None)
        return False


def _outcome(analysis: Any, task: Task, tell: Callable[[Message], None]) -> Outcome:
    if task.kind in ("explain", "launchable"):
        return _explained(task)
    unit: UnitResult | None = None
    stop = _Alive(tell)
    if task.kind == "repair-all":
        return Outcome(task, None, (analysis.fix_all(task.request, stop, task.groups),))
    for event in analysis.check(task.request, stop):
        if isinstance(event, Progress):
            tell(event)
        elif isinstance(event, UnitFinished):
            unit = event.result
    assert unit is not None, "the last event of a check is UnitFinished"
    answers: list[Answer] = []
    if task.kind == "check-and-repair" and unit.failure is None:
        tell(unit)
        for answer in analysis.offers(task.request, unit, stop):
            answers.append(answer)
            tell(answer)
    return Outcome(task, unit, tuple(answers))


def _explained(task: Task) -> Outcome:
    from analyzers.explain import explain, launchable
    from analyzers.frontend.parse import ParseFailure

    try:
        if task.kind == "launchable":
            return Outcome(task, None, launchable=launchable(task.request, task.kernel))
        return Outcome(task, None, text=explain(task.request, task.kernel, task.stage))
    except ParseFailure as error:
        return _lost(task, str(error), PARSE_ERROR)
    except ValueError as error:
        return Outcome(task, None, refusal=str(error))
