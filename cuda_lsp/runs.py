"""Runs of kernels on the user's request: the process behind each, its progress and end, and what it showed.

`Runs` belongs to a session and lives on the event loop; a run is a process of its own (`running.job`), one at a time,
whose answers are read in a thread. What a run showed counts for as long as the kernel's text means the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from cuda_lsp.progress import CheckProgress
from cuda_lsp.unit_view import ShownKernel, Snapshot, UnitView
from cuda_lsp.worker_command import spawn
from gpu_runner.request import RunResult, from_json

if TYPE_CHECKING:
    from cuda_lsp.session import Session

_CLOSING_GRACE_S: Final = 2.0
_CODE: Final = "import sys; sys.path[:] = {paths!r}; from cuda_lsp.running.job import main; sys.exit(main())"

_log = logging.getLogger(__name__)


class RunError(Exception):
    """There was no run; a sentence for the user."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What one run showed, or all that were made for one finding."""

    title: str
    group: str | None
    """Of the finding."""
    confirmed: bool
    seen: RunResult | None
    """What of the result shows the finding."""
    result: RunResult

    @property
    def where(self) -> str:
        """What the kernel ran on."""
        return (self.seen or self.result).device or "the CPU"


@dataclass(eq=False, slots=True)
class Shown:
    """The outcomes of one kernel."""

    snapshot: Snapshot
    """The text that was run."""
    mangled: str
    path: str
    """The file in which the kernel is defined."""
    key: str
    """The content key of the kernel then."""
    outcomes: dict[str, RunOutcome] = field(default_factory=dict[str, RunOutcome])
    """By group, or title."""
    _lines: dict[str, tuple[list[bytes], list[int]]] = field(default_factory=dict[str, "tuple[list[bytes], list[int]]"])

    def lines(self, path: str) -> tuple[list[bytes], list[int]]:
        """The lines of a file as it was run, and the byte offset of each; none of a file that was not open."""
        if path not in self._lines:
            known = self.snapshot.texts.get(path)
            lines = known[1].encode().split(b"\n") if known is not None else []
            starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
            self._lines[path] = lines, starts
        return self._lines[path]


class Runs:
    """Of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._one = asyncio.Lock()
        self._kept: dict[tuple[str, str], Shown] = {}
        self._tokens: dict[types.ProgressToken, asyncio.Task[Any]] = {}

    async def run(
        self, uri: str, kernel: str, group: str | None = None, token: types.ProgressToken | None = None
    ) -> dict[str, Any]:
        """Run a kernel, or what may confirm one of its findings, and answer when that has ended. Raises `RunError`."""
        session = self._session
        document = session.documents.get(uri)
        if document is None:
            raise RunError("the document is not open")
        if not session.settings_for_file(document.path).trusted:
            raise RunError(
                "kernels are executed in trusted workspaces only: trust this one, or set “trusted” in the settings of "
                "your editor"
            )
        await session.checks.settled(uri)
        view, shown = self._find(uri, kernel)
        task = asyncio.current_task()
        progress = CheckProgress(session.client, f"Running {shown.result.name}", token, kind="run")
        if task is not None:
            self._tokens[progress.token] = task
        progress.start(session.spawn)
        try:
            async with self._one:
                return await self._run(view, shown, group, progress)
        finally:
            self._tokens.pop(progress.token, None)
            progress.finish()

    def cancel(self, token: types.ProgressToken) -> None:
        """The user cancelled the progress of a run."""
        task = self._tokens.get(token)
        if task is not None:
            task.cancel()

    def _find(self, uri: str, kernel: str) -> tuple[UnitView, ShownKernel]:
        unit = self._session.unit_of(uri)
        view = self._session.views.get(unit) if unit is not None else None
        if view is None or view.snapshot is None:
            raise RunError("the document could not be checked, so that nothing is known of its kernels")
        plain = kernel.split("<")[0].split("::")[-1]
        found = [each for each in view.kernels.values() if kernel in (each.mangled, each.result.name)]
        found += [e for e in view.kernels.values() if e.result.name.split("<")[0].split("::")[-1] == plain]
        if not found:
            raise RunError(f"there is no kernel {kernel} in the document")
        return view, found[0]

    async def _run(
        self, view: UnitView, shown: ShownKernel, group: str | None, progress: CheckProgress
    ) -> dict[str, Any]:
        snapshot = view.snapshot
        assert snapshot is not None
        request = {
            "unit": view.path,
            "kernel": shown.result.name,
            "mangled": shown.mangled,
            "group": group,
            "run_on": self._session.settings_for_file(view.path).run_on,
            "texts": {path: text for path, (_, text) in snapshot.texts.items()},
            **{name: (view.frame or {})[name] for name in ("flags", "options", "workspace") if view.frame},
        }
        if view.frame is None:
            raise RunError("the document has to be checked first")
        kept = self._kept.get((view.path, shown.mangled))
        if kept is None or kept.key != shown.key:
            kept = Shown(snapshot, shown.mangled, shown.result.span.path, shown.key)
        total, outcomes = 1, list[RunOutcome]()
        async with contextlib.aclosing(_Process(request)) as process:
            while (answer := await process.next()) is not None:
                if "failed" in answer:
                    raise RunError(str(answer["failed"]))
                if "total" in answer:
                    total = int(answer["total"])
                else:
                    outcome: RunOutcome = answer["outcome"]
                    outcomes.append(outcome)
                    kept.outcomes[outcome.group or outcome.title] = outcome
                    self._kept[view.path, shown.mangled] = kept
                    self._session.results_changed()
                progress.report(min(len(outcomes), total), total, shown.result.name)
            if not outcomes:
                raise RunError(f"the run ended without an answer. {process.last_words()}".strip())
        return summary(shown.result.name, outcomes)

    # What was shown

    def of(self, unit: str, shown: ShownKernel) -> Shown | None:
        """Of a kernel that still means what it meant when it was run."""
        kept = self._kept.get((unit, shown.mangled))
        return kept if kept is not None and kept.key == shown.key else None

    def of_kernel(self, shown: ShownKernel) -> Shown | None:
        """Of a kernel that still means what it meant, in whichever unit it was run."""
        return next(self._of(shown), None)

    def of_group(self, shown: ShownKernel, group: str) -> RunOutcome | None:
        """What became of one finding of a kernel."""
        return next((kept.outcomes[group] for kept in self._of(shown) if group in kept.outcomes), None)

    def _of(self, shown: ShownKernel) -> Iterator[Shown]:
        """The runs of a kernel that still means what it meant. Another file may have one that is alike."""
        for (_, mangled), kept in self._kept.items():
            if mangled == shown.mangled and kept.key == shown.key and kept.path == shown.result.span.path:
                yield kept

    def ran(self) -> Iterator[tuple[ShownKernel, Shown]]:
        """The kernels that were run and are still the same."""
        for unit, mangled in tuple(self._kept):
            view = self._session.views.get(unit)
            shown = view.kernels.get(mangled) if view is not None else None
            kept = self.of(unit, shown) if shown is not None else None
            if shown is not None and kept is not None:
                yield shown, kept


def _outcome(answer: Mapping[str, Any]) -> RunOutcome:
    seen = answer["seen"]
    return RunOutcome(
        str(answer["title"]),
        answer["group"],
        bool(answer["confirmed"]),
        from_json(RunResult, seen) if seen is not None else None,
        from_json(RunResult, answer["run"]),
    )


def summary(kernel: str, outcomes: list[RunOutcome]) -> dict[str, Any]:
    """What the command answers: plain numbers and sentences."""
    claims = [outcome for outcome in outcomes if outcome.group is not None]
    races = sum(not race.same_value for outcome in outcomes for race in (outcome.seen or outcome.result).races)
    return {
        "kernel": kernel,
        "findings": len(claims),
        "confirmed": sum(outcome.confirmed for outcome in claims),
        "runs": sum(outcome.result.runs for outcome in outcomes),
        "races": races,
        "faults": sum(len(outcome.result.faults) for outcome in outcomes),
        "troubles": [trouble(outcome.result) for outcome in outcomes if outcome.result.status != "finished"],
    }


def trouble(result: RunResult) -> str:
    """Why a run did not come to its end, in one line."""
    if result.status == "compile":
        lines = [line.strip() for line in result.message.splitlines() if line.strip()]
        first = next((line for line in lines if "error" in line), "".join(lines[:1]))
        return f"the compiler does not take it: {first}"
    return ": ".join((result.message, *(["; ".join(result.details)] if result.details else [])))


def not_confirmed(outcome: RunOutcome) -> str:
    """A sentence about a finding that no run has shown."""
    if outcome.result.runs == 0 and outcome.result.status != "finished":
        return f"Not run ({outcome.title}): {trouble(outcome.result)}."
    runs = "1 run" if outcome.result.runs == 1 else f"{outcome.result.runs} runs"
    how = (
        "the accesses met, and wrote the same value each time"
        if outcome.result.is_met
        else "which does not mean that it is wrong"
    )
    return f"Not confirmed in {runs} on {outcome.where} ({outcome.title}), {how}."


class _Process:
    """The process of one run: `next` gives its answers, `aclose` ends it and what it has started."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._answers: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = threading.Event()
        self._errors = b""
        threading.Thread(target=self._serve, args=(json.dumps(request).encode(),), name="run", daemon=True).start()

    async def next(self) -> dict[str, Any] | None:
        """The next answer; None when there is none any more."""
        return await self._answers.get()

    def last_words(self) -> str:
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    async def aclose(self) -> None:
        self._ended.set()
        if self._process is not None:
            await asyncio.shield(asyncio.to_thread(_end, self._process))

    def _serve(self, request: bytes) -> None:
        """In a thread: starting a process takes milliseconds that the loop does not have."""
        try:
            code = _CODE.format(paths=[path for path in sys.path if path])
            self._process = process = spawn([sys.executable, "-c", code])
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            errors = threading.Thread(target=self._drain, args=(process.stderr,), name="run errors", daemon=True)
            errors.start()
            if self._ended.is_set():
                _end(process)
            process.stdin.write(request + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if "outcome" in answer:
                    answer["outcome"] = _outcome(answer["outcome"])
                self._tell(answer)
            errors.join(_CLOSING_GRACE_S)
        except (OSError, ValueError) as error:
            _log.warning("a run: %s", error)
            self._errors = self._errors or str(error).encode()
        self._tell(None)

    def _drain(self, stream: Any) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._errors = stream.read()[-10_000:]

    def _tell(self, answer: dict[str, Any] | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._answers.put_nowait, answer)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, which ends it and its children; kill it if it does not react."""
    if process.stdin is not None:
        with contextlib.suppress(OSError, ValueError):
            process.stdin.close()
    try:
        process.wait(_CLOSING_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
