"""Hover: on an access, a kernel's name and a launch, in Markdown and in plain text."""

from pathlib import Path

from lsp.client import Connect, Editor, pushing
from lsprotocol import types

TEXT = """\
// äöü 𝄞
__global__ void shift(float *a, int n) {
  int i = threadIdx.x;
  a[i] = a[i + 1];
}

__global__ void clean(float *a) {
}

void go(float *p, int n) {
  shift<<<n / 3, 64>>>(p, n);
  shift<<<1, 32>>>(p, n);
}
"""


async def test_on_an_access_both_threads_are_told(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))
    for place in ("a[i] =", "a[i + 1]"):
        told = await editor.hover(uri, place, into=1)
        assert told is not None
        assert told.startswith("**data-race: ")
        assert "write of `a[i]` by thread (1, 0, 0) of block (0, 0, 0), line 4, 4 bytes" in told
        assert "read of `a[i + 1]` by thread (0, 0, 0) of block (0, 0, 0), line 4" in told
        assert "The two threads are in one warp, in shared memory, object `a`." in told
        assert "- grid (1, 1, 1), block (2, 1, 1)" in told
        assert "- both touch `a[1]`" in told
        assert "- with `n = 2`" in told
        assert "replayed" in told
        assert "Nothing orders the two accesses." in told
        assert "Host facts used:\n- `n % 256 == 0` (assert, line 11)" in told
        assert "Assumed:\n- signed arithmetic does not overflow" in told
        assert "In 2 of 2 launches:" in told


async def test_the_message_is_left_out_where_the_client_shows_it_above(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(initialization_options={"diagnosticsInHover": True})
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))
    on_squiggle, on_other_access = [await editor.hover(uri, place, into=1) for place in ("a[i] =", "a[i + 1]")]
    assert on_squiggle is not None
    assert on_other_access is not None
    assert on_squiggle.startswith("- write of `a[i]` by thread")
    assert on_other_access == f"**data-race: {editor_message(editor, uri)}**\n\n{on_squiggle}"
    assert editor.messages == []


def editor_message(editor: Editor, uri: str) -> str:
    (message,) = [each.message for each in editor.diagnostics[uri] if each.code == "data-race"]
    return message.replace(" (in 2 of 2 launches)", "").replace("[", "\\[").replace("]", "\\]")


async def test_on_a_kernel_name_each_launch_has_its_verdict(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))
    told = await editor.hover(uri, "shift(float", into=2)
    assert told is not None
    assert told.startswith("**data-race: `shift`**")
    assert "**data-race launched at line 11: grid `n / 3`, block `64`**" in told
    assert "**data-race launched at line 12: grid `1`, block `32`**" in told
    clean = await editor.hover(uri, "clean")
    assert clean is not None
    assert clean.startswith("**race-free: `clean`**")
    assert "race-free without a known launch" in clean
    assert "Assumed:\n- signed arithmetic does not overflow" in clean


async def test_on_a_launch_only_that_launch_is_told(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))
    told = await editor.hover(uri, "shift<<<1", into=2)
    assert told is not None
    assert "line 12" in told
    assert "line 11" not in told


async def test_the_range_is_that_of_the_place_and_there_is_none_elsewhere(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))
    found = await editor.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(3, 10))
    )
    assert found is not None
    assert found.range == types.Range(types.Position(3, 9), types.Position(3, 17))
    assert await editor.hover(uri, "int i") is None
    assert await editor.hover(uri, "äöü") is None


async def test_a_client_without_markdown_gets_plain_text(connect: Connect, tmp_path: Path) -> None:
    capabilities = pushing()
    assert capabilities.text_document is not None
    capabilities.text_document.hover = types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText])
    editor = await connect(capabilities)
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))
    told = await editor.hover(uri, "a[i] =")
    assert told is not None
    assert told.startswith("data-race: data race: a[i] is written while another thread reads a[i + 1]")
    assert "- write of a[i] by thread (1, 0, 0)" in told
    assert not set("`*“”") & set(told)


async def test_it_follows_the_edits(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", TEXT)
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "// äöü 𝄞\n", "// äöü 𝄞\n\n\n")
    assert await editor.hover(uri, "a[i] =") is not None
    assert await editor.hover(uri, "int i") is None


async def test_lines_move_with_edits_above_before_and_after_the_next_check(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = editor.open(path, TEXT)
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "__global__ void clean", "// one\n// two\n__global__ void clean")
    told = await editor.hover(uri, "shift(float", into=2)
    assert told is not None
    assert "data-race launched at line 13: grid" in told
    assert "n % 256 == 0` (assert, line 13)" in told
    told = await editor.hover(uri, "a[i] =", into=1)
    assert told is not None
    assert "object `a`" in told
    assert "(assert, line 13)" in told
    assert "launched at line 14" in told
    editor.replace(uri, "// äöü 𝄞\n", "")
    editor.save(uri, path)
    told = await editor.until_hover(uri, "a[i] =", "(assert, line 12)")
    assert "data-race: " in told
    assert "by thread (1, 0, 0) of block (0, 0, 0), line 3, 4 bytes" in told
    editor.replace(uri, "  shift<<<n / 3, 64>>>(p, n);\n", "  // gone\n")
    told = await editor.hover(uri, "shift(float", into=2)
    assert told is not None
    assert "launched at a line that was edited since: grid `n / 3`" in told
