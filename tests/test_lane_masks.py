"""Groups of the threads that are there: their barriers cannot be missed where they form."""

from __future__ import annotations

from expectations import check

from analyzers.model import Verdict

HEADER = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out) {
  int t = threadIdx.x;
  %s
}
"""


def verdict(body: str) -> Verdict:
    (kernel,) = check(HEADER % body).unit.kernels
    return kernel.verdict


def test_a_group_formed_in_a_branch_meets_there() -> None:
    body = "if (t & 2) { cg::coalesced_group g = cg::coalesced_threads(); out[t] = t; g.sync(); out[t]++; }"
    assert verdict(body) is Verdict.REDUNDANT_BARRIER


def test_the_active_lanes_are_those_in_the_branch() -> None:
    assert verdict("if (t & 2) { __syncwarp(__activemask()); out[t] = t; }") is Verdict.REDUNDANT_BARRIER


def test_a_group_formed_before_the_branch_is_not_known_to_meet_in_it() -> None:
    body = "cg::coalesced_group g = cg::coalesced_threads(); if (t & 2) { g.sync(); out[t] = t; }"
    assert verdict(body) is Verdict.UNKNOWN


def test_a_group_formed_before_a_loop_may_part_in_it() -> None:
    body = "if (t & 2) { auto g = cg::coalesced_threads(); for (int i = 0; i < t; i++) g.sync(); out[t] = t; }"
    assert verdict(body) is Verdict.UNKNOWN
