"""From a save to a result: which unit a document is checked through, what the check gets, what becomes of its answers.

`Checks` belongs to a session. It takes the documents as they are, finds their units, hands jobs to the scheduler and
keeps the views up to date. A check sees the texts of the moment it was asked for, whatever is typed while it waits.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import re
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.frontend.outline import Outline
from analyzers.model import Fix, FixRefusal, Reason, Verdict
from cuda_lsp import bug, cache, wire
from cuda_lsp.documents import Document, text_digest
from cuda_lsp.frames import Frame
from cuda_lsp.positions import well_formed
from cuda_lsp.progress import CheckProgress
from cuda_lsp.scheduler import Job, JobKind, Outcome
from cuda_lsp.tracking import Anchor
from cuda_lsp.unit_view import Snapshot, UnitView, check_frame
from cuda_lsp.workspace import includers
from cuda_lsp.workspace.includers import IncludeGraph
from cuda_lsp.workspace.regular import regular_bytes
from cuda_lsp.workspace.sought import has_turned_up
from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES, HEADER_SUFFIXES, SOURCE_SUFFIXES

if TYPE_CHECKING:
    from cuda_lsp.session import Session

_PROGRESS_DELAY_S = 0.4
_WORD = re.compile(r"[A-Za-z_]\w*")
TEXT_SUFFIXES = CUDA_SUFFIXES | HEADER_SUFFIXES | SOURCE_SUFFIXES

_BARRIER = "__syncthreads"
_log = logging.getLogger(__name__)


ANY_FILE = "*"
"""Among changed paths: flags or settings may be other ones, which concerns every unit."""


@dataclass(frozen=True, eq=False)
class Frozen:
    """The open documents at one moment, and what has changed since."""

    number: int
    """The later the moment, the higher."""
    texts: Mapping[str, tuple[str, str]]
    anchors: Mapping[str, Anchor]
    changed: set[str] = field(default_factory=set[str])
    """Paths of files that changed after that moment. A check from here may have read them before or after, and which
    files it reads is known only when it has ended."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a check was asked for."""

    force: bool = False
    """Also when nothing has changed, and without the disk cache."""
    token: types.ProgressToken | None = None
    relink: bool = False
    """Also when no file has changed that the unit read: other files may launch its kernels now."""


class Checks:
    """The units of a session and their checks."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.views: dict[str, UnitView] = {}
        self._unit_of: dict[str, str] = {}
        self._graphs: dict[str, IncludeGraph] = {}
        """By the folder that was searched."""
        self._graph_age = 0
        self._in_use: weakref.WeakSet[Frozen] = weakref.WeakSet()
        self._numbers = itertools.count(1)
        self._latest: dict[str, int] = {}
        self._pending: Counter[str] = Counter()
        self._settling: dict[str, asyncio.Event] = {}
        self._running: dict[str, tuple[Job, CheckProgress]] = {}
        self._parts: set[str] = set()
        """Sources that did not compile alone and that another source includes: checked through that one, as headers
        are."""
        self._kept: set[str] = set()
        """Units that the user wanted checked whether or not they are open."""
        self._asked_again: set[str] = set()
        """Units whose text was saved while that very text was being checked: another file may have changed behind the
        check's back, where no watcher tells."""

    # Asking for checks

    def check(self, documents: Iterable[Document], wish: Wish | None = None) -> None:
        """Check the units of documents, as their texts are now."""
        frozen = self._freeze()
        for document in documents:
            self._count(document.uri, 1)
            self._session.spawn(self._check_document(document, frozen, wish or Wish()))

    def note_changes(self, paths: Iterable[str]) -> None:
        """Files have changed. Call this before anything is checked because of it: a check that is on its way, and whose
        unit turns out to read them, is done again when it has ended."""
        changed = set(paths)
        for frozen in self._in_use:
            frozen.changed.update(changed)

    def check_dependents(self, paths: Iterable[str], but: str | None = None) -> None:
        """Check the units that read any of these files again, or that missed them."""
        changed = set(paths)
        units = dict.fromkeys((*self.views, *self._unit_of.values()))
        readers = [unit for unit in units if unit != but and self._reads(unit, changed)]
        self.check_units(readers)
        self._relink([unit for unit in units if unit != but and unit not in readers], changed)

    def _relink(self, units: Sequence[str], changed: Iterable[str]) -> None:
        """Check the units again whose kernels some changed files may launch now, or launched before."""
        sources = [path for path in changed if Path(path).suffix.lower() in TEXT_SUFFIXES]
        if units and sources:
            self._session.spawn(self._check_launched(units, sources, self._freeze()))

    async def _check_launched(self, units: Iterable[str], paths: Iterable[str], frozen: Frozen) -> None:
        known = {path: text for path, (_, text) in frozen.texts.items()}
        callees = frozenset[str]().union(*(self.views[unit].callees for unit in units if unit in self.views))

        def read() -> tuple[frozenset[str], frozenset[str]]:
            texts = [known.get(path) or read_text(path) or "" for path in paths]
            words = [frozenset(_WORD.findall(text)) for text in texts]
            defined = [
                Outline(t).defined for t, found in zip(texts, words, strict=True) if not callees.isdisjoint(found)
            ]
            return frozenset[str]().union(*words), frozenset[str]().union(*defined)

        words, defined = await asyncio.to_thread(read)
        for unit in units:
            view = self.views.get(unit)
            if view is not None and not (
                view.names.isdisjoint(words)
                and view.callees.isdisjoint(defined)
                and (view.mentioned | view.defining).isdisjoint(paths)
            ):
                await self._check_unit(unit, frozen, Wish(relink=True))

    def _reads(self, unit: str, changed: set[str]) -> bool:
        """Whether any of these paths is one that a unit read or missed in its last check, or a folder of such a one."""
        view = self.views.get(unit)
        if view is None:
            return unit in changed
        files = {unit, *view.dependencies, *view.absent}
        if ANY_FILE in changed or files & changed:
            return True
        missing = tuple(os.sep + os.path.normpath(name) for name, _ in view.sought)
        if any(path.endswith(missing) for path in changed):
            return True
        folders = tuple(path + os.sep for path in changed if Path(path).suffix.lower() not in TEXT_SUFFIXES)
        return any(path.startswith(folders) for path in files)

    def check_units(self, units: Iterable[str], wish: Wish | None = None) -> None:
        frozen = self._freeze()
        for unit in units:
            self._session.spawn(self._check_unit(unit, frozen, wish or Wish()))

    async def check_and_keep(self, unit: str) -> None:
        """Check a unit that need not be open, wait for the end, and keep its findings when its documents are closed."""
        self._kept.add(unit)
        await self._session.configured()
        await self._check_unit(unit, self._freeze(), Wish())
        await self.settled(unit)

    def forget_includes(self) -> None:
        """Who includes whom may have changed."""
        self._graphs = {}
        self._graph_age += 1

    def cancel(self, token: types.ProgressToken) -> None:
        """The user cancelled the progress of a check: what has not been found stays as it was."""
        for job, progress in tuple(self._running.values()):
            if progress.token == token:
                self._session.scheduler.cancel(job)

    async def settled(self, uri: str) -> None:
        """Wait until no check of the document's unit is on its way."""
        while busy := [key for key in (uri, self._unit_of.get(uri)) if key is not None and self._pending[key]]:
            await self._settling.setdefault(busy[0], asyncio.Event()).wait()

    def is_busy(self, uri: str) -> bool:
        """Whether a check of the document is on its way."""
        return any(self._pending[key] for key in (uri, self._unit_of.get(uri)) if key is not None)

    async def offered(self, uri: str) -> None:
        """Wait until no repairs of the document's unit are looked for."""
        while self._pending[key := f"offers {self._unit_of.get(uri)}"]:
            await self._settling.setdefault(key, asyncio.Event()).wait()

    @property
    def pending(self) -> int:
        """How many checks and searches for repairs are on their way, from the wish to the last answer."""
        return self._pending.total()

    def offers_are_pending(self, unit: str) -> bool:
        """Whether repairs of a unit's last check are still being looked for."""
        return bool(self._pending[f"offers {unit}"])

    def _count(self, key: str, change: int) -> None:
        """Count what is on its way under a key, and wake up who waits for its end."""
        self._pending[key] += change
        if not self._pending[key]:
            del self._pending[key]
            event = self._settling.pop(key, None)
            if event is not None:
                event.set()

    def texts(self) -> dict[str, tuple[str, str]]:
        """The open documents as they are now: the digest and the text of each."""
        return {document.path: (document.digest, document.text) for document in self._documents()}

    def _documents(self) -> list[Document]:
        return [
            document
            for document in self._session.documents
            if document.may_hold_kernels or Path(document.path).suffix.lower() in TEXT_SUFFIXES
        ]

    def _freeze(self) -> Frozen:
        anchors = {document.path: document.anchor() for document in self._documents()}
        frozen = Frozen(next(self._numbers), self.texts(), anchors)
        self._in_use.add(frozen)
        return frozen

    # Units

    def unit_of(self, uri: str) -> str | None:
        """The unit through which an open document is checked, once that is known."""
        return self._unit_of.get(uri)

    def leave(self, uri: str) -> None:
        """A document has no unit any more; a unit without documents is dropped, unless it is kept."""
        unit = self._unit_of.pop(uri, None)
        if unit is not None and unit not in self._kept:
            self._drop(unit)

    def _drop(self, unit: str) -> None:
        if unit not in self._unit_of.values():
            self._kept.discard(unit)
            self._latest.pop(unit, None)
            self.views.pop(unit, None)
            self._session.scheduler.forget(unit)
            self._session.results_changed()

    def _join(self, uri: str, unit: str) -> None:
        if self._unit_of.get(uri) != unit:
            self.leave(uri)
            self._unit_of[uri] = unit

    async def _find_unit(self, document: Document, frozen: Frozen) -> str | None:
        """The main file to check a document through; None when it is no device code."""
        alone = document.path if document.may_hold_kernels else None
        if not (document.is_header or document.path in self._parts) or not document.is_file:
            return alone
        known = self._unit_of.get(document.uri)
        view = self.views.get(known) if known is not None and known != document.path else None
        if (
            view is not None
            and (view.snapshot is None or view.includes(document.path))
            and (view.path in frozen.texts or await asyncio.to_thread(Path(view.path).is_file))
        ):
            return known
        graph = await self._include_graph(document, frozen)
        unit = includers.unit_for(document.path, graph, frozenset(frozen.texts))
        cuda = unit is not None and Path(unit).suffix.lower() == ".cu"
        if unit is not None and (cuda or (document.is_header and document.may_hold_kernels)):
            return unit
        self._parts.discard(document.path)
        return alone

    async def _include_graph(self, document: Document, frozen: Frozen) -> IncludeGraph:
        folder = self._session.projects.top_of(document.path) or self._session.top or str(Path(document.path).parent)
        if folder in self._graphs:
            return self._graphs[folder]
        age = self._graph_age
        texts = {path: text for path, (_, text) in frozen.texts.items()}
        graph = await asyncio.to_thread(includers.scan, folder, texts)
        if not graph.complete:
            _log.info("%s is large: not every file was searched for includes", folder)
        if age == self._graph_age:
            self._graphs[folder] = graph
        return graph

    # One check

    async def _check_document(self, document: Document, frozen: Frozen, wish: Wish) -> None:
        try:
            await self._session.configured()
            unit = await self._find_unit(document, frozen)
            if self._session.documents.get(document.uri) is not document:
                return
            if unit is None:
                self.leave(document.uri)
                return
            self._join(document.uri, unit)
            await self._check_unit(unit, frozen, wish)
        finally:
            self._count(document.uri, -1)

    async def _check_unit(self, unit: str, frozen: Frozen, wish: Wish) -> None:
        # What was asked for later may get here sooner, for the unit of a document must be found first.
        if frozen.number < self._latest.get(unit, 0):
            return
        self._latest[unit] = frozen.number
        self._count(unit, 1)
        submitted = False
        try:
            snapshot = await self._snapshot(unit, frozen)
            if snapshot is None:
                self._drop(unit)
                return
            if self._latest.get(unit) != frozen.number:
                return
            view = self.views.setdefault(unit, UnitView(unit))
            if not (wish.force or wish.relink):
                running = unit in self._running
                if running and view.is_checking(snapshot):
                    self._asked_again.add(unit)
                    return
                if not running and await self._is_unchanged(view, snapshot):
                    self._session.publisher.touch(always=True)
                    return
                if self._latest.get(unit) != frozen.number:
                    return
            self._submit(view, snapshot, wish, frozen)
            submitted = True
        finally:
            if not submitted:
                self._count(unit, -1)

    async def _snapshot(self, unit: str, frozen: Frozen) -> Snapshot | None:
        project = await self._session.projects.of_folder(str(Path(unit).parent))
        known = frozen.texts.get(unit)
        if known is None:
            text = await asyncio.to_thread(read_text, unit)
            if text is None:
                _log.warning("%s cannot be read", unit)
                return None
            known = (text_digest(text), text)
        digest, text = known
        return Snapshot(
            unit=unit,
            digest=digest,
            text=text,
            flags=project.flags_for(unit),
            options=project.settings.check_options(),
            texts={**frozen.texts, unit: known},
            anchors=frozen.anchors,
            workspace=project.workspace_of(unit),
        )

    async def _is_unchanged(self, view: UnitView, snapshot: Snapshot) -> bool:
        """Whether the shown results are what a check would give."""
        last = view.snapshot
        if last is None or view.trouble is not None or not last.asks_the_same_as(snapshot):
            return False
        dependencies, unsaved, absent = tuple(view.dependencies.items()), snapshot.unsaved, view.absent
        sought = view.sought
        return await asyncio.to_thread(
            lambda: (
                cache.still_holds(dependencies, unsaved)
                and not any(map(os.path.exists, absent))
                and not has_turned_up(sought, view.path)
            )
        )

    def _submit(self, view: UnitView, snapshot: Snapshot, wish: Wish, frozen: Frozen) -> None:
        session = self._session
        directory = str(cache.default_directory()) if session.settings_for_file(snapshot.unit).disk_cache else None
        frame = check_frame(view, snapshot, session.attention, reuse=not wish.force, cache=directory)
        view.begin(snapshot)
        progress = CheckProgress(session.client, f"Checking {Path(snapshot.unit).name}", wish.token)
        from_disk = False

        def on_frame(answer: Frame) -> None:
            nonlocal from_disk
            try:
                if "kernel" in answer:
                    view.take_kernel(answer)
                elif "progress" in answer:
                    progress.report(*answer["progress"])
                    return
                else:
                    view.finish(answer)
                    from_disk = answer["from_disk"]
            except (LookupError, TypeError, ValueError) as error:
                bug.report("a worker's answer does not fit", error)
            session.results_changed()

        def on_done(outcome: Outcome, error: str) -> None:
            progress.finish()
            if self._running.get(view.path, (None,))[0] is job:
                del self._running[view.path]
            if self.views.get(view.path) is view:
                self._done(view, outcome, error, frame, snapshot, from_disk=from_disk)
                asked_again = view.path in self._asked_again
                self._asked_again.discard(view.path)
                if outcome is not Outcome.CANCELLED and (asked_again or self._is_overtaken(view, frozen)):
                    # Nothing is done when the files are as the check saw them.
                    self.check_units([view.path])
                elif outcome is not Outcome.CANCELLED:
                    self._relink([view.path], frozen.changed - {view.path})
            self._count(view.path, -1)
            session.results_changed(always=True)

        job = Job(JobKind.CHECK, snapshot.unit, frame, snapshot.texts, on_frame, on_done, next(self._numbers))
        self._running[snapshot.unit] = (job, progress)
        session.scheduler.submit(job)
        if not view.kernels or wish.force:
            progress.start(session.spawn)
        else:
            # Most checks after an edit are over before a progress bar could be read.
            asyncio.get_running_loop().call_later(_PROGRESS_DELAY_S, progress.start, session.spawn)

    def _done(
        self, view: UnitView, outcome: Outcome, error: str, frame: Frame, snapshot: Snapshot, *, from_disk: bool
    ) -> None:
        if outcome in (Outcome.FAILED, Outcome.CRASHED):
            view.fail(Reason("worker", f"the analysis failed: {error}"))
            if outcome is Outcome.FAILED:
                self._session.client.show(
                    types.MessageType.Error,
                    f"cuda-lsp could not check {Path(view.path).name}: {error}. Earlier results stay.",
                )
        if outcome is not Outcome.OK:
            return
        view.frame = frame
        self._session.spawn(self._adopt_headers(view))
        if view.unit is not None and view.unit.syntax:
            self._session.spawn(self._adopt_part(view))
        right = all(shown.verdict in (Verdict.RACE_FREE, Verdict.UNKNOWN) for shown in view.kernels.values())
        if not right or _BARRIER in snapshot.text:
            # Of kernels that are right, barriers may be hints.
            self._submit_offers(view, frame, snapshot)
        was_warm, view.is_warm = view.is_warm, not from_disk
        if was_warm and from_disk:
            # The worker has the text of before, from which it gets to this one quickly.
            self._warm_up(view)

    def _is_overtaken(self, view: UnitView, frozen: Frozen) -> bool:
        """Whether a file changed while a check was on its way that the unit reads, or may read for all that is
        known."""
        changed = {path for path in frozen.changed if path != view.path or path not in frozen.texts}
        return bool(changed) and (view.snapshot is None or self._reads(view.path, changed))

    def warm_up(self, uri: str) -> None:
        """The user begins to edit: what came from the disk is analysed now, so that the next save finds it warm."""
        view = self.views.get(self._unit_of.get(uri, ""))
        if view is not None and not view.is_warm:
            self._warm_up(view)

    def _warm_up(self, view: UnitView) -> None:
        if view.frame is not None and view.snapshot is not None:
            view.is_warm = True
            texts, frame = view.snapshot.texts, view.frame
            job = Job(JobKind.WARM, view.path, frame, texts, lambda _frame: None, lambda _outcome, _error: None)
            self._session.scheduler.submit(job)

    async def _adopt_headers(self, view: UnitView) -> None:
        """Read what is needed to show results in files that are not open; open headers may have found their unit."""
        await self._session.read_lines(view)
        for document in self._session.documents:
            if self._unit_of.get(document.uri) != document.path or not view.includes(document.path):
                continue
            is_part = not document.is_header and self._lacks_something(document.path)
            if document.path != view.path and (document.is_header or is_part):
                self._parts.update([document.path] if is_part else [])
                self._join(document.uri, view.path)
                self._session.results_changed()

    def _lacks_something(self, unit: str) -> bool:
        """Whether a source did not compile alone."""
        view = self.views.get(unit)
        return view is not None and view.unit is not None and bool(view.unit.syntax)

    async def _adopt_part(self, view: UnitView) -> None:
        """A source that does not compile alone may be a part of another one, which brings its types and constants."""
        document = self._session.documents.at(view.path)
        if document is None or document.is_header or not document.is_file or view.path in self._parts:
            return
        project = await self._session.projects.of_folder(str(Path(view.path).parent))
        if view.path in project.database.commands:
            return
        frozen = self._freeze()
        self._parts.add(view.path)
        unit = await self._find_unit(document, frozen)
        if unit is not None and unit != view.path and self._session.documents.get(document.uri) is document:
            self._join(document.uri, unit)
            await self._check_unit(unit, frozen, Wish())

    def _submit_offers(self, view: UnitView, frame: Frame, snapshot: Snapshot) -> None:
        key = f"offers {view.path}"
        self._count(key, 1)

        def on_frame(answer: Frame) -> None:
            if view.snapshot is snapshot:
                if "fix" in answer:
                    view.add_fix(wire.load(Fix, answer["fix"]))
                else:
                    view.add_refusal(wire.load(FixRefusal, answer["refused"]))

        def on_done(outcome: Outcome, error: str) -> None:
            if outcome in (Outcome.FAILED, Outcome.CRASHED):
                _log.error("no repairs for %s: %s", view.path, error)
            self._count(key, -1)

        job = Job(JobKind.OFFERS, view.path, {**frame, "reuse": True}, snapshot.texts, on_frame, on_done)
        self._session.scheduler.submit(job)


def read_text(path: str) -> str | None:
    """A source file's text; bytes that are no UTF-8 become U+FFFD."""
    try:
        return well_formed(regular_bytes(path).decode("utf-8", "replace"))
    except OSError:
        return None
