"""Settings from the client and from the project, and what happens when they change or are wrong."""

from pathlib import Path
from typing import Any

from lsp.client import Connect, Editor, pushing
from lsprotocol import types

TEXT = "__global__ void k(float *a) {\n  a[i] = a[i + 1];\n  __syncthreads(); // useless\n}\n"
OFF = {"severity": {"data-race": "off"}}


def mute() -> types.ClientCapabilities:
    """A client that cannot be asked for its settings."""
    capabilities = pushing()
    assert capabilities.workspace is not None
    capabilities.workspace.configuration = False
    return capabilities


async def test_the_clients_settings_count(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings=OFF)
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "redundant-barrier"))


async def test_initialization_options_count_and_the_settings_win(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(
        settings={"severity": {"redundant-barrier": "off"}}, initialization_options={**OFF, "arch": "sm_90"}
    )
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))


async def test_initialization_options_of_a_client_that_cannot_be_asked(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(mute(), initialization_options={"cuda-lsp": OFF})
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "redundant-barrier"))


async def test_the_project_file_wins(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / ".cuda-lsp.toml").write_text('[severity]\nredundant-barrier = "off"\n')
    editor = await connect(settings=OFF)
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))


async def test_a_bad_value_warns_once_and_its_default_holds(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / ".cuda-lsp.toml").write_text('debounce-ms = "soon"\narch = "sm_90"\n')
    editor = await connect(settings={"workers": 99, "severity": {"data-race": "loud"}})
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    editor.open(tmp_path / "b.cu", TEXT)
    await editor.until(editor.has((tmp_path / "b.cu").as_uri(), "data-race", "redundant-barrier"))
    told = sorted(message.message for message in editor.messages)
    assert len(told) == 3, told
    assert '"soon" is no value for “debounce-ms”, expected a whole number from 50 to 10000' in told[0]
    assert "the default 400 holds" in told[0]
    assert all(message.type is types.MessageType.Warning for message in editor.messages)


async def test_changed_settings_are_fetched_and_shown(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={})
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    editor.set_configuration({"cuda-lsp": OFF})
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await editor.until(editor.has(uri, "redundant-barrier"))
    assert "workspace/didChangeConfiguration" in [each.method for each in editor.registrations]


async def test_changed_settings_that_come_with_the_notification(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(mute())
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    settings: Any = {"cuda-lsp": OFF}
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=settings))
    await editor.until(editor.has(uri, "redundant-barrier"))


async def test_checking_while_typing_on_request(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"check-on": "change", "debounceMs": 50})
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    editor.replace(uri, "  a[i] = ", "  __syncthreads();\n  a[i] = ")
    await editor.until(editor.has(uri, "redundant-barrier"))


# Watched files


async def changed(editor: Editor, *paths: Path) -> None:
    changes = [types.FileEvent(path.as_uri(), types.FileChangeType.Changed) for path in paths]
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))


async def test_the_files_that_count_are_watched(editor: Editor) -> None:
    await editor.until(
        lambda: [each for each in editor.registrations if each.method == "workspace/didChangeWatchedFiles"]
    )
    (registration,) = [each for each in editor.registrations if each.method == "workspace/didChangeWatchedFiles"]
    options: Any = registration.register_options
    patterns = [watcher["globPattern"] for watcher in options["watchers"]]
    assert "**/compile_commands.json" in patterns
    assert "**/.cuda-lsp.toml" in patterns
    assert any("cu,cuh" in pattern for pattern in patterns)


async def test_a_changed_project_file_is_taken_over(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    project = tmp_path / ".cuda-lsp.toml"
    project.write_text('[severity]\ndata-race = "off"\n')
    await changed(editor, project)
    await editor.until(editor.has(uri, "redundant-barrier"))
    project.unlink()
    await changed(editor, project)
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))


async def test_changed_compile_commands_check_again(editor: Editor, tmp_path: Path) -> None:
    path, mark = tmp_path / "a.cu", tmp_path / "mark"
    mark.touch()
    uri = editor.open(path, TEXT.replace("a[i] =", f"// crash {mark}\n  a[i] ="))
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    mark.unlink()
    database = tmp_path / "compile_commands.json"
    database.write_text(f'[{{"directory": "{tmp_path}", "file": "a.cu", "command": "nvcc -arch=sm_90 a.cu"}}]')
    await changed(editor, database)
    await editor.until(editor.shown("started again"))


async def test_a_broken_compilation_database_is_told(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "compile_commands.json").write_text("{")
    editor = await connect()
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    assert editor.shown("compile_commands.json")()
