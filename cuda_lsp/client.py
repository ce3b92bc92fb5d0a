"""The editor at the other end: what it can do, and the messages that the server sends it.

`ClientFeatures` is read once from the `initialize` request; everything else asks it and never the raw capabilities.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, cast

from lsprotocol import types

from cuda_lsp.positions import Encoding, negotiated

CLIENT_COMMANDS = "clientCommands"
DIAGNOSTICS_IN_HOVER = "diagnosticsInHover"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """What the client declared, in our words."""

    encoding: Encoding = Encoding.UTF16
    pulls_diagnostics: bool = False
    refreshes_diagnostics: bool = False
    related_documents: bool = False
    related_information: bool = False
    unnecessary_tag: bool = False
    code_description: bool = False
    diagnostic_data: bool = False
    diagnostic_version: bool = False
    hover_markdown: bool = False
    hover_has_diagnostics: bool = False
    """Where the client shows a hover it shows the diagnostics of that place above it."""
    code_action_literals: bool = False
    resolves_edits: bool = False
    preferred_actions: bool = False
    versioned_edits: bool = False
    snippet_edits: bool = False
    progress: bool = False
    configuration: bool = False
    configuration_registration: bool = False
    watched_files_registration: bool = False
    refreshes_lenses: bool = False
    refreshes_hints: bool = False
    shows_documents: bool = False
    commands: frozenset[str] = frozenset()
    """Commands of the client itself that lenses may name."""

    @classmethod
    def read(cls, capabilities: types.ClientCapabilities, options: object = None) -> ClientFeatures:
        """`options`: the initialization options."""
        document = capabilities.text_document or types.TextDocumentClientCapabilities()
        workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
        window = capabilities.window or types.WindowClientCapabilities()
        general = capabilities.general or types.GeneralClientCapabilities()
        action = document.code_action or types.CodeActionClientCapabilities()
        published = document.publish_diagnostics or types.PublishDiagnosticsClientCapabilities()
        pulled = document.diagnostic
        # Several clients that pull declare what they show only for published diagnostics.
        ways = [way for way in (pulled, published) if way is not None]
        edit = workspace.workspace_edit or types.WorkspaceEditClientCapabilities()
        hover = document.hover or types.HoverClientCapabilities()
        formats = hover.content_format or ()
        resolved = action.resolve_support.properties if action.resolve_support else ()
        tags = [tag for way in ways if way.tag_support for tag in way.tag_support.value_set]
        refresh = workspace.diagnostics
        watched = workspace.did_change_watched_files
        changed = workspace.did_change_configuration
        lenses, hints = workspace.code_lens, workspace.inlay_hint
        return cls(
            encoding=negotiated([str(getattr(name, "value", name)) for name in general.position_encodings or ()]),
            # Most clients take both. What is pushed arrives whatever a client does when it is asked to pull again:
            # Neovim 0.12 then asks only for the files that are not open.
            pulls_diagnostics=pulled is not None and document.publish_diagnostics is None,
            refreshes_diagnostics=bool(refresh and refresh.refresh_support),
            related_documents=bool(pulled and pulled.related_document_support),
            related_information=any(way.related_information for way in ways),
            unnecessary_tag=types.DiagnosticTag.Unnecessary in tags,
            code_description=any(way.code_description_support for way in ways),
            diagnostic_data=any(way.data_support for way in ways),
            diagnostic_version=bool(published.version_support),
            hover_markdown=types.MarkupKind.Markdown in formats,
            hover_has_diagnostics=_plain(options).get(DIAGNOSTICS_IN_HOVER) is True,
            code_action_literals=action.code_action_literal_support is not None,
            resolves_edits="edit" in resolved and bool(action.data_support),
            preferred_actions=bool(action.is_preferred_support),
            versioned_edits=bool(edit.document_changes),
            snippet_edits=bool(edit.snippet_edit_support),
            progress=bool(window.work_done_progress),
            configuration=bool(workspace.configuration),
            configuration_registration=bool(changed and changed.dynamic_registration),
            watched_files_registration=bool(watched and watched.dynamic_registration),
            refreshes_lenses=bool(lenses and lenses.refresh_support),
            refreshes_hints=bool(hints and hints.refresh_support),
            shows_documents=bool(window.show_document and window.show_document.support),
            commands=declared_commands(capabilities.experimental) | declared_commands(options),
        )


def declared_commands(value: object) -> frozenset[str]:
    """The commands that a client says it has: a list `clientCommands` in its initialization options or experimental
    capabilities. What has another form declares nothing."""
    listed: Any = _plain(value).get(CLIENT_COMMANDS)
    if not isinstance(listed, list | tuple):
        return frozenset()
    return frozenset(each for each in cast("Sequence[Any]", listed) if isinstance(each, str))


def _plain(value: object) -> dict[str, Any]:
    """An object of the protocol as a dictionary; an empty one for what is none."""
    plain: Any = value._asdict() if hasattr(value, "_asdict") else value  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    return cast("dict[str, Any]", plain) if isinstance(plain, dict) else {}


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result or parameter that is JSON text already: large ones are not worth typed objects."""

    json: str


class Channel(Protocol):
    """The part of the protocol object that sends."""

    def notify(self, method: str, params: Any | None = None) -> None: ...
    def send_request(self, method: str, params: Any | None = None) -> Future[Any]: ...


class Client:
    """Sends to the editor. Requests that fail are logged: no answer of an editor may stop the server."""

    def __init__(self, channel: Channel, features: ClientFeatures) -> None:
        self._channel = channel
        self.features = features
        self._registrations = itertools.count(1)

    async def request(self, method: str, params: Any | None = None) -> Any:
        """The answer, or None when the client answered with an error."""
        try:
            return await asyncio.wrap_future(self._channel.send_request(method, params))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a client answers
            _log.warning("the client failed %s: %s", method, error)
            return None

    def show(self, kind: types.MessageType, text: str) -> None:
        """A message that the user sees."""
        _log.info("shown to the user: %s", text)
        self._channel.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(type=kind, message=text))

    def publish(self, uri: str, version: int | None, diagnostics: str) -> None:
        """`diagnostics`: a JSON array."""
        number = f'"version":{version},' if version is not None and self.features.diagnostic_version else ""
        self._channel.notify(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            Encoded(f'{{"uri":{json.dumps(uri)},{number}"diagnostics":{diagnostics}}}'),
        )

    async def refresh_diagnostics(self) -> None:
        await self.request(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    async def refresh_lenses(self) -> None:
        await self.request(types.WORKSPACE_CODE_LENS_REFRESH)

    async def refresh_hints(self) -> None:
        await self.request(types.WORKSPACE_INLAY_HINT_REFRESH)

    async def show_document(self, uri: str) -> bool:
        """Have the client open something outside of itself; False where it cannot."""
        if not self.features.shows_documents:
            return False
        answer = await self.request(
            types.WINDOW_SHOW_DOCUMENT, types.ShowDocumentParams(uri=uri, external=True, take_focus=True)
        )
        return bool(getattr(answer, "success", False))

    async def configuration(self, section: str) -> Any:
        """The client's settings of a section; None where it has none."""
        items = [types.ConfigurationItem(section=section)]
        answer = await self.request(types.WORKSPACE_CONFIGURATION, types.ConfigurationParams(items=items))
        return answer[0] if isinstance(answer, Sequence) and len(answer) == 1 else None  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    async def register(self, method: str, options: Any) -> None:
        registration = types.Registration(
            id=f"cuda-lsp/{next(self._registrations)}", method=method, register_options=options
        )
        await self.request(types.CLIENT_REGISTER_CAPABILITY, types.RegistrationParams(registrations=[registration]))

    async def create_progress(self, token: str) -> bool:
        """Whether the client accepted the token."""
        params = types.WorkDoneProgressCreateParams(token=token)
        try:
            await asyncio.wrap_future(self._channel.send_request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a client answers
            _log.info("the client refused a progress token: %s", error)
            return False
        return True

    def report_progress(self, token: types.ProgressToken, value: Any) -> None:
        self._channel.notify(types.PROGRESS, types.ProgressParams(token=token, value=value))
