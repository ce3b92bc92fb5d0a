"""Code lenses over a real server: what they say, which commands they name, when the client is asked to come again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsp.client import Connect, Editor, pushing
from lsprotocol import types

from cuda_lsp import backend

TEXT = """__global__ void shift(int *a, int i) {
  a[i] = a[i + 1];
}
__global__ void fine(int *b, int i) {
  b[i] = 1;
}
__global__ void hard(int *b, int i) {
  // unknown
}
__global__ void slow(int *b, int i) {
  __syncthreads(); // useless
}
__global__ void unused(int *b, int i) {
}
void host(int *a) {
  shift<<<4, 64>>>(a, 1);
  fine<<<4, 64>>>(a, 1);
  fine<<<8, 64>>>(a, 1);
}
"""
OWN = {"clientCommands": ["cuda-lsp.showRaces", "cuda-lsp.run"]}
Lens = tuple[int, str, str]


async def lenses(editor: Editor, uri: str) -> list[Lens]:
    """Line, title and command of each lens."""
    found = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    assert found is not None
    return [(lens.range.start.line, lens.command.title, lens.command.command) for lens in found if lens.command]


async def checked(editor: Editor, path: Path, text: str = TEXT) -> str:
    path.write_text(text)
    uri = editor.open(path, text)
    await editor.until(lambda: uri in editor.diagnostics)
    await editor.until_idle()
    return uri


async def test_verdicts_stand_over_kernels_and_launches(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(initialization_options=OWN)
    uri = await checked(editor, tmp_path / "a.cu")
    found = await lenses(editor, uri)
    shown = [(line, title) for line, title, command in found if command == "cuda-lsp.showRaces"]
    assert shown == [
        (0, "1 race"),
        (3, "race-free for 2 launches"),
        (6, "unknown: something unknown is used here"),
        (9, "race-free, 1 redundant barrier"),
        (12, "race-free"),
        (15, "shift: 1 race"),
        (16, "fine: race-free for 1 launch"),
        (17, "fine: race-free for 1 launch"),
    ]
    assert [(line, title) for line, title, command in found if command == "cuda-lsp.run"] == [
        (line, "run") for line, _ in shown
    ]


async def test_a_lens_names_the_document_and_the_kernel(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(initialization_options=OWN)
    uri = await checked(editor, tmp_path / "a.cu")
    found = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    assert found is not None
    assert found[0].command is not None
    assert list(found[0].command.arguments or ()) == [uri, "shift"]


async def test_a_name_that_several_kernels_have_is_the_linkers_and_shown_as_it_is_written(
    connect: Connect, tmp_path: Path
) -> None:
    """Of the instances of a template the one with the worst verdict is run."""
    text = """namespace a { __global__ void shift(int *a, int i) { a[i] = a[i + 1]; } }
namespace b { __global__ void shift(int *a, int i) { a[i] = 1; } }
__global__ void over(int *a) { a[threadIdx.x] = 1; }
__global__ void over(float *a) { a[threadIdx.x] = 1; }
template <int N> __global__ void turn(int *a) { __shared__ int s[64]; s[threadIdx.x] = 1; a[threadIdx.x] = s[N]; }
template __global__ void turn<7>(int *);
template __global__ void turn<-1>(int *);
"""
    editor = await connect(engine=backend.DEFAULT, initialization_options=OWN)
    uri = await checked(editor, tmp_path / "a.cu", text)
    found = await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    named = [(lens.range.start.line, *(lens.command.arguments or ())[1:]) for lens in found or () if lens.command]
    assert named[:8] == [
        (line, *names)
        for line, names in enumerate(
            [
                ("_ZN1a5shiftEPii", "shift"),
                ("_ZN1b5shiftEPii", "shift"),
                ("_Z4overPi", "over"),
                ("_Z4overPf", "over"),
            ]
        )
        for _ in range(2)
    ]
    assert named[8:] == [(4, "turn"), (4, "turn<7>")]


async def test_commands_may_be_declared_as_experimental_capabilities(connect: Connect, tmp_path: Path) -> None:
    capabilities = pushing()
    capabilities.experimental = {"clientCommands": ["cuda-lsp.showRaces"]}
    editor = await connect(capabilities)
    uri = await checked(editor, tmp_path / "a.cu")
    assert {command for _, _, command in await lenses(editor, uri)} == {"cuda-lsp.showRaces"}


@pytest.mark.parametrize("declared", [None, {"clientCommands": 7}, {"clientCommands": ["other"]}])
async def test_a_client_without_commands_gets_those_of_the_server(
    connect: Connect, tmp_path: Path, declared: dict[str, Any] | None
) -> None:
    editor = await connect(initialization_options=declared)
    uri = await checked(editor, tmp_path / "a.cu")
    assert {command for _, _, command in await lenses(editor, uri)} == {"cuda-lsp.tellKernel"}
    assert not editor.shown("no setting")()
    told = await editor.workspace_execute_command_async(
        types.ExecuteCommandParams("cuda-lsp.tellKernel", [uri, "shift"])
    )
    assert "data-race: shift" in str(told)
    await editor.until(editor.shown("a[i] is written while another thread reads"))


async def test_kernels_are_run_by_the_server_only_where_that_is_allowed(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"trusted": True})
    uri = await checked(editor, tmp_path / "a.cu")
    found = await lenses(editor, uri)
    assert {command for _, _, command in found} == {"cuda-lsp.tellKernel", "cuda-lsp.runKernel"}
    # Over each kernel and launch.
    assert [line for line, title, _ in found if title == "run"] == [line for line, title, _ in found if title != "run"]
    assert [title for line, title, _ in found if line > 12][:2] == ["shift: 1 race", "run"]


async def test_an_edit_is_told_until_the_next_check(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(initialization_options=OWN)
    path = tmp_path / "a.cu"
    uri = await checked(editor, path)
    editor.replace(uri, "__global__ void shift", "// a comment\n__global__ void shift")
    first = (await lenses(editor, uri))[0]
    assert first[:2] == (1, "1 race")
    editor.replace(uri, "a[i + 1];", "a[i + 1]; // more")
    found = await lenses(editor, uri)
    assert found[0][:2] == (1, "1 race (before your edits)")
    assert found[2][:2] == (4, "race-free for 2 launches")
    editor.replace(uri, "  a[i] = a", "  __syncthreads();\n  a[i] = a")
    editor.save(uri, path)
    await editor.until(editor.has(uri, "redundant-barrier"))
    assert (await lenses(editor, uri))[0][:2] == (1, "race-free for 1 launch")


async def test_results_of_an_earlier_text_say_so(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(initialization_options=OWN)
    path = tmp_path / "a.cu"
    uri = await checked(editor, path)
    heard = editor.arrivals
    editor.replace(uri, "  b[i] = 1;", "  b[i] = $;")
    editor.save(uri, path)
    await editor.until(lambda: editor.arrivals > heard)
    await editor.until_idle()
    assert (3, "race-free for 2 launches (of an earlier text)") in [each[:2] for each in await lenses(editor, uri)]


async def test_the_client_is_asked_to_come_again(connect: Connect, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    capabilities = pushing()
    assert capabilities.workspace is not None
    capabilities.workspace.code_lens = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
    editor = await connect(capabilities, initialization_options=OWN)
    text = TEXT.replace("  b[i] = 1;", f"  // wait {gate}\n  b[i] = 1;")
    path = tmp_path / "a.cu"
    path.write_text(text)
    uri = editor.open(path, text)
    await editor.until(editor.has(uri, "data-race"))
    assert (3, "race-free for 2 launches", "cuda-lsp.showRaces") not in await lenses(editor, uri)
    before = editor.lens_refreshes
    gate.touch()
    await editor.until(lambda: editor.lens_refreshes > before)
    await editor.until_idle()
    assert (3, "race-free for 2 launches", "cuda-lsp.showRaces") in await lenses(editor, uri)


async def test_they_can_be_turned_off(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"code-lens": False}, initialization_options=OWN)
    uri = await checked(editor, tmp_path / "a.cu")
    assert await lenses(editor, uri) == []


async def test_a_verdict_that_is_off_is_not_counted(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(settings={"severity": {"redundant-barrier": "off"}}, initialization_options=OWN)
    uri = await checked(editor, tmp_path / "a.cu")
    assert (9, "race-free") in [each[:2] for each in await lenses(editor, uri)]


async def test_many_kernels_do_not_keep_the_loop_waiting(connect: Connect, tmp_path: Path) -> None:
    editor = await connect(initialization_options=OWN)
    text = "".join(f"__global__ void k{n}(int *a, int i) {{\n  a[i] = a[i + 1];\n}}\n" for n in range(200))
    uri = await checked(editor, tmp_path / "many.cu", text)
    asked = [
        editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri))) for _ in range(4)
    ]
    answers = await asyncio.gather(*asked)
    assert [len(answer or ()) for answer in answers] == [400] * 4
