"""The protocol object: pygls's, with the session's own documents, lifecycle errors, and payloads that are JSON already.

Differences from pygls's: requests before `initialize` and after `shutdown` get the errors that LSP asks for; a request
with bad parameters gets an answer; a full text document is never kept twice; large results skip the typed converter.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.protocol import LanguageServerProtocol, lsp_method

from cuda_lsp import bug
from cuda_lsp.client import Encoded

if TYPE_CHECKING:
    from cuda_lsp.server import CudaLanguageServer

_log = logging.getLogger(__name__)


class CudaProtocol(LanguageServerProtocol):
    """Dispatches to the handlers of `CudaLanguageServer`."""

    _server: CudaLanguageServer  # pyright: ignore[reportIncompatibleVariableOverride]

    initialized_once = False

    @property
    def is_shut_down(self) -> bool:
        """Whether the client has asked for the end."""
        return self._shutdown

    # Lifecycle

    def handle_message(self, message: Any) -> None:
        method: str | None = getattr(message, "method", None)
        identity = getattr(message, "id", None)
        if method is not None and method != types.EXIT:
            error: JsonRpcException | None = None
            if self._shutdown:
                error = JsonRpcInvalidRequest("the server is shutting down")
            elif not self.initialized_once and method != types.INITIALIZE:
                error = JsonRpcServerNotInitialized("the first request must be initialize")
            elif self.initialized_once and method == types.INITIALIZE:
                error = JsonRpcInvalidRequest("already initialized")
            if error is not None:
                if identity is not None:
                    self._send_response(identity, error=error.to_response_error())
                return
        super().handle_message(message)
        if method == types.SHUTDOWN and identity is not None:
            # At once: `exit` may be handled before the handler, a task, begins.
            self._shutdown = True

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, params: types.InitializeParams
    ) -> types.InitializeResult:
        self.initialized_once = True
        self.client_capabilities = params.capabilities
        result = self._server.initialize(params)
        self.server_capabilities = result.capabilities
        return result

    @lsp_method(types.INITIALIZED)
    async def lsp_initialized(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        await self._server.initialized()

    @lsp_method(types.SHUTDOWN)
    async def lsp_shutdown(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        current = self.msg_id
        self._shutdown = True
        for identity, future in tuple(self._request_futures.items()):
            if identity != current and not future.done():
                future.cancel()
        await self._server.close_session()

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._server.stop(0 if self._shutdown else 1)

    @lsp_method(types.SET_TRACE)
    def lsp_set_trace(self, params: types.SetTraceParams) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.trace = params.value

    # Documents: the session keeps them

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, params: types.DidOpenTextDocumentParams
    ) -> None:
        self._server.session.opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, params: types.DidChangeTextDocumentParams
    ) -> None:
        self._server.session.changed(params.text_document.uri, params.text_document.version, params.content_changes)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, params: types.DidCloseTextDocumentParams
    ) -> None:
        self._server.session.closed(params.text_document.uri)

    @lsp_method(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def lsp_workspace__did_change_workspace_folders(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, params: types.DidChangeWorkspaceFoldersParams
    ) -> None:
        self._server.folders_changed(params.event)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, params: types.ExecuteCommandParams
    ) -> Any:
        return await self._server.execute_command(params)

    @lsp_method(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, params: types.WorkDoneProgressCancelParams
    ) -> None:
        self._server.session.checks.cancel(params.token)
        self._server.session.runs.cancel(params.token)

    # Messages

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A typed message. One that has another shape is answered here, for the caller would never hear of it."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            # A response that nobody can read still ends its request.
            future = self._request_futures.pop(data["id"], None) if "id" in data and "method" not in data else None
            if future is not None and not future.done():
                future.set_exception(error)
            return None

    def decoded(self, body: bytes) -> Any:
        """The message in a body, or None when it is none."""
        try:
            return json.loads(body, object_hook=self.structure_message)
        except ValueError as error:
            _log.error("a message that is no JSON: %s", error)
            return None

    def encoded_response(self, result: Any) -> str:
        """A result as the converter makes it."""
        return json.dumps(self._converter.unstructure(result))

    def notify(self, method: str, params: Any | None = None) -> None:
        if isinstance(params, Encoded):
            self._send_json(f'{{"jsonrpc":"2.0","method":"{method}","params":{params.json}}}')
        else:
            super().notify(method, params)

    def _send_response(
        self, msg_id: str | int, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        if isinstance(result, Encoded) and error is None:
            self._result_types.pop(msg_id, None)
            self._send_json(f'{{"jsonrpc":"2.0","id":{json.dumps(msg_id)},"result":{result.json}}}')
        else:
            super()._send_response(msg_id, result, error)

    def _send_json(self, text: str) -> None:
        if self.writer is None:
            bug.report("nothing to write to")
            return
        body = text.encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
