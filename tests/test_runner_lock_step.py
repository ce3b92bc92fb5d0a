"""Warps in lock-step, as before Volta: the lanes of a warp make each access together, and meet again behind branches
and loops."""

from __future__ import annotations

import numpy as np
import pytest
from runner_launch import Ran, prepared, run

from gpu_runner.compile import Build
from gpu_runner.cpu.machine import Outcome

BUILDS = pytest.mark.parametrize("build", ["confirm", "shipped"])


def ran(body: str, build: Build, lock_step: bool, block: int = 32, seed: int = 0) -> Ran:
    source = f"""__shared__ volatile int s[128];
    extern "C" __global__ void k(int *a) {{
      int t = threadIdx.x;
      {body}
    }}"""
    return run(prepared(source, [np.zeros(256, np.int32)], block=block, build=build, lock_step=lock_step), seed)


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_a_reduction_without_barriers(seed: int) -> None:
    body = """__shared__ int p[64];
    p[t] = t; p[t + 32] = 0;
    for (int w = 16; w > 0; w /= 2) p[t] += p[t + w];
    if (t == 0) a[0] = p[0];"""
    together = ran(body, "confirm", True, seed=seed)
    assert together.execution.outcome is Outcome.DONE
    assert not together.races
    assert together.array(0)[0] == 32 * 31 // 2
    assert {relation for *_, relation in ran(body, "confirm", False, seed=seed).races} == {"warp"}


@BUILDS
def test_the_same_of_volatile_memory(build: Build) -> None:
    """Which an optimising compiler leaves alone."""
    body = """s[t] = t; s[t + 32] = 0;
    for (int w = 16; w > 0; w /= 2) s[t] = s[t] + s[t + w];
    if (t == 0) a[0] = s[0];"""
    assert ran(body, build, True).array(0)[0] == 32 * 31 // 2
    assert ran(body, build, False).array(0)[0] != 32 * 31 // 2


@BUILDS
def test_one_access_of_all_lanes_races_with_itself(build: Build) -> None:
    body = "int *p = a; p[t / 2] = t;"
    assert {race[2:] for race in ran(body, build, True).races} == {("ww", "warp")}


def test_sides_of_a_branch_have_no_order() -> None:
    body = "if (t < 16) a[t] = 1; else a[t + 32] = a[t - 16];"
    assert {race[2:] for race in ran(body, "confirm", True).races} == {("rw", "warp")}
    behind = "if (t < 16) a[t] = 1; int v = a[t & 15]; a[t + 64] = v;"
    assert not ran(behind, "confirm", True).races
    assert ran(behind, "confirm", False).races


@BUILDS
def test_lanes_meet_behind_loops_of_different_length(build: Build) -> None:
    body = """int n = 0;
    for (int i = 0; i < t % 5 + 1; i++) { if ((i + t) % 3 == 0) continue; a[t + 32 * i] = i; n += a[t + 32 * i]; }
    a[t] = n;
    int other = a[31 - t];
    a[224 + t] = other;"""
    together = ran(body, build, True)
    assert together.execution.outcome is Outcome.DONE
    assert not together.races
    expected = [sum(i for i in range(t % 5 + 1) if (i + t) % 3) for t in range(32)]
    assert together.array(0)[:32].tolist() == expected
    assert together.array(0)[224:].tolist() == expected[::-1]


@BUILDS
def test_rounds_of_a_loop_begin_together(build: Build) -> None:
    """A lane that skips the rest of a round waits for the others before it begins the next."""
    body = """int i = -1;
    while (++i < 4) {
      a[32 * i + t] = t;
      if (t & 1) continue;
      a[128 + 32 * (i & 1) + t] = a[32 * i + t + 1];
    }"""
    assert not ran(body, build, True).races


@BUILDS
def test_warps_are_not_in_lock_step_with_each_other(build: Build) -> None:
    body = "a[t] = t; a[t + 64] = a[t ^ 32];"
    together = ran(body, build, True, block=64)
    assert {race[2:] for race in together.races} == {("rw", "block")}
    fixed = ran("a[t] = t; __syncthreads(); a[t + 64] = a[t ^ 32];", build, True, block=64)
    assert not fixed.races
    assert fixed.execution.outcome is Outcome.DONE


@BUILDS
def test_what_a_lane_releases_is_what_its_warp_did(build: Build) -> None:
    body = """a[t & 31 | t & 32] = t;
    if (t == 0) { __threadfence_block(); atomicExch(a + 100, 1); }
    if (t == 32) { while (atomicAdd(a + 100, 0) == 0) {} __threadfence_block(); }
    if (t >= 32) a[t + 128] = a[t - 32];"""
    together = ran(body, build, True, block=64)
    assert together.execution.outcome is Outcome.DONE
    assert not together.races
    assert ran(body, build, False, block=64).races
