"""A language client for tests: starts the server with the fake engine and waits for what it says, never for time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES

from cuda_lsp import documentation

ROOT = Path(__file__).parent.parent.parent
FAKE = "lsp.fake_engine:create"
DEADLINE_S = 60.0
IGNORE = "quickfix.ignore"
CODE = "from cuda_lsp.cli.serve import serve; raise SystemExit(serve(None, 'info', {engine!r}))"


def server_command(engine: str = FAKE) -> list[str]:
    return [sys.executable, "-c", CODE.format(engine=engine)]


def is_looked_for(action: types.CodeAction) -> bool:
    """Whether an action stands for a repair that is verified when it is chosen."""
    return action.title.startswith("Find the proved repair")


class Editor(LanguageClient):
    """Remembers everything the server sent and lets tests wait for it."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.changed = asyncio.Condition()
        self.published: list[types.PublishDiagnosticsParams] = []
        self.registrations: list[types.Registration] = []
        self.codes_without_a_page: set[str] = set()
        self.refreshes = 0
        self.lens_refreshes = 0
        self.hint_refreshes = 0
        self.opened_outside: list[types.ShowDocumentParams] = []
        self.server_command = server_command()
        self.arrivals = 0
        self.wake_ups: set[asyncio.Future[None]] = set()
        self.versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        for method, handler in {**DEFAULT_CLIENT_FEATURES, **_HANDLERS}.items():
            self.feature(method)(_noting(handler))

    async def until(self, holds: Callable[[], Any], what: str = "") -> Any:
        """Wait until something holds; look again whenever the server has sent something."""

        async def wait() -> Any:
            async with self.changed:
                await self.changed.wait_for(lambda: bool(holds()))
            return holds()

        try:
            return await asyncio.wait_for(wait(), DEADLINE_S)
        except asyncio.TimeoutError:
            raise AssertionError(f"never came to hold: {what or holds}") from None

    # What an editor does

    def open(self, path: Path | str, text: str, language: str = "cuda") -> str:
        """Open a document; a path that is no URI is one of a file."""
        uri = path if isinstance(path, str) else path.as_uri()
        self.versions[uri], self.texts[uri] = 1, text
        self.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, self.versions[uri], text))
        )
        return uri

    def replace(self, uri: str, old: str, new: str) -> None:
        """Replace the only place where `old` stands, as an incremental change in UTF-16 positions."""
        text = self.texts[uri]
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
        start = text.index(old)
        self.versions[uri] += 1
        self.texts[uri] = text[:start] + new + text[start + len(old) :]
        change = types.TextDocumentContentChangePartial(
            range=types.Range(position(text, start), position(text, start + len(old))), text=new
        )
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(self.versions[uri], uri), [change])
        )

    def save(self, uri: str, path: Path | None = None) -> None:
        if path is not None:
            path.write_text(self.texts[uri], encoding="utf-8", newline="")
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Apply an edit to the open documents, checking versions."""
        by_uri: dict[str, Sequence[Any]] = {}
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.version == self.versions[change.text_document.uri]
            by_uri[change.text_document.uri] = change.edits
        by_uri.update(edit.changes or {})
        for uri, edits in by_uri.items():
            text = self.texts[uri]
            for one in sorted(edits, key=lambda each: (each.range.start.line, each.range.start.character))[::-1]:
                start, end = offset(text, one.range.start), offset(text, one.range.end)
                new = one.snippet.value.replace("$0", "") if isinstance(one, types.SnippetTextEdit) else one.new_text
                text = text[:start] + new + text[end:]
            self.versions[uri] += 1
            self.texts[uri] = text
            self.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(self.versions[uri], uri),
                    [types.TextDocumentContentChangeWholeDocument(text)],
                )
            )

    async def hover(self, uri: str, needle: str, into: int = 0) -> str | None:
        """The hover text where `needle` first stands, `into` characters into it."""
        text = self.texts[uri]
        found = await self.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), position(text, text.index(needle) + into))
        )
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def until_hover(self, uri: str, needle: str, part: str) -> str:
        """Hover whenever the server has sent something, until the text contains a part."""
        told: list[str] = []

        async def ask() -> None:
            while True:
                heard = self.arrivals
                text = await self.hover(uri, needle)
                if text is not None and part in text:
                    told.append(text)
                    return
                async with self.changed:
                    await self.changed.wait_for(lambda heard=heard: self.arrivals > heard)

        try:
            await asyncio.wait_for(ask(), DEADLINE_S)
        except asyncio.TimeoutError:
            raise AssertionError(f"the hover never said {part!r}") from None
        return told[0]

    def start_request(self, method: str, params: Any, identity: str) -> asyncio.Future[Any]:
        """Send a request now, under an id of one's own."""
        return asyncio.wrap_future(self.protocol.send_request(method, params, msg_id=identity))

    async def actions(self, uri: str, needle: str, **context: Any) -> list[types.CodeAction]:
        """The code actions where `needle` first stands but those that write a comment (see `ignoring`) or are commands
        (see `commands`), once none is looked for any more."""
        while any(map(is_looked_for, actions := await self.listed(uri, needle, **context))):
            await asyncio.sleep(0.01)
        return actions

    async def listed(self, uri: str, needle: str, **context: Any) -> list[types.CodeAction]:
        """The same as they are now."""
        return [found for found in await self._edits(uri, needle, context) if found.kind != IGNORE]

    async def ignoring(self, uri: str, needle: str, **context: Any) -> list[types.CodeAction]:
        """The code actions where `needle` first stands that write a comment which suppresses a finding."""
        return [found for found in await self._edits(uri, needle, context) if found.kind == IGNORE]

    async def _edits(self, uri: str, needle: str, context: dict[str, Any]) -> list[types.CodeAction]:
        return [found for found in await self._actions(uri, needle, context) if isinstance(found, types.CodeAction)]

    async def commands(self, uri: str, needle: str, **context: Any) -> list[Any]:
        """The code actions that have a command, as they came: lsprotocol takes those for `Command`s."""
        found = await self._actions(uri, needle, context)
        return [each.command for each in found if isinstance(each, types.Command)]

    async def _actions(self, uri: str, needle: str, context: dict[str, Any]) -> Sequence[Any]:
        text = self.texts[uri]
        where = position(text, text.index(needle))
        answer = await self.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                types.Range(where, where),
                types.CodeActionContext(diagnostics=list(self.diagnostics.get(uri, ())), **context),
            )
        )
        return answer or ()

    async def pull(self, uri: str, previous: str | None = None) -> Any:
        return await self.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
        )

    async def status(self) -> Any:
        answer = await self.protocol.send_request_async("cuda-lsp/status", None)
        return plain(answer)

    async def until_status(self, holds: Callable[[Any], Any]) -> Any:
        """Ask for the server's status until something holds of it; what was made of it then."""

        async def ask() -> Any:
            while not (made := holds(await self.status())):
                pass
            return made

        try:
            return await asyncio.wait_for(ask(), DEADLINE_S)
        except asyncio.TimeoutError:
            raise AssertionError(f"the status never came to be so: {await self.status()}") from None

    async def until_idle(self) -> None:
        """Wait until no worker runs and nothing is on its way to one: a save is, before its check is queued."""
        await self.until_status(lambda status: not status["pending"] and not status["queued"] and not jobs(status))

    # What an editor shows

    def codes(self, uri: str) -> list[str]:
        """The codes of the diagnostics pushed last, in order."""
        return [str(diagnostic.code) for diagnostic in self.diagnostics.get(uri, ())]

    def has(self, uri: str, *codes: str) -> Callable[[], bool]:
        return lambda: uri in self.diagnostics and self.codes(uri) == list(codes)

    @property
    def reports(self) -> dict[Any, list[Any]]:
        """The progress reports by token."""
        return dict(self.progress_reports)

    def shown(self, part: str) -> Callable[[], list[str]]:
        """Messages shown to the user that contain something."""
        return lambda: [message.message for message in self.messages if part in message.message]


def plain(value: Any) -> Any:
    """An answer without a type of its own, as dicts and lists."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def _noting(handler: Callable[..., Any]) -> Callable[..., Any]:
    """A handler that wakes up whoever waits for what it has noted."""

    def handle(client: Editor, params: Any) -> Any:
        result = handler(client, params)
        client.arrivals += 1

        async def wake() -> None:
            async with client.changed:
                client.changed.notify_all()

        client.wake_ups = {task for task in client.wake_ups if not task.done()}
        client.wake_ups.add(asyncio.ensure_future(wake()))
        return result

    return handle


def _publish(client: Editor, params: types.PublishDiagnosticsParams) -> None:
    codes = {str(diagnostic.code) for diagnostic in params.diagnostics}
    client.codes_without_a_page |= {code for code in codes if documentation.diagnostic_page(code) is None}
    client.published.append(params)
    client.diagnostics[params.uri] = params.diagnostics


def _register(client: Editor, params: types.RegistrationParams) -> None:
    client.registrations.extend(params.registrations)


def _refresh(client: Editor, _params: Any) -> None:
    client.refreshes += 1


def _refresh_lenses(client: Editor, _params: Any) -> None:
    client.lens_refreshes += 1


def _refresh_hints(client: Editor, _params: Any) -> None:
    client.hint_refreshes += 1


def _show_document(client: Editor, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
    client.opened_outside.append(params)
    return types.ShowDocumentResult(success=True)


_HANDLERS: dict[str, Callable[..., Any]] = {
    types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: _publish,
    types.CLIENT_REGISTER_CAPABILITY: _register,
    types.WORKSPACE_DIAGNOSTIC_REFRESH: _refresh,
    types.WORKSPACE_CODE_LENS_REFRESH: _refresh_lenses,
    types.WORKSPACE_INLAY_HINT_REFRESH: _refresh_hints,
    types.WINDOW_SHOW_DOCUMENT: _show_document,
}


def position(text: str, at: int) -> types.Position:
    """The UTF-16 position of an index into a text."""
    before = text[:at].replace("\r\n", "\r")
    lines = before.replace("\r", "\n").split("\n")
    return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)


def offset(text: str, where: types.Position) -> int:
    lines = text.splitlines(keepends=True)
    line = lines[where.line] if where.line < len(lines) else ""
    before = line.encode("utf-16-le")[: 2 * where.character].decode("utf-16-le")
    return sum(map(len, lines[: where.line])) + len(before)


Connect = Callable[..., Awaitable[Editor]]
"""The fixture that starts a server and gives its client."""


def pushing() -> types.ClientCapabilities:
    """A client like VS Code, but one that only takes diagnostics that are pushed to it."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.text_document is not None
    assert capabilities.workspace is not None
    capabilities.text_document.diagnostic = None
    capabilities.workspace.diagnostics = None
    published = capabilities.text_document.publish_diagnostics
    assert published is not None
    published.version_support = True
    return capabilities


def pulling(*, refresh: bool = True, related: bool = False) -> types.ClientCapabilities:
    """A client that can only pull diagnostics."""
    capabilities = pushing()
    assert capabilities.text_document is not None
    assert capabilities.workspace is not None
    capabilities.text_document.publish_diagnostics = None
    capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities(
        dynamic_registration=False, related_document_support=related
    )
    capabilities.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=refresh)
    return capabilities


def taking_both() -> types.ClientCapabilities:
    """A client that takes diagnostics in both ways, as most do."""
    capabilities = pulling()
    assert capabilities.text_document is not None
    taken = pushing().text_document
    assert taken is not None
    capabilities.text_document.publish_diagnostics = taken.publish_diagnostics
    return capabilities


def labels(items: Iterable[Any]) -> list[str]:
    return [item.title for item in items]


def jobs(status: Any) -> list[dict[str, Any]]:
    """The workers of a status that have a job."""
    return [worker for worker in status["workers"] if worker["running"]]
