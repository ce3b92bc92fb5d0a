"""The language server: what it offers to a client, which handler answers what, and its life as a process.

`serve` runs it over standard input and output, or for one client on a TCP port, until the client says `exit`, closes
the connection or dies. Handlers only look things up or enqueue; all analysis happens in worker processes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from cuda_lsp import __version__, backend, bug, config, transport
from cuda_lsp.client import Client, ClientFeatures
from cuda_lsp.config import Layer
from cuda_lsp.features import (
    code_action,
    code_lens,
    configuration,
    diagnostics,
    execute_command,
    hover,
    inlay_hint,
    race_explorer,
    watched_files,
)
from cuda_lsp.frames import Frame
from cuda_lsp.process_figures import resident_bytes
from cuda_lsp.protocol import CudaProtocol
from cuda_lsp.scheduler import Process
from cuda_lsp.session import Session, folder_of
from cuda_lsp.worker_command import Ahead, command, spawn
from cuda_lsp.worker_process import WorkerProcess

STATUS = "cuda-lsp/status"
"""A request without parameters: the worker processes and how long the event loop was ever kept waiting."""

LOOP_MONITOR_VARIABLE = "CUDA_LSP_LOOP_MONITOR"
_MONITOR_INTERVAL_S = 0.005
_PARENT_CHECK_S = 5.0
_COLLECTION_INTERVAL_S = 30.0
_NEVER = 1_000_000_000

_log = logging.getLogger(__name__)


class CudaLanguageServer(LanguageServer):
    """One client's server. `session` exists from `initialize` on."""

    protocol: CudaProtocol  # pyright: ignore[reportIncompatibleVariableOverride]
    session: Session

    def __init__(self, engine: str, *, log_level_is_given: bool, ahead: Ahead | None = None) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "cuda-lsp",
            __version__,
            protocol_cls=CudaProtocol,
            converter_factory=default_converter,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        )
        self._engine = engine
        self._ahead = ahead
        self._log_level_is_given = log_level_is_given
        self.exit_code = 1
        self._done = asyncio.Event()
        self._worst_lag_s = 0.0
        self._worst_own_lag_s = 0.0
        for method, handler in _HANDLERS.items():
            self.feature(method)(self._bound(handler))

        # pygls marks the functions it is given, which bound methods do not allow.
        def answer_status(_params: Any) -> dict[str, Any]:
            return self.status()

        self.feature(STATUS)(answer_status)
        warm_up(self.protocol)

    def _bound(self, handler: Callable[[Session, Any], Any]) -> Callable[[Any], Any]:
        if asyncio.iscoroutinefunction(handler):

            async def answer_later(params: Any) -> Any:
                return await handler(self.session, params)

            return answer_later

        def answer(params: Any) -> Any:
            return handler(self.session, params)

        return answer

    def report_server_error(self, error: Exception, source: Any) -> None:
        """An error outside of any request: logged, not shown."""
        _log.error("%s: %s", getattr(source, "__name__", source), error)

    # Lifecycle

    def folders_changed(self, event: types.WorkspaceFoldersChangeEvent) -> None:
        added, removed = ([folder_of(folder.uri) for folder in folders] for folders in (event.added, event.removed))
        self.session.folders_changed(filter(None, added), filter(None, removed))

    def initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        features = ClientFeatures.read(params.capabilities, params.initialization_options)
        found = [folder_of(folder.uri) for folder in params.workspace_folders or ()]
        tops = [folder for folder in found if folder] or [folder_of(params.root_uri) or params.root_path or ""]
        initial = Layer("initializationOptions", config.from_client(params.initialization_options))
        self.process_id = params.process_id
        self.session = Session(
            Client(self.protocol, features),
            [top for top in tops if top],
            initial,
            self._start_worker,
            log_level_is_given=self._log_level_is_given,
        )
        self.session.spawn(self._watch_parent(params.process_id))
        return types.InitializeResult(
            capabilities=capabilities(features),
            server_info=types.ServerInfo(name=self.name, version=self.version),
        )

    async def initialized(self) -> None:
        # Not earlier: the answer to `initialize` takes 15 ms, in which the protocol lets a client send nothing else.
        if os.environ.get(LOOP_MONITOR_VARIABLE) == "1":
            self._monitor_loop()
        self.session.spawn(self.session.initialized())
        self.session.spawn(watched_files.register(self.session))
        self.session.spawn(configuration.register(self.session))

    async def close_session(self) -> None:
        if hasattr(self, "session"):
            await self.session.close()

    def stop(self, exit_code: int) -> None:
        """Leave `run` with this exit code."""
        self.exit_code = exit_code
        self._done.set()

    async def execute_command(self, params: types.ExecuteCommandParams) -> Any:
        return await execute_command.execute(self.session, params)

    async def run(self, connection: transport.Connection) -> int:
        """Serve one connection to its end."""
        loop = asyncio.get_running_loop()
        writer = transport.QueuedWriter(connection)
        self.protocol.set_writer(writer)
        arrivals: deque[Any] = deque()

        def deliver() -> None:
            # One message per turn of the loop, in order of arrival.
            message = arrivals.popleft()
            if message is not None and not self._done.is_set():
                self.protocol.handle_message(message)

        def listen() -> None:
            try:
                for body in transport.bodies(connection.receive):
                    arrivals.append(self.protocol.decoded(body))
                    loop.call_soon_threadsafe(deliver)
            except (transport.BadHeaderError, OSError) as error:
                _log.error("cannot read from the client: %s", error)
            try:
                # Not `exit`, so not a clean end: the exit code stays 1 unless `shutdown` came before.
                loop.call_soon_threadsafe(self._input_ended)
            except RuntimeError:
                _log.debug("the input ended after the server did")

        threading.Thread(target=listen, name="client input", daemon=True).start()
        self._collect_when_idle(loop)
        await self._done.wait()
        await self.close_session()
        writer.close()
        return self.exit_code

    def _collect_when_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        """Little is left to collect: results have no cycles."""

        def look() -> None:
            if not self.is_busy:
                _collect_and_keep()
            self._collect_when_idle(loop)

        loop.call_later(_COLLECTION_INTERVAL_S, look)

    @property
    def is_busy(self) -> bool:
        """Whether a worker has a job, or a job waits for one."""
        if not hasattr(self, "session"):
            return False
        scheduler = self.session.scheduler
        return bool(scheduler.queued) or any(worker.running for worker in scheduler.status())

    def _input_ended(self) -> None:
        if not self._done.is_set():
            self.stop(0 if self.protocol.is_shut_down else 1)

    async def _watch_parent(self, process_id: int | None) -> None:
        """The connection may outlive the editor when another process inherited it."""
        if process_id is None or sys.platform == "win32":
            return
        while _is_alive(process_id):
            await asyncio.sleep(_PARENT_CHECK_S)
        _log.warning("the client process %d is gone", process_id)
        self.stop(1)

    # Workers and measurements

    def _start_worker(self, on_frame: Callable[[Frame], None], on_exit: Callable[[int, str], None]) -> Process:
        level = logging.getLevelName(logging.getLogger().getEffectiveLevel())
        words = command(self._engine, str(level))

        def start() -> subprocess.Popen[bytes]:
            return (self._ahead.claim(words) if self._ahead is not None else None) or spawn(words)

        return WorkerProcess(start, on_frame, on_exit)

    def _monitor_loop(self) -> None:
        """Measure how much later than asked the loop calls back, as late as it would take in a message; and how much of
        that this process was computing: the rest is the machine's, which had other things to do."""
        loop = asyncio.get_running_loop()
        asked, computed = loop.time() + _MONITOR_INTERVAL_S, time.process_time()

        def called() -> None:
            lag = loop.time() - asked
            self._worst_lag_s = max(self._worst_lag_s, lag)
            self._worst_own_lag_s = max(self._worst_own_lag_s, min(lag, time.process_time() - computed))
            self._monitor_loop()

        loop.call_at(asked, called)

    def status(self) -> dict[str, Any]:
        """What the status request answers."""
        return {
            "pid": os.getpid(),
            "version": __version__,
            "residentBytes": resident_bytes(),
            "workers": [
                {"pid": each.pid, "running": each.running, "residentBytes": each.resident_bytes}
                for each in self.session.scheduler.status()
            ],
            "queued": self.session.scheduler.queued,
            "pending": self.session.checks.pending,
            "worstLoopLagMs": round(self._worst_lag_s * 1000, 1),
            "worstOwnLoopLagMs": round(self._worst_own_lag_s * 1000, 1),
            "documents": len(self.session.documents),
            "bugs": bug.count(),
        }


def _collect_and_keep() -> None:
    """What lives now stays for long: without it the next collection takes a millisecond, not twenty."""
    gc.collect()
    gc.freeze()


_HANDLERS: dict[str, Callable[[Session, Any], Any]] = {
    types.TEXT_DOCUMENT_DID_SAVE: lambda session, params: session.saved(params.text_document.uri),
    types.TEXT_DOCUMENT_HOVER: hover.hover,
    types.TEXT_DOCUMENT_CODE_ACTION: code_action.code_actions,
    types.CODE_ACTION_RESOLVE: code_action.resolve,
    types.TEXT_DOCUMENT_CODE_LENS: code_lens.code_lenses,
    types.TEXT_DOCUMENT_INLAY_HINT: inlay_hint.inlay_hints,
    types.TEXT_DOCUMENT_DIAGNOSTIC: diagnostics.pull,
    types.WORKSPACE_DIAGNOSTIC: diagnostics.pull_workspace,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: configuration.changed,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: watched_files.changed,
    race_explorer.METHOD: race_explorer.race_explorer,
}


def capabilities(features: ClientFeatures) -> types.ServerCapabilities:
    """What is offered to a client that can do this."""
    return types.ServerCapabilities(
        position_encoding=types.PositionEncodingKind(features.encoding.value),
        text_document_sync=types.TextDocumentSyncOptions(
            open_close=True,
            change=types.TextDocumentSyncKind.Incremental,
            save=types.SaveOptions(include_text=False),
        ),
        hover_provider=True,
        code_action_provider=types.CodeActionOptions(
            code_action_kinds=list(code_action.KINDS), resolve_provider=features.resolves_edits
        ),
        code_lens_provider=types.CodeLensOptions(resolve_provider=False),
        inlay_hint_provider=types.InlayHintOptions(resolve_provider=False),
        diagnostic_provider=types.DiagnosticOptions(
            identifier="cuda-lsp", inter_file_dependencies=True, workspace_diagnostics=True
        )
        if features.pulls_diagnostics
        else None,
        execute_command_provider=types.ExecuteCommandOptions(
            commands=list(execute_command.COMMANDS), work_done_progress=True
        ),
        workspace=types.WorkspaceOptions(workspace_folders=types.WorkspaceFoldersServerCapabilities(True, True)),
    )


def warm_up(protocol: CudaProtocol) -> None:
    """Have the converter write its code for the messages of every day now: at the first of each kind it takes
    milliseconds in which nothing else happens."""
    uri, at = "file:///a.cu", {"line": 0, "character": 0}
    document, where = {"uri": uri, "version": 1}, {"start": at, "end": at}
    related = {"location": {"uri": uri, "range": where}, "message": ""}
    diagnostic = {"range": where, "message": "", "severity": 1, "relatedInformation": [related], "data": {"group": ""}}
    edit = {"range": where, "newText": ""}
    action = {
        "title": "",
        "kind": "quickfix",
        "diagnostics": [diagnostic],
        "edit": {"changes": {uri: [edit]}, "documentChanges": [{"textDocument": document, "edits": [edit]}]},
        "data": {"uri": uri, "fix": None},
    }
    context = {"diagnostics": [diagnostic], "only": ["quickfix"], "triggerKind": 1}
    messages: tuple[tuple[str, Any], ...] = (
        (types.TEXT_DOCUMENT_DID_OPEN, {"textDocument": {**document, "languageId": "cuda", "text": ""}}),
        (types.TEXT_DOCUMENT_DID_CHANGE, {"textDocument": document, "contentChanges": [{"range": where, "text": ""}]}),
        (types.TEXT_DOCUMENT_DID_CHANGE, {"textDocument": document, "contentChanges": [{"text": ""}]}),
        (types.TEXT_DOCUMENT_DID_SAVE, {"textDocument": document}),
        (types.TEXT_DOCUMENT_DID_CLOSE, {"textDocument": document}),
        (types.TEXT_DOCUMENT_HOVER, {"textDocument": document, "position": at}),
        (types.TEXT_DOCUMENT_CODE_ACTION, {"textDocument": document, "range": where, "context": context}),
        (types.TEXT_DOCUMENT_CODE_LENS, {"textDocument": document}),
        (types.TEXT_DOCUMENT_INLAY_HINT, {"textDocument": document, "range": where}),
        (types.TEXT_DOCUMENT_DIAGNOSTIC, {"textDocument": document, "previousResultId": ""}),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"settings": {}}),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, {"changes": [{"uri": uri, "type": 1}]}),
        (types.CODE_ACTION_RESOLVE, action),
    )
    found: Any = None
    for method, params in messages:
        found = protocol.decoded(json.dumps({"jsonrpc": "2.0", "id": 0, "method": method, "params": params}).encode())
    hovered = types.Hover(types.MarkupContent(types.MarkupKind.Markdown, ""), found.params.edit.changes[uri][0].range)
    for result in (hovered, [found.params], found.params, None):
        protocol.encoded_response(result)


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It exists and belongs to somebody else.
        return True
    return True


def serve(
    *,
    tcp: tuple[str, int] | None = None,
    engine: str = backend.DEFAULT,
    log_level: str | None = None,
    ahead: Ahead | None = None,
) -> int:
    """Run the server and give the process's exit code: 0 after `shutdown` and `exit`, else 1.

    `log_level`: one of `config.LOG_LEVELS`; by default the setting's. `engine`: see `backend`. `ahead`: a worker that
    was started already."""
    level = (log_level or config.Settings().log_level).upper()
    # First of all, before anything can print.
    connection = transport.standard_streams() if tcp is None else None
    logging.basicConfig(stream=sys.stderr, level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # pygls logs the whole of every message, documents included.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    # The default, 5 ms, is how long the loop would wait for a thread that decodes a message.
    sys.setswitchinterval(0.001)
    if connection is None:
        assert tcp is not None
        connection = transport.accept_one(
            *tcp,
            lambda port: print(f"listening on {tcp[0]}:{port}", file=sys.stderr, flush=True),  # noqa: T201
        )

    served = connection

    _collect_and_keep()
    # A full collection takes as long as all that lives is large, and would come while the user types.
    youngest, middle, _ = gc.get_threshold()
    gc.set_threshold(youngest, middle, _NEVER)

    async def run() -> int:
        return await CudaLanguageServer(engine, log_level_is_given=log_level is not None, ahead=ahead).run(served)

    started = time.perf_counter()
    try:
        return asyncio.run(run())
    except KeyboardInterrupt:
        return 1
    finally:
        _log.info("served for %.1f s", time.perf_counter() - started)
