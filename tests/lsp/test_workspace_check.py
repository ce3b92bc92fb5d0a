"""The command that checks all CUDA sources of the workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsp.client import Connect, Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcException

RACE = "__global__ void shift(float *a) {\n  a[i] = a[i + 1];\n}\n"
CLEAN = "__global__ void still(float *a) {\n  a[i] = 0;\n}\n"
COMMAND = "cuda-lsp.checkAll"


def written(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


async def check_all(editor: Editor, token: str | None = None) -> object:
    return await editor.workspace_execute_command_async(types.ExecuteCommandParams(COMMAND, work_done_token=token))


async def test_every_source_is_checked_and_its_findings_are_told(editor: Editor, tmp_path: Path) -> None:
    first = written(tmp_path / "a.cu", '#include "read.cuh"\n' + RACE)
    deep = written(tmp_path / "src" / "deep" / "b.CU", RACE)
    alone = written(tmp_path / "alone.cuh", RACE)
    written(tmp_path / "read.cuh", CLEAN)
    for skipped in ("third_party", "build", ".hidden", "node_modules"):
        written(tmp_path / skipped / "c.cu", RACE)
    written(tmp_path / "cmake" / "CMakeCache.txt", "")
    written(tmp_path / "cmake" / "d.cu", RACE)
    written(tmp_path / "host.cpp", RACE)
    assert await check_all(editor) == 4
    for uri in (first, deep, alone):
        await editor.until(editor.has(uri, "data-race"))
    assert {uri for uri, found in editor.diagnostics.items() if found} == {first, deep, alone}


async def test_what_is_left_out_is_said(editor: Editor, tmp_path: Path) -> None:
    written(tmp_path / "a.cu", CLEAN)
    assert await check_all(editor) == 1
    for name in ("c.cu", "d.cu"):
        written(tmp_path / "third_party" / name, RACE)
    written(tmp_path / "cmake" / "CMakeCache.txt", "")
    written(tmp_path / "cmake" / "e.cu", RACE)
    assert not editor.shown("left out")(), "nothing was"
    assert await check_all(editor) == 1
    await editor.until(editor.shown("left out"))
    (said,) = editor.shown("left out")()
    assert said.startswith("3 CUDA files were left out: 2 in vendored folders, 1 in build folders. ")


async def test_findings_stay_when_a_document_is_closed_and_go_with_the_file(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = written(path, RACE)
    await check_all(editor)
    editor.open(path, RACE)
    await editor.until(editor.has(uri, "data-race"))
    editor.close(uri)
    await editor.until_idle()
    assert editor.codes(uri) == ["data-race"]
    path.unlink()
    deleted = types.FileEvent(uri, types.FileChangeType.Deleted)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([deleted]))
    await editor.until(editor.has(uri))


async def test_a_file_that_changed_on_disk_is_checked_again(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = written(path, RACE)
    await check_all(editor)
    await editor.until(editor.has(uri, "data-race"))
    path.write_text(CLEAN, encoding="utf-8")
    changed = types.FileEvent(uri, types.FileChangeType.Changed)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    await editor.until(editor.has(uri))


async def test_cancelling_ends_it_and_keeps_what_was_found(editor: Editor, tmp_path: Path) -> None:
    first = written(tmp_path / "a.cu", RACE)
    written(tmp_path / "b.cu", RACE.replace("{\n", f"{{\n  // wait {tmp_path / 'never'}\n"))
    last = written(tmp_path / "c.cu", RACE)
    request = editor.start_request("workspace/executeCommand", types.ExecuteCommandParams(COMMAND), "all")
    await editor.until(editor.has(first, "data-race"))
    editor.protocol.notify("$/cancelRequest", types.CancelParams("all"))
    with pytest.raises((JsonRpcException, asyncio.CancelledError)):
        await request
    (tmp_path / "never").touch()
    await editor.until_idle()
    assert editor.codes(first) == ["data-race"]
    assert last not in editor.diagnostics


async def test_without_a_folder_there_is_nothing_to_check(connect: Connect) -> None:
    editor = await connect(folder=None)
    with pytest.raises(JsonRpcException, match="no workspace folder"):
        await check_all(editor)
