"""The server with the real analysis: what only it can show, from broken code to the disk cache."""

from pathlib import Path

import pytest
from lsp.client import Connect, Editor, labels, position
from lsp.test_configuration import changed
from lsprotocol import types

from cuda_lsp import backend

SHIFT = """\
__global__ void shift(float *out) {
  __shared__ float s[257];
  int t = threadIdx.x;
  s[t] = out[t];
  out[t] = s[t + 1];
}
"""
LAUNCH = "void go(float *p) { shift<<<1, 256>>>(p); }\n"


@pytest.fixture
async def editor(connect: Connect) -> Editor:
    return await connect(engine=backend.DEFAULT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s[t] = out[t];", "s[t] = out[t"),
        ("int t = threadIdx.x;", "int t = threadIdx.x; if (t) {"),
        ("__global__ void shift", "__global__ void other(float *\n__global__ void shift"),
        ("__global__ void shift", "#if 0\n__global__ void shift"),
        ("float *out)", "float *out, Later later)"),
    ],
)
async def test_code_that_does_not_parse_keeps_the_last_good_result(
    editor: Editor, tmp_path: Path, old: str, new: str
) -> None:
    path = tmp_path / "a.cu"
    uri = editor.open(path, SHIFT + LAUNCH)
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, old, new)
    editor.save(uri, path)
    await editor.until_hover(uri, "s[t + 1]", "From an earlier text")
    assert editor.codes(uri) == ["data-race"]
    editor.replace(uri, new, old)
    editor.replace(uri, "  out[t] = s", "  __syncthreads();\n  out[t] = s")
    editor.save(uri, path)
    await editor.until(editor.has(uri))


async def test_a_barrier_may_be_needed_in_one_of_two_files_that_are_alike(editor: Editor, tmp_path: Path) -> None:
    text = SHIFT.replace("  out[t] = s[t + 1]", "  __syncthreads();\n  out[t] = s[t]") + LAUNCH
    needless = editor.open(tmp_path / "a.cu", text)
    needed = editor.open(tmp_path / "b.cu", text.replace("= s[t];", "= s[255 - t];"))
    await editor.until_hover(needed, "shift", "race-free")
    await editor.until(editor.has(needless, "redundant-barrier"))
    assert editor.codes(needed) == []


async def test_the_hover_says_why_there_is_no_fix(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    shared = SHIFT.replace("__shared__ float", "__shared__ double")
    text = shared.replace("out[t] = s[t + 1]", "__syncthreads(); s[t & 5] = t") + LAUNCH
    uri = editor.open(path, text)
    await editor.until(editor.has(uri, "data-race"))
    # Nothing tells when the search for repairs has ended: ask until it has.
    while "No fix" not in (hover := str(await editor.hover(uri, "s[t & 5]"))):
        assert await editor.actions(uri, "s[t & 5]") == []
    assert "No fix: Threads collide in one execution of `s[t & 5]` (line 5)" in hover
    (why,) = await editor.commands(uri, "s[t & 5]")
    assert "Why is there no fix?" in why
    assert "in one execution of `s[t & 5]`" in why
    await editor.workspace_execute_command_async(types.ExecuteCommandParams("cuda-lsp.whyNoFix", ["Because of this."]))
    await editor.until(lambda: bool(editor.shown("Because of this.")()))
    editor.replace(uri, "int t", "// the line is another one now\n  int t")
    await editor.until_hover(uri, "s[t & 5]", "Data race")
    assert "No fix" not in str(await editor.hover(uri, "s[t & 5]"))


async def test_a_mask_that_does_not_name_a_lane_is_told_and_why_nothing_repairs_it(
    editor: Editor, tmp_path: Path
) -> None:
    text = """\
// cuda-lsp: launch grid=(1) block=(32)
__global__ void halves(const int *in, int *out) {
  int v = in[threadIdx.x];
  out[threadIdx.x] = __shfl_xor_sync(0xffff, v, 1);
}
"""
    path = tmp_path / "halves.cu"
    uri = editor.open(path, text)
    await editor.until(editor.has(uri, "lane-not-in-mask"))
    while "No fix" not in (hover := str(await editor.hover(uri, "__shfl_xor_sync"))):
        assert await editor.actions(uri, "__shfl_xor_sync") == []
    assert "is made by lanes that its mask does not name" in hover
    editor.replace(uri, "0xffff", "0xffffffff")
    editor.save(uri, path)
    await editor.until_hover(uri, "halves", "race-free")
    assert editor.codes(uri) == []


async def test_a_finding_without_a_fix_is_explained_beside_the_fix_of_another(editor: Editor, tmp_path: Path) -> None:
    line = "out[t] = s[t + 1]; p[t & 5] = t"
    text = SHIFT.replace("out[t] = s[t + 1]", line).replace(
        "__shared__ float", "__shared__ double p[128];\n  __shared__ float"
    )
    uri = editor.open(tmp_path / "a.cu", text + LAUNCH)
    await editor.until(lambda: len(editor.codes(uri)) == 2)
    await editor.until_idle()
    start = position(editor.texts[uri], editor.texts[uri].index(line))
    for end, reasons in ((len("out[t] = s[t + 1]"), 0), (len(line), 1)):
        wanted = types.Range(start, types.Position(start.line, start.character + end))
        context = types.CodeActionContext(diagnostics=editor.diagnostics[uri])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), wanted, context)
        answer = await editor.text_document_code_action_async(params) or ()
        assert any(isinstance(each, types.CodeAction) and "Insert __syncthreads()" in each.title for each in answer)
        said = [str(each) for each in answer if not isinstance(each, types.CodeAction)]
        assert len([each for each in said if "in one execution of `p[t & 5]`" in each]) == reasons, said


async def test_a_race_in_a_header_is_repaired_there(editor: Editor, tmp_path: Path) -> None:
    header, unit = tmp_path / "shift.cuh", tmp_path / "unit.cu"
    header.write_text(SHIFT)
    unit.write_text('#include "shift.cuh"\n' + LAUNCH)
    uri = editor.open(header, SHIFT)
    await editor.until(editor.has(uri, "data-race"))
    # The answer waits for repairs, but not for as long as a busy machine may take.
    await editor.until_idle()
    (action,) = await editor.actions(uri, "s[t] = ")
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert "  __syncthreads();\n  out[t] = s" in editor.texts[uri]
    editor.save(uri, header)
    await editor.until(editor.has(uri))


async def test_a_repair_of_a_header_is_offered_once_however_many_files_include_it(
    editor: Editor, tmp_path: Path
) -> None:
    header = tmp_path / "shift.cuh"
    header.write_text(SHIFT)
    for name in ("one", "two"):
        unit = tmp_path / f"{name}.cu"
        unit.write_text('#include "shift.cuh"\n' + LAUNCH.replace("go", name))
        editor.open(unit, unit.read_text())
    uri = editor.open(header, SHIFT)
    await editor.until(editor.has(uri, "data-race"))
    await editor.until_idle()
    assert len(await editor.actions(uri, "s[t] = ")) == 1


async def test_one_action_is_preferred_where_another_one_takes_the_finding_along(
    editor: Editor, tmp_path: Path
) -> None:
    text = SHIFT.replace("out[t] = s[t + 1];", "s[t] += s[t ^ 16];") + LAUNCH
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "data-race", "data-race"))
    await editor.until_idle()
    offered = await editor.actions(uri, "s[t] = out")
    assert [a.is_preferred for a in offered] == [True, False, False]
    assert "Split the statement in line 5" in offered[1].title
    both = await editor.actions(uri, "16];")
    assert [a.title for a in both if a.is_preferred] == [offered[1].title], "it takes the other finding along"


async def test_results_come_back_from_the_disk_and_are_analysed_when_typing_begins(
    connect: Connect, tmp_path: Path
) -> None:
    path, text = tmp_path / "a.cu", SHIFT + LAUNCH
    first = await connect(engine=backend.DEFAULT)
    uri = first.open(path, text)
    await first.until(first.has(uri, "data-race"))
    assert len(await first.actions(uri, "s[t] = ")) == 1
    await first.until_idle()
    await first.shutdown_session()
    second = await connect(engine=backend.DEFAULT)
    second.open(path, text)
    await second.until(second.has(uri, "data-race"))
    assert second.diagnostics[uri] == first.diagnostics[uri]
    assert len(await second.actions(uri, "s[t] = ")) == 1
    second.replace(uri, "  out[t] = s", "  __syncthreads();\n  out[t] = s")
    second.save(uri, path)
    await second.until(second.has(uri))


async def test_everything_in_a_file_is_repaired_at_once(editor: Editor, tmp_path: Path) -> None:
    other = SHIFT.replace("shift", "second")
    path = tmp_path / "a.cu"
    uri = editor.open(path, SHIFT + other + LAUNCH + LAUNCH.replace("go", "run").replace("shift", "second"))
    await editor.until(editor.has(uri, "data-race", "data-race"))
    await editor.actions(uri, "s[t] = ")
    await editor.until_idle()
    (action,) = await editor.actions(uri, "s[t] = ", only=["source.fixAll"])
    assert labels([action]) == ["Apply all proved fixes"]
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert editor.texts[uri].count("__syncthreads();") == 2
    editor.save(uri, path)
    await editor.until(editor.has(uri))


NEEDLESS = """\
__global__ void NAME(float *out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = out[t];
  __syncthreads();
  out[t] = s[255 - t];
  __syncthreads();  // NAME
}
"""


async def test_all_barriers_that_order_nothing_go_at_once_when_asked_for(editor: Editor, tmp_path: Path) -> None:
    names = ("first", "second", "third")
    text = "".join(NEEDLESS.replace("NAME", name) + LAUNCH.replace("go", f"of_{name}") for name in names)
    for name in names:
        text = text.replace("shift<<<", f"{name}<<<", 1)
    text = text.replace("// third", "// cuda-lsp: ignore[redundant-barrier] keeps the warps together")
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri, "redundant-barrier", "redundant-barrier"))
    await editor.until_idle()
    one, every = await editor.actions(uri, "__syncthreads();  // first")
    assert (one.is_preferred, every.is_preferred) == (True, False)
    assert every.title == "Remove all 2 barriers that order nothing"
    assert await editor.actions(uri, "__syncthreads();  // first", only=["source.fixAll"]) == [], "no mistakes"
    resolved = await editor.code_action_resolve_async(every)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    lines = [f"  __syncthreads();  // {name}\n" for name in names[:2]]
    assert editor.texts[uri] == text.replace(lines[0], "").replace(lines[1], "")


async def test_non_ascii_text_and_tabs_before_an_access(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.cu", (SHIFT + LAUNCH).replace("  s[t] =", "\t/* ä𝄞 */ s[t] ="))
    await editor.until(editor.has(uri, "data-race"))
    assert editor.diagnostics[uri][0].range == types.Range(types.Position(3, 11), types.Position(3, 15))


async def test_a_header_and_a_function_change_in_one_save(editor: Editor, tmp_path: Path) -> None:
    """An edit inside one function leaves the other kernels as they were, unless a file that they include is another."""
    header, unit = tmp_path / "sync.cuh", tmp_path / "unit.cu"
    header.write_text("#define SYNC __syncthreads()\n")
    text = '#include "sync.cuh"\n' + SHIFT.replace("  out[t] = s", "  SYNC;\n  out[t] = s") + LAUNCH
    text += "__global__ void other(float *out) {\n  out[threadIdx.x] = 1.0f;\n}\n"
    uri = editor.open(unit, text)
    await editor.until(editor.has(uri))
    header.write_text("#define SYNC\n")
    editor.replace(uri, "1.0f", "2.0f")
    editor.save(uri, unit)
    await editor.until(editor.has(uri, "data-race"))


async def test_the_lines_of_facts_move_with_edits_of_other_kernels(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    other = "__global__ void other(float *out) {\n  out[threadIdx.x] = 1.0f;\n}\n"
    host = "#include <cassert>\nvoid go(float *p, int n) {\n  assert(n == 256);\n\n  fill<<<1, n>>>(p);\n}\n"
    fill = "__global__ void fill(float *p) {\n  p[threadIdx.x % 256] = 0.0f;\n}\n"
    uri = editor.open(path, other + fill + host)
    before = await editor.until_hover(uri, "fill(float", "launched at line 11")
    assert "line 9)" in before
    editor.replace(uri, "  out[threadIdx", "  // a line more\n  out[threadIdx")
    for save in (False, True):
        if save:
            editor.save(uri, path)
            await editor.until_idle()
        told = await editor.hover(uri, "fill(float")
        assert told == before.replace("line 9)", "line 10)").replace("line 11", "line 12"), f"saved: {save}"


async def test_a_header_turns_up_where_no_include_path_leads(editor: Editor, tmp_path: Path) -> None:
    """The front end searches the folders in which projects keep headers: so a file there is one to check again for."""
    (tmp_path / ".cuda-lsp.toml").touch()
    path, header = tmp_path / "src" / "a.cu", tmp_path / "third_party" / "tools" / "include" / "tools" / "sync.cuh"
    path.parent.mkdir()
    text = "#include <tools/sync.cuh>\n" + SHIFT.replace("  out[t] = s", "  sync();\n  out[t] = s") + LAUNCH
    path.write_text(text)
    uri = editor.open(path, text)
    await editor.until_hover(uri, "shift(float", "unknown")
    header.parent.mkdir(parents=True)
    header.write_text("inline __device__ void sync() { __syncthreads(); }\n")
    await changed(editor, header)
    await editor.until_hover(uri, "shift(float", "race-free")
    header.unlink()
    editor.save(uri, path)
    await editor.until_hover(uri, "shift(float", "From an earlier text")
    header.write_text("inline __device__ void sync() {}\n")
    # Without a word from a watcher: the next save finds it.
    editor.save(uri, path)
    await editor.until(editor.has(uri, "data-race"))


async def test_a_loop_is_named_by_its_variable_and_its_line_now(editor: Editor, tmp_path: Path) -> None:
    text = SHIFT.replace(
        "  s[t] = out[t];\n  out[t] = s[t + 1];\n", "  for (int k = 0; k < 4; ++k) {\n    s[t] = k;\n"
    ) + ("    __syncthreads();\n    out[t] += s[t + 1];\n  }\n}\n")
    text = text.replace("s[t] = k;\n}\n", "s[t] = k;\n")
    uri = editor.open(tmp_path / "a.cu", text + LAUNCH)
    await editor.until(editor.has(uri, "data-race"))
    told = await editor.hover(uri, "s[t] = k")
    assert told is not None
    assert ", line 5, 4 bytes, with k = 1 in the loop at line 4" in told
    assert ", line 7, 4 bytes, with k = 0 in the loop at line 4" in told
    editor.replace(uri, "__global__", "\n__global__")
    told = await editor.hover(uri, "s[t] = k")
    assert told is not None
    assert ", line 8, 4 bytes, with k = 0 in the loop at line 5" in told


async def test_a_barrier_that_may_leave_its_loop_can_be_moved(editor: Editor, tmp_path: Path) -> None:
    loop = "for (int k = 0; k < 64; k++) {\n    __syncthreads();\n    out[t] += s[(t + k) % 256];\n  }"
    text = SHIFT.replace("out[t] = s[t + 1];", loop) + LAUNCH
    uri = editor.open(tmp_path / "a.cu", text)
    await editor.until(editor.has(uri))
    # Nothing tells when the search has ended: ask until it has.
    while not (actions := await editor.actions(uri, "__syncthreads()")):
        assert editor.codes(uri) == []
    (action,) = actions
    assert action.kind == types.CodeActionKind.RefactorRewrite
    assert "64 barriers become 1" in action.title
    assert [each.title for each in await editor.actions(uri, "for (int k")] == [action.title]
    assert await editor.actions(uri, "s[t] =") == []
    assert await editor.actions(uri, "out[t] +=") == []
    resolved = await editor.code_action_resolve_async(action)
    assert resolved.edit is not None
    editor.apply(resolved.edit)
    assert "  __syncthreads();\n  for (" in editor.texts[uri]
    assert editor.texts[uri].count("__syncthreads") == 1


PART = """__global__ void rotate(Cell *a) {
  __shared__ Cell s[kSize];
  int t = threadIdx.x;
  s[t] = a[t];
  a[t] = s[(t + 1) % kSize];
}
"""
WHOLE = """typedef float Cell;
enum { kSize = 128 };
#include "part.cu"
void run(Cell *a) { rotate<<<1, kSize>>>(a); }
"""


async def test_a_source_that_another_includes_is_checked_as_its_part(editor: Editor, tmp_path: Path) -> None:
    part, whole = tmp_path / "part.cu", tmp_path / "whole.cu"
    part.write_text(PART)
    whole.write_text(WHOLE)
    uri = editor.open(part, PART)
    await editor.until(editor.has(uri, "data-race"))
    editor.replace(uri, "  a[t] = s[", "  __syncthreads();\n  a[t] = s[")
    editor.save(uri, part)
    await editor.until(editor.has(uri))
    told = await editor.until_hover(uri, "rotate", "race-free")
    assert "whole.cu" in told or "block (128" in told
