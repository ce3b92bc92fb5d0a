"""Races between blocks: barriers of the grid where there may be some, and elsewhere what would have to be done."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers

PATH = "/grid/a.cu"
COOPERATIVE = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float *a, float *b, int n) {{
{first}  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int s = 0; s < 4; s++) {{
    a[i] = b[i] + s;
{between}    b[(i + 1) % n] = a[i] * 2;
  }}
}}
void h(float *a, float *b) {{
  int n = 64 * 256;
  void *args[] = {{&a, &b, &n}};
  {launch}((void *)k, 64, 256, args, 0, 0);
}}
"""


def answered(text: str) -> tuple[list[Fix], str]:
    found = list(answers(Engine(), CheckRequest(PATH, text)))
    return [a for a in found if isinstance(a, Fix)], " ".join(a.text for a in found if isinstance(a, FixRefusal))


def test_a_cooperative_launch_gets_barriers_of_the_grid() -> None:
    text = COOPERATIVE.format(
        first="  cg::grid_group whole = cg::this_grid();\n", between="", launch="cudaLaunchCooperativeKernel"
    )
    (fix,), _ = answered(text)
    after = applied(text, fix.edits)
    # One between the accesses of an iteration, and one before the next one.
    assert after.count("    whole.sync();\n") == 2
    assert "grid barriers" in fix.cost
    (kernel,) = Engine().analyse(CheckRequest(PATH, after)).result.kernels
    assert kernel.verdict is Verdict.RACE_FREE


@pytest.mark.parametrize(
    ("known", "written"),
    [
        ("namespace cg = cooperative_groups;\n", "cg::this_grid().sync();"),
        ("namespace cg = ::cooperative_groups;\n", "cg::this_grid().sync();"),
        ("using namespace cooperative_groups;\n", "this_grid().sync();"),
        ("// namespace cg = cooperative_groups;\n", "cooperative_groups::this_grid().sync();"),
        ("namespace other { namespace cg = cooperative_groups; }\n", "cooperative_groups::this_grid().sync();"),
    ],
)
def test_the_group_is_named_as_the_file_names_the_namespace(known: str, written: str) -> None:
    text = COOPERATIVE.format(first="", between="", launch="cudaLaunchCooperativeKernel")
    (fix,), _ = answered(text.replace("namespace cg = cooperative_groups;\n", known))
    assert f"    {written}\n" in applied(text, fix.edits)


def test_a_file_that_lacks_the_header_gets_it() -> None:
    text = COOPERATIVE.format(first="", between="", launch="cudaLaunchCooperativeKernel")
    head, _, rest = text.partition("namespace cg")
    bare = "#include <cstdio>\n" + rest.partition("\n")[2]
    assert "cooperative_groups.h" in head
    (fix,), _ = answered(bare)
    after = applied(bare, fix.edits)
    assert after.startswith("#include <cooperative_groups.h>\n#include <cstdio>\n")
    assert after.count("    cooperative_groups::this_grid().sync();\n") == 2
    result = Engine().analyse(CheckRequest(PATH, after)).result
    assert not result.syntax
    assert [k.verdict for k in result.kernels] == [Verdict.RACE_FREE]


STRAIGHT = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
{before}__global__ void k(float *a, float *b, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
{code}
}}
void h(float *a, float *b) {{
  int n = 64 * 256;
  void *args[] = {{&a, &b, &n}};
  cudaLaunchCooperativeKernel((void *)k, 64, 256, args, 0, 0);
}}
"""
BETWEEN = "  a[i] = 1;\n  b[i] = a[(i + 1) % n];"


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (
            "",
            "  {\n    auto g = cg::this_grid();\n    if (g.size() > 3) b[i] = 2;\n  }\n" + BETWEEN,
        ),
        ("", BETWEEN + "\n  auto g = cg::this_grid();\n  g.sync();"),
        (
            "",
            "  auto g = cg::this_grid();\n  for (int g = 0; g < 3; g++) {\n" + BETWEEN + "\n  }",
        ),
        (
            "__device__ void f(float *a, float *b, int i, int n) {\n  a[i] = 1;\n  b[i] = a[(i + 1) % n];\n}\n",
            "  auto g = cg::this_grid();\n  f(a, b, i, n);",
        ),
    ],
    ids=["inner block", "declared later", "hidden", "another function"],
)
def test_the_grid_is_asked_for_where_its_name_means_nothing(before: str, code: str) -> None:
    text = STRAIGHT.format(before=before, code=code)
    (fix,), _ = answered(text)
    after = applied(text, fix.edits)
    assert "cg::this_grid().sync();\n" in after
    (kernel,) = Engine().analyse(CheckRequest(PATH, after)).result.kernels
    assert kernel.verdict is Verdict.RACE_FREE


@pytest.mark.parametrize(
    ("leave", "inserted"),
    [("i >= n - 1", 1), ("i > 900", 0), ("blockIdx.x > 2", 0)],
    ids=["the last thread", "most blocks", "blocks"],
)
def test_no_grid_waits_for_blocks_that_have_returned(leave: str, inserted: int) -> None:
    text = STRAIGHT.format(before="", code=f"  if ({leave}) return;\n" + BETWEEN)
    fixes, _ = answered(text)
    assert [applied(text, f.edits).count("this_grid().sync();") for f in fixes[:1]] == [1] * inserted


def test_other_launches_cannot_wait() -> None:
    text = COOPERATIVE.format(first="", between="    __syncthreads();\n", launch="cudaLaunchKernel")
    fixes, why = answered(text)
    assert not fixes
    assert "wait for each other in every iteration of the loop" in why
    assert "cooperative_groups::this_grid().sync() in a cooperative launch" in why


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("  a[i] = 1;\n  b[i] = a[(i + 1) % n];", "move what follows line 4 to a kernel of its own"),
        ("  a[i] = a[(i + 1) % n];", "there is no place between them where all blocks could wait"),
        ("  if (n > 3) {\n    a[i] = 1;\n    b[i] = a[(i + 1) % n];\n  }", "have to wait for each other there"),
    ],
    ids=["straight line", "one statement", "in a branch"],
)
def test_it_says_where_the_kernel_could_be_cut(code: str, why: str) -> None:
    text = f"""// cuda-lsp: launch grid=(4) block=(64)
__global__ void k(float *a, float *b, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
{code}
}}
"""
    fixes, said = answered(text)
    assert not fixes
    assert why in said
    assert "which no __syncthreads() orders" in said


def test_threads_of_one_block_collide_and_those_of_others_do_too() -> None:
    text = """// cuda-lsp: launch grid=(4) block=(64)
__global__ void k(float *a) {
  for (int i = 0; i < 9; ++i) a[threadIdx.x + i] = i;
}
"""
    fixes, said = answered(text)
    assert not fixes
    assert "`a[threadIdx.x + i]` (line 3) runs in different blocks, too, which no __syncthreads() orders" in said


ONE_BLOCK = """// cuda-lsp: launch grid=(4) block=(64)
__global__ void k(float *a, float *b) {{
  int t = threadIdx.x;
{body}
}}
"""
OTHERS = "  if (blockIdx.x == 1) b[t] = {read};"


@pytest.mark.parametrize(
    ("body", "begin", "rest"),
    [
        (
            "  if (blockIdx.x == 0) a[0] = t;\n" + OTHERS.format(read="a[0]"),
            "Threads collide in one execution of `a[0]` (line 4), which no barrier can order. ",
            "`a[0]` (line 4) and `a[0]` (line 5)",
        ),
        (
            "  if (blockIdx.x == 0) {\n    a[t] = t;\n    b[t] = a[t + 1];\n  }\n" + OTHERS.format(read="a[t]"),
            "A barrier between `a[t]` (line 5) and `a[t + 1]` (line 6) would not be enough. ",
            "`a[t]` (line 5) and `a[t]` (line 8) run in different blocks, which no __syncthreads() orders",
        ),
        (
            "  a[0] = t;\n  b[t] = a[0];\n  a[t + blockIdx.x * 64] += a[t + blockIdx.x * 64 + 1];",
            "",
            "run in different blocks, too, which no __syncthreads() orders",
        ),
    ],
)
def test_the_reason_fits_the_threads_that_are_shown(body: str, begin: str, rest: str) -> None:
    _, said = answered(ONE_BLOCK.format(body=body))
    assert begin + rest in said, said


@pytest.mark.parametrize("between", ["", "  __syncthreads();\n"])
def test_blocks_that_collide_only_with_each_other_wait_for_each_other(between: str) -> None:
    code = "  a[i] = 1;\n" + between + "  b[i] = a[n - 1 - i];"
    (fix,), said = answered(STRAIGHT.format(before="", code=code))
    after = applied(STRAIGHT.format(before="", code=code), fix.edits)
    assert between + "  cg::this_grid().sync();\n  b[i]" in after
    assert not said
