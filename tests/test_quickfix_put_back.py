"""Barriers that a repair takes out and puts back elsewhere: as they were written where that is enough, and counted as
the difference between the texts."""

from __future__ import annotations

import pytest
from edited import applied

from analyzers.engine import Engine
from analyzers.model import Fix, Verdict
from analyzers.requests import CheckRequest
from quickfix import answers
from quickfix.cost import of_several

TURNED = """__global__ void turned(int *row, int n) {
  __shared__ int box[SIZE];
  int at = blockIdx.x * SIZE + threadIdx.x;
  if (at >= n)
    return;  // behind the end
  box[threadIdx.x] = row[at];
  int scale = 100 / row[at];
  BARRIER
  row[at] = box[threadIdx.x ^ FAR] * scale;
}
void run(int *row, int n) { turned<<<(n + SIZE - 1) / SIZE, SIZE>>>(row, n); }
"""


def turned(barrier: str, size: int, far: int, above: str = "") -> str:
    return above + TURNED.replace("SIZE", str(size)).replace("FAR", str(far)).replace("BARRIER", barrier)


def guards(text: str) -> list[tuple[Fix, str]]:
    """The repairs that put guards in place of returns, with what comes of them, which has no race."""
    request = CheckRequest("/put_back/a.cu", text)
    fixes = [a for a in answers(Engine(), request) if isinstance(a, Fix) and a.title.startswith("Guard the rest")]
    made = [(fix, applied(text, fix.edits)) for fix in fixes]
    for _, after in made:
        for kernel in Engine().analyse(CheckRequest("/put_back/a.cu", after)).result.kernels:
            assert kernel.verdict in (Verdict.RACE_FREE, Verdict.BARRIER_AFTER_EXIT)
    return made


def test_a_barrier_for_another_is_none_more() -> None:
    ((fix, after),) = guards(turned("__syncthreads();", 128, 64))
    assert fix.cost == "no barrier more"
    assert fix.title.endswith("no barrier more")
    assert "__syncthreads() after line 6 in place of that in line 8 " in fix.title
    assert after.count("__syncthreads();") == 1


def test_a_barrier_of_a_warp_that_is_enough_stays_one() -> None:
    ((fix, after),) = guards(turned("__syncwarp();", 32, 8))
    assert fix.cost == "no barrier more"
    assert "__syncwarp() after line 6 in place of that in line 8 " in fix.title
    assert after.count("__syncwarp();") == 1
    assert "__syncthreads" not in after


GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"


def test_a_barrier_of_a_group_stays_one() -> None:
    ((fix, after),) = guards(turned("cg::this_thread_block().sync();", 128, 64, GROUPS))
    assert "cg::this_thread_block().sync() after line 8 in place of that in line 10 " in fix.title
    assert after.count("cg::this_thread_block().sync();") == 1
    assert "__syncthreads" not in after


def test_a_group_that_is_not_known_at_the_place_gives_way_and_the_title_says_so() -> None:
    ((fix, after),) = guards(turned("auto all = cg::this_thread_block(); all.sync();", 128, 64, GROUPS))
    assert "__syncthreads() after line 8 in place of `all.sync()` in line 10 " in fix.title
    assert fix.cost == "no barrier more"
    assert "__syncthreads();" in after


def test_a_stronger_barrier_for_one_of_a_warp_is_said() -> None:
    ((fix, after),) = guards(turned("__syncwarp();", 64, 32))
    assert "__syncthreads() after line 6 in place of `__syncwarp()` in line 8 " in fix.title
    assert fix.cost == "−1 warp barrier, +1 barrier, which costs more"
    assert "__syncwarp" not in after


SEVERAL = """__global__ void several(int *row, int n) {
  __shared__ int box[128];
  int t = threadIdx.x;
  if (t >= n)
    return;  // behind the end
  box[t] = row[t];
  int scale = 100 / row[t];
  __syncwarp();
  row[t] = box[t ^ 1] * scale;
  int more = 100 / row[t];
  __syncthreads();
  box[t ^ 64] = more;
}
void run(int *row, int n) { several<<<1, 128>>>(row, n); }
"""


def test_each_of_several_stays_as_it_is_written() -> None:
    ((fix, after),) = guards(SEVERAL)
    assert fix.cost == "no barrier more"
    assert " in place of those in lines 8 and 11 " in fix.title
    assert after.index("__syncwarp();") < after.index("__syncthreads();")
    assert after.count("__sync") == 2


ROUNDS = """__global__ void rounds(int *row, int n) {
  __shared__ int box[128];
  int t = threadIdx.x;
  if (t >= n)
    return;  // behind the end
  int sum = row[t];
  for (int k = 0; k < 4; k++) {
    box[t] = sum;
    __syncthreads();
    sum += box[t ^ 64];
    __syncthreads();
  }
  row[t] = sum;
}
void run(int *row, int n) { rounds<<<1, 128>>>(row, n); }
"""


def test_barriers_in_a_loop_are_counted_against_each_other() -> None:
    ((fix, after),) = guards(ROUNDS)
    assert fix.cost.startswith("no barrier more")
    assert after.count("__syncthreads();") == 2


STAYING = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
{body}
}}
"""


@pytest.mark.parametrize(
    ("body", "done", "cost"),
    [
        (
            "  if (t < n) {\n    s[t] = t;\n    __syncthreads();\n    out[t] = s[63 - t];\n  }",
            "Split the conditional in line 5 and keep the barrier in line 7",
            "no barrier more",
        ),
        (
            (
                "  for (int i = 0; i < t; i++) {\n    s[t] = t;\n    __syncthreads();\n    out[t] += s[63 - t];\n"
                "    __syncthreads();\n  }"
            ),
            "split the conditional and keep the barriers in lines 7 and 9",
            "no barrier more",
        ),
        (
            (
                "  for (int i = 0; i < 8; i++) {\n    if (out[t] < i) break;\n    s[t] = t;\n    __syncthreads();\n"
                "    out[t] += s[63 - t];\n    __syncthreads();\n  }"
            ),
            "split the conditional, keep the barrier in line 8 and remove the barrier in line 10",
            "−1 barrier per iteration of the loop at line 5, +1 barrier in each test of the loop",
        ),
        (
            (
                "  switch (t & 1) {\n    case 0:\n      s[t] = t;\n      __syncthreads();\n      out[t] = s[63 - t];\n"
                "      break;\n    default:\n      s[t] = 3;\n  }"
            ),
            "Split the switch in line 5 and insert __syncthreads() after line 10 in place of that in line 8",
            "no barrier more",
        ),
    ],
)
def test_the_title_says_what_becomes_of_each_barrier(body: str, done: str, cost: str) -> None:
    text = STAYING.format(body=body)
    first = next(a for a in answers(Engine(), CheckRequest("/put_back/b.cu", text)) if isinstance(a, Fix))
    assert f"{done} — orders" in first.title
    assert first.cost == cost
    assert first.title.partition(", assumes that")[0].endswith(cost)
    removed = text.count("__syncthreads();") - applied(text, first.edits).count("__syncthreads();")
    assert removed == done.count("remove the barrier in")


def test_repairs_that_cost_no_barrier_cost_none_together() -> None:
    assert of_several({"no barrier more": 3}) == "no barrier more"
    assert of_several({"no barrier more": 1, "+1 barrier": 2, "": 4}) == "2 times +1 barrier"
    assert of_several({"": 1}) == ""
