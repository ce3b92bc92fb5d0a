"""The state of one connection, and what happens when a document or the project changes.

Takes the client's notifications, keeps documents, settings and unit views, and turns saves into jobs for the scheduler.
Changed by the event loop only; anything that touches the disk runs in a thread. What a job sees is an immutable
`Snapshot` of the texts at the moment of the save.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris

from analyzers.model import Reason, Verdict
from cuda_lsp import bug, cache, config
from cuda_lsp.client import Client
from cuda_lsp.config import Layer, Problem, Settings
from cuda_lsp.documents import (
    CUDA_SUFFIXES,
    HEADER_SUFFIXES,
    SOURCE_SUFFIXES,
    Anchor,
    Document,
    Documents,
    normalised,
    text_digest,
)
from cuda_lsp.frames import Frame
from cuda_lsp.positions import LineIndex, well_formed
from cuda_lsp.progress import CheckProgress
from cuda_lsp.publishing import Publisher
from cuda_lsp.scheduler import Job, JobKind, Limits, Outcome, Scheduler, Start
from cuda_lsp.unit_view import Snapshot, UnitView, check_frame
from cuda_lsp.workspace import includers, project
from cuda_lsp.workspace.includers import IncludeGraph
from cuda_lsp.workspace.project import Project

_CONFIGURATION_WAIT_S = 2.0
_PROGRESS_DELAY_S = 0.4
_TEXT_SUFFIXES = CUDA_SUFFIXES | HEADER_SUFFIXES | SOURCE_SUFFIXES

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Frozen:
    """The open documents at one moment."""

    texts: Mapping[str, tuple[str, str]]
    anchors: Mapping[str, Anchor]


@dataclass(frozen=True, slots=True)
class _Wish:
    """How a check was asked for."""

    force: bool = False
    """Also when nothing has changed, and without the disk cache."""
    token: types.ProgressToken | None = None


class Session:
    """One client, from `initialize` to `exit`."""

    def __init__(self, client: Client, top: str | None, initial: Layer, start: Start) -> None:
        """`top`: the workspace folder; `initial`: the initialization options; `start` starts a worker process."""
        self.client = client
        self.documents = Documents()
        self.views: dict[str, UnitView] = {}
        self.settings = Settings()
        self.top = top
        self.scheduler = Scheduler(start, Limits(), self._on_trouble)
        self.publisher = Publisher(self)
        self.attention: tuple[str, int] | None = None
        """Where the user pointed last: path and byte offset."""
        self._layers: tuple[Layer, ...] = (initial,)
        self._configured = asyncio.Event()
        self._unit_of: dict[str, str] = {}
        self._projects: dict[str, Project] = {}
        self._reported: set[Problem] = set()
        self._graph: IncludeGraph | None = None
        self._disk_indexes: dict[str, tuple[str | None, LineIndex | None]] = {}
        self._numbers = itertools.count(1)
        self._latest: dict[str, int] = {}
        self._pending: Counter[str] = Counter()
        self._settling: dict[str, asyncio.Event] = {}
        self._debounces: dict[str, asyncio.TimerHandle] = {}
        self._checks: dict[str, tuple[Job, CheckProgress]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # The life of the connection

    async def initialized(self) -> None:
        """The client is ready for requests: fetch its settings, ask it to watch files."""
        features = self.client.features
        if features.configuration:
            await self.fetch_configuration()
        self._configured.set()
        await self._load_project(self.top or str(Path.cwd()))
        self.scheduler.prestart()

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        await self.scheduler.close()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something on the loop; what it raises is a bug."""

        async def guarded() -> None:
            try:
                await work
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 - nothing may stop the server
                bug.report("a background task failed", error)

        task = asyncio.get_running_loop().create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Documents

    def opened(self, item: types.TextDocumentItem) -> None:
        document = self.documents.open(
            item.uri, str(item.language_id), item.version, item.text, self.top or str(Path.cwd())
        )
        anchor = document.anchor()
        for view in self.views.values():
            view.adopt_anchor(document.path, anchor)
        self.check([document])

    def changed(self, uri: str, version: int | None, changes: Iterable[Any]) -> None:
        document = self.documents.get(uri)
        if document is None:
            _log.warning("a change of %s, which is not open", uri)
            return
        document.change(version, list(changes), self.client.features.encoding)
        self.publisher.moved()
        settings = self._settings_of(document)
        if settings.check_on == "change":
            self._debounce(uri, settings.debounce_ms / 1000)

    def saved(self, uri: str) -> None:
        document = self.documents.get(uri)
        self._undebounce(uri)
        if document is None:
            return
        self._graph = None
        self.check([document])
        self.check_dependents([document.path], but=self._unit_of.get(uri))

    def closed(self, uri: str) -> None:
        self._undebounce(uri)
        document = self.documents.close(uri)
        if document is None:
            return
        self._leave(uri)
        for view in self.views.values():
            view.drop_anchor(document.path)
        self.check_dependents([document.path])
        self.publisher.touch()

    def _debounce(self, uri: str, delay_s: float) -> None:
        self._undebounce(uri)

        def check() -> None:
            self._debounces.pop(uri, None)
            document = self.documents.get(uri)
            if document is not None:
                self.check([document])
                self.check_dependents([document.path], but=self._unit_of.get(uri))

        self._debounces[uri] = asyncio.get_running_loop().call_later(delay_s, check)

    def _undebounce(self, uri: str) -> None:
        handle = self._debounces.pop(uri, None)
        if handle is not None:
            handle.cancel()

    # Units

    def unit_of(self, uri: str) -> str | None:
        """The unit through which an open document is checked, once that is known."""
        return self._unit_of.get(uri)

    def _leave(self, uri: str) -> None:
        """A document has no unit any more; a unit without documents is dropped."""
        unit = self._unit_of.pop(uri, None)
        if unit is not None and unit not in self._unit_of.values():
            self._latest.pop(unit, None)
            self.views.pop(unit, None)
            self.scheduler.forget(unit)

    def _join(self, uri: str, unit: str) -> None:
        if self._unit_of.get(uri) != unit:
            self._leave(uri)
            self._unit_of[uri] = unit

    async def _find_unit(self, document: Document, frozen: _Frozen) -> str | None:
        """The main file to check a document through; None when it is no device code."""
        if not document.is_header:
            return document.path if document.may_hold_kernels else None
        known = self._unit_of.get(document.uri)
        if known is not None and known != document.path and known in self.views:
            view = self.views[known]
            if view.snapshot is None or document.path in view.dependencies:
                return known
        if not document.is_file:
            return document.path if document.may_hold_kernels else None
        graph = await self._include_graph(document, frozen)
        unit = includers.unit_for(document.path, graph, frozenset(frozen.texts))
        if unit is not None and (document.may_hold_kernels or Path(unit).suffix.lower() == ".cu"):
            return unit
        return document.path if document.may_hold_kernels else None

    async def _include_graph(self, document: Document, frozen: _Frozen) -> IncludeGraph:
        if self._graph is None:
            texts = {path: text for path, (_, text) in frozen.texts.items()}
            folder = self.top or str(Path(document.path).parent)
            graph = await asyncio.to_thread(includers.scan, folder, texts)
            if not graph.complete:
                _log.info("%s is large: not every file was searched for includes", folder)
            self._graph = graph
        return self._graph

    def check_dependents(self, paths: Iterable[str], but: str | None = None) -> None:
        """Check the units that read any of these files again."""
        changed = set(paths)
        frozen = self._freeze()
        for unit, view in tuple(self.views.items()):
            if unit != but and changed & {unit, *view.dependencies, *view.absent}:
                self.spawn(self._check_unit(unit, frozen, _Wish()))

    # Checking

    def check(self, documents: Iterable[Document], wish: _Wish | None = None) -> None:
        """Check the units of documents, as their texts are now."""
        frozen = self._freeze()
        for document in documents:
            self._count(document.uri, 1)
            self.spawn(self._check_document(document, frozen, wish or _Wish()))

    def recheck(self, uris_: Iterable[str] | None, token: types.ProgressToken | None = None) -> list[str]:
        """Check again although nothing has changed; None: everything that is open. Gives the documents' URIs."""
        self.scheduler.revive()
        self._graph = None
        wanted = (
            list(self.documents)
            if uris_ is None
            else [document for uri in uris_ if (document := self.documents.get(uri)) is not None]
        )
        self.check(wanted, _Wish(force=True, token=token))
        return [document.uri for document in wanted]

    async def settled(self, uri: str) -> None:
        """Wait until no check of the document's unit is on its way."""
        while True:
            busy = [key for key in (uri, self._unit_of.get(uri)) if key is not None and self._pending[key]]
            if not busy:
                return
            await self._settling.setdefault(busy[0], asyncio.Event()).wait()

    async def offers_known(self, unit: str) -> None:
        """Wait until the repairs of a unit's last check are known."""
        key = f"offers {unit}"
        while self._pending[key]:
            await self._settling.setdefault(key, asyncio.Event()).wait()

    def _count(self, key: str, change: int) -> None:
        self._pending[key] += change
        if not self._pending[key]:
            del self._pending[key]
            event = self._settling.pop(key, None)
            if event is not None:
                event.set()

    def _freeze(self) -> _Frozen:
        documents = [
            document
            for document in self.documents
            if document.may_hold_kernels or Path(document.path).suffix.lower() in _TEXT_SUFFIXES
        ]
        return _Frozen(
            {document.path: (document.digest, document.text) for document in documents},
            {document.path: document.anchor() for document in documents},
        )

    async def _check_document(self, document: Document, frozen: _Frozen, wish: _Wish) -> None:
        try:
            try:
                # A client that never answers must not keep documents from being checked.
                await asyncio.wait_for(self._configured.wait(), _CONFIGURATION_WAIT_S)
            except asyncio.TimeoutError:
                self._configured.set()
            unit = await self._find_unit(document, frozen)
            if self.documents.get(document.uri) is not document:
                return
            if unit is None:
                self._leave(document.uri)
                return
            self._join(document.uri, unit)
            await self._check_unit(unit, frozen, wish)
        finally:
            self._count(document.uri, -1)

    async def _check_unit(self, unit: str, frozen: _Frozen, wish: _Wish) -> None:
        number = self._latest[unit] = next(self._numbers)
        self._count(unit, 1)
        submitted = False
        try:
            snapshot = await self._snapshot(unit, frozen)
            view = self.views.get(unit)
            if snapshot is None or self._latest.get(unit) != number:
                return
            if view is None:
                view = self.views[unit] = UnitView(unit)
            if not wish.force:
                running = self._checks.get(unit)
                if running is not None and view.is_checking(snapshot):
                    return
                if running is None and await self._is_unchanged(view, snapshot):
                    self.publisher.touch(always=True)
                    return
                if self._latest.get(unit) != number:
                    return
            self._submit_check(view, snapshot, wish)
            submitted = True
        finally:
            if not submitted:
                self._count(unit, -1)

    async def _snapshot(self, unit: str, frozen: _Frozen) -> Snapshot | None:
        where = await self._project_of(str(Path(unit).parent))
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
            flags=where.flags_for(unit),
            options=where.settings.check_options(),
            texts={**frozen.texts, unit: known},
            anchors=frozen.anchors,
        )

    async def _is_unchanged(self, view: UnitView, snapshot: Snapshot) -> bool:
        """Whether the shown results are what a check would give."""
        last = view.snapshot
        if last is None or view.trouble is not None or not last.asks_the_same_as(snapshot):
            return False
        dependencies, unsaved, absent = tuple(view.dependencies.items()), snapshot.unsaved, view.absent
        return await asyncio.to_thread(
            lambda: cache.still_holds(dependencies, unsaved) and not any(Path(path).exists() for path in absent)
        )

    def _submit_check(self, view: UnitView, snapshot: Snapshot, wish: _Wish) -> None:
        settings = self._projects[str(Path(snapshot.unit).parent)].settings
        directory = str(cache.default_directory()) if settings.disk_cache else None
        frame = check_frame(view, snapshot, self.attention, reuse=not wish.force, cache=directory)
        view.begin(snapshot)
        progress = CheckProgress(self.client, f"Checking {Path(snapshot.unit).name}", wish.token)
        from_disk = False

        def on_frame(frame: Frame) -> None:
            nonlocal from_disk
            try:
                if "kernel" in frame:
                    view.take_kernel(frame)
                elif "progress" in frame:
                    progress.report(*frame["progress"])
                    return
                else:
                    view.finish(frame)
                    from_disk = frame["from_disk"]
            except (LookupError, TypeError, ValueError) as error:
                bug.report("a worker's answer does not fit", error)
            self.publisher.touch()

        def on_done(outcome: Outcome, error: str) -> None:
            progress.finish()
            if self._checks.get(view.path, (None,))[0] is job:
                del self._checks[view.path]
            if self.views.get(view.path) is view:
                self._check_done(view, outcome, error, frame, snapshot, from_disk=from_disk)
            self._count(view.path, -1)
            self.publisher.touch(always=True)

        job = Job(JobKind.CHECK, snapshot.unit, frame, snapshot.texts, on_frame, on_done, next(self._numbers))
        self._checks[snapshot.unit] = (job, progress)
        self.scheduler.submit(job)
        if not view.kernels or wish.force:
            progress.start(self._tasks)
        else:
            asyncio.get_running_loop().call_later(
                _PROGRESS_DELAY_S, lambda: None if progress.finished else progress.start(self._tasks)
            )

    def _check_done(
        self, view: UnitView, outcome: Outcome, error: str, frame: Frame, snapshot: Snapshot, *, from_disk: bool
    ) -> None:
        if outcome in (Outcome.FAILED, Outcome.CRASHED):
            view.fail(Reason("worker", f"the analysis failed: {error}"))
            if outcome is Outcome.FAILED:
                self.client.show(
                    types.MessageType.Error,
                    f"cuda-lsp could not check {Path(view.path).name}: {error}. Earlier results stay.",
                )
            return
        if outcome is not Outcome.OK:
            return
        view.frame = frame
        self.spawn(self._after_check(view))
        if any(shown.verdict not in (Verdict.RACE_FREE, Verdict.UNKNOWN) for shown in view.kernels.values()):
            self._submit_offers(view, frame, snapshot)
        if from_disk:
            self.scheduler.submit(
                Job(JobKind.WARM, view.path, frame, snapshot.texts, lambda _frame: None, lambda _outcome, _error: None)
            )

    async def _after_check(self, view: UnitView) -> None:
        """Read what is needed to show results in files that are not open; headers may have found their unit."""
        shown_files = [path for path in view.files if self.documents.at(path) is None and path != view.path]
        for path in shown_files[:64]:
            digest = view.dependencies.get(path)
            if self._disk_indexes.get(path, ("", None))[0] != digest:
                text = await asyncio.to_thread(read_text, path)
                index = LineIndex(text) if text is not None and not text.isascii() else None
                self._disk_indexes[path] = (digest, index)
                self.publisher.touch()
        for document in self.documents:
            if self._unit_of.get(document.uri) == document.path != view.path and document.path in view.dependencies:
                self._join(document.uri, view.path)
                self.publisher.touch()

    def _submit_offers(self, view: UnitView, frame: Frame, snapshot: Snapshot) -> None:
        key = f"offers {view.path}"
        self._count(key, 1)

        def on_frame(answer: Frame) -> None:
            if view.snapshot is snapshot:
                view.add_fix(answer["fix"])

        def on_done(outcome: Outcome, error: str) -> None:
            if outcome in (Outcome.FAILED, Outcome.CRASHED):
                _log.error("no repairs for %s: %s", view.path, error)
            self._count(key, -1)

        self.scheduler.submit(
            Job(JobKind.OFFERS, view.path, {**frame, "reuse": True}, snapshot.texts, on_frame, on_done)
        )

    def cancel_check(self, token: types.ProgressToken) -> None:
        """The user cancelled the progress of a check: what has not been found stays as it was."""
        for job, progress in tuple(self._checks.values()):
            if progress.token == token:
                self.scheduler.cancel(job)

    # Settings and files of the project

    async def fetch_configuration(self) -> None:
        self._set_client_layer(await self.client.configuration(config.SECTION))

    def configuration_changed(self, settings: object) -> None:
        """`settings`: what a client that is not asked for settings sends by itself."""
        if self.client.features.configuration:
            self.spawn(self.fetch_configuration())
        else:
            self._set_client_layer(settings)

    def _set_client_layer(self, value: object) -> None:
        layers = (self._layers[0], Layer("client settings", config.from_client(value)))
        if layers != self._layers:
            self._layers = layers
            if self._configured.is_set():
                self.project_changed()

    def project_changed(self) -> None:
        """Settings or compile commands may be other ones: look again, and check what that changes."""

        async def reload() -> None:
            for folder in tuple(self._projects):
                await self._project_of(folder)
            frozen = self._freeze()
            for unit in tuple(self.views):
                self.spawn(self._check_unit(unit, frozen, _Wish()))

        self.spawn(reload())

    def files_changed(self, paths: Iterable[str]) -> None:
        """Files were created, changed or deleted outside the editor."""
        changed = [normalised(path) for path in paths]
        if any(Path(path).name in (config.PROJECT_FILE, "compile_commands.json") for path in changed):
            self.project_changed()
        sources = [path for path in changed if Path(path).suffix.lower() in _TEXT_SUFFIXES]
        # The buffer counts for an open document, whatever happens to its file.
        closed = [path for path in sources if self.documents.at(path) is None]
        if closed:
            self._graph = None
            self.check_dependents(closed)

    def _settings_of(self, document: Document) -> Settings:
        where = self._projects.get(str(Path(self._unit_of.get(document.uri, document.path)).parent))
        return where.settings if where is not None else self.settings

    async def _project_of(self, folder: str) -> Project:
        known = self._projects.get(folder)
        layers = self._layers
        if known is not None and await asyncio.to_thread(known.is_current, layers):
            return known
        return await self._load_project(folder)

    async def _load_project(self, folder: str) -> Project:
        layers = self._layers
        inside = self.top is not None and Path(folder).is_relative_to(self.top)
        loaded = await asyncio.to_thread(project.load, folder, self.top if inside else None, layers)
        self._projects[folder] = loaded
        self._report_problems()
        if folder == self.top or self.top is None:
            self._apply(loaded.settings)
        return loaded

    def _apply(self, settings: Settings) -> None:
        """Take over the settings that are not about analysis."""
        if settings != self.settings:
            self.settings = settings
            logging.getLogger().setLevel(settings.log_level.upper())
            self.scheduler.set_limits(Limits(size=settings.workers, hang_s=settings.hang_seconds))
            self.publisher.touch()

    def _report_problems(self) -> None:
        """Tell the user about each wrong setting, once as long as it stays."""
        problems = {problem for where in self._projects.values() for problem in where.problems}
        for problem in sorted(problems - self._reported, key=str):
            self.client.show(types.MessageType.Warning, f"cuda-lsp: {problem}")
        self._reported = problems

    # Showing

    def index_of(self, path: str) -> LineIndex | None:
        """The lines of a file, where they are needed to convert positions; None: all ASCII, or unknown."""
        document = self.documents.at(path)
        return document.index if document is not None else self._disk_indexes.get(path, (None, None))[1]

    def settings_for_file(self, path: str) -> Settings:
        where = self._projects.get(str(Path(path).parent))
        return where.settings if where is not None else self.settings

    def _on_trouble(self, sentence: str) -> None:
        self.client.show(types.MessageType.Warning, f"cuda-lsp: {sentence}")


def read_text(path: str) -> str | None:
    """A source file's text; bytes that are no UTF-8 become U+FFFD."""
    try:
        return well_formed(Path(path).read_bytes().decode("utf-8", "replace"))
    except OSError:
        return None


def folder_of(uri: str | None) -> str | None:
    """The path of a folder URI."""
    path = uris.to_fs_path(uri) if uri else None
    return normalised(path) if path else None
