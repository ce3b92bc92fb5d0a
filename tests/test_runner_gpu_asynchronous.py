"""Asynchronous copies, split barriers and loaded matrices through the queues of the GPU executor."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runner_launch import launched, prepared, run, watched
from test_runner_asynchronous import BODIES, HEAD, SPLIT, SPLIT_BODIES, copied_behind_a_barrier

from gpu_runner.cpu.layout import Fault
from gpu_runner.cpu.machine import Outcome
from gpu_runner.gpu.driver import Device
from gpu_runner.gpu.execute import GpuKernel
from gpu_runner.gpu.rehearsal import Rehearsal
from gpu_runner.ptx import model
from gpu_runner.ptx.render import render


def races_of(kernel: GpuKernel, seed: int = 0) -> int:
    execution, detector = watched(kernel, seed=seed)
    assert execution.outcome is Outcome.DONE
    assert execution.seen == ()
    return len(detector.races())


def copying(body: str) -> str:
    return f"""{HEAD}
    extern "C" __global__ void k(int *a, int *out) {{
      __shared__ int s[128]; int t = threadIdx.x;
      {body}
    }}"""


@pytest.mark.parametrize("name", BODIES)
def test_a_copy_is_ordered_by_its_wait_alone(name: str) -> None:
    body, races = BODIES[name]
    arguments = [np.arange(64, dtype=np.int32) + 100, np.zeros(64, np.int32)]
    kernel = launched(copying(body), arguments, block=64)
    assert bool(races_of(kernel)) == races
    if not races:
        assert kernel.run().arrays == run(prepared(copying(body), arguments, block=64)).execution.arrays


def test_copies_of_equal_values_are_told_from_others() -> None:
    source = copying("copy(&s[t % 32], a + t); wait_all(); out[t] = 0;")
    for values, same in ((np.full(64, 7, np.int32), True), (np.arange(64, dtype=np.int32), False)):
        _, detector = watched(launched(source, [values, np.zeros(64, np.int32)], block=64))
        assert {bool(int(race["relation"]) & 16) for race in detector.races()} == {same}


PARTS = """
    extern "C" __global__ void k(const int *a, int *out, int n) {
      __shared__ __align__(16) int s[12]; int t = threadIdx.x;
      unsigned at = (unsigned)__cvta_generic_to_shared(s);
      if (t == 0) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(at), "l"(a), "r"(n) : "memory");
      if (t == 1) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, 0;" :: "r"(at + 16), "l"(a + 999) : "memory");
      if (t == 2) asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 8; cp.async.ca.shared.global [%0], [%1], 4, p; }"
                               :: "r"(at + 32), "l"(a + 999), "r"(n) : "memory");
      asm volatile("cp.async.wait_all;" ::: "memory");
      __syncthreads();
      out[t] = t == 6 || t == 7 ? 0 : s[t];
    }"""


def test_what_is_not_taken_of_the_source_is_zero_and_not_read() -> None:
    kernel = launched(PARTS, [np.arange(1, 3, dtype=np.int32), np.full(9, 9, np.int32), 8], block=9)
    assert races_of(kernel) == 0
    assert np.frombuffer(kernel.run().arrays[1], np.int32).tolist() == [1, 2, 0, 0, 0, 0, 0, 0, 0]


def test_a_copy_from_outside_is_told() -> None:
    kernel = launched(copying("copy(&s[t], a + t + 1); wait_all();"), [np.zeros(64, np.int32), np.zeros(1, np.int32)])
    assert kernel.run().seen == ()
    kernel = launched(
        copying("copy(&s[t], a + t + 9999); wait_all();"), [np.zeros(64, np.int32), np.zeros(1, np.int32)]
    )
    assert [each.op for each in kernel.run().seen] == [Fault.OUT_OF_BOUNDS]


def splitting(body: str) -> str:
    return f"""{SPLIT}
    extern "C" __global__ void k(int *out) {{
      __shared__ int s[64]; __shared__ unsigned long long b; int t = threadIdx.x;
      if (t == 0) init(&b, 64);
      __syncthreads();
      s[t] = t;
      {body}
    }}"""


@pytest.mark.parametrize(("body", "races"), SPLIT_BODIES)
def test_split_barriers(body: str, races: bool) -> None:
    kernel = launched(splitting(body), [np.zeros(64, np.int32)], block=64)
    assert any(races_of(kernel, seed) for seed in range(16)) == races


@pytest.mark.parametrize("arrives", [True, False])
def test_copies_that_a_split_barrier_waits_for(arrives: bool) -> None:
    source = copied_behind_a_barrier(arrives)
    kernel = launched(source, [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)], block=64)
    assert bool(races_of(kernel)) != arrives


ROWS = """
    extern "C" __global__ void k(unsigned *out) {
      __shared__ __align__(16) unsigned s[128];
      int t = threadIdx.x; unsigned r;
      for (int i = 0; i < 4; i++) s[t * 4 + i] = t;
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                   : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(s + 4 * (t GIVEN))));
      out[t] = r;
    }"""


def test_the_lane_that_gives_the_address_reads_the_row() -> None:
    assert races_of(launched(ROWS.replace("GIVEN", ""), [np.zeros(32, np.uint32)])) == 0
    assert races_of(launched(ROWS.replace("GIVEN", "^ 1"), [np.zeros(32, np.uint32)])) > 0


ASSEMBLED = {
    "copies": (copying(BODIES["the group before"][0]), 2),
    "parts": (PARTS, 3),
    "split barriers": (splitting(SPLIT_BODIES[1][0]), 1),
    "rows": (ROWS.replace("GIVEN", ""), 1),
}


@pytest.mark.parametrize("name", ASSEMBLED)
def test_instrumented_programs_are_ptx(name: str, require_program: Callable[[str], str], tmp_path: Path) -> None:
    source, count = ASSEMBLED[name]
    ptxas = require_program("ptxas")
    texts: list[str] = []

    class Keeping(Rehearsal):
        def cuModuleLoadDataEx(  # noqa: N802
            self, image: bytes, count: int, options: list[str], values: list[Any]
        ) -> tuple[int, model.Module | None]:
            texts.append(image.rstrip(b"\0").decode())
            return super().cuModuleLoadDataEx(image, count, options, values)

    arguments = [np.zeros(64, np.int32)] * min(count, 2) + [8] * (count - 2)
    kernel = launched(source, arguments, block=64, on=Device(Keeping()))
    assert texts == [render(kernel.parts.instrumented.module)]
    (tmp_path / "k.ptx").write_text(re.sub(r"^\.version .*", ".version 8.0", texts[0]))
    command = [ptxas, "-arch=sm_80", str(tmp_path / "k.ptx"), "-o", str(tmp_path / "k.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
