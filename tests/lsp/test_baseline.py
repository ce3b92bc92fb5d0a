"""The baseline in the editor: what it knows is not shown, from when it is written on."""

import subprocess
import sys
from pathlib import Path

from lsp.client import Connect, Editor
from lsprotocol import types

RACE = "a[i] = a[i + 1];"
CODE = "import sys; from cuda_lsp.cli.main import main; raise SystemExit(main(sys.argv[1:], 'lsp.fake_engine:create'))"


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(float *a) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


async def lens(editor: Editor, uri: str) -> str:
    found = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    return "; ".join(each.command.title for each in found or () if each.command is not None)


async def test_what_the_baseline_knows_is_not_shown(
    connect: Connect, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / ".cuda-lsp.toml").write_text('baseline = ".cuda-lsp-baseline.json"\n')
    path = tmp_path / "a.cu"
    path.write_text(kernel("shift", RACE))
    editor = await connect()
    uri = editor.open(path, path.read_text())
    await editor.until(editor.has(uri, "data-race"))
    command = [sys.executable, "-c", CODE, "check", ".", "--write-baseline", ".cuda-lsp-baseline.json"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    written = types.FileEvent((tmp_path / ".cuda-lsp-baseline.json").as_uri(), types.FileChangeType.Created)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([written]))
    await editor.until(editor.has(uri))
    assert await lens(editor, uri) == "1 race in the baseline"
    told = await editor.hover(uri, "shift")
    assert told is not None
    assert "in the baseline" in told
    assert "race-free" not in told
    editor.replace(uri, kernel("shift", RACE), "int n;\n" + kernel("other", RACE) + kernel("shift", "f();", RACE))
    editor.save(uri, path)
    await editor.until(editor.has(uri, "data-race"))
    assert editor.diagnostics[uri][0].range.start.line == 2
