"""The code action that writes a suppression: where the comment goes, and that it hides the finding."""

from pathlib import Path

import pytest
from lsp.client import Connect, Editor, pushing
from lsprotocol import types

KERNEL = "__global__ void shift(float *a) {{\n  int i = threadIdx.x;\n{0}\n}}\n"
PLAIN = "  a[i] = a[i + 1];"
COMMENT = "// cuda-lsp: ignore[data-race]"


def taking_snippets() -> types.ClientCapabilities:
    capabilities = pushing()
    assert capabilities.workspace is not None
    assert capabilities.workspace.workspace_edit is not None
    capabilities.workspace.workspace_edit.snippet_edit_support = True
    return capabilities


def without_versions() -> types.ClientCapabilities:
    capabilities = pushing()
    assert capabilities.workspace is not None
    assert capabilities.workspace.workspace_edit is not None
    capabilities.workspace.workspace_edit.document_changes = False
    return capabilities


async def racing(editor: Editor, path: Path, line: str) -> str:
    uri = editor.open(path, KERNEL.format(line))
    await editor.until(lambda: "data-race" in editor.codes(uri))
    return uri


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (PLAIN, f"{PLAIN}  {COMMENT}"),
        (f"{PLAIN}   ", f"{PLAIN}  {COMMENT}"),
        (f"{PLAIN}  // moves all by one", f"  {COMMENT}\n{PLAIN}  // moves all by one"),
        (f"{PLAIN}  /* moves\n all */", f"  {COMMENT}\n{PLAIN}  /* moves\n all */"),
        (f"\t{'g(); ' * 18}{PLAIN}", f"\t{COMMENT}\n\t{'g(); ' * 18}{PLAIN}"),
    ],
    ids=["behind", "blanks", "beside a comment", "before an open comment", "no room"],
)
async def test_the_comment_hides_the_finding_and_asks_for_its_reason(
    editor: Editor, tmp_path: Path, line: str, expected: str
) -> None:
    uri = await racing(editor, tmp_path / "a.cu", line)
    (action,) = await editor.ignoring(uri, "a[i] =")
    assert action.title == "Ignore this data-race with a comment"
    assert not action.is_preferred
    assert [diagnostic.code for diagnostic in action.diagnostics or ()] == ["data-race"]
    assert action.edit is not None
    editor.apply(action.edit)
    assert editor.texts[uri] == KERNEL.format(expected)
    await editor.until(editor.has(uri, "unexplained-suppression"))
    editor.replace(uri, COMMENT, f"{COMMENT} meant to")
    await editor.until(editor.has(uri))
    assert await editor.ignoring(uri, "a[i] =") == []


async def test_with_snippets_the_cursor_waits_at_the_reason(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(taking_snippets())
    uri = await racing(editor, tmp_path / "a.cu", PLAIN)
    (action,) = await editor.ignoring(uri, "a[i] =")
    assert action.edit is not None
    (change,) = list(action.edit.document_changes or ())
    assert isinstance(change, types.TextDocumentEdit)
    (edit,) = change.edits
    assert isinstance(edit, types.SnippetTextEdit)
    assert edit.snippet == types.StringValue(f"  {COMMENT} $0")
    editor.apply(action.edit)
    await editor.until(editor.has(uri, "unexplained-suppression"))


async def test_a_client_without_versions_gets_plain_changes(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(without_versions())
    uri = await racing(editor, tmp_path / "a.cu", PLAIN)
    (action,) = await editor.ignoring(uri, "a[i] =")
    assert action.edit is not None
    assert action.edit.changes is not None
    editor.apply(action.edit)
    await editor.until(editor.has(uri, "unexplained-suppression"))


async def test_lines_end_like_those_of_the_document(editor: Editor, tmp_path: Path) -> None:
    text = "// ä𝄞\n" + KERNEL.format("  /* ä𝄞 */ a[i] = a[i + 1];  // moves")
    uri = editor.open(tmp_path / "a.cu", text.replace("\n", "\r\n"))
    await editor.until(lambda: "data-race" in editor.codes(uri))
    (action,) = await editor.ignoring(uri, "a[i] =")
    assert action.edit is not None
    editor.apply(action.edit)
    assert f"\r\n  {COMMENT}\r\n  /* ä𝄞 */ a[i]" in editor.texts[uri]


async def test_it_is_offered_at_both_accesses_and_nowhere_else(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", PLAIN)
    assert len(await editor.ignoring(uri, "a[i + 1]")) == 1
    assert await editor.ignoring(uri, "int i") == []


async def test_no_comment_is_written_into_a_macro(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", "  f(); \\\n  a[i] = a[i + 1];")
    assert await editor.ignoring(uri, "a[i] =") == []


async def test_only_when_quick_fixes_are_asked_for(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", PLAIN)
    assert len(await editor.ignoring(uri, "a[i] =", only=["quickfix"])) == 1
    assert await editor.ignoring(uri, "a[i] =", only=["source.fixAll"]) == []


@pytest.mark.parametrize(
    ("line", "expected", "title"),
    [
        (
            "  a[i] = i;  // cuda-lsp: ignore[data-race] once",
            "  a[i] = i;",
            "Remove this comment, which ignores nothing",
        ),
        (
            "  a[i] = i;\t/* cuda-lsp: ignore[data-race] é */",
            "  a[i] = i;",
            "Remove this comment, which ignores nothing",
        ),
        (
            "  /* cuda-lsp: ignore[data-race] x */ a[i] = i;",
            "  a[i] = i;",
            "Remove this comment, which ignores nothing",
        ),
        (
            "  // cuda-lsp: ignore[data-race] once\n  a[i] = i;",
            "  a[i] = i;",
            "Remove this comment, which ignores nothing",
        ),
        (
            "  a[i] = a[i + 1];  // cuda-lsp: ignore[data-race, benign-race] meant to",
            "  a[i] = a[i + 1];  // cuda-lsp: ignore[data-race] meant to",
            "Remove benign-race from this comment",
        ),
    ],
    ids=["behind", "block, behind", "block, in front", "line of its own", "one of two"],
)
async def test_a_comment_that_ignores_nothing_is_taken_away(
    editor: Editor, tmp_path: Path, line: str, expected: str, title: str
) -> None:
    uri = editor.open(tmp_path / "a.cu", KERNEL.format(line))
    await editor.until(editor.has(uri, "unused-suppression"))
    (action,) = await editor.actions(uri, "cuda-lsp:")
    assert (action.title, action.is_preferred) == (title, True)
    assert action.edit is not None
    editor.apply(action.edit)
    assert editor.texts[uri] == KERNEL.format(expected)
    await editor.until(editor.has(uri))
