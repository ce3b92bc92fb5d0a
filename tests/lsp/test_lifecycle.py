"""From `initialize` to the end of the process, in good order and in bad."""

import asyncio
import os
import signal
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
from lsp.client import CODE, DEADLINE_S, FAKE, Connect, Editor, pulling, pushing
from lsprotocol import types
from pygls.exceptions import JsonRpcException

RACE = "__global__ void shift(float *a) {\n  a[i] = a[i + 1];\n}\n"


async def exit_code(editor: Editor) -> int:
    process = editor._server
    assert process is not None
    return await asyncio.wait_for(process.wait(), DEADLINE_S)


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process whose parent has died stays a zombie until it is waited for, which init may not do in a container.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


async def worker_pids(editor: Editor) -> list[int]:
    return await editor.until_status(lambda status: [each["pid"] for each in status["workers"] if each["pid"]])


async def all_gone(pids: list[int]) -> None:
    async def wait() -> None:
        while any(exists(pid) for pid in pids):
            await asyncio.sleep(0.01)

    await asyncio.wait_for(wait(), DEADLINE_S)


async def test_what_is_offered(connect: Connect) -> None:
    editor = await connect(initialize=False)
    result = await editor.initialize_session(types.InitializeParams(capabilities=pushing()))
    offered = result.capabilities
    assert result.server_info is not None
    assert result.server_info.name == "cuda-lsp"
    assert offered.position_encoding == "utf-16"
    sync = offered.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert (sync.open_close, sync.change) == (True, types.TextDocumentSyncKind.Incremental)
    assert offered.hover_provider is True
    actions = offered.code_action_provider
    assert isinstance(actions, types.CodeActionOptions)
    assert actions.resolve_provider is True
    assert list(actions.code_action_kinds or ()) == [
        "quickfix",
        "refactor.rewrite",
        "source.fixAll.cuda-lsp",
        "source.recheck.cuda-lsp",
    ]
    assert offered.execute_command_provider is not None
    assert list(offered.execute_command_provider.commands) == [
        "cuda-lsp.recheck",
        "cuda-lsp.checkAll",
        "cuda-lsp.tellKernel",
        "cuda-lsp.writeReport",
        "cuda-lsp.whyNoFix",
        "cuda-lsp.runKernel",
        "cuda-lsp.confirm",
    ]
    assert offered.code_lens_provider is not None


async def test_shutdown_and_exit_end_everything_with_0(editor: Editor) -> None:
    pids = await worker_pids(editor)
    await editor.shutdown_async(None)
    editor.exit(None)
    assert await exit_code(editor) == 0
    await all_gone(pids)


async def test_exit_that_comes_with_shutdown_is_a_clean_end(editor: Editor) -> None:
    asking = asyncio.ensure_future(editor.shutdown_async(None))
    await asyncio.sleep(0)
    editor.exit(None)
    assert await exit_code(editor) == 0
    asking.cancel()


async def test_exit_without_shutdown_ends_everything_with_1(editor: Editor) -> None:
    pids = await worker_pids(editor)
    editor.exit(None)
    assert await exit_code(editor) == 1
    await all_gone(pids)


async def test_the_server_ends_when_the_client_goes_away(editor: Editor) -> None:
    pids = await worker_pids(editor)
    process = editor._server
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert await exit_code(editor) == 1
    await all_gone(pids)


async def test_the_workers_end_when_the_server_is_killed(editor: Editor, tmp_path: Path) -> None:
    text = f"__global__ void k(float *a) {{\n  // hang\n}}\n// {tmp_path}"
    editor.open(tmp_path / "a.cu", text)
    pids = await worker_pids(editor)
    process = editor._server
    assert process is not None
    process.send_signal(signal.SIGKILL)
    await exit_code(editor)
    await all_gone(pids)


async def test_the_server_ends_when_the_clients_process_is_gone(connect: Connect) -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    editor = await connect(initialize=False)
    await editor.start_request(
        "initialize", types.InitializeParams(capabilities=pushing(), process_id=gone.pid), "first"
    )
    assert await exit_code(editor) == 1


async def test_requests_before_initialize_and_after_shutdown_are_refused(connect: Connect) -> None:
    editor = await connect(initialize=False)
    params = types.HoverParams(types.TextDocumentIdentifier("file:///a.cu"), types.Position(0, 0))
    with pytest.raises(JsonRpcException) as refused:
        await editor.start_request("textDocument/hover", params, "early")
    assert refused.value.code == types.ErrorCodes.ServerNotInitialized
    await editor.initialize_session(types.InitializeParams(capabilities=pushing()))
    with pytest.raises(JsonRpcException) as refused:
        await editor.initialize_async(types.InitializeParams(capabilities=pushing()))
    assert refused.value.code == types.ErrorCodes.InvalidRequest
    await editor.shutdown_async(None)
    with pytest.raises(JsonRpcException) as refused:
        await editor.start_request("textDocument/hover", params, "late")
    assert refused.value.code == types.ErrorCodes.InvalidRequest
    editor.exit(None)
    assert await exit_code(editor) == 0


async def test_shutdown_while_requests_wait(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(pulling(refresh=False))
    uri = editor.open(tmp_path / "a.cu", f"__global__ void k(float *a) {{\n  // wait {tmp_path / 'never'}\n}}\n")
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    waiting = editor.start_request("textDocument/diagnostic", params, "one")
    recheck = editor.start_request("workspace/executeCommand", types.ExecuteCommandParams("cuda-lsp.recheck"), "two")
    await editor.shutdown_async(None)
    for request in (waiting, recheck):
        with pytest.raises(JsonRpcException) as cancelled:
            await asyncio.wait_for(request, DEADLINE_S)
        assert cancelled.value.code == types.LSPErrorCodes.RequestCancelled
    editor.exit(None)
    assert await exit_code(editor) == 0


async def test_odd_messages_do_not_stop_the_server(editor: Editor, tmp_path: Path) -> None:
    process = editor._server
    assert process is not None
    assert process.stdin is not None

    def send(body: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    send(b"{not json")
    send(b'{"jsonrpc":"2.0","method":"$/unheardOf","params":{}}')
    send(b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":5}}')
    send(b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///no","version":1},'
         b'"contentChanges":[{"text":"x"}]}}')  # fmt: skip
    send(b'{"jsonrpc":"2.0","id":"nobody","result":1}')
    with pytest.raises(JsonRpcException) as refused:
        await asyncio.wait_for(editor.start_request("no/suchMethod", {}, "a"), DEADLINE_S)
    assert refused.value.code == types.ErrorCodes.MethodNotFound
    # What the typed client cannot send.
    answer: Future[object] = Future()
    editor.protocol._request_futures["b"] = answer
    send(b'{"jsonrpc":"2.0","id":"b","method":"textDocument/hover","params":{"wrong":1}}')
    with pytest.raises(JsonRpcException) as refused:
        await asyncio.wait_for(asyncio.wrap_future(answer), DEADLINE_S)
    assert refused.value.code == types.ErrorCodes.InvalidParams
    uri = editor.open(tmp_path / "a.cu", RACE)
    await editor.until(editor.has(uri, "data-race"))


async def test_what_is_printed_does_not_reach_the_client(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "import os\n"
        "from lsp.fake_engine import FakeEngine\n"
        "def create():\n"
        "    print('noise', flush=True)\n"
        "    os.write(1, b'more noise')\n"
        "    return FakeEngine()\n"
    )
    editor = await connect(engine="noisy:create", search=tmp_path)
    uri = editor.open(tmp_path / "a.cu", RACE)
    await editor.until(editor.has(uri, "data-race"))


async def test_one_client_over_tcp(tmp_path: Path, environment: dict[str, str]) -> None:
    code = CODE.replace("None, 'info'", "('127.0.0.1', 0), 'info'").format(engine=FAKE)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    line = (await asyncio.wait_for(process.stderr.readline(), DEADLINE_S)).decode()
    editor = Editor()
    await editor.start_tcp("127.0.0.1", int(line.rpartition(":")[2]))
    await editor.initialize_session(types.InitializeParams(capabilities=pushing()))
    uri = editor.open(tmp_path / "a.cu", RACE)
    await editor.until(editor.has(uri, "data-race"))
    await editor.shutdown_async(None)
    editor.exit(None)
    assert await asyncio.wait_for(process.wait(), DEADLINE_S) == 0
    await editor.stop()
