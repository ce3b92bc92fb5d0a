"""Diagnostics over the wire: what they say, pushed or pulled, and that they come as kernels finish."""

from pathlib import Path

from lsp.client import Editor
from lsprotocol import types

RACE = """\
__global__ void shift(float *a, int n) {
  int i = threadIdx.x;
  a[i] = a[i + 1];
}
"""
CLEAN = RACE.replace("  a[i] =", "  __syncthreads();\n  a[i] =")


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(float *a) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


async def test_an_opened_file_gets_its_diagnostics(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = editor.open(path, RACE)
    await editor.until(editor.has(uri, "data-race"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.range == types.Range(types.Position(2, 2), types.Position(2, 6))
    assert diagnostic.severity is types.DiagnosticSeverity.Error
    assert diagnostic.source == "cuda-lsp"
    assert "a[i] is written while another thread reads a[i + 1]" in diagnostic.message
    assert diagnostic.code_description is not None
    assert diagnostic.code_description.href.endswith("/diagnostics/data-race.md")
    (other,) = diagnostic.related_information or ()
    assert other.location == types.Location(uri, types.Range(types.Position(2, 9), types.Position(2, 17)))
    assert "read of “a[i + 1]” by thread (0, 0, 0) of block (0, 0, 0)" in other.message
    assert diagnostic.data["group"] == "race shift"  # pyright: ignore
    assert diagnostic.data["version"] == 1  # pyright: ignore
    assert editor.published[-1].version == 1
