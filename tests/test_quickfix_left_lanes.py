"""Exchanges of a warp in loops that a repair makes all threads stay in."""

from __future__ import annotations

import re

import pytest
from restructured import edited, engine

from analyzers.model import Fix
from analyzers.requests import CheckRequest
from quickfix import answers

HEADER = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define ANY(c) __any_sync(0xffffffffu, c)
__device__ bool more(bool c) { return __any_sync(0xffffffffu, c); }
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const int *p, float *out) {
  __shared__ float s[65];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  float v = 0;
"""
LEFT = """  int i = 0;
  while (%s) {
    if (p[t + 64] == i) break;
    s[t] = i;
    out[t] = s[t + 1];
    ++i;
  }
}
"""
COUNTED = """  %s
  for (int i = 0; i < %s; ++i) {
    s[t] = i;
    v += s[t + 1] + %s;
  }
  %s
  out[t] = v;
}
"""
SHUFFLED = "__shfl_down_sync(0xffffffffu, v, 1)"


def found(text: str) -> tuple[list[str], list[str]]:
    """The texts after the repairs, and what is said where there is none."""
    answered = list(answers(engine(), CheckRequest("/restructured/lanes.cu", text)))
    fixed = [edited(text, a) for a in answered if isinstance(a, Fix)]
    return fixed, [a.text for a in answered if not isinstance(a, Fix)]


@pytest.mark.parametrize(
    "vote",
    ["__any_sync(0xffffffffu, p[t] > i)", "ANY(p[t] > i)", "more(p[t] > i)", "tile.any(p[t] > i)",
     "cg::tiled_partition<32>(cg::this_thread_block()).any(p[t] > i)", "__syncthreads_or(p[t] > i)",
     "__reduce_max_sync(~0u, p[t]) > i", "__shfl_sync(~0u, p[t], 0) > i"],
)  # fmt: skip
def test_no_vote_is_left_to_some_of_its_threads(vote: str) -> None:
    fixed, said = found(HEADER + LEFT % vote)
    for text in fixed:
        assert "&& " + vote not in text, text
    why = "larger statement" if vote.startswith("__syncthreads") else "vote in the condition of the loop in line 12"
    assert any(why in text for text in said), said


def test_lanes_that_all_stay_may_vote() -> None:
    fixed, said = found(HEADER + LEFT.replace("p[t + 64] == i", "p[t / 32] == i") % "ANY(p[t] > i)")
    assert not fixed, "whether a break is one for the warp is not known here"
    fixed, said = found(HEADER + LEFT.replace("    if (p[t + 64] == i) break;\n", "") % "ANY(p[t] > i)")
    assert "while (__syncthreads_or(active = active && ANY(p[t] > i))) {" in fixed[0], said


@pytest.mark.parametrize("exchange", [SHUFFLED, "tile.shfl_down(v, 1)", "tile.any(v > 0)", "more(v > 0)"])
def test_no_exchange_waits_for_lanes_that_are_through(exchange: str) -> None:
    fixed, said = found(HEADER + COUNTED % ("", "p[t]", exchange, ""))
    assert not fixed
    assert any(
        re.search(r"waits for lanes of its (warp|tile) that would be at `__syncthreads_or\(", why) for why in said
    ), said


@pytest.mark.parametrize(
    ("first", "rounds", "exchange", "last"),
    [
        ("", "p[t / 32]", SHUFFLED, ""),
        ("", "p[0]", SHUFFLED, ""),
        ("", "p[t]", SHUFFLED, "__syncthreads();"),
        ("", "p[t]", "__shfl_down_sync(__activemask(), v, 1)", ""),
    ],
    ids=["of a warp", "of all", "waited for before", "that are there"],
)
def test_lanes_that_are_waited_for_anyhow_or_that_stay(first: str, rounds: str, exchange: str, last: str) -> None:
    fixed, said = found(HEADER + COUNTED % (first, rounds, exchange, last))
    assert fixed, said


def test_a_mask_from_before_the_loop_names_lanes_that_leave_it() -> None:
    first = "unsigned lanes = __activemask();"
    fixed, said = found(HEADER + COUNTED % (first, "p[t]", "__shfl_down_sync(lanes, v, 1)", ""))
    assert not fixed
    assert any("waits for lanes" in why for why in said), said


OF_A_TILE = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const int *p, float *out) {
  __shared__ float s[64];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x;
  float v = t;
  if (p[t / 16] > 0) {
    v += EXCHANGE;
    s[t] = v;
  }
  out[t] = s[63 - t];
}
"""


@pytest.mark.parametrize(
    ("exchange", "kinds"),
    [("tile.shfl_xor(v, 1)", ["insert-barrier"]), ("__shfl_xor_sync(0xffffffff, v, 1, 16)", [])],
)
def test_a_tile_waits_for_its_own_lanes_only(exchange: str, kinds: list[str]) -> None:
    request = CheckRequest("/lanes/tile.cu", OF_A_TILE.replace("EXCHANGE", exchange))
    fixes = [a for a in answers(engine(), request) if isinstance(a, Fix)]
    assert [a.kind for a in fixes] == kinds
    assert all(a.applies_unasked for a in fixes)


BEHIND = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const int *p, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float v = out[t];
  if (%s) v += %s;
  s[t] = v;
  out[t] = s[63 - t];
}
"""
TOGETHER = "assumes that the threads of a warp come to `%s` (line 6) together or not at all"


@pytest.mark.parametrize(
    ("condition", "exchange", "granted"),
    [("t < n", SHUFFLED, True), ("t < p[0]", SHUFFLED, True), ("t < 32 * n", SHUFFLED, False),
     ("t / 32 + blockIdx.x * 2 < n", SHUFFLED, False), ("t % 32 < 16", "__shfl_down_sync(0xffff, v, 1)", False),
     ("t < n", "__shfl_down_sync(__activemask(), v, 1)", False)],
)  # fmt: skip
def test_lanes_that_may_part_are_a_choice(condition: str, exchange: str, granted: bool) -> None:
    text = BEHIND % (condition, exchange)
    (fix,) = (a for a in answers(engine(), CheckRequest("/restructured/lanes.cu", text)) if isinstance(a, Fix))
    assert fix.title.startswith("Insert __syncthreads() after line 7")
    assert fix.applies_unasked != granted
    assert fix.title.endswith(TOGETHER % exchange) == granted == bool(fix.assumes)


def test_what_the_host_launches_may_prove_that_lanes_stay_together() -> None:
    text = "".join(line for line in (BEHIND % ("t < n", SHUFFLED)).splitlines(keepends=True)[1:])
    for size, granted in (("m", True), ("32 * m", False)):
        host = f"void run(const int *p, float *out, int m) {{ k<<<1, 64>>>(p, out, {size}); }}\n"
        (fix,) = (
            a for a in answers(engine(), CheckRequest("/restructured/host.cu", text + host)) if isinstance(a, Fix)
        )
        assert bool(fix.assumes) == granted, fix.title


@pytest.mark.parametrize(
    "exchange",
    [
        'asm volatile("vote.sync.ballot.b32 %0, 1, 0xffffffff;" : "=r"(r))',
        "r = cg::reduce(tile, r, cg::plus<unsigned>())",
        "r = cg::binary_partition(tile, r > 7).size()",
        "__syncwarp()",
    ],
)
def test_lanes_wait_for_each_other_in_other_forms(exchange: str) -> None:
    text = f"""#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const unsigned *p, unsigned *out, int n) {{
  __shared__ unsigned s[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  unsigned r = p[t];
  if (t < n) {{
    {exchange};
  }}
  s[t] = r;
  out[t] = s[63 - t];
}}
"""
    fixes = [a for a in answers(engine(), CheckRequest("/restructured/forms.cu", text)) if isinstance(a, Fix)]
    (fix,) = (a for a in fixes if a.kind == "insert-barrier")
    assert fix.assumes
    assert fix.title.endswith("together or not at all")


RETURNED = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const float *in, float *part, float *out, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  v += __shfl_xor_sync(0xffffffff, v, 1);
  part[i] = v;
  grid.sync();
  out[i] = part[n - 1 - i];
}
void run(float *in, float *part, float *out, int n) {
  void *args[] = {&in, &part, &out, &n};
  cudaLaunchCooperativeKernel((void *)k, dim3(4), dim3(64), args, 0, 0);
}
"""


def test_threads_that_had_returned_are_waited_for() -> None:
    fixes = [a for a in answers(engine(), CheckRequest("/restructured/gone.cu", RETURNED)) if isinstance(a, Fix)]
    assert fixes
    assert all(not a.applies_unasked and a.assumes for a in fixes)


def test_what_only_some_lanes_come_to_excuses_nothing() -> None:
    text = BEHIND.replace("int n)", "int n, bool more)") % ("t < n", SHUFFLED)
    text = text.replace("  s[t] = v;", f"  if (more) v += {SHUFFLED};\n  s[t] = v;")
    (fix,) = (a for a in answers(engine(), CheckRequest("/restructured/more.cu", text)) if isinstance(a, Fix))
    assert not fix.applies_unasked
    # All lanes come to this one, and would have been waited for there.
    text = text.replace("  if (more) v +=", "  v +=")
    (fix,) = (a for a in answers(engine(), CheckRequest("/restructured/more.cu", text)) if isinstance(a, Fix))
    assert fix.applies_unasked


IN_PART = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const int *p, float *out, unsigned given) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float v = out[t];
  %s
  if (p[t]) v += __shfl_sync(%s, v, 0);
  %s
  s[t] = v;
  out[t] = s[63 - t];
}
"""


@pytest.mark.parametrize(
    ("before", "mask", "behind"),
    [
        # The mask names lanes that do not meet the condition.
        ("unsigned m = __activemask();", "m", ""),
        ("unsigned m = __ballot_sync(0xffffffff, p[t + 64]);", "m", ""),
        ("unsigned m = t % 32 < 16 ? 0xffff : 0xffff0000;", "m", ""),
        ("", "given", ""),
        # What comes behind waits for fewer lanes.
        ("", "0xffffffff", "v += __shfl_sync(0xffff, v, 0);"),
        ("", "0xffffffff", "__syncwarp(1u << t % 32);"),
    ],
)
def test_lanes_that_are_waited_for_are_not_kept_at_a_new_barrier(before: str, mask: str, behind: str) -> None:
    fixed, said = found(IN_PART % (before, mask, behind))
    assert not fixed
    assert any("waits for lanes of its warp" in why for why in said), said


@pytest.mark.parametrize(
    ("before", "mask", "behind"),
    [("unsigned m = __ballot_sync(0xffffffff, p[t]);", "m", ""), ("", "0xffffffff", "__syncwarp();")],
)
def test_lanes_that_nobody_waits_for_or_that_were_waited_for_before(before: str, mask: str, behind: str) -> None:
    fixed, said = found(IN_PART % (before, mask, behind))
    assert fixed, said


@pytest.mark.parametrize(
    ("condition", "instruction", "free"),
    [
        ("t % 32 < 16", 'asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffff;" : "=r"(r) : "r"(r))', True),
        ("p[t]", 'asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(r) : "r"(r), "r"(m))', True),
        ("p[t]", 'asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(r))', False),
    ],
)
def test_exchanges_in_assembly_wait_for_the_lanes_that_their_masks_name(
    condition: str, instruction: str, free: bool
) -> None:
    text = f"""// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const unsigned *p, unsigned *out) {{
  __shared__ unsigned s[64];
  int t = threadIdx.x;
  unsigned r = p[t], m = __ballot_sync(0xffffffff, p[t]);
  if ({condition}) {instruction};
  s[t] = r;
  out[t] = s[63 - t];
}}
"""
    given = answers(engine(), CheckRequest("/restructured/assembly.cu", text))
    fixes = [a for a in given if isinstance(a, Fix) and a.kind == "insert-barrier"]
    assert any(not fix.assumes for fix in fixes) == free


@pytest.mark.parametrize(
    "before",
    [
        # In its last round a lane that misses the shuffle does not come to the vote again.
        "for (int i = 0; i < n; ++i) { v += __any_sync(~0u, v > 3); if (p[t]) v += %s; }",
        "for (int i = 0; i < n; ++i) { v += __any_sync(~0u, v > 3); if (i == n - 1 && p[t]) v += %s; }",
        "for (int i = 0; i < n; ++i) { __syncwarp(); if (p[t]) { v += %s; break; } break; }",
        # In the round in which they come to the new barrier they do not come to the old one.
        (
            "for (int i = 0; i < 2; ++i) { if (i == 1) { s[t] = v; } if (i == 1) v += s[t ^ 32];"
            " if (i == 0) __syncwarp(); if (i == 0) { if (p[t]) v += %s; } }"
        ),
        (
            "for (int i = 0; i < 2; ++i) { if (i == 1) { s[t] = v; } if (i == 1) { out[t] = s[t ^ 32]; }"
            " if (i == 1) return; __syncwarp(); if (p[i * 64 + t]) v += %s; }"
        ),
    ],
)
def test_what_waits_elsewhere_in_a_loop_excuses_nothing(before: str) -> None:
    text = f"""// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const int *p, float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  float v = out[t];
  {before % SHUFFLED}
  s[t] = v;
  out[t] = s[63 - t];
  out[t + 64] = v;
}}
"""
    given = answers(engine(), CheckRequest("/restructured/rounds.cu", text))
    fixes = [a for a in given if isinstance(a, Fix) and a.kind == "insert-barrier"]
    assert all(fix.assumes for fix in fixes)


def test_what_waits_in_each_round_excuses_a_barrier_in_the_loop() -> None:
    text = f"""// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const int *p, float *out, int n) {{
  __shared__ float s[64];
  int t = threadIdx.x;
  float v = out[t];
  for (int i = 0; i < n; ++i) {{
    if (p[t]) v += {SHUFFLED};
    v += __any_sync(~0u, v > 3);
    s[t] = v;
    v += s[63 - t];
  }}
  out[t] = v;
}}
"""
    given = answers(engine(), CheckRequest("/restructured/each_round.cu", text))
    fixes = [a for a in given if isinstance(a, Fix) and a.kind == "insert-barrier"]
    assert fixes
    assert not any(fix.assumes for fix in fixes)


IN_ROUNDS = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(const int *p, const int *q, const int *r, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, v = out[t];
  for (int i = 0; i < 4; ++i) {
%s
  }
  out[t] = v;
}
"""
WITHIN_A_LOOP = """    s[t] = v;
    v += s[63 - t];
    for (int j = 0; j < 2; ++j)
      if (p[t] > j) v += __shfl_down_sync(~0u, v, 1);"""
OF_TWO_ROUNDS = """    if (r[i]) {
      if (p[t]) v += __shfl_down_sync(~0u, v, 1);
      if (q[i]) __syncwarp();
    }
    if (q[i]) {
      s[t] = v;
      v += s[63 - t];
    }"""


@pytest.mark.parametrize(
    ("body", "sure"),
    [
        (WITHIN_A_LOOP, False),
        (WITHIN_A_LOOP.replace("63 - t", "t ^ 1"), False),
        (WITHIN_A_LOOP.replace("p[t] > j", "p[t / 32] > j"), True),
        (OF_TWO_ROUNDS, False),
        (OF_TWO_ROUNDS.replace("      if (q[i]) __syncwarp", "      __syncwarp"), True),
        (OF_TWO_ROUNDS.replace("if (q[i]) {", "if (r[i]) {"), False),
        (OF_TWO_ROUNDS.replace("if (q[i]) {", "if (r[i] && q[i]) {"), True),
    ],
)
def test_lanes_that_miss_an_exchange_in_one_round_may_come_to_a_barrier_in_another(body: str, sure: bool) -> None:
    request = CheckRequest("/restructured/rounds.cu", IN_ROUNDS % body)
    fixes = [a for a in answers(engine(), request) if isinstance(a, Fix) and a.kind == "insert-barrier"]
    assert all(a.applies_unasked == sure for a in fixes), [a.title for a in fixes]
    assert fixes or not sure
