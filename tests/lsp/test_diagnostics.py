"""Diagnostics over the wire: what they say, pushed or pulled, and that they come as kernels finish."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsp.client import DEADLINE_S, Connect, Editor, pulling, pushing, taking_both
from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException


def kernel(name: str, *lines: str) -> str:
    return f"__global__ void {name}(float *a) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


RACE = "a[i] = a[i + 1];"
SYNC = "__syncthreads();"
USELESS = "__syncthreads(); // useless"


async def test_an_opened_file_gets_its_diagnostics(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("shift", "int i = threadIdx.x;", RACE))
    await editor.until(editor.has(uri, "data-race"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.range == types.Range(types.Position(2, 2), types.Position(2, 6))
    assert diagnostic.severity is types.DiagnosticSeverity.Error
    assert diagnostic.source == "cuda-lsp"
    assert "a[i] is written while another thread reads a[i + 1]" in diagnostic.message
    assert diagnostic.code_description is not None
    page = uris.to_fs_path(diagnostic.code_description.href)
    assert page is not None
    assert Path(page).read_text(encoding="utf-8").startswith("# data-race")
    (other,) = list(diagnostic.related_information or ())
    assert other.location == types.Location(uri, types.Range(types.Position(2, 9), types.Position(2, 17)))
    assert "read of `a[i + 1]` by thread (0, 0, 0) of block (0, 0, 0)" in other.message
    data: Any = diagnostic.data
    assert dict(data) == {"group": "race shift", "version": 1}
    assert editor.published[-1].version == 1


async def test_the_pages_that_diagnostics_link_to_can_be_elsewhere(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"documentation-url": "https://docs.example.org/cuda/"})
    uri = editor.open(tmp_path / "a.cu", kernel("shift", RACE))
    await editor.until(editor.has(uri, "data-race"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.code_description == types.CodeDescription(
        "https://docs.example.org/cuda/diagnostics/data-race.md"
    )


async def test_a_client_without_the_extras_gets_the_other_access_in_the_message(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(types.ClientCapabilities())
    uri = editor.open(tmp_path / "a.cu", kernel("shift", RACE, USELESS))
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    race, useless = editor.diagnostics[uri]
    assert "line 2: read of `a[i + 1]`" in race.message
    assert race.related_information is race.data is race.code_description is useless.tags is None


async def test_a_useless_barrier_is_faded(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("k", USELESS))
    await editor.until(editor.has(uri, "redundant-barrier"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.severity is types.DiagnosticSeverity.Hint
    assert diagnostic.tags == (types.DiagnosticTag.Unnecessary,)


async def test_one_mistake_in_many_launches_is_one_diagnostic(editor: Editor, tmp_path: Path) -> None:
    text = kernel("k", RACE) + "void go(float *p) {\n  k<<<1, 32>>>(p);\n  k<<<n / 3, 64>>>(p);\n}\n"
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race"))
    (diagnostic,) = editor.diagnostics[uri]
    assert diagnostic.message.endswith("(in 2 of 2 launches)")
    related = [each.message for each in diagnostic.related_information or ()]
    assert related[1:] == ["with this launch: grid 1, block 32", "with this launch: grid n / 3, block 64"]


async def test_unknown_is_silent_in_the_editor_and_told_by_hover(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("strange", "// unknown") + kernel("shift", RACE))
    await editor.until(editor.has(uri, "data-race"))
    told = await editor.hover(uri, "strange")
    assert told is not None
    assert "unknown" in told
    assert "something unknown is used here (line 2)" in told


async def test_saving_checks_and_repairing_clears(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    uri = editor.open(path, kernel("shift", RACE))
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "  a[i] =", f"  {SYNC}\n  a[i] =")
    editor.save(uri, path)
    await editor.until(editor.has(uri))


async def test_diagnostics_come_kernel_by_kernel(editor: Editor, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    text = kernel("first", RACE) + kernel("second", f"// wait {gate}", RACE)
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race"))
    gate.touch()
    await editor.until(editor.has(uri, "data-race", "data-race"))


async def test_closing_a_document_takes_its_diagnostics_away(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("shift", RACE))
    await editor.until(editor.has(uri, "data-race"))
    editor.close(uri)
    await editor.until(editor.has(uri))


async def test_the_user_can_silence_a_verdict_and_change_its_severity(connect: Connect, tmp_path: Path) -> None:
    settings = {"severity": {"redundant-barrier": "off", "data-race": "warning"}}
    editor = await connect(settings=settings)
    uri = editor.open(tmp_path / "a.cu", kernel("k", RACE, USELESS))
    await editor.until(editor.has(uri, "data-race"))
    assert editor.diagnostics[uri][0].severity is types.DiagnosticSeverity.Warning


# Last good results


async def test_diagnostics_move_with_the_edits(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("shift", RACE))
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "__global__", "// ä €\n\n__global__")
    await editor.until(lambda: editor.diagnostics[uri][0].range.start == types.Position(3, 2))
    assert editor.published[-1].version == 2


@pytest.mark.parametrize("breakage", ["#error not yet\n", "__global__ void unfinished(float *a) {\n", ""])
async def test_broken_code_keeps_the_last_good_result_and_the_next_save_recovers(
    editor: Editor, tmp_path: Path, breakage: str
) -> None:
    path = tmp_path / "a.cu"
    uri = editor.open(path, "// head\n" + kernel("shift", RACE) + kernel("other", USELESS))
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    if breakage:
        editor.replace(uri, "// head\n", breakage)
    else:
        editor.replace(uri, "a[i + 1];", "a[i + 1]; if ($) {")
    editor.save(uri, path)
    await editor.until_hover(uri, "a[i] = ", "From an earlier text")
    assert editor.codes(uri) == ["data-race", "redundant-barrier"]
    if breakage:
        editor.replace(uri, breakage, "// good\n")
    else:
        editor.replace(uri, "; if ($) {", ";")
    editor.replace(uri, RACE, f"{SYNC}\n  {RACE}")
    editor.save(uri, path)
    await editor.until(editor.has(uri, "redundant-barrier"))


async def test_a_kernel_that_was_deleted_in_a_broken_file_is_gone(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", kernel("shift", RACE) + kernel("other", USELESS))
    await editor.until(editor.has(uri, "data-race", "redundant-barrier"))
    editor.replace(uri, kernel("shift", RACE), "")
    editor.replace(uri, "__global__ void other", '#include "nowhere.cuh"\n__global__ void other')
    editor.save(uri)
    await editor.until(editor.has(uri, "redundant-barrier"))


# Pulling


async def test_a_client_that_pulls_is_told_when_there_is_more_and_never_pushed_to(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(pulling())
    gate = tmp_path / "gate"
    uri = editor.open(tmp_path / "a.cu", kernel("first", RACE) + kernel("second", f"// wait {gate}", RACE))
    known = await editor.pull(uri)
    assert known.kind == "full"
    while not known.items:
        before = editor.refreshes
        await editor.until(lambda before=before: editor.refreshes > before or editor.refreshes > 0)
        known = await editor.pull(uri)
    assert len(known.items) == 1
    before = editor.refreshes
    gate.touch()
    await editor.until(lambda: editor.refreshes > before)
    known = await editor.pull(uri, known.result_id)
    assert [item.code for item in known.items] == ["data-race", "data-race"]
    again = await editor.pull(uri, known.result_id)
    assert again.kind == "unchanged"
    assert again.result_id == known.result_id
    assert editor.published == []


async def test_a_client_that_pulls_but_cannot_be_told_gets_the_finished_result(
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(pulling(refresh=False))
    uri = editor.open(tmp_path / "a.cu", kernel("shift", RACE))
    report = await editor.pull(uri)
    assert [item.code for item in report.items] == ["data-race"]
    assert editor.published == []
    assert editor.refreshes == 0


async def test_a_pull_that_waits_can_be_cancelled(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(pulling(refresh=False))
    uri = editor.open(tmp_path / "a.cu", kernel("slow", f"// wait {tmp_path / 'never'}"))
    waiting = editor.start_request(
        "textDocument/diagnostic", types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri)), "pull-1"
    )
    editor.cancel_request(types.CancelParams(id="pull-1"))
    with pytest.raises(JsonRpcException, match="cancel") as raised:
        await asyncio.wait_for(waiting, DEADLINE_S)
    assert raised.value.code == types.LSPErrorCodes.RequestCancelled


async def test_a_client_that_does_not_come_is_not_asked_again_for_the_same(connect: Connect, tmp_path: Path) -> None:
    """Neovim 0.12 answers a refresh with a pull of the files that are not open, if the server has one."""
    editor = await connect(pulling())
    gate = tmp_path / "gate"
    uri = editor.open(tmp_path / "a.cu", kernel("shift", f"// wait {gate}", RACE))
    assert (await editor.pull(uri)).items == ()
    gate.touch()
    await editor.until(lambda: editor.refreshes > 0)
    once = editor.refreshes
    await asyncio.sleep(0.5)
    assert editor.refreshes == once
    known = await editor.pull(uri)
    assert [item.code for item in known.items] == ["data-race"]


async def test_clients_that_take_both_are_pushed_to(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(taking_both())
    uri = editor.open(tmp_path / "a.cu", kernel("shift", RACE))
    await editor.until(editor.has(uri, "data-race"))
    assert editor.refreshes == 0


async def test_only_clients_that_can_only_pull_are_offered_it(connect: Connect) -> None:
    for capabilities, offered in (
        (pushing(), False),
        (taking_both(), False),
        (pulling(), True),
    ):
        editor = await connect(initialize=False)
        result = await editor.initialize_session(types.InitializeParams(capabilities=capabilities))
        assert (result.capabilities.diagnostic_provider is not None) is offered
