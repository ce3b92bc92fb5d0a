"""Runs under the race detector in the editor: on request, in trusted workspaces, with progress and an end."""

from __future__ import annotations

import ast
import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from lsp.client import Connect, Editor, plain
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from cuda_lsp import backend
from cuda_lsp.runs import trouble
from gpu_runner.request import RunResult

KERNELS = """\
__global__ void shift(float *out) {
  __shared__ float s[257];
  int t = threadIdx.x;
  s[t] = out[t];
  out[t] = s[t + 1];
}
// cuda-lsp: run grid=(1) block=(32) where=32:iota
__global__ void scatter(int *a, const int *where) {
  a[where[threadIdx.x]] = threadIdx.x;
}
__global__ void waits(volatile int *flag) {
  while (*flag == 0) {
  }
}
__global__ void fine(int *a) {
  a[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
void go(float *p, int *a, int *w) {
  shift<<<1, 256>>>(p);
  scatter<<<1, 32>>>(a, w);
  waits<<<1, 32>>>(a);
  fine<<<2, 64>>>(a);
}
"""


@pytest.fixture
async def editor(connect: Connect) -> Editor:
    return await connect(engine=backend.DEFAULT, settings={"trusted": True})


async def opened(editor: Editor, folder: Path) -> str:
    uri = editor.open(folder / "a.cu", KERNELS)
    await editor.until(lambda: "data-race" in editor.codes(uri))
    await editor.until_idle()
    return uri


async def command(editor: Editor, name: str, *arguments: str, token: str | None = None) -> Any:
    params = types.ExecuteCommandParams(name, list(arguments), work_done_token=token)
    return plain(await editor.workspace_execute_command_async(params))


def of_run(editor: Editor, uri: str) -> list[types.Diagnostic]:
    return [each for each in editor.diagnostics.get(uri, ()) if each.source == "cuda-lsp (run)"]


async def test_a_finding_is_confirmed_by_its_code_action(editor: Editor, tmp_path: Path) -> None:
    uri = await opened(editor, tmp_path)
    (offered,) = await editor.commands(uri, "s[t + 1]")
    action = ast.literal_eval(offered)
    assert action["title"] == "Confirm by running (CPU)"
    assert (action["command"], action["arguments"][:2]) == ("cuda-lsp.confirm", [uri, "_Z5shiftPf"])
    answer = await command(editor, action["command"], *action["arguments"])
    assert (answer["kernel"], answer["findings"], answer["confirmed"], answer["troubles"]) == ("shift", 1, 1, [])
    await editor.until(editor.shown("shift: 1 of 1 findings confirmed"))
    await editor.until(lambda: of_run(editor, uri))
    (found,) = of_run(editor, uri)
    assert (found.code, found.severity) == ("data-race", types.DiagnosticSeverity.Error)
    # One mistake is one diagnostic: the finding's own, with its final word and the threads as executed.
    assert [each.range.start.line for each in editor.diagnostics[uri]].count(3) == 1
    said, _, confirmed = found.message.partition(
        "\nConfirmed by a run on the CPU (grid (1, 1, 1), block (256, 1, 1)): "
    )
    assert "race on shared `s`" in said
    assert re.fullmatch(r"(read|written) by thread .*, (read|written) by thread .*, on shared s\[\d+\]", confirmed)
    assert found.range.start.line == 3
    related = [(each.location.range.start.line, each.message) for each in found.related_information or ()]
    assert {(3, "written"), (4, "read")} <= {(line, message.split(" by ")[0]) for line, message in related}
    hover = str(await editor.hover(uri, "s[t + 1]"))
    assert "Confirmed by a run on the CPU" in hover
    assert "written by thread" in hover
    assert re.search(r"written by thread[^\n]*, line 4\b", hover)
    # Lines above move it, a change of the kernel ends it.
    editor.replace(uri, "__global__ void shift", "// a comment\n__global__ void shift")
    editor.save(uri)
    await editor.until(lambda: [each.range.start.line for each in of_run(editor, uri)] == [4])
    # So do the lines that its text names.
    assert re.search(r"written by thread[^\n]*, line 5\b", str(await editor.hover(uri, "s[t + 1]")))
    editor.replace(uri, "s[t + 1];", "s[t + 1] + 1;")
    editor.save(uri)
    await editor.until(lambda: not of_run(editor, uri))
    await editor.until_idle()
    (found,) = [each for each in editor.diagnostics[uri] if each.range.start.line == 4]
    assert "run" not in found.message
    assert "run" not in str(await editor.hover(uri, "s[t + 1] + 1"))
    assert (await editor.status())["worstOwnLoopLagMs"] < 250


async def test_a_run_says_nothing_of_another_file_with_the_same_kernel(editor: Editor, tmp_path: Path) -> None:
    uri = await opened(editor, tmp_path)
    other = editor.open(tmp_path / "b.cu", f"// elsewhere\n{KERNELS}")
    await editor.until(lambda: "data-race" in editor.codes(other))
    (offered,) = await editor.commands(uri, "s[t + 1]")
    action = ast.literal_eval(offered)
    await command(editor, action["command"], *action["arguments"])
    await editor.until(lambda: of_run(editor, uri))
    await editor.until_idle()
    assert of_run(editor, other) == []
    assert "confirmed" not in str(await editor.hover(other, "s[t + 1]")).lower()


async def test_a_finding_that_no_run_shows_says_so(editor: Editor, tmp_path: Path) -> None:
    text = """\
__global__ void seldom(int *a, const float *x) {
  if (sinf(x[0]) > 2.0f) a[0] = threadIdx.x;
}
void go(int *a, float *x) { seldom<<<1, 64>>>(a, x); }
"""
    uri = editor.open(tmp_path / "seldom.cu", text)
    await editor.until_idle()
    (offered,) = [each for each in await editor.commands(uri, "a[0]") if "Confirm by running" in each]
    action = ast.literal_eval(offered)
    answer = await command(editor, action["command"], *action["arguments"])
    assert (answer["findings"], answer["confirmed"], answer["troubles"]) == (1, 0, [])
    told = re.compile(r"Not confirmed in \d+ runs on the CPU .*, which does not mean that it is wrong\.")
    await editor.until(lambda: [d for d in editor.diagnostics[uri] if told.search(d.message)])
    (found,) = editor.diagnostics[uri]
    assert (found.code, found.source, found.range.start.line) == ("possible-data-race", "cuda-lsp", 1)
    assert told.search(str(await editor.hover(uri, "a[0]")))


async def test_the_setting_says_where_kernels_run(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A package of this name that is none hides the bindings, where they are installed.
    (tmp_path / "cuda.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    editor = await connect(engine=backend.DEFAULT, settings={"trusted": True, "runOn": "gpu"})
    uri = await opened(editor, tmp_path)
    (offered,) = await editor.commands(uri, "s[t + 1]")
    action = ast.literal_eval(offered)
    assert action["title"] == "Confirm by running (GPU)"
    answer = await command(editor, action["command"], *action["arguments"])
    assert (answer["findings"], answer["confirmed"]) == (1, 0)
    assert "pip install 'cuda-lsp[gpu]'" in " ".join(answer["troubles"])


async def test_a_kernel_is_run_with_the_inputs_that_its_source_names(editor: Editor, tmp_path: Path) -> None:
    uri = await opened(editor, tmp_path)
    # The inputs show nothing, the witness of the finding does.
    answer = await command(editor, "cuda-lsp.runKernel", uri, "scatter", token="t")
    assert (answer["findings"], answer["confirmed"], answer["runs"]) == (1, 1, 8)
    (found,) = await editor.until(lambda: of_run(editor, uri))
    assert (found.code, found.severity) == ("possible-data-race", types.DiagnosticSeverity.Error)  # it happened
    begin, *_, end = editor.reports["t"]
    assert (begin.kind, begin.title, begin.cancellable, end.kind) == ("begin", "Running scatter", True, "end")
    answer = await command(editor, "cuda-lsp.runKernel", uri, "fine")
    assert (answer["findings"], answer["races"], answer["troubles"]) == (0, 0, [])
    await editor.until(editor.shown("fine: no race seen in 4 runs"))


async def test_what_happens_in_the_headers_of_the_toolkit_is_told_where_it_was_called(
    editor: Editor, tmp_path: Path
) -> None:
    text = """\
// cuda-lsp: run grid=(1) block=(32) in=32:iota out=32
__global__ void halves(const int *in, int *out) {
  int v = in[threadIdx.x];
  out[threadIdx.x] = __shfl_xor_sync(0xffff, v, 1);
}
"""
    uri = editor.open(tmp_path / "halves.cu", text)
    await editor.until_idle()
    await command(editor, "cuda-lsp.runKernel", uri, "halves")
    (diagnostic,) = await editor.until(lambda: of_run(editor, uri))
    assert (diagnostic.code, diagnostic.range.start.line) == ("lane-not-in-mask", 3)
    assert diagnostic.code_description is not None
    assert diagnostic.code_description.href.endswith("/diagnostics/lane-not-in-mask.md")


async def test_cancelling_the_progress_ends_the_run(editor: Editor, tmp_path: Path) -> None:
    uri = await opened(editor, tmp_path)
    running = asyncio.ensure_future(command(editor, "cuda-lsp.runKernel", uri, "waits", token="t"))
    await editor.until(lambda: len(editor.reports.get("t", ())) > 1)
    editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("t"))
    with pytest.raises(JsonRpcException) as raised:
        await running
    assert raised.value.code == types.LSPErrorCodes.RequestCancelled
    await editor.until(lambda: editor.reports["t"][-1].kind == "end")
    # The next one does not wait for it.
    assert (await command(editor, "cuda-lsp.runKernel", uri, "fine"))["races"] == 0


NAMESAKES = """\
__global__ void shift(int *out) {
  out[threadIdx.x] = 1;
}
namespace other {
__global__ void shift(float *out) {
  __shared__ float s[65];
  s[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = s[threadIdx.x + 1];
}
}
template <typename T> __global__ void copy(T *out) {
  __shared__ T s[65];
  s[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = s[(threadIdx.x + sizeof(T) / 8) % 64];
}
void go(int *i, float *f, double *d) {
  shift<<<1, 64>>>(i);
  other::shift<<<1, 64>>>(f);
  copy<<<1, 64>>>(f);
  copy<<<1, 64>>>(d);
}
"""


@pytest.mark.parametrize(("access", "kernel"), [("s[threadIdx.x + 1]", "shift"), ("s[(thread", "copy<double>")])
async def test_a_finding_is_confirmed_in_the_kernel_that_it_is_of(
    editor: Editor, tmp_path: Path, access: str, kernel: str
) -> None:
    """Overloads, and instances of a template, have a name in common."""
    uri = editor.open(tmp_path / "a.cu", NAMESAKES)
    await editor.until(editor.has(uri, "data-race", "data-race"))
    await editor.until_idle()
    (offered,) = await editor.commands(uri, access)
    action = ast.literal_eval(offered)
    answer = await command(editor, action["command"], *action["arguments"])
    assert (answer["kernel"], answer["findings"], answer["confirmed"], answer["troubles"]) == (kernel, 1, 1, [])


async def test_nothing_is_run_where_nobody_trusts_the_workspace(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / ".cuda-lsp.toml").write_text("trusted = true\n")
    editor = await connect(engine=backend.DEFAULT)
    uri = await opened(editor, tmp_path)
    assert await editor.commands(uri, "s[t + 1]") == []
    refused = await command(editor, "cuda-lsp.runKernel", uri, "shift")
    assert "trusted workspaces only" in refused["refused"]
    await editor.until(editor.shown("trusted workspaces only"))
    assert editor.shown("is for the editor to say, not for a project")()


async def test_a_kernel_that_the_executor_cannot_run_was_not_run(editor: Editor, tmp_path: Path) -> None:
    """It is not said to be unconfirmed in no runs, nor told in the words of the runner's states."""
    path = tmp_path / "texture.cu"
    text = """__global__ void sample(cudaTextureObject_t t, float *out) {
  __shared__ float s[64];
  s[threadIdx.x] = tex2D<float>(t, threadIdx.x, 0);
  out[threadIdx.x] = s[63 - threadIdx.x];
}
void go(cudaTextureObject_t t, float *o) { sample<<<1, 64>>>(t, o); }
"""
    path.write_text(text)
    uri = editor.open(path, text)
    await editor.until_idle()
    answer = await command(editor, "cuda-lsp.runKernel", uri, "sample")
    assert (answer["runs"], answer["findings"]) == (0, 1)
    await editor.until(
        editor.shown("sample was not run: the kernel uses what the CPU executor cannot run: textures: a run has none")
    )
    hover = str(await editor.hover(uri, "s[threadIdx.x] ="))
    reason = "the kernel uses what the CPU executor cannot run: textures: a run has none"
    assert f"Not run (grid (1, 1, 1), block (64, 1, 1)): {reason}" in hover
    assert "confirmed" not in hover.lower()


def test_of_a_compilers_words_the_first_error_is_told() -> None:
    said = '/tmp/x/unit.cu(3): warning: odd\n/p/a.cu(4): error: identifier "q" is undefined\n    q;\n    ^\n'
    assert trouble(RunResult("compile", said)) == (
        'the compiler does not take it: /p/a.cu(4): error: identifier "q" is undefined'
    )
    assert trouble(RunResult("unsupported", "it cannot", ("a: b", "c"))) == "it cannot: a: b; c"


async def test_what_cannot_be_run_is_refused(editor: Editor, tmp_path: Path) -> None:
    uri = await opened(editor, tmp_path)
    """In a sentence that is shown once: an error of the protocol would be shown by the client besides, in its words."""
    for name, uri_, *more, sentence in (
        ("cuda-lsp.runKernel", uri, "absent", "there is no kernel absent in the document"),
        ("cuda-lsp.runKernel", "file:///absent.cu", "k", "the document is not open"),
        ("cuda-lsp.confirm", uri, "fine", "absent", "the finding has no witness that could be run"),
    ):
        assert await command(editor, name, uri_, *more) == {"kernel": more[0], "refused": sentence}
        await editor.until(editor.shown(f"cuda-lsp: {more[0]} is not run: {sentence}"))
    with pytest.raises(JsonRpcException, match="the name of a kernel"):
        await command(editor, "cuda-lsp.runKernel", uri)
