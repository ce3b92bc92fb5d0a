"""Quick fixes: offered when they were verified, applied to the text that they were verified on, and to no other."""

import os
import time
from pathlib import Path

import pytest
from lsp.client import Connect, Editor, labels, pushing
from lsprotocol import types
from pygls.exceptions import JsonRpcException

RACE = "__global__ void {0}(float *a) {{\n  int i = threadIdx.x;\n  a[i] = a[i + 1];\n}}\n"
INSERT = "Insert __syncthreads()"
LOOKED_FOR = "Find the proved repair for `a[i]` and `a[i + 1]` and apply it"


def without_resolve() -> types.ClientCapabilities:
    capabilities = pushing()
    assert capabilities.text_document is not None
    assert capabilities.text_document.code_action is not None
    assert capabilities.workspace is not None
    assert capabilities.workspace.workspace_edit is not None
    capabilities.text_document.code_action.resolve_support = None
    capabilities.text_document.code_action.data_support = False
    capabilities.workspace.workspace_edit.document_changes = False
    return capabilities


async def racing(editor: Editor, path: Path, text: str) -> str:
    uri = editor.open(path, text)
    await editor.until(lambda: "data-race" in editor.codes(uri))
    return uri


async def test_a_fix_is_offered_resolved_applied_and_the_race_is_gone(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = await racing(editor, path, RACE.format("shift"))
    (action,) = await editor.actions(uri, "a[i] =")
    assert action.title == INSERT
    assert action.kind == "quickfix"
    assert action.is_preferred is True
    assert action.edit is None
    assert [diagnostic.code for diagnostic in action.diagnostics or ()] == ["data-race"]
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    (change,) = list(resolved.edit.document_changes or ())
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document == types.OptionalVersionedTextDocumentIdentifier(uri, 1)
    editor.apply(resolved.edit)
    assert editor.texts[uri] == RACE.format("shift").replace("  a[i] =", "  __syncthreads();\n  a[i] =")
    editor.save(uri, path)
    await editor.until(editor.has(uri))
    assert await editor.actions(uri, "a[i] =") == []


async def test_a_kernel_of_the_same_name_in_another_file_is_left_alone(editor: Editor, tmp_path: Path) -> None:
    uris = [await racing(editor, tmp_path / name, RACE.format("shift")) for name in ("a.cu", "b.cu")]
    for uri in (*uris, uris[0]):
        (action,) = await editor.actions(uri, "a[i] =")
        resolved = await editor.code_action_resolve_async(action)
        assert resolved.edit is not None
        (change,) = list(resolved.edit.document_changes or ())
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.uri == uri


async def test_what_takes_something_for_granted_is_offered_by_itself_only(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = await racing(editor, path, f"// assuming\n{RACE.format('shift')}")
    (action,) = await editor.actions(uri, "a[i] =")
    assert (action.title, action.is_preferred) == (INSERT, False)
    assert await editor.actions(uri, "a[i] =", only=["source.fixAll"]) == []
    editor.replace(uri, "// assuming", "// nothing")
    editor.save(uri, path)
    assert [a.kind for a in await editor.actions(uri, "a[i] =", only=["source.fixAll"])] == ["source.fixAll.cuda-lsp"]


async def test_it_is_offered_at_the_other_access_too_and_nowhere_else(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift"))
    assert labels(await editor.actions(uri, "a[i + 1]")) == [INSERT]
    assert await editor.actions(uri, "int i") == []


async def test_only_the_kinds_that_are_asked_for(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift"))

    async def kinds(*only: str) -> list[object]:
        return [action.kind for action in await editor.actions(uri, "a[i] =", only=list(only))]

    assert await kinds("quickfix") == ["quickfix"]
    assert await kinds("source.fixAll") == ["source.fixAll.cuda-lsp"]
    assert await kinds("source") == ["source.fixAll.cuda-lsp"]
    assert await kinds("refactor") == []


async def test_the_recheck_command_is_a_source_action(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift"))
    for only in (["source.recheck"], ["source"]):
        (command,) = await editor.commands(uri, "a[i] =", only=only)
        assert command == str({"title": "Re-check", "command": "cuda-lsp.recheck", "arguments": [uri]})
    await editor.workspace_execute_command_async(types.ExecuteCommandParams("cuda-lsp.recheck", [uri]))
    assert await editor.commands(uri, "a[i] =") == []


async def test_fix_all_is_about_the_text_as_it_is_saved_or_not(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", RACE.format("shift").replace("i + 1", "i"))
    await editor.until(editor.has(uri))
    editor.replace(uri, "a[i];", "a[i + 1];")
    (action,) = await editor.actions(uri, "a[i] =", only=["source.fixAll"])
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert "__syncthreads();\n  a[i] = a[i + 1];" in editor.texts[uri]


async def test_fix_all_leaves_alone_what_is_suppressed(editor: Editor, tmp_path: Path) -> None:
    kept = RACE.format("kept").replace("1];", "1];  // cuda-lsp: ignore[data-race] meant to")
    uri = await racing(editor, tmp_path / "a.cu", kept + "// between\n" + RACE.format("other"))
    await editor.until(editor.has(uri, "data-race"))
    (action,) = await editor.actions(uri, "a[i] =", only=["source.fixAll"])
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert editor.texts[uri].startswith(kept), "the suppressed one is as it was"
    assert editor.texts[uri].count("__syncthreads();") == 1


async def test_nothing_is_fixed_where_all_is_suppressed(editor: Editor, tmp_path: Path) -> None:
    kept = RACE.format("kept").replace("1];", "1];  // cuda-lsp: ignore[data-race] meant to")
    uri = editor.open(tmp_path / "a.cu", kept)
    await editor.until(editor.has(uri))
    await editor.until_idle()
    assert await editor.actions(uri, "a[i] =", only=["source.fixAll"]) == []


async def test_fix_all_repairs_every_kernel(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = await racing(editor, path, RACE.format("first") + "// between\n" + RACE.format("second"))
    await editor.until(editor.has(uri, "data-race", "data-race"))
    (action,) = await editor.actions(uri, "a[i] =", only=["source.fixAll"])
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert editor.texts[uri].count("__syncthreads();") == 2
    editor.save(uri, path)
    await editor.until(editor.has(uri))


async def test_a_changed_document_gets_no_edit_but_an_error(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift"))
    (action,) = await editor.actions(uri, "a[i] =")
    editor.replace(uri, "int i = threadIdx.x;", "int i = threadIdx.y;")
    with pytest.raises(JsonRpcException, match="has changed since this fix was proved") as refused:
        await editor.code_action_resolve_async(action)
    assert refused.value.code == types.LSPErrorCodes.RequestFailed
    await editor.until(editor.shown("has changed since this fix was proved"))
    assert await editor.actions(uri, "a[i] =") == []
    editor.replace(uri, "threadIdx.y", "threadIdx.x")
    assert labels(await editor.actions(uri, "a[i] =")) == [INSERT], "the text is the proved one again"


async def test_a_header_that_changed_unseen_since_the_check_is_named(editor: Editor, tmp_path: Path) -> None:
    header, unit = tmp_path / "size.cuh", tmp_path / "a.cu"
    header.write_text("// one\n")
    os.utime(header, (1, 1))
    uri = await racing(editor, unit, '#include "size.cuh"\n' + RACE.format("shift"))
    (action,) = await editor.actions(uri, "a[i] =")
    header.write_text("// another\n")
    with pytest.raises(JsonRpcException, match=r"size\.cuh has changed since this fix was proved"):
        await editor.code_action_resolve_async(action)


async def test_a_client_that_cannot_resolve_gets_the_edit_at_once(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(without_resolve())
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift"))
    (action,) = await editor.actions(uri, "a[i] =")
    assert action.edit is not None
    assert action.edit.document_changes is None
    editor.apply(action.edit)
    assert "__syncthreads();\n  a[i]" in editor.texts[uri]


async def test_a_client_that_cannot_resolve_gets_no_edit_after_a_header_changed_unseen(
    connect: Connect, tmp_path: Path
) -> None:
    header, unit = tmp_path / "size.cuh", tmp_path / "a.cu"
    header.write_text("// one\n")
    editor = await connect(without_resolve())
    uri = await racing(editor, unit, '#include "size.cuh"\n' + RACE.format("shift"))
    assert [a.edit is not None for a in await editor.actions(uri, "a[i] =")] == [True]
    header.write_text("// another\n")
    assert await editor.actions(uri, "a[i] =") == []


async def test_new_lines_end_like_those_of_the_document(editor: Editor, tmp_path: Path) -> None:
    text = ("// ä𝄞\n" + RACE.format("shift")).replace("\n", "\r\n")
    uri = await racing(editor, tmp_path / "a.cu", text)
    (action,) = await editor.actions(uri, "a[i] =")
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert editor.texts[uri] == text.replace("  a[i] =", "  __syncthreads();\r\n  a[i] =")


async def test_a_fix_that_is_not_known_any_more_is_proved_again(editor: Editor, tmp_path: Path) -> None:
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift"))
    (action,) = await editor.actions(uri, "a[i] =")
    assert isinstance(action.data, object)
    data = dict(action.data)  # pyright: ignore[reportCallIssue, reportArgumentType]
    action.data = {**data, "fix": "forgotten"}  # pyright: ignore[reportAttributeAccessIssue]
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    action.data = {**data, "fix": "forgotten", "group": "no such group"}  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(JsonRpcException, match="nothing to repair"):
        await editor.code_action_resolve_async(action)


async def test_what_the_user_asks_for_is_verified_before_the_rest(editor: Editor, tmp_path: Path) -> None:
    text = (
        RACE.format("first") + f"// offers wait {tmp_path / 'never'}\n" + RACE.format("second").replace("int", "long")
    )
    uri = await racing(editor, tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race", "data-race"))
    (action,) = await editor.actions(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Invoked)
    assert action.title == INSERT
    assert (await editor.code_action_resolve_async(action)).edit is not None


async def test_what_is_still_looked_for_is_verified_when_it_is_chosen(editor: Editor, tmp_path: Path) -> None:
    go = tmp_path / "go"
    uri = await racing(editor, tmp_path / "a.cu", f"// offers wait {go}\n{RACE.format('shift')}")
    (action,) = await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Automatic)
    assert (action.title, action.is_preferred) == (LOOKED_FOR, True)
    assert [diagnostic.code for diagnostic in action.diagnostics or ()] == ["data-race"]
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert "__syncthreads();" in editor.texts[uri]


async def test_the_list_does_not_wait_for_repairs(editor: Editor, tmp_path: Path) -> None:
    text = f"// offers wait {tmp_path / 'never'}\n" + "".join(RACE.format(f"k{n}") for n in range(20))
    uri = await racing(editor, tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, *["data-race"] * 20))
    for _ in range(3):
        started = time.perf_counter()
        assert await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Invoked)
        assert time.perf_counter() - started < 0.5


async def test_it_is_listed_while_other_kernels_are_still_checked(editor: Editor, tmp_path: Path) -> None:
    go = tmp_path / "go"
    slow = f"__global__ void slow(float *b) {{\n  // wait {go}\n}}\n"
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift") + slow)
    (action,) = await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Invoked)
    assert action.title == LOOKED_FOR
    go.touch()
    assert (await editor.code_action_resolve_async(action)).edit is not None


async def test_what_was_looked_for_in_an_earlier_text_gets_an_error(editor: Editor, tmp_path: Path) -> None:
    text = f"// offers wait {tmp_path / 'never'}\n{RACE.format('shift')}"
    uri = await racing(editor, tmp_path / "a.cu", text)
    (action,) = await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Automatic)
    editor.replace(uri, "int i", "long i")
    with pytest.raises(JsonRpcException, match="has changed since the list was made"):
        await editor.code_action_resolve_async(action)


async def test_a_choice_is_not_made_unasked_when_what_is_looked_for_is_one(editor: Editor, tmp_path: Path) -> None:
    text = f"// assuming\n// offers wait {tmp_path / 'never'}\n{RACE.format('shift')}"
    uri = await racing(editor, tmp_path / "a.cu", text)
    (action,) = await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Automatic)
    assert action.title == LOOKED_FOR
    with pytest.raises(JsonRpcException, match=r"choice to make: Insert __syncthreads\(\)"):
        await editor.code_action_resolve_async(action)
    (action,) = await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Automatic)
    assert (action.title, action.is_preferred) == (INSERT, False)


async def test_what_has_no_repair_is_not_looked_for_again(editor: Editor, tmp_path: Path) -> None:
    text = f"// offers wait {tmp_path / 'never'}\n// hopeless\n{RACE.format('shift')}"
    uri = await racing(editor, tmp_path / "a.cu", text)
    (action,) = await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Automatic)
    assert action.title == LOOKED_FOR
    with pytest.raises(JsonRpcException, match="nothing to repair"):
        await editor.code_action_resolve_async(action)
    found = await editor.listed(uri, "a[i] =", trigger_kind=types.CodeActionTriggerKind.Automatic)
    assert LOOKED_FOR not in [action.title for action in found]


async def test_a_client_without_literals_gets_none(connect: Connect, tmp_path: Path) -> None:
    capabilities = pushing()
    assert capabilities.text_document is not None
    assert capabilities.text_document.code_action is not None
    capabilities.text_document.code_action.code_action_literal_support = None
    editor = await connect(capabilities)
    uri = await racing(editor, tmp_path / "a.cu", RACE.format("shift"))
    assert await editor.actions(uri, "a[i] =") == []
