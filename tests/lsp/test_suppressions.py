"""Suppressions in the editor: what they hide, from when on, and that nothing is called proved because of them."""

from pathlib import Path

from lsp.client import Connect, Editor
from lsprotocol import types

RACE = "a[i] = a[i + 1];"
WHY = "// cuda-lsp: ignore[data-race] second pass"


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(float *a) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


async def lens(editor: Editor, uri: str) -> str:
    found = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    return "; ".join(each.command.title for each in found or () if each.command is not None)


async def test_a_suppressed_finding_is_hidden_and_nothing_is_called_proved(editor: Editor, tmp_path: Path) -> None:
    text = kernel("shift", f"{RACE}  {WHY}") + kernel("other", RACE)
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.range.start.line == 4
    assert await lens(editor, uri) == "1 race suppressed; 1 race"
    told = await editor.hover(uri, "shift")
    assert told is not None
    assert "data-race" in told
    assert "suppressed: second pass" in told
    assert "race-free" not in told
    comment = await editor.hover(uri, "cuda-lsp: ignore", 3)
    assert comment is not None
    assert "which is no proof" in comment
    assert "data-race in `shift`" in comment


async def test_a_suppression_counts_while_it_is_typed_and_ends_when_it_is_deleted(
    editor: Editor, tmp_path: Path
) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("shift", "int i = 0;", RACE))
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, f"  {RACE}", f"  {WHY}\n  {RACE}")
    await editor.until(editor.has(uri))
    editor.replace(uri, "ignore[data-race]", "ignore[benign-race]")
    await editor.until(editor.has(uri, "data-race"))


async def test_a_suppression_of_a_kernel_moves_with_it(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", f"{WHY}\n" + kernel("shift", RACE) + kernel("other", RACE))
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, WHY, f"int n;\nint m;\n{WHY}")
    await editor.until(lambda: editor.diagnostics[uri] and editor.diagnostics[uri][0].range.start.line == 7)
    assert len(editor.diagnostics[uri]) == 1


async def test_what_is_wrong_with_a_comment_is_a_diagnostic(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    text = kernel(
        "shift",
        "f();  // cuda-lsp: ignore[data-race] nothing here",
        f"{RACE}  // cuda-lsp: ignore[data-race]",
        "g();  // cuda-lsp: ignore[dat-race] why",
    )
    uri = editor.open(path, text)
    await editor.until(editor.has(uri, "unused-suppression", "unexplained-suppression", "invalid-suppression"))
    unused = next(each for each in editor.diagnostics[uri] if each.code == "unused-suppression")
    assert unused.range.start == types.Position(1, 11)
    assert unused.tags == (types.DiagnosticTag.Unnecessary,)
    # Until the text is checked again nobody knows what is of use.
    editor.replace(uri, "nothing here", "a halo")
    await editor.until(editor.has(uri, "unexplained-suppression", "invalid-suppression"))
    editor.save(uri, path)
    await editor.until(editor.has(uri, "unused-suppression", "unexplained-suppression", "invalid-suppression"))


async def test_the_user_sets_how_loud_they_are(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"severity": {"unused-suppression": "error", "unexplained-suppression": "off"}})
    uri = editor.open(tmp_path / "a.cu", kernel("shift", "f();  // cuda-lsp: ignore[data-race]"))
    await editor.until(editor.has(uri, "unused-suppression"))
    assert editor.diagnostics[uri][0].severity is types.DiagnosticSeverity.Error


async def test_a_suppression_in_a_header_that_is_not_open_counts(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "h.cuh").write_text(kernel("shift", f"{RACE}  {WHY}", RACE))
    uri = editor.open(tmp_path / "a.cu", '#include "h.cuh"\n' + kernel("other", RACE))
    header = (tmp_path / "h.cuh").as_uri()
    await editor.until(editor.has(uri, "data-race"))
    await editor.until(lambda: [each.range.start.line for each in editor.diagnostics.get(header, ())] == [2])
