"""The state of one connection, and what happens when a document, a setting or a file changes.

Takes the client's notifications and keeps documents, settings and results. Changed by the event loop only; whatever
touches the disk runs in a thread, whatever analyses in a worker process (`checking.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris

from cuda_lsp import bug, config
from cuda_lsp.asked import Asked
from cuda_lsp.checking import ANY_FILE, TEXT_SUFFIXES, Checks, Wish, read_text
from cuda_lsp.client import Client
from cuda_lsp.config import Layer, Settings
from cuda_lsp.documents import Document, Documents, normalised
from cuda_lsp.features import code_lens, inlay_hint
from cuda_lsp.features.muting import Muting
from cuda_lsp.positions import LineIndex
from cuda_lsp.projects import Projects
from cuda_lsp.publishing import Publisher
from cuda_lsp.runs import Runs
from cuda_lsp.scheduler import Limits, Scheduler, Start
from cuda_lsp.unit_view import UnitView
from cuda_lsp.workspace import compile_commands

_CONFIGURATION_WAIT_S = 2.0
_MAXIMAL_FILES_READ = 64

_log = logging.getLogger(__name__)


class Session:
    """One client, from `initialize` to `exit`."""

    def __init__(
        self, client: Client, tops: Sequence[str], initial: Layer, start: Start, *, log_level_is_given: bool = False
    ) -> None:
        """`tops`: the workspace folders; `initial`: the initialization options; `start` starts a worker process. A log
        level given on the command line is not that of the settings."""
        self.client = client
        self.documents = Documents()
        self.settings = Settings()
        self.projects = Projects(
            tops,
            initial,
            lambda problem: client.show(types.MessageType.Warning, f"cuda-lsp: {problem}"),
            self._apply,
        )
        self.scheduler = Scheduler(start, Limits(), self._on_trouble)
        self.checks = Checks(self)
        self.runs = Runs(self)
        self.publisher = Publisher(self)
        self.lenses = Asked(self, code_lens.encoded, client.refresh_lenses, client.features.refreshes_lenses)
        self.attention: tuple[str, int] | None = None
        """Where the user pointed last: path and byte offset."""
        self.results = 0
        """Grows whenever results change."""
        self.texts = 0
        """Grows whenever a document changes."""
        self.muting = Muting(self)
        self.memo: dict[tuple[str, str], tuple[Any, Any]] = {}
        """What was computed from results and texts, by what and path, with the stamp of those it was computed from."""
        self.hints = Asked(self, inlay_hint.encoded, client.refresh_hints, client.features.refreshes_hints)
        self._log_level_is_given = log_level_is_given
        self._configured = asyncio.Event()
        self._disk_lines: dict[str, tuple[str | None, LineIndex | None]] = {}
        self._debounces: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # The life of the connection

    async def initialized(self) -> None:
        """The client is ready for requests: fetch its settings, get ready to check."""
        # A worker needs half a second to load, in which the client can answer and open documents.
        self.scheduler.prestart()
        if self.client.features.configuration:
            await self.fetch_configuration()
        self._configured.set()
        await self.projects.of_folder(self.top or str(Path.cwd()))

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

        task = asyncio.get_running_loop().create_task(guarded(), name=work.__qualname__)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A task that is cancelled before it begins leaves its work unbegun.
        task.add_done_callback(lambda _: work.close())

    @property
    def tops(self) -> tuple[str, ...]:
        """The workspace folders."""
        return self.projects.tops

    @property
    def top(self) -> str | None:
        """The first workspace folder, whose settings hold for what has no place."""
        return next(iter(self.tops), None)

    def folders_changed(self, added: Iterable[str], removed: Iterable[str]) -> None:
        """The user opened or closed workspace folders."""
        gone = set(removed)
        self.projects.tops = tuple(dict.fromkeys([*(top for top in self.tops if top not in gone), *added]))
        self.checks.forget_includes()
        self.project_changed()

    # Documents

    def opened(self, item: types.TextDocumentItem) -> None:
        folder = self.top or str(Path.cwd())
        document = self.documents.open(item.uri, str(item.language_id), item.version, item.text, folder)
        anchor = document.anchor()
        for view in self.views.values():
            view.adopt_anchor(document.path, anchor)
        self.texts += 1
        self.muting.text_changed(document.path)
        self.checks.note_changes([document.path])
        self.checks.check([document])
        # Where the text is not that of the file, everybody who read the file has read something else.
        self.checks.check_units(
            unit
            for unit, view in tuple(self.views.items())
            if view.dependencies.get(document.path, document.digest) != document.digest
        )

    def changed(self, uri: str, version: int | None, changes: Iterable[Any]) -> None:
        document = self.documents.get(uri)
        if document is None:
            _log.warning("a change of %s, which is not open", uri)
            return
        document.change(version, list(changes), self.client.features.encoding)
        self.texts += 1
        self.muting.text_changed(document.path)
        self.publisher.moved()
        self.checks.warm_up(uri)
        settings = self.settings_for_file(self.checks.unit_of(uri) or document.path)
        if settings.check_on == "change":
            self._undebounce(uri)
            delay_s = settings.debounce_ms / 1000
            self._debounces[uri] = asyncio.get_running_loop().call_later(delay_s, self._check, uri)

    def saved(self, uri: str) -> None:
        self.checks.forget_includes()
        self._check(uri)

    def closed(self, uri: str) -> None:
        self._undebounce(uri)
        document = self.documents.close(uri)
        if document is None:
            return
        self.texts += 1
        self.muting.text_changed(document.path)
        self.checks.note_changes([document.path])
        self.checks.leave(uri)
        for view in self.views.values():
            view.drop_anchor(document.path)
        self.checks.check_dependents([document.path])
        self.results_changed()

    def _check(self, uri: str) -> None:
        """Check a document, and the units that include it."""
        self._undebounce(uri)
        document = self.documents.get(uri)
        if document is not None:
            self.checks.note_changes([document.path])
            self.checks.check([document])
            self.checks.check_dependents([document.path], but=self.checks.unit_of(uri))

    def _undebounce(self, uri: str) -> None:
        handle = self._debounces.pop(uri, None)
        if handle is not None:
            handle.cancel()

    def recheck(self, wanted: Iterable[str] | None, token: types.ProgressToken | None = None) -> list[str]:
        """Check documents again although nothing has changed; None: all that are open. Gives their URIs."""
        self.scheduler.revive()
        self.checks.forget_includes()
        found = [self.documents.get(uri) for uri in wanted] if wanted is not None else list(self.documents)
        documents: list[Document] = [document for document in found if document is not None]
        self.checks.check(documents, Wish(force=True, token=token))
        return [document.uri for document in documents]

    # Settings and files of the project

    async def configured(self) -> None:
        """Wait for the client's settings, but not for ever: a client may never answer."""
        if self._configured.is_set():
            return
        # `asyncio.wait_for` loses a cancellation that comes together with the end (Python below 3.12).
        timer = asyncio.get_running_loop().call_later(_CONFIGURATION_WAIT_S, self._configured.set)
        try:
            await self._configured.wait()
        finally:
            timer.cancel()

    async def fetch_configuration(self) -> None:
        self._set_client_settings(await self.client.configuration(config.SECTION))

    def configuration_changed(self, settings: object) -> None:
        """`settings`: what a client that is not asked for settings sends by itself."""
        if self.client.features.configuration:
            self.spawn(self.fetch_configuration())
        else:
            self._set_client_settings(settings)

    def _set_client_settings(self, value: object) -> None:
        if self.projects.set_client_layer(value) and self._configured.is_set():
            self.project_changed()

    def project_changed(self) -> None:
        """Settings or compile commands may be other ones: look again, and check what that changes."""
        self.checks.note_changes([ANY_FILE])

        async def reload() -> None:
            for folder in self.projects.folders:
                await self.projects.of_folder(folder)
            self.results_changed()
            self.checks.check_units(tuple(self.views), Wish(relink=True))

        self.spawn(reload())

    def files_changed(self, paths: Iterable[str]) -> None:
        """Files were created, changed or deleted outside the editor."""
        changed = [normalised(path) for path in paths]
        of_project = (config.PROJECT_FILE, compile_commands.NAME)
        if any(Path(path).name in of_project or path in self.projects.baselines for path in changed):
            self.project_changed()
        # The buffer counts for an open document, whatever happens to its file.
        closed = {path for path in changed if self.documents.at(path) is None}
        if not closed:
            return
        if any(Path(path).suffix.lower() in TEXT_SUFFIXES for path in closed):
            self.checks.forget_includes()
        self.checks.note_changes(closed)
        # A header whose unit has changed may need another one.
        self.checks.check(document for document in self.documents if self.checks.unit_of(document.uri) in closed)
        self.checks.check_dependents(closed)

    def settings_for_file(self, path: str) -> Settings:
        return self.projects.settings(str(Path(path).parent)) or self.settings

    def _apply(self, settings: Settings) -> None:
        """Take over the settings that are not about analysis."""
        self.settings = settings
        if not self._log_level_is_given:
            logging.getLogger().setLevel(settings.log_level.upper())
        self.scheduler.set_limits(Limits(size=settings.workers, hang_s=settings.hang_seconds))

    # Showing

    @property
    def views(self) -> dict[str, UnitView]:
        """The results of each unit, by its main file."""
        return self.checks.views

    def unit_of(self, uri: str) -> str | None:
        """The unit through which an open document is checked, once that is known."""
        return self.checks.unit_of(uri)

    def results_changed(self, *, always: bool = False) -> None:
        """`always`: a check has ended, tell the client even if it changed nothing."""
        self.results += 1
        self.publisher.touch(always=always)

    def index_of(self, path: str) -> LineIndex | None:
        """The lines of a file, where they are needed to convert positions; None: all ASCII, or unknown."""
        document = self.documents.at(path)
        return document.index if document is not None else self._disk_lines.get(path, (None, None))[1]

    async def read_lines(self, view: UnitView) -> None:
        """Read the files with results that are not open, for `index_of`."""
        paths = sorted(path for path in view.files if self.documents.at(path) is None)
        for path in paths[:_MAXIMAL_FILES_READ]:
            digest = view.dependencies.get(path)
            if self._disk_lines.get(path, ("", None))[0] != digest:
                text = await asyncio.to_thread(read_text, path)
                index = LineIndex(text) if text is not None and not text.isascii() else None
                self._disk_lines[path] = (digest, index)
                if self.muting.read_from_disk(path, text) or index is not None:
                    self.results_changed()

    def _on_trouble(self, sentence: str) -> None:
        self.client.show(types.MessageType.Warning, f"cuda-lsp: {sentence}")


def folder_of(uri: str | None) -> str | None:
    """The path of a folder URI."""
    path = uris.to_fs_path(uri) if uri else None
    return normalised(path) if path else None
