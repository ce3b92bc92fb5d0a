"""What is offered, and never applied by itself, where no barrier orders the writes of one statement."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, FixRefusal, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers, fix_all

PATH = "/choices/a.cu"


def offered(kernel: str, grid: int = 1) -> tuple[str, list[Fix]]:
    text = f"// cuda-lsp: launch grid=({grid}) block=(64)\n__global__ void k(int *out, int n) {{\n{kernel}\n}}\n"
    request = CheckRequest(PATH, text)
    found = list(answers(Engine(), request))
    assert any(isinstance(a, FixRefusal) and "one execution" in a.text for a in found)
    assert isinstance(fix_all(Engine(), request), FixRefusal)
    return text, [a for a in found if isinstance(a, Fix)]


def test_one_thread_writes_or_all_exchange() -> None:
    text, fixes = offered("  int t = threadIdx.x;\n  out[blockIdx.x] = t;", grid=2)
    assert [f.kind for f in fixes] == ["restructure", "use-atomic"]
    assert not any(f.preferred for f in fixes)
    one, other = (applied(text, f.edits) for f in fixes)
    assert "  if (threadIdx.x == 0) out[blockIdx.x] = t;\n" in one
    assert "  atomicExch(&out[blockIdx.x], t);\n" in other
    for after in (one, other):
        (kernel,) = Engine().analyse(CheckRequest(PATH, after)).result.kernels
        assert kernel.verdict is Verdict.RACE_FREE


def test_one_thread_of_the_grid_where_blocks_mean_one_cell() -> None:
    text, fixes = offered("  out[0] = threadIdx.x + n;", grid=2)
    assert "if (blockIdx.x == 0 && threadIdx.x == 0) out[0]" in applied(text, fixes[0].edits)


@pytest.mark.parametrize(
    "code",
    [
        "  if (threadIdx.x > 3) {\n    out[0] = threadIdx.x;\n  }",
        "  if (threadIdx.x % 3 == 0) out[threadIdx.x / 4] = threadIdx.x;",
        "  out[threadIdx.x * threadIdx.x / 9] = threadIdx.x;",
        "  for (int i = threadIdx.x; i < 99; i += 64) out[threadIdx.x / 2] = i;",
        "  int t = threadIdx.x;\n  out[0] = t++;",
        "#define TICKET atomicAdd(out + 1, 1)\n  out[0] = TICKET;",
    ],
    ids=[
        "it does not write",
        "not for the others",
        "no group",
        "it may have left the loop",
        "all evaluate the value",
        "a macro acts",
    ],
)
def test_no_thread_is_chosen_where(code: str) -> None:
    _, fixes = offered(code)
    assert [f.kind for f in fixes] == ["use-atomic"]


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("  out[threadIdx.x / 2] = n + threadIdx.x;", "if (threadIdx.x % 2 == 0) out[threadIdx.x / 2]"),
        ("  out[threadIdx.x >> 3] = n + threadIdx.x;", "if (threadIdx.x % 8 == 0) out[threadIdx.x >> 3]"),
        ("  out[threadIdx.x & ~3] = n + threadIdx.x;", "if (threadIdx.x % 4 == 0) out[threadIdx.x & ~3]"),
        ("  out[threadIdx.x % 12] = n + threadIdx.x;", "if (threadIdx.x < 12) out[threadIdx.x % 12]"),
        ("  out[threadIdx.x & 7] = n + threadIdx.x;", "if (threadIdx.x < 8) out[threadIdx.x & 7]"),
        (
            "  int t = threadIdx.x;\n  out[t / 4 % 8] = t;",
            "if (threadIdx.x % 4 == 0 && threadIdx.x < 32) out[t / 4 % 8] = t;",
        ),
        (
            "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  out[i / 32] = i;",
            "  if (threadIdx.x % 32 == 0) out[i / 32] = i;",
        ),
        (
            "  for (int i = 0; i < n; i++)\n    out[i * 8 + threadIdx.x / 8] = threadIdx.x;",
            "    { if (threadIdx.x % 8 == 0) out[i * 8 + threadIdx.x / 8] = threadIdx.x; }",
        ),
    ],
)
def test_one_thread_writes_for_each_cell(code: str, after: str) -> None:
    text, fixes = offered(code, grid=1 + ("blockIdx" in code))
    assert not any(f.preferred for f in fixes)
    who = after.partition("if (")[2].partition(") out[")[0]
    assert f"Let only one thread for each cell, with {who}, write out[" in fixes[0].title
    one = applied(text, fixes[0].edits)
    assert after in one
    (kernel,) = Engine().analyse(CheckRequest(PATH, one)).result.kernels
    assert kernel.verdict is Verdict.RACE_FREE


def test_one_thread_of_each_row_writes() -> None:
    launch = "// cuda-lsp: launch grid=(1) block=(16, 4)\n"
    text = f"{launch}__global__ void k(int *out) {{\n  out[threadIdx.y] = threadIdx.x;\n}}\n"
    first = next(a for a in answers(Engine(), CheckRequest(PATH, text)) if isinstance(a, Fix))
    assert "  if (threadIdx.x == 0) out[threadIdx.y] = threadIdx.x;\n" in applied(text, first.edits)


def test_no_thread_is_chosen_in_blocks_that_share_a_cell() -> None:
    _, fixes = offered("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  out[i / 128] = i;", grid=2)
    assert [f.kind for f in fixes] == ["use-atomic"]


def test_code_on_the_same_line_and_conditions_of_the_block_stay() -> None:
    text, fixes = offered(
        "  __shared__ short s; if (n > 3) s = threadIdx.x; else s = 2;\n  __syncthreads();\n  out[0] = s;"
    )
    one = applied(text, fixes[0].edits)
    assert "if (n > 3) { if (threadIdx.x == 0) s = threadIdx.x; } else s = 2;" in one


def test_a_warp_barrier_first_and_one_of_the_block_as_a_choice() -> None:
    text = """// cuda-lsp: launch grid=(4) block=(256)
__global__ void k(int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t;
  out[blockIdx.x * 256 + t] = s[t ^ 1];
}
"""
    request = CheckRequest(PATH, text)
    fixes = [a for a in answers(Engine(), request) if isinstance(a, Fix)]
    assert [("__syncwarp" in applied(text, f.edits), f.preferred) for f in fixes] == [(True, True), (False, False)]
    assert [f.cost for f in fixes] == ["+1 warp barrier", "+1 barrier"]
    everything = fix_all(Engine(), request)
    assert isinstance(everything, Fix)
    assert everything.edits == fixes[0].edits


def test_no_warp_barrier_where_warps_meet() -> None:
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  out[t] = s[63 - t];
}
"""
    fixes = [a for a in answers(Engine(), CheckRequest(PATH, text)) if isinstance(a, Fix)]
    assert [f.title.split()[1] for f in fixes] == ["__syncthreads()"]


@pytest.mark.parametrize(
    "writes",
    [
        "  __shared__ int s[8];\n  int c = 0;\n  s[c++] = threadIdx.x;\n  out[threadIdx.x] = c;",
        "  int *p = out;\n  *p++ = threadIdx.x;",
    ],
    ids=["index", "pointer"],
)
def test_what_else_a_statement_does_all_threads_do(writes: str) -> None:
    _, fixes = offered(writes)
    assert not fixes


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("  int t = threadIdx.x;\n  out[0] = t, t++;", "  atomicExch(&out[0], t), t++;\n"),
        ("  int t = threadIdx.x;\n  out[n] = t, n++;", "  atomicExch(&out[n], t), n++;\n"),
    ],
    ids=["value", "index"],
)
def test_no_thread_is_chosen_for_more_than_the_write(code: str, after: str) -> None:
    text, fixes = offered(code)
    assert [f.kind for f in fixes] == ["use-atomic"]
    assert after in applied(text, fixes[0].edits)


def test_cells_of_different_letters_are_different_ones() -> None:
    text, fixes = offered("  out['a'] = out['b'] + threadIdx.x;")
    assert [f.kind for f in fixes] == ["restructure", "use-atomic"]
    assert "  atomicExch(&out['a'], out['b'] + threadIdx.x);\n" in applied(text, fixes[1].edits)


def test_what_is_exchanged_keeps_its_sign() -> None:
    text, fixes = offered(
        "  __shared__ long long s;\n  s = threadIdx.x * -1.5f;\n  __syncthreads();\n  out[threadIdx.x] = s;"
    )
    assert [f.kind for f in fixes] == ["restructure", "use-atomic"]
    after = applied(text, fixes[1].edits)
    assert "  atomicExch((unsigned long long *)&s, (long long)(threadIdx.x * -1.5f));\n" in after


@pytest.mark.parametrize(
    "calls",
    [
        "  put(out, threadIdx.x);\n  put(out + 64 + threadIdx.x, 1);",
        "  put(out, threadIdx.x);\n  int x;\n  put(&x, 2);\n  out[64 + threadIdx.x] = x;",
        "  put(out, threadIdx.x);\n}\n__global__ void other(int *out) {\n  put(out + threadIdx.x, 1);",
    ],
    ids=["other cells", "a thread's own", "another kernel"],
)
def test_no_thread_is_chosen_where_others_write_cells_of_their_own(calls: str) -> None:
    text = f"""__device__ void put(int *p, int v) {{
  *p = v;
}}
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, int n) {{
{calls}
}}
"""
    found = answers(Engine(), CheckRequest(PATH, text))
    assert not any("threadIdx.x == 0" in applied(text, a.edits) for a in found if isinstance(a, Fix))


def test_an_exchange_that_is_none_is_not_offered() -> None:
    _, fixes = offered("#define atomicExch(p, v) ((void)0)\n  out[0] = threadIdx.x;")
    assert [f.kind for f in fixes] == ["restructure"]


@pytest.mark.parametrize("value", ["n++ + threadIdx.x", "(n += 2) + threadIdx.x"], ids=["step", "assignment"])
def test_a_value_that_changes_which_cell_it_is_for_is_not_exchanged(value: str) -> None:
    _, fixes = offered(f"  n &= 3;\n  out[n] = {value};")
    assert not fixes


LEADER = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void leader(int *out, const int *in) {
  __shared__ int first;
  __shared__ int found;
  found = 0;
  int t = threadIdx.x;
  if (in[t] == 7) { first = t; found = VALUE; }
  if (found) out[t] = in[first];
}
"""


@pytest.mark.parametrize(
    "update", ["*count = (*count + 1) % 100;", "int old = *count; *count = old + 1;", "*count = 1 - *count;"]
)
def test_an_update_that_counts_once_for_all_threads_is_a_choice(update: str) -> None:
    text = f"""// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, int *count) {{
  {update}
  out[threadIdx.x] = 1;
}}
"""
    found = [answer for answer in answers(Engine(), CheckRequest(PATH, text)) if isinstance(answer, Fix)]
    said = (
        "Assumes that all threads together make the update of `*count` in line 3 once: each writes the same new value."
    )
    for fix in found:
        assert fix.kind == "use-atomic" or (said in fix.assumes and not fix.preferred)


def test_writes_of_one_value_are_no_race_once_others_are_ordered() -> None:
    text = LEADER.replace("VALUE", "1")
    found = list(answers(Engine(), CheckRequest(PATH, text)))
    fix, choice = found
    assert isinstance(fix, Fix)
    assert fix.kind == "insert-barrier"
    assert len(fix.groups) == 2
    assert any("`found` (line 5) still collide; all of them write the same value" in note for note in fix.notes)
    (kernel,) = Engine().analyse(CheckRequest(PATH, applied(text, fix.edits))).result.kernels
    left = [f for c in kernel.contexts for f in c.findings if f.object == "found"]
    assert left
    assert {f.code for f in left} == {Verdict.BENIGN_RACE}
    # Which thread is the first nothing tells.
    assert isinstance(choice, FixRefusal)
    assert "`first` (line 7)" in choice.text


def test_writes_of_different_values_stay_a_race_whatever_is_ordered() -> None:
    text = LEADER.replace("VALUE", "t + 1")
    found = list(answers(Engine(), CheckRequest(PATH, text)))
    refused = [a.group for a in found if isinstance(a, FixRefusal)]
    mended = {group for a in found if isinstance(a, Fix) for group in a.groups}
    assert any("found" in group for group in refused)
    assert mended.isdisjoint(refused)


def test_no_barrier_orders_writes_of_one_value_alone() -> None:
    """Only the value that is written last is another one."""
    text = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = n;
  s[63 - t] = n;
  s[t] = n / 2;
  __syncthreads();
  out[t] = s[t];
}
"""
    (fix,) = (answer for answer in answers(Engine(), CheckRequest(PATH, text)) if isinstance(answer, Fix))
    assert "after line 6 — orders s[63 - t] and s[t], +1 barrier" in fix.title
    said = "The writes of `s[t]` (line 5) and `s[63 - t]` (line 6) still collide; all of them write the same value."
    assert said in fix.notes


def test_what_no_edit_is_looked_for_says_why() -> None:
    text = """#include <cassert>
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, int *next, int n) {
  assert(threadIdx.x < 63);
  out[0] = n;
  if (threadIdx.x < 16) __syncwarp(0xff);
}
"""
    found = list(answers(Engine(), CheckRequest(PATH, text)))
    assert all(isinstance(answer, FixRefusal) and answer.group for answer in found)
    said = {answer.text for answer in found if isinstance(answer, FixRefusal)}
    assert "Nothing has to be repaired: whichever thread is last, the same value is left." in said
    assert any("assert(threadIdx.x < 63)` is for the code in front of it to keep" in text for text in said)
    assert any("`__syncwarp(0xff)` is made by lanes that its mask does not name" in text for text in said)


@pytest.mark.parametrize(
    "code",
    [
        "if (in[t] > 0) out[t / 2] = t;",
        "for (int k = 0; k < 8; k++) {\n    if (in[k * 64 + t] == 0) break;\n    out[t / 2] = k * 64 + t;\n  }",
        "int *p = t & 1 ? out : other;\n  p[t / 4] = t;",
        "out[in[t] / 2] = t;",
        "int v = __shfl_down_sync(~0u, t, 1);\n  out[v / 2] = t;",
        "if (in[t]) return;\n  out[t >> 2] = t;",
    ],
    ids=["guard", "loop", "pointer", "index", "shuffle", "return"],
)
def test_no_thread_writes_for_others_that_may_come_alone(code: str) -> None:
    text = f"""// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, int *other, const int *in) {{
  int t = threadIdx.x;
  {code}
}}
"""
    found = list(answers(Engine(), CheckRequest(PATH, text)))
    assert found
    assert not any(isinstance(answer, Fix) and "one thread" in answer.title for answer in found)
