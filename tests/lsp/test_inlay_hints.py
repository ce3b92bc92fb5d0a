"""Inlay hints over a real server: what the host says of parameters, only where the user wants them."""

from __future__ import annotations

from pathlib import Path

from lsp.client import Connect, Editor, plain, pushing
from lsprotocol import types

from cuda_lsp import backend

TEXT = """#include <cassert>
__global__ void scale(float *out, int n, int stride) {
  if (threadIdx.x < n) out[threadIdx.x * stride] = 1.f;
}
__global__ void alone(float *out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = 1.f;
}
void go(float *p, int rows) {
  assert(rows >= 1);
  scale<<<1, 64>>>(p, rows, 1);
}
"""
SECOND = """void more(float *p, int rows) {
  assert(rows >= 1);
  scale<<<1, 32>>>(p, 2 * rows, 4);
}
"""


async def shown(editor: Editor, uri: str, first: int = 0, last: int = 100) -> list[tuple[int, int, str, str]]:
    """Line, column, label and tooltip."""
    where = types.Range(types.Position(first, 0), types.Position(last, 0))
    found = await editor.protocol.send_request_async(
        types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintParams(types.TextDocumentIdentifier(uri), where)
    )
    return [(h.position.line, h.position.character, h.label, h.tooltip) for h in plain(found) or ()]


async def opened(editor: Editor, path: Path, text: str) -> str:
    path.write_text(text)
    uri = editor.open(path, text)
    await editor.until(lambda: uri in editor.diagnostics)
    await editor.until_idle()
    return uri


async def test_they_are_off_by_default(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(engine=backend.DEFAULT)
    uri = await opened(editor, tmp_path / "a.cu", TEXT)
    assert await shown(editor, uri) == []


async def test_facts_stand_beside_their_parameters(connect: Connect, tmp_path: Path) -> None:
    capabilities = pushing()
    assert capabilities.workspace is not None
    capabilities.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    editor = await connect(capabilities, engine=backend.DEFAULT, settings={"inlay-hints": True})
    path = tmp_path / "a.cu"
    uri = await opened(editor, path, TEXT)
    line = TEXT.split("\n")[1]
    found = await shown(editor, uri)
    assert [hint[:3] for hint in found] == [
        (1, line.index(", int stride"), "n ≥ 1, n = rows"),
        (1, line.index(") {"), "stride = 1"),
    ]
    assert found[0][3].split("\n") == ["The host code says:", "n = rows (line 10)", "n ≥ 1 (line 9)"]
    assert await shown(editor, uri, 3, 9) == []
    editor.replace(uri, "__global__ void scale", "\n__global__ void scale")
    assert [hint[0] for hint in await shown(editor, uri)] == [2, 2]
    editor.replace(uri, "void go", SECOND + "void go")
    editor.save(uri, path)
    await editor.until(lambda: editor.hint_refreshes > 0)
    await editor.until_idle()
    assert [hint[2] for hint in await shown(editor, uri)] == ["n = 2 * rows or rows", "stride = 4 or 1"]
