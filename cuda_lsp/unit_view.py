"""What is known about one translation unit, as the editor shows it: the latest result of each kernel, and its repairs.

Takes the frames of a check as they arrive. A kernel keeps its last good result while the current text does not parse or
the analysis fails; its positions move along with the edits (`Anchor`), and its results say that they are old.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzers.frontend.flags import CompileFlags
from analyzers.model import (
    CheckOptions,
    ContextResult,
    Finding,
    Fix,
    FixRefusal,
    KernelResult,
    Reason,
    SourceSpan,
    UnitResult,
    Verdict,
)
from cuda_lsp import wire
from cuda_lsp.frames import Frame
from cuda_lsp.tracking import Anchor
from cuda_lsp.workspace.project import Workspace

_SILENT = frozenset({Verdict.UNKNOWN, Verdict.RACE_FREE})

PARSE_ERROR = "parse-error"
"""The engine's `PARSE_ERROR`, named again here because importing the engine loads libclang and the solvers."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a check was given: immutable, taken when the user saved, whatever is typed meanwhile."""

    unit: str
    digest: str
    text: str
    flags: CompileFlags
    options: CheckOptions
    texts: Mapping[str, tuple[str, str]]
    """(hash, text) of the open documents by path."""
    anchors: Mapping[str, Anchor]
    """An anchor at each of those texts."""
    workspace: Workspace
    """Where other files of the unit's program may lie."""

    def asks_the_same_as(self, other: Snapshot) -> bool:
        """Whether a check of both differs at most in what other files hold."""
        mine, its = ((s.digest, s.flags, s.options, s.workspace) for s in (self, other))
        return mine == its

    @property
    def unsaved(self) -> dict[str, str]:
        """Hashes of the open documents other than the unit itself."""
        return {path: digest for path, (digest, _) in self.texts.items() if path != self.unit}


@dataclass(eq=False, slots=True)
class ShownKernel:
    """One kernel's latest result. The body is decoded when somebody looks at it."""

    mangled: str
    verdict: Verdict
    key: str
    digest: str
    body: str
    spans: wire.SpanTable
    anchors: Mapping[str, Anchor]
    stale: bool = False
    """From an earlier text: the current one does not parse here, or its analysis failed."""
    _decoded: KernelResult | None = None
    _findings: tuple[tuple[ContextResult, Finding], ...] | None = None

    @property
    def findings(self) -> tuple[tuple[ContextResult, Finding], ...]:
        """The findings that are shown, with the contexts they were found in."""
        if self.verdict is Verdict.RACE_FREE:
            return ()
        if self._findings is None:
            self._findings = tuple(
                (context, finding)
                for context in self.result.contexts
                for finding in context.findings
                if finding.code not in _SILENT
            )
        return self._findings

    @property
    def result(self) -> KernelResult:
        if self._decoded is None:
            self._decoded = wire.load_kernel(self.body, self.spans)
        return self._decoded

    def now(self, span: SourceSpan) -> tuple[int, int] | None:
        """The byte range of a span in the text as it is now; None when it was overwritten."""
        anchor = self.anchors.get(span.path)
        return (span.start_offset, span.end_offset) if anchor is None else anchor.map.map(*_offsets(span))

    def lies_in(self, path: str) -> bool:
        """Whether any of the kernel's text is in a file."""
        return any(span.path == path for span in self.spans.spans)

    def touches(self, path: str, offset: int) -> bool:
        """Whether any span of the kernel in a file may hold a byte offset of the text as it is now."""
        anchor = self.anchors.get(path)
        low, high = anchor.map.back(offset) if anchor is not None else (offset, offset)
        return any(
            span.start_offset <= high and low <= span.end_offset and span.path == path for span in self.spans.spans
        )


def _offsets(span: SourceSpan) -> tuple[int, int]:
    return span.start_offset, span.end_offset


@dataclass(eq=False, slots=True)
class UnitView:
    """The shown results of one unit."""

    path: str
    kernels: dict[str, ShownKernel] = field(default_factory=dict[str, ShownKernel])
    """By mangled name, in source order."""
    unit: UnitResult | None = None
    """The last finished result, without its kernels."""
    snapshot: Snapshot | None = None
    """Of the last finished check."""
    dependencies: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Hash of each included file by path, at the last finished check."""
    absent: Sequence[str] = ()
    """Files that were looked for and not found."""
    sought: Sequence[Sequence[str]] = ()
    """Headers that were found nowhere: name and includer."""
    names: frozenset[str] = frozenset()
    """Of kernels and of functions that lead to them: a file that mentions one may launch the unit's kernels."""
    mentioned: frozenset[str] = frozenset()
    """Files that mention such a name, whether they were read or not."""
    callees: frozenset[str] = frozenset()
    """Functions whose definitions were looked for: a file that begins to define one may change what they return."""
    defining: frozenset[str] = frozenset()
    """Files that define such a function."""
    fixes: list[Fix] = field(default_factory=list[Fix])
    """Verified repairs for the text of `snapshot`."""
    answered: set[str] = field(default_factory=set[str])
    """Groups for which it is known whether there is a repair."""
    asked_for: dict[str, asyncio.Future[Fix | str]] = field(default_factory=dict[str, "asyncio.Future[Fix | str]"])
    """What will be answered about the groups whose repair somebody has asked for and waits for."""
    refusals: dict[str, str] = field(default_factory=dict[str, str])
    """Why there is no repair for the text of `snapshot`, by group."""
    combined: tuple[tuple[str, ...], Fix] | None = None
    """The repairs of that text for some groups in one, once somebody has asked for it."""
    frame: Frame | None = None
    """The request of the last finished check: asking for repairs with the very same finds everything warm."""
    is_warm: bool = False
    """Whether a worker has analysed the text of the last check; not so when the results came from the disk."""
    trouble: Reason | None = None
    """Why the last check gave no result."""
    _running: Snapshot | None = None
    _fresh: dict[str, ShownKernel] = field(default_factory=dict[str, ShownKernel])
    _bodies: dict[str, str] = field(default_factory=dict[str, str])
    """By hash: what the worker was told that it may leave out."""

    @property
    def have(self) -> dict[str, str]:
        """Body hashes by kernel: what a worker need not send again."""
        return {mangled: shown.digest for mangled, shown in self.kernels.items()}

    @property
    def keys(self) -> dict[str, str]:
        return {mangled: shown.key for mangled, shown in self.kernels.items() if shown.key and not shown.stale}

    @property
    def files_with_findings(self) -> set[str]:
        """Files in which findings of this unit lie."""
        return {finding.span.path for shown in self.kernels.values() for _, finding in shown.findings}

    @property
    def files(self) -> set[str]:
        """Files in which something of this unit is shown."""
        return {path for shown in self.kernels.values() for path in shown.spans.paths}

    def includes(self, path: str) -> bool:
        """Whether a file is part of the unit, as of the last finished check."""
        return path in self.dependencies and (self.unit is None or path not in self.unit.linked)

    def begin(self, snapshot: Snapshot) -> None:
        """A check is asked for; call this together with `check_frame`."""
        self._running = snapshot
        self._fresh = {}
        self._bodies = {shown.digest: shown.body for shown in self.kernels.values()}

    def is_checking(self, snapshot: Snapshot) -> bool:
        """Whether the running check is of the same texts."""
        running = self._running
        return running is not None and running.asks_the_same_as(snapshot) and running.unsaved == snapshot.unsaved

    def take_kernel(self, frame: Frame) -> None:
        """One kernel of the running check is decided."""
        assert self._running is not None
        mangled: str = frame["kernel"]
        body: str | None = frame["body"]
        shown = ShownKernel(
            mangled=mangled,
            verdict=Verdict(frame["verdict"]),
            key=frame["key"],
            digest=frame["digest"],
            body=body if body is not None else self._bodies[frame["digest"]],
            spans=wire.SpanTable.read(frame["paths"], frame["spans"]),
            anchors=self._running.anchors,
        )
        # Decoded here, one kernel at a time, and not all at once when they are shown.
        _ = shown.findings
        self._fresh[mangled] = shown
        previous = self.kernels.get(mangled)
        if previous is not None and previous.verdict is not Verdict.UNKNOWN and does_not_parse(shown):
            previous.stale = True
        else:
            self.kernels[mangled] = shown

    def finish(self, frame: Frame) -> None:
        """The running check has ended with a unit result: drop the kernels that are gone, keep those it lost."""
        assert self._running is not None
        unit = wire.load(UnitResult, frame["unit"])
        order: list[str] = frame["order"]
        if unit.failure is not None:
            self.trouble = unit.failure
            lost = [shown for mangled, shown in self.kernels.items() if mangled not in self._fresh]
        else:
            self.trouble = None
            lost = [shown for shown in self._lost(bool(unit.syntax)) if shown.result.extent.path not in frame["absent"]]
        for shown in lost:
            shown.stale = True
        kept = {shown.mangled: shown for shown in lost}
        self.kernels = {
            **{mangled: self.kernels[mangled] for mangled in order if mangled in self.kernels},
            **kept,
        }
        self.unit = unit
        self.snapshot, self._running = self._running, None
        dependencies: dict[str, str | None] = dict(frame["dependencies"])
        # What could not be analysed at all tells nothing about its files: a change of any earlier one may cure it.
        self.dependencies = dependencies if unit.failure is None else {**self.dependencies, **dependencies}
        self.absent, self.sought = frame["absent"], frame["sought"]
        self.names, self.mentioned = frozenset(frame["names"]), frozenset(frame["mentioned"])
        self.callees, self.defining = frozenset(frame["callees"]), frozenset(frame["defining"])
        self.fixes, self.combined, self.answered, self.refusals = [], None, set(), {}
        self.asked_for = {}
        self._fresh = {}

    def add_fix(self, fix: Fix) -> None:
        """A repair of the last finished check was verified; the same one may come twice."""
        self.answered.update(fix.groups)
        if fix not in self.fixes:
            self.fixes.append(fix)

    def add_refusal(self, refusal: FixRefusal) -> None:
        """There is no repair for findings of the last finished check."""
        self.answered.add(refusal.group)
        self.refusals[refusal.group] = refusal.text

    def finds(self, group: str, path: str) -> bool:
        """Whether a finding of the unit in a file has the group. Files with a kernel of one name may share groups."""
        return any(
            finding.group == group and finding.span.path == path
            for kernel in self.kernels.values()
            for _, finding in kernel.findings
        )

    def refuses(self, group: str, path: str) -> bool:
        """Whether it is known of the current text that there is no repair for a group in a file."""
        return self.is_current and group in self.refusals and self.finds(group, path)

    def fail(self, reason: Reason) -> None:
        """The check gave nothing: everything stays, as old."""
        self.trouble = reason
        self._running = None
        for mangled, shown in self.kernels.items():
            if mangled not in self._fresh:
                shown.stale = True

    def _lost(self, has_errors: bool) -> Iterator[ShownKernel]:
        """Kernels of before that the new result lacks because of errors in the text, not because they were removed."""
        if not has_errors:
            return
        occupied = [
            (shown.result.extent.path, now)
            for shown in self._fresh.values()
            if not does_not_parse(shown) and (now := shown.now(shown.result.extent)) is not None
        ]
        for mangled, shown in self.kernels.items():
            if mangled in self._fresh:
                continue
            extent = shown.result.extent
            now = shown.now(extent)
            if now is None or now[0] == now[1]:
                continue
            if not any(path == extent.path and now[0] < end and start < now[1] for path, (start, end) in occupied):
                yield shown

    @property
    def is_current(self) -> bool:
        """Whether the last finished result is about the texts as they are now."""
        snapshot = self.snapshot
        return (
            snapshot is not None
            and self.trouble is None
            and all(
                anchor.map.is_identity
                for path, anchor in snapshot.anchors.items()
                if path == self.path or path in self.dependencies
            )
        )

    def adopt_anchor(self, path: str, anchor: Anchor) -> None:
        """A document was opened whose file this unit has results in: follow its edits from now on."""
        for shown in self.kernels.values():
            if path in shown.spans.paths and path not in shown.anchors:
                shown.anchors = {**shown.anchors, path: anchor}

    def drop_anchor(self, path: str) -> None:
        """A document was closed: its file on disk counts again."""
        for shown in self.kernels.values():
            if path in shown.anchors:
                shown.anchors = {other: anchor for other, anchor in shown.anchors.items() if other != path}


def does_not_parse(shown: ShownKernel) -> bool:
    """Whether the kernel is unknown because of a compiler error in it."""
    return shown.verdict is Verdict.UNKNOWN and any(
        reason.kind == PARSE_ERROR for context in shown.result.contexts for reason in context.reasons
    )


def check_frame(
    view: UnitView, snapshot: Snapshot, attention: tuple[str, int] | None, *, reuse: bool, cache: str | None
) -> dict[str, Any]:
    """The request for a check of a snapshot, without what the scheduler adds."""
    looked_at = [(attention[0], attention[1], attention[1])] if attention is not None else []
    return {
        "unit": snapshot.unit,
        "digest": snapshot.digest,
        "unsaved": snapshot.unsaved,
        "flags": wire.dump(snapshot.flags),
        "options": wire.dump(snapshot.options),
        "workspace": wire.dump(snapshot.workspace),
        "keys": view.keys,
        "have": view.have,
        "first": [*edited_ranges(snapshot, view), *looked_at],
        "reuse": reuse,
        "cache": cache,
    }


def edited_ranges(snapshot: Snapshot, view: UnitView) -> list[tuple[str, int, int]]:
    """Where the texts changed since the last finished check: the user looks there."""
    if view.snapshot is None:
        return []
    return [
        (path, start, end)
        for path, anchor in view.snapshot.anchors.items()
        if path in snapshot.texts
        for _, _, start, end in anchor.map.edits
    ]
