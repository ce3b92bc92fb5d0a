"""Several workspace folders: each has its own settings, all are checked, and they come and go."""

from pathlib import Path

from lsp.client import Connect, Editor, pushing
from lsprotocol import types

RACE = "__global__ void {0}(float *a) {{\n  a[i] = a[i + 1];\n}}\n"


async def two_folders(connect: Connect, tmp_path: Path) -> tuple[Editor, Path, Path]:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "a.cu").write_text(RACE.format(folder.name))
    (second / ".cuda-lsp.toml").write_text('[severity]\ndata-race = "warning"\n')
    editor = await connect(initialize=False)
    folders = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in (first, second)]
    await editor.initialize_session(
        types.InitializeParams(capabilities=pushing(), root_uri=first.as_uri(), workspace_folders=folders)
    )
    return editor, first, second


async def test_each_folder_has_its_own_settings(connect: Connect, tmp_path: Path) -> None:
    editor, first, second = await two_folders(connect, tmp_path)
    uris = [editor.open(folder / "a.cu", (folder / "a.cu").read_text()) for folder in (first, second)]
    for uri in uris:
        await editor.until(editor.has(uri, "data-race"))
    severities = [editor.diagnostics[uri][0].severity for uri in uris]
    assert severities == [types.DiagnosticSeverity.Error, types.DiagnosticSeverity.Warning]


async def test_a_header_finds_its_unit_in_its_own_folder(connect: Connect, tmp_path: Path) -> None:
    editor, first, second = await two_folders(connect, tmp_path)
    (second / "h.cuh").write_text(RACE.format("inside"))
    (second / "b.cu").write_text('#include "h.cuh"\n')
    editor.open(first / "a.cu", (first / "a.cu").read_text())
    uri = editor.open(second / "h.cuh", (second / "h.cuh").read_text())
    await editor.until(editor.has(uri, "data-race"))
    assert editor.diagnostics[uri][0].severity is types.DiagnosticSeverity.Warning


async def test_all_folders_are_checked(connect: Connect, tmp_path: Path) -> None:
    editor, first, second = await two_folders(connect, tmp_path)
    assert await editor.workspace_execute_command_async(types.ExecuteCommandParams("cuda-lsp.checkAll")) == 2
    for folder in (first, second):
        await editor.until(editor.has((folder / "a.cu").as_uri(), "data-race"))


async def test_folders_come_and_go(connect: Connect, tmp_path: Path) -> None:
    editor, first, second = await two_folders(connect, tmp_path)
    third = tmp_path / "third"
    third.mkdir()
    (third / "a.cu").write_text(RACE.format("third"))
    event = types.WorkspaceFoldersChangeEvent(
        added=[types.WorkspaceFolder(third.as_uri(), "third")],
        removed=[types.WorkspaceFolder(second.as_uri(), "second")],
    )
    editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
    assert await editor.workspace_execute_command_async(types.ExecuteCommandParams("cuda-lsp.checkAll")) == 2
    await editor.until(editor.has((third / "a.cu").as_uri(), "data-race"))
    assert (second / "a.cu").as_uri() not in editor.diagnostics
    assert editor.has((first / "a.cu").as_uri(), "data-race")()
