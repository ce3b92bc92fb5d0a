"""Kernels that other files of the workspace launch: what is said of a kernel follows the host code."""

from pathlib import Path

import pytest
from lsp.client import Connect, Editor
from lsp.test_configuration import changed

from cuda_lsp import backend

KERNEL = """\
__global__ void rows(int *out, int width) {
  out[(int)blockIdx.x * width + (int)threadIdx.x] = threadIdx.x;
}
extern "C" void launch_rows(int *out, int width) { rows<<<4, 64>>>(out, width); }
"""
HOST = 'extern "C" void launch_rows(int *out, int width);\nvoid host(int *out) { launch_rows(out, 64); }\n'


@pytest.fixture
async def editor(connect: Connect) -> Editor:
    return await connect(engine=backend.DEFAULT)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    path = tmp_path / "host.cc"
    path.write_text(HOST)
    return path


async def test_saving_an_open_host_file(editor: Editor, tmp_path: Path, host: Path) -> None:
    uri = editor.open(tmp_path / "kernel.cu", KERNEL)
    await editor.until(editor.has(uri))
    assert "called only from the files in" in str(await editor.hover(uri, "rows(int"))
    other = editor.open(host, HOST, language="cpp")
    editor.replace(other, "out, 64", "out, 63")
    editor.save(other, host)
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(other, "out, 63", "out, 80")
    editor.save(other, host)
    await editor.until(editor.has(uri))


async def test_host_files_that_change_come_and_go_outside_of_the_editor(
    editor: Editor, tmp_path: Path, host: Path
) -> None:
    uri = editor.open(tmp_path / "kernel.cu", KERNEL)
    await editor.until(editor.has(uri))
    host.write_text(HOST.replace("64", "1"))
    await changed(editor, host)
    await editor.until(editor.has(uri, "data-race"))
    host.write_text(HOST)
    await changed(editor, host)
    await editor.until(editor.has(uri))
    more = tmp_path / "sub" / "more.cpp"
    more.parent.mkdir()
    more.write_text(HOST.replace("64", "2"))
    await changed(editor, more)
    await editor.until(editor.has(uri, "data-race"))
    more.unlink()
    await changed(editor, more)
    await editor.until(editor.has(uri))


async def test_a_file_that_only_mentions_a_function_counts_too(editor: Editor, tmp_path: Path, host: Path) -> None:
    uri = editor.open(tmp_path / "kernel.cu", KERNEL)
    await editor.until(editor.has(uri))
    table = tmp_path / "table.cc"
    table.write_text('extern "C" void launch_rows(int *, int);\nvoid (*table[])(int *, int) = {launch_rows};\n')
    await changed(editor, table)
    await editor.until(editor.has(uri, "data-race"))
    table.unlink()
    await changed(editor, table)
    await editor.until(editor.has(uri))


CALLING = KERNEL.replace("int width) { rows", "int) { rows").replace("out, width);", "out, chosen());")


async def test_definitions_that_come_and_go_of_what_the_host_code_calls(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "kernel.cu", "int chosen();\n" + CALLING)
    await editor.until(editor.has(uri, "data-race"))
    first, second = tmp_path / "first.cpp", tmp_path / "second.cpp"
    first.write_text("int chosen() { return 64; }\n")
    await changed(editor, first)
    await editor.until(editor.has(uri))
    second.write_text("int chosen() { return 1; }\n")
    await changed(editor, second)
    await editor.until(editor.has(uri, "data-race"))
    second.unlink()
    await changed(editor, second)
    await editor.until(editor.has(uri))
