"""The worker process: runs the analysis on request and streams results back, until its parent goes away.

Speaks frames (`frames.py`) on the pipes it was started with. Requests are `text` (a document's text by path and hash),
`check`, `warm`, `offers`, `fix`, `cancel` and `forget`; answers carry the request's `id` and end with a `done` frame.
Standard output is turned into standard error first, because libclang prints; the parent logs what comes there. The
process ends as soon as its input does, so it cannot outlive the server however that died.
"""

from __future__ import annotations

import argparse
import dataclasses
import faulthandler
import hashlib
import logging
import os
import queue
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from analyzers.frontend.flags import CompileFlags
from analyzers.model import CheckOptions, Fix, KernelResult, UnitResult
from analyzers.requests import (
    PARSE_ERROR,
    CancelledError,
    CheckRequest,
    Event,
    Including,
    KernelFinished,
    KernelForeseen,
    Progress,
    UnitFinished,
)
from cuda_lsp import backend, bug, cache, frames, wire
from cuda_lsp.lookups import Lookups
from cuda_lsp.process_figures import resident_bytes
from cuda_lsp.workspace.programs import Programs, program_key
from cuda_lsp.workspace.project import Workspace
from cuda_lsp.workspace.sought import has_turned_up, sought_headers

#: `Reason.kind`s of results that depend on how busy the machine was and must not be kept.
UNREPEATABLE = frozenset({"wall-clock", "cancelled", "internal-error", "worker-died"})

_KEPT_UNITS = 8

_ALIVE_INTERVAL_S = 2.0

_log = logging.getLogger(__name__)


@dataclasses.dataclass(slots=True)
class _Checked:
    """The last result of a unit, for repairs."""

    request: CheckRequest
    cache_key: str
    dependencies: tuple[str, ...]
    load: Callable[[], UnitResult]

    def covers(self, request: CheckRequest) -> bool:
        """Whether a request asks for this very result."""
        mine = self.request
        return (
            (mine.text, mine.flags, mine.options) == (request.text, request.flags, request.options)
            and mine.program == request.program
            and all(mine.unsaved.get(path) == request.unsaved.get(path) for path in self.dependencies)
        )  # fmt: skip


class Worker:
    """Serves one parent. The reading thread only queues; all analysis happens in the thread that calls `run`."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, make_backend: Callable[[], backend.Backend]) -> None:
        self._source = source
        self._sink = sink
        self._make_backend = make_backend
        self._backend: backend.Backend | None = None
        self._requests: queue.SimpleQueue[frames.Frame | None] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._texts: dict[str, tuple[str, str]] = {}
        self._checked: OrderedDict[str, _Checked] = OrderedDict()
        self._lookups = Lookups()
        self._programs = Programs()
        self._linker = ThreadPoolExecutor(1, "linker")
        self._stamps: dict[str, dict[str, object]] = {}
        """By unit: the states of the files that its last analysis read from the disk."""
        self._disk = cache.DiskCache(None)
        self._disk_directory: str | None = None

    def run(self) -> None:
        threading.Thread(target=self._read, name="requests", daemon=True).start()
        try:
            # Loading takes most of a second: do it before there is work.
            self._backend = self._make_backend()
        except Exception as error:  # noqa: BLE001 - the first job will meet it again and report it
            _log.error("the analysis cannot be loaded: %s", error)
        self._send(0, ready=True)
        while (frame := self._requests.get()) is not None:
            try:
                self._serve(frame)
            except BrokenPipeError:
                return

    def _read(self) -> None:
        try:
            for frame in frames.read(self._source):
                if frame["op"] == "cancel":
                    self._cancelled.add(frame["id"])
                else:
                    self._requests.put(frame)
        except frames.FrameError as error:
            _log.error("unreadable request: %s", error)
        # The parent is gone or wants us gone. The main thread may be deep in a solver: do not wait for it.
        os._exit(0)

    def _send(self, identity: int, **content: Any) -> None:
        self._sink.write(frames.encode({"id": identity, **content}))
        self._sink.flush()

    def _serve(self, frame: frames.Frame) -> None:
        match frame["op"]:
            case "text":
                self._texts[frame["path"]] = (frame["digest"], frame["text"])
            case "forget":
                self._texts.pop(frame["path"], None)
                self._checked.pop(frame["path"], None)
                self._stamps.pop(frame["path"], None)
                self._lookups.forget(frame["path"])
                if self._backend is not None:
                    self._backend.forget(frame["path"])
            case "prune":
                self._disk.prune()
            case _:
                self._run_job(frame)

    def _run_job(self, frame: frames.Frame) -> None:
        identity: int = frame["id"]
        outcome, error = "ok", ""
        try:
            if self._is_cancelled(identity):
                raise CancelledError
            if frame["cache"] != self._disk_directory:
                self._disk_directory = frame["cache"]
                self._disk = cache.DiskCache(Path(self._disk_directory) if self._disk_directory else None)
            request = self._request(frame)
            match frame["op"]:
                case "check":
                    self._check(frame, request)
                case "warm":
                    self._warm(frame, request)
                case "offers":
                    self._offers(frame, request.linked())
                case "fix":
                    self._fix(frame, request.linked())
                case unknown:
                    raise ValueError(f"no such job: {unknown}")
        except CancelledError:
            outcome = "cancelled"
        except BrokenPipeError:
            raise
        except Exception as exception:  # noqa: BLE001 - one bad job must not end the process
            bug.report(f"{frame['op']} of {frame['unit']} failed", exception)
            outcome, error = "failed", f"{type(exception).__name__}: {exception}"
        self._cancelled.discard(identity)
        self._send(identity, done=outcome, error=error, rss=resident_bytes())

    def _is_cancelled(self, identity: int) -> bool:
        return identity in self._cancelled

    def _stop(self, identity: int) -> backend.Stop:
        """What the analysis polls: it tells of its cancellation, and the parent that it is at work."""
        told = time.monotonic()

        def stop() -> bool:
            nonlocal told
            now = time.monotonic()
            if now - told >= _ALIVE_INTERVAL_S:
                told = now
                self._send(identity, alive=True)
            return identity in self._cancelled

        return stop

    @property
    def _analysis(self) -> backend.Backend:
        if self._backend is None:
            self._backend = self._make_backend()
        return self._backend

    def _request(self, frame: frames.Frame) -> CheckRequest:
        def text(path: str, digest: str) -> str:
            known = self._texts.get(path)
            if known is None or known[0] != digest:
                raise LookupError(f"the text of {path} was not sent")
            return known[1]

        path: str = frame["unit"]
        request = CheckRequest(
            path=path,
            text=text(path, frame["digest"]),
            flags=wire.load(CompileFlags, frame["flags"]),
            unsaved={other: text(other, digest) for other, digest in frame["unsaved"].items()},
            options=wire.load(CheckOptions, frame["options"]),
            previous_keys=frame["keys"],
            first=tuple((name, start, end) for name, start, end in frame["first"]),
            hopeless={key: (kind, text) for key, (kind, text) in frame.get("hopeless", {}).items()},
        )
        workspace, texts = wire.load(Workspace, frame["workspace"]), {**request.unsaved, path: request.text}

        def including(files: Collection[str], names: Collection[str]) -> Including:
            asked = self._programs.including, workspace, path, files, names, texts, request.options, self._disk
            # One after the other: what a check has begun to look for may still be looked for.
            return self._linker.submit(*asked).result()

        request = dataclasses.replace(request, including=including)
        if not request.options.use_host or request.options.launches:
            return request
        # The files of the workspace are looked at while the unit is parsed, which leaves Python to others.
        program = self._linker.submit(self._programs.of, workspace, path, texts, request.options.kernels, self._disk)
        return dataclasses.replace(request, linking=program.result)

    def _key(self, frame: frames.Frame) -> str:
        return cache.key_of(frame["unit"], frame["digest"], frame["flags"], frame["options"])

    # Checks

    def _check(self, frame: frames.Frame, request: CheckRequest) -> None:
        key = self._key(frame)
        sender = _KernelSender(self._send, frame["id"], frame["have"])
        if frame["reuse"] and self._check_from_disk(frame, request, key, sender):
            return
        started, started_ns = time.perf_counter(), time.time_ns()
        kernels: list[list[Any]] = []
        finished: UnitResult | None = None
        for event in self._events(frame, request):
            match event:
                case KernelForeseen(result, verdict_key):
                    sender.send(result, verdict_key)
                case KernelFinished(result, verdict_key):
                    kernels.append(sender.send(result, verdict_key))
                case Progress(done, total, name, verdict_key):
                    self._send(frame["id"], progress=[done, total, name], key=verdict_key)
                case UnitFinished(result):
                    finished = result
        if finished is None:
            raise RuntimeError("the analysis ended without a unit result")
        request = request.linked()
        dependencies = [
            (path, frame["unsaved"].get(path) or cache.digest_seen(path, started_ns)) for path in finished.dependencies
        ]
        unit = dataclasses.replace(finished, kernels=())
        entry: dict[str, Any] = {
            "program": program_key(request.program),
            "kernels": kernels,
            "order": [kernel.mangled for kernel in finished.kernels],
            "unit": wire.dump(unit),
            "dependencies": dependencies,
            "absent": self._lookups.absent(finished, request, started_ns),
            "sought": sought_headers(finished),
        }
        self._remember(request, key, finished.dependencies, lambda: finished)
        self._finish_unit(frame, request, entry, from_disk=False)
        if _is_repeatable(finished) and all(digest != cache.UNSURE for _, digest in dependencies):
            self._disk.write("units", key, entry)
        _log.debug("%s: checked in %.0f ms", request.path, 1000 * (time.perf_counter() - started))

    def _check_from_disk(self, frame: frames.Frame, request: CheckRequest, key: str, sender: _KernelSender) -> bool:
        entry = self._disk.read("units", key)
        if entry is None:
            return False
        request = request.linked()
        try:
            if entry["program"] != program_key(request.program):
                return False
            dependencies = [(path, digest) for path, digest in entry["dependencies"]]
            if not cache.still_holds(dependencies, frame["unsaved"]) or any(map(os.path.exists, entry["absent"])):
                return False
            if has_turned_up(entry["sought"], frame["unit"]):
                return False
            for kernel in entry["kernels"]:
                sender.send_encoded(*kernel)
            self._remember(request, key, tuple(path for path, _ in dependencies), lambda: _unit_from(entry))
            self._finish_unit(frame, request, entry, from_disk=True)
        except (KeyError, TypeError, ValueError) as error:
            bug.report("a cache entry has another shape than its program", error)
            return False
        return True

    def _finish_unit(
        self, frame: frames.Frame, request: CheckRequest, entry: dict[str, Any], *, from_disk: bool
    ) -> None:
        self._send(
            frame["id"],
            unit=entry["unit"],
            order=entry["order"],
            dependencies=entry["dependencies"],
            absent=entry["absent"],
            sought=entry["sought"],
            names=request.program.names,
            mentioned=sorted({path for _, paths in request.program.mentions for path in paths}),
            callees=sorted(name for name, _ in request.program.definitions),
            defining=sorted({d[0] for _, found in request.program.definitions for d in found}),
            from_disk=from_disk,
        )

    def _warm(self, frame: frames.Frame, request: CheckRequest) -> None:
        """Check without telling: after a result came from the disk, the next edit should find everything warm."""
        for _ in self._events(frame, request):
            pass

    def _events(self, frame: frames.Frame, request: CheckRequest) -> Iterator[Event]:
        """Analyse a unit. What the analysis keeps of the unit is dropped when a file has changed that it read from the
        disk: it compares the texts that it is given, and those are not among them."""
        before = self._stamps.get(request.path, {})
        if any(cache.file_stamp(path) != stamp for path, stamp in before.items()):
            self._analysis.forget(request.path)
        started_ns = time.time_ns()
        for event in self._analysis.check(request, self._stop(frame["id"])):
            if self._is_cancelled(frame["id"]):
                raise CancelledError
            if isinstance(event, UnitFinished):
                read = [path for path in event.result.dependencies if path not in frame["unsaved"]]
                stamps = {path: cache.file_stamp(path) for path in read}
                self._stamps[request.path] = {
                    path: None if cache.changed_since(path, started_ns) else stamp for path, stamp in stamps.items()
                }
            yield event

    def _digest_of(self, path: str, frame: frames.Frame) -> str | None:
        return frame["unsaved"].get(path) or cache.file_digest(path)

    def _remember(
        self, request: CheckRequest, key: str, dependencies: tuple[str, ...], load: Callable[[], UnitResult]
    ) -> None:
        self._checked[request.path] = _Checked(request, key, dependencies, load)
        self._checked.move_to_end(request.path)
        while len(self._checked) > _KEPT_UNITS:
            self._checked.popitem(last=False)

    # Repairs

    def _offers(self, frame: frames.Frame, request: CheckRequest) -> None:
        checked = self._checked_again(frame, request)
        digests = [self._digest_of(path, frame) for path in checked.dependencies]
        key = cache.key_of(checked.cache_key, program_key(checked.request.program), digests)
        known = self._disk.read("fixes", key) if frame["reuse"] else None
        if known is not None:
            for answer in known:
                self._send(frame["id"], **answer)
            return
        found: list[Any] = []
        request, beyond = _noting(request)
        result, stop = checked.load(), self._stop(frame["id"])
        for answer in chain(self._analysis.offers(request, result, stop), self._analysis.hints(request, result, stop)):
            found.append({"fix" if isinstance(answer, Fix) else "refused": wire.dump(answer)})
            self._send(frame["id"], **found[-1])
            if self._is_cancelled(frame["id"]):
                raise CancelledError
        if not beyond:
            # What was seen in other units holds for as long as these stay as they are.
            self._disk.write("fixes", key, found)

    def _fix(self, frame: frames.Frame, request: CheckRequest) -> None:
        self._checked_again(frame, request)
        stop = self._stop(frame["id"])
        group: str | None = frame["group"]
        if "again" in frame:
            answer = self._analysis.still_right(request, wire.load(Fix, frame["again"]), stop)
        elif group is None:
            answer = self._analysis.fix_all(request, stop, frame["groups"])
        else:
            answer = self._analysis.fix_for(request, group, stop)
        if isinstance(answer, Fix):
            self._send(frame["id"], fix=wire.dump(answer))
        else:
            self._send(frame["id"], refusal=answer.text)

    def _checked_again(self, frame: frames.Frame, request: CheckRequest) -> _Checked:
        """The result of the very request; after a restart of the worker that takes another check."""
        checked = self._checked.get(request.path)
        if checked is not None and checked.covers(request):
            return checked
        result: UnitResult | None = None
        for event in self._events(frame, request):
            if isinstance(event, UnitFinished):
                result = event.result
        if result is None:
            raise RuntimeError("the analysis ended without a unit result")
        key = self._key(frame)
        kept = result
        self._remember(request, key, kept.dependencies, lambda: kept)
        return self._checked[request.path]


class _KernelSender:
    """Sends kernels, leaving out the bodies that the parent has."""

    def __init__(self, send: Callable[..., None], identity: int, have: dict[str, str]) -> None:
        self._send = send
        self._identity = identity
        self._have = have

    def send(self, kernel: KernelResult, verdict_key: str) -> list[Any]:
        """Send a kernel and give its encoded form, which `send_encoded` takes."""
        body, table = wire.dump_kernel(kernel)
        encoded: list[Any] = [kernel.mangled, kernel.verdict.value, verdict_key, body, table.paths, table.rows]
        self.send_encoded(*encoded)
        return encoded

    def send_encoded(
        self, mangled: str, verdict: str, verdict_key: str, body: str, paths: list[str], spans: list[wire.SpanRow]
    ) -> None:
        digest = hashlib.sha256(body.encode()).hexdigest()
        self._send(
            self._identity,
            kernel=mangled,
            verdict=verdict,
            key=verdict_key,
            digest=digest,
            body=None if self._have.get(mangled) == digest else body,
            paths=paths,
            spans=spans,
        )


def _noting(request: CheckRequest) -> tuple[CheckRequest, list[Collection[str]]]:
    """The request, and a list that gets the files of which it is asked which other units include them."""
    asked: list[Collection[str]] = []
    find = request.including
    if find is None:
        return request, asked

    def including(files: Collection[str], names: Collection[str]) -> Including:
        asked.append(files)
        return find(files, names)

    return dataclasses.replace(request, including=including), asked


def _unit_from(entry: dict[str, Any]) -> UnitResult:
    """The whole result that a cache entry describes."""
    kernels = {
        mangled: wire.load_kernel(body, wire.SpanTable.read(paths, rows))
        for mangled, _, _, body, paths, rows in entry["kernels"]
    }
    unit = wire.load(UnitResult, entry["unit"])
    return dataclasses.replace(unit, kernels=tuple(kernels[mangled] for mangled in entry["order"]))


def _is_repeatable(unit: UnitResult) -> bool:
    """Whether the result depends on nothing but its request."""
    if unit.failure is not None and unit.failure.kind != PARSE_ERROR:
        return False
    return not any(
        reason.kind in UNREPEATABLE
        for kernel in unit.kernels
        for context in kernel.contexts
        for reason in context.reasons
    )


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent on descriptors of their own; 0 becomes empty and 1 the same as 2."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return source, sink


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="cuda-lsp worker")
    parser.add_argument("--engine", default=backend.DEFAULT)
    parser.add_argument("--log-level", default="WARNING")
    options = parser.parse_args(arguments)
    source, sink = _private_pipes()
    faulthandler.enable()
    logging.basicConfig(stream=sys.stderr, level=options.log_level, format="%(levelname)s %(name)s: %(message)s")
    Worker(source, sink, lambda: backend.load(options.engine)).run()
    return 0
